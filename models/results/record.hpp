// The result of one case: what the reports print and a sweep stores.
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

// What it takes to make a result again: the program, the texts of the scenario and of the files
// that it names, and what was set on top.
struct RecordSource {
  std::string version;
  std::string commit;  // empty: the program does not know
  std::string file;    // of the scenario: where the files are that its text names
  std::string text;
  Overrides set;  // by --set and --vary, in this order
  std::vector<NamedFile> files = {};
  bool allow_oom = false;  // made although it does not fit in memory
};

struct Record {
  std::string scenario;  // name
  std::string key;       // stable key of the case
  RecordSource source;
  std::vector<ResolvedValue> values;  // every one, with its origin
  std::vector<Note> notes = {};

  Job job;
  IterationReport iteration;
  std::optional<CampaignReport> campaign;
  ValuesByType studies;  // the report of each that the case asks for (sim/study/studies.hpp)
  std::vector<ActivationPeak> activation_peaks;  // of the simulated iteration
  OriginShares origin{};                         // shares of the predicted wall time, sum 1
  // the constants that move the step time most; empty: none, or not asked for
  std::string assumed_constants;
  std::string memory_excess;  // not empty: does not fit, and why
  // One simulated iteration, for the Gantt chart and the trace.
  Plan plan;
  Timeline timeline;
  std::vector<PathStep> critical_path;

  int ranks = 0;
  double wall_s = 0;  // of the simulation itself
  double peak_rss_bytes = 0;
};

}  // namespace windtunnel
