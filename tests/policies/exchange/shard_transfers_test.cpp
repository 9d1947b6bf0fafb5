#include "policies/exchange/shard_transfers.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "models/base/random.hpp"
#include "models/cost/parallel/orthogonal_update.hpp"
#include "policies/evaluation/plan_evaluation.hpp"
#include "policies/iteration.hpp"
#include "tests/support/small_job.hpp"

namespace windtunnel {
namespace {

constexpr double kParameters = 1e9;
constexpr double kWeights = 2 * kParameters;  // M: bytes of the weights on a GPU

// Returns a job with dp ranks on nodes of `gpus` GPUs, and with weights and gradients in 16 bits.
Job transfers_job(int dp, int gpus, const Layout& sharding, int tp = 1) {
  Job job;
  job.layout = sharding;
  job.layout.tp = tp;
  job.layout.dp = dp;
  job.model = small_model();
  job.cluster = small_cluster(dp * tp / gpus, gpus);
  job.calibration = ideal_calibration();
  job.software.reduce_bytes = 2;
  return job;
}

TransformerSpec small_model_of_experts() {
  TransformerSpec model = small_model();
  model.moe = {.experts = 8, .per_token = 2, .ffn_hidden = 64};
  return model;
}

struct Traffic {
  double between = 0;  // bytes that leave the first node
  double inside = 0;   // bytes between the first node's GPUs
  double kernels_s = 0;
};

// Counts collectives as papers do: the least bytes that must leave a rank or a node, and twice as
// many for an all-reduce.
void add(const Job& job, const ReplicaNetwork& network, const std::vector<Transfer>& transfers,
         Traffic& traffic) {
  const int gpus = job.cluster.node.gpus;
  for (const Transfer& transfer : transfers) {
    for (const CostPart& part : transfer.kernels) traffic.kernels_s += part.seconds;
    if (transfer.bytes <= 0) continue;
    const StridedGroups& groups = network.groups(transfer.axis);
    const double times = transfer.kind == CollectiveKind::all_reduce ? 2 : 1;
    for (int group = 0; group < groups.size(); ++group) {
      double here = 0;
      for (const int rank : groups.members(0, group)) here += rank < gpus ? 1 : 0;
      const double others = groups.count - here;
      const double each = times * transfer.bytes / groups.count;
      if (here == 0) continue;
      const bool pairs = transfer.kind == CollectiveKind::all_to_all;
      traffic.between += each * others * (pairs ? here : 1);
      traffic.inside += each * (here - 1) * (pairs ? here : here + others);
    }
  }
}

Traffic iteration(const Job& job, int microbatches) {
  const ReplicaNetwork network(job);
  Traffic traffic;
  const Amount amount{kParameters, 0};
  for (int m = 0; m < microbatches; ++m) {
    std::vector<Transfer> row;
    const bool first = m == 0;
    const bool last = m + 1 == microbatches;
    if (job.layout.sharding == Sharding::zero3 ||
        (first && job.layout.sharding != Sharding::none)) {
      append_gathers(CollectiveCosts(job), network, 0, amount, row,
                     first ? StageAction::first_forward : StageAction::forward);
    }
    if (job.layout.sharding == Sharding::zero3) {
      append_gathers(CollectiveCosts(job), network, 0, amount, row,
                     last ? StageAction::last_backward : StageAction::backward);
    }
    if (last || job.layout.sharding >= Sharding::zero2) {
      append_reductions(CollectiveCosts(job), network, 0, amount, row,
                        last ? StageAction::last_backward : StageAction::backward);
    }
    add(job, network, row, traffic);
  }
  return traffic;
}

// The volume relative to the weights that other nodes hold, (N - 1) / N of all weights.
double volume(const Job& job, int microbatches = 1) {
  const double nodes = job.cluster.nodes;
  return iteration(job, microbatches).between / (kWeights * (nodes - 1) / nodes);
}

// In FSDP's HYBRID_SHARD the copies of shards are summed once per step, or in each micro-batch.
TEST(ShardTransfers, CopiesOfShardsAreSummedOnceAStepUnlessToldOtherwise) {
  const auto of = [](CopiesSummed summed, int microbatches) {
    return volume(
        transfers_job(64, 8,
                      {.sharding = Sharding::zero3, .shard_ranks = 8, .copies_summed = summed}),
        microbatches);
  };
  EXPECT_NEAR(of(CopiesSummed::step, 1), 2, 1e-9);
  EXPECT_NEAR(of(CopiesSummed::step, 4), 2, 1e-9);
  EXPECT_NEAR(of(CopiesSummed::micro_batch, 4), 8, 1e-9);
}

// Copies of experts are summed in the same way; they exist where the ranks of a dense copy hold
// each expert once.
TEST(ShardTransfers, CopiesOfExpertsLikewise) {
  Job job = transfers_job(16, 8, {.sharding = Sharding::zero3, .shard_ranks = 8});
  job.layout.ep = 8;
  job.model.moe = {.experts = 8, .per_token = 2, .ffn_hidden = 64};
  const auto row = [&](StageAction action) {
    std::vector<Transfer> transfers;
    append_reductions(CollectiveCosts(job), ReplicaNetwork(job), 0, {0, kParameters}, transfers,
                      action);
    return transfers;
  };
  EXPECT_TRUE(row(StageAction::backward).empty());
  ASSERT_EQ(row(StageAction::last_backward).size(), 1u);
  EXPECT_EQ(row(StageAction::last_backward)[0].axis, ReplicaAxis::expert_across);
  job.layout.copies_summed = CopiesSummed::micro_batch;
  EXPECT_EQ(row(StageAction::backward).size(), 1u);
  // If experts are sharded over both of their copies, beside dense shards inside a node, nothing is
  // left to sum.
  job.layout.expert_shard_ranks = 2;
  ASSERT_EQ(row(StageAction::backward).size(), 1u);
  EXPECT_EQ(row(StageAction::backward)[0].kind, CollectiveKind::reduce_scatter);
  EXPECT_EQ(row(StageAction::backward)[0].axis, ReplicaAxis::expert_shard);
  std::vector<Transfer> gathers;
  append_gathers(CollectiveCosts(job), ReplicaNetwork(job), 0, {0, kParameters}, gathers);
  EXPECT_EQ(gathers.size(), 1u);
}

TEST(ShardTransfers, BytesBetweenNodesArePublishedOnes) {
  const auto of = [](const Layout& sharding, int microbatches = 1) {
    return volume(transfers_job(64, 8, sharding), microbatches);
  };
  // Rajbhandari et al. 2020, section 7, state these volumes; Zhao et al. 2023 state 1.5 times DDP's
  // volume for FSDP.
  EXPECT_NEAR(of({.sharding = Sharding::none}), 2, 1e-9);
  EXPECT_NEAR(of({.sharding = Sharding::zero1}), 2, 1e-9);
  EXPECT_NEAR(of({.sharding = Sharding::zero2}), 2, 1e-9);
  EXPECT_NEAR(of({.sharding = Sharding::zero3}), 3, 1e-9);
  EXPECT_NEAR(of({.sharding = Sharding::zero3}, 4), 12, 1e-9);
  // With copies in each node only the all-reduce crosses nodes.
  EXPECT_NEAR(of({.sharding = Sharding::zero3, .shard_ranks = 8}), 2, 1e-9);
  // ZeRO++ (arXiv 2306.10209, table 1) reduces 3 M to 0.75 M.
  EXPECT_NEAR(of({.sharding = Sharding::zero3, .secondary_ranks = 8}), 1 + 0 + 1, 1e-9);
  EXPECT_NEAR(of({.sharding = Sharding::zero3, .weight_bits = 8}), 0.5 + 0.5 + 1, 1e-9);
  EXPECT_NEAR(of({.sharding = Sharding::zero3, .gradient_bits = 4}), 1 + 1 + 0.25, 1e-9);
  const Layout all{
      .sharding = Sharding::zero3, .secondary_ranks = 8, .weight_bits = 8, .gradient_bits = 4};
  EXPECT_NEAR(of(all), 0.5 + 0 + 0.25, 1e-9);
  // QSDP sends half of what 16 bits take; FSDP with gathered fp32 weights sends 5 M.
  EXPECT_NEAR(of({.sharding = Sharding::zero3, .weight_bits = 8, .gradient_bits = 8}), 1.5, 1e-9);
  EXPECT_NEAR(of({.sharding = Sharding::zero3, .weight_bits = 32}), 5, 1e-9);
  // With three levels of sharding, gradients and updated weights cross nodes once, for any number
  // of micro-batches.
  for (const int microbatches : {1, 2, 8}) {
    EXPECT_NEAR(
        of({.sharding = Sharding::zero3, .weight_ranks = 2, .gradient_ranks = 8}, microbatches), 2,
        1e-9);
  }
}

// Under FSDP's no_sync() weights are sharded over all ranks, and each rank keeps unsharded
// gradients until the last micro-batch.
TEST(ShardTransfers, GradientsMayLieOnFewerRanksThanWeights) {
  for (const int microbatches : {1, 2, 8}) {
    const Layout no_sync{.sharding = Sharding::zero3, .gradient_ranks = 1};
    EXPECT_NEAR(volume(transfers_job(64, 8, no_sync), microbatches), 2 * microbatches + 1, 1e-9);
  }
}

TEST(ShardTransfers, AllToAllInOneHopWouldSendAsOftenAsANodeHasGpus) {
  // This is the reason for two hops (arXiv 2306.10209, section 3.3). Nodes of one GPU, or groups
  // placed irregularly, use one hop.
  const Layout sharding{.sharding = Sharding::zero3, .gradient_bits = 4};
  Job job = transfers_job(64, 8, sharding);
  const double two_hops = volume(job) - 2;
  const ReplicaNetwork network(job);
  EXPECT_EQ(network.groups(ReplicaAxis::node_part).count, 8);
  Traffic one;
  add(job, network, {{ReplicaAxis::dense_shard, CollectiveKind::all_to_all, kWeights / 4, 0}}, one);
  EXPECT_NEAR(one.between / (kWeights * 7 / 8), 8 * two_hops, 1e-9);
}

TEST(ShardTransfers, BytesFollowTheFormulasOnRandomLayouts) {
  int spread = 0;
  for (int i = 0; i < 300; ++i) {
    RandomStream random(1, RandomPurpose::test, i);
    const int gpus = 1 << (1 + random.below(4));
    const int tp = std::min(gpus, 1 << random.below(3));
    const int in_node = gpus / tp;  // ranks of a dense group
    const int nodes = 2 + static_cast<int>(random.below(7));
    const int microbatches = 1 + static_cast<int>(random.below(4));
    static constexpr int kBits[] = {0, 4, 6, 8, 16};
    Layout sharding{.sharding = Sharding::zero3};
    sharding.weight_bits = kBits[random.below(5)];
    sharding.gradient_bits = kBits[random.below(5)];
    const double weights = sharding.weight_bits > 0 ? sharding.weight_bits / 16.0 : 1;
    const double gradients = sharding.gradient_bits > 0 ? sharding.gradient_bits / 16.0 : 1;
    double expected = microbatches * (2 * weights + gradients);
    if (random.below(3) == 0) {
      sharding.weight_ranks = 1 << random.below(2);
      sharding.gradient_ranks = in_node;
      if (in_node % sharding.weight_ranks != 0) continue;
      expected = 1 + gradients;
    } else if (random.below(2) == 0) {
      sharding.secondary_ranks = in_node;
      expected = microbatches * (weights + gradients);
    }
    const Job job = transfers_job(in_node * nodes, gpus, sharding, tp);
    // The tp groups that share a node have different weights.
    EXPECT_NEAR(volume(job, microbatches), tp * expected, 1e-9 * expected * tp) << i;
    spread += in_node > 1 ? 1 : 0;
  }
  EXPECT_GT(spread, 150);
}

TEST(ShardTransfers, KernelsMoveWhatTheyReadAndWrite) {
  const auto kernel_bytes = [](const Layout& sharding, bool gather) {
    const Job job = transfers_job(64, 8, sharding);
    const ReplicaNetwork network(job);
    std::vector<Transfer> row;
    Traffic traffic;
    (gather ? append_gathers : append_reductions)(
        CollectiveCosts(job), network, 0, {kParameters, 0}, row, StageAction::last_backward);
    add(job, network, row, traffic);
    return traffic.kernels_s * job.cluster.node.gpu.memory_Bps.value / kParameters;
  };
  EXPECT_EQ(kernel_bytes({.sharding = Sharding::zero3}, true), 0);
  EXPECT_EQ(kernel_bytes({.sharding = Sharding::zero3, .weight_bits = 16}, true), 0);
  // All fp32 weights are read and written in 16 bits.
  EXPECT_NEAR(kernel_bytes({.sharding = Sharding::zero3, .weight_bits = 32}, true), 4 + 2, 1e-9);
  // A rank encodes its shard to 8 bits and decodes all shards.
  EXPECT_NEAR(kernel_bytes({.sharding = Sharding::zero3, .weight_bits = 8}, true), 3.0 / 64 + 3,
              1e-9);
  // A rank encodes its gradients to 4 bits, sums 8 of them, encodes the sums to 4 bits, and sums 8
  // of these.
  EXPECT_NEAR(kernel_bytes({.sharding = Sharding::zero3, .gradient_bits = 4}, false),
              2.5 + (0.5 + 0.5 / 8) + (0.5 / 8 + 2.0 / 64), 1e-9);
  // The sums of the first hop may also be kept between the hops; these are the same kernels.
  EXPECT_NEAR(
      kernel_bytes({.sharding = Sharding::zero3, .gradient_ranks = 8, .gradient_bits = 4}, false),
      2.5 + (0.5 + 0.5 / 8) + (0.5 / 8 + 2.0 / 64), 1e-9);
}

// The Plan's groups, kernels and collectives agree with the closed form.
TEST(ShardTransfers, ThePlanMovesTheseBytesInTheEstimatedTime) {
  for (const Layout& sharding :
       {Layout{.sharding = Sharding::zero3}, Layout{.sharding = Sharding::zero3, .weight_bits = 8},
        Layout{.sharding = Sharding::zero3,
        .secondary_ranks = 4,
        .weight_bits = 8,
        .gradient_bits = 4},
        Layout{.sharding = Sharding::zero3,
        .weight_ranks = 2,
        .gradient_ranks = 4,
        .gradient_bits = 8}}) {
    for (const GradientOverlap overlap : {GradientOverlap::none, GradientOverlap::bucketed}) {
      for (const int pp : {1, 2}) {
        Job job = small_job(1, pp, 8);
        const int dp = job.layout.dp;
        job.layout = sharding;
        job.layout.pp = pp;
        job.layout.dp = dp;
        job.communication.overlap = overlap;
        job.communication.fidelity = Fidelity::closed;
        const PreparedIteration prepared = prepare_iteration(job);
        const Plan plan = iteration_plan(job, prepared);
        validate_plan(plan);
        const double step_s = evaluate_plan(plan, job.cluster).makespan_s;
        EXPECT_NEAR(estimate_iteration(job, prepared).step_s, step_s, 1e-6 * step_s)
            << sharding.weight_ranks << ' ' << sharding.gradient_bits << ' ' << int(overlap) << ' '
            << pp;
      }
    }
  }
}

// Quantisation between two hops does not wait for the layer that is being computed: half a second
// of compute hides a reduction in two hops as it hides one in a single hop.
TEST(ShardTransfers, TheSecondHopDoesNotWaitForTheNextLayer) {
  Job job = small_job(1, 1, 8);
  job.layout.sharding = Sharding::zero3;
  job.layout.gradient_bits = 8;
  job.communication.overlap = GradientOverlap::bucketed;
  job.communication.fidelity = Fidelity::closed;
  const Plan plan = iteration_plan(job, prepare_iteration(job));
  const Timeline timeline = evaluate_plan(plan, job.cluster);
  const std::vector<Task>& tasks = plan.classes[0].tasks;
  int second_hops = 0;
  for (std::size_t t = 1; t < tasks.size(); ++t) {
    const auto reduces = [&](std::size_t at) {
      return tasks[at].kind == TaskKind::collective && tasks[at].name == tasks[t].name;
    };
    // The tasks before a second hop are the first hop and the kernels between the two.
    if (!tasks[t].name.starts_with("reduce") || t < 2 || !reduces(t) || !reduces(t - 2)) continue;
    ++second_hops;
    const std::vector<Span>& spans = timeline.ranks[0].spans;
    EXPECT_NEAR(spans[t].start_s, spans[t - 2].end_s + total_seconds(tasks[t - 1].cost), 1e-9);
  }
  EXPECT_GT(second_hops, 0);
}

TEST(ShardTransfers, OnlyGroupsThatCommunicateAreUsed) {
  const auto uses = [](const Layout& sharding, ReplicaAxis axis) {
    return ReplicaNetwork(transfers_job(64, 8, sharding)).uses(axis);
  };
  const Layout plain{.sharding = Sharding::zero3};
  EXPECT_TRUE(uses(plain, ReplicaAxis::dense_shard));
  for (const ReplicaAxis axis :
       {ReplicaAxis::dense_across, ReplicaAxis::node_part, ReplicaAxis::node_peers,
        ReplicaAxis::weight_part, ReplicaAxis::gradient_part, ReplicaAxis::secondary_part}) {
    EXPECT_FALSE(uses(plain, axis));
  }
  const Layout levels{.sharding = Sharding::zero3, .weight_ranks = 2, .gradient_ranks = 8};
  EXPECT_FALSE(uses(levels, ReplicaAxis::dense_shard));
  EXPECT_TRUE(uses(levels, ReplicaAxis::weight_part));
  EXPECT_TRUE(uses(levels, ReplicaAxis::weight_peers));
  EXPECT_TRUE(
      uses({.sharding = Sharding::zero3, .secondary_ranks = 8}, ReplicaAxis::secondary_part));
}

// In Megatron-LM's layer-wise optimizer the replica that updates a matrix holds its whole momentum.
// Under FSDP each replica holds a part of every matrix, which is sent to the updating replica and
// back.
TEST(ShardTransfers, MuonMovesMomentaOnlyWhereEveryReplicaHasAPart) {
  const auto reductions = [](Optimizer optimizer, Sharding sharding, bool experts) {
    Job job = transfers_job(16, 8, {.sharding = sharding, .shard_ranks = 8});
    job.software.optimizer = optimizer;
    job.model = small_model_of_experts();
    std::vector<Transfer> row;
    const Amount amount = experts ? Amount{0, kParameters} : Amount{kParameters, 0};
    append_reductions(CollectiveCosts(job), ReplicaNetwork(job), 0, amount, row,
                      StageAction::last_backward);
    return row;
  };
  for (const bool experts : {false, true}) {
    for (const Sharding sharding : {Sharding::zero1, Sharding::zero2}) {
      EXPECT_EQ(reductions(Optimizer::muon, sharding, experts).size(),
                reductions(Optimizer::adam, sharding, experts).size());
    }
    const std::vector<Transfer> row = reductions(Optimizer::muon, Sharding::zero3, experts);
    const std::size_t others = reductions(Optimizer::adam, Sharding::zero3, experts).size();
    ASSERT_EQ(others, 2u);  // in the shard's group and across its copies
    ASSERT_EQ(row.size(), others + 2);
    for (std::size_t i = others; i < row.size(); ++i) {  // after the sum over copies
      EXPECT_EQ(row[i].kind, CollectiveKind::all_to_all);
      const double share = experts ? 1 : muon_share(small_model_of_experts(), false);
      EXPECT_NEAR(row[i].bytes, 2 * share * kParameters / 8, 1);
    }
  }
}

}  // namespace
}  // namespace windtunnel
