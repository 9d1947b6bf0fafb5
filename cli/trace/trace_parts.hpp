// The parts of `windtunnel trace` have their own source files: node fault logs, profiler
// recordings, and the captured job under other choices.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/program/answer_output.hpp"
#include "models/base/error.hpp"
#include "models/plan/timeline.hpp"
#include "report/captured/captured_report.hpp"
#include "report/figures/figures.hpp"
#include "scenarios/language/case.hpp"
#include "sim/study/sweep.hpp"

namespace windtunnel {

// ---- node faults: read and fit a log, or write a scenario's failures as a log ----

struct FaultImport {
  int nodes = 0;    // 0: from the file
  double days = 0;  // 0: from the file
  std::string out;  // folder; empty: no files
};

struct FaultExport {
  int nodes = 0;    // 0: the scenario's
  double days = 0;  // 0: the campaign's
  std::optional<std::uint64_t> seed;
};

// True for a .csv, and for any file whose suffix is not that of a trace (.et, .json, .gz, .sqlite).
bool is_fault_log(const std::string& path);

ExitCode import_faults(const std::string& path, const FaultImport& options,
                       const AnswerOutput& output);
ExitCode export_faults(const Case& the_case, const std::string& out, const FaultExport& options);

// ---- profiles: the parts of captured steps, and a scenario's prediction for them ----

struct ProfileImport {
  std::vector<std::string> files;  // files, or one folder with files
  std::string scenario;            // empty: only the trace
  Overrides set;
  std::vector<VariedKey> vary;  // other choices for the captured job; empty: none
  int replicas = 1;             // copies of the captured job, side by side
  std::string out;              // folder of the calibration; empty: none is written
  AnswerOutput output;
};

// Tells by the names of the files, or of the files in a folder: PyTorch's .json and .json.gz,
// Nsight Systems' .sqlite. A .json in a folder must also begin like a profile.
bool are_profiles(const std::vector<std::string>& files);

ExitCode import_profiles(const ProfileImport& options);

// ---- the same job under other choices (trace import --vary) ----

// Simulates the scenario with `calibration` (a text) instead of its own, unchanged and at every
// combination of `vary`. An infeasible point has a reason. Throws Error if the scenario itself is
// infeasible.
ChosenSteps study_what_if(const std::string& scenario, const Overrides& set,
                          const std::string& calibration, const std::vector<VariedKey>& vary,
                          double traced_s);

// Runs the tasks of traces on the machine of a scenario.

// Throws Error if the machine has fewer than `ranks` GPUs.
void check_ranks(const Case& on, std::int64_t ranks, const std::string& scenario);

// Throws Error if the machine has jitter, or too few GPUs.
void check_machine(const Case& on, const Plan& plan, const std::string& scenario);

// Times the tasks on a machine that check_machine() accepts. Transfers of tasks that another
// program wrote (`foreign`) get the machine's latencies, and the scenario chooses how collectives
// run.
Timeline time_on_machine(const Case& on, Plan& plan, bool foreign = true);

// Returns the range of the step of foreign tasks, given as they were before time_on_machine(). At
// its ends all communication is faster or slower by what is uncertain about the network: the
// calibration's network numbers, and the error of its law (communication_error()).
FigureRange step_range(const Case& on, const Plan& plan);

}  // namespace windtunnel
