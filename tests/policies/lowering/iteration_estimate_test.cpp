// Compares the closed form of a step with the Plan that the engine executes, over random jobs. They
// implement the same rules independently: one has no tasks, the other no max-plus algebra.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <utility>

#include "models/base/error.hpp"
#include "models/base/random.hpp"
#include "models/compression/compressors.hpp"
#include "models/results/iteration_report.hpp"
#include "policies/evaluation/schedule_lowering.hpp"
#include "policies/exchange/compressed_reductions.hpp"
#include "policies/iteration.hpp"
#include "policies/schedules/schedules.hpp"
#include "sim/engine/engine.hpp"
#include "tests/support/small_job.hpp"

namespace windtunnel {
namespace {

template <typename T>
T pick(RandomStream& random, std::initializer_list<T> values) {
  return values.begin()[random.below(values.size())];
}

Calibration busy_calibration(RandomStream& random) {
  Calibration calibration = ideal_calibration();
  calibration.nvlink_latency_s = spec(2e-6);
  calibration.nic_latency_s = spec(6e-6);
  calibration.collective_launch_s = spec(10e-6);
  calibration.p2p_launch_s = spec(5e-6);
  calibration.nvlink_efficiency = spec(0.5 + 0.5 * random.uniform());
  calibration.nic_efficiency = spec(0.5 + 0.5 * random.uniform());
  return calibration;
}

void add_experts(RandomStream& random, Job& job) {
  job.model.moe = {.experts = 8, .per_token = 2, .ffn_hidden = 1024, .shared_ffn = 512};
  job.model.moe.dense_layers = static_cast<int>(random.below(4));
  const Layout& layout = job.layout;
  const int members = layout.tp * layout.cp * layout.dp;
  do {
    job.layout.ep = 1 << random.below(4);
  } while (members % job.layout.ep != 0);
}

Job random_job(RandomStream& random) {
  const int pp = pick(random, {1, 1, 2, 4});
  const int vpp = pp > 1 ? pick(random, {1, 1, 2}) : 1;
  const int tp = pick(random, {1, 2, 4});
  Job job = small_job(tp, pp, pick(random, {1, 2, 4, 8}), vpp);
  Layout& layout = job.layout;
  layout.cp = pick(random, {1, 1, 2});
  layout.sharding =
      pick(random, {Sharding::none, Sharding::zero1, Sharding::zero2, Sharding::zero3});
  const int replicas = layout.dp * layout.cp;
  if (layout.sharding != Sharding::none && replicas > 1 && random.below(3) == 0) {
    layout.shard_ranks = replicas / 2;
  }
  const int per_node = pick(random, {4, 8});
  const int ranks = layout.ranks();
  const bool whole = ranks % per_node == 0;
  job.cluster = small_cluster(whole ? ranks / per_node : 1, whole ? per_node : ranks);
  job.cluster.fabric.hop_latency_s = spec(1e-6);
  if (random.below(3) == 0) job.cluster.fabric.nodes_per_pod = 1 + random.below(4);
  if (random.below(8) == 0) {
    job.cluster.slow_nodes = {{static_cast<int>(random.below(job.cluster.nodes)), 1.5}};
  }
  job.cluster.node.nic_Bps = spec(pick(random, {12.5e9, 25e9, 50e9}));
  job.schedule.name = vpp > 1 ? "interleaved-1f1b" : pick(random, {"1f1b", "gpipe"});
  const int groups = 1 + static_cast<int>(random.below(3));
  job.batch.global = layout.dp * (vpp > 1 ? pp * groups : 1 + static_cast<int>(random.below(10)));
  job.batch.sequence = 1024;
  job.communication.overlap =
      pick(random, {GradientOverlap::none, GradientOverlap::bucketed, GradientOverlap::bucketed});
  job.communication.bucket_bytes = 1e6 * (1 + random.below(60));
  job.communication.fidelity = Fidelity::closed;
  job.software.reduce_bytes = pick(random, {2.0, 4.0});
  job.model.tied_embeddings = random.below(2) == 0;
  if (random.below(3) == 0) add_experts(random, job);
  job.calibration = busy_calibration(random);
  // With several chunks per rank, messages to both neighbours share one NIC, which the estimate
  // ignores; blocked ranks would wait for them too.
  if (vpp == 1 && random.below(3) == 0) job.software.sends = Sends::blocking;
  if (job.batch.global % 3 == 0) {  // the scenario chooses collectives
    job.communication.collectives = {
        {CollectiveKind::all_reduce, CollectiveAlgorithm::ring, Protocol::simple, {}},
        {CollectiveKind::reduce_scatter, CollectiveAlgorithm::ring, Protocol::automatic, {}},
        {CollectiveKind::all_to_all, CollectiveAlgorithm::direct, Protocol::automatic, {}}};
  }
  return job;
}

// Adds rarer settings to some of the jobs: tensors gathered one by one; packages of GPUs; messages
// between stages in few bits or of low rank; collectives inside a layer in few bits; 16 frames of
// 64 tokens.
void add_rarer(int i, Job& job) {
  job.software.tensor_gathers = i % 4 == 0;  // counts where layers are gathered
  if (i % 5 < 2 && job.cluster.node.gpus % 2 == 0) {
    job.cluster.node.package_gpus = 2;
    job.cluster.node.package_Bps = spec(800e9);
  }
  if (job.layout.pp > 1 && i % 3 == 0) job.communication.boundary_rank = 1 + 8 * (i % 7);
  if (job.layout.pp > 1 && i % 3 == 1) job.communication.compressors.pp.name = "int8";
  if (i % 2 == 1) {
    job.communication.compressors.tp.name = "int4";
    job.communication.compressors.ep.name = "fp8";
  }
  if (i % 4 != 1) return;
  job.model.frames = 16;
  job.layout.context = ContextForm::dsp;
}

std::string name_of(const Job& job) {
  const Layout& l = job.layout;
  return fmt::format(
      "tp {} cp {} pp {} vpp {} dp {} ep {} zero {} shard {} {} m {} {} bucket {} MB, {} nodes of "
      "{}, pods of {}, {} slow, nic {}",
      l.tp, l.cp, l.pp, l.vpp, l.dp, l.ep, int(l.sharding), l.shard_ranks, job.schedule.name,
      job.batch.global / l.dp, job.communication.overlap == GradientOverlap::none ? "none" : "over",
      job.communication.bucket_bytes / 1e6, job.cluster.nodes, job.cluster.node.gpus,
      job.cluster.fabric.nodes_per_pod, job.cluster.slow_nodes.size(),
      job.cluster.node.nic_Bps.value / 1e9);
}

struct Compared {
  double estimate_s = 0;
  double engine_s = 0;
  double error() const { return estimate_s / engine_s - 1; }
};

Compared compare(const Job& job, const PreparedIteration& prepared) {
  const Plan plan = iteration_plan(job, prepared);
  validate_plan(plan);
  const Timeline timeline =
      execute(plan, job.cluster, {.fold = job.fold, .calibration = job.calibration});
  const IterationEstimate estimate = estimate_iteration(job, prepared);
  EXPECT_NEAR(std::accumulate(estimate.seconds.begin(), estimate.seconds.end(), 0.0),
              estimate.step_s, 1e-9 * estimate.step_s);
  EXPECT_NEAR(std::accumulate(estimate.origin_s.begin(), estimate.origin_s.end(), 0.0),
              estimate.step_s, 1e-9 * estimate.step_s);
  const IterationReport report =
      iteration_report(job, hardware_flops(job, prepared), prepared.memory, plan, timeline,
                       critical_path(plan, timeline));
  EXPECT_NEAR(std::accumulate(report.critical_path_s.begin(), report.critical_path_s.end(), 0.0),
              report.time_s, 1e-9 * report.time_s);
  EXPECT_LE(report.bubble.longest_stage_s, report.bubble.makespan_s + 1e-9 * report.time_s);
  return {estimate.step_s, report.time_s};
}

Compared compare(const Job& job) {
  return compare(job, prepare_iteration(job));
}

// Draws ways to overlap gradients, compressors and servers that the closed form's maps cannot
// express.
void exchange_otherwise(RandomStream& random, Job& job) {
  Communication& communication = job.communication;
  communication.overlap =
      pick(random, {GradientOverlap::none, GradientOverlap::wfbp, GradientOverlap::bucketed,
                    GradientOverlap::blocking, GradientOverlap::mg_wfbp, GradientOverlap::asc,
                    GradientOverlap::priority, GradientOverlap::priority, GradientOverlap::dear,
                    GradientOverlap::dear});
  communication.first_bucket_bytes = pick(random, {0.0, 1e6});
  communication.partition_bytes = 1e6 * (1 + random.below(8));
  job.calibration.partition_launch_s.value = pick(random, {0.0, 1e-4});
  job.software.bucket_copies = random.below(4) == 0;
  communication.credit_bytes = 1e6 * random.below(30);
  std::vector<std::string_view> names;
  for (const CompressorKind& kind : compressor_kinds()) {
    // This is PowerSGD with more kernels at the same places.
    if (kind.name != "powersgd-hook") names.push_back(kind.name);
  }
  if (random.below(2) == 0) {
    communication.compressors.dp.name = names[random.below(names.size())];
  } else if (random.below(4) == 0) {
    communication.aggregation = Aggregation::parameter_server;
    communication.servers = pick(random, {0, 0, 1, 4});
  }
  if (random.below(3) > 0) job.layout.sharding = Sharding::none;
  job.communication.collectives.clear();
  job.calibration.overlap_slowdown = spec(random.below(2) == 0 ? 0 : 0.2);
}

// Compares the in-process evaluation of the Plan with the engine for every policy, compressor and
// form of aggregation.
TEST(Estimate, EqualsTheEngineForEveryExchangeOfGradients) {
  double worst = 0;
  int compared = 0;
  int refused = 0;
  std::set<std::pair<GradientOverlap, bool>> seen;
  for (int i = 0; i < 800; ++i) {
    RandomStream random(5, RandomPurpose::test, i);
    Job job = random_job(random);
    job.software.one_queue = i % 8 < 4;  // beside each of add_rarer()
    exchange_otherwise(random, job);
    add_rarer(i, job);
    PreparedIteration prepared;
    try {
      prepared = prepare_iteration(job);
    } catch (const Error&) {
      ++refused;
      continue;
    }
    // Without a barrier between iterations, messages in both directions share a NIC.
    if (crosses_iterations(job.communication.overlap)) {
      for (auto* costs : {&prepared.chunks, &prepared.units}) {
        for (ChunkCost& cost : *costs) cost.boundary_bytes = 0;
      }
    }
    SCOPED_TRACE(fmt::format("{}: {}, overlap {}, {}, servers {}", i, name_of(job),
                             int(job.communication.overlap), job.communication.compressors.dp.name,
                             int(job.communication.aggregation)));
    const double error = std::abs(compare(job, prepared).error());
    EXPECT_LT(error, 1e-6);
    const double step_s = microbatches_step_s(job, prepared);
    const auto none_above = [&](double least_s) {
      EXPECT_LE(least_s, step_s);
      return false;
    };
    EXPECT_EQ(microbatches_step_s_unless(none_above, job, prepared), step_s);
    worst = std::max(worst, error);
    ++compared;
    seen.emplace(job.communication.overlap, job.communication.compressors.dp.name != "none");
  }
  fmt::print("{} jobs, {} refused, worst {:.1e}\n", compared, refused, worst);
  EXPECT_GT(compared, 300);
  EXPECT_EQ(seen.size(), 16U) << "policies, with and without a compressor";
}

// Nothing is approximated here: collectives are in closed form, and messages leave a NIC in one
// flow at a time.
TEST(Estimate, EqualsTheEngineOnAnIdleNetwork) {
  double worst = 0;
  std::string worst_job;
  for (int i = 0; i < 400; ++i) {
    RandomStream random(1, RandomPurpose::test, i);
    Job job = random_job(random);
    job.software.one_queue = i % 8 < 4;  // beside each of add_rarer()
    add_rarer(i, job);
    const double error = std::abs(compare(job).error());
    EXPECT_LT(error, 1e-6) << i << ": " << name_of(job);
    if (error < worst) continue;
    worst = error;
    worst_job = name_of(job);
  }
  fmt::print("400 jobs, worst {:.1e}: {}\n", worst, worst_job);
}

// This also holds with exchanges as flows: each pass leaves enough time for the exchange that it
// hides, so that layers do not share a NIC. Measured rows are predicted in closed form, while `run`
// executes the Plan. On slower NICs exchanges are longer, and would also share them with the
// pipeline's messages.
TEST(Estimate, HiddenExchangesOfExpertsAreThoseOfTheEngine) {
  for (const double nic_Bps : {5e9, 10e9, 25e9, 100e9}) {
    for (const int pp : {1, 2, 4}) {
      Job job = small_job(1, pp, 16);
      job.model.moe = {.experts = 16, .per_token = 4, .ffn_hidden = 4096};
      job.layout.ep = 16;
      job.software.ep_overlap = true;
      job.cluster.node.nic_Bps = spec(nic_Bps);
      EXPECT_LT(std::abs(compare(job).error()), 0.03) << nic_Bps << ", " << pp << " stages";
    }
  }
}

// A job with this schedule. In most of them messages in both directions share a NIC, so that
// messages here have latency only: see PreparedIteration below.
Job scheduled_job(const ScheduleKind& kind, RandomStream& random) {
  const int pp = pick(random, {2, 4});
  const int vpp = kind.usual_chunks + (kind.usual_chunks == 2 && random.below(4) == 0 ? 2 : 0);
  Job job = small_job(pick(random, {1, 2}), pp, pick(random, {1, 2, 4}), vpp);
  Layout& layout = job.layout;
  layout.sharding =
      pick(random, {Sharding::none, Sharding::zero1, Sharding::zero2, Sharding::zero3});
  job.model.layers = 16;
  job.batch.global = layout.dp * pp * (1 + static_cast<int>(random.below(5)));
  job.batch.sequence = 1024;
  job.schedule.name = kind.name;
  job.schedule.memory_limit = 0;
  const bool sliced = kind.name == "seq1f1b" || kind.name == "terapipe";
  if (sliced) job.schedule.slices = 1 + static_cast<int>(random.below(4));
  job.schedule.defer_weights = random.below(6) == 0;
  job.recompute = pick(random, {Recompute::none, Recompute::selective, Recompute::full});
  job.communication.overlap =
      pick(random, {GradientOverlap::none, GradientOverlap::bucketed, GradientOverlap::bucketed});
  job.communication.bucket_bytes = 1e6 * (1 + random.below(60));
  job.communication.fidelity = Fidelity::closed;
  job.model.tied_embeddings = random.below(2) == 0;
  if (random.below(2) == 0) add_experts(random, job);
  job.calibration = busy_calibration(random);
  job.calibration.overlap_slowdown = spec(random.below(2) == 0 ? 0 : 0.2);
  job.calibration.p2p_launch_s = spec(pick(random, {5e-6, 200e-6}));
  job.software.sends = pick(random, {Sends::asynchronous, Sends::blocking, Sends::synchronous});
  job.software.post_validation = random.below(3) == 0;
  if (random.below(6) == 0) {
    job.cluster.slow_nodes = {{static_cast<int>(random.below(job.cluster.nodes)), 1.5}};
  }
  return job;
}

// Draws every schedule with whatever it consists of (pairs, replicas, slices, recomputation,
// iterations without a flush), and all kinds of messages and of data parallelism.
TEST(Estimate, EqualsTheEngineUnderEverySchedule) {
  constexpr int kJobs = 24;
  double worst = 0;
  int refused = 0;
  int compared = 0;
  for (std::size_t k = 0; k < schedule_kinds().size(); ++k) {
    const ScheduleKind& kind = schedule_kinds()[k];
    int jobs = 0;
    for (int i = 0; i < kJobs; ++i) {
      RandomStream random(3 + k, RandomPurpose::test, i);
      Job job = scheduled_job(kind, random);
      add_rarer(i, job);
      PreparedIteration prepared;
      try {
        prepared = prepare_iteration(job);
      } catch (const Error& error) {
        ++refused;
        continue;
      }
      // Stages are sharded as in torch: gathered, dropped and reduced where the schedule says so.
      const bool sharded = random.below(2) == 0;
      if (sharded) {
        prepared.schedule = with_gradient_reductions(with_unshards(std::move(prepared.schedule)));
      }
      for (auto* costs : {&prepared.chunks, &prepared.units}) {
        for (ChunkCost& cost : *costs) cost.boundary_bytes = 0;
      }
      const std::string what =
          fmt::format("{} {}: {} sends {} {}", kind.name, i, name_of(job), int(job.software.sends),
                      job.software.post_validation ? "validated" : "");
      SCOPED_TRACE(what);
      ++jobs;
      try {
        const double error = std::abs(compare(job, prepared).error());
        EXPECT_LT(error, 1e-6);
        worst = std::max(worst, error);
      } catch (const std::exception& error) {
        ADD_FAILURE() << error.what();
      }
    }
    EXPECT_GT(jobs, 0) << kind.name;
    compared += jobs;
  }
  fmt::print("{} jobs, {} refused, worst {:.1e}\n", compared, refused, worst);
  EXPECT_GT(compared, 4 * static_cast<int>(schedule_kinds().size()));
}

// With messages and collectives as flows, under every schedule, folding joins only ranks that
// behave alike.
TEST(Estimate, FoldedJobsEqualUnfoldedOnesUnderEverySchedule) {
  int folded_jobs = 0;
  for (std::size_t k = 0; k < schedule_kinds().size(); ++k) {
    for (int i = 0; i < 3; ++i) {
      RandomStream random(40 + k, RandomPurpose::test, i);
      Job job = scheduled_job(schedule_kinds()[k], random);
      job.communication.fidelity = Fidelity::automatic;
      PreparedIteration prepared;
      try {
        prepared = prepare_iteration(job);
      } catch (const Error&) {
        continue;
      }
      const Plan plan = iteration_plan(job, prepared);
      EngineOptions options{.fold = FoldMode::automatic, .calibration = job.calibration};
      const Timeline folded = execute(plan, job.cluster, options);
      options.fold = FoldMode::none;
      const Timeline all = execute(plan, job.cluster, options);
      EXPECT_NEAR(folded.makespan_s, all.makespan_s, 1e-6 * all.makespan_s) << name_of(job);
      folded_jobs += folded.ranks_simulated < all.ranks_simulated;
    }
  }
  EXPECT_GT(folded_jobs, 20);
}

// As flows, collectives share NICs with the pipeline's messages in the engine, but not in the
// estimate.
void expect_near_under_contention(InnerForm inner, double of_nine_tenths, double most) {
  std::vector<double> errors;
  double worst = 0;
  std::string worst_job;
  for (int i = 0; i < 200; ++i) {
    RandomStream random(2, RandomPurpose::test, i);
    Job job = random_job(random);
    job.communication.fidelity = Fidelity::automatic;
    job.communication.inner = inner;
    const double error = compare(job).error();
    errors.push_back(std::abs(error));
    if (errors.back() < worst) continue;
    worst = errors.back();
    worst_job = fmt::format("{:+.4f} {}", error, name_of(job));
  }
  std::ranges::sort(errors);
  const double median = errors[errors.size() / 2];
  fmt::print("200 jobs, median {:.1e}, p90 {:.4f}, worst {}\n", median, errors[180], worst_job);
  EXPECT_LT(median, 0.003);
  EXPECT_LT(errors[180], of_nine_tenths);
  EXPECT_LT(worst, most) << worst_job;
}

TEST(Estimate, StaysNearTheEngineUnderContention) {
  expect_near_under_contention(InnerForm::folded, 0.01, 0.05);
}

// Rings of context parallelism across nodes share NICs with reductions and gathers in every layer.
TEST(Estimate, StaysNearTheEngineWhereInnerCollectivesMeetThemToo) {
  expect_near_under_contention(InnerForm::automatic, 0.02, 0.1);
}

}  // namespace
}  // namespace windtunnel
