// What a Simulation knows of tasks, streams, collectives and ranks while they run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <simgrid/s4u.hpp>
#include <vector>

#include "models/plan/task_board.hpp"
#include "sim/engine/rank_program.hpp"

namespace windtunnel {

inline constexpr TaskIndex kNothing = -1;  // the stream's actor does not wait
inline constexpr TaskIndex kAnyTask = -2;  // the actor waits for any task to become ready

struct StreamState {
  simgrid::s4u::ActorPtr actor;
  simgrid::s4u::Mailbox* mailbox = nullptr;  // the stream's transfers use it
  TaskIndex waiting_for = kNothing;
};

// One collective of a group: members that have arrived, and actors that sleep until it goes on.
struct Rendezvous {
  int arrived = 0;
  int working = 0;     // members with transfers that still run
  double cost_s = 0;   // maximum over members
  bool fluid = false;  // some member has transfers, so every member goes on separately
  bool started = false;
  bool ended = false;
  std::vector<TaskRef> sleepers;
};

struct RankState {
  const ClassTemplate* tasks_of = nullptr;
  const RankClass* rank_class = nullptr;
  std::size_t first_slowdown = 0;  // index into slowdowns_
  std::size_t first_stream = 0;    // index into streams_
};

}  // namespace windtunnel
