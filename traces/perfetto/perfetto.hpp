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
  int max_ranks = 64;  // recorded ranks written, the first ones: large traces crash the viewer
  // Which part of the result the trace is, where its end is not the result's step time: a few words
  // behind the name of each rank's process, and a sentence in "otherData". Empty: it is the step.
  std::string label = {};
  std::string shows = {};
};

// Streams to `out`; the same bytes for the same input. Returns how many recorded ranks were left
// out. Throws Error (failed) when the iteration is longer than 292 years.
int write_perfetto(std::ostream& out, const Plan& plan, const Timeline& timeline,
                   const PerfettoOptions& options = {});

}  // namespace windtunnel
