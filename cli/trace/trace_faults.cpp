#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "cli/program/output.hpp"
#include "cli/trace/trace_parts.hpp"
#include "models/base/units.hpp"
#include "models/reliability/fault_simulation.hpp"
#include "report/captured/fault_fit_report.hpp"
#include "traces/rows/fault_log.hpp"

namespace windtunnel {
namespace {

namespace fs = std::filesystem;

// Of several logs in a file each gets a folder of its own. Returns what it wrote.
std::string write_log(const FaultLog& log, const FaultFit& fit, const std::string& path,
                      const std::string& folder) {
  prepare_folder(folder);
  const std::string source = fs::path(path).filename().string();
  const bool repaired = std::any_of(log.faults.begin(), log.faults.end(),
                                    [](const NodeFault& fault) { return fault.repair_s > 0; });
  write_file(folder + "/plain.csv", fault_log_csv(log));
  write_file(folder + "/arrivals.csv", arrivals_csv(log, source));
  if (repaired) write_file(folder + "/repairs.csv", repairs_csv(log, source));
  write_file(folder + "/failures.yaml", failures_yaml(log, fit, repaired ? "repairs.csv" : ""));
  return fmt::format("wrote plain.csv, arrivals.csv{} and failures.yaml in {}\n",
                     repaired ? ", repairs.csv" : "", folder);
}

std::string folder_of(const FaultLog& log, size_t logs, const std::string& out) {
  if (logs == 1) return out;
  std::string name = log.name;
  std::replace(name.begin(), name.end(), ' ', '-');
  return (fs::path(out) / name).string();
}

}  // namespace

bool is_fault_log(const std::string& path) {
  return fs::path(path).extension() == ".csv";
}

ExitCode import_faults(const std::string& path, const FaultImport& options,
                       const AnswerOutput& output) {
  std::vector<FaultLog> logs = read_fault_logs(path);
  if (logs.size() > 1 && (options.nodes > 0 || options.days > 0)) {
    throw Error(Location{path}, fmt::format("holds the logs of {} systems; --nodes and --days are "
                                            "for one",
                                            logs.size()));
  }
  std::vector<FittedLog> fitted;
  std::string written;
  for (FaultLog& log : logs) {
    if (options.nodes > 0) log.nodes = options.nodes;
    if (options.days > 0) log.span_s = options.days * kDay_s;
    const FaultFit fit = fit_faults(log);
    if (!options.out.empty()) {
      written += "\n" + write_log(log, fit, path, folder_of(log, logs.size(), options.out));
    }
    fitted.push_back({std::move(log), fit});
  }
  hand_out(fault_fit_answer(path, fitted), output, written);
  return ExitCode::ok;
}

ExitCode export_faults(const Case& the_case, const std::string& out, const FaultExport& options) {
  const Job& job = the_case.job;
  const double span_s = options.days > 0 ? options.days * kDay_s : job.campaign.length_s;
  if (span_s == 0) {
    throw Error(fmt::format("{} has no campaign; give the time as --days", the_case.scenario));
  }
  const int nodes = options.nodes > 0 ? options.nodes : job.cluster.nodes;
  FaultLog log =
      simulate_faults(job.failures, nodes, span_s, options.seed.value_or(job.campaign.seed), 0);
  log.name = the_case.scenario;
  write_file(out, fault_log_csv(log));
  print_result(fmt::format("wrote {} faults of {} nodes in {} to {}\n", log.faults.size(), nodes,
                           format_seconds(span_s), out));
  return ExitCode::ok;
}

}  // namespace windtunnel
