// Checks whether the tasks of an execution started as their Plan allows.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "models/plan/class_template.hpp"
#include "models/plan/timeline.hpp"

namespace windtunnel {

// On every rank each task must start after its predecessors, and on a stream in order after the end
// of the task before it.
inline void expect_planned_order(const Plan& plan, const Timeline& timeline) {
  ASSERT_EQ(timeline.ranks.size(), static_cast<std::size_t>(plan.ranks));
  for (const RankTimeline& rank : timeline.ranks) {
    const RankClass& rank_class = plan.classes[rank.rank_class];
    std::vector<double> stream_end_s(rank_class.streams.size(), 0);
    for (std::size_t t = 0; t < rank_class.tasks.size(); ++t) {
      const Task& task = rank_class.tasks[t];
      const Span& span = rank.spans[t];
      const std::string name = rank_class.name + " " + task.name;
      EXPECT_GT(span.end_s, 0) << name << " never ran";
      EXPECT_GE(span.end_s, span.start_s) << name;
      EXPECT_GE(span.start_s, task.not_before_s) << name;
      std::vector<double> ends_s;
      for (const TaskIndex before : task.after) ends_s.push_back(rank.spans[before].end_s);
      std::ranges::sort(ends_s);
      const std::size_t needed =
          task.join_first > 0 ? static_cast<std::size_t>(task.join_first) : ends_s.size();
      if (needed > 0) {
        EXPECT_GE(span.start_s, ends_s[needed - 1]) << name;
      }
      if (rank_class.streams[task.stream].order != StreamOrder::in_order) continue;
      EXPECT_GE(span.start_s, stream_end_s[task.stream]) << name;
      stream_end_s[task.stream] = span.end_s;
    }
  }
}

}  // namespace windtunnel
