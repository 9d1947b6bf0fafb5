// A policy that assigns sequences to ranks is never slower than any policy whose assignments it may
// choose. Random jobs are estimated as searches and reports do: 200 in every run of the tests,
// 2,000 in long ones.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>

#include "models/base/error.hpp"
#include "models/base/random.hpp"
#include "models/cost/offload/offload.hpp"
#include "policies/conflicts/conflict.hpp"
#include "policies/iteration.hpp"
#include "policies/lengths/length_plan.hpp"
#include "tests/support/small_job.hpp"

namespace windtunnel {
namespace {

constexpr int kJobs = 2000;
constexpr int kBlocks = 10;

class LengthDraw {
 public:
  explicit LengthDraw(int number) : random_(20261129, RandomPurpose::test, number) {}

  Job job() {
    Job job = small_job(1 << below(2), 1 << below(3), 1 << below(3));
    job.model.layers = 4 << below(2);
    job.layout.cp = 1 << below(4);
    job.layout.sharding = static_cast<Sharding>(below(4));
    job.layout.context = below(2) == 0 ? ContextForm::ring : ContextForm::ulysses;
    const int gpus = job.layout.ranks();
    job.cluster = small_cluster(std::max(1, gpus / 8), std::min(gpus, 8));
    job.cluster.node.gpu.memory_bytes = spec((2 << below(5)) * 1e9);
    job.cluster.node.nic_Bps = spec(25e9 / (1 << below(4)));
    job.batch = {job.layout.dp * (1 + below(24)), 1, 1024 << below(6)};
    job.lengths = {{.median = 100.0 * (1 + below(20)),
                    .sigma = 2 * random_.uniform(),
                    .longest = double(job.batch.sequence)},
                   LengthPolicy::fixed,
                   std::uint64_t(below(1000))};
    draw_schedule(job);
    if (below(5) == 0) {
      job.model.moe = {.experts = 8, .per_token = 2, .ffn_hidden = 1024};
      job.layout.ep = 1 << below(4);
    }
    if (below(5) == 0) {
      Offload offload;
      offload.activations = MemoryTier::host;
      job.offload = std::make_shared<const Offload>(offload);
    }
    return job;
  }

 private:
  int below(int count) { return static_cast<int>(random_.below(count)); }

  void draw_schedule(Job& job) {
    constexpr std::array kNames = {"1f1b", "1f1b", "eager-1f1b", "gpipe", "2bp", "seq1f1b"};
    if (job.layout.pp == 1) return;
    job.schedule.name = kNames[below(kNames.size())];
    if (job.schedule.name == "seq1f1b") job.schedule.slices = 1 << below(3);
  }

  RandomStream random_;
};

// Returns nothing if the job is refused.
std::optional<double> step_s(Job job, LengthPolicy policy) {
  job.lengths->policy = policy;
  std::optional<PreparedIteration> prepared;
  try {
    prepared = prepare_iteration(job);
  } catch (const Error&) {
    return std::nullopt;
  }
  validate_plan(iteration_plan(job, *prepared));
  return iteration_step_s(job, *prepared);
}

// Whether memory holds the fixed assignment, so that the other policies may choose it.
bool may_choose_fixed(const Job& job) {
  const double tokens = double(job.batch.micro) * job.batch.sequence / job.layout.cp;
  return tokens <= tokens_per_gpu(job);
}

// Whether a row of the table of conflicts refuses the policy for this job.
bool has_no_policy(Job job, LengthPolicy policy) {
  job.lengths->policy = policy;
  return first_refusal(length_conflicts(), job).has_value();
}

class LengthPolicies : public testing::TestWithParam<int> {};

TEST_P(LengthPolicies, NeverLoseToWhatTheyMayChoose) {
  int compared = 0;
  for (int number = GetParam() * (kJobs / kBlocks); number < (GetParam() + 1) * (kJobs / kBlocks);
       ++number) {
    const Job job = LengthDraw(number).job();
    SCOPED_TRACE(fmt::format("job {}: tp {} cp {} pp {} dp {} ep {} {}", number, job.layout.tp,
                             job.layout.cp, job.layout.pp, job.layout.dp, job.layout.ep,
                             job.schedule.name));
    const std::optional<double> fixed_s = step_s(job, LengthPolicy::fixed);
    for (const LengthPolicy policy : {LengthPolicy::flexsp, LengthPolicy::hdp}) {
      if (!fixed_s || !may_choose_fixed(job)) continue;
      const std::optional<double> chosen_s = step_s(job, policy);
      if (!chosen_s) {
        EXPECT_TRUE(has_no_policy(job, policy)) << "refused what it may choose";
        continue;
      }
      EXPECT_LE(*chosen_s, *fixed_s * (1 + 1e-9));
      ++compared;
    }
  }
  // The first block compares 294 of 400 jobs; the others are refused, or memory does not hold the
  // fixed assignment.
  EXPECT_GT(compared, 1.2 * kJobs / kBlocks) << "many are refused";
  RecordProperty("compared", compared);
}

INSTANTIATE_TEST_SUITE_P(Blocks, LengthPolicies, testing::Range(0, 1));
INSTANTIATE_TEST_SUITE_P(ManyBlocks, LengthPolicies, testing::Range(1, kBlocks));

}  // namespace
}  // namespace windtunnel
