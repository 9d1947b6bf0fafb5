// The form of a schedule that a search changes: for each rank only the order of its forwards and
// input gradients. A weight gradient depends only on its input gradient. It is inserted while the
// order is evaluated, where it costs least: into a gap, where memory forces it, or else at the end
// (the rule of Zero Bubble's heuristic, arXiv 2401.10241, section 3.1).
#pragma once

#include <cstdint>
#include <vector>

#include "policies/schedules/schedules.hpp"

namespace windtunnel {

// tolerance for rounding in sums of times and of activations
inline constexpr double kSlack = 1e-9;

struct SplitItem {
  std::int32_t stage = 0;
  std::int32_t unit = 0;
  bool operator==(const SplitItem&) const = default;
};

struct SplitRank {
  std::vector<SplitItem> forwards;
  std::vector<SplitItem> backwards;
  std::vector<int> ahead;  // [backward] number of forwards before it; never decreases
  // A weight gradient is put into a gap that is at least this share of its time long. 1: it never
  // delays the next action; 0: no gap remains.
  double patience = 1;
};

struct SplitOrder {
  std::vector<int> rank_of_stage;
  std::vector<SplitRank> ranks;
};

// Returns the order of a schedule that has one replica and no slices, iterations, pairs or separate
// recomputation. Drops weight gradients.
SplitOrder split_order(const Schedule& schedule);

struct FilledResult {
  bool possible = false;  // false: deadlock, or memory is insufficient
  double longest_stage_s = 0;
  double makespan_s = 0;
  double mean_span_s = 0;
};

// Evaluates many orders of one request, with the same buffers.
class WeightFiller {
 public:
  // Uses the request's costs by stage, and its limit and message time.
  explicit WeightFiller(const ScheduleRequest& request);

  // `schedule`, if given, receives the actions.
  FilledResult fill(const SplitOrder& order, Schedule* schedule = nullptr);

 private:
  struct Stage {
    double forward_s, input_s, weight_s, activation, weight_activation;
  };
  struct Rank {
    int forward = 0;   // next forward
    int backward = 0;  // next backward
    int weight = 0;    // next weight gradient; from here to `backward` they are pending
    std::int64_t waits_for = -1;
    double first_start_s = -1;
    double now_s = 0;
    double port_s = 0;  // when its last message has left
    double activation = 0;
  };

  bool run_rank(const SplitOrder& order, int rank, Schedule* schedule);
  std::int64_t input_of(const SplitItem& item, bool is_forward) const;
  bool make_room(const SplitRank& list, Rank& at, double arrives_s, double activation,
                 std::vector<Action>* actions);
  void finish(const SplitOrder& order, int rank, const SplitItem& item, bool is_forward,
              std::vector<Action>* actions);
  void run_weight(const SplitRank& order, Rank& rank, std::vector<Action>* actions);
  void deliver(std::int64_t made, int maker, int consumer, double made_s);

  ScheduleRequest request_;
  std::vector<Stage> stages_;
  double limit_;
  std::vector<Rank> ranks_;
  // [stage * m + unit] Arrival time of an activation; those of input gradients follow all
  // activations.
  std::vector<double> there_s_;
  std::vector<int> ready_;
};

}  // namespace windtunnel
