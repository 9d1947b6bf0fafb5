#include "tests/sim/jobs/random_job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <initializer_list>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "models/base/random.hpp"
#include "scenarios/language/text/fields.hpp"

namespace windtunnel {
namespace {

// Each job takes one text from each list of parts.
using Parts = std::span<const std::string_view>;

constexpr std::string_view kModels[] = {
    "model: {layers: 8, hidden: 1024, heads: 16, vocabulary: 32000, sequence: 1024}\n",
    "model: {layers: 8, hidden: 1024, heads: 16, vocabulary: 32000, sequence: 1024, moe: {experts: "
    "8, per_token: 2, ffn: 2048}}\n",
    "model: {layers: 8, hidden: 1024, heads: 16, vocabulary: 32000, sequence: 1024, "
    "hybrid_override_pattern: 'M-M*M-M*', mamba: {state_dim: 64, head_dim: 64, num_groups: 2, "
    "num_heads: 32}}\n",
    "model: bert-base\n",
    "model: resnet-50\n",
    "model: alexnet\n",
};
constexpr std::size_t kTransformers = 4;  // the first models are transformers

constexpr std::string_view kClusters[] = {
    "nodes: 2, node: dgx-h100",
    "nodes: 4, node: dgx-a100",
    "nodes: 4, node: pcie-rtx3080",
    "nodes: 2, node: dgx-h100, jitter: {sigma: 0.1}",
    "nodes: 2, node: dgx-a100, jitter: {sigma: 0.2, per: task}",
    "nodes: 2, node: dgx-h100, power: {usd_per_kwh: 0.1}",
    "pools: [{name: a, nodes: 1, node: dgx-h100}, {name: b, nodes: 1, node: dgx-a100}]",
    "nodes: 4, node: dgx-h100, fabric: {topology: sites, wan: 10 Gb/s, sites: [{name: a, nodes: "
    "2}, {name: b, nodes: 2}]}",
    "nodes: 2, node: dgx-h100, slow_nodes: [{node: 0, slowdown: 1.5}]",
};

constexpr std::string_view kLayouts[] = {
    "layout: {tp: 1}\n",
    "layout: {tp: 1, sharding: zero3}\n",
    "layout: {tp: 2, sharding: zero1, sequence_parallel: true}\n",
    "layout: {tp: 1, pp: 2}\n",
    "layout: {tp: 2, pp: 4, sharding: zero1}\n",
};
constexpr std::size_t kLayoutsOfTables = 2;  // the first layouts also suit a table of layers

constexpr std::string_view kTurns[] = {
    "",
    "",
    "",
    "sync: [{islands: 2, every: 10 steps}]\n",
    "sync: [{islands: 2, every: 50 steps, fragments: 5, delay: 2 steps, compressor: int4}]\n",
    "sync: [{islands: 2, every: 1 step, pattern: gossip, graph: random}]\n",
    "filling: {work: [{name: other, model: resnet-50, samples: 8}, {name: pieces, piece: 1 ms, "
    "unit_pieces: 4}], margin: 0.05}\n",
    "input: {sample: 110 kB, prepare: 8 ms, workers: 8}\n",
    "offload: {optimizer: host, gradients: host}\n",
    "offload: auto\nrecompute: auto\n",
    "recompute: auto\n",
    "recompute: selective\n",
    "compress: [{axis: dp, name: demo}]\n",
    "compress: [{axis: dp, name: powersgd}]\n",
    "redundancy: drop-slowest\n",
    "train: {adapter: {kind: dora, rank: 16}}\n",
    "train: {method: zeroth-order}\n",
    "train: {frozen: [\"layers 0-3\"]}\n",
    "software: {sends: blocking}\n",
    "software: {tp_overlap: {form: domino, rows: 2, columns: 2}}\n",
    "schedule: {name: pipedream}\n",
    "schedule: interleaved-1f1b\n",
    "schedule: zb-h1\n",
};

// From this number on, jobs may have islands together with another part.
constexpr std::uint64_t kFirstWithTwoTurns = 500;
constexpr std::string_view kIslands[] = {
    "sync: [{islands: 2, every: 10 steps}]\n",
    "sync: [{islands: 2, every: 1 step, pattern: gossip, events: poisson}]\n",
    "sync: [{islands: 2, every: 20 steps, parameters: dense}]\n",
    "sync: [{islands: 2, every: 20 steps, wait_for: all-but-1}]\n",
    "sync: [{islands: 4, every: 20 steps, paths: [2, 2]}]\n",
};

constexpr std::string_view kRest =
    "snapshots:\n"
    "  - {tier: storage, every: 30 min}\n"
    "  - {tier: host-memory, every: 20 iterations}\n"
    "failures:\n"
    "  - {class: node, rate: 20 per 1000 node-days, repair: 12 h}\n"
    "  - {class: process, rate: 20 per 1000 node-days}\n"
    "recovery: {spares: 1, detect: 30 s, restart: 5 min}\n";

// Three of these features are drawn together.
struct StatedPart {
  std::string_view key;
  std::string_view value;
};
constexpr StatedPart kExchanges[] = {
    {"layout.sharding", "zero1"},
    {"layout.sharding", "zero1"},
    {"layout.sharding", "zero2"},
    {"layout.sharding", "zero3"},
    {"layout.shard_ranks", "4"},
    {"communication.compressor", "powersgd"},
    {"communication.compressor", "acp-sgd"},
    {"communication.compressor", "topk"},
    {"communication.compressor", "int8"},
    {"communication.compressor", "onebit-adam"},
    {"communication.compressor", "onebit-lamb"},
    {"communication.compressor", "demo"},
    {"communication.compressor", "distributed-lion"},
    {"communication.robust", "{rule: median, form: sliced}"},
    {"communication.robust", "{rule: krum, faulty: 1}"},
    {"communication.aggregation", "parameter-server"},
    {"communication.embeddings", "all-to-all"},
    {"communication.embeddings", "all-gather"},
    {"communication.overlap", "dear"},
    {"communication.overlap", "priority"},
    {"sync", "[{islands: 2, every: 20 steps, compressor: powersgd}]"},
    {"sync", "[{islands: 2, every: 1 step, delay: 1 step}]"},
    {"redundancy", "drop-slowest"},
    {"redundancy", "{scheme: backup-workers, stragglers: 1}"},
    {"redundancy", "{scheme: gradient-coding, stragglers: 1}"},
    {"train", "{method: zeroth-order}"},
};

// Long names of the library would take minutes to simulate; their parts are drawn instead.
constexpr std::string_view kLeftOut[] = {
    "model", "name", "cluster.nodes", "campaign.replicas", "campaign.length", "model.layers"};

class KeyDraw {
 public:
  explicit KeyDraw(std::uint64_t number) : random_(20261128, RandomPurpose::test, number) {}

  RandomJob job(std::uint64_t number) {
    RandomJob job{.text = fmt::format("name: keys-{}\n", number), .set = {}};
    const std::size_t model = below(std::size(kModels));
    const bool table = model >= kTransformers;
    const Parts layouts(kLayouts);
    job.text += kModels[model];
    job.text += fmt::format("cluster: {{{}, storage: {{write: 10 GB/s, read: 10 GB/s}}}}\n",
                            one_of(kClusters));
    job.text += one_of(table ? layouts.first(kLayoutsOfTables) : layouts);
    job.text += fmt::format("batch: {{global: 64, micro: {}}}\n", 1 << below(2));
    if (!table && chance(0.1)) {
      static constexpr std::string_view kPolicies[] = {"fixed", "flexsp", "hdp"};
      job.text.insert(job.text.rfind('}'), ", lengths: {median: 300, sigma: 0.8}");
      job.set.emplace_back("layout.length_policy", one_of(kPolicies));
    }
    const std::string_view turn = one_of(kTurns);
    job.text += turn;
    RandomStream beside(20261129, RandomPurpose::test, number);
    if (number >= kFirstWithTwoTurns && !turn.starts_with("sync") && beside.uniform() < 0.15) {
      job.text += kIslands[beside.below(std::size(kIslands))];
    }
    if (!turn.starts_with("software")) {
      job.text += fmt::format("communication: {{overlap: {}}}\n", one_of(kOverlaps));
    }
    job.text += kRest;
    job.text +=
        fmt::format("campaign: {{length: 2 d, replicas: 2{}}}\n",
                    chance(0.2) ? ", evaluation: {every: 100 iterations, takes: 10 s}" : "");
    for (std::size_t keys = below(5); keys > 0; --keys) add_key(job);
    for (int parts = chance(0.4) ? 3 : 0; parts > 0; --parts) {
      const StatedPart& part = kExchanges[below(std::size(kExchanges))];
      job.set.emplace_back(part.key, part.value);
    }
    return job;
  }

 private:
  static constexpr std::string_view kOverlaps[] = {"none",     "bucketed", "bucketed", "wfbp",
                                                   "blocking", "priority", "dear"};

  std::size_t below(std::size_t count) { return random_.below(count); }
  bool chance(double share) { return random_.uniform() < share; }
  std::string_view one_of(Parts parts) { return parts[below(parts.size())]; }

  void add_key(RandomJob& job) {
    const std::vector<Field>& table = field_table();
    const Field& field = table[below(table.size())];
    if (field.path.empty() || std::ranges::count(kLeftOut, field.path) > 0) return;
    std::string key(field.path);
    for (std::size_t at; (at = key.find('*')) != std::string::npos;) {
      key.replace(at, 1, std::to_string(below(2)));
    }
    std::string value = value_of(field);
    if (!value.empty()) job.set.emplace_back(std::move(key), std::move(value));
  }

  std::string value_of(const Field& field) {
    if (field.map || field.list) {
      if (field.scalar == ScalarType::none || chance(0.5)) return std::string(field.example);
    }
    switch (field.scalar) {
      case ScalarType::boolean:
        if (!field.names.empty()) return std::string(one_of(field.names));
        return chance(0.5) ? "true" : "false";
      case ScalarType::name: {
        const std::vector<std::string> names = names_of(field);
        return names.empty() ? std::string(field.example) : names[below(names.size())];
      }
      case ScalarType::integer: {
        const int number = 1 << below(5);
        return field.admits(number) ? std::to_string(number) : std::string(field.example);
      }
      case ScalarType::quantity:
        return scaled(field);
      case ScalarType::interval:
        return std::string(one_of(kIntervals));
      default:
        return std::string(field.example);
    }
  }

  static constexpr std::string_view kIntervals[] = {"1 iteration", "10 iterations", "7 min"};

  // Returns the field's example, or a fraction or multiple of it.
  std::string scaled(const Field& field) {
    static constexpr double kTimes[] = {1, 1, 0, 0.1, 0.5, 2, 10};
    const std::string_view example = field.example;
    double number = 0;
    const auto [end, error] =
        std::from_chars(example.data(), example.data() + example.size(), number);
    if (error != std::errc{}) return std::string(example);
    return fmt::format("{}{}", number * kTimes[below(std::size(kTimes))],
                       std::string_view(end, example.data() + example.size()));
  }

  RandomStream random_;
};

}  // namespace

std::string RandomJob::to_string() const {
  std::string all = text;
  for (const auto& [key, value] : set) all += fmt::format("# --set '{}={}'\n", key, value);
  return all;
}

RandomJob random_job_of_keys(std::uint64_t number) {
  return KeyDraw(number).job(number);
}

RandomJob accepted(const RandomJob& job, const std::string& file,
                   const std::function<void(const Error&)>& refused) {
  RandomJob result{.text = job.text, .set = {}};
  for (const auto& each : job.set) {
    result.set.push_back(each);
    try {
      parse_case(result.text, file, result.set);
    } catch (const Error& error) {
      if (refused) refused(error);
      result.set.pop_back();
    }
  }
  return result;
}

void make_campaign_eventful(Job& job) {
  constexpr double kMoreFailures = 25;
  for (FailureClass& one : job.failures) one.rate_per_node_s *= kMoreFailures;
}

}  // namespace windtunnel
