#include "policies/evaluation/schedule_evaluator.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <optional>
#include <tuple>

#include "models/base/error.hpp"
#include "models/base/random.hpp"
#include "policies/evaluation/schedule_validator.hpp"
#include "policies/schedules/schedules.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/random_schedule.hpp"

namespace windtunnel {
namespace {

constexpr int kSamples = 300;

struct Sample {
  Schedule schedule;
  std::vector<StageCost> stages;
  double message_s = 0;
};

// Stages are equal: a rank's share costs `rank`, each of its v chunks 1/v of that.
std::vector<StageCost> equal_stages(const Schedule& schedule, const StageCost& rank) {
  const double share = 1.0 / schedule.chunks;
  return std::vector<StageCost>(
      schedule.stages(),
      {rank.forward_s * share, rank.backward_input_s * share, rank.backward_weight_s * share,
       rank.activation * share, rank.weight_activation * share});
}

Schedule random_classic(RandomStream& random) {
  const ScheduleKind& kind =
      schedule_kind(std::array{"gpipe", "1f1b", "interleaved-1f1b"}[random.below(3)]);
  const int ranks = 1 + static_cast<int>(random.below(9));
  int microbatches = 1 + static_cast<int>(random.below(30));
  const bool interleaved = kind.name == "interleaved-1f1b";
  // With more than one group of micro-batches only whole groups are used, because others may be
  // impossible.
  if (interleaved && microbatches > ranks) microbatches -= microbatches % ranks;
  const int chunks = interleaved ? 2 + static_cast<int>(random.below(4)) : 1;
  return kind.generate({.ranks = ranks, .microbatches = microbatches, .chunks = chunks});
}

// Every stage has different costs; some draws split the backwards and move W behind the next action
// of the rank.
Sample random_sample(int index) {
  RandomStream random(1, RandomPurpose::test, index);
  Sample sample;
  sample.schedule = random_classic(random);
  for (int stage = 0; stage < sample.schedule.stages(); ++stage) {
    sample.stages.push_back({random.uniform(), random.uniform(), random.uniform(),
                             1 + random.uniform(), random.uniform()});
  }
  sample.message_s = random.below(2) == 0 ? 0 : 0.3 * random.uniform();
  if (random.below(2) == 0) {
    for (auto& actions : sample.schedule.actions) {
      std::vector<Action> split;
      std::vector<Action> pending;
      for (Action action : actions) {
        if (action.kind != ActionKind::backward) {
          split.push_back(action);
          continue;
        }
        action.kind = ActionKind::backward_input;
        split.push_back(action);
        split.insert(split.end(), pending.begin(), pending.end());
        action.kind = ActionKind::backward_weight;
        pending = {action};
      }
      split.insert(split.end(), pending.begin(), pending.end());
      actions = split;
    }
  }
  return sample;
}

// A slow, obvious executor: it raises every time to what its predecessors demand until nothing
// changes. Without `sends` every message is a pure delay.
class Relaxation {
 public:
  Relaxation(const ScheduleSample& sample, std::optional<Sends> sends)
      : sample_(sample), schedule_(sample.schedule), sends_(sends) {
    for (const auto& actions : schedule_.actions) spans_.emplace_back(actions.size());
  }

  ScheduleSpans run() {
    do {
      changed_ = false;
      for (int rank = 0; rank < schedule_.ranks; ++rank) pass(rank);
    } while (changed_);
    return spans_;
  }

 private:
  using Result = std::tuple<bool, int, int>;  // gradient or not, stage, unit

  void pass(int rank) {
    double free_s = 0;
    double sent_s = 0;
    std::vector<Result> outgoing;
    const auto& actions = schedule_.actions[rank];
    for (size_t i = 0; i < actions.size(); ++i) {
      std::vector<Action> parts = {actions[i]};
      if (actions[i].with_next) parts.push_back(actions[i + 1]);
      double start_s = free_s;
      if (sends_ == Sends::blocking) start_s = std::max(start_s, sent_s);
      for (const Action& part : parts) {
        const int source = sample_.other_stage(part, -1);
        if (source < 0) continue;
        const Result input{part.kind != ActionKind::forward, source, part.unit};
        raise(posted_s_[input], free_s);
        start_s = std::max(start_s, there_s_[input]);
      }
      for (const Result& result : outgoing) start_s = std::max(start_s, there_s_[result]);
      outgoing.clear();
      const double seconds = parts.size() == 1
                                 ? sample_.seconds(parts[0])
                                 : overlapped_s(sample_.cost(parts[0]), sample_.cost(parts[1]),
                                                !sample_.schedule.explicit_recompute);
      free_s = start_s + seconds;
      for (const Action& part : parts) {
        changed_ |= spans_[rank][i].end_s != free_s;
        spans_[rank][i] = {start_s, free_s};
        deliver(part, rank, free_s, sent_s, outgoing);
        if (&part != &parts.back()) ++i;
      }
    }
  }

  void deliver(const Action& action, int rank, double made_s, double& sent_s,
               std::vector<Result>& outgoing) {
    const int target = sample_.other_stage(action, 1);
    if (target < 0) return;
    const Result result{action.kind != ActionKind::forward, action.stage, action.unit};
    double there_s = made_s;
    if (schedule_.rank_of_stage[target] != rank) {
      if (sends_ == Sends::synchronous) {
        there_s = std::max(made_s, posted_s_[result]);
        outgoing.push_back(result);
      } else if (sends_) {
        there_s = std::max(made_s, sent_s);
      }
      there_s += sample_.message_s;
      if (sends_) sent_s = there_s;
    }
    raise(there_s_[result], there_s);
  }

  void raise(double& time_s, double to_s) {
    changed_ |= time_s != to_s;
    time_s = to_s;
  }

  const ScheduleSample& sample_;
  const Schedule& schedule_;
  const std::optional<Sends> sends_;
  ScheduleSpans spans_;
  std::map<Result, double> there_s_;
  std::map<Result, double> posted_s_;
  bool changed_ = true;
};

TEST(ScheduleEvaluator, OneRankByHand) {
  const Schedule schedule = generate_schedule("gpipe", 1, 2, 1);
  ScheduleSpans spans;
  const ScheduleEvaluation evaluation = evaluate_schedule(schedule, {{2, 3, 1, 5, 0}}, 10, &spans);
  EXPECT_EQ(evaluation.makespan_s, 12);
  EXPECT_EQ(evaluation.busy_s, std::vector<double>{12});
  EXPECT_EQ(evaluation.peak_activation, std::vector<double>{10});
  EXPECT_EQ(evaluation.bubble_makespan_s(), 0);
  EXPECT_EQ(evaluation.bubble_longest_stage_rate(), 0);
  ASSERT_EQ(spans[0].size(), 4U);
  EXPECT_EQ(spans[0][2].start_s, 4);
  EXPECT_EQ(spans[0][2].end_s, 8);
}

TEST(ScheduleEvaluator, NoWorkHasNoBubble) {
  const auto evaluation =
      evaluate_schedule(generate_schedule("1f1b", 2, 2, 1), std::vector<StageCost>(2), 0);
  EXPECT_EQ(evaluation.makespan_s, 0);
  EXPECT_EQ(evaluation.bubble_longest_stage_rate(), 0);
}

// 1f1b on two ranks with two micro-batches, F = 1, B = 2 and messages of 0.5 runs as follows:
// rank 0: F0 0-1, F1 1-2, B0 5-7 (4.5 + 0.5), B1 8-10
// rank 1: F0 1.5-2.5, B0 2.5-4.5, F1 4.5-5.5, B1 5.5-7.5
TEST(ScheduleEvaluator, TwoRanksByHand) {
  const Schedule schedule = generate_schedule("1f1b", 2, 2, 1);
  ScheduleSpans spans;
  const ScheduleEvaluation evaluation =
      evaluate_schedule(schedule, {{1, 1, 1, 3, 0}, {1, 1, 1, 4, 0}}, 0.5, &spans);
  EXPECT_EQ(spans[0][2].start_s, 5);
  EXPECT_EQ(spans[1][0].start_s, 1.5);
  EXPECT_EQ(spans[1][3].start_s, 5.5);
  EXPECT_EQ(evaluation.makespan_s, 10);
  EXPECT_EQ(evaluation.longest_stage_s, 10);
  EXPECT_EQ(evaluation.bubble_makespan_s(), 4);
  EXPECT_DOUBLE_EQ(evaluation.bubble_longest_stage_rate(), 0.4);
  EXPECT_EQ(evaluation.peak_activation, (std::vector<double>{6, 4}));
}

// GPipe on two ranks with two micro-batches, F = 1, B = 2 and messages of 3, which are sent one
// after the other, runs as follows:
//   rank 0: F0 0-1, F1 1-2; sends until 4 and 7
//   rank 1: F0 4-5, F1 7-8, B1 8-10, B0 10-12; sends until 13 and 16
//   rank 0: B1 13-15, B0 16-18
TEST(ScheduleEvaluator, MessagesQueue) {
  const Schedule schedule = generate_schedule("gpipe", 2, 2, 1);
  const std::vector<StageCost> stages = {{1, 1, 1, 1, 0}, {1, 1, 1, 1, 0}};
  const auto queued = evaluate_schedule(schedule, stages, {.messages = {{{3}, {3}}}});
  EXPECT_EQ(queued.makespan_s, 18);
  EXPECT_EQ(queued.busy_s, (std::vector<double>{6, 6}));
}

// If 2 of each message's 3 are latency, during which the next one is sent, it runs as follows:
//   rank 1: F0 4-5, F1 5-6, B1 6-8, B0 8-10
//   rank 0: B1 11-13, B0 13-15
TEST(ScheduleEvaluator, MessagesOnTheirWayKeepNoLinkBusy) {
  const Schedule schedule = generate_schedule("gpipe", 2, 2, 1);
  const std::vector<StageCost> stages = {{1, 1, 1, 1, 0}, {1, 1, 1, 1, 0}};
  const SideStreams beside{.messages = {{{3}, {3}, 2}}};
  EXPECT_EQ(evaluate_schedule(schedule, stages, beside).makespan_s, 15);
}

// One rank runs F = 2 and B = 4 in two pieces, each followed by a reduction of 3: the reductions
// end at 4 + 3 and at 7 + 3, instead of 6 + 3. Then the norm takes 0.5 and the optimizer 5.
TEST(ScheduleEvaluator, CollectivesRunBeside) {
  const Schedule schedule = generate_schedule("1f1b", 1, 1, 1);
  constexpr double kNever = ActionMap::kNever;
  ActionMap plain;
  plain.later_s = {
      {{0, kNever, kNever, kNever}, {kNever, 2, kNever, kNever}, {kNever, kNever, 0, kNever}}};
  StageMaps maps;
  maps.last_backward.later_s = {
      {{kNever, 2, kNever, kNever}, {kNever, 4, kNever, kNever}, {kNever, 5, 3, kNever}}};
  maps.last_backward.reduce_s = 3;
  const CollectivesBeside collectives{
      .stages = {&maps}, .first_forwards = {plain}, .pairs = {}, .gathers_s = {0}};
  const IterationEnd end{{0}, {0}, {0}, {5}, 0.5};
  const SideStreams beside{.messages = {{{0}, {0}}}, .collectives = &collectives, .end = &end};
  std::vector<double> ends_s;
  const auto evaluation = evaluate_schedule(schedule, {{2, 2, 2, 1, 0}}, beside, &ends_s);
  EXPECT_EQ(evaluation.makespan_s, 10 + 0.5 + 5);
  EXPECT_EQ(ends_s, std::vector<double>{10});
}

// The loop is compiled in several forms for what runs beside the passes: with collectives that take
// no time, and with messages that take none, each form must give the same result as the plain one.
TEST(ScheduleEvaluator, AllFormsOfTheLoopAgree) {
  int compared = 0;
  for (const ScheduleKind& kind : schedule_kinds()) {
    if (kind.asynchronous) continue;
    ScheduleRequest request{.ranks = 4, .microbatches = 8, .chunks = kind.usual_chunks};
    request.costs.assign(std::size_t(4) * request.chunks, {1, 1.25, 0.75, 1, 0.5});
    Schedule schedule;
    try {
      schedule = generate_schedule(kind, request);
    } catch (const Error&) {
      continue;  // wants other numbers
    }
    if (schedule.slices > 1) continue;
    const std::vector<StageCost> costs(schedule.model_stages(), {1, 1.25, 0.75, 1, 0.5});
    const auto whole = [](double seconds) {
      ActionMap map;
      for (auto& row : map.later_s) row.fill(ActionMap::kNever);
      map.later_s[0][0] = map.later_s[2][2] = 0;
      map.later_s[1][1] = seconds;
      map.whole = true;
      return map;
    };
    std::vector<StageMaps> maps;
    CollectivesBeside collectives;
    collectives.gathers_s.assign(schedule.ranks, 0);
    const auto times = stage_times(schedule, costs, {{0.125}, {0.125}}, {});
    maps.reserve(times.size());
    for (const StageTimes& at : times) {
      maps.push_back({whole(at.forward_s), whole(at.backward_s), whole(at.backward_input_s),
                      whole(at.backward_weight_s), whole(at.backward_s),
                      whole(at.backward_weight_s), whole(at.recompute_s)});
      collectives.stages.push_back(&maps.back());
      collectives.first_forwards.push_back(maps.back().forward);
      collectives.first_forwards.back().whole = false;  // the map says the same
    }
    const bool pairs = std::ranges::any_of(schedule.actions, [](const auto& actions) {
      return std::ranges::any_of(actions, &Action::with_next);
    });
    if (pairs) continue;
    const std::vector<double> none(schedule.ranks, 0);
    std::vector<int> self(schedule.ranks);
    std::iota(self.begin(), self.end(), 0);
    const IterationEnd end{none, self, none, none, 0};
    SideStreams beside{.messages = {{{0.125}, {0.125}}}};
    const ScheduleEvaluation alone = evaluate_schedule(schedule, costs, beside);
    beside.collectives = &collectives;
    beside.end = &end;
    const ScheduleEvaluation with = evaluate_schedule(schedule, costs, beside);
    EXPECT_EQ(with.makespan_s, alone.makespan_s) << kind.name;
    EXPECT_EQ(with.busy_s, alone.busy_s) << kind.name;
    EXPECT_EQ(with.peak_activation, alone.peak_activation) << kind.name;
    const ScheduleEvaluation idle = evaluate_schedule(schedule, costs, 0);
    for (const Sends sends : {Sends::asynchronous, Sends::blocking}) {
      const SideStreams short_ones{.messages = {{{0}, {0}}, sends}};
      EXPECT_EQ(evaluate_schedule(schedule, costs, short_ones).makespan_s, idle.makespan_s)
          << kind.name;
    }
    ++compared;
  }
  EXPECT_GT(compared, 8);
}

TEST(ScheduleEvaluator, SplitBackwardKeepsItsPartUntilW) {
  Schedule schedule = generate_schedule("1f1b", 1, 2, 1);
  schedule.actions[0] = {{ActionKind::forward, 0, 0},         {ActionKind::backward_input, 0, 0},
                         {ActionKind::forward, 0, 1},         {ActionKind::backward_input, 0, 1},
                         {ActionKind::backward_weight, 0, 0}, {ActionKind::backward_weight, 0, 1}};
  validate_schedule(schedule);
  const auto evaluation = evaluate_schedule(schedule, {{1, 1, 1, 1, 0.25}}, 0);
  EXPECT_EQ(evaluation.makespan_s, 6);
  EXPECT_EQ(evaluation.peak_activation[0], 1.25);
}

TEST(ScheduleEvaluator, NamesRankAndActionOfADeadlock) {
  Schedule schedule = generate_schedule("1f1b", 2, 2, 1);
  const auto action = [](ActionKind kind, int stage, int microbatch) {
    return Action{kind, stage, microbatch};
  };
  schedule.actions[0] = {action(ActionKind::forward, 0, 0), action(ActionKind::backward, 0, 0),
                         action(ActionKind::forward, 0, 1), action(ActionKind::backward, 0, 1)};
  schedule.actions[1] = {action(ActionKind::forward, 1, 1), action(ActionKind::backward, 1, 1),
                         action(ActionKind::forward, 1, 0), action(ActionKind::backward, 1, 0)};
  validate_schedule(schedule);
  EXPECT_EQ(error_of([&] {
              evaluate_schedule(schedule, {{1, 1, 1, 1, 0}, {1, 1, 1, 1, 0}}, 0);
            }),
            "schedule '1f1b' deadlocks: rank 0 waits at its action 2 (0B0) for the input "
            "gradient of stage 1, micro-batch 0 from rank 1");
}

TEST(ScheduleEvaluator, ChecksItsInput) {
  const Schedule schedule = generate_schedule("1f1b", 2, 2, 1);
  EXPECT_THROW(evaluate_schedule(schedule, {{1, 1, 1, 1, 0}}, 0), InternalError);
  EXPECT_THROW(evaluate_schedule(schedule, {{1, 1, 1, 1, 0}, {-1, 1, 1, 1, 0}}, 0), InternalError);
  EXPECT_THROW(evaluate_schedule(schedule, {{1, 1, 1, 1, 0}, {1, 1, 1, 1, 0}}, -1), InternalError);
}

double makespan_of(const ScheduleSpans& spans) {
  double makespan_s = 0;
  for (const auto& of_rank : spans) {
    for (const ActionSpan& span : of_rank) makespan_s = std::max(makespan_s, span.end_s);
  }
  return makespan_s;
}

TEST(ScheduleEvaluator, AgreesWithRelaxationUnderEverySchedule) {
  int compared = 0;
  for (size_t k = 0; k < schedule_kinds().size(); ++k) {
    for (int index = 0; index < 10; ++index) {
      RandomStream random(4 + k, RandomPurpose::test, index);
      const auto sample = random_schedule(schedule_kinds()[k], random);
      if (!sample) continue;
      SCOPED_TRACE(fmt::format("{} {}", schedule_kinds()[k].name, index));
      validate_schedule(sample->schedule);
      ScheduleSpans spans;
      const ScheduleEvaluation evaluation =
          evaluate_schedule(sample->schedule, sample->costs, sample->message_s, &spans);
      EXPECT_EQ(peak_activations(sample->schedule, sample->costs), evaluation.peak_activation);
      const ScheduleSpans expected = Relaxation(*sample, std::nullopt).run();
      for (int rank = 0; rank < sample->schedule.ranks; ++rank) {
        ASSERT_EQ(spans[rank].size(), expected[rank].size());
        for (size_t i = 0; i < spans[rank].size(); ++i) {
          ASSERT_NEAR(spans[rank][i].start_s, expected[rank][i].start_s, 1e-9) << rank << " " << i;
          ASSERT_NEAR(spans[rank][i].end_s, expected[rank][i].end_s, 1e-9) << rank << " " << i;
        }
      }
      for (const Sends sends : {Sends::asynchronous, Sends::blocking, Sends::synchronous}) {
        const SideStreams beside{.messages = {{{sample->message_s}, {sample->message_s}}, sends}};
        double makespan_s = 0;
        try {
          makespan_s = evaluate_schedule(sample->schedule, sample->costs, beside).makespan_s;
        } catch (const Error&) {
          continue;  // tests/sim/engine/pipeline_test.cpp has them
        }
        ++compared;
        EXPECT_NEAR(makespan_s, makespan_of(Relaxation(*sample, sends).run()), 1e-9) << int(sends);
      }
    }
  }
  EXPECT_GT(compared, 300);
}

TEST(ScheduleEvaluator, StaysAboveTheLowerBounds) {
  for (int index = 0; index < kSamples; ++index) {
    const Sample sample = random_sample(index);
    const Schedule& schedule = sample.schedule;
    const auto evaluation = evaluate_schedule(schedule, sample.stages, sample.message_s);
    std::vector<double> work_s(schedule.ranks, 0);
    double path_s = 0;  // of one micro-batch, through all stages and back
    for (int stage = 0; stage < schedule.stages(); ++stage) {
      const StageCost& cost = sample.stages[stage];
      path_s += cost.forward_s + cost.backward_input_s;
      const int rank = schedule.rank_of_stage[stage];
      work_s[rank] +=
          schedule.microbatches * (cost.forward_s + cost.backward_input_s + cost.backward_weight_s);
      if (stage > 0 && schedule.ranks > 1) path_s += 2 * sample.message_s;
    }
    EXPECT_GE(evaluation.makespan_s, path_s * (1 - 1e-12));
    EXPECT_GE(evaluation.makespan_s, evaluation.longest_stage_s);
    EXPECT_GE(evaluation.longest_stage_s, evaluation.max_busy_s() * (1 - 1e-12));
    for (int rank = 0; rank < schedule.ranks; ++rank) {
      EXPECT_NEAR(evaluation.busy_s[rank], work_s[rank], 1e-9 * work_s[rank]);
    }
  }
}

TEST(ScheduleEvaluator, MoreWorkIsNeverFaster) {
  for (int index = 0; index < kSamples; ++index) {
    Sample sample = random_sample(index);
    const double before_s =
        evaluate_schedule(sample.schedule, sample.stages, sample.message_s).makespan_s;
    RandomStream random(2, RandomPurpose::test, index);
    StageCost& cost = sample.stages[random.below(sample.stages.size())];
    cost.forward_s += random.uniform();
    cost.backward_weight_s += random.uniform();
    sample.message_s += 0.1 * random.uniform();
    EXPECT_GE(evaluate_schedule(sample.schedule, sample.stages, sample.message_s).makespan_s,
              before_s * (1 - 1e-12));
  }
}

// For equal stages without messages these bubbles and peaks are published: (p-1) T and m
// activations for GPipe, (p-1) T and p - r for 1f1b, (p-1) T / v and p + (p-1)/v on the first rank
// for interleaved.
TEST(ScheduleEvaluator, MeetsThePublishedFormulas) {
  for (int index = 0; index < kSamples; ++index) {
    RandomStream random(3, RandomPurpose::test, index);
    const Schedule schedule = random_classic(random);
    const int p = schedule.ranks;
    const int v = schedule.chunks;
    const int m = schedule.microbatches;
    if (schedule.name == "interleaved-1f1b" && m % p != 0) continue;
    const StageCost rank_cost{random.uniform(), random.uniform(), random.uniform(), 1, 0};
    const double T = rank_cost.forward_s + rank_cost.backward_input_s + rank_cost.backward_weight_s;
    const auto evaluation = evaluate_schedule(schedule, equal_stages(schedule, rank_cost), 0);
    const std::string what = fmt::format("{} p={} m={} v={}", schedule.name, p, m, v);
    EXPECT_NEAR(evaluation.bubble_makespan_s(), (p - 1) * T / v, 1e-9 * m * T) << what;
    EXPECT_NEAR(evaluation.makespan_s, m * T + (p - 1) * T / v, 1e-9 * m * T) << what;
    for (int rank = 0; rank < p; ++rank) {
      double peak = p - rank;
      if (schedule.name == "gpipe") peak = m;
      if (v > 1) peak = (2.0 * (p - rank - 1) + (v - 1) * p + 1) / v;
      EXPECT_NEAR(evaluation.peak_activation[rank], std::min<double>(peak, m), 1e-9) << what;
    }
  }
}

// If p does not divide m the order may be impossible, which the generator says; if it is possible
// it never beats the formula. Both cases occur; whole groups are always possible.
TEST(ScheduleEvaluator, InterleavedWithAShortLastGroup) {
  int possible = 0;
  int impossible = 0;
  for (int p = 1; p <= 8; ++p) {
    for (int m = 1; m <= 3 * p + 1; ++m) {
      for (int v = 2; v <= 4; ++v) {
        Schedule schedule;
        try {
          schedule = generate_schedule("interleaved-1f1b", p, m, v);
        } catch (const Error&) {
          EXPECT_NE(m % p, 0) << p << " " << m << " " << v;
          EXPECT_GT(m, p);
          ++impossible;
          continue;
        }
        if (m % p != 0) ++possible;
        validate_schedule(schedule);
        const auto evaluation =
            evaluate_schedule(schedule, equal_stages(schedule, {1, 1.25, 0.75, 1, 0}), 0.125);
        EXPECT_GE(evaluation.bubble_makespan_s(), (p - 1) * 3.0 / v - 1e-9)
            << p << " " << m << " " << v;
      }
    }
  }
  EXPECT_GT(possible, 0);
  EXPECT_GT(impossible, 0);
}

}  // namespace
}  // namespace windtunnel
