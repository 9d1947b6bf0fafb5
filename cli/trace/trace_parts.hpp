// Parts of `windtunnel trace` in files of their own: logs of node faults, what a profiler recorded,
// and the captured job under other choices.
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

// ---- node faults: a log is read and fitted, or a scenario's failures are written as one ----

struct FaultImport {
  int nodes = 0;    // 0: as the file says
  double days = 0;  // 0: as the file says
  std::string out;  // folder; empty: nothing is written
};

struct FaultExport {
  int nodes = 0;    // 0: the scenario's
  double days = 0;  // 0: the campaign's
  std::optional<std::uint64_t> seed;
};

// A .csv, or any file whose name is not one of a trace (.et, .json, .gz, .sqlite).
bool is_fault_log(const std::string& path);

ExitCode import_faults(const std::string& path, const FaultImport& options,
                       const AnswerOutput& output);
ExitCode export_faults(const Case& the_case, const std::string& out, const FaultExport& options);

// ---- profiles: where the steps went, and what a scenario predicts for them ----

struct ProfileImport {
  std::vector<std::string> files;  // or one folder of them
  std::string scenario;            // empty: the trace alone
  Overrides set;
  std::vector<VariedKey> vary;  // other choices for the captured job; empty: none are asked for
  int replicas = 1;             // copies of the captured job, side by side
  std::string out;              // folder of the calibration; empty: none is written
  AnswerOutput output;
};

// By their names, of a folder by the names of its files: PyTorch's .json and .json.gz,
// Nsight Systems' .sqlite; a .json of a folder that begins as something else is none.
bool are_profiles(const std::vector<std::string>& files);

ExitCode import_profiles(const ProfileImport& options);

// ---- the same job under other choices (trace import --vary) ----

// The scenario with `calibration` (its text) in the place of its own, as it stands and at every
// combination of `vary`. A point that cannot run says why. Throws Error where the scenario itself
// cannot.
ChosenSteps study_what_if(const std::string& scenario, const Overrides& set,
                          const std::string& calibration, const std::vector<VariedKey>& vary,
                          double traced_s);

// Tasks of traces on the machine of a scenario.

// Throws Error where the machine has fewer GPUs than that.
void check_ranks(const Case& on, std::int64_t ranks, const std::string& scenario);

// Throws Error where the machine jitters or has too few GPUs.
void check_machine(const Case& on, const Plan& plan, const std::string& scenario);

// Of tasks that were written elsewhere (`foreign`) transfers get the latencies of the machine; how
// collectives run is the scenario's choice. On a machine that
// check_machine() has seen.
Timeline time_on_machine(const Case& on, Plan& plan, bool foreign = true);

// The step of foreign tasks, as they were before time_on_machine(), where all communication is
// faster, or slower, by what is not known of the network: the calibration's numbers of it at the
// ends of their intervals, and how far its law may be off (communication_error()).
FigureRange step_range(const Case& on, const Plan& plan);

}  // namespace windtunnel
