// What a Simulation knows of its tasks, streams, collectives and ranks while they run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <simgrid/s4u.hpp>
#include <vector>

#include "models/plan/task_board.hpp"
#include "sim/engine/rank_program.hpp"

namespace windtunnel {

inline constexpr TaskIndex kNothing = -1;  // the stream's actor is not waiting
inline constexpr TaskIndex kAnyTask = -2;  // it waits for whichever task gets ready

struct StreamState {
  simgrid::s4u::ActorPtr actor;
  simgrid::s4u::Mailbox* mailbox = nullptr;  // of its transfers
  TaskIndex waiting_for = kNothing;
};

// One collective of a group: who has come, and who sleeps until it goes on.
struct Rendezvous {
  int arrived = 0;
  int working = 0;     // members whose transfers still run
  double cost_s = 0;   // the largest of the members'
  bool fluid = false;  // some member has transfers: every member works for itself
  bool started = false;
  bool ended = false;
  std::vector<TaskRef> sleepers;
};

struct RankState {
  const ClassTemplate* tasks_of = nullptr;
  const RankClass* rank_class = nullptr;
  std::size_t first_slowdown = 0;  // into slowdowns_
  std::size_t first_stream = 0;    // into streams_
};

}  // namespace windtunnel
