// The input of the `schedule` commands: a schedule with the costs of its actions. It is given by
// name with numbers from the command line, by a torch CSV with such numbers, or by a scenario,
// whose job supplies ranks, micro-batches and costs.
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
  std::string what;  // a name, or a torch CSV; empty: the scenario's schedule
  std::string dialect;
  int ranks = 4;
  int microbatches = 8;
  int chunks = 0;  // 0: the schedule's usual number
  int group = 0;
  int slices = 1;
  bool defer_weights = false;
  std::string times;  // "F,I,W" of all layers of a rank; empty: 1,1,1
  std::string message;
  bool recompute = false;
  double memory_limit = 0;  // in activations of a micro-batch for all layers of a rank
  std::string scenario;
  std::vector<std::string> set;
  // Options above that the user gave, such as "--ranks"; a scenario or a file has its own values.
  std::vector<std::string> given;
};

struct ScheduleSource {
  Schedule schedule;  // validated, without messages, as evaluate_schedule() takes it
  double message_s = 0;
  std::string title;               // "zb-v, 4 ranks, 8 micro-batches"
  std::vector<std::string> notes;  // assumptions, a line each
  bool in_seconds = false;         // else in units of the forward time of a rank
  bool in_bytes = false;  // else in units of a micro-batch's activations for all layers of a rank
  // The request for the schedule, from which a search can start: ranks, micro-batches, chunks,
  // costs [stage of the model * slices + slice], message, limit.
  ScheduleRequest request;
  std::shared_ptr<const Case> the_case;  // the case of the scenario; null: there is none
};

// Adds SCHEDULE and the options to a subcommand. The result is filled when the command line is
// parsed; call load_schedule_source() after that.
std::shared_ptr<ScheduleSourceOptions> add_schedule_source(const CommandLine& app);

// Throws Error about the usage, the scenario, or the file (with file:line:column).
ScheduleSource load_schedule_source(const ScheduleSourceOptions& options);

// Analyses passes, bubbles and memory on an idle network; `schedule` must have the source's costs.
ScheduleReport analysed(const ScheduleSource& source, const Schedule& schedule,
                        const AnalysisOptions& options = {}, Sends sends = Sends::asynchronous);

// Parses "current" or "old"; "" means that the file tells. Throws Error for other words.
std::optional<TorchDialect> parse_dialect(const std::string& name);
void add_dialect(const CommandLine& app, std::string& dialect);

// Loads a torch CSV and checks that messages match and that no rank waits forever; throws Error
// with file:line:column.
TorchSchedule load_torch_schedule(const std::string& path, const std::string& dialect);
// Returns "dialect I, W, B; with messages; in windtunnel's extension".
std::string describe(const TorchSchedule& torch);

}  // namespace windtunnel
