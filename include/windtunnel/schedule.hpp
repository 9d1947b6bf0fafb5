// A custom pipeline schedule: a function that gives the order of work on every pipeline rank.
// Case::add_schedule gives it a name, which scenarios can use like any other.
#pragma once

#include <functional>
#include <vector>
#include <windtunnel/export.hpp>

namespace windtunnel_api {

enum class Pass {
  forward,
  backward,         // both gradients at once
  backward_input,   // the gradient of the input, which the stage before waits for
  backward_weight,  // the gradient of the weights, any time afterwards
};

struct Action {
  Pass pass = Pass::forward;
  int stage = 0;       // of the model, from 0
  int microbatch = 0;  // from 0
};

// Work of a stage on one micro-batch.
struct StageWork {
  double forward_s = 0;
  double backward_input_s = 0;  // includes the recomputation that it needs
  double backward_weight_s = 0;
  double activation_bytes = 0;  // kept from the forward until the end of the backward
};

// Input of a schedule generator.
struct ScheduleRequest {
  int ranks = 1;  // layout.pp
  int microbatches = 1;
  int chunks = 1;                      // stages per rank: layout.vpp
  int group = 0;                       // schedule.group; 0: not set
  double memory_limit = 0;             // bytes available for activations on a rank
  double message_s = 0;                // from one rank to the next
  std::vector<StageWork> stages = {};  // [stage]; ranks * chunks of them
};

struct Schedule {
  std::vector<std::vector<Action>> actions;  // [rank], in order
  std::vector<int> rank_of_stage = {};       // empty: stage s is on rank s % ranks
};

// Called several times for one simulation, and in a sweep from several threads: equal requests must
// get equal schedules. An order that omits or repeats work, or deadlocks, causes an Error that
// names rank and action.
using ScheduleGenerator = std::function<Schedule(const ScheduleRequest&)>;

}  // namespace windtunnel_api
