// Packs of unequal sequences are lowered like micro-batches: in pipelines, with experts, sharded
// state, slices, samples to load and offloaded activations.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "models/cost/chunk/step_work.hpp"
#include "models/cost/memory/memory.hpp"
#include "models/cost/offload/offload.hpp"
#include "models/results/iteration_report.hpp"
#include "models/workload/input_pipeline.hpp"
#include "policies/iteration.hpp"
#include "policies/lengths/length_plan.hpp"
#include "sim/engine/engine.hpp"
#include "tests/support/pool_job.hpp"
#include "tests/support/small_job.hpp"

namespace windtunnel {
namespace {

constexpr std::array kAllPolicies = {LengthPolicy::fixed, LengthPolicy::flexsp, LengthPolicy::hdp};

// `gpus` is the size cp x dp of the pool; two GPUs share a window.
Job packed_job(int pp, int gpus, LengthPolicy policy, int vpp = 1) {
  Job job = small_job(1, pp, gpus / 2, vpp);
  job.layout.cp = 2;
  job.cluster = small_cluster(pp * gpus / 4, 4);
  job.batch = {8 * gpus, 1, 4096};
  job.communication.fidelity = Fidelity::closed;
  job.lengths = {{.median = 400, .sigma = 1.2, .longest = 4096}, policy, 7};
  return job;
}

// A job whose sequences are all as long as the window.
Job equal_job(int pp, int vpp = 1) {
  Job job = packed_job(pp, 8, LengthPolicy::fixed, vpp);
  job.lengths->distribution = {.median = 4096, .sigma = 0, .longest = 4096};
  job.communication.inner = InnerForm::folded;
  return job;
}

Job without_lengths(Job job) {
  job.lengths.reset();
  return job;
}

Plan plan_of(const Job& job) {
  Plan plan = iteration_plan(job, prepare_iteration(job));
  validate_plan(plan);
  return plan;
}

double engine_s(const Job& job) {
  const Plan plan = plan_of(job);
  return iteration_s(
      job, plan, execute(plan, job.cluster, {.fold = job.fold, .calibration = job.calibration}));
}

// Sums over all ranks.
template <class Amount>
double sum_of(const Plan& plan, const Amount& amount) {
  double sum = 0;
  for (const RankClass& owner : plan.classes) {
    for (const Task& task : owner.tasks) sum += owner.members.size() * amount(task);
  }
  return sum;
}

double sent_bytes(const Job& job) {
  return sum_of(plan_of(job),
                [](const Task& task) { return task.kind == TaskKind::send ? task.bytes : 0; });
}

void expect_as_without_lengths(const Job& job) {
  const double plain_s = engine_s(without_lengths(job));
  EXPECT_NEAR(engine_s(job), plain_s, 1e-9 * plain_s);
  const PreparedIteration packs = prepare_iteration(job);
  const PreparedIteration plain = prepare_iteration(without_lengths(job));
  for (std::size_t rank = 0; rank < plain.memory.size(); ++rank) {
    EXPECT_NEAR(packs.memory[rank].total(), plain.memory[rank].total(),
                1e-9 * plain.memory[rank].total());
  }
  EXPECT_NEAR(hardware_flops(job, packs).full, hardware_flops(job, plain).full,
              1e-9 * hardware_flops(job, plain).full);
  EXPECT_DOUBLE_EQ(sent_bytes(job), sent_bytes(without_lengths(job)));
}

TEST(PackedUnits, EqualSequencesArePipelinesWithoutLengths) {
  for (const Sharding sharding : {Sharding::none, Sharding::zero1, Sharding::zero3}) {
    for (const auto& [name, pp, vpp] :
         {std::tuple{"1f1b", 2, 1}, std::tuple{"1f1b", 4, 1}, std::tuple{"gpipe", 4, 1},
          std::tuple{"eager-1f1b", 4, 1}, std::tuple{"2bp", 2, 1},
          std::tuple{"interleaved-1f1b", 2, 2}, std::tuple{"1f1b", 1, 1}}) {
      SCOPED_TRACE(fmt::format("{} on {} x {}, zero {}", name, pp, vpp, int(sharding)));
      Job job = equal_job(pp, vpp);
      job.schedule.name = name;
      job.layout.sharding = sharding;
      expect_as_without_lengths(job);
    }
  }
}

TEST(PackedUnits, EqualSequencesAreExpertsWithoutLengths) {
  for (const int ep : {1, 2, 4}) {
    for (const int pp : {1, 2}) {
      SCOPED_TRACE(fmt::format("ep {} pp {}", ep, pp));
      Job job = equal_job(pp);
      job.model.moe = {.experts = 8, .per_token = 2, .ffn_hidden = 2048};
      job.layout.ep = ep;
      expect_as_without_lengths(job);
    }
  }
}

// The boundary between two stages carries each token once forward and its gradient once back,
// whichever rank computes it and however sequences are packed.
TEST(PackedUnits, MessagesBetweenStagesAreOfAllTokens) {
  for (const int pp : {2, 4}) {
    Job equal = without_lengths(equal_job(pp));
    const double of_token = sent_bytes(equal) / tokens_per_step(equal);
    for (const LengthPolicy policy : kAllPolicies) {
      for (const Sharding sharding : {Sharding::zero1, Sharding::zero3}) {
        Job job = packed_job(pp, 8, policy);
        job.layout.sharding = sharding;
        const double bytes = of_token * tokens_per_step(job);
        EXPECT_NEAR(sent_bytes(job), bytes, 1e-9 * bytes);
      }
    }
  }
}

// A step takes at least as long as its busiest GPU, and at least the memory of its largest pack.
TEST(PackedUnits, APipelineIsNoFasterThanItsBusiestRank) {
  for (const LengthPolicy policy : kAllPolicies) {
    const Job job = packed_job(4, 8, policy);
    const PreparedIteration prepared = prepare_iteration(job);
    const double step_s = iteration_step_s(job, prepared);
    EXPECT_GE(step_s, prepared.balanced->plan.seconds);
    for (std::size_t rank = 1; rank < 3; ++rank) {  // fewer packs in flight, no logits
      EXPECT_LE(prepared.peak_activation_bytes[rank], prepared.peak_activation_bytes[0]);
    }
    EXPECT_EQ(gpu_memory_excess(prepared.memory, job), "");
    std::vector<double> fullest(job.layout.pp, 0);  // [stage]
    for (const ReplicaCosts& own : prepared.kinds) {
      const std::size_t packs = own.units.size() / fullest.size();
      for (std::size_t unit = 0; unit < own.units.size(); ++unit) {
        double& most = fullest[unit / packs];
        most = std::max(most, own.units[unit].activation_bytes);
      }
    }
    for (std::size_t rank = 0; rank < fullest.size(); ++rank) {
      EXPECT_GT(fullest[rank], 0);
      EXPECT_GE(prepared.peak_activation_bytes[rank], fullest[rank]);
      EXPECT_GE(prepared.memory[rank].activations, fullest[rank]);
    }
    // Several packs are in flight on the first rank.
    EXPECT_GT(prepared.peak_activation_bytes[0], fullest[0]);
  }
}

// Sharded passes gather and reduce with all other ranks, so that all ranks make equally many
// passes, and the ranks of a pack make its pass at the same time.
TEST(PackedUnits, RanksThatShardMakeAsManyPasses) {
  for (const LengthPolicy policy : kAllPolicies) {
    for (const Sharding sharding : {Sharding::zero2, Sharding::zero3}) {
      Job job = packed_job(1, 16, policy);
      job.layout.sharding = sharding;
      const PreparedIteration prepared = prepare_iteration(job);
      std::map<std::vector<int>, std::set<std::size_t>> places;  // by group: positions of its packs
      for (const ReplicaCosts& own : prepared.kinds) {
        EXPECT_EQ(own.meets.size(), prepared.kinds.front().meets.size());
        for (std::size_t unit = 0; unit < own.meets.size(); ++unit) {
          for (const MeetingGpus& gpus : own.meets[unit]) {
            places[{gpus.first, gpus.count}].insert(unit);
          }
        }
      }
      for (const ReplicaCosts& own : prepared.kinds) {
        for (const int member : own.members) {
          for (const auto& [gpus, units] : places) {
            if (member < gpus[0] || member >= gpus[0] + gpus[1]) continue;
            for (const std::size_t unit : units) {
              EXPECT_EQ(std::ranges::count(own.meets[unit], MeetingGpus{gpus[0], gpus[1]}), 1);
            }
          }
        }
      }
      const Plan plan = iteration_plan(job, prepared);
      std::set<std::size_t> collectives;
      for (const RankClass& owner : plan.classes) {
        collectives.insert(std::ranges::count_if(owner.tasks, [](const Task& task) {
          return task.kind == TaskKind::collective && task.category == Category::dp;
        }));
      }
      EXPECT_EQ(collectives.size(), 1U);
    }
  }
}

// Each expert gets the same number of tokens, whichever rank has them: all GPUs together compute
// what the packs take alone.
TEST(PackedUnits, ExpertsShareTheTokensOfTheirGroup) {
  for (const LengthPolicy policy : kAllPolicies) {
    Job job = packed_job(1, 8, policy);
    job.model.moe = {.experts = 8, .per_token = 2, .ffn_hidden = 2048};
    job.layout.ep = 4;
    const PreparedIteration prepared = prepare_iteration(job);
    double packs_s = 0;
    for (const auto& round : prepared.balanced->plan.rounds) {
      for (const LengthPack& pack : round) packs_s += pack.ranks * pack.seconds;
    }
    const Plan plan = iteration_plan(job, prepared);
    validate_plan(plan);
    const double computed_s = sum_of(plan, [](const Task& task) {
      const bool pass = task.kind == TaskKind::compute && task.category != Category::optimizer;
      return pass ? total_seconds(task.cost) : 0;
    });
    EXPECT_NEAR(computed_s, packs_s, 1e-9 * packs_s);
    // Ranks wait for each other before each pass, in a task of category cp.
    for (const RankClass& owner : plan.classes) {
      EXPECT_GT(std::ranges::count(owner.tasks, Category::cp, &Task::category), 0);
    }
  }
}

// A pack's tokens, bytes and attention are the sums over its slices, and later slices attend to
// more keys.
TEST(PackedUnits, SlicesAreThePack) {
  for (const char* name : {"seq1f1b", "terapipe"}) {
    Job whole = packed_job(2, 8, LengthPolicy::fixed);
    Job sliced = whole;
    sliced.schedule.name = name;
    sliced.schedule.slices = 4;
    EXPECT_NEAR(sent_bytes(sliced), sent_bytes(whole), 1e-9 * sent_bytes(whole));
    const PreparedIteration packs = prepare_iteration(whole);
    const PreparedIteration slices = prepare_iteration(sliced);
    const double flops = hardware_flops(whole, packs).full;
    EXPECT_NEAR(hardware_flops(sliced, slices).full, flops, 1e-9 * flops);
    EXPECT_NEAR(hardware_flops(sliced, slices).causal, hardware_flops(whole, packs).causal,
                1e-9 * flops);
    validate_plan(iteration_plan(sliced, slices));
    EXPECT_GE(iteration_step_s(sliced, slices), slices.balanced->plan.seconds);
  }
  // With one sequence per window, the slices of a stage grow.
  Job job = equal_job(2);
  job.schedule.name = "seq1f1b";
  job.schedule.slices = 4;
  const PreparedIteration prepared = prepare_iteration(job);
  const ReplicaCosts& own = prepared.kinds.front();
  for (int slice = 1; slice < 4; ++slice) {
    EXPECT_GT(total_seconds(own.units[slice].forward), total_seconds(own.units[slice - 1].forward));
  }
}

// Every sample is loaded in parts by the GPUs that share it.
TEST(PackedUnits, SamplesAreLoadedOnce) {
  for (const LengthPolicy policy : kAllPolicies) {
    for (const int prefetch : {0, 1}) {
      for (const int pp : {1, 2}) {
        Job job = packed_job(pp, 8, policy);
        InputPipeline input;
        input.sample_bytes = 1e6;
        input.sample_core_s = 1e-3;
        input.workers = 4;
        input.prefetch = prefetch;
        job.input = std::make_shared<const InputPipeline>(input);
        const Plan plan = plan_of(job);
        const double read = sum_of(plan, [](const Task& task) {
          double bytes = 0;
          for (const Flow& flow : task.flows) {
            const bool reads = flow.demands.front().resource == Resource::storage_read;
            if (task.category == Category::input && reads) bytes += flow.amount;
          }
          return bytes;
        });
        EXPECT_NEAR(read, job.batch.global * input.sample_bytes, 1e-3) << prefetch << " " << pp;
        const double calm_s = iteration_step_s(packed_job(pp, 8, policy),
                                               prepare_iteration(packed_job(pp, 8, policy)));
        EXPECT_GE(iteration_step_s(job, prepare_iteration(job)), calm_s * (1 - 1e-9));
      }
    }
  }
}

double offloaded_bytes(const Job& job, bool out) {
  return sum_of(plan_of(job), [&](const Task& task) {
    const bool activations =
        task.category == Category::offload && task.name.find("activations") != std::string::npos;
    const double bytes = task.tier_allocate_bytes - task.tier_free_bytes;
    return activations ? std::max(0.0, out ? bytes : -bytes) : 0;
  });
}

Job with_activations_away(Job job) {
  Offload offload;
  offload.activations = MemoryTier::host;
  job.offload = std::make_shared<const Offload>(offload);
  return job;
}

// Offloaded activations come back, equally many bytes per token whichever rank computes it; the GPU
// keeps less.
TEST(PackedUnits, ActivationsLeaveWithTheirPack) {
  for (const int pp : {1, 2}) {
    const Job equal = with_activations_away(equal_job(pp));
    expect_as_without_lengths(equal);
    const double of_token = offloaded_bytes(equal, true) / tokens_per_step(equal);
    ASSERT_GT(of_token, 0);
    for (const LengthPolicy policy : kAllPolicies) {
      const Job stays = packed_job(pp, 8, policy);
      const Job away = with_activations_away(stays);
      const double bytes = of_token * tokens_per_step(away);
      EXPECT_NEAR(offloaded_bytes(away, true), bytes, 1e-6 * bytes);
      EXPECT_NEAR(offloaded_bytes(away, false), bytes, 1e-6 * bytes);
      if (policy == LengthPolicy::fixed) continue;
      EXPECT_GT(tokens_per_gpu(away), tokens_per_gpu(stays));
    }
  }
}

// Slices of micro-batches are offloaded like the micro-batches, except for the keys and values that
// later slices read.
TEST(PackedUnits, ActivationsLeaveWithTheirSlice) {
  Job whole = with_activations_away(without_lengths(equal_job(2)));
  Job sliced = whole;
  sliced.schedule.name = "seq1f1b";
  sliced.schedule.slices = 4;
  constexpr double kKeyAndValue = 2 * 2;  // in 16 bit
  const double bytes = offloaded_bytes(whole, true) - kKeyAndValue * whole.model.layers *
                                                          whole.model.kv_width() *
                                                          tokens_per_step(whole);
  EXPECT_NEAR(offloaded_bytes(sliced, true), bytes, 1e-6 * bytes);
  EXPECT_NEAR(offloaded_bytes(sliced, false), bytes, 1e-6 * bytes);
  EXPECT_LT(prepare_iteration(sliced).memory[0].activations,
            prepare_iteration(without_lengths(equal_job(2))).memory[0].activations);
}

Job packed_on_pools(PoolAxis axis, LengthPolicy policy) {
  Job job = pool_job(axis);
  job.communication.fidelity = Fidelity::closed;
  job.batch.sequence = 4096;
  job.batch.global *= 8;
  job.lengths = {{.median = 400, .sigma = 1.2, .longest = 4096}, policy, 7};
  return job;
}

// Returns the same job, with all nodes like those of one pool.
Job with_nodes_of(Job job, std::size_t pool) {
  for (Pool& each : job.cluster.pools) each.node = job.cluster.pools[pool].node;
  const Calibration calibration = job.pool_calibrations[pool];
  for (Calibration& each : job.pool_calibrations) each = calibration;
  job.cluster.node = job.cluster.shared = shared_node(job.cluster.pools);
  return job;
}

double estimated_s(const Job& job) {
  return iteration_step_s(job, prepare_iteration(job));
}

TEST(PackedUnits, PoolsThatAreAlikeAreNodesOfOneKind) {
  for (const LengthPolicy policy : kAllPolicies) {
    for (const PoolAxis axis : {PoolAxis::pp, PoolAxis::dp}) {
      const Job pools = with_nodes_of(packed_on_pools(axis, policy), 0);
      Job one = pools;
      one.cluster.pools.clear();
      one.pool_calibrations.clear();
      const double one_s = estimated_s(one);
      EXPECT_NEAR(estimated_s(pools), one_s, 1e-9 * one_s);
      EXPECT_NEAR(engine_s(pools), one_s, 1e-6 * one_s);
      const PreparedIteration of_pools = prepare_iteration(pools);
      const PreparedIteration of_one = prepare_iteration(one);
      for (std::size_t rank = 0; rank < of_one.memory.size(); ++rank) {
        EXPECT_NEAR(of_pools.memory[rank].total(), of_one.memory[rank].total(), 1);
      }
    }
  }
}

// With half of the nodes slow, a step is no faster than with none and no slower than with all; hdp
// assigns them less.
TEST(PackedUnits, UnlikeNodesLieBetweenThoseOfEachKind) {
  for (const PoolAxis axis : {PoolAxis::pp, PoolAxis::dp}) {
    const double fixed_s = estimated_s(packed_on_pools(axis, LengthPolicy::fixed));
    for (const LengthPolicy policy : kAllPolicies) {
      SCOPED_TRACE(fmt::format("policy {} axis {}", int(policy), int(axis)));
      const Job job = packed_on_pools(axis, policy);
      const double mixed_s = estimated_s(job);
      EXPECT_NEAR(engine_s(job), mixed_s, 1e-6 * mixed_s);
      EXPECT_GE(mixed_s, estimated_s(with_nodes_of(job, 0)) * (1 - 1e-9));
      EXPECT_LE(mixed_s, estimated_s(with_nodes_of(job, 1)) * (1 + 1e-9));
      EXPECT_LE(mixed_s, fixed_s * (1 + 1e-9));
    }
  }
  const Job job = packed_on_pools(PoolAxis::dp, LengthPolicy::hdp);
  const PreparedIteration prepared = prepare_iteration(job);
  std::map<int, double> tokens;  // [pool]
  for (const auto& round : prepared.balanced->plan.rounds) {
    for (const LengthPack& pack : round) {
      for (int gpu = pack.first; gpu < pack.first + pack.ranks; ++gpu) {
        tokens[job.cluster.pool_of(gpu * job.layout.tp)] += pack.tokens / pack.ranks;
      }
    }
  }
  ASSERT_EQ(tokens.size(), 2U);
  EXPECT_GT(tokens[0], 1.2 * tokens[1]);
}

// Context parallelism in 8 bits sends half of the bytes, and runs the kernels of the encoding.
TEST(PackedUnits, CompressedContextIsThatOfAMicroBatch) {
  Job job = equal_job(1);
  job.layout.context = ContextForm::ulysses;
  job.communication.compressors.cp.name = "int8";
  expect_as_without_lengths(job);
}

}  // namespace
}  // namespace windtunnel
