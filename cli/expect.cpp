// windtunnel expect: what a collective takes on a machine, and what a log of nccl-tests says of it.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/plan/plan_arguments.hpp"
#include "cli/program/answer_output.hpp"
#include "cli/program/command.hpp"
#include "cli/program/override_options.hpp"
#include "cli/program/shell_line.hpp"
#include "models/base/printable.hpp"
#include "models/base/quantile.hpp"
#include "report/answer/expect_answer.hpp"
#include "report/text/json_text.hpp"
#include "scenarios/language/case.hpp"
#include "scenarios/language/library/interconnect_laws.hpp"
#include "scenarios/language/library/library.hpp"
#include "scenarios/language/text/choices.hpp"
#include "traces/logs/training_log.hpp"
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
    const std::size_t power =
        kUnits.find(static_cast<char>(std::toupper(static_cast<unsigned char>(unit.front()))));
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

// A batch that any such machine divides: the job itself is of no matter, but it has to be one. The
// GPUs of a node may be stated by --set.
std::int64_t batch_of(const ClusterArgument& cluster, const Overrides& set) {
  constexpr std::int64_t kMost = 50'000'000, kDivisible = 840;  // by whatever number up to 8
  std::int64_t nodes = cluster.nodes, gpus = find_node(cluster.node).gpus;
  const auto read = [](const std::string& text, std::int64_t& to) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool whole = error == std::errc() && end == text.data() + text.size();
    if (whole && value > 0 && value <= kMost) to = value;
  };
  for (const auto& [key, value] : set) {
    if (key == "cluster.nodes") read(value, nodes);
    if (key == "cluster.node.gpus") read(value, gpus);
  }
  const std::int64_t all = nodes * gpus;
  return all * kDivisible <= kMost ? all * kDivisible : all;
}

// The machine and its calibration as a job of it has them.
Job machine_of(const ExpectOptions& options) {
  const ClusterArgument argument = parse_cluster(options.cluster);
  ScenarioText scenario{.file = "--cluster", .text = {}};
  scenario.set = part_of_node(argument);
  std::ranges::move(parse_overrides(options.set), std::back_inserter(scenario.set));
  scenario.text = fmt::format(
      "name: expect\n"
      "model: {{layers: 1, hidden: 64, heads: 1, ffn: 64, vocabulary: 64, sequence: 64}}\n"
      "cluster: {{node: {}, nodes: {}}}\n"
      "batch: {{global: {}}}\n",
      argument.node, argument.nodes, batch_of(argument, scenario.set));
  Job job = resolve_unprepared(scenario).job;
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

// The Error for a log of a training program names the command that reads it.
CollectiveRows read_rows(const std::string& text, const std::string& file) {
  try {
    return is_nccl_log(text) ? parse_nccl_tests(text, file, {}) : parse_collective_rows(text, file);
  } catch (const Error&) {
    bool training = true;
    try {
      parse_training_log(text, file);
    } catch (const Error&) {
      training = false;
    }
    if (!training) throw;
    throw Error(Location{file},
                fmt::format("is the log of a training run and not of nccl-tests: windtunnel "
                            "diagnose {} reads it",
                            shell_word(file)));
  }
}

// Rows of the collective that is asked for; of a size the median.
Log read_nccl_log(const std::string& file, CollectiveKind kind,
                  std::vector<std::string>& warnings) {
  const std::string whole = read_file(file);
  const CollectiveRows rows = read_rows(whole, file);
  if (!rows.unreadable.empty()) {
    const UnusableRow& first = rows.unreadable.front();
    warnings.push_back(fmt::format(
        "{} of {} rows of the log are damaged and left out, the first at "
        "{}: {}",
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
  log.process_ranks = process_ranks(whole);
  return log;
}

// The fewest nodes that hold the ranks evenly; all, where none do.
int fewest_nodes(int ranks, const Cluster& cluster) {
  for (int nodes = 1; nodes <= std::min(ranks, cluster.nodes); ++nodes) {
    if (ranks % nodes == 0 && ranks / nodes <= cluster.node.gpus) return nodes;
  }
  return cluster.nodes;
}

// Where the log's ranks lie. Throws Error where the machine has no such place.
void place_log(const Log& log, const std::string& file, ExpectRequest& request,
               std::vector<std::string>& warnings) {
  const Cluster& cluster = request.cluster;
  const int nodes = log.nodes > 0 ? log.nodes : fewest_nodes(log.ranks, cluster);
  const bool fits =
      log.ranks % nodes == 0 && nodes <= cluster.nodes && log.ranks / nodes <= cluster.node.gpus;
  if (!fits) {
    throw Error(
        Location{file},
        fmt::format("is of {} ranks on {} node{}, and --cluster has {} nodes of {} GPUs", log.ranks,
                    nodes, nodes == 1 ? "" : "s", cluster.nodes, cluster.node.gpus));
  }
  if (log.nodes == 0 && cluster.nodes > 1) {
    warnings.push_back(
        fmt::format("the log does not say on how many nodes its {} ranks ran; "
                    "assumed: {}, the fewest that hold them",
                    log.ranks, nodes));
  }
  request.gpus = first_gpus(cluster, nodes, log.ranks / nodes);
  // On one node nccl-tests is mostly one process (-g 8); rows of a table do not say it.
  request.process_assumed = log.process_ranks == 0 && nodes == 1 && log.ranks >= 8;
  request.process_gpus = request.process_assumed ? log.ranks : std::max(1, log.process_ranks);
  request.nccl_release = log.nccl_release;
}

// A forced algorithm or protocol that a collective has not is no curve of it. Throws Error where it
// applies to no size, and warns where to some.
void check_forced(const ExpectOptions& options, const CollectiveChoice& choice,
                  const ExpectedCurve& curve, std::vector<std::string>& warnings) {
  const auto check = [&](const char* option, const std::string& forced, const auto& is_taken,
                         const auto& name_of_taken) {
    const auto others = std::ranges::count_if(
        curve.sizes, [&](const ExpectedSize& size) { return !is_taken(size); });
    if (forced.empty() || others == 0) return;
    const auto other = std::ranges::find_if_not(curve.sizes, is_taken);
    const std::string what = fmt::format("{} has no {} on this machine: {} is taken",
                                         to_string(curve.kind), forced, name_of_taken(*other));
    const auto all = static_cast<std::ptrdiff_t>(curve.sizes.size());
    if (others == all) throw Error(Location{option}, what);
    warnings.push_back(fmt::format("{}: at {} of {} sizes {}", option, others, all, what));
  };
  check(
      "--algorithm", options.algorithm,
      [&](const ExpectedSize& size) { return size.algorithm == choice.algorithm; },
      [](const ExpectedSize& size) { return std::string(to_string(size.algorithm)); });
  check(
      "--protocol", options.protocol,
      [&](const ExpectedSize& size) { return size.protocol == choice.protocol; },
      [](const ExpectedSize& size) { return std::string(to_string(size.protocol)); });
}

// "2 of 4 x dgx-h100" where fewer take part than there are.
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
  std::vector<std::string> warnings;
  if (options.log.empty()) {
    const ExpectedCurve curve = expect_collective(request);
    check_forced(options, request.choice, curve, warnings);
    Answer answer = expect_answer(curve, machine_text(job.cluster, curve.nodes));
    add_warnings(std::move(warnings), answer);
    hand_out(answer, options.output);
    return ExitCode::ok;
  }
  if (sizes_given) {
    throw Error(Location{"--sizes"}, "the log says which sizes; leave out one of the two");
  }
  const Log log = read_nccl_log(options.log, named.kind, warnings);
  place_log(log, options.log, request, warnings);
  const LogReading reading = read_log(request, log.sizes);
  check_forced(options, request.choice, reading.expected, warnings);
  Answer answer = expect_answer(reading, machine_text(job.cluster, reading.expected.nodes));
  add_warnings(std::move(warnings), answer);
  hand_out(answer, options.output);
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
