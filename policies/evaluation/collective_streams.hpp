// The streams of collectives beside the compute streams of a pipeline's ranks, and what ends their
// iterations, while a schedule is evaluated.
#pragma once

#include <vector>

#include "policies/evaluation/schedule_evaluator.hpp"

namespace windtunnel {

class CollectiveStreams {
 public:
  // Keeps references; without collectives and end there is nothing to ask for.
  CollectiveStreams(const Schedule& schedule, const SideStreams& beside);

  // An unshard or reduce_grad action when what computes before it ends at `now_s`.
  void transfer_weights(const Action& action, int rank, double now_s);

  // The end of an action (with `second`, if given, as one) that could start at `start_s`; the one
  // before it ended at `previous_s`.
  double run(const Action& action, const Action* second, int rank, double start_s,
             double previous_s);

  // The iteration of the rank that has not ended, and the place after its last action.
  int iteration(int rank) const { return ranks_[rank].iteration; }
  const Action* end_of_iteration(int rank) const {
    return schedule_.actions[rank].data() + (marks_[iteration(rank)].end[rank] + 1);
  }
  // That iteration's own gradients are reduced, all else when the rank computes from `now_s` on;
  // false: they were before.
  bool arrive(int rank, double now_s);
  // When the rank computes on, kPending if its partner has not arrived.
  static constexpr double kPending = -1;
  double end_iteration(int rank);

  // [rank] with its partner's gradients; of the last reported iteration.
  std::vector<double> ends_s() const;

 private:
  struct RankStream {
    double before_s = 0;   // end of the last segment but one
    double channel_s = 0;  // end of the last collective that was issued
    double reduce_s = 0;   // of the reduction that is to be issued next
    double gathers_s = 0;  // when the gathers of the iteration were issued
    int iteration = 0;     // that has not ended
  };

  std::size_t cell_of(const Action& action) const {
    if (schedule_.slices == 1) return action.stage;
    return std::size_t(action.stage) * schedule_.slices + action.unit % schedule_.slices;
  }
  bool is_first(const Action& action, int rank) const {
    return first_forward_[std::size_t(ranks_[rank].iteration) * stages_ + action.stage] == &action;
  }
  bool is_last(const Action& action) const {
    const int iteration =
        schedule_.iterations == 1 ? 0 : action.unit / (schedule_.microbatches * schedule_.slices);
    return last_backward_[std::size_t(iteration) * stages_ + action.stage] == &action;
  }
  const ActionMap& map_of(const Action& action, int rank) const;
  const ActionMap& map_of_pair(const Action& action, const Action& second, int rank) const;

  const Schedule& schedule_;
  const CollectivesBeside* collectives_;
  const IterationEnd* end_;
  std::vector<RankStream> ranks_;
  std::vector<IterationMarks> marks_;
  std::size_t stages_ = 0;
  std::vector<const Action*> first_forward_;  // [iteration * stages + stage], of marks_
  std::vector<const Action*> last_backward_;  // the same
  std::vector<double> unsharded_s_;           // [stage]; empty: by no action
  std::vector<double> arrived_s_;             // [iteration * ranks + rank] own gradients reduced
  std::vector<double> complete_s_;            // the same, with the partner's
};

}  // namespace windtunnel
