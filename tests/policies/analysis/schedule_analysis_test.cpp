#include "policies/analysis/schedule_analysis.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <set>
#include <string_view>

#include "models/base/error.hpp"
#include "models/base/random.hpp"
#include "policies/evaluation/schedule_lowering.hpp"
#include "policies/evaluation/schedule_validator.hpp"
#include "policies/schedules/schedules.hpp"

namespace windtunnel {
namespace {

constexpr int kSamples = 400;

double of(const TimeUseSeconds& seconds, TimeUse use) {
  return seconds[static_cast<size_t>(use)];
}
double sum(const TimeUseSeconds& seconds) {
  return std::accumulate(seconds.begin(), seconds.end(), 0.0);
}

Messages equal_messages(double message_s, Sends sends = Sends::asynchronous) {
  return {{{message_s}, {message_s}}, sends};
}

std::vector<StageCost> equal_costs(const Schedule& schedule, const StageCost& cost) {
  return std::vector<StageCost>(static_cast<size_t>(schedule.model_stages()) * schedule.slices,
                                cost);
}

struct Sample {
  std::string_view kind;
  Schedule schedule;
  std::vector<StageCost> costs;
  Messages messages;
  OptimizerSync sync;
};

// Draws any kind of schedule, with different costs for every stage. Returns nothing if the kind
// does not allow the numbers.
std::optional<Sample> random_sample(int index) {
  RandomStream random(1, RandomPurpose::test, index);
  const ScheduleKind& kind = schedule_kinds()[random.below(schedule_kinds().size())];
  ScheduleRequest request;
  request.ranks = 2 * (1 + static_cast<int>(random.below(4))) + (random.below(4) == 0 ? 1 : 0);
  request.microbatches = request.ranks * (1 + static_cast<int>(random.below(4)));
  request.chunks = kind.usual_chunks;
  if (kind.name == "seq1f1b" || kind.name == "terapipe") request.slices = 3;
  if (kind.name == "zb-auto") request.memory_limit = 1.5 * request.ranks;
  Sample sample;
  sample.kind = kind.name;
  try {
    sample.schedule = generate_schedule(kind.name, request);
  } catch (const Error&) {
    return std::nullopt;
  }
  validate_schedule(sample.schedule);
  const int cells = sample.schedule.model_stages() * sample.schedule.slices;
  for (int i = 0; i < cells; ++i) {
    StageCost cost{random.uniform(), random.uniform(), random.uniform(), 1 + random.uniform(),
                   random.uniform()};
    cost.recompute_s = random.uniform();
    cost.recomputed = random.uniform();
    cost.forward_hideable_s = 0.3 * cost.forward_s;
    cost.backward_hideable_s = 0.3 * cost.backward_input_s;
    sample.costs.push_back(cost);
  }
  sample.messages = equal_messages(random.below(3) == 0 ? 0 : 0.4 * random.uniform());
  if (random.below(2) == 0) {
    // Each stage has different times.
    MessageTimes& times = sample.messages.times;
    const int of_schedule = sample.schedule.stages() * sample.schedule.slices;
    times = {};
    for (int i = 0; i < of_schedule; ++i) {
      times.forward_s.push_back(0.4 * random.uniform());
      times.backward_s.push_back(0.4 * random.uniform());
    }
  }
  if (random.below(3) == 0) sample.messages.sends = Sends::blocking;
  sample.sync = {.post_validation = random.below(2) == 0, .norm_s = 0.1 * random.uniform()};
  return sample;
}

const SensitivityOptions kQuick{.draws = 3};

std::string text_of(const Sample& sample) {
  return fmt::format("{} p={} m={}", sample.schedule.name, sample.schedule.ranks,
                     sample.schedule.microbatches);
}

template <class Check>
void for_each_sample(const Check& check) {
  std::set<std::string_view> checked;
  for (int index = 0; index < kSamples; ++index) {
    const std::optional<Sample> sample = random_sample(index);
    if (!sample) continue;
    SCOPED_TRACE(fmt::format("{}: {}", index, text_of(*sample)));
    check(*sample);
    if (::testing::Test::HasFatalFailure()) return;
    checked.insert(sample->kind);
  }
  EXPECT_EQ(checked.size(), schedule_kinds().size());
}

// ---- comparison with the evaluator ----

TEST(ScheduleGraph, PlaysAsTheEvaluator) {
  for_each_sample([](Sample sample) {
    for (const Sends sends : {Sends::asynchronous, Sends::blocking, Sends::synchronous}) {
      sample.messages.sends = sends;
      std::optional<ScheduleEvaluation> expected;
      try {
        expected = evaluate_schedule(sample.schedule, sample.costs, {.messages = sample.messages});
      } catch (const Error&) {
      }
      const auto played_s = [&] {
        const ScheduleGraph graph = schedule_graph(sample.schedule, sample.costs, sample.messages);
        GraphTimes times;
        play(graph, node_durations(graph, sample.schedule, sample.costs, sample.messages.times),
             times);
        return StepClock(sample.schedule, graph, {}).step_s(times);
      };
      if (expected) {
        EXPECT_NEAR(played_s(), expected->makespan_s, 1e-9 * expected->makespan_s)
            << to_string(sends);
      } else {
        EXPECT_EQ(sends, Sends::synchronous);
        EXPECT_THROW(played_s(), Error);
      }
    }
  });
}

TEST(ScheduleAnalysis, AgreesWithTheEvaluator) {
  for_each_sample([](const Sample& sample) {
    const ScheduleEvaluation expected =
        evaluate_schedule(sample.schedule, sample.costs, {.messages = sample.messages});
    const ScheduleAnalysis analysis =
        analyse_schedule(sample.schedule, sample.costs, sample.messages, {{}, kQuick});
    EXPECT_NEAR(analysis.step_s, expected.makespan_s, 1e-9 * expected.makespan_s);
    EXPECT_EQ(analysis.bubbles[0].bubble_s, expected.bubble_makespan_s());
    EXPECT_NEAR(analysis.bubbles[1].of_total(), expected.bubble_longest_stage_rate(), 1e-12);
    double idle = 0;
    for (const double busy_s : expected.busy_s) idle += 1 - busy_s / expected.makespan_s;
    const auto ranks = static_cast<double>(expected.busy_s.size());
    EXPECT_NEAR(analysis.bubbles[2].of_total(), idle / ranks, 1e-12);
    for (int rank = 0; rank < sample.schedule.ranks; ++rank) {
      const RankActivations& activations = analysis.activations[rank];
      EXPECT_NEAR(activations.peak, expected.peak_activation[rank], 1e-9);
      // All activations that are kept are freed in the end.
      EXPECT_NEAR(activations.points.back().activation, 0, 1e-9);
      for (const ActivationPoint& point : activations.points) {
        EXPECT_GT(point.activation, -1e-9);
        EXPECT_LE(point.activation, activations.peak);
      }
      const Action& peak = sample.schedule.actions[rank][activations.peak_position];
      EXPECT_TRUE(peak.kind == ActionKind::forward || peak.kind == ActionKind::recompute);
    }
  });
}

// ---- where the time goes ----

TEST(ScheduleAttribution, SumsToTheStepOnEveryRank) {
  for_each_sample([](const Sample& sample) {
    const ScheduleAnalysis analysis =
        analyse_schedule(sample.schedule, sample.costs, sample.messages, {sample.sync, kQuick});
    for (const TimeUseSeconds& uses_s : analysis.time_s) {
      EXPECT_NEAR(sum(uses_s), analysis.step_s, 1e-9 * analysis.step_s);
      for (const double seconds : uses_s) EXPECT_GT(seconds, -1e-9 * analysis.step_s);
    }
    EXPECT_NEAR(sum(analysis.path.composition_s), analysis.step_s, 1e-9 * analysis.step_s);
  });
}

// A step without overlapped pairs holds exactly the work of its actions.
TEST(ScheduleAttribution, CountsTheWorkOfARank) {
  for_each_sample([](const Sample& sample) {
    if (sample.schedule.iterations > 1) return;
    const ScheduleAnalysis analysis =
        analyse_schedule(sample.schedule, sample.costs, sample.messages, {sample.sync, kQuick});
    for (int rank = 0; rank < sample.schedule.ranks; ++rank) {
      WorkSeconds work_s{};
      bool pairs = false;
      for (const Action& action : sample.schedule.actions[rank]) {
        const WorkSeconds of_action = work_of(sample.schedule, sample.costs, action);
        for (int i = 0; i < kWorks; ++i) work_s[i] += of_action[i];
        pairs |= action.with_next;
      }
      for (int i = 0; i < kWorks; ++i) {
        if (pairs) {
          EXPECT_LE(analysis.time_s[rank][i], work_s[i] * (1 + 1e-12));
        } else {
          EXPECT_NEAR(analysis.time_s[rank][i], work_s[i], 1e-9 * analysis.step_s);
        }
      }
    }
  });
}

// 1f1b on 2 ranks with 2 micro-batches, F = 1, I = 1.5, W = 0.5 and messages of 0.25 runs as
// follows:
// rank 0: F0 0-1, F1 1-2, B0 4.5-6.5, B1 7.5-9.5
// rank 1: F0 1.25-2.25, B0 2.25-4.25, F1 4.25-5.25, B1 5.25-7.25
TEST(ScheduleAttribution, TwoRanksByHand) {
  const Schedule schedule = generate_schedule("1f1b", 2, 2, 1);
  const ScheduleAnalysis analysis =
      analyse_schedule(schedule, equal_costs(schedule, {1, 1.5, 0.5, 1, 0.5}), equal_messages(0.25),
                       {{.norm_s = 0.5}, kQuick});
  EXPECT_DOUBLE_EQ(analysis.makespan_s, 9.5);
  EXPECT_DOUBLE_EQ(analysis.step_s, 10);
  const TimeUseSeconds& first = analysis.time_s[0];
  EXPECT_DOUBLE_EQ(of(first, TimeUse::forward), 2);
  EXPECT_DOUBLE_EQ(of(first, TimeUse::backward_input), 3);
  EXPECT_DOUBLE_EQ(of(first, TimeUse::backward_weight), 1);
  EXPECT_DOUBLE_EQ(of(first, TimeUse::warm_up), 0);
  // In 2-4.5 rank 0 waits for rank 1's F0 and B0, and for the message back, 0.25; in 6.5-7.5 for
  // F1, B1 and the message.
  EXPECT_DOUBLE_EQ(of(first, TimeUse::message), 0.5);
  EXPECT_DOUBLE_EQ(of(first, TimeUse::stall), 3);
  EXPECT_DOUBLE_EQ(of(first, TimeUse::cool_down), 0);
  EXPECT_DOUBLE_EQ(of(first, TimeUse::optimizer_sync), 0.5);
  const TimeUseSeconds& second = analysis.time_s[1];
  EXPECT_DOUBLE_EQ(of(second, TimeUse::warm_up), 1);
  EXPECT_DOUBLE_EQ(of(second, TimeUse::message), 0.25);
  EXPECT_DOUBLE_EQ(of(second, TimeUse::stall), 0);
  EXPECT_DOUBLE_EQ(of(second, TimeUse::cool_down), 2.25);
  // The critical path F0 -> F0 B0 F1 B1 -> B1 contains two messages.
  EXPECT_EQ(analysis.path.messages, 2);
  EXPECT_EQ(analysis.path.steps.size(), 8u);
  EXPECT_DOUBLE_EQ(of(analysis.path.composition_s, TimeUse::message), 0.5);
  // F1 of rank 0 could end 2 later, because its message would then arrive at 4.25.
  EXPECT_DOUBLE_EQ(analysis.slack_s[0][0], 0);
  EXPECT_DOUBLE_EQ(analysis.slack_s[0][1], 2);
  EXPECT_DOUBLE_EQ(analysis.activations[0].peak, 2);
  EXPECT_EQ(analysis.activations[0].peak_position, 1);
  EXPECT_DOUBLE_EQ(analysis.activations[0].peak_s, 1);
}

TEST(ScheduleAttribution, PostValidationForgivesTheSkew) {
  // ZB-V at equal times has no bubble in the longest span, and one of (p - 1) / 2 times a chunk's
  // T_F in the makespan (arXiv 2401.10241).
  const Schedule schedule = generate_schedule("zb-v", 4, 12, 2);
  const auto costs = equal_costs(schedule, {0.5, 0.5, 0.5, 0.5, 0.25});
  const ScheduleAnalysis analysis =
      analyse_schedule(schedule, costs, equal_messages(0), {{.post_validation = true}, kQuick});
  EXPECT_NEAR(analysis.step_s, 36, 1e-9);
  EXPECT_NEAR(analysis.bubbles[0].bubble_s, 1.5, 1e-9);
  EXPECT_NEAR(analysis.bubbles[1].bubble_s, 0, 1e-9);
  for (const TimeUseSeconds& uses_s : analysis.time_s) {
    EXPECT_NEAR(of(uses_s, TimeUse::warm_up), 0, 1e-9);
    EXPECT_NEAR(of(uses_s, TimeUse::stall), 0, 1e-9);
  }
  EXPECT_NEAR(analysis.sensitivity.step_with_norm_s, 37.5, 1e-9);
  EXPECT_NEAR(analysis.sensitivity.step_post_validated_s, 36, 1e-9);
}

// Weights that a rank gathers before its first forward pass do not count as part of its step.
TEST(ScheduleAttribution, AStepBeginsWithCompute) {
  const Schedule schedule = generate_schedule("zb-h1", 4, 8, 1);
  const std::vector<StageCost> costs = equal_costs(schedule, {1, 1.2, 0.8, 1, 0.5});
  const AnalysisOptions options{{.post_validation = true}, kQuick};
  const ScheduleAnalysis plain = analyse_schedule(schedule, costs, equal_messages(0.1), options);
  const ScheduleAnalysis sharded =
      analyse_schedule(with_unshards(schedule), costs, equal_messages(0.1), options);
  EXPECT_DOUBLE_EQ(sharded.step_s, plain.step_s);
  EXPECT_EQ(sharded.time_s, plain.time_s);
}

// ---- the path ----

TEST(ScheduleAnalysis, ThePathIsAChainWithoutGapsOrSlack) {
  for_each_sample([](const Sample& sample) {
    const ScheduleAnalysis analysis =
        analyse_schedule(sample.schedule, sample.costs, sample.messages, {{}, kQuick});
    const auto& steps = analysis.path.steps;
    ASSERT_FALSE(steps.empty());
    EXPECT_NEAR(steps.front().start_s, 0, 1e-12);
    EXPECT_NEAR(steps.back().end_s, analysis.step_s, 1e-9 * analysis.step_s);
    for (size_t i = 1; i < steps.size(); ++i) {
      EXPECT_EQ(steps[i].start_s, steps[i - 1].end_s);
      EXPECT_FALSE(steps[i].receiver >= 0 && steps[i - 1].receiver >= 0 &&
                   steps[i].rank != steps[i - 1].rank);
    }
    if (sample.schedule.iterations > 1) return;
    for (const ScheduleStep& step : steps) {
      if (step.receiver >= 0) continue;
      EXPECT_NEAR(analysis.slack_s[step.rank][step.position], 0, 1e-9 * analysis.step_s);
    }
  });
}

// Lengthening an action by its slack delays nothing; lengthening it by twice its slack delays the
// step by its slack.
TEST(ScheduleAnalysis, SlackIsWhatAnActionMayLose) {
  for_each_sample([](const Sample& sample) {
    RandomStream random(2, RandomPurpose::test, sample.schedule.microbatches);
    const ScheduleGraph graph = schedule_graph(sample.schedule, sample.costs, sample.messages);
    std::vector<double> duration_s =
        node_durations(graph, sample.schedule, sample.costs, sample.messages.times);
    GraphTimes times;
    play(graph, duration_s, times);
    const double end_s = *std::max_element(times.end_s.begin(), times.end_s.end());
    const std::vector<double> slack_s = node_slack_s(graph, duration_s, times);
    for (int trial = 0; trial < 10; ++trial) {
      const size_t node = random.below(slack_s.size());
      std::vector<double> changed_s = duration_s;
      for (const double times_slack : {1.0, 2.0}) {
        changed_s[node] = duration_s[node] + times_slack * slack_s[node];
        play(graph, changed_s, times);
        EXPECT_NEAR(*std::max_element(times.end_s.begin(), times.end_s.end()),
                    end_s + (times_slack - 1) * slack_s[node], 1e-9 * end_s);
      }
    }
  });
}

// ---- what would change the step ----

TEST(ScheduleSensitivity, WhatIfsAreEvaluations) {
  for_each_sample([](const Sample& sample) {
    if (sample.schedule.iterations > 1) return;
    const ScheduleSensitivity sensitivity =
        analyse_schedule(sample.schedule, sample.costs, sample.messages, {{}, kQuick}).sensitivity;
    const auto makespan_s = [&](const std::vector<StageCost>& costs, const Messages& messages) {
      return evaluate_schedule(sample.schedule, costs, {.messages = messages}).makespan_s;
    };
    const double before_s = makespan_s(sample.costs, sample.messages);
    for (const WhatIf& effect : sensitivity.what_ifs) {
      for (const double factor : {0.0, 2.0}) {
        std::vector<StageCost> costs = sample.costs;
        Messages messages = sample.messages;
        if (effect.part == "backward_weight") {
          for (StageCost& cost : costs) cost.backward_weight_s *= factor;
        } else if (effect.part == "message") {
          for (double& seconds : messages.times.forward_s) seconds *= factor;
          for (double& seconds : messages.times.backward_s) seconds *= factor;
        } else {
          continue;
        }
        EXPECT_NEAR(factor == 0 ? effect.without_s : effect.doubled_s,
                    makespan_s(costs, messages) - before_s, 1e-9 * before_s)
            << effect.part << " x " << factor;
      }
    }
    for (const SendsEffect& effect : sensitivity.sends) {
      if (effect.sends == sample.messages.sends) {
        EXPECT_NEAR(effect.step_s.value(), before_s, 1e-9 * before_s);
      }
    }
  });
}

// In gpipe with equal stages a rank that is 10 % slower delays the step by m times its excess,
// whichever rank it is. Ranks also wait for jitter, so that the step grows although the mean work
// does not.
TEST(ScheduleSensitivity, GpipeByHand) {
  const Schedule schedule = generate_schedule("gpipe", 4, 8, 1);
  const ScheduleAnalysis analysis =
      analyse_schedule(schedule, equal_costs(schedule, {1, 1, 1, 1, 0.5}), equal_messages(0), {});
  for (const double growth_s : analysis.sensitivity.slow_rank.growth_s) {
    EXPECT_NEAR(growth_s, 0.1 * 8 * 3, 1e-9);
  }
  const JitterEffect& jitter = analysis.sensitivity.jitter;
  EXPECT_GT(jitter.mean_s, 0);
  EXPECT_GT(jitter.p95_s, jitter.mean_s);
  EXPECT_LT(jitter.p95_s, 0.1 * analysis.step_s);
}

TEST(ScheduleSensitivity, NoJitterNoGrowth) {
  for_each_sample([](const Sample& sample) {
    const ScheduleSensitivity sensitivity = schedule_sensitivity(
        sample.schedule, sample.costs, sample.messages, sample.sync, {.jitter = 0, .draws = 2});
    EXPECT_NEAR(sensitivity.jitter.mean_s, 0, 1e-9);
    EXPECT_NEAR(sensitivity.jitter.p95_s, 0, 1e-9);
    const auto& growth_s = sensitivity.slow_rank.growth_s;
    EXPECT_EQ(growth_s[sensitivity.slow_rank.worst],
              *std::max_element(growth_s.begin(), growth_s.end()));
  });
}

// A single rank waits for no other, so that the independent draws of its actions average out.
TEST(ScheduleSensitivity, JitterHasMeanOne) {
  const Schedule schedule = generate_schedule("1f1b", 1, 100, 1);
  const ScheduleSensitivity sensitivity =
      schedule_sensitivity(schedule, equal_costs(schedule, {1, 1, 1, 1, 0.5}), equal_messages(0),
                           {}, {.jitter = 0.2, .draws = 400});
  // There are 300 units of work; the mean over 400 draws has a standard error of 0.2 sqrt(100 (1 +
  // 2^2)) / sqrt(400) = 0.22.
  EXPECT_NEAR(sensitivity.jitter.mean_s, 0, 0.9);
  EXPECT_GT(sensitivity.jitter.p95_s, 4);  // 1.6 standard deviations of 4.5 are 7.4
}

}  // namespace
}  // namespace windtunnel
