#include "policies/lowering/iteration_plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "models/base/random.hpp"
#include "models/compression/boundary.hpp"
#include "models/cost/memory/memory.hpp"
#include "models/cost/op/op_cost.hpp"
#include "policies/exchange/data_parallel.hpp"
#include "policies/lowering/unit_cost.hpp"
#include "policies/schedules/schedules.hpp"
#include "tests/support/small_job.hpp"

namespace windtunnel {
namespace {

struct Built {
  Schedule schedule;
  std::vector<ChunkCost> chunks;
  Plan plan;
};

Built build(const Job& job, const IterationPlanOptions& options = {}) {
  Built built;
  built.schedule = generate_schedule(job.schedule.name, job.layout.pp,
                                     microbatches(job.layout, job.batch), job.layout.vpp);
  built.chunks = chunk_costs(job);
  built.plan = plan_iteration(
      job, {built.schedule, built.chunks, unit_costs(job, built.schedule, built.chunks)}, options);
  return built;
}

const Task& named(const RankClass& owner, const std::string& name) {
  const auto found = std::ranges::find(owner.tasks, name, &Task::name);
  EXPECT_NE(found, owner.tasks.end()) << name;
  return *found;
}

TaskIndex index_of(const RankClass& owner, const Task& task) {
  return static_cast<TaskIndex>(&task - owner.tasks.data());
}

double seconds_of(const RankClass& owner, Category category) {
  double seconds = 0;
  for (const Task& task : owner.tasks) {
    if (task.category == category) seconds += total_seconds(task.cost);
  }
  return seconds;
}

TEST(IterationPlan, RandomJobsGiveValidPlansThatLoseNothing) {
  RandomStream random(1, RandomPurpose::test, 0);
  const std::vector<std::string> names = {"gpipe", "1f1b", "interleaved-1f1b"};
  for (int round = 0; round < 40; ++round) {
    const std::string name = names[random.below(3)];
    const int vpp = name == "interleaved-1f1b" ? 2 : 1;
    const int pp = vpp == 2 ? 2 : 1 << random.below(3);
    Job job = small_job(1 << random.below(2), pp, 1 << random.below(3), vpp);
    job.schedule.name = name;
    if (random.below(2) == 0) job.communication.overlap = GradientOverlap::none;
    if (random.below(2) == 0) job.layout.sharding = Sharding::none;
    if (random.below(2) == 0) job.model.tied_embeddings = false;
    job.communication.bucket_bytes = 1e6 * (1 + random.below(40));
    const Built built = build(job, {.iterations = 1 + static_cast<int>(random.below(2))});
    ASSERT_NO_THROW(validate_plan(built.plan));
    for (int r = 0; r < pp; ++r) {
      const RankClass& owner = built.plan.classes[r];
      double forward = 0;
      double backward = 0;
      double parameters = 0;
      for (int s = 0; s < built.schedule.stages(); ++s) {
        if (built.schedule.rank_of_stage[s] != r) continue;
        forward += total_seconds(built.chunks[s].forward);
        backward += total_seconds(built.chunks[s].recompute) +
                    total_seconds(built.chunks[s].backward_input) +
                    total_seconds(built.chunks[s].backward_weight);
        parameters += built.chunks[s].parameters;
      }
      const double times = double(built.schedule.microbatches) * built.plan.iterations;
      EXPECT_NEAR(seconds_of(owner, Category::forward), forward * times, 1e-9 * forward * times);
      EXPECT_NEAR(seconds_of(owner, Category::backward), backward * times, 1e-9 * backward * times);
      double reduced = 0;
      double alive = 0;
      for (const Task& task : owner.tasks) {
        alive += task.allocate_bytes - task.free_bytes;
        if (task.name.starts_with("reduce ") && task.name != "reduce embedding") {
          reduced += task.bytes / gradient_bytes_per_parameter(job);
        }
      }
      EXPECT_NEAR(alive, 0, 1) << "activations are freed as often as they are kept";
      const double expected = job.layout.dp > 1 ? parameters * built.plan.iterations : 0;
      EXPECT_NEAR(reduced, expected, 1e-9 * parameters);
    }
  }
}

TEST(IterationPlan, MessagesCarryTheBoundaryTensorOncePerMicrobatchAndDirection) {
  const Job job = small_job(1, 4, 2);
  const Built built = build(job);
  for (int r = 0; r < 4; ++r) {
    double sent = 0;
    for (const Task& task : built.plan.classes[r].tasks) {
      if (task.kind == TaskKind::send) sent += task.bytes;
    }
    const int boundaries = (r > 0) + (r < 3);
    const double boundary = 1024.0 * 1024 * 2;  // s x h x bf16
    EXPECT_DOUBLE_EQ(sent, boundaries * 8 * boundary) << r;
  }
}

// A boundary sends s x r elements, and each side runs both products, forward and backward.
TEST(IterationPlan, LowRankCutsSendTheirFactorAndMultiply) {
  const Job whole = small_job(1, 4, 2);
  Job job = whole;
  job.communication.boundary_rank = 32;
  const BoundaryRecipe cut = low_rank_boundary(1024, 1024, 32, 2);
  double products_s = 0;
  for (const auto* ops : {&cut.before, &cut.behind}) {
    for (const Op& op : *ops) {
      products_s += op_cost(op, job.cluster.node.gpu, job.precision, job.calibration).seconds;
    }
  }
  const Built built = build(job);
  const Built plain = build(whole);
  for (int r = 0; r < 4; ++r) {
    const int cuts = (r > 0) + (r < 3);
    double sent = 0;
    double multiplied_s = 0;
    for (const Task& task : built.plan.classes[r].tasks) {
      if (task.kind == TaskKind::send) sent += task.bytes;
      for (const CostPart& part : task.cost) {
        if (part.category == Category::compression) multiplied_s += part.seconds;
      }
    }
    EXPECT_DOUBLE_EQ(sent, cuts * 8 * 1024.0 * 32 * 2) << r;
    EXPECT_NEAR(multiplied_s, cuts * 8 * products_s, 1e-9 * multiplied_s) << r;
    EXPECT_EQ(built.chunks[r].activation_bytes, plain.chunks[r].activation_bytes);
  }
}

TEST(IterationPlan, ReductionsStartInsideTheLastBackwardOnly) {
  Job job = small_job(1, 2, 2);
  job.communication.bucket_bytes = 1e6;
  const Built built = build(job);
  const RankClass& owner = built.plan.classes[1];
  const Task& first = named(owner, "reduce 1/0");
  ASSERT_EQ(first.after.size(), 1U);
  const Task& segment = owner.tasks[first.after.front()];
  EXPECT_EQ(segment.name, "B1.7/0");
  const Task& whole = named(owner, "B1.6");
  EXPECT_LT(total_seconds(segment.cost), total_seconds(whole.cost));
  // The task frees exactly what its layers kept.
  double freed = 0;
  for (const Task& task : owner.tasks) {
    if (task.name.starts_with("B1.7")) freed += task.free_bytes;
  }
  EXPECT_NEAR(freed, whole.free_bytes, 1e-9 * whole.free_bytes);
  EXPECT_NEAR(segment.free_bytes / whole.free_bytes,
              total_seconds(segment.cost) / total_seconds(whole.cost), 1e-9);
}

// CUDA_DEVICE_MAX_CONNECTIONS=1: the third segment is launched behind the second reduction, which
// starts when the first has ended. So the message of the pass leaves behind the first, too.
TEST(IterationPlan, InOneQueueASegmentWaitsForAllReductionsButTheLast) {
  Job job = small_job(1, 2, 2);
  job.communication.bucket_bytes = 1e6;
  for (const bool one_queue : {false, true}) {
    job.software.one_queue = one_queue;
    const Built built = build(job);
    const RankClass& owner = built.plan.classes[1];
    const auto waits = [&](const char* segment, const char* reduction) {
      return std::ranges::any_of(named(owner, segment).after, [&](TaskIndex task) {
        return owner.tasks[task].name == reduction;
      });
    };
    EXPECT_EQ(waits("B1.7/2", "reduce 1/0"), one_queue);
    EXPECT_FALSE(waits("B1.7/1", "reduce 1/0"));
    EXPECT_FALSE(waits("B1.7/2", "reduce 1/1"));
  }
}

// Activations grow layer by layer: they peak at the end of a forward pass.
TEST(IterationPlan, ActivationsOfShardedWeightsGrowLayerByLayer) {
  Job job = small_job(1, 1, 2);
  job.layout.sharding = Sharding::zero3;
  const Built built = build(job);
  std::vector<double> allocated;
  for (const Task& task : built.plan.classes[0].tasks) {
    if (task.name.starts_with("F0.0/")) allocated.push_back(task.allocate_bytes);
  }
  ASSERT_GT(allocated.size(), 2U);
  const double whole = built.chunks[0].activation_bytes;
  for (const double bytes : allocated) EXPECT_LT(bytes, 0.9 * whole);
  EXPECT_NEAR(std::accumulate(allocated.begin(), allocated.end(), 0.0), whole, 1e-9 * whole);
}

TEST(IterationPlan, Zero1ScattersGradientsAndGathersWeights) {
  Job job = small_job(1, 2, 4);
  const Built zero1 = build(job);
  job.layout.sharding = Sharding::none;
  const Built plain = build(job);
  const RankClass& sharded = zero1.plan.classes[0];
  EXPECT_EQ(named(sharded, "reduce 0/0").collective, CollectiveKind::reduce_scatter);
  EXPECT_EQ(named(sharded, "gather 0/0").collective, CollectiveKind::all_gather);
  EXPECT_EQ(named(plain.plan.classes[0], "reduce 0/0").collective, CollectiveKind::all_reduce);
  EXPECT_NEAR(total_seconds(named(sharded, "optimizer").cost) * 4,
              total_seconds(named(plain.plan.classes[0], "optimizer").cost), 1e-12);
  // In each segment the first forward pass of the stage waits for its weights, later ones do not.
  const auto waits_for = [&](const std::string& task, const std::string& gather) {
    const auto& after = named(sharded, task).after;
    return std::ranges::find(after, index_of(sharded, named(sharded, gather))) != after.end();
  };
  EXPECT_TRUE(waits_for("F0.0/0", "gather 0/0"));
  EXPECT_TRUE(waits_for("F0.0/1", "gather 0/1"));
  EXPECT_FALSE(waits_for("F0.0/0", "gather 0/1"));
  EXPECT_TRUE(named(sharded, "F0.1").after.empty());
}

double bytes_of_collectives(const RankClass& owner, CollectiveKind kind) {
  double bytes = 0;
  for (const Task& task : owner.tasks) {
    if (task.kind == TaskKind::collective && task.collective == kind) bytes += task.bytes;
  }
  return bytes;
}

TEST(IterationPlan, EveryStageOfShardingMovesWhatThePapersSay) {
  // Rajbhandari et al. 2020, section 7: with one micro-batch ZeRO-1 and 2 move 2 Psi and ZeRO-3
  // moves 3 Psi. Every further micro-batch moves the gradients again under zero2, and everything
  // under zero3.
  for (const int m : {1, 4}) {
    Job job = small_job(1, 1, 4);
    job.batch.global = 4 * m;
    const double psi = chunk_costs(job).front().parameters;
    const double embedding = job.model.embedding_parameters();
    const auto moved = [&](Sharding sharding, CollectiveKind kind) {
      job.layout.sharding = sharding;
      const double bytes = kind == CollectiveKind::all_gather ? 2 : 4;
      return bytes_of_collectives(build(job).plan.classes[0], kind) / bytes;
    };
    const auto gather = CollectiveKind::all_gather;
    const auto scatter = CollectiveKind::reduce_scatter;
    EXPECT_NEAR(moved(Sharding::zero1, gather), psi, 1);
    EXPECT_NEAR(moved(Sharding::zero1, scatter), psi, 1);
    EXPECT_NEAR(moved(Sharding::zero2, gather), psi, 1);
    EXPECT_NEAR(moved(Sharding::zero2, scatter), m * psi, 1);
    // The outermost unit, with its norms and biases, stays gathered from the forward to the
    // backward pass.
    EXPECT_NEAR(moved(Sharding::zero3, gather), m * (2 * psi - embedding), 1e-3 * m * psi);
    EXPECT_NEAR(moved(Sharding::zero3, scatter), m * psi, 1);
  }
}

TEST(IterationPlan, Zero3HoldsTwoUnitsAtATime) {
  Job job = small_job(1, 1, 4);
  job.layout.sharding = Sharding::zero3;
  const Built built = build(job);
  const RankClass& owner = built.plan.classes[0];
  const auto after = [&](const std::string& name) { return named(owner, name).after; };
  const auto at = [&](const std::string& name) { return index_of(owner, named(owner, name)); };
  EXPECT_EQ(after("gather F0.1/3"), std::vector{at("F0.1/1")});
  EXPECT_EQ(after("gather B0.1/3"), std::vector{at("B0.1/1")});
  EXPECT_EQ(after("reduce 0.1/2"), std::vector{at("B0.1/2")});
  EXPECT_LT(at("gather B0.1/3"), at("reduce 0.1/2")) << "the next unit goes first";
  EXPECT_EQ(after("F0.1/3").back(), at("gather F0.1/3"));
}

void expect_hybrid_shards(CopiesSummed summed) {
  Job job = small_job(1, 1, 8);
  job.layout.sharding = Sharding::zero3;
  job.layout.shard_ranks = 4;
  job.layout.copies_summed = summed;
  const Built built = build(job);
  const RankClass& owner = built.plan.classes[0];
  const double psi = built.chunks.front().parameters;
  double across = 0;
  for (const Task& task : owner.tasks) {
    if (task.kind != TaskKind::collective || task.name == "gradient norm") continue;
    const auto& members = built.plan.groups[owner.groups[task.group_slot][5]].members;
    if (task.collective == CollectiveKind::all_reduce) {
      across += task.bytes;
      EXPECT_EQ(members, (std::vector<RankId>{1, 5}));
    } else {
      EXPECT_EQ(members, (std::vector<RankId>{4, 5, 6, 7}));
    }
  }
  const int times = summed == CopiesSummed::step ? 1 : built.schedule.microbatches;
  EXPECT_NEAR(across, times * 4 * psi / 4, 10);
  EXPECT_NEAR(total_seconds(named(owner, "optimizer").cost),
              30 * psi / 4 / job.cluster.node.gpu.memory_Bps.value, 1e-9);
}

TEST(IterationPlan, HybridShardsGatherInsideAndReduceAcross) {
  expect_hybrid_shards(CopiesSummed::step);
  expect_hybrid_shards(CopiesSummed::micro_batch);
}

TEST(IterationPlan, ExpertsAreReducedOverTheRanksOfEqualPlaceInTheirGroup) {
  Job job = small_job(2, 1, 4);
  job.layout.ep = 4;
  job.model.moe = {.experts = 8, .per_token = 2, .ffn_hidden = 2048};
  const Built built = build(job);
  const RankClass& owner = built.plan.classes[0];
  const ChunkCost& chunk = built.chunks.front();
  ASSERT_GT(chunk.expert_parameters, 0);
  double dense = 0;
  double experts = 0;
  for (const Task& task : owner.tasks) {
    if (task.collective != CollectiveKind::reduce_scatter) continue;
    if (task.kind != TaskKind::collective) continue;
    const auto& members = built.plan.groups[owner.groups[task.group_slot][5]].members;
    const bool expert = task.name.starts_with("reduce experts");
    (expert ? experts : dense) += task.bytes / 4;
    EXPECT_EQ(members, expert ? (std::vector<RankId>{1, 5}) : (std::vector<RankId>{1, 3, 5, 7}));
  }
  EXPECT_NEAR(experts, chunk.expert_parameters, 1);
  EXPECT_NEAR(dense, chunk.parameters - chunk.expert_parameters, 1);
}

bool has_task(const RankClass& owner, const std::string& name) {
  return std::ranges::find(owner.tasks, name, &Task::name) != owner.tasks.end();
}

// In DualPipe the ranks r and p - 1 - r hold the same stages, so that both sum the gradients of all
// of these. A pair is one task that waits for both messages and sends both results.
TEST(IterationPlan, TwoWayPipelinesSumGradientsWithTheirPartnerAndPairActions) {
  Job job = small_job(1, 4, 2);
  job.schedule.name = "dualpipe";
  job.model.tied_embeddings = true;
  const Built built = build(job);
  validate_plan(built.plan);
  const RankClass& owner = built.plan.classes[1];
  const Task& reduce = named(owner, "reduce with partner");
  // ZeRO-1 leaves half of the gradients on each of two replicas.
  const double parameters = built.chunks[1].parameters + built.chunks[2].parameters;
  EXPECT_NEAR(reduce.bytes, reduce_bytes_per_parameter(job) * parameters / 2, 1);
  const auto& members = built.plan.groups[owner.groups[reduce.group_slot][1]].members;
  EXPECT_EQ(members, (std::vector<RankId>{3, 5}));
  EXPECT_FALSE(has_task(built.plan.classes[0], "reduce embedding"));
  const auto pair = std::ranges::find_if(
      owner.tasks, [](const Task& task) { return task.name.find('+') != std::string::npos; });
  ASSERT_NE(pair, owner.tasks.end());
  EXPECT_EQ(pair->after.size(), 2U) << "an activation and a gradient";
  EXPECT_GT(pair->allocate_bytes, 0);
  EXPECT_GT(pair->free_bytes, 0);
  const auto after_pair = std::ranges::count_if(owner.tasks, [&](const Task& task) {
    return task.kind == TaskKind::send && task.after == std::vector{index_of(owner, *pair)};
  });
  EXPECT_EQ(after_pair, 2);
}

// In a V the first rank has both embedding and head, so that there is nothing to sum.
TEST(IterationPlan, AVeeTiesItsEmbeddingsOnOneRank) {
  Job job = small_job(1, 2, 1, 2);
  job.model.tied_embeddings = true;
  job.schedule.name = "zb-v";
  const Built vee = build(job);
  EXPECT_FALSE(has_task(vee.plan.classes[0], "reduce embedding"));
  job.schedule.name = "interleaved-1f1b";
  const Built looped = build(job);
  EXPECT_TRUE(has_task(looped.plan.classes[0], "reduce embedding"));
}

TEST(IterationPlan, WithoutAFlushEachRankStepsWhereItsGradientsAreThere) {
  Job job = small_job(1, 2, 1);
  job.schedule.name = "pipedream-2bw";
  const Built built = build(job);
  validate_plan(built.plan);
  EXPECT_EQ(built.plan.iterations, built.schedule.iterations);
  const RankClass& owner = built.plan.classes[0];
  EXPECT_EQ(std::ranges::count(owner.tasks, std::string("optimizer"), &Task::name),
            built.plan.iterations);
  EXPECT_FALSE(has_task(owner, "gradient norm"));
  // The first optimizer runs between actions of two iterations.
  const TaskIndex first = index_of(owner, named(owner, "optimizer"));
  EXPECT_TRUE(std::any_of(owner.tasks.begin(), owner.tasks.begin() + first,
                          [](const Task& task) { return task.iteration == 1; }));
}

bool has(const RankClass& owner, const std::string& name) {
  return std::ranges::find(owner.tasks, name, &Task::name) != owner.tasks.end();
}

bool waits_for(const RankClass& owner, const std::string& name, const std::string& before) {
  const Task& task = named(owner, name);
  return std::ranges::find(task.after, index_of(owner, named(owner, before))) != task.after.end();
}

TEST(IterationPlan, SnapshotsHoldBackWhatTheyMust) {
  Job job = small_job(1, 2, 2);
  job.snapshots = {{.place = SnapshotPlace::storage}};
  for (const SnapshotMode mode : {SnapshotMode::sync, SnapshotMode::async, SnapshotMode::lazy}) {
    job.snapshots[0].mode = mode;
    const Built built = build(job, {.due_snapshots = {0}});
    const RankClass& owner = built.plan.classes[1];
    EXPECT_EQ(waits_for(owner, "F1.0/0", "write to storage"), mode == SnapshotMode::sync);
    EXPECT_EQ(waits_for(owner, "F1.0/0", "copy to host"), mode == SnapshotMode::async);
    EXPECT_EQ(waits_for(owner, "optimizer", "copy to host"), mode == SnapshotMode::lazy);
    const auto bytes = snapshot_bytes_per_gpu(job, built.chunks);
    EXPECT_DOUBLE_EQ(named(owner, "write to storage").bytes, bytes[1]);
  }
}

TEST(IterationPlan, SnapshotsMoveWhatTheirTierSays) {
  Job job = small_job(1, 2, 8);  // 4 nodes of 4 GPUs, two per stage
  job.snapshots = {{.place = SnapshotPlace::peers}};
  SnapshotTier& tier = job.snapshots[0];
  tier.code = {.name = CodeName::xor_parity, .data = 3, .parity = 1, .cpu_cores = 8};
  const auto bytes = snapshot_bytes_per_gpu(job, chunk_costs(job));
  const double largest = *std::ranges::max_element(bytes);
  const auto built = [&] {
    Built built = build(job, {.due_snapshots = {0}});
    validate_plan(built.plan);
    return built;
  };
  {
    const Built on_cpu = built();
    const RankClass& owner = on_cpu.plan.classes[0];
    EXPECT_DOUBLE_EQ(named(owner, "copy to host").bytes, bytes[0]);
    EXPECT_TRUE(waits_for(owner, "encode", "copy to host"));
    EXPECT_TRUE(waits_for(owner, "reduce parity", "encode"));
    // Eight cores of 40 GB/s each serve four GPUs.
    const Flow& cores = named(owner, "encode").flows[0];
    EXPECT_DOUBLE_EQ(cores.amount, bytes[0] / 40e9);
    EXPECT_DOUBLE_EQ(cores.max_rate, 2);
    const Task& parity = named(owner, "reduce parity");
    EXPECT_EQ(parity.collective, CollectiveKind::reduce_scatter);
    // A ring of four sends 3/4 of its buffer, which is as large as the largest member's bytes.
    EXPECT_DOUBLE_EQ(parity.bytes * 3 / 4, largest);
    const Group& group = on_cpu.plan.groups[owner.groups[parity.group_slot][5]];
    EXPECT_EQ(group.members, (std::vector<RankId>{1, 5, 9, 13}));
  }
  tier.code.on_gpu = true;
  {
    const Built on_gpu = built();
    const RankClass& owner = on_gpu.plan.classes[1];
    EXPECT_TRUE(waits_for(owner, "copy to host", "encode"));
    EXPECT_TRUE(waits_for(owner, "reduce parity", "encode"));
    EXPECT_DOUBLE_EQ(named(owner, "copy to host").bytes, bytes[1] * 4 / 3);
    EXPECT_DOUBLE_EQ(total_seconds(named(owner, "encode").cost), bytes[1] * 4 / 3 / 2e12);
  }
  tier.code = {.name = CodeName::copies, .data = 1, .parity = 1};
  tier.copy_limit_Bps = 1e9;
  tier.quantised_share = 0.5;
  tier.coordination_s = 0.25;
  {
    const Built copied = built();
    const RankClass& owner = copied.plan.classes[1];
    EXPECT_DOUBLE_EQ(named(owner, "copy to host").flows[0].max_rate, 1e9);
    EXPECT_DOUBLE_EQ(named(owner, "copy to host").bytes, bytes[1] / 2);
    const Task& copies = named(owner, "send copies");
    EXPECT_EQ(copies.collective, CollectiveKind::all_to_all);
    EXPECT_DOUBLE_EQ(copies.bytes / 2, largest / 2);  // half of the buffer stays
    EXPECT_FALSE(has(owner, "encode"));
    EXPECT_DOUBLE_EQ(total_seconds(named(owner, "coordinate snapshot").cost), 0.25);
  }
  tier = {.place = SnapshotPlace::local_disk};
  EXPECT_DOUBLE_EQ(named(built().plan.classes[1], "write to disk").bytes, bytes[1]);
  tier = {.place = SnapshotPlace::replicas};
  EXPECT_FALSE(has(built().plan.classes[1], "copy to host"));
}

// Code groups may straddle stages, and nodes may be left over.
TEST(IterationPlan, CodeGroupsOfAnyShapeGiveValidPlans) {
  RandomStream random(5, RandomPurpose::test, 0);
  for (int round = 0; round < 40; ++round) {
    Job job = small_job(1 << random.below(3), 1 << random.below(2), 4 << random.below(3));
    const int members = 2 + static_cast<int>(random.below(job.cluster.nodes > 1 ? 4 : 1));
    if (members > job.cluster.nodes) continue;
    SnapshotTier tier{.place = SnapshotPlace::peers};
    tier.code = {.name = CodeName::reed_solomon, .data = members - 1, .parity = 1};
    tier.code.spread = random.below(2) == 0;
    job.snapshots = {tier, tier};
    job.communication.fidelity = Fidelity::flows;
    const Plan plan = build(job, {.due_snapshots = {0, 1}}).plan;
    EXPECT_NO_THROW(validate_plan(plan));
    std::vector<int> groups_of_rank(plan.ranks, 0);
    for (const Group& group : plan.groups) {
      if (group.axis != Category::snapshot) continue;
      EXPECT_GE(std::ssize(group.members), members);
      for (const RankId rank : group.members) {
        ++groups_of_rank[rank];
        EXPECT_EQ(rank % job.cluster.node.gpus, group.members[0] % job.cluster.node.gpus);
      }
    }
    EXPECT_EQ(std::ranges::count(groups_of_rank, 2), plan.ranks);
  }
}

}  // namespace
}  // namespace windtunnel
