// windtunnel expect: the expected time of a collective on a machine, compared with nccl-tests' log.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <memory>

#include "cli/collective_log.hpp"
#include "cli/plan/plan_arguments.hpp"
#include "cli/program/answer_output.hpp"
#include "cli/program/command.hpp"
#include "cli/program/override_options.hpp"
#include "models/base/printable.hpp"
#include "report/answer/command_answers.hpp"
#include "scenarios/language/case.hpp"
#include "scenarios/language/library/library.hpp"
#include "scenarios/language/text/choices.hpp"
#include "sim/study/expect/log_causes.hpp"
#include "traces/nccl/nccl_tests_row.hpp"

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
// Algorithms that NCCL_ALGO can force.
constexpr CollectiveAlgorithm kForced[] = {
    CollectiveAlgorithm::ring, CollectiveAlgorithm::tree, CollectiveAlgorithm::nvls,
    CollectiveAlgorithm::nvls_tree, CollectiveAlgorithm::pat};

[[noreturn]] void refuse_sizes(const std::string& text) {
  throw Error(
      Location{"--sizes"},
      fmt::format("'{}' is not a size; write bytes as nccl-tests does: '8', '64K', '1G' (powers of "
                  "1024), several with commas, or '1K..8G' for every doubling in between",
                  excerpt(text)));
}

// Parses "64K" as nccl-tests does.
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

// Parses "8,1K..8G".
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

// Returns a batch that any layout of the machine divides, because the job must be valid although it
// has no effect on the answer. --set may state the GPUs of a node.
std::int64_t batch_of(const ClusterArgument& cluster, const Overrides& set) {
  constexpr std::int64_t kMost = 50'000'000, kDivisible = 840;  // divisible by every number up to 8
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

// Resolves a job on the machine, of which only the machine and its calibration are used.
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
    throw Error(Location{"--set cluster.pools"}, "expect needs a machine with identical nodes");
  }
  return job;
}

CollectiveChoice forced_choice(const ExpectOptions& options) {
  CollectiveChoice choice;
  for (const CollectiveAlgorithm each : kForced) {
    if (options.algorithm == to_string(each)) choice.algorithm = each;
  }
  if (!options.protocol.empty()) choice.protocol = value_of<Protocol>(options.protocol);
  return choice;
}

// Throws Error if the forced algorithm or protocol applies to no size of the collective, and warns
// if it applies only to some.
void check_forced(const ExpectOptions& options, const CollectiveChoice& choice,
                  const ExpectedCurve& curve, std::vector<std::string>& warnings) {
  const auto check = [&](const char* option, const std::string& forced, const auto& is_taken,
                         const auto& name_of_taken) {
    const auto others = std::ranges::count_if(
        curve.sizes, [&](const ExpectedSize& size) { return !is_taken(size); });
    if (forced.empty() || others == 0) return;
    const auto other = std::ranges::find_if_not(curve.sizes, is_taken);
    const std::string what = fmt::format("{} has no {} on this machine: {} is used instead",
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

ExitCode run(const ExpectOptions& options, bool sizes_given) {
  check_folders(options.output);
  const NamedCollective named = collective_named(options.collective, Location{"COLLECTIVE"});
  if (!named.unusable.empty()) throw Error(Location{"COLLECTIVE"}, named.unusable);
  const Job job = machine_of(options);
  ExpectRequest request = collective_request(job, named.kind);
  request.choice = forced_choice(options);
  request.sizes = sizes_of(options.sizes);
  if (options.log.empty()) {
    std::vector<std::string> warnings;
    const ExpectedCurve curve = expect_collective(request);
    check_forced(options, request.choice, curve, warnings);
    Answer answer = expect_answer(curve, machine_text(job.cluster, curve.nodes));
    add_warnings(std::move(warnings), answer);
    hand_out(answer, options.output);
    return ExitCode::ok;
  }
  if (sizes_given) {
    throw Error(Location{"--sizes"}, "the log already says which sizes; leave out one of the two");
  }
  CollectiveReading read = read_collective_log(options.log, request);
  check_forced(options, request.choice, read.log.expected, read.warnings);
  hand_out_reading(read, job.cluster, options.output);
  return ExitCode::ok;
}

}  // namespace

Handler define_expect(const CommandLine& app) {
  auto options = std::make_shared<ExpectOptions>();
  app.add_option("COLLECTIVE", options->collective,
                 "the collective, by its name in nccl-tests: all_reduce, all_gather, "
                 "reduce_scatter, alltoall, broadcast, reduce, gather, sendrecv")
      .required();
  app.add_option("--cluster", options->cluster,
                 "machine: '2 x dgx-h100' (nodes), '16 x h100' (GPUs); windtunnel list nodes",
                 "MACHINE")
      .required();
  app.add_option("--sizes", options->sizes,
                 "sizes in bytes, as in nccl-tests: '64K,1M', or '1K..8G' for every doubling",
                 "SIZES")
      .show_default();
  app.add_option("--log", options->log,
                 "output of nccl-tests (text, JSON) to compare with the prediction; also shows "
                 "causes that would explain the difference",
                 "LOG");
  std::vector<std::string> algorithms, protocols;
  for (const CollectiveAlgorithm each : kForced) algorithms.emplace_back(to_string(each));
  for (const Protocol each : {Protocol::ll, Protocol::ll128, Protocol::simple}) {
    protocols.emplace_back(name_of(each));
  }
  app.add_option("--algorithm", options->algorithm, "force this algorithm, as NCCL_ALGO does")
      .check(one_of("algorithm", algorithms));
  app.add_option("--protocol", options->protocol, "force this protocol, as NCCL_PROTO does")
      .check(one_of("protocol", protocols));
  app.add_set(options->set);
  add_answer_output(app, options->output);
  add_example(app, "all_reduce --cluster '2 x dgx-h100' --sizes 1K..8G");
  return [options, app] { return run(*options, app.given("--sizes")); };
}

}  // namespace windtunnel
