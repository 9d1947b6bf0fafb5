// Jobs with sequences of unequal lengths: their Plan in the engine must agree with the closed form.
// It is compared with equal sequences, and with what FlexSP and ByteScale report.
#include "policies/lengths/length_plan.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "models/base/random.hpp"
#include "models/cost/chunk/step_work.hpp"
#include "models/results/iteration_report.hpp"
#include "policies/iteration.hpp"
#include "scenarios/language/case.hpp"
#include "sim/engine/engine.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/pool_job.hpp"
#include "tests/support/small_job.hpp"

namespace windtunnel {
namespace {

constexpr std::array kPolicies = {LengthPolicy::fixed, LengthPolicy::flexsp, LengthPolicy::hdp};

Job unequal_job(int tp, int cp, int dp, LengthPolicy policy) {
  Job job = small_job(tp, 1, dp);
  job.layout.cp = cp;
  job.cluster = small_cluster(tp * cp * dp / 4, 4);
  job.batch = {8 * dp, 1, 4096};
  job.communication.fidelity = Fidelity::closed;
  job.lengths = {{.median = 300, .sigma = 1.2, .longest = 4096}, policy, 7};
  return job;
}

double engine_s(const Job& job, const PreparedIteration& prepared) {
  const Plan plan = iteration_plan(job, prepared, {});
  validate_plan(plan);
  const Timeline timeline =
      execute(plan, job.cluster, {.fold = job.fold, .calibration = job.calibration});
  const IterationReport report =
      iteration_report(job, hardware_flops(job, prepared), prepared.memory, plan, timeline,
                       critical_path(plan, timeline));
  EXPECT_NEAR(std::accumulate(report.critical_path_s.begin(), report.critical_path_s.end(), 0.0),
              report.time_s, 1e-9 * report.time_s);
  EXPECT_GE(report.hfu, report.mfu * (1 - 1e-9));
  EXPECT_NEAR(report.tokens_per_s * report.time_s, tokens_per_step(job), 1e-6);
  return report.time_s;
}

double lengths_step_s(const Job& job) {
  const IterationEstimate estimate = estimate_iteration(job, prepare_iteration(job));
  EXPECT_NEAR(std::accumulate(estimate.seconds.begin(), estimate.seconds.end(), 0.0),
              estimate.step_s, 1e-9 * estimate.step_s);
  return estimate.step_s;
}

// On pools, a class of GPUs has the costs of its own nodes.
TEST(UnequalLengths, ChunksOfAClassAreThoseOfItsPools) {
  Job job = pool_job(PoolAxis::dp);
  job.communication.fidelity = Fidelity::closed;
  job.batch.sequence = 4096;
  job.batch.global *= 8;
  job.lengths = {{.median = 400, .sigma = 1.2, .longest = 4096}, LengthPolicy::hdp, 7};
  const PreparedIteration prepared = prepare_iteration(job);
  std::map<std::vector<int>, double> forward_s;  // [pools]
  for (const ReplicaCosts& own : prepared.kinds) {
    forward_s[own.kind.pools] = total_seconds(own.chunks.front().forward);
  }
  ASSERT_EQ(forward_s.size(), 2U);
  EXPECT_GT(forward_s.at({1, 1}), 1.2 * forward_s.at({0, 0}));
  EXPECT_EQ(forward_s.at({1, 1}), total_seconds(prepared.chunks.front().forward));
}

TEST(UnequalLengths, EngineTakesWhatTheEstimateSays) {
  for (const LengthPolicy policy : kPolicies) {
    for (const Sharding sharding :
         {Sharding::none, Sharding::zero1, Sharding::zero2, Sharding::zero3}) {
      for (const auto& [tp, cp, pp, dp] : {std::array{1, 2, 1, 4}, std::array{2, 1, 1, 8},
                                           std::array{1, 2, 2, 4}, std::array{2, 1, 4, 2}}) {
        Job job = unequal_job(tp, cp, dp, policy);
        job.layout.pp = pp;
        job.cluster.nodes *= pp;
        job.layout.sharding = sharding;
        SCOPED_TRACE(
            fmt::format("policy {} zero {} tp {} pp {}", int(policy), int(sharding), tp, pp));
        const PreparedIteration prepared = prepare_iteration(job);
        const double estimate_s = estimate_iteration(job, prepared).step_s;
        EXPECT_NEAR(engine_s(job, prepared), estimate_s, 1e-6 * estimate_s);
        EXPECT_GE(estimate_s, prepared.balanced->plan.seconds * (1 - 1e-9));
      }
    }
  }
}

TEST(UnequalLengths, EqualOnesAreTheJobWithoutLengths) {
  for (const Sharding sharding : {Sharding::none, Sharding::zero1, Sharding::zero3}) {
    for (const GradientOverlap overlap : {GradientOverlap::none, GradientOverlap::bucketed}) {
      Job job = unequal_job(1, 2, 4, LengthPolicy::fixed);
      job.layout.sharding = sharding;
      job.communication.overlap = overlap;
      job.calibration.overlap_slowdown = spec(0.1);
      job.lengths->distribution = {.median = 4096, .sigma = 0, .longest = 4096};
      Job plain = job;
      plain.lengths.reset();
      const PreparedIteration prepared = prepare_iteration(job);
      const PreparedIteration same = prepare_iteration(plain);
      const double expected_s = engine_s(plain, same);
      EXPECT_NEAR(engine_s(job, prepared), expected_s, 1e-9 * expected_s);
      EXPECT_NEAR(prepared.memory[0].total(), same.memory[0].total(), 1);
      EXPECT_DOUBLE_EQ(flops_per_step(job), flops_per_step(plain));
    }
  }
}

TEST(UnequalLengths, FlexibleGroupsAreNeverSlowerThanOneDegree) {
  RandomStream random(3, RandomPurpose::test, 0);
  for (int i = 0; i < 12; ++i) {
    Job job = unequal_job(1, 1 << random.below(3), 4, LengthPolicy::fixed);
    job.lengths->seed = i;
    job.lengths->distribution.sigma = 2 * random.uniform();
    const double fixed_s = lengths_step_s(job);
    job.lengths->policy = LengthPolicy::flexsp;
    EXPECT_LE(lengths_step_s(job), fixed_s * (1 + 1e-9));
  }
}

TEST(UnequalLengths, EveryRankComputesItsTokensOnce) {
  for (const LengthPolicy policy : kPolicies) {
    const Job job = unequal_job(1, 4, 2, policy);
    const PreparedIteration prepared = prepare_iteration(job);
    const std::vector<int> lengths = step_lengths(job);
    double tokens = 0;
    std::multiset<int> seen;
    for (const auto& round : prepared.balanced->plan.rounds) {
      for (const LengthPack& pack : round) {
        tokens += pack.tokens;
        seen.insert(pack.sequences.begin(), pack.sequences.end());
        EXPECT_LE(pack.first + pack.ranks, 8);
      }
    }
    EXPECT_DOUBLE_EQ(tokens, tokens_per_step(job));
    EXPECT_EQ(seen.size(), lengths.size());
    EXPECT_EQ(std::set<int>(seen.begin(), seen.end()).size(), lengths.size());
    EXPECT_EQ(iteration_plan(job, prepared, {}), iteration_plan(job, prepare_iteration(job), {}));
    Job other = job;
    other.lengths->seed = 8;
    EXPECT_NE(lengths_step_s(job), lengths_step_s(other));
  }
}

// Memory limits a pack: the prepared packs fit, and hardly more would.
TEST(UnequalLengths, PacksFillTheMemory) {
  Job job = unequal_job(1, 1, 8, LengthPolicy::flexsp);
  job.cluster.node.gpu.memory_bytes = spec(2e9);
  const double room = tokens_per_gpu(job);
  const PreparedIteration prepared = prepare_iteration(job);
  EXPECT_EQ(gpu_memory_excess(prepared.memory, job), "");
  for (const auto& round : prepared.balanced->plan.rounds) {
    for (const LengthPack& pack : round) EXPECT_LE(pack.tokens, room * pack.ranks);
  }
  job.cluster.node.gpu.memory_bytes = spec(4e9);
  EXPECT_GT(tokens_per_gpu(job), 1.5 * room);
}

Job scenario(const std::string& name, const Overrides& overrides) {
  return load_case(fmt::format("{}/scenarios/headlines/{}.yaml", WINDTUNNEL_SOURCE_DIR, name),
                   overrides)
      .job;
}

// bench/length_bench.cpp measures how long this takes.
TEST(UnequalLengths, AThousandGpusShareFourThousandSequences) {
  double fixed_s = 0;
  for (const char* policy : {"fixed", "hdp", "flexsp"}) {
    const Job job = scenario("flexsp", {{"cluster.nodes", "128"},
                                        {"batch.global", "4096"},
                                        {"layout.sharding", "zero1"},
                                        {"cluster.node.gpu", "a100-80"},
                                        {"layout.length_policy", policy}});
    const PreparedIteration prepared = prepare_iteration(job);
    const double step_s = estimate_iteration(job, prepared).step_s;
    EXPECT_GE(step_s, prepared.balanced->plan.seconds);
    if (fixed_s == 0) fixed_s = step_s;
    EXPECT_LE(step_s, fixed_s) << policy;
  }
}

// FlexSP reports up to 1.98 times the speed of the best static degree (arXiv 2412.01523).
TEST(UnequalLengths, FlexSpGainsOnLongTails) {
  const double fixed_s = lengths_step_s(scenario("flexsp", {}));
  const double flexible_s =
      lengths_step_s(scenario("flexsp", {{"layout.length_policy", "flexsp"}}));
  RecordProperty("gain", fmt::format("{:.3f}", fixed_s / flexible_s));
  fmt::print("flexsp: fixed {:.3f} s, flexible {:.3f} s, gain {:.3f}\n", fixed_s, flexible_s,
             fixed_s / flexible_s);
  EXPECT_GT(fixed_s / flexible_s, 1.05);
  EXPECT_LT(fixed_s / flexible_s, 1.98);
}

// ByteScale reports up to 7.89 times the speed of static degrees, with windows of up to 2M tokens
// (arXiv 2502.21231).
TEST(UnequalLengths, HybridDataParallelismGainsOnLongTails) {
  const Overrides zero1 = {{"layout.sharding", "zero1"}, {"cluster.node.gpu", "a100-80"}};
  const double fixed_s = lengths_step_s(scenario("flexsp", zero1));
  Overrides overrides = zero1;
  overrides.emplace_back("layout.length_policy", "hdp");
  const double mesh_s = lengths_step_s(scenario("flexsp", overrides));
  fmt::print("hdp: fixed {:.3f} s, hdp {:.3f} s, gain {:.3f}\n", fixed_s, mesh_s, fixed_s / mesh_s);
  EXPECT_GT(fixed_s / mesh_s, 1.647);  // the gain of packs filled to memory
  EXPECT_LT(fixed_s / mesh_s, 7.89);
}

std::string refusal(const Overrides& overrides) {
  return error_of([&] { scenario("flexsp", overrides); });
}

TEST(UnequalLengths, RefusalsNameTheKey) {
  const auto expect = [](const Overrides& overrides, const std::string& part) {
    EXPECT_NE(refusal(overrides).find(part), std::string::npos) << refusal(overrides);
  };
  expect({{"batch.lengths", "{median: 2000, longest: 400000}"}}, "batch.lengths: ");
  expect({{"batch.lengths", "{buckets: [{shortest: 1, longest: 9, share: 0.5}]}"}},
         "shares add up to 0.5");
  expect({{"batch.lengths", "{sigma: 1}"}}, "batch.lengths: has neither");
  expect({{"layout.length_policy", "flexsp"}, {"layout.context", "usp"}, {"layout.ulysses", "8"}},
         "layout.context usp");
  expect({{"layout.length_policy", "flexsp"}, {"batch.sequence", "1966080"}}, "batch.sequence: ");
  expect({{"schedule", "zb-h1"}}, "take gpipe, 1f1b, ");
  expect({{"layout.length_policy", "flexsp"}, {"layout.sharding", "none"}}, "layout.sharding: ");
}

}  // namespace
}  // namespace windtunnel
