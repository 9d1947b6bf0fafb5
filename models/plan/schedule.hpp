// A pipeline schedule lists for every pipeline rank which actions it runs and in which order:
// forward and backward passes of units (micro-batches, or slices of them) on the stages that the
// rank holds. policies/schedules/ makes the named ones. A schedule has no times. It contains
// messages only if it says when they are posted.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace windtunnel {

enum class ActionKind : std::uint8_t {
  forward,          // F
  backward,         // B: input and weight gradient at once
  backward_input,   // I
  backward_weight,  // W
  recompute,        // R: the forward again, for the backward that follows
  // These three exist for a stage whose weights are sharded (ZeRO-3).
  unshard,
  reshard,
  reduce_grad,
  // Messages exist only in schedules that say when they are posted; otherwise they are implied
  // where an action needs another rank's result.
  send_forward,
  receive_forward,
  send_backward,
  receive_backward,
};

// The letters that torch.distributed.pipelining uses: "F", "UNSHARD", "SEND_F". "R" is an addition.
std::string_view letters_of(ActionKind kind);
// F, B, I, W, R.
constexpr bool is_compute(ActionKind kind) {
  return kind <= ActionKind::recompute;
}
constexpr bool makes_input_gradient(ActionKind kind) {  // B, I
  return kind == ActionKind::backward || kind == ActionKind::backward_input;
}
constexpr bool makes_weight_gradient(ActionKind kind) {  // B, W
  return kind == ActionKind::backward || kind == ActionKind::backward_weight;
}

struct Action {
  constexpr Action() = default;
  constexpr Action(ActionKind the_kind, std::int32_t the_stage, std::int32_t the_unit,
                   bool with_the_next = false)
      : kind(the_kind), with_next(with_the_next), stage(the_stage), unit(the_unit) {}
  bool operator==(const Action&) const = default;

  ActionKind kind = ActionKind::forward;
  // A forward that runs as one with the full backward after it in the list (DualPipe).
  bool with_next = false;
  std::int32_t stage = 0;  // of Schedule::stages()
  std::int32_t unit = 0;   // of Schedule::units(); 0 for the kinds that have none
};

// "3F1": stage, letters and unit, as torch writes them.
std::string to_string(const Action& action);

struct Schedule;
struct ScheduleKind;  // policies/schedules/schedules.hpp
// The generators that the calling program supplies.
using OwnSchedules = std::vector<std::shared_ptr<const ScheduleKind>>;

// The parameters of a generator, chosen by name (policies/schedules/schedules.hpp). Parameters that
// the generator does not use must keep their defaults.
struct ScheduleChoice {
  std::string name = "1f1b";
  int group = 0;   // micro-batches that pass through a chunk together; 0: p, one per rank
  int slices = 1;  // pieces of each micro-batch's sequence
  bool defer_weights = false;  // 2BP: weight gradients run separately, at the end
  double memory_limit = 0;     // bytes of a rank's activations; 0: what GPUs have room for
  // Stage-aware recomputation: the share of stage 0's layers that recompute; later stages recompute
  // less (policies/lowering/unit_cost.hpp).
  double recompute_share = 1;
  std::string file;                                    // a CSV file of torch instead of a name
  std::shared_ptr<const Schedule> imported = nullptr;  // the content of that file, without messages
  // The calling program's own generator of this name; null: one of the project's.
  std::shared_ptr<const ScheduleKind> own = nullptr;
};

// A unit is what passes through the stages: a micro-batch or a slice of one. An asynchronous
// schedule numbers the units of several iterations: unit = (iteration * microbatches + micro-batch)
// * slices + slice.
struct Schedule {
  std::string name;
  int ranks = 0;         // p
  int chunks = 1;        // stages per rank, over all directions
  int microbatches = 0;  // m, per iteration
  // Pipelines over the same ranks, each with all the model's stages (Chimera, DualPipe: 2). Every
  // unit passes through one of them.
  int directions = 1;
  // slices of a micro-batch's sequence; forwards take them in ascending order, backwards descending
  int slices = 1;
  int iterations = 1;  // > 1: asynchronous, consecutive iterations without a flush between them
  // Whether recomputation has its own actions. Otherwise backwards contain it.
  bool explicit_recompute = false;
  std::vector<double> slice_shares;   // [slice] share of the sequence; empty: equal shares
  std::vector<double> weight_copies;  // [rank] versions of its weights that it holds; empty: 1
  // [stage]. Direction k has the stages from k * model_stages() on.
  std::vector<int> rank_of_stage;
  std::vector<std::vector<Action>> actions;  // [rank]

  int stages() const { return ranks * chunks; }
  int model_stages() const { return stages() / directions; }
  int model_stage(int stage) const { return stage % model_stages(); }
  int units() const { return iterations * microbatches * slices; }
};

// An asynchronous schedule has the period (end of iteration `last` - end of iteration `first`) /
// (last - first). Earlier iterations fill the pipeline and later ones drain it; between the two at
// least as many micro-batches end as are in flight at once.
struct SteadyWindow {
  int first = 0;
  int last = 0;
};
SteadyWindow steady_window(const Schedule& schedule);

// [rank] -> the stages of the model that it holds, ascending, over all directions.
using HeldStages = std::vector<std::vector<int>>;
HeldStages held_stages(const Schedule& schedule);
// Chunk c of rank r is stage c * ranks + r.
HeldStages looped_stages(int ranks, int chunks);

// A value for each kind of a stage's actions, with separate values for two special ones in an
// iteration: the first forward, and the backward that completes the gradients.
template <class T>
struct ByAction {
  T first_forward;
  T forward;
  T backward;
  T backward_input;
  T backward_weight;
  T last_backward;
  T last_backward_weight;

  std::array<T*, 7> all() {
    return {&first_forward,       &forward,         &backward,
            &backward_input,      &backward_weight, &last_backward,
            &last_backward_weight};
  }
  std::array<const T*, 7> all() const {
    return {&first_forward,       &forward,         &backward,
            &backward_input,      &backward_weight, &last_backward,
            &last_backward_weight};
  }
  const T& of(ActionKind kind, bool first, bool last) const {
    switch (kind) {
      case ActionKind::backward:
        return last ? last_backward : backward;
      case ActionKind::backward_input:
        return backward_input;
      case ActionKind::backward_weight:
        return last ? last_backward_weight : backward_weight;
      default:
        return first ? first_forward : forward;
    }
  }
};

}  // namespace windtunnel
