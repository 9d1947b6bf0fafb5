// The result of one case: what reports print and a sweep stores.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "models/base/values_by_type.hpp"
#include "models/results/campaign_report.hpp"
#include "models/results/iteration_report.hpp"
#include "models/results/memory_timeline.hpp"
#include "models/results/named_file.hpp"
#include "models/results/note.hpp"
#include "models/results/resolved_value.hpp"

namespace windtunnel {

// What is needed to reproduce a result: the program version, the texts of the scenario and of the
// files that it names, and the values that the command line sets.
struct RecordSource {
  std::string version;
  std::string commit;  // empty: not known to the program
  std::string file;    // of the scenario; file names in its text are relative to it
  std::string text;
  Overrides set;  // by --set and --vary, in this order
  std::vector<NamedFile> files = {};
  bool allow_oom = false;  // the result was made although the job does not fit in memory
};

struct Record {
  std::string scenario;  // name
  std::string key;       // stable key of the case
  RecordSource source;
  std::vector<ResolvedValue> values;  // all values, with their origins
  std::vector<Note> notes = {};

  Job job;
  IterationReport iteration;
  std::optional<CampaignReport> campaign;
  ValuesByType studies;  // reports of the studies that the case asks for (sim/study/studies.hpp)
  std::vector<ActivationPeak> activation_peaks;  // of the simulated iteration
  OriginShares origin{};                         // shares of predicted wall time by origin, sum 1
  // the constants that affect the step time most; empty: none, or not requested
  std::string assumed_constants;
  std::string memory_excess;  // not empty: the job does not fit in memory, and this says why
  // One simulated iteration, for the Gantt chart and the trace.
  Plan plan;
  Timeline timeline;
  std::vector<PathStep> critical_path;

  int ranks = 0;
  double wall_s = 0;  // of the simulation itself
  double peak_rss_bytes = 0;
};

}  // namespace windtunnel
