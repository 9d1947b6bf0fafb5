// Tests of work that fills idle time: hidden work never lengthens a step, under any schedule and
// layout; a bubble shrinks by the work that fits; work that a step needs runs exposed where it
// must.
#include "policies/filling/fill_plan.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <set>

#include "models/base/error.hpp"
#include "models/base/random.hpp"
#include "models/results/iteration_report.hpp"
#include "models/workload/filling.hpp"
#include "policies/evaluation/plan_evaluation.hpp"
#include "policies/iteration.hpp"
#include "policies/schedules/schedules.hpp"
#include "sim/engine/engine.hpp"
#include "tests/support/small_job.hpp"

namespace windtunnel {
namespace {

Job with_work(Job job, std::vector<FillingWork> work, double margin = 0.05) {
  job.filling = std::make_shared<const Filling>(Filling{std::move(work), margin});
  return job;
}

FillingWork pieces_of(double piece_s, int pieces = 1) {
  FillingWork work;
  work.name = "other";
  work.piece_s = piece_s;
  work.pieces = pieces;
  return work;
}

struct Step {
  Plan plan;
  Timeline timeline;
  double seconds = 0;
};

Step executed(const Job& job, Plan plan) {
  Timeline timeline = execute(plan, job.cluster, {.calibration = job.calibration});
  const double seconds = iteration_s(job, plan, timeline);
  return {std::move(plan), std::move(timeline), seconds};
}

Job pipeline(int pp, int microbatches) {
  Job job = small_job(1, pp, 1);
  job.cluster = small_cluster(1, pp);
  job.schedule.name = "1f1b";
  job.batch.global = microbatches;
  return job;
}

double hidden_s(const FillingReport& report) {
  double sum = 0;
  for (const FilledRank& rank : report.ranks) sum += rank.filled_s;
  return sum / static_cast<double>(report.ranks.size());
}

double exposed_s(const FillingReport& report) {
  double sum = 0;
  for (const FilledWork& work : report.work) sum += work.exposed_s;
  return sum;
}

TEST(FillPlan, TheBubbleOfOneForwardOneBackwardFallsByWhatFits) {
  Job job = pipeline(8, 16);
  job.model.layers = 64;
  job.model.vocabulary = 1024;  // makes stages alike
  const PreparedIteration prepared = prepare_iteration(job);
  const Step plain = executed(job, iteration_plan(job, prepared));
  const double before = idle_share(plain.plan, plain.timeline, 0, plain.seconds);
  // The bubble is (p - 1) / (m + p - 1) of the step; messages and the optimizer add a little.
  EXPECT_NEAR(before, 7.0 / 23, 0.05);
  double last = before;
  for (const double piece_s : {0.3 * plain.seconds, 0.05 * plain.seconds, 0.001 * plain.seconds}) {
    job = with_work(job, {pieces_of(piece_s)}, 0);
    const FilledPlan filled = fill_plan(job, prepared.memory, plain.plan, plain.timeline);
    const Step after = executed(job, filled.plan);
    EXPECT_NEAR(after.seconds, plain.seconds, 1e-9 * plain.seconds);
    const double idle = idle_share(after.plan, after.timeline, 0, after.seconds);
    EXPECT_NEAR(idle, before - hidden_s(filled.report) / plain.seconds, 1e-9);
    EXPECT_LE(idle, last);
    last = idle;
  }
  EXPECT_LT(last, 0.03) << "small pieces leave next to nothing";
}

TEST(FillPlan, TheMarginStaysFree) {
  Job job = pipeline(4, 8);
  const PreparedIteration prepared = prepare_iteration(job);
  const Step plain = executed(job, iteration_plan(job, prepared));
  const auto filled_share = [&](double margin) {
    job = with_work(job, {pieces_of(1e-5 * plain.seconds)}, margin);
    const FilledPlan filled = fill_plan(job, {}, plain.plan, plain.timeline);
    return hidden_s(filled.report) / filled.report.ranks.front().idle_s;
  };
  EXPECT_NEAR(filled_share(0.5) / filled_share(0), 0.5, 0.01);
}

TEST(FillPlan, WorkThatAStepNeedsRunsToTheLastUnit) {
  Job job = pipeline(4, 8);
  const PreparedIteration prepared = prepare_iteration(job);
  const Step plain = executed(job, iteration_plan(job, prepared));
  FillingWork encoder = pieces_of(0.002 * plain.seconds, 10);
  encoder.need = FillingNeed::microbatch;
  for (const double units : {1.0, 5.0, 20.0}) {
    encoder.units = units;
    job = with_work(job, {encoder});
    const FilledPlan filled = fill_plan(job, prepared.memory, plain.plan, plain.timeline);
    const Step after = executed(job, filled.plan);
    const FilledWork& done = filled.report.work.front();
    EXPECT_DOUBLE_EQ(done.done, 8 * units);
    EXPECT_NEAR(after.seconds, plain.seconds + done.exposed_s, 1e-9 * plain.seconds);
    EXPECT_EQ(done.exposed > 0, units == 20);
    // The closed form gives the same step.
    EXPECT_NEAR(iteration_step_s(job, prepared), after.seconds, 1e-6 * after.seconds);
  }
}

TEST(FillPlan, NothingRunsWhereThereIsNoMemory) {
  Job job = pipeline(4, 8);
  const PreparedIteration prepared = prepare_iteration(job);
  const Step plain = executed(job, iteration_plan(job, prepared));
  FillingWork work = pieces_of(1e-4 * plain.seconds);
  work.resident_bytes = 1e12;
  job = with_work(job, {work});
  const FilledPlan filled = fill_plan(job, prepared.memory, plain.plan, plain.timeline);
  EXPECT_EQ(filled.plan, plain.plan);
  EXPECT_EQ(filled.report.work.front().left_out, "pipeline ranks 0 to 3 without memory for it");
  work.need = FillingNeed::step;
  job = with_work(job, {work});
  EXPECT_THROW(fill_plan(job, prepared.memory, plain.plan, plain.timeline), Error);
}

// A piece runs in those idle periods in which the schedule has released enough memory.
TEST(FillPlan, PiecesTakeMemoryThatActivationsLeave) {
  Job job = pipeline(4, 8);
  const PreparedIteration prepared = prepare_iteration(job);
  const Step plain = executed(job, iteration_plan(job, prepared));
  FillingWork work = pieces_of(1e-4 * plain.seconds);
  const double room = room_bytes(job, prepared.memory.front());
  work.resident_bytes = room;
  work.working_bytes = 0.5 * prepared.peak_activation_bytes.front();
  job = with_work(job, {work});
  const FilledPlan filled =
      fill_plan(job, {4, prepared.memory.front()}, plain.plan, plain.timeline);
  const Step after = executed(job, filled.plan);
  EXPECT_GT(hidden_s(filled.report), 0);
  for (const FilledRank& rank : filled.report.ranks) {
    EXPECT_LE(rank.memory_bytes, usable_bytes(job.cluster.node.gpu));
  }
  EXPECT_GT(filled.report.ranks.front().memory_s + filled.report.ranks.back().memory_s, 0);
  EXPECT_NEAR(after.seconds, plain.seconds, 1e-9 * plain.seconds);
}

// ---- any job ----

template <typename T>
T pick(RandomStream& random, std::initializer_list<T> values) {
  return values.begin()[random.below(values.size())];
}

Job random_job(RandomStream& random) {
  const auto& kinds = schedule_kinds();
  const ScheduleKind& kind = kinds[random.below(kinds.size())];
  const int pp = pick(random, {2, 4, 4, 8});
  Job job = small_job(pick(random, {1, 1, 2}), pp, pick(random, {1, 2, 4}), kind.usual_chunks);
  Layout& layout = job.layout;
  layout.sharding =
      pick(random, {Sharding::none, Sharding::zero1, Sharding::zero2, Sharding::zero3});
  job.model.layers = 16;
  const int per_node = pick(random, {4, 8});
  const int ranks = layout.ranks();
  const bool whole = ranks % per_node == 0;
  job.cluster = small_cluster(whole ? ranks / per_node : 1, whole ? per_node : ranks);
  job.cluster.node.nic_Bps = spec(pick(random, {3e9, 12.5e9, 50e9}));
  job.schedule.name = kind.name;
  job.schedule.slices = kind.usual_slices;
  job.batch.global = layout.dp * pp * (1 + static_cast<int>(random.below(3)));
  job.batch.sequence = 1024;
  job.communication.overlap =
      pick(random, {GradientOverlap::none, GradientOverlap::bucketed, GradientOverlap::wfbp});
  job.communication.bucket_bytes = 1e6 * (1 + random.below(60));
  job.communication.fidelity = pick(random, {Fidelity::closed, Fidelity::flows});
  job.software.sends = pick(random, {Sends::asynchronous, Sends::asynchronous, Sends::blocking});
  if (random.below(4) == 0) {
    job.cluster.slow_nodes = {{static_cast<int>(random.below(job.cluster.nodes)), 1.5}};
  }
  if (random.below(3) == 0) {
    job.cluster.jitter.sigma = 0.1;
    job.cluster.jitter.per = JitterPer::step;
  }
  if (random.below(3) == 0) job.communication.compressors.dp.name = pick(random, {"fp16", "topk"});
  return job;
}

Filling random_filling(RandomStream& random, double step_s) {
  Filling filling;
  filling.margin = pick(random, {0.0, 0.05, 0.3});
  const int works = 1 + static_cast<int>(random.below(3));
  for (int i = 0; i < works; ++i) {
    FillingWork work = pieces_of(step_s * std::pow(10, -4 + 3 * random.uniform()),
                                 1 + static_cast<int>(random.below(20)));
    work.need = pick(random, {FillingNeed::nothing, FillingNeed::nothing, FillingNeed::step,
                              FillingNeed::microbatch});
    work.switch_s = random.below(2) == 0 ? 0 : 1e-3 * step_s;
    filling.work.push_back(work);
  }
  return filling;
}

TEST(FillPlan, WhatIsHiddenNeverMakesAStepLonger) {
  constexpr int kJobs = 500;
  int filled_jobs = 0;
  std::set<std::string> schedules;
  int seen = 0;
  for (std::uint64_t i = 0; seen < kJobs && i < 5 * kJobs; ++i) {
    RandomStream random(20261201, RandomPurpose::test, i);
    Job job = random_job(random);
    std::optional<PreparedIteration> prepared;
    try {
      prepared = prepare_iteration(job);
    } catch (const Error&) {
      continue;  // the schedule has no such shape
    }
    ++seen;
    const IterationPlanOptions options{.draw = static_cast<int>(random.below(3))};
    const Step plain = executed(job, iteration_plan(job, *prepared, options));
    job.filling = std::make_shared<const Filling>(random_filling(random, plain.seconds));
    const FilledPlan filled = fill_plan(job, prepared->memory, plain.plan, plain.timeline);
    validate_plan(filled.plan);
    const Step after = executed(job, filled.plan);
    const double most_s = plain.seconds + exposed_s(filled.report);
    ASSERT_LE(after.seconds, most_s * (1 + 1e-9)) << fmt::format(
        "job {}: {} pp {} dp {}", i, job.schedule.name, job.layout.pp, job.layout.dp);
    if (hidden_s(filled.report) == 0) continue;
    ++filled_jobs;
    schedules.insert(job.schedule.name);
  }
  EXPECT_EQ(seen, kJobs);
  EXPECT_GT(filled_jobs, kJobs * 3 / 4);
  EXPECT_GE(schedules.size(), 20U);
}

}  // namespace
}  // namespace windtunnel
