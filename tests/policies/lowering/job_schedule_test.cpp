#include "policies/lowering/job_schedule.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "policies/evaluation/schedule_evaluator.hpp"
#include "policies/evaluation/schedule_validator.hpp"
#include "policies/lowering/unit_cost.hpp"
#include "tests/models/cost/cost_fixtures.hpp"
#include "tests/support/error_of.hpp"

namespace windtunnel {
namespace {

using ::testing::HasSubstr;

Job four_ranks(int sequence) {
  return test_job(llama3_8b(), {.pp = 4}, {.global = 8, .micro = 1, .sequence = sequence});
}

TEST(JobSchedule, CutsSlicesOfEqualWork) {
  Job job = four_ranks(65536);
  job.schedule.name = "terapipe";
  job.schedule.slices = 4;
  const auto chunks = chunk_costs(job);
  const Schedule schedule = job_schedule(job, chunks);
  ASSERT_NO_THROW(validate_schedule(schedule));
  ASSERT_EQ(schedule.slice_shares.size(), 4U);
  EXPECT_TRUE(std::is_sorted(schedule.slice_shares.rbegin(), schedule.slice_shares.rend()));
  Schedule equal = schedule;
  equal.slice_shares.clear();
  const auto makespan_s = [&](const Schedule& it) {
    return evaluate_schedule(it, stage_costs(unit_costs(job, it, chunks)), 0).makespan_s;
  };
  EXPECT_LT(makespan_s(schedule), makespan_s(equal));
  // The slices of the slowest stage, which has the loss, must be equal by the cost model, and not
  // by the generator's estimate.
  const auto costs = stage_costs(unit_costs(job, schedule, chunks));
  const double first_s = costs[12].forward_s + costs[12].backward_s();
  for (int slice = 1; slice < 4; ++slice) {
    EXPECT_NEAR(costs[12 + slice].forward_s + costs[12 + slice].backward_s(), first_s,
                0.02 * first_s);
  }
}

TEST(JobSchedule, SaysWhyItCannot) {
  const auto refusal = [](const Job& job) -> std::string {
    return error_of([&] { job_schedule(job, chunk_costs(job)); });
  };
  Job job = four_ranks(8192);
  job.schedule.name = "pre-recompute-1f1b";
  EXPECT_THAT(refusal(job), HasSubstr("chooses when to recompute, but nothing is"));
  job.recompute = Recompute::full;
  EXPECT_EQ(refusal(job), "no error");
  job.schedule.recompute_share = 1.5;
  EXPECT_THAT(refusal(job), HasSubstr("recompute_share must be from 0 to 1, not 1.5"));
  job.schedule = {};
  job.schedule.name = "1f1b";
  job.schedule.recompute_share = 0.5;
  EXPECT_EQ(refusal(job), "no error");
  job.recompute = Recompute::none;
  EXPECT_THAT(refusal(job), HasSubstr("recompute_share divides a recomputation"));
  job.schedule = {};
  job.schedule.name = "seq1f1b";
  job.schedule.slices = 10000;
  EXPECT_THAT(refusal(job), HasSubstr("8192 tokens cannot be cut into 10000 slices"));
}

}  // namespace
}  // namespace windtunnel
