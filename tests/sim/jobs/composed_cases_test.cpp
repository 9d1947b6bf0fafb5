// Jobs combine two features that were built without regard to each other: each job runs, or is
// refused at its place.
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "models/base/error.hpp"
#include "scenarios/language/case.hpp"
#include "sim/study/optimise.hpp"
#include "sim/study/record_invariants.hpp"
#include "sim/study/simulate.hpp"
#include "tests/support/error_of.hpp"

namespace windtunnel {
namespace {

const std::string kTable =
    "name: table\n"
    "model: resnet-50\n"
    "cluster: {nodes: 4, node: dgx-h100}\n"
    "batch: {global: 2048, micro: 64}\n";
const std::string kTransformer =
    "name: transformer\n"
    "model: {layers: 8, hidden: 1024, heads: 16, vocabulary: 32000, sequence: 1024}\n"
    "cluster: {nodes: 2, node: dgx-h100}\n"
    "batch: {global: 64, micro: 2}\n";

Record run(const std::string& text) {
  return simulate(parse_case(text, "composed.yaml"), {.threads = 1, .allow_oom = true});
}

std::string refusal(const std::string& text) {
  return error_of([&] { run(text); });
}

// The layers of a table number its tensors, and so the blocks that islands exchange.
TEST(ComposedCases, IslandsExchangeTheTensorsOfATable) {
  for (const std::string level : {"{islands: 2, every: 10 steps}",
                                  "{islands: 2, every: 50 steps, fragments: 5, delay: 2 steps, "
                                  "compressor: int4}",
                                  "{islands: 2, every: 1 step, pattern: gossip, graph: random}"}) {
    const Record record = run(kTable + "sync: [" + level + "]\n");
    ASSERT_EQ(record.iteration.sync.size(), 1u) << level;
    // The ranks of an island divide 25.6 million parameters among them. Each takes four bytes, or
    // half a byte in int4, and at most twice that around a ring.
    const double ranks = record.job.layout.dp / 2.0;
    EXPECT_GT(record.iteration.sync[0].sent_bytes, 0.5 * 25e6 / ranks) << level;
    EXPECT_LT(record.iteration.sync[0].sent_bytes, 4.0 * 2 * 26e6 / ranks) << level;
    EXPECT_EQ(broken_invariants(record), std::vector<std::string>{}) << level;
  }
}

TEST(ComposedCases, AStepThatWaitsForItsInputMayHaveNoPassOnItsPath) {
  const Record record = simulate(
      parse_case("name: input\nmodel: alexnet\n"
                 "cluster: {nodes: 2, node: dgx-h100, slow_nodes: [{node: 0, slowdown: 1.5}]}\n"
                 "layout: {tp: 1}\nbatch: {global: 64, micro: 2}\nredundancy: drop-slowest\n"
                 "communication: {overlap: bucketed}\ninput: {prepare: 80 ms}\n",
                 "input.yaml"),
      {.threads = 1, .allow_oom = true});
  EXPECT_EQ(broken_invariants(record), std::vector<std::string>{});
}

// A search tries micro-batches that cannot be split into domino's slices.
TEST(ComposedCases, ASearchPassesOverWhatTheReaderRefuses) {
  const std::string text = kTransformer +
                           "layout: {tp: 2, sequence_parallel: true}\n"
                           "software: {tp_overlap: {form: domino, rows: 2, columns: 2}}\n"
                           "train: {adapter: {kind: dora, rank: 16}}\n";
  const Optimisation found =
      optimise({.file = "composed.yaml", .text = text}, {{}},
               {.micro_batch = true, .recompute = true, .top = 1, .simulated = 1, .threads = 1});
  ASSERT_FALSE(found.best.empty());
  bool refused = false;
  for (const auto& [reason, at] : found.infeasible) {
    refused = refused || at.example.find("software.tp_overlap") != std::string::npos;
  }
  EXPECT_TRUE(refused);
}

TEST(ComposedCases, OpenMemoryOfUnlikeNodesIsRefusedBeforeItIsPriced) {
  const std::string text =
      "name: pools\n"
      "model: {layers: 8, hidden: 1024, heads: 16, vocabulary: 32000, sequence: 1024}\n"
      "cluster: {pools: [{name: a, nodes: 1, node: dgx-h100}, {name: b, nodes: 1, node: "
      "dgx-a100}]}\n"
      "layout: {tp: 1, sharding: zero3, shard_shares: auto, place: {dp: [a, b]}}\n"
      "batch: {global: 64, micro: 1}\n"
      "recompute: auto\n";
  const std::string why = refusal(text);
  EXPECT_TRUE(why.starts_with("composed.yaml:4:")) << why;
  EXPECT_NE(why.find("auto needs the memory of each rank"), std::string::npos) << why;
}

// All nodes recompute what the pool with the least memory needs.
TEST(ComposedCases, OpenMemoryOfUnlikeNodesIsFoundForAll) {
  const std::string text =
      "name: pools\n"
      "model: {layers: 8, hidden: 1024, heads: 16, vocabulary: 32000, sequence: 1024}\n"
      "cluster: {pools: [{name: a, nodes: 1, node: dgx-h100}, {name: b, nodes: 1, node: "
      "{base: dgx-a100, gpu: {base: a100-80, memory: 4 GB}}}]}\n"
      "layout: {tp: 1, sharding: zero3}\n"
      "batch: {global: 64, micro: 4}\n";
  EXPECT_NE(run(text + "recompute: auto\n").job.recompute, Recompute::none);
}

// Chunks much shorter than the state need fewer operations than the usual count of model FLOPs.
TEST(ComposedCases, HardwareDoesAtLeastTheModelsFlopsOfAScan) {
  const std::string text =
      "name: scan\n"
      "model: {layers: 8, hidden: 1024, heads: 16, vocabulary: 32000, sequence: 1024, "
      "hybrid_override_pattern: 'M-M*M-M*', mamba: {state_dim: 64, head_dim: 64, num_groups: 2, "
      "num_heads: 32}}\n"
      "cluster: {nodes: 2, node: dgx-h100}\n"
      "batch: {global: 64, micro: 2}\n";
  for (const std::string method : {"", "train: {method: zeroth-order}\n"}) {
    const Record record = run(text + method);
    EXPECT_GE(record.iteration.hfu, record.iteration.mfu * (1 - 1e-9)) << method;
    EXPECT_LT(record.iteration.hfu, record.iteration.mfu * 1.2) << method;
  }
}

// The all-to-all of a scan runs over the ranks among which attention passes keys around a ring.
TEST(ComposedCases, AScanExchangesOverTheRingOfAttention) {
  const std::string text =
      "name: scan\n"
      "model: {layers: 8, hidden: 1024, heads: 16, vocabulary: 32000, sequence: 1024, "
      "hybrid_override_pattern: 'M-M*M-M*', mamba: {state_dim: 64, head_dim: 64, num_groups: 2, "
      "num_heads: 32}}\n"
      "cluster: {nodes: 2, node: dgx-h100, slow_nodes: [{node: 0, slowdown: 1.5}]}\n"
      "layout: {tp: 1, pp: 2, cp: 4}\n"
      "batch: {global: 64, micro: 1}\n";
  const Record record = run(text);
  EXPECT_EQ(broken_invariants(record), std::vector<std::string>{});
  EXPECT_GT(record.iteration.critical_path_s[static_cast<int>(Category::cp)], 0);
}

// The workers that gradient coding waits for are faster than the mean worker.
TEST(ComposedCases, NobodyWaitsForLessThanNothing) {
  std::string text = kTransformer + "redundancy: {scheme: gradient-coding, stragglers: 4}\n";
  const std::string cluster = "node: dgx-h100";
  text.insert(text.find(cluster) + cluster.size(), ", jitter: {sigma: 0.1}");
  EXPECT_EQ(broken_invariants(run(text)), std::vector<std::string>{});
}

// Half of the replicas are on slower nodes. A step that leaves all of them out takes as long as on
// the others; a step that leaves out one fewer waits as long as without redundancy.
TEST(ComposedCases, WorkersOnSlowerNodesAreLeftOut) {
  const auto with = [](const std::string& cluster, const std::string& rest) {
    return run("name: pools\n"
               "model: {layers: 8, hidden: 2048, heads: 16, vocabulary: 32000, sequence: 1024}\n"
               "cluster: {" +
               cluster + "}\nlayout: {tp: 1}\nbatch: {global: 128, micro: 2}\n" + rest)
        .iteration;
  };
  const std::string pools =
      "pools: [{name: a, nodes: 1, node: dgx-h100}, {name: b, nodes: 1, node: dgx-a100}]";
  const double all_s = with(pools, "").time_s;
  const auto leaving = [&](int stragglers) {
    return with(pools, "redundancy: {scheme: drop-slowest, stragglers: " +
                           std::to_string(stragglers) + "}\n");
  };
  EXPECT_NEAR(leaving(7).time_s, all_s, 1e-9 * all_s);
  const auto passes_s = [&](const std::string& node) {
    const IterationReport alone = with("nodes: 2, node: " + node, "");
    return alone.critical_path_s[int(Category::forward)] +
           alone.critical_path_s[int(Category::backward)];
  };
  const double faster = passes_s("dgx-h100") / passes_s("dgx-a100");
  const IterationReport fast = leaving(8);
  EXPECT_LT(faster, 0.7);
  EXPECT_EQ(fast.stragglers->gradient_share, 0.5);
  EXPECT_NEAR(all_s - fast.time_s, fast.stragglers->work_s * (1 - faster), 0.02 * all_s);
}

// Trials have unequal lengths, because of a pause or a restart at their end: here mean seconds over
// the mean wall time would add up to 1.002.
TEST(ComposedCases, LostSharesAndGoodputAddUp) {
  const Record record =
      run("name: lost\n"
          "model: {layers: 8, hidden: 1024, heads: 16, vocabulary: 32000, sequence: 1024}\n"
          "cluster: {nodes: 2, node: dgx-h100, storage: {write: 1 GB/s, read: 1 GB/s}, jitter: "
          "{sigma: 0.1, of: node, draws: 3}}\n"
          "batch: {global: 64, micro: 2}\n"
          "schedule: 1f1b\n"
          "layout: {tp: 1, pp: 4}\n"
          "software: {sends: synchronous}\n"
          "snapshots: [{tier: storage, every: 10 min}]\n"
          "failures: [{class: node, rate: 4000 per 1000 node-days, repair: 12 h}]\n"
          "recovery: {spares: 1}\n"
          "campaign: {length: 2 h, replicas: 20, evaluation: {every: 5000 steps, takes: 9 min}}\n");
  EXPECT_EQ(broken_invariants(record), std::vector<std::string>{});
  double all = record.campaign->goodput.mean;
  for (const Estimate& lost : record.campaign->lost) all += lost.mean;
  EXPECT_NEAR(all, 1, 1e-12);
}

// Islands of unlike nodes drift apart, and no part of the critical path may be negative.
TEST(ComposedCases, IslandsOfUnlikeNodesWaitForNoLessThanNothing) {
  const std::string head =
      "name: pools\n"
      "model: {layers: 8, hidden: 1024, heads: 16, vocabulary: 32000, sequence: 1024}\n"
      "cluster: {pools: [{name: a, nodes: 2, node: dgx-h100}, {name: b, nodes: 2, node: "
      "dgx-a100}], jitter: ";
  const std::string tail =
      "}\nlayout: {tp: 4, dp: 8, sharding: zero1, place: {dp: [a, b]}}\n"
      "batch: {global: 64, micro: 1, shares: auto}\n"
      "sync: [";
  for (const std::string jitter :
       {"{sigma: 0.3, of: node}",
        "{gilbert_elliott: {good: 50, bad: 1.5, slowdown: 4}, of: node}"}) {
    for (const std::string level :
         {"{islands: 2, every: 10 steps}", "{islands: 4, every: 2 steps, wait_for: all-but-1}",
          "{islands: 4, every: 5 steps, wait_for: dynamic}",
          "{islands: 2, every: 10 steps, fragments: 2, delay: 2 steps}"}) {
      const Record record = run(head + jitter + tail + level + "]\n");
      EXPECT_EQ(broken_invariants(record), std::vector<std::string>{}) << jitter << level;
    }
  }
}

// Several iterations run in a row: a copy is complete only after the iteration that takes it has
// begun.
TEST(ComposedCases, NoSnapshotIsCompleteBeforeItsIterationBegins) {
  const Record record =
      run("name: dear\n"
          "model: {layers: 8, hidden: 1024, heads: 16, vocabulary: 32000, sequence: 1024, moe: "
          "{experts: 8, per_token: 2, ffn: 2048}}\n"
          "cluster: {nodes: 4, node: pcie-rtx3080, storage: {write: 10 GB/s, read: 10 GB/s}}\n"
          "layout: {tp: 1, pp: 2}\n"
          "batch: {global: 64, micro: 1}\n"
          "communication: {overlap: dear}\n"
          "snapshots:\n  - {tier: storage, every: 30 min}\n"
          "  - {tier: host-memory, every: 20 iterations}\n"
          "failures:\n  - {class: node, rate: 20 per 1000 node-days, repair: 12 h}\n"
          "campaign: {length: 2 d, replicas: 2}\n");
  for (const TierReport& tier : record.campaign->tiers) EXPECT_GE(tier.saving_s, 0) << tier.name;
  EXPECT_EQ(broken_invariants(record), std::vector<std::string>{});
}

// More parity survives more lost nodes at once, and sends more. If no failure takes that many
// nodes, it costs goodput, by the stalls that its bytes cause.
TEST(ComposedCases, ParityThatNoFailureNeedsCostsWhatItsBytesStall) {
  const auto with_parity = [](int parity) {
    return run(
        "name: parity\n"
        "model: {layers: 8, hidden: 1024, heads: 16, vocabulary: 32000, sequence: 1024}\n"
        "cluster: {nodes: 6, node: dgx-h100, storage: {write: 10 GB/s, read: 10 GB/s}}\n"
        "layout: {tp: 1, sharding: zero1}\n"
        "batch: {global: 96, micro: 2}\n"
        "snapshots:\n"
        "  - {tier: peers, every: 10 iterations, mode: sync, code: {name: rs, data: 2, parity: " +
        std::to_string(parity) +
        "}}\n"
        "  - {tier: storage, every: 30 min}\n"
        "failures: [{class: node, rate: 20 per 1000 node-days, repair: 12 h}]\n"
        "recovery: {spares: 6, detect: 30 s, restart: 5 min}\n"
        "campaign: {length: 10 d, replicas: 8}\n");
  };
  const Record few = with_parity(1);
  const Record many = with_parity(4);
  const TierReport& peers = few.campaign->tiers[0];
  const TierReport& peers_of_many = many.campaign->tiers[0];
  // The plain step is the same; each snapshot sends `parity` times its state.
  EXPECT_EQ(many.iteration.time_s, few.iteration.time_s);
  EXPECT_NEAR(peers_of_many.wire_bytes, 4 * peers.wire_bytes, 1e-9 * peers_of_many.wire_bytes);
  EXPECT_GT(peers_of_many.stall_s, peers.stall_s);
  const double lost = few.campaign->goodput.mean - many.campaign->goodput.mean;
  EXPECT_GT(lost, 0.01);
  // Goodput is in proportion to the share of time that both tiers' stalls leave, to a thousandth,
  // because failures strike at other moments.
  const auto share = [](const Record& record) {
    return 1 - record.campaign->tiers[0].overhead - record.campaign->tiers[1].overhead;
  };
  EXPECT_NEAR(lost, share(few) - share(many), 1e-3);
}

// The check reports a figure that is off, one that is no number, and one that is negative.
TEST(ComposedCases, BrokenInvariantsAreTold) {
  Record record = run(kTransformer);
  EXPECT_EQ(broken_invariants(record), std::vector<std::string>{});
  EXPECT_TRUE(invariant_notes(record).empty());
  Record off = record;
  off.iteration.critical_path_s[0] *= 1.001;
  ASSERT_EQ(broken_invariants(off).size(), 1u);
  EXPECT_NE(broken_invariants(off)[0].find("add up to"), std::string::npos);
  Record shares = record;
  shares.campaign.emplace();
  shares.campaign->goodput.mean = 0.9;
  shares.campaign->lost[static_cast<int>(Loss::wait)].mean = 0.1001;
  ASSERT_EQ(broken_invariants(shares).size(), 1u);
  EXPECT_NE(broken_invariants(shares)[0].find("lost shares"), std::string::npos);
  Record less = record;
  less.iteration.hfu = less.iteration.mfu / 2;
  EXPECT_EQ(broken_invariants(less).size(), 1u);
  EXPECT_EQ(invariant_notes(less).size(), 1u);
  Record none = record;
  none.iteration.bubble.idle = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(broken_invariants(none).size(), 1u);
}

}  // namespace
}  // namespace windtunnel
