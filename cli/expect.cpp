// windtunnel expect: what a collective takes on a machine, and what a log of nccl-tests says of it.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <memory>

#include "cli/plan/plan_arguments.hpp"
#include "cli/program/answer_output.hpp"
#include "cli/program/command.hpp"
#include "cli/program/override_options.hpp"
#include "models/base/printable.hpp"
#include "models/base/quantile.hpp"
#include "report/answer/expect_answer.hpp"
#include "scenarios/language/case.hpp"
#include "scenarios/language/library/interconnect_laws.hpp"
#include "scenarios/language/library/library.hpp"
#include "scenarios/language/text/choices.hpp"
#include "traces/nccl/nccl_tests.hpp"
#include "traces/nccl/nccl_tests_row.hpp"
#include "traces/text/text.hpp"

namespace windtunnel {
namespace {

struct ExpectOptions {
  std::string collective;
  std::string cluster;
  std::string sizes = "1K..8G";
  std::string log;
  std::string algorithm, protocol;
  std::vector<std::string> set;
  AnswerOutput output;
};

constexpr double kMostBytes = 1e15;
// What NCCL_ALGO may say.
constexpr CollectiveAlgorithm kForced[] = {
    CollectiveAlgorithm::ring, CollectiveAlgorithm::tree, CollectiveAlgorithm::nvls,
    CollectiveAlgorithm::nvls_tree, CollectiveAlgorithm::pat};

[[noreturn]] void refuse_sizes(const std::string& text) {
  throw Error(
      Location{"--sizes"},
      fmt::format("'{}' is no size; write bytes as nccl-tests does, '8', '64K', '1G' (powers "
                  "of 1024), several with commas, and '1K..8G' for each doubling between",
                  excerpt(text)));
}

// "64K" as nccl-tests reads it.
double size_of(std::string_view text, const std::string& all) {
  static constexpr std::string_view kUnits = "KMGT";
  double bytes = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), bytes);
  std::string_view unit = text.substr(static_cast<std::size_t>(end - text.data()));
  if (error != std::errc() || unit.size() > 1) refuse_sizes(all);
  if (unit.size() == 1) {
    const std::size_t power = kUnits.find(static_cast<char>(std::toupper(unit.front())));
    if (power == std::string_view::npos) refuse_sizes(all);
    bytes *= std::pow(1024.0, static_cast<double>(power + 1));
  }
  if (!(bytes >= 1 && bytes <= kMostBytes)) refuse_sizes(all);
  return std::floor(bytes);
}

// "8,1K..8G".
std::vector<double> sizes_of(const std::string& text) {
  std::vector<double> sizes;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    const std::string_view item = std::string_view(text).substr(at, end - at);
    at = end + 1;
    const std::size_t dots = item.find("..");
    const double first = size_of(item.substr(0, dots), text);
    const double last =
        dots == std::string_view::npos ? first : size_of(item.substr(dots + 2), text);
    if (last < first) refuse_sizes(text);
    for (double bytes = first; bytes <= last; bytes *= 2) sizes.push_back(bytes);
  }
  std::ranges::sort(sizes);
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  return sizes;
}

// The machine and its calibration as a job of it has them; the job itself is of no matter.
Job machine_of(const ExpectOptions& options) {
  constexpr int kDivisible = 840;  // by whatever number of GPUs a node is said to have, up to 8
  const ClusterArgument argument = parse_cluster(options.cluster);
  ScenarioText scenario{.file = "--cluster", .text = {}};
  scenario.text = fmt::format(
      "name: expect\n"
      "model: {{layers: 1, hidden: 64, heads: 1, ffn: 64, vocabulary: 64, sequence: 64}}\n"
      "cluster: {{node: {}, nodes: {}}}\n"
      "batch: {{global: {}}}\n",
      argument.node, argument.nodes,
      static_cast<std::int64_t>(argument.nodes) * find_node(argument.node).gpus * kDivisible);
  scenario.set = part_of_node(argument);
  std::ranges::move(parse_overrides(options.set), std::back_inserter(scenario.set));
  const auto unprepared = [](const Job&, const std::string&) {
    return std::shared_ptr<const PreparedIteration>();
  };
  Job job = resolve_case(scenario, {}, unprepared).job;
  if (!job.cluster.pools.empty()) {
    throw Error(Location{"--set cluster.pools"}, "expect is of nodes that are all alike");
  }
  return job;
}

// Whether the law is of the machine's own collectives, and not of its specification.
bool is_fitted(const Job& job) {
  const NodeSpec& node = job.cluster.node;
  const Transport transport = job.cluster.fabric.transport;
  const InterconnectLaw& law = job.calibration.network;
  return law.stated && why_no_network_law(node, transport).empty() &&
         law.noise_log.source != specified_interconnect_law(node, transport).noise_log.source;
}

CollectiveChoice forced_choice(const ExpectOptions& options) {
  CollectiveChoice choice;
  for (const CollectiveAlgorithm each : kForced) {
    if (options.algorithm == to_string(each)) choice.algorithm = each;
  }
  if (!options.protocol.empty()) choice.protocol = value_of<Protocol>(options.protocol);
  return choice;
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

// Rows of the collective that is asked for; of a size the median.
Log read_nccl_log(const std::string& file, CollectiveKind kind) {
  const CollectiveRows rows = read_collectives(file, {});
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
      throw Error(Location{file}, fmt::format("holds {} of {} ranks and of {}; give a log of one",
                                              to_string(kind), log.ranks, row.gpus));
    }
    log.ranks = row.gpus;
    log.nodes = row.nodes;
    log.nccl_release = nccl_release(row.nccl_version);
    seconds[row.bytes].push_back(row.seconds);
  }
  if (seconds.empty()) {
    throw Error(Location{file}, fmt::format("holds no time of {}{}", to_string(kind),
                                            others.empty() ? "" : ", only of " + others));
  }
  for (const auto& [bytes, times] : seconds) log.sizes.push_back({bytes, median(times)});
  log.process_ranks = process_ranks(read_file(file));
  return log;
}

// Where the log's ranks lie. Throws Error where the machine has no such place.
void place_log(const Log& log, const std::string& file, ExpectRequest& request) {
  const Cluster& cluster = request.cluster;
  const int nodes = log.nodes > 0 ? log.nodes : cluster.nodes;
  const bool fits =
      log.ranks % nodes == 0 && nodes <= cluster.nodes && log.ranks / nodes <= cluster.node.gpus;
  if (!fits) {
    throw Error(
        Location{file},
        fmt::format("is of {} ranks on {} node{}, and --cluster has {} nodes of {} GPUs", log.ranks,
                    nodes, nodes == 1 ? "" : "s", cluster.nodes, cluster.node.gpus));
  }
  request.gpus = first_gpus(cluster, nodes, log.ranks / nodes);
  // On one node nccl-tests is mostly one process (-g 8); rows of a table do not say it.
  request.process_assumed = log.process_ranks == 0 && nodes == 1 && log.ranks >= 8;
  request.process_gpus = request.process_assumed ? log.ranks : std::max(1, log.process_ranks);
  request.nccl_release = log.nccl_release;
}

ExitCode run(const ExpectOptions& options, bool sizes_given) {
  check_folders(options.output);
  const NamedCollective named = collective_named(options.collective, Location{"COLLECTIVE"});
  if (!named.unusable.empty()) throw Error(Location{"COLLECTIVE"}, named.unusable);
  const Job job = machine_of(options);
  ExpectRequest request{.kind = named.kind,
                        .choice = forced_choice(options),
                        .sizes = sizes_of(options.sizes),
                        .cluster = job.cluster,
                        .gpus = {},
                        .calibration = job.calibration};
  request.fitted = is_fitted(job);
  request.gpus = first_gpus(job.cluster, job.cluster.nodes, job.cluster.node.gpus);
  const std::string machine = fmt::format("{} x {}", job.cluster.nodes, job.cluster.node.name);
  if (options.log.empty()) {
    const ExpectedCurve curve = expect_collective(request);
    hand_out(expect_answer(curve, machine), options.output);
    return ExitCode::ok;
  }
  if (sizes_given) {
    throw Error(Location{"--sizes"}, "the log says which sizes; leave out one of the two");
  }
  const Log log = read_nccl_log(options.log, named.kind);
  place_log(log, options.log, request);
  const LogReading reading = read_log(request, log.sizes);
  hand_out(expect_answer(reading, machine), options.output);
  return ExitCode::ok;
}

}  // namespace

Handler define_expect(const CommandLine& app) {
  auto options = std::make_shared<ExpectOptions>();
  app.add_option("COLLECTIVE", options->collective,
                 "as nccl-tests calls it: all_reduce, all_gather, reduce_scatter, alltoall, "
                 "broadcast, reduce, gather, sendrecv")
      .required();
  app.add_option("--cluster", options->cluster,
                 "machine: '2 x dgx-h100' (nodes), '16 x h100' (GPUs); windtunnel list nodes",
                 "MACHINE")
      .required();
  app.add_option("--sizes", options->sizes,
                 "bytes as nccl-tests has them: '64K,1M', or '1K..8G' for each doubling", "SIZES")
      .show_default();
  app.add_option("--log", options->log,
                 "what nccl-tests printed (text, JSON), to be set beside it, with what would "
                 "explain the difference",
                 "LOG");
  std::vector<std::string> algorithms, protocols;
  for (const CollectiveAlgorithm each : kForced) algorithms.emplace_back(to_string(each));
  for (const Protocol each : {Protocol::ll, Protocol::ll128, Protocol::simple}) {
    protocols.emplace_back(name_of(each));
  }
  app.add_option("--algorithm", options->algorithm, "forced, as by NCCL_ALGO")
      .check(one_of("algorithm", algorithms));
  app.add_option("--protocol", options->protocol, "forced, as by NCCL_PROTO")
      .check(one_of("protocol", protocols));
  app.add_set(options->set);
  add_answer_output(app, options->output);
  add_example(app, "all_reduce --cluster '2 x dgx-h100' --sizes 1K..8G");
  return [options, app] { return run(*options, app.given("--sizes")); };
}

}  // namespace windtunnel
