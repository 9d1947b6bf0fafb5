#include "validate/accuracy/compression/compression_links.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>

#include "models/base/error.hpp"
#include "policies/iteration.hpp"
#include "traces/text/text.hpp"
#include "validate/accuracy/compression/exchange_job.hpp"
#include "validate/accuracy/rows/fitted_constants.hpp"

namespace windtunnel {
namespace {

constexpr std::string_view kSource = "HKBU ddl-benchmarks";
constexpr std::string_view kAlone = "single GPU";
constexpr std::string_view kTcp = "TCP/IP";  // that column network ends with
constexpr int kGpusPerNode = 4;
// The scripts of the benchmark that start the runs say so (byteps/launch.sh, horovod_mpi_cj.sh).
constexpr int kSequence = 64;

struct Method {
  std::string_view prefix;  // of column method
  std::string_view name;
  GradientOverlap overlap;
  Aggregation aggregation;
  bool hooks = false;  // the host waits in every layer of the forward pass
};
constexpr std::array kMethods = {
    Method{"BSP-A2A", "BSP", GradientOverlap::none, Aggregation::all_reduce},
    Method{"WFBP-A2A", "WFBP", GradientOverlap::wfbp, Aggregation::all_reduce},
    Method{"MG-WFBP", "MG-WFBP", GradientOverlap::mg_wfbp, Aggregation::all_reduce},
    Method{"ByteScheduler-A2A", "ByteScheduler", GradientOverlap::priority, Aggregation::all_reduce,
           true},
    Method{"BSP-PS", "BSP-PS", GradientOverlap::none, Aggregation::parameter_server},
    Method{"WFBP-PS", "WFBP-PS", GradientOverlap::wfbp, Aggregation::parameter_server},
    // The same program with BYTEPS_SERVER_ENABLE_SCHEDULE=1: the optimizer waits for all gradients
    // as under WFBP (benchmarks.py, byteps/byteps_distributed_optimizer.py of the benchmark).
    Method{"ByteScheduler-PS", "ByteScheduler-PS", GradientOverlap::wfbp,
           Aggregation::parameter_server}};

const Method& method_of(const CompressionRun& run) {
  for (const Method& method : kMethods) {
    if (run.method.starts_with(method.prefix)) return method;
  }
  throw Error(fmt::format("no method of exchange is called '{}'", run.method));
}

double nominal_bandwidth(const std::string& network) {
  if (network.starts_with("10GbE")) return 10e9 / 8;
  if (network.starts_with("100Gb")) return 100e9 / 8;
  throw Error(fmt::format("no bandwidth is known of network '{}'", network));
}

// Where servers seem to have been reached over the slower network: README of the data.
bool is_suspect(const CompressionRun& run, const Method& method) {
  return run.network.starts_with("100GbE") && method.aggregation == Aggregation::parameter_server &&
         method.name != "ByteScheduler-PS";
}

struct Row {
  const CompressionRun* run = nullptr;
  const Method* method = nullptr;
  double alone_s = 0;
  Job job;
  PreparedIteration prepared;
  bool fit = false;
};

double predicted_s(Row& row, const LinkLaw& law) {
  Calibration& calibration = row.job.calibration;
  apply_links(law, row.run->network, calibration);
  if (row.method->aggregation == Aggregation::parameter_server) {
    const double nic_Bps = row.job.cluster.node.nic_Bps.value;
    const double sockets_Bps = row.job.communication.servers * law.connection_Bps;
    const bool tcp = row.run->network.ends_with(kTcp);
    calibration.collective_launch_s.value = law.server_launch_s;
    calibration.nic_efficiency.value =
        std::min({1.0, law.server_share, tcp ? sockets_Bps / nic_Bps : 1.0});
    calibration.pcie_efficiency.value = law.copy_share;
  }
  return estimate_iteration(row.job, row.prepared).step_s;
}

void set_compute(Row& row, double alone_s) {
  set_alone_s(row.job, alone_s);
  row.prepared = prepare_iteration(row.job);
}

Row make_row(const CompressionRun& run, const std::map<std::string, double>& alone_s) {
  Row row;
  row.run = &run;
  row.method = &method_of(run);
  if (!run.step_s || !run.batch) throw Error("no time is stated");
  const auto alone = alone_s.find(run.model);
  if (alone == alone_s.end()) {
    throw Error(fmt::format("no row states the time of {} on one GPU", run.model));
  }
  row.alone_s = alone->second;
  row.job = exchange_job(run.model, run.parameters.value_or(0), run.gpus, *run.batch,
                         {"pcie-rtx2080ti", kGpusPerNode, nominal_bandwidth(run.network)});
  if (row.job.network == nullptr) row.job.batch.sequence = kSequence;
  row.job.communication.overlap = row.method->overlap;
  row.job.communication.aggregation = row.method->aggregation;
  row.job.communication.servers = row.job.cluster.nodes;
  row.job.communication.collectives.push_back(
      {.kind = CollectiveKind::all_to_all, .algorithm = CollectiveAlgorithm::direct, .where = {}});
  set_compute(row, row.alone_s);
  return row;
}

// ---- The fit: logarithms of the law's constants.

constexpr FittedConstant kLaunch = {50e-6, 10};
constexpr FittedConstant kNodeShare = {0.4, 2};  // of PCIe 3.0's 16 GB/s, through the host
constexpr FittedConstant kNodeStep = {3e-6, 3};
constexpr FittedConstant kShare = {0.5, 4};
constexpr FittedConstant kStep = {20e-6, 10};
constexpr FittedConstant kServerShare = {0.7, 2};
constexpr FittedConstant kCopyShare = {0.75, 2};
// "A single TCP connection usually cannot run up to 25Gbps" (BytePS, docs/best-practice.md).
constexpr FittedConstant kConnection_Bps = {1e9, 3};

constexpr double kNoise = 0.03;  // of a step, relative

LinkLaw law_at(const std::vector<double>& at, const std::vector<std::string>& networks) {
  LinkLaw law;
  law.launch_s = at[0];
  law.node_share = at[1];
  law.node_step_s = at[2];
  for (size_t i = 0; i < networks.size(); ++i) {
    law.networks[networks[i]] = {at[3 + 2 * i], at[4 + 2 * i]};
  }
  return law;
}

// The constants with which the law comes nearest to the rows.
FittedConstants fitted_to(const std::vector<Row*>& rows,
                          const std::vector<FittedConstant>& constants,
                          const std::function<LinkLaw(const std::vector<double>&)>& law_at,
                          int threads) {
  std::vector<int> clusters;
  std::vector<int> models;  // what is judged is of other sizes, and its model may be another
  std::map<std::string_view, int> known;
  for (const Row* row : rows) {
    clusters.push_back(row->run->gpus);
    models.push_back(known.emplace(row->run->model, known.size()).first->second);
  }
  return fitted_constants(
      constants, clusters, kNoise,
      [&](const std::vector<double>& at, size_t i) {
        return std::log(predicted_s(*rows[i], law_at(at)) / *rows[i]->run->step_s);
      },
      threads, {models});
}

LinkLaw fitted_law(const std::vector<Row*>& rows, const std::vector<std::string>& networks,
                   int threads) {
  std::vector<FittedConstant> constants = {kLaunch, kNodeShare, kNodeStep};
  for (size_t i = 0; i < networks.size(); ++i) {
    constants.push_back(kShare);
    constants.push_back(kStep);
  }
  const auto at = [&](const std::vector<double>& values) { return law_at(values, networks); };
  const FittedConstants fitted = fitted_to(rows, constants, at, threads);
  LinkLaw law = at(fitted.values);
  law.unseen = law.server_unseen = fitted.unseen;
  return law;
}

// What a push or a pull costs beside its bytes, which bandwidth they reach, and the copies between
// GPUs and host.
void fit_servers(std::vector<Row>& rows, LinkLaw& law, int threads) {
  std::vector<Row*> fitted;
  for (Row& row : rows) {
    const bool served = row.method->aggregation == Aggregation::parameter_server;
    if (row.fit && served) fitted.push_back(&row);
  }
  law.server_launch_s = law.launch_s;
  if (fitted.empty()) return;
  const auto at = [&law](const std::vector<double>& values) {
    LinkLaw tried = law;
    tried.server_launch_s = values[0];
    tried.server_share = values[1];
    tried.copy_share = values[2];
    tried.connection_Bps = values[3];
    return tried;
  };
  const FittedConstants found =
      fitted_to(fitted, {kLaunch, kServerShare, kCopyShare, kConnection_Bps}, at, threads);
  law = at(found.values);
  law.server_unseen = found.unseen;
}

// What ByteScheduler's hooks cost: the mean excess of its rows inside one node of the model with
// the most hooks per second of compute, where nothing else shows.
double fitted_hook_s(std::vector<Row>& rows, const LinkLaw& law) {
  double sum = 0;
  int count = 0;
  for (Row& row : rows) {
    if (!row.fit || !row.method->hooks) continue;
    sum += (*row.run->step_s - predicted_s(row, law)) / weighted_layers(row.job);
    ++count;
  }
  return count > 0 ? std::max(0.0, sum / count) : 0;
}

// ---- What simpler rules say.

std::map<std::string, double> baselines_of(const Row& row) {
  const double ranks = row.run->gpus;
  const double bytes = 4 * exchange_parameters(row.job);
  const NodeSpec& node = row.job.cluster.node;
  const double link_Bps = row.job.cluster.nodes > 1 ? node.nic_Bps.value : node.pcie_Bps.value;
  const double ring_s = 2 * (ranks - 1) / ranks * bytes / link_Bps;
  return {{"no communication", row.alone_s},
          {"perfect overlap", std::max(row.alone_s, ring_s)},
          {"ring at nominal bandwidth", row.alone_s + ring_s}};
}

ValidationRow validation_row(Row& row, const LinkLaw& law) {
  const CompressionRun& run = *row.run;
  ValidationRow result;
  result.id = run.id;
  const bool suspect = is_suspect(run, *row.method);
  result.family = fmt::format("{}{}", suspect ? "suspect: " : "", row.method->name);
  result.metric = suspect ? "suspect_step_s" : "step_s";
  result.measured = *run.step_s;
  result.predicted = predicted_s(row, law);
  const bool served = row.method->aggregation == Aggregation::parameter_server;
  const double factor = std::exp(served ? law.server_unseen : law.unseen);
  result.low = result.predicted / factor;
  result.high = result.predicted * factor;
  result.origin = Origin::published;
  result.baselines = baselines_of(row);
  result.group = fmt::format("{}, {}, {} GPUs", run.model, run.network, run.gpus);
  result.configuration = row.method->name;
  result.label = fmt::format("{}, {}", result.group, row.method->name);
  result.note = run.note;
  return result;
}

std::map<std::string, double> times_alone(const std::vector<const CompressionRun*>& runs) {
  std::map<std::string, double> alone_s;
  for (const CompressionRun* run : runs) {
    if (run->method == kAlone && run->step_s) alone_s[run->model] = *run->step_s;
  }
  return alone_s;
}

}  // namespace

void apply_links(const LinkLaw& law, std::string_view network, Calibration& calibration) {
  const auto between = std::ranges::find_if(
      law.networks, [&](const auto& known) { return known.first.starts_with(network); });
  if (between == law.networks.end()) {
    throw Error(fmt::format("no law is fitted for network '{}'", network));
  }
  calibration.collective_launch_s.value = law.launch_s;
  calibration.nvlink_efficiency.value = law.node_share;
  calibration.nvlink_latency_s.value = law.node_step_s;
  calibration.nic_efficiency.value = between->second.share;
  calibration.nic_latency_s.value = between->second.step_s;
}

bool is_link_row(const CompressionRun& run) {
  return run.source.starts_with(kSource);
}

LinkRows validate_links(const std::vector<const CompressionRun*>& runs,
                        const std::function<bool(const CompressionRun&)>& fit, int threads) {
  LinkRows result;
  result.alone_s = times_alone(runs);
  std::vector<Row> rows;
  std::vector<std::string> networks;
  for (const CompressionRun* run : runs) {
    if (run->method == kAlone) continue;
    try {
      rows.push_back(make_row(*run, result.alone_s));
      rows.back().fit = fit(*run) && !is_suspect(*run, *rows.back().method);
    } catch (const Error& error) {
      result.skipped.push_back({run->id, error.what()});
      continue;
    }
    if (std::ranges::find(networks, run->network) == networks.end()) {
      networks.push_back(run->network);
    }
  }
  std::vector<Row*> fitted;
  for (Row& row : rows) {
    const bool served = row.method->aggregation == Aggregation::parameter_server;
    if (row.fit && !row.method->hooks && !served) fitted.push_back(&row);
  }
  if (fitted.empty()) throw Error("no row of a cluster's methods is left to fit its links on");
  result.law = fitted_law(fitted, networks, threads);
  fit_servers(rows, result.law, threads);
  result.hook_s = fitted_hook_s(rows, result.law);
  for (Row& row : rows) {
    if (row.method->hooks) {
      set_compute(row, row.alone_s + result.hook_s * weighted_layers(row.job));
    }
    (row.fit ? result.fitted : result.judged).push_back(validation_row(row, result.law));
  }
  return result;
}

namespace {

// Two exchanges of one job, where their times lie apart.
void count_pair(const std::string& name, const ValidationRow& one, const ValidationRow& other,
                PairOrder& order) {
  constexpr double kApart = 0.05;
  const bool first = one.measured < other.measured;
  const ValidationRow& fast = first ? one : other;
  const ValidationRow& slow = first ? other : one;
  if (slow.measured <= fast.measured * (1 + kApart)) return;
  ++order.pairs;
  if (fast.predicted < slow.predicted) {
    ++order.right;
    return;
  }
  order.wrong.push_back(fmt::format("{}: {} is faster than {} by {:.0f} %, predicted {:.0f} %",
                                    name, fast.configuration, slow.configuration,
                                    100 * (slow.measured / fast.measured - 1),
                                    100 * (slow.predicted / fast.predicted - 1)));
}

}  // namespace

PairOrder order_of_pairs(const LinkRows& rows, bool with_servers) {
  PairOrder order;
  struct Timed {
    const ValidationRow* row;
    bool judged;
  };
  const auto counts = [&](const ValidationRow& row) {
    return !row.family.starts_with("suspect") &&
           (with_servers || !row.configuration.ends_with("-PS"));
  };
  std::map<std::string, std::vector<Timed>> groups;
  for (const ValidationRow& row : rows.judged) {
    if (counts(row)) groups[row.group].push_back({&row, true});
  }
  for (const ValidationRow& row : rows.fitted) {
    if (counts(row)) groups[row.group].push_back({&row, false});
  }
  for (const auto& [name, group] : groups) {
    for (size_t i = 0; i < group.size(); ++i) {
      for (size_t j = 0; j < i; ++j) {
        if (!group[i].judged && !group[j].judged) continue;
        count_pair(name, *group[i].row, *group[j].row, order);
      }
    }
  }
  return order;
}

}  // namespace windtunnel
