// Writes a Timeline as a Chrome JSON trace, which https://ui.perfetto.dev opens: one process per
// recorded rank, one thread per stream (and lane), arrows from sends to receives.
//
// Format: "Trace Event Format" (Chromium project): complete events "X", metadata "M", flows "s"
// and "f"; ts and dur in microseconds. Events of one thread must not overlap.
#pragma once

#include <ostream>
#include <string>

#include "models/plan/timeline.hpp"

namespace windtunnel {

struct PerfettoOptions {
  int max_ranks = 64;  // writes only the first ones, because large traces crash the viewer
  // Both say what the trace shows if it does not end at the result's step time, and are empty
  // otherwise. `label` is a few words, written after each rank's process name; `shows` is a
  // sentence, written to "otherData".
  std::string label = {};
  std::string shows = {};
};

// Streams to `out`; the same input gives the same bytes. Returns the number of recorded ranks that
// were left out. Throws Error (failed) if the iteration is longer than 292 years.
int write_perfetto(std::ostream& out, const Plan& plan, const Timeline& timeline,
                   const PerfettoOptions& options = {});

}  // namespace windtunnel
