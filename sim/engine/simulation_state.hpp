// What a Simulation knows of its tasks, streams, collectives and ranks while they run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <simgrid/s4u.hpp>
#include <vector>

#include "sim/engine/rank_program.hpp"

namespace windtunnel {

inline constexpr TaskIndex kNothing = -1;  // the stream's actor is not waiting
inline constexpr TaskIndex kAnyTask = -2;  // it waits for whichever task gets ready

enum Flag : std::uint8_t {
  kTimeOk = 1,   // not_before_s has passed (or the stream's actor sees to it)
  kPosted = 2,   // a receive: ready, and its stream's turn
  kArrived = 4,  // a receive: all bytes are there
  kDone = 8,
};

struct TaskRef {
  std::int32_t rank = 0;  // index into Folding::ranks
  TaskIndex task = 0;
};

struct StreamState {
  simgrid::s4u::ActorPtr actor;
  simgrid::s4u::Mailbox* mailbox = nullptr;  // of its transfers
  TaskIndex waiting_for = kNothing;
  std::int32_t cursor = 0;       // a passive stream in order: the task whose turn it is
  std::vector<TaskIndex> ready;  // a stream by priority: heap of what could run
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
  std::size_t first_task = 0;      // into pending_ and flags_
  std::size_t first_stream = 0;
};

}  // namespace windtunnel
