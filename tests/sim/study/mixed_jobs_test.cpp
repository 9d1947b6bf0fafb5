// Trained parts, offloading, work in idle time, samples, pauses and power are combined with any
// layout and schedule: each scenario is refused with its place and reason, or its figures add up.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <string_view>

#include "models/base/random.hpp"
#include "models/cost/memory/memory.hpp"
#include "tests/sim/study/record_bounds.hpp"

namespace windtunnel {
namespace {

constexpr int kMixedJobs = 500;
constexpr int kMixedBlocks = 10;  // blocks run in parallel

class MixedDraw {
 public:
  explicit MixedDraw(std::uint64_t number) : random_(20261126, RandomPurpose::test, number) {}

  std::string one_of(std::initializer_list<std::string_view> words) {
    return std::string(*(words.begin() + random_.below(words.size())));
  }
  bool chance(double share) { return random_.uniform() < share; }
  // Returns one of the words, or nothing.
  std::string maybe(double share, std::initializer_list<std::string_view> words) {
    return chance(share) ? one_of(words) : "";
  }

 private:
  RandomStream random_;
};

std::string mixed_job(std::uint64_t number) {
  MixedDraw draw(number);
  const bool table = draw.chance(0.15);
  std::string text = fmt::format("name: mixed-{}\n", number);
  text += table
              ? "model: resnet-50\n"
              : "model: {layers: 8, hidden: 1024, heads: 16, vocabulary: 32000, sequence: 1024}\n";
  text += fmt::format(
      "cluster: {{{}, storage: {{write: 10 GB/s, read: 10 GB/s}}}}\n",
      draw.one_of({"nodes: 2, node: dgx-a100",
                   "nodes: 2, node: dgx-a100, power: {usd_per_kwh: 0.1}",
                   "pools: [{name: a, nodes: 1, node: dgx-h100}, {name: b, nodes: 1, node: "
                   "dgx-a100}]"}));
  text += fmt::format("layout: {{tp: {}, pp: {}, sharding: {}}}\n",
                      table ? "1" : draw.one_of({"1", "2", "8"}),
                      table ? "1" : draw.one_of({"1", "1", "2", "4"}),
                      draw.one_of({"none", "zero1", "zero2", "zero3", "zero3"}));
  text += fmt::format("batch: {{global: 64, micro: {}}}\n", draw.one_of({"1", "2", "4"}));
  text += fmt::format(
      "schedule: {}\n",
      draw.one_of({"1f1b", "gpipe", "zb-h1", "{name: seq1f1b, slices: 2}", "interleaved-1f1b"}));
  text += fmt::format("communication: {{overlap: {}}}\n",
                      draw.one_of({"none", "bucketed", "dear", "priority"}));
  text +=
      fmt::format("recompute: {}\n", draw.one_of({"none", "none", "selective", "full", "auto"}));
  text += draw.maybe(
      0.6, {"offload: host\n", "offload: auto\n", "offload: {optimizer: host, gradients: host}\n",
            "offload: {optimizer: disk, weights: host, gradients: host}\n",
            "offload: {activations: host, activation_share: 0.5}\n",
            "offload: {activations: auto}\n", "offload: {optimizer: host, delayed: true}\n",
            "offload: {activations: host, hidden: true}\n", "offload: {placement: chunks}\n",
            "offload: {optimizer: host, weights: host, gradients: host, sections: 3, tiles: 2}\n"});
  text += draw.maybe(
      0.4, {"train: {adapter: {kind: lora, rank: 16}}\n", "train: {frozen: [embedding]}\n",
            "train: {adapter: {kind: qlora, rank: 64}}\n", "train: {frozen: [\"layers 0-3\"]}\n",
            "train: {method: zeroth-order}\n", "train: {loss: {kind: cross-entropy, chunks: 4}}\n",
            "train: {loss: {kind: contrastive, form: tiled}}\n"});
  text += draw.maybe(
      0.3,
      {"filling: {work: [{name: evaluation, piece: 1 ms, pieces: 8}]}\n",
       "filling: {work: [{name: encoder, model: bert-large, samples: 8, needed_by: step}]}\n"});
  text += draw.maybe(0.3, {"input: {sample: 100 kB, prepare: 5 ms, workers: 8}\n",
                           "input: {sample: 1 MB, prepare: 50 ms, workers: 2, prefetch: 0}\n"});
  text +=
      "snapshots:\n  - {tier: storage, every: 1 h, mode: async}\n"
      "failures:\n  - {class: node, rate: 20 per 1000 node-days, repair: 12 h}\n"
      "recovery: {spares: 1, detect: 30 s, restart: 5 min}\n";
  text += draw.maybe(0.3, {"redundancy: drop-slowest\n"});
  text += fmt::format("campaign: {{length: 10 d, replicas: 2{}}}\n",
                      draw.maybe(0.3, {", evaluation: {every: 1 h, takes: 60 s}",
                                       ", logging: {every: 10 min, takes: 2 s}"}));
  return text;
}

const std::vector<RecordBound>& memory_bounds() {
  static const std::vector<RecordBound> all = {
      {"no part of the memory is negative",
       [](const Record& record) {
         for (const GpuMemory& rank : record.iteration.memory) {
           for (const double bytes :
                {rank.weights, rank.gradients, rank.optimizer, rank.activations, rank.buffers,
                 rank.host.total(), rank.disk.total()}) {
             if (!(bytes >= 0)) return false;
           }
         }
         return true;
       }},
  };
  return all;
}

class MixedJobs : public testing::TestWithParam<int> {};

TEST_P(MixedJobs, AddUpOrAreRefusedWithTheReason) {
  expect_run_or_refused(
      {"mixed", kMixedJobs, kMixedBlocks, mixed_job, within_bounds(memory_bounds())}, GetParam());
}

// Some of the jobs run in every test run, the others only in long ones.
INSTANTIATE_TEST_SUITE_P(Blocks, MixedJobs, testing::Range(0, kMixedBlocks / 5));
INSTANTIATE_TEST_SUITE_P(ManyBlocks, MixedJobs, testing::Range(kMixedBlocks / 5, kMixedBlocks));

}  // namespace
}  // namespace windtunnel
