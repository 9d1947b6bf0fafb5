// The times inside an action as the evaluator of schedules needs them, from what is gathered and
// reduced between its segments.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>
#include <vector>

#include "policies/evaluation/schedule_evaluator.hpp"
#include "policies/exchange/segments.hpp"

namespace windtunnel {

// Computes an ActionMap (schedule_evaluator.hpp). Each of its sums is found by running the action
// with one input at 0 and the others at "never".
class ActionTimes {
 public:
  // `early`: the gathers were issued earlier, and only their ends delay the action.
  // `one_queue`: as in CollectivesBeside.
  ActionTimes(const Segments& segments, double action_s, bool overlap, bool one_queue, bool early)
      : overlap_(overlap), one_queue_(one_queue) {
    steps_.reserve(segments.size());
    for (const Segment& segment : segments) {
      Step step;
      step.work_s = segment.share * segment.slowdown * action_s;
      for (const Transfer& t : segment.gathers) step.gather_s += early ? 0 : t.seconds + t.longer_s;
      for (const Transfer& t : segment.reductions) step.reduce_s += t.seconds + t.longer_s;
      steps_.push_back(step);
    }
  }

  ActionMap map() const {
    ActionMap map;
    map.gather_s = steps_.front().gather_s;
    map.reduce_s = steps_.back().reduce_s;
    map.whole = steps_.size() == 1;
    for (auto& row : map.later_s) row[ActionMap::kFixed] = ActionMap::kNever;
    for (int in = 0; in < 3; ++in) {
      std::array<double, 3> times;
      times.fill(ActionMap::kNever);
      times[in] = 0;
      run(times);
      for (int out = 0; out < 3; ++out) map.later_s[out][in] = times[out];
    }
    return map;
  }

 private:
  struct Step {
    double work_s = 0;
    double gather_s = 0;
    double reduce_s = 0;
  };

  void run(std::array<double, 3>& times) const {
    double& before_s = times[ActionMap::kBefore];
    double& compute_s = times[ActionMap::kCompute];
    double& channel_s = times[ActionMap::kChannel];
    compute_s += steps_.front().work_s;
    for (std::size_t i = 1; i < steps_.size(); ++i) {
      const Step& step = steps_[i];
      double start_s = compute_s;
      const auto reduce = [&] {
        const double last_s = steps_[i - 1].reduce_s;
        if (last_s <= 0) return;
        if (one_queue_) start_s = std::max(start_s, channel_s);
        channel_s = std::max(channel_s, compute_s) + last_s;
      };
      const auto gather = [&](double after_s) {
        if (step.gather_s <= 0) return;
        channel_s = std::max(channel_s, after_s) + step.gather_s;
        start_s = std::max(start_s, channel_s);
      };
      if (overlap_) {
        gather(before_s);
        reduce();
      } else {
        reduce();
        gather(compute_s);
        start_s = std::max(start_s, channel_s);
      }
      before_s = std::exchange(compute_s, start_s + step.work_s);
    }
  }

  bool overlap_;
  bool one_queue_;
  std::vector<Step> steps_;
};

}  // namespace windtunnel
