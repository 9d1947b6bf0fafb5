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

}  // namespace windtunnel
