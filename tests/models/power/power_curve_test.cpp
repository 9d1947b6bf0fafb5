#include "models/power/power_curve.hpp"

#include <gtest/gtest.h>

#include "models/base/random.hpp"
#include "tests/models/power/watts.hpp"

namespace windtunnel {
namespace {

PowerSpec spec_of() {
  PowerSpec spec;
  spec.nodes.push_back({watts(700), watts(100), watts(0)});
  return spec;
}

struct Sample {
  RankClass rank_class;
  RankTimeline rank;
  void add(TaskKind kind, Category category, double start_s, double end_s, double known_s) {
    Task& task = rank_class.tasks.emplace_back();
    task.kind = kind;
    task.cost = {{category, Origin::assumed, known_s}};
    task.category = category;
    rank.spans.push_back({start_s, end_s});
  }
  PowerCurve curve(const PowerSpec& spec) const {
    return gpu_curve(spec, spec.of_pool(0), activity_steps(rank_class, rank));
  }
};

TEST(PowerCurve, ByHand) {
  Sample sample;
  sample.add(TaskKind::compute, Category::forward, 1, 3, 2);
  sample.add(TaskKind::collective, Category::dp, 2, 5, 3);
  sample.add(TaskKind::recv, Category::pp, 0, 9, 0);  // waits
  const PowerSpec spec = spec_of();
  const PowerCurve curve = sample.curve(spec);
  // The phases are idle, computing, both (at the limit), sending, and idle.
  const double expected[][2] = {{0, 100}, {1, 700}, {3, 310}, {5, 100}};
  ASSERT_EQ(curve.size(), 4u);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(curve[i].at_s, expected[i][0]);
    EXPECT_NEAR(curve[i].W, expected[i][1], 1e-9);
  }
  const PowerRange range = range_of(curve, 0, 10);
  EXPECT_NEAR(range.energy_J, 100 + 2 * 700 + 2 * 310 + 5 * 100, 1e-9);
  EXPECT_NEAR(range.mean_W, 262, 1e-9);
  EXPECT_EQ(range.peak_W, 700);
  EXPECT_NEAR(range.least_W, 100, 1e-9);
  EXPECT_NEAR(range_of(curve, 2, 4).energy_J, 700 + 310, 1e-9);
}

TEST(PowerCurve, ATaskDrawsItsMean) {
  Task task;
  task.cost = {{Category::forward, Origin::assumed, 2},
               {Category::tp, Origin::assumed, 1},
               {Category::host, Origin::assumed, 1}};
  const Activity plain = task_activity(task, 4);
  EXPECT_DOUBLE_EQ(plain.computing, 0.5);
  EXPECT_DOUBLE_EQ(plain.communicating, 0.25);
  // Extra time on a slow node counts as computing.
  EXPECT_DOUBLE_EQ(task_activity(task, 8).computing, 0.75);
  task.kind = TaskKind::store;
  EXPECT_EQ(task_activity(task, 4).computing, 0);
}

// At any time the sum of curves is the sum of their powers, and its energy that of its parts.
TEST(PowerCurve, EnergyOfASumIsThatOfItsParts) {
  const PowerSpec spec = spec_of();
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    RandomStream random(seed, RandomPurpose::test, 0);
    std::vector<PowerCurve> curves;
    for (int rank = 0; rank < 5; ++rank) {
      Sample sample;
      for (int task = 0; task < 20; ++task) {
        const double start_s = 10 * random.uniform();
        const double span_s = random.uniform();
        sample.add(random.uniform() < 0.5 ? TaskKind::compute : TaskKind::collective,
                   random.uniform() < 0.5 ? Category::backward : Category::dp, start_s,
                   start_s + span_s, span_s * random.uniform());
      }
      curves.push_back(sample.curve(spec));
    }
    std::vector<CountedCurve> counted;
    double energy_J = 50 * 8;
    double peaks_W = 50;
    double peak_of_one_W = 0;
    for (std::size_t i = 0; i < curves.size(); ++i) {
      const double count = 1 + static_cast<double>(i % 3);
      counted.push_back({&curves[i], count});
      const PowerRange own = range_of(curves[i], 1, 9);
      energy_J += count * own.energy_J;
      peaks_W += count * own.peak_W;
      peak_of_one_W = std::max(peak_of_one_W, count * own.peak_W);
    }
    const PowerRange sum = range_of(sum_of(counted, 50), 1, 9);
    EXPECT_NEAR(sum.energy_J, energy_J, 1e-9 * energy_J);
    EXPECT_LE(sum.peak_W, peaks_W * (1 + 1e-12));
    EXPECT_GE(sum.peak_W, peak_of_one_W);
    EXPECT_LE(sum.least_W, sum.mean_W);
    EXPECT_LE(sum.mean_W, sum.peak_W);
  }
}

}  // namespace
}  // namespace windtunnel
