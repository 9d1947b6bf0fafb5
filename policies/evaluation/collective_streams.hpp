// During evaluation of a schedule: the streams of collectives in parallel to the compute streams of
// a pipeline's ranks, and the ends of their iterations.
#pragma once

#include <vector>

#include "policies/evaluation/schedule_evaluator.hpp"

namespace windtunnel {

class CollectiveStreams {
 public:
  // Keeps references. Unused if there are neither collectives nor an iteration end.
  CollectiveStreams(const Schedule& schedule, const SideStreams& beside);

  // Runs an unshard or reduce_grad action; earlier compute ends at `now_s`.
  void transfer_weights(const Action& action, int rank, double now_s);

  // Returns the end of an action (together with `second`, if given) that could start at `start_s`;
  // the previous one ended at `previous_s`.
  double run(const Action& action, const Action* second, int rank, double start_s,
             double previous_s);

  // The rank's current iteration, and the position after its last action.
  int iteration(int rank) const { return ranks_[rank].iteration; }
  const Action* end_of_iteration(int rank) const {
    return schedule_.actions[rank].data() + (marks_[iteration(rank)].end[rank] + 1);
  }
  // Issues the remaining reductions of the current iteration's own gradients, when the rank's
  // compute has ended at `now_s`; false: it was done before.
  bool arrive(int rank, double now_s);
  // When the rank resumes computing; kPending if its partner has not arrived.
  static constexpr double kPending = -1;
  double end_iteration(int rank);

  // [rank] When its gradients and its partner's are reduced, in the last reported iteration.
  std::vector<double> ends_s() const;

 private:
  struct RankStream {
    double before_s = 0;   // end of the second to last segment
    double channel_s = 0;  // end of the most recently issued collective
    double reduce_s = 0;   // time of the reduction to be issued next
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
  std::vector<double> unsharded_s_;           // [stage] end of its unshard; empty: no such actions
  std::vector<double> arrived_s_;   // [iteration * ranks + rank] when its own gradients are reduced
  std::vector<double> complete_s_;  // when the partner's are reduced, too
};

}  // namespace windtunnel
