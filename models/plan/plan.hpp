// The Plan: for every rank and stream the ordered list of tasks with their dependencies. It is the
// one value that every executor (simulation, real hardware, trace export) reads.
//
// Ranks come as classes: ranks of one class run the same task list, each with its own groups and
// peers. A class's members are listed; the i-th entry of every slot belongs to the i-th member.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "models/machine/links/links.hpp"
#include "models/network/collectives/collective.hpp"
#include "models/network/groups/uneven_exchange.hpp"
#include "models/plan/schedule.hpp"
#include "models/plan/task_cost.hpp"

namespace windtunnel {

using RankId = std::int32_t;
using TaskIndex = std::int32_t;  // position in the class's task list

enum class TaskKind : std::uint8_t { compute, send, recv, collective, copy, encode, store };
// Names as written in files and reports, in the order of the enumeration.
const std::vector<std::string>& names_of(TaskKind);
const std::string& name_of(TaskKind kind);

// Units of a resource that one unit of a flow uses: {pcie_out, 1}, {host_memory, 2}.
struct Demand {
  Resource resource = Resource::hbm;
  int weight = 1;
  bool operator==(const Demand&) const = default;
};

// Work on resources of the rank's own node, in fluid amounts, shared max-min fairly with all other
// flows that use them.
struct Flow {
  double amount = 0;                                          // bytes, SM-seconds or core-seconds
  double max_rate = std::numeric_limits<double>::infinity();  // units per second
  std::vector<Demand> demands;
  bool operator==(const Flow&) const = default;
};

struct Task {
  TaskKind kind = TaskKind::compute;
  std::optional<ActionKind> action;  // the schedule's action that it computes
  bool paired = false;               // a forward and a full backward that run as one
  std::string name;  // for people to read: "F0.3" = forward of stage 0, micro-batch 3
  std::int16_t stream = 0;
  std::int16_t iteration = 0;
  std::int32_t stage = -1;
  std::int32_t microbatch = -1;

  // A task starts when its predecessors have ended (all of them, or the first `join_first`), its
  // stream is free (or, on an unordered stream, at once) and not_before_s has passed.
  std::vector<TaskIndex> after;  // of the same rank
  int join_first = 0;            // 0: all
  double not_before_s = 0;
  int priority = 0;  // larger first, on a stream by priority

  // First the fixed time sum(cost) passes, then all flows run at once; the task ends with the last.
  std::vector<CostPart> cost;
  std::vector<Flow> flows;
  Category category = Category::forward;  // what time beyond `cost` is charged to
  Origin origin = Origin::assumed;        // the origin of that time's numbers

  // send, recv: matched by (source rank, destination rank, tag).
  std::int16_t peer_slot = -1;
  std::int64_t tag = 0;
  double bytes = 0;  // per rank; collective: the full buffer
  // A synchronous send starts when the receive is posted too; an asynchronous send starts at once,
  // and the receive ends when it is posted and the bytes have arrived. A recv has no cost.
  bool synchronous = false;

  // collective: matched by (group, sequence). Starts when every member has reached it.
  std::int16_t group_slot = -1;
  std::int32_t sequence = 0;
  CollectiveKind collective = CollectiveKind::all_reduce;
  CollectiveAlgorithm algorithm = CollectiveAlgorithm::automatic;
  Protocol protocol = Protocol::automatic;
  bool as_flows = false;  // false: `cost` is the closed form's time; true: cost = latency
  // All-to-alls: index into Plan::exchanges (-1: all members get the same), and whether this is the
  // return direction. With an index, `bytes` is the mean that a member sends.
  std::int16_t exchange = -1;
  bool returns = false;

  // Change of the rank's memory.
  double allocate_bytes = 0;  // when it starts
  double free_bytes = 0;      // when it ends
  // Bytes in a memory tier outside the GPU (Job::offload).
  double tier_allocate_bytes = 0;
  double tier_free_bytes = 0;
  bool operator==(const Task&) const = default;
};

enum class StreamOrder : std::uint8_t {
  in_order,  // one task at a time, in list order
  // one task at a time: the highest priority among the ready ones, then list order; no receives
  by_priority,
  unordered,  // every task as soon as it is ready; holds only receives
};

struct Stream {
  std::string name;  // "compute", "send", "recv", "dp", "copy"
  StreamOrder order = StreamOrder::in_order;
  bool operator==(const Stream&) const = default;
};

struct Group {
  Category axis = Category::dp;
  std::vector<RankId> members;
  bool operator==(const Group&) const = default;
};

struct RankClass {
  std::string name;  // "pp 3"
  std::vector<RankId> members;
  std::vector<Stream> streams;
  std::vector<Task> tasks;                        // within a stream, list order is issue order
  std::vector<std::vector<std::int32_t>> groups;  // [slot][member]: index into Plan::groups
  std::vector<std::vector<RankId>> peers;         // [slot][member]
  bool operator==(const RankClass&) const = default;
};

struct Plan {
  int ranks = 0;  // rank r runs on GPU r
  int iterations = 1;
  int draw = 0;  // number of the draw of the machine's jitter
  // Ranks r with equal r / in_step synchronise inside their tasks, because the cost of a task
  // includes the collectives between these ranks. All take as long as the slowest. They belong to
  // one class.
  int in_step = 1;
  std::vector<RankClass> classes;
  std::vector<Group> groups;
  std::vector<UnevenExchange> exchanges;
  bool operator==(const Plan&) const = default;
};

// Whether a slow node lengthens tasks of this kind: the fixed time of their kernels and the amounts
// of their flows. It does not lengthen messages, collectives and storage.
bool slowed_by_node(TaskKind kind);
// Sum of the task's cost on a node whose kernels take `slowdown` times as long.
double plain_seconds(const Task& task, double slowdown);

// The other end of a message: for a send its receive, for a receive its send.
struct Counterpart {
  std::int32_t rank_class = -1;  // -1: the task is no message
  TaskIndex task = -1;
};

// Result: [class][task]. All members of a class have, in each slot, peers of one class, so classes
// can be matched instead of ranks. Throws InternalError when a send or a receive has no partner.
std::vector<std::vector<Counterpart>> match_messages(const Plan& plan);

// Tells for each rank its class and its position among the class's members.
struct ClassMember {
  std::int32_t rank_class = -1;
  std::int32_t member = -1;
};
std::vector<ClassMember> class_of_rank(const Plan& plan);

// Result: [class][group slot] -> number of the rendezvous. Slots of different classes that share a
// group have the same number, so (rendezvous, sequence) names a collective in all its classes.
std::vector<std::vector<std::int32_t>> rendezvous_of(const Plan& plan);

// Throws InternalError, naming class and task, unless members partition the ranks, indices are in
// range, `after` is acyclic and cannot deadlock together with stream order and matching, every send
// has its receive and vice versa, group members agree on their collectives, and unordered streams
// hold only receives.
void validate_plan(const Plan& plan);

}  // namespace windtunnel
