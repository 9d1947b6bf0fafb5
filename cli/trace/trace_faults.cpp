#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <span>
#include <vector>

#include "cli/program/output.hpp"
#include "cli/trace/trace_parts.hpp"
#include "models/base/units.hpp"
#include "models/reliability/fault_simulation.hpp"
#include "report/captured/fault_fit_report.hpp"
#include "traces/profile/profile_reader.hpp"
#include "traces/rows/fault_log.hpp"

namespace windtunnel {
namespace {

namespace fs = std::filesystem;

// Writes the logs of one cluster, one per kind of fault, and their classes of failures. Returns the
// list of files.
std::string write_logs(std::span<const FittedLog> kinds, const std::string& path,
                       const std::string& folder) {
  prepare_folder(folder);
  const std::string source = fs::path(path).filename().string();
  std::vector<std::string> names;
  const auto write = [&](const std::string& name, const std::string& text) {
    write_file(fmt::format("{}/{}", folder, name), text);
    names.push_back(name);
  };
  std::string repairs;
  for (const auto& [log, fit] : kinds) {
    const bool of_nodes = log.kind == FailureKind::node;
    const std::string kind = of_nodes ? "" : "-process";
    const bool repaired =
        std::ranges::any_of(log.faults, [](const NodeFault& fault) { return fault.repair_s > 0; });
    write(fmt::format("plain{}.csv", kind), fault_log_csv(log));
    write(fmt::format("arrivals{}.csv", kind), arrivals_csv(log, source));
    if (!of_nodes || !repaired) continue;  // after a process ends, no node needs repair
    repairs = "repairs.csv";
    write(repairs, repairs_csv(log, source));
  }
  write_file(folder + "/failures.yaml", failures_yaml(kinds, repairs));
  return fmt::format("wrote {} and failures.yaml in {}\n", fmt::join(names, ", "), folder);
}

// The index of each cluster's first log: logs with one cluster name are consecutive.
std::vector<std::size_t> clusters_of(const std::vector<FaultLog>& logs) {
  std::vector<std::size_t> begins;
  for (std::size_t i = 0; i < logs.size(); ++i) {
    if (i == 0 || logs[i].name != logs[i - 1].name) begins.push_back(i);
  }
  return begins;
}

// With several clusters in a file, each gets a folder of its own.
std::string folder_of(const FaultLog& log, std::size_t clusters, const std::string& out) {
  if (clusters == 1) return out;
  std::string name = log.name;
  std::ranges::replace(name, ' ', '-');
  return (fs::path(out) / name).string();
}

}  // namespace

bool is_fault_log(const std::string& path) {
  if (fs::path(path).extension() == ".csv") return true;
  const auto ends = [&](const char* end) { return path.ends_with(end); };
  const bool other = is_profile(path) || ends(".et") || ends(".gz");
  std::error_code error;
  return !other && fs::is_regular_file(path, error);
}

ExitCode import_faults(const std::string& path, const FaultImport& options,
                       const AnswerOutput& output) {
  std::vector<FaultLog> logs = read_fault_logs(path);
  const std::vector<std::size_t> begins = clusters_of(logs);
  if (begins.size() > 1 && (options.nodes > 0 || options.days > 0)) {
    throw Error(
        Location{path},
        fmt::format("contains the logs of {} systems, but --nodes and --days apply to one system",
                    begins.size()));
  }
  std::vector<FittedLog> fitted;
  for (FaultLog& log : logs) {
    if (options.nodes > 0) log.nodes = options.nodes;
    if (options.days > 0) log.span_s = options.days * kDay_s;
    const FaultFit fit = fit_faults(log);
    fitted.push_back({std::move(log), fit});
  }
  std::string written;
  for (std::size_t i = 0; i < begins.size() && !options.out.empty(); ++i) {
    const std::size_t end = i + 1 < begins.size() ? begins[i + 1] : fitted.size();
    const std::span<const FittedLog> kinds(fitted.data() + begins[i], end - begins[i]);
    written +=
        "\n" + write_logs(kinds, path, folder_of(kinds.front().log, begins.size(), options.out));
  }
  hand_out(fault_fit_answer(path, fitted), output, written);
  return ExitCode::ok;
}

ExitCode export_faults(const Case& the_case, const std::string& out, const FaultExport& options) {
  const Job& job = the_case.job;
  const double span_s = options.days > 0 ? options.days * kDay_s : job.campaign.length_s;
  if (span_s == 0) {
    throw Error(fmt::format("{} has no campaign; state the time with --days", the_case.scenario));
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
