// A pipeline schedule of one's own: a function that says in which order every pipeline rank does
// its work. Case::add_schedule gives it a name, which the scenario then uses like any other.
#pragma once

#include <functional>
#include <vector>
#include <windtunnel/export.hpp>

namespace windtunnel_api {

enum class Pass {
  forward,
  backward,         // both gradients at once
  backward_input,   // the gradient of the input, which the stage before waits for
  backward_weight,  // that of the weights, any time after it
};

struct Action {
  Pass pass = Pass::forward;
  int stage = 0;       // of the model, from 0
  int microbatch = 0;  // from 0
};

// A stage's work on one micro-batch.
struct StageWork {
  double forward_s = 0;
  double backward_input_s = 0;  // with what is recomputed for it
  double backward_weight_s = 0;
  double activation_bytes = 0;  // kept from the forward to the end of the backward
};

// What the schedule is made for.
struct ScheduleRequest {
  int ranks = 1;  // layout.pp
  int microbatches = 1;
  int chunks = 1;                      // stages per rank: layout.vpp
  int group = 0;                       // schedule.group; 0: the scenario says nothing
  double memory_limit = 0;             // bytes that a rank has for activations
  double message_s = 0;                // from one rank to the next
  std::vector<StageWork> stages = {};  // [stage]; ranks * chunks of them
};

struct Schedule {
  std::vector<std::vector<Action>> actions;  // [rank], each in its order
  std::vector<int> rank_of_stage = {};       // empty: stage s is on rank s % ranks
};

// Called several times for one simulation, in a sweep from several threads at once: equal requests
// must get equal schedules. An order that leaves out work, does it twice or can never end is an
// Error that names rank and action.
using ScheduleGenerator = std::function<Schedule(const ScheduleRequest&)>;

}  // namespace windtunnel_api
