// Classic and handcrafted zero-bubble schedules follow the formulas of their papers (bubbles,
// activation peaks, crossings), for many p, m and v.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "policies/evaluation/schedule_evaluator.hpp"
#include "policies/evaluation/schedule_validator.hpp"
#include "policies/schedules/schedules.hpp"
#include "tests/policies/schedules/generated_schedule.hpp"

namespace windtunnel {
namespace {

// Times cover all chunks of a rank; `held` is the part of an activation that is kept for W.
struct Times {
  double forward_s;
  double input_s;
  double weight_s;
  double held;

  double work_s() const { return forward_s + input_s + weight_s; }
};

// A formula ignores message times; it depends on p ranks, m micro-batches and v chunks.
struct Formula {
  const char* name;
  bool (*holds)(double p, double m, double v, const Times& t);
  bool by_longest_stage;  // else by makespan
  double (*bubble_s)(double p, double v, const Times& t);
  double (*peak)(double p, double m, double v, double rank, double held);  // in a rank's share
};

bool one_chunk(double, double, double v, const Times&) {
  return v == 1;
}

double full_bubble_s(double p, double v, const Times& t) {
  return (p - 1) * t.work_s() / v;
}

// W then fits into the gaps that the neighbours' F and I leave.
bool weight_is_shortest(const Times& t) {
  return t.weight_s <= std::min(t.forward_s, t.input_s);
}

const std::vector<Formula>& formulas() {
  static const std::vector<Formula> all = {
      {"gpipe", one_chunk, false, full_bubble_s,
       [](double, double m, double, double, double) { return m; }},
      {"1f1b", one_chunk, false, full_bubble_s,
       [](double p, double m, double, double r, double) { return std::min(m, p - r); }},
      {"eager-1f1b", one_chunk, false, full_bubble_s,
       [](double p, double m, double, double r, double) {
         return std::min(m, 2 * (p - 1 - r) + 1);
       }},
      {"interleaved-1f1b",
       [](double p, double m, double v, const Times&) { return v > 1 && std::fmod(m, p) == 0; },
       false, full_bubble_s,
       [](double p, double m, double v, double r, double) {
         return std::min(m, p + (p - 1 - 2 * r) / v);
       }},
      {"looped-bfs", [](double p, double m, double, const Times&) { return m >= p; }, false,
       full_bubble_s, [](double, double m, double, double, double) { return m; }},
      {"2bp", [](double p, double m, double v, const Times&) { return v == 1 && m >= p; }, false,
       [](double p, double, const Times& t) { return (p - 1) * (t.forward_s + t.input_s); },
       [](double p, double m, double, double r, double held) {
         return p - r + (m - p + r) * held;
       }},
      {"zb-h1",
       [](double p, double m, double v, const Times& t) {
         return v == 1 && m >= p && weight_is_shortest(t);
       },
       false,
       [](double p, double, const Times& t) {
         return (p - 1) * (t.forward_s + t.input_s - t.weight_s);
       },
       [](double p, double, double, double r, double held) { return p - r + r * held; }},
      {"zb-h2",
       [](double p, double m, double v, const Times& t) {
         return v == 1 && m >= 2 * p - 1 && weight_is_shortest(t);
       },
       true,
       [](double p, double, const Times& t) {
         return (p - 1) * (t.forward_s + t.input_s - 2 * t.weight_s);
       },
       [](double p, double, double, double r, double held) {
         return 2 * (p - r) - 1 + 2 * r * held;
       }},
  };
  return all;
}

// Checks the formula if it covers such a pipeline; returns whether it does.
bool check_formula(const Formula& formula, int ranks, int microbatches, int chunks,
                   const Times& times) {
  if (!formula.holds(ranks, microbatches, chunks, times)) return false;
  SCOPED_TRACE(fmt::format("{} p {} m {} v {} times {} {} {}", formula.name, ranks, microbatches,
                           chunks, times.forward_s, times.input_s, times.weight_s));
  const double share = 1.0 / chunks;
  const std::vector<StageCost> costs(
      ranks * chunks, {times.forward_s * share, times.input_s * share, times.weight_s * share,
                       share, times.held * share});
  const Schedule schedule = generate_schedule(formula.name, ranks, microbatches, chunks);
  EXPECT_NO_THROW(validate_schedule(schedule));
  const ScheduleEvaluation got = evaluate_schedule(schedule, costs, 0);
  const double work_s = microbatches * times.work_s();
  const double stage_s = formula.by_longest_stage ? got.longest_stage_s : got.makespan_s;
  EXPECT_NEAR(stage_s, work_s + formula.bubble_s(ranks, chunks, times), 1e-9 * stage_s);
  for (int rank = 0; rank < ranks; ++rank) {
    const double peak = formula.peak(ranks, microbatches, chunks, rank, times.held);
    EXPECT_NEAR(got.peak_activation[rank], peak, 1e-9 * peak) << "rank " << rank;
  }
  EXPECT_EQ(crossings(schedule), ranks > 1 ? 2 * (ranks * chunks - 1) : 0);
  return true;
}

TEST(ScheduleFormulas, HoldAtTheCorners) {
  for (const Formula& formula : formulas()) {
    int checked = 0;
    for (const int ranks : {1, 2, 64}) {
      for (const int microbatches : {1, 2, 64, 127, 512}) {
        for (const int chunks : {1, 2, 8}) {
          checked += check_formula(formula, ranks, microbatches, chunks, {1, 1, 1, 0.5});
        }
      }
    }
    EXPECT_GE(checked, 10) << formula.name;
  }
}

TEST(ScheduleFormulas, HoldForRandomPipelines) {
  std::mt19937 random(1);
  const auto pick = [&](int low, int high) {
    return low + static_cast<int>(random() % static_cast<unsigned>(high - low + 1));
  };
  for (const Formula& formula : formulas()) {
    int checked = 0;
    for (int i = 0; i < 200; ++i) {
      const int ranks = pick(1, i % 8 == 0 ? 64 : 16);
      int microbatches = pick(1, i % 8 == 0 ? 512 : 64);
      if (i % 2 == 0) microbatches += ranks - microbatches % ranks;
      const Times times{pick(1, 1000) * 1e-3, pick(1, 1000) * 1e-3, pick(1, 1000) * 1e-3,
                        pick(0, 1000) * 1e-3};
      for (const int chunks : {1, pick(2, 8)}) {
        checked += check_formula(formula, ranks, microbatches, chunks, times);
      }
    }
    EXPECT_GE(checked, 25) << formula.name;
  }
}

// In 1f1b a message costs a round trip in every steady step, in eager 1f1b only while filling and
// draining: p = 8, m = 24, messages of 0.2 T_F.
TEST(ScheduleFormulas, EagerHidesTheMessagesOfTheSteadyState) {
  const std::vector<StageCost> costs(8, {1, 1, 1, 1, 0.5});
  const auto makespan_s = [&](const char* name) {
    return evaluate_schedule(generate_schedule(name, 8, 24, 1), costs, 0.2).makespan_s;
  };
  EXPECT_NEAR(makespan_s("1f1b"), 103.8, 1e-9);
  EXPECT_NEAR(makespan_s("eager-1f1b"), 95.8, 1e-9);
}

}  // namespace
}  // namespace windtunnel
