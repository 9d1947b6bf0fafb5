#include "cli/collective_log.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "cli/program/shell_line.hpp"
#include "models/base/quantile.hpp"
#include "report/answer/command_answers.hpp"
#include "report/text/json_text.hpp"
#include "scenarios/language/library/interconnect_laws.hpp"
#include "sim/study/expect/log_causes.hpp"
#include "traces/logs/training_log.hpp"
#include "traces/nccl/nccl_tests.hpp"
#include "traces/text/text.hpp"

namespace windtunnel {
namespace {

// Whether the law was fitted on the machine's collectives, rather than derived from its
// specification.
bool is_fitted(const Job& job) {
  const NodeSpec& node = job.cluster.node;
  const Transport transport = job.cluster.fabric.transport;
  const InterconnectLaw& law = job.calibration.network;
  return law.stated && why_no_network_law(node, transport).empty() &&
         law.noise_log.source != specified_interconnect_law(node, transport).noise_log.source;
}

// Returns the first GPUs of each node.
std::vector<std::int32_t> first_gpus(const Cluster& cluster, int nodes, int per_node) {
  std::vector<std::int32_t> gpus;
  for (int node = 0; node < nodes; ++node) {
    for (int i = 0; i < per_node; ++i) gpus.push_back(node * cluster.node.gpus + i);
  }
  return gpus;
}

struct Log {
  std::vector<MeasuredSize> sizes;
  int ranks = 0, nodes = 0, process_ranks = 0, nccl_release = 0;
};

// If the log is one of a training program, the Error names the command that reads it.
CollectiveRows read_rows(const std::string& text, const std::string& file) {
  try {
    return is_nccl_log(text) ? parse_nccl_tests(text, file, {}) : parse_collective_rows(text, file);
  } catch (const Error&) {
    if (!is_training_log(text, file)) throw;
    throw Error(
        Location{file},
        fmt::format(
            "is the log of a training run, not of nccl-tests; read it with windtunnel diagnose {}",
            shell_word(file)));
  }
}

// Reads nccl-tests rows and keeps the median time per size of the requested collective.
Log read_nccl_log(const std::string& file, CollectiveKind kind,
                  std::vector<std::string>& warnings) {
  const std::string whole = read_file(file);
  const CollectiveRows rows = read_rows(whole, file);
  if (!rows.unreadable.empty()) {
    const UnusableRow& first = rows.unreadable.front();
    warnings.push_back(fmt::format(
        "{} of {} rows of the log are damaged and ignored, the first at {}: {}",
        rows.unreadable.size(), rows.unreadable.size() + rows.rows.size(), first.id, first.reason));
  }
  Log log;
  std::map<double, std::vector<double>> seconds;
  std::string others;
  for (const CollectiveRow& row : rows.rows) {
    if (!row.unusable.empty()) continue;
    if (row.kind != kind) {
      others = to_string(row.kind);
      continue;
    }
    if (log.ranks != 0 && (row.gpus != log.ranks || row.nodes != log.nodes)) {
      throw Error(Location{file},
                  fmt::format("contains {} of {} ranks and of {}; give a log of only one of them",
                              to_string(kind), log.ranks, row.gpus));
    }
    log.ranks = row.gpus;
    log.nodes = row.nodes;
    log.nccl_release = nccl_release(row.nccl_version);
    seconds[row.bytes].push_back(row.seconds);
  }
  if (seconds.empty()) {
    throw Error(Location{file}, fmt::format("contains no time of {}{}", to_string(kind),
                                            others.empty() ? "" : ", only of " + others));
  }
  for (const auto& [bytes, times] : seconds) log.sizes.push_back({bytes, median(times)});
  log.process_ranks = process_ranks(whole);
  return log;
}

// The fewest nodes that can hold the ranks evenly; all nodes if none can.
int fewest_nodes(int ranks, const Cluster& cluster) {
  for (int nodes = 1; nodes <= std::min(ranks, cluster.nodes); ++nodes) {
    if (ranks % nodes == 0 && ranks / nodes <= cluster.node.gpus) return nodes;
  }
  return cluster.nodes;
}

// Finds GPUs for the log's ranks. Throws Error if the machine has no such GPUs.
void place_log(const Log& log, const std::string& file, ExpectRequest& request,
               std::vector<std::string>& warnings) {
  const Cluster& cluster = request.cluster;
  const int nodes = log.nodes > 0 ? log.nodes : fewest_nodes(log.ranks, cluster);
  const bool fits =
      log.ranks % nodes == 0 && nodes <= cluster.nodes && log.ranks / nodes <= cluster.node.gpus;
  if (!fits) {
    throw Error(Location{file},
                fmt::format("is of {} ranks on {} node{}, but the machine has {} node{} of {} GPUs",
                            log.ranks, nodes, nodes == 1 ? "" : "s", cluster.nodes,
                            cluster.nodes == 1 ? "" : "s", cluster.node.gpus));
  }
  if (log.nodes == 0 && cluster.nodes > 1) {
    warnings.push_back(
        fmt::format("the log does not say on how many nodes its {} ranks ran; "
                    "assumed: {}, the fewest that hold them",
                    log.ranks, nodes));
  }
  request.gpus = first_gpus(cluster, nodes, log.ranks / nodes);
  // nccl-tests on one node is usually one process (-g 8); rows of a table do not tell.
  request.process_assumed = log.process_ranks == 0 && nodes == 1 && log.ranks >= 8;
  request.process_gpus = request.process_assumed ? log.ranks : std::max(1, log.process_ranks);
  request.nccl_release = log.nccl_release;
}

}  // namespace

ExpectRequest collective_request(const Job& job, CollectiveKind kind) {
  ExpectRequest request{.kind = kind, .cluster = job.cluster, .calibration = job.calibration};
  request.fitted = is_fitted(job);
  request.gpus = first_gpus(job.cluster, job.cluster.nodes, job.cluster.node.gpus);
  return request;
}

CollectiveKind collective_of_log(const std::string& file) {
  const CollectiveRows rows = parse_nccl_tests(read_file(file), file, {});
  std::set<CollectiveKind> kinds;
  for (const CollectiveRow& row : rows.rows) {
    if (row.unusable.empty()) kinds.insert(row.kind);
  }
  if (kinds.empty()) throw Error(Location{file}, "contains no time of a collective");
  if (kinds.size() > 1) {
    throw Error(Location{file},
                fmt::format("contains times of {} and of {}; choose one collective: windtunnel "
                            "expect {} --cluster MACHINE --log {}",
                            to_string(*kinds.begin()), to_string(*kinds.rbegin()),
                            to_string(*kinds.begin()), shell_word(file)));
  }
  return *kinds.begin();
}

CollectiveReading read_collective_log(const std::string& file, ExpectRequest& request) {
  CollectiveReading reading;
  const Log log = read_nccl_log(file, request.kind, reading.warnings);
  place_log(log, file, request, reading.warnings);
  reading.log = read_log(request, log.sizes);
  return reading;
}

void hand_out_reading(const CollectiveReading& reading, const Cluster& cluster,
                      const AnswerOutput& output) {
  Answer answer = expect_answer(reading.log, machine_text(cluster, reading.log.expected.nodes));
  add_warnings(reading.warnings, answer);
  hand_out(answer, output);
}

std::string machine_text(const Cluster& cluster, int nodes) {
  const std::string all = fmt::format("{} x {}", cluster.nodes, cluster.node.name);
  return nodes < cluster.nodes ? fmt::format("{} of {}", nodes, all) : all;
}

void add_warnings(std::vector<std::string> warnings, Answer& answer) {
  answer.document = [warnings, document = std::move(answer.document)] {
    Json whole = document();
    whole["warnings"] = warnings;
    return whole;
  };
  answer.warnings = std::move(warnings);
}

}  // namespace windtunnel
