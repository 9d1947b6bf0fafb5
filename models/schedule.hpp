// A pipeline schedule: for every pipeline rank the ordered list of its actions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace windtunnel {

enum class ActionKind : std::uint8_t {
  forward,          // F
  backward,         // B: input and weight gradient at once
  backward_input,   // I
  backward_weight,  // W
};

struct Action {
  ActionKind kind = ActionKind::forward;
  std::int32_t stage = 0;  // global: chunk * pp + rank for interleaved placement
  std::int32_t microbatch = 0;
};

struct Schedule {
  std::string name;
  int ranks = 0;                             // p
  int chunks = 1;                            // v, per rank
  int microbatches = 0;                      // m
  std::vector<int> rank_of_stage;            // size ranks * chunks
  std::vector<std::vector<Action>> actions;  // [rank]

  int stages() const { return ranks * chunks; }
};

// Something that a stage has for each kind of its actions, and apart for those that are special in
// an iteration: the first forward, and the backward that completes the gradients.
template <class T>
struct ByAction {
  T first_forward;
  T forward;
  T backward;
  T backward_input;
  T backward_weight;
  T last_backward;
  T last_backward_weight;

  const T& of(ActionKind kind, bool first, bool last) const {
    switch (kind) {
      case ActionKind::backward:
        return last ? last_backward : backward;
      case ActionKind::backward_input:
        return backward_input;
      case ActionKind::backward_weight:
        return last ? last_backward_weight : backward_weight;
      case ActionKind::forward:
        break;
    }
    return first ? first_forward : forward;
  }
};

}  // namespace windtunnel
