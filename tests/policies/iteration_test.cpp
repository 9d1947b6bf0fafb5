#include "policies/iteration.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "models/base/error.hpp"
#include "models/cost/memory/memory.hpp"
#include "policies/schedules/schedules.hpp"
#include "tests/support/small_job.hpp"

namespace windtunnel {
namespace {

// Two of four ranks share a sequence as long as the window; sequences of half that length are
// packed.
Job unequal_job() {
  Job job = small_job(1, 1, 2);
  job.layout.cp = 2;
  job.cluster = small_cluster(1, 4);
  job.batch = {8, 1, 4096};
  job.lengths = {{.buckets = {{2048, 2048, 1}}}, LengthPolicy::fixed, 7};
  return job;
}

TEST(Iteration, LengthsThatAreAllAlikeMakeThePassesOfMicroBatches) {
  const Job unequal = unequal_job();
  Job alike = unequal;
  alike.lengths.reset();
  const PreparedIteration packs = prepare_iteration(unequal);
  const PreparedIteration microbatches = prepare_iteration(alike);
  EXPECT_NE(packs.balanced, nullptr);
  EXPECT_EQ(microbatches.balanced, nullptr);
  const auto forwards = [](const Plan& plan) {
    std::set<int> units;
    for (const Task& task : plan.classes.front().tasks) {
      if (task.category == Category::forward) units.insert(task.microbatch);
    }
    return units.size();
  };
  // Eight sequences make packs of two on two pairs of ranks; without lengths, eight windows go to
  // two replicas.
  EXPECT_EQ(forwards(iteration_plan(unequal, packs)), 2U);
  EXPECT_EQ(forwards(iteration_plan(alike, microbatches)), 4U);
  EXPECT_LT(estimate_iteration(unequal, packs).step_s,
            estimate_iteration(alike, microbatches).step_s);
}

TEST(Iteration, OnlyUnequalSequencesAskSomethingOfTheRest) {
  Job job = unequal_job();
  EXPECT_NO_THROW(check_sequences(job));
  job.batch.sequence = 1024;
  EXPECT_THROW(check_sequences(job), Error);
  EXPECT_THROW(prepare_iteration(job), Error);
  job.lengths.reset();
  EXPECT_NO_THROW(check_sequences(job));
  EXPECT_NO_THROW(prepare_iteration(job));
}

// `optimise` skips configurations whose least step time is too long; no schedule may go below it.
TEST(Iteration, NoScheduleGoesBelowTheLeast) {
  const auto check = [](const LeastIteration& at_least, const Job& job,
                        const PreparedIteration& prepared) {
    EXPECT_LE(at_least.step_s, estimate_iteration(job, prepared).step_s * (1 + 1e-9));
    EXPECT_LE(fullest_bytes(at_least.memory), fullest_bytes(prepared.memory) * (1 + 1e-9));
    EXPECT_GT(fullest_bytes(at_least.memory), 0);
  };
  Job job = small_job(1, 4, 2);
  job.model.layers = 32;
  job.layout.sharding = Sharding::none;
  int checked = 0;
  for (const ScheduleKind& kind : schedule_kinds()) {
    if (kind.asynchronous) continue;
    // Some schedules always recompute, others never do.
    for (const Recompute recompute : {Recompute::none, Recompute::full}) {
      job.recompute = recompute;
      job.layout.vpp = 1;
      const LeastIteration at_least = least_iteration(job);
      EXPECT_GT(at_least.step_s, 0);
      Job scheduled = job;
      scheduled.schedule.name = kind.name;
      scheduled.schedule.slices = kind.usual_slices;
      scheduled.layout.vpp = kind.usual_chunks;
      SCOPED_TRACE(kind.name);
      try {
        check(at_least, scheduled, prepare_iteration(scheduled));
        ++checked;
      } catch (const Error&) {
        continue;
      }
    }
  }
  EXPECT_GT(checked, 30);
  Job unequal = unequal_job();
  unequal.lengths->distribution.buckets = {{256, 256, 1}};  // kernels far shorter than a window's
  check(least_iteration(unequal), unequal, prepare_iteration(unequal));
}

// Packs hold sequences of any lengths, and as many as micro-batches of any size do.
TEST(Iteration, NoScheduleOfPacksGoesBelowTheLeastMemory) {
  Job job = small_job(1, 2, 2);
  job.model.layers = 8;
  job.batch = {32, 1, 4096};
  double nearest = 0;
  for (const int micro : {1, 4, 16}) {
    for (const double sigma : {0.2, 1.4}) {
      job.batch.micro = micro;
      job.lengths = {{.median = 600, .sigma = sigma, .longest = 4096}, LengthPolicy::fixed, 7};
      job.layout.vpp = 1;
      job.schedule = {};
      const double least = fullest_bytes(least_iteration(job).memory);
      SharedPacks packs;
      for (const char* name : {"gpipe", "1f1b", "interleaved-1f1b", "seq1f1b", "terapipe"}) {
        SCOPED_TRACE(std::string(name) + ", " + std::to_string(micro));
        Job scheduled = job;
        scheduled.schedule.name = name;
        scheduled.schedule.slices = schedule_kind(scheduled.schedule).usual_slices;
        scheduled.layout.vpp = schedule_kind(scheduled.schedule).usual_chunks;
        const PreparedIteration prepared = prepare_iteration(scheduled);
        const double held = fullest_bytes(prepared.memory);
        EXPECT_LE(least, held * (1 + 1e-9));
        nearest = std::max(nearest, least / held);
        // Packs that were made for another schedule equal those that the schedule makes itself.
        const PreparedIteration again = prepare_iteration(scheduled, nullptr, packs);
        EXPECT_EQ(iteration_step_s(scheduled, again), iteration_step_s(scheduled, prepared));
        EXPECT_EQ(fullest_bytes(again.memory), held);
        packs = prepared.balanced;
      }
    }
  }
  EXPECT_GT(nearest, 0.8);
}

// Derivatives of a fit rely on this: repricing equals a new preparation, if costs do not decide the
// order.
TEST(Iteration, ARepricedJobTakesWhatItTakesPreparedAnew) {
  std::vector<Job> jobs = {unequal_job()};
  for (const char* schedule : {"1f1b", "gpipe", "zb-h1"}) {
    jobs.push_back(small_job(2, 4, 2));
    jobs.back().schedule.name = schedule;
  }
  for (Job& job : jobs) {
    PreparedIteration prepared = prepare_iteration(job);
    const double before_s = repriced_step_s(job, prepared);
    EXPECT_EQ(before_s, estimate_iteration(job, prepare_iteration(job)).step_s);
    job.calibration.kernel_sustained.value *= 0.7;
    job.calibration.nic_efficiency.value *= 0.5;
    const double after_s = repriced_step_s(job, prepared);
    EXPECT_GT(after_s, before_s);
    EXPECT_EQ(after_s, estimate_iteration(job, prepare_iteration(job)).step_s);
  }
}

TEST(Iteration, PartsThatDoNotGoTogetherAreRefused) {
  Job job = small_job(1, 2, 4);
  job.layout.dp = 3;
  EXPECT_THROW(prepare_iteration(job), Error);
  job = small_job(1, 2, 4);
  job.schedule.recompute_share = 0.5;  // nothing is recomputed
  EXPECT_THROW(prepare_iteration(job), Error);
  EXPECT_THROW(prepare_checked(job), Error);
}

}  // namespace
}  // namespace windtunnel
