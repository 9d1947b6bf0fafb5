// Collectives run in parallel to the compute streams of a pipeline's ranks. While a schedule is
// evaluated, this class computes when they end, and when the iterations of each rank end.
#pragma once

#include <vector>

#include "policies/evaluation/schedule_evaluator.hpp"

namespace windtunnel {

class CollectiveStreams {
 public:
  // Keeps references. Without collectives or an iteration end no other function may be called.
  CollectiveStreams(const Schedule& schedule, const SideStreams& beside);

  // Runs an unshard or reduce_grad action. The compute before it in the list ends at `now_s`.
  void transfer_weights(const Action& action, int rank, double now_s);

  // Returns the end of an action that could start at `start_s` if it waited for no collective. The
  // action before it ended at `previous_s`. `second`: runs as one with the action.
  double run(const Action& action, const Action* second, int rank, double start_s,
             double previous_s);

  // The rank's current iteration, and the position after the iteration's last action.
  int iteration(int rank) const { return ranks_[rank].iteration; }
  const Action* end_of_iteration(int rank) const {
    return schedule_.actions[rank].data() + (marks_[iteration(rank)].end[rank] + 1);
  }
  // Issues the last reductions of the rank's gradients in the current iteration, after its compute
  // has ended at `now_s`. Returns false if this was done before.
  bool arrive(int rank, double now_s);
  // Returns when the rank can compute again; kPending if its partner has not arrived.
  static constexpr double kPending = -1;
  double end_iteration(int rank);

  // [rank] When its gradients and its partner's are reduced, in the last reported iteration.
  std::vector<double> ends_s() const;

 private:
  struct RankStream {
    double before_s = 0;   // end of the second to last segment that has run
    double channel_s = 0;  // end of the most recently issued collective
    double reduce_s = 0;   // seconds of the reduction that is issued next
    double gathers_s = 0;  // when the iteration's gathers were issued
    int iteration = 0;     // the current one
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
  std::vector<const Action*> first_forward_;  // [iteration * stages + stage], taken from marks_
  std::vector<const Action*> last_backward_;  // [iteration * stages + stage], from marks_
  std::vector<double> unsharded_s_;           // [stage] end of its unshard; empty: no unshards
  std::vector<double> arrived_s_;   // [iteration * ranks + rank] when its gradients are reduced
  std::vector<double> complete_s_;  // the same, when also its partner's gradients are reduced
};

}  // namespace windtunnel
