// What the `schedule` commands work on: a schedule with the costs of its actions. By name with
// numbers from the command line, from a torch CSV with the same numbers, or of a scenario, whose
// job then gives ranks, micro-batches and costs.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/program/command_line.hpp"
#include "models/plan/schedule.hpp"
#include "policies/evaluation/stage_cost.hpp"
#include "policies/schedules/schedules.hpp"
#include "report/schedule/schedule_report.hpp"
#include "scenarios/language/case.hpp"
#include "traces/torch/torch_schedule.hpp"

namespace windtunnel {

struct ScheduleSourceOptions {
  std::string what;  // a name, or a torch CSV; empty: the scenario's own
  std::string dialect;
  int ranks = 4;
  int microbatches = 8;
  int chunks = 0;  // 0: the usual ones of the schedule
  int group = 0;
  int slices = 1;
  bool defer_weights = false;
  std::string times;  // "F,I,W" of a rank's whole share; empty: 1,1,1
  std::string message;
  bool recompute = false;
  double memory_limit = 0;  // micro-batches' activations on a whole rank
  std::string scenario;
  std::vector<std::string> set;
  // Those of the numbers above that the user gave, as "--ranks": a scenario or a file has its own.
  std::vector<std::string> given;
};

struct ScheduleSource {
  Schedule schedule;  // validated, without messages: what evaluate_schedule takes
  double message_s = 0;
  std::string title;               // "zb-v, 4 ranks, 8 micro-batches"
  std::vector<std::string> notes;  // what was assumed on the way, a line each
  bool in_seconds = false;         // times have units; otherwise T_F of a rank may be 1
  bool in_bytes = false;  // activations have; otherwise 1 is a micro-batch's on a whole rank
  // The request that made it, for a search that starts from it: ranks, micro-batches, chunks,
  // costs [stage of the model * slices + slice], message, limit.
  ScheduleRequest request;
  std::shared_ptr<const Case> the_case;  // that the scenario is; null: there is none
};

// Adds SCHEDULE and the options to a subcommand. The result is filled when the command line is
// parsed; call load_schedule_source after that.
std::shared_ptr<ScheduleSourceOptions> add_schedule_source(const CommandLine& app);

// Throws Error: usage, of the scenario or of the file with file:line:column.
ScheduleSource load_schedule_source(const ScheduleSourceOptions& options);

// Its passes, bubbles and memory on an idle network; `schedule` is of the same costs.
ScheduleReport analysed(const ScheduleSource& source, const Schedule& schedule,
                        const AnalysisOptions& options = {}, Sends sends = Sends::asynchronous);

// "current" or "old"; "" is what the file itself tells. Throws Error otherwise.
std::optional<TorchDialect> parse_dialect(const std::string& name);
void add_dialect(const CommandLine& app, std::string& dialect);

// A torch CSV whose messages match and in whose order no rank waits forever; throws Error with
// file:line:column.
TorchSchedule load_torch_schedule(const std::string& path, const std::string& dialect);
// "dialect I, W, B; with messages; in windtunnel's extension"
std::string describe(const TorchSchedule& torch);

}  // namespace windtunnel
