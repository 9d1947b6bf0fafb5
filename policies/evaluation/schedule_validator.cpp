#include "policies/evaluation/schedule_validator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "models/base/error.hpp"

namespace windtunnel {
namespace {

// Which actions of one unit a stage has run so far.
struct Progress {
  bool forward = false;
  bool recompute = false;
  bool backward_input = false;
  bool backward_weight = false;
};

// Which collectives and recomputations a stage has had so far.
struct StageProgress {
  bool is_sharded = false;  // its weights are sharded now; false without unshard actions
  bool is_reduced = true;   // no gradients have been added since the last reduction
  bool has_reductions = false;
  bool has_recomputes = false;
};

class Validation {
 public:
  explicit Validation(const Schedule& schedule) : schedule_(schedule) {}

  void run() {
    check_numbers();
    check_slices();
    units_ = schedule_.units();
    progress_.resize(static_cast<std::size_t>(schedule_.stages()) * units_);
    stages_.resize(schedule_.stages());
    for (int rank = 0; rank < schedule_.ranks; ++rank) {
      for (const Action& action : schedule_.actions[rank]) prepare(rank, action);
    }
    for (rank_ = 0; rank_ < schedule_.ranks; ++rank_) {
      const auto& actions = schedule_.actions[rank_];
      for (std::size_t i = 0; i < actions.size(); ++i) {
        if (actions[i].with_next) {
          check_pair(actions[i], i + 1 < actions.size() ? &actions[i + 1] : nullptr);
        }
        advance(actions[i]);
      }
    }
    for (int unit = 0; unit < units_; ++unit) check_complete(unit);
    for (int stage = 0; stage < schedule_.stages(); ++stage) {
      if (stages_[stage].has_reductions && !stages_[stage].is_reduced) {
        reject_missing({ActionKind::reduce_grad, stage, 0},
                       "is missing after the last backward pass");
      }
    }
  }

 private:
  [[noreturn]] void reject(const Action& action, std::string_view why) const {
    throw Error::of_key("schedule", "'{}', rank {}, action {}: {}", schedule_.name, rank_,
                        to_string(action), why);
  }

  [[noreturn]] void reject_missing(const Action& action, std::string_view why = "is missing") {
    rank_ = schedule_.rank_of_stage[action.stage];
    reject(action, why);
  }

  [[noreturn]] void wrong(std::string_view why) const;
  void check_numbers() const;
  void check_slices() const;

  Progress& progress_of(int stage, int unit) {
    return progress_[static_cast<std::size_t>(stage) * units_ + unit];
  }

  // Checks the action's indices, and looks up the progress of its stage.
  void prepare(int rank, const Action& action) {
    rank_ = rank;
    if (action.stage < 0 || action.stage >= schedule_.stages()) {
      reject(action, fmt::format("there are {} stages", schedule_.stages()));
    }
    if (action.unit < 0 || action.unit >= units_) {
      reject(action, fmt::format("there are {} {}", units_, unit_name()));
    }
    if (schedule_.rank_of_stage[action.stage] != rank) {
      reject(action, fmt::format("the stage is on rank {}", schedule_.rank_of_stage[action.stage]));
    }
    StageProgress& stage = stages_[action.stage];
    if (action.kind == ActionKind::unshard) stage.is_sharded = true;
    if (action.kind == ActionKind::reduce_grad) stage.has_reductions = true;
    if (action.kind == ActionKind::recompute) stage.has_recomputes = true;
  }

  std::string_view unit_name() const {
    if (schedule_.slices > 1) return "slices";
    return schedule_.iterations > 1 ? "micro-batches in all iterations" : "micro-batches";
  }

  // Checks a forward that runs as one with the action after it.
  void check_pair(const Action& action, const Action* next) const {
    if (action.kind != ActionKind::forward)
      reject(action, "only a forward pass can be paired with the next action");
    if (next == nullptr || next->kind != ActionKind::backward) {
      reject(action, "is paired with the next action, which must be a full backward pass");
    }
    if (next->stage == action.stage && next->unit == action.unit) {
      reject(action, "is paired with its own backward pass");
    }
  }

  // The stage must have run the slice before (forward) or after (backward) this one.
  void check_slices(const Action& action, bool forward) {
    const int slice = action.unit % schedule_.slices;
    const int first = forward ? slice - 1 : slice + 1;
    if (first < 0 || first >= schedule_.slices) return;
    const Progress& neighbour = progress_of(action.stage, action.unit - slice + first);
    if (forward ? neighbour.forward : neighbour.backward_input) return;
    reject(action, fmt::format("comes before that of slice {}; {}", first,
                               forward ? "forwards go up" : "backwards go down"));
  }

  void check_weights(const Action& action) const {
    if (stages_[action.stage].is_sharded)
      reject(action, "the weights have not been unsharded before");
  }

  void advance(const Action& action) {
    Progress& progress = progress_of(action.stage, action.unit);
    StageProgress& stage = stages_[action.stage];
    switch (action.kind) {
      case ActionKind::forward:
        check_weights(action);
        if (progress.forward) reject(action, "done twice");
        check_slices(action, true);
        progress.forward = true;
        return;
      case ActionKind::recompute:
        check_weights(action);
        advance_recompute(action, progress);
        return;
      case ActionKind::backward:
      case ActionKind::backward_input:
        check_weights(action);
        advance_backward(action, progress);
        if (action.kind == ActionKind::backward) stage.is_reduced = false;
        return;
      case ActionKind::backward_weight:
        if (!progress.backward_input) reject(action, "is before its input gradient");
        if (progress.backward_weight) reject(action, "done twice");
        progress.backward_weight = true;
        stage.is_reduced = false;
        return;
      case ActionKind::unshard:
        if (!stage.is_sharded) reject(action, "the weights are already unsharded");
        stage.is_sharded = false;
        return;
      case ActionKind::reshard:
        if (stage.is_sharded) reject(action, "the weights are already sharded");
        stage.is_sharded = true;
        return;
      case ActionKind::reduce_grad:
        if (stage.is_reduced) reject(action, "there are no gradients to reduce");
        stage.is_reduced = true;
        return;
      default:  // messages
        return;
    }
  }

  void advance_recompute(const Action& action, Progress& progress) const {
    if (!schedule_.explicit_recompute) reject(action, "backward passes recompute in this schedule");
    if (!progress.forward) reject(action, "is before its forward pass");
    if (progress.recompute) reject(action, "done twice");
    if (progress.backward_input) reject(action, "is after its backward pass");
    progress.recompute = true;
  }

  void advance_backward(const Action& action, Progress& progress) {
    if (!progress.forward) reject(action, "is before its forward pass");
    if (progress.backward_input) reject(action, "done twice");
    if (stages_[action.stage].has_recomputes && !progress.recompute) {
      reject(action, "is not recomputed, although other units of the stage are");
    }
    check_slices(action, false);
    progress.backward_input = true;
    if (action.kind == ActionKind::backward) progress.backward_weight = true;
  }

  // A unit must pass all stages of one direction and none of the other.
  void check_complete(int unit) {
    const int stages_of_direction = schedule_.model_stages();
    int direction = -1;
    for (int stage = 0; stage < schedule_.stages(); ++stage) {
      if (!progress_of(stage, unit).forward) continue;
      if (direction >= 0 && direction != stage / stages_of_direction) {
        reject_missing({ActionKind::forward, stage, unit},
                       fmt::format("already passes through direction {}", direction));
      }
      direction = stage / stages_of_direction;
    }
    direction = std::max(direction, 0);
    for (int stage = direction * stages_of_direction; stage < (direction + 1) * stages_of_direction;
         ++stage) {
      const Progress& done = progress_of(stage, unit);
      if (!done.forward) reject_missing({ActionKind::forward, stage, unit});
      if (!done.backward_input) reject_missing({ActionKind::backward, stage, unit});
      if (!done.backward_weight) reject_missing({ActionKind::backward_weight, stage, unit});
    }
  }

  const Schedule& schedule_;
  int units_ = 0;
  int rank_ = 0;                       // the rank that is being checked
  std::vector<Progress> progress_;     // [stage * units + unit]
  std::vector<StageProgress> stages_;  // [stage]
};

void Validation::wrong(std::string_view why) const {
  throw Error::of_key("schedule", "'{}': {}", schedule_.name, why);
}

void Validation::check_numbers() const {
  if (schedule_.ranks < 1 || schedule_.chunks < 1 || schedule_.microbatches < 1 ||
      schedule_.slices < 1 || schedule_.iterations < 1) {
    wrong("ranks, chunks, micro-batches, slices and iterations must be at least 1");
  }
  if (schedule_.directions < 1 || schedule_.chunks % schedule_.directions != 0) {
    wrong(fmt::format("{} chunks per rank do not divide into {} directions", schedule_.chunks,
                      schedule_.directions));
  }
  if (static_cast<int>(schedule_.rank_of_stage.size()) != schedule_.stages()) {
    wrong(fmt::format("{} stages are assigned to ranks, not {}", schedule_.rank_of_stage.size(),
                      schedule_.stages()));
  }
  for (const int rank : schedule_.rank_of_stage) {
    if (rank < 0 || rank >= schedule_.ranks)
      wrong(fmt::format("a stage is on rank {}, which does not exist", rank));
  }
  const auto ranks = static_cast<std::size_t>(schedule_.ranks);
  if (schedule_.actions.size() != ranks) {
    wrong(fmt::format("{} ranks have actions, not {}", schedule_.actions.size(), ranks));
  }
  if (!schedule_.weight_copies.empty() && schedule_.weight_copies.size() != ranks) {
    wrong(fmt::format("{} ranks hold copies of the weights, not {}", schedule_.weight_copies.size(),
                      ranks));
  }
}

void Validation::check_slices() const {
  if (schedule_.slice_shares.empty()) return;
  if (static_cast<int>(schedule_.slice_shares.size()) != schedule_.slices) {
    wrong(fmt::format("shares are given for {} slices, not {}", schedule_.slice_shares.size(),
                      schedule_.slices));
  }
  double sum = 0;
  for (const double share : schedule_.slice_shares) {
    if (!(share > 0)) wrong(fmt::format("a slice has the share {}, which is not possible", share));
    sum += share;
  }
  if (!(std::abs(sum - 1) < 1e-9))
    wrong(fmt::format("the shares of the slices sum to {}, not 1", sum));
}

}  // namespace

void validate_schedule(const Schedule& schedule) {
  Validation(schedule).run();
}

}  // namespace windtunnel
