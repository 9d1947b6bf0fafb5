#include "report/page/drawing.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "models/base/error.hpp"
#include "tests/report/sample_record.hpp"

namespace windtunnel {
namespace {

// Holds the absolute times of a row's bars, which the row stores as differences in ticks.
struct Bars {
  std::vector<std::int64_t> start_ns, end_ns;
};
Bars bars_of(const Json& drawing, const Json& row) {
  Bars bars;
  std::int64_t tick = 0;
  const std::int64_t tick_ns = drawing["tick_ns"];
  for (size_t i = 0; i < row["gap"].size(); ++i) {
    tick += row["gap"][i].get<std::int64_t>();
    bars.start_ns.push_back(tick * tick_ns);
    tick += row["duration"][i].get<std::int64_t>();
    bars.end_ns.push_back(tick * tick_ns);
  }
  return bars;
}

TEST(Drawing, ARowHoldsEveryPassWhereItRan) {
  const Record record = sample_record();
  const Json drawing = drawing_of(record);
  const Json kinds = drawn_kinds();
  ASSERT_EQ(drawing["rows"].size(), record.plan.classes.size());
  for (size_t r = 0; r < record.plan.classes.size(); ++r) {
    const Json& row = drawing["rows"][r];
    const Bars bars = bars_of(drawing, row);
    const std::string letters = row["kind"];
    ASSERT_EQ(letters.size(), bars.start_ns.size());
    std::vector<std::pair<std::string, std::int64_t>> passes, expected;
    std::string names = row["name"].get<std::string>() + ";";
    for (size_t i = 0; i < letters.size(); ++i) {
      const std::string name = names.substr(0, names.find(';'));
      names.erase(0, name.size() + 1);
      const std::string kind = kinds[letters[i] - 'a'];
      EXPECT_EQ(kind, name[0] == 'F' ? "forward" : name[0] == 'B' ? "backward" : "message");
      if (kind != "message") passes.emplace_back(name, bars.start_ns[i]);
    }
    EXPECT_TRUE(names.empty());
    const RankClass& rank_class = record.plan.classes[r];
    for (size_t t = 0; t < rank_class.tasks.size(); ++t) {
      if (rank_class.tasks[t].kind != TaskKind::compute) continue;
      const double start_s = record.timeline.ranks[r].spans[t].start_s;
      expected.emplace_back(rank_class.tasks[t].name, std::llround(start_s * 1e9));
    }
    std::ranges::sort(passes);
    std::ranges::sort(expected);
    ASSERT_EQ(passes.size(), expected.size());
    for (size_t i = 0; i < passes.size(); ++i) {
      EXPECT_EQ(passes[i].first, expected[i].first);
      EXPECT_NEAR(double(passes[i].second), double(expected[i].second),
                  drawing["tick_ns"].get<double>());
    }
  }
}

TEST(Drawing, LeavesOutRanksBeyondTheLimitAndSaysSo) {
  const Json drawing = drawing_of(sample_record(), {.max_spans = 100});
  EXPECT_GT(drawing["rows"].size(), 0u);
  EXPECT_EQ(drawing["rows"].size() + drawing["ranks_left_out"].get<size_t>(), 4u);
  EXPECT_GT(drawing["ranks_left_out"], 0);
  EXPECT_EQ(drawing["memory"]["ranks"].size(), drawing["rows"].size());
}

// If the Plan has many iterations, one period of the steady state is drawn.
TEST(Drawing, OnePeriodOfAnAsynchronousSchedule) {
  Record record = sample_record();
  constexpr int kIterations = 16;
  record.plan.iterations = kIterations;
  const int microbatches = record.plan.classes[0].tasks.back().microbatch + 1;
  for (RankClass& rank_class : record.plan.classes) {
    for (Task& task : rank_class.tasks) {
      task.iteration =
          static_cast<std::int16_t>(task.microbatch % microbatches * kIterations / microbatches);
    }
  }
  record.iteration.time_s = record.timeline.makespan_s / 2;
  const Json drawing = drawing_of(record);
  EXPECT_EQ(drawing["steady"], true);
  const auto makespan_ns = drawing["makespan"].get<std::int64_t>() * drawing["tick_ns"].get<int>();
  EXPECT_NEAR(double(makespan_ns), record.iteration.time_s * 1e9, 2e3);
  size_t bars = 0;
  for (const Json& row : drawing["rows"]) {
    for (const std::int64_t end_ns : bars_of(drawing, row).end_ns) {
      EXPECT_LE(end_ns, makespan_ns + drawing["tick_ns"].get<int>());
      ++bars;
    }
  }
  EXPECT_GT(bars, 4u);
  EXPECT_EQ(drawing_of(sample_record())["steady"], false);
}

TEST(Drawing, MemoryCurvesEndWhereTheyBeganAndPeakWhereTheySay) {
  Record record = sample_record();
  for (RankClass& rank_class : record.plan.classes) {
    for (Task& task : rank_class.tasks) {
      if (task.kind != TaskKind::compute) continue;
      (task.category == Category::forward ? task.allocate_bytes : task.free_bytes) = 1.5e9;
    }
  }
  const Json curves = memory_curves(record, 64);
  ASSERT_EQ(curves["ranks"].size(), 4u);
  for (const Json& rank : curves["ranks"]) {
    double level = 0, peak = 0;
    for (const Json& change : rank["change"]) {
      level += change.get<double>() * curves["unit_bytes"].get<double>();
      peak = std::max(peak, level);
    }
    EXPECT_EQ(level, 0);
    EXPECT_NEAR(peak, rank["peak"]["bytes"].get<double>(), curves["unit_bytes"]);
    // In GPipe all micro-batches are alive at once, from the end of the last forward pass on.
    const std::string task = rank["peak"]["task"];
    EXPECT_EQ(task[0], 'F');
    EXPECT_NEAR(rank["static_bytes"], 27.5e9, 1);
  }
}

// Bars that overlap no other bar are not clipped, and each pass of a rank on the critical path is
// marked.
TEST(Drawing, TheCriticalPathIsMarked) {
  Record record = sample_record();
  record.critical_path = critical_path(record.plan, record.timeline);
  const Json drawing = drawing_of(record);
  check_drawing(drawing);
  const auto tasks = critical_tasks(record);
  size_t marked = 0, computed = 0;
  for (const Json& row : drawing["rows"]) marked += row["critical"].size();
  for (const auto& [rank_class, of_class] : tasks) {
    for (const TaskIndex task : of_class) {
      computed += record.plan.classes[rank_class].tasks[task].kind == TaskKind::compute ? 1 : 0;
    }
  }
  EXPECT_GE(marked, computed);
  EXPECT_GT(computed, 4U);
  Json damaged = drawing;
  damaged["rows"][0]["critical"].push_back(100000);
  EXPECT_THROW(check_drawing(damaged), Error);
}

}  // namespace
}  // namespace windtunnel
