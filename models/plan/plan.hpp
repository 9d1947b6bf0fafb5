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
// As files and reports have them, in this order.
const std::vector<std::string>& names_of(TaskKind);
const std::string& name_of(TaskKind kind);

// Units of each resource that one unit of a flow uses: {pcie_out, 1}, {host_memory, 2}.
struct Demand {
  Resource resource = Resource::hbm;
  int weight = 1;
  bool operator==(const Demand&) const = default;
};

// A fluid amount of work on resources of the rank's own node, shared max-min fairly with all others
// that use them.
struct Flow {
  double amount = 0;                                          // bytes, SM-seconds or core-seconds
  double max_rate = std::numeric_limits<double>::infinity();  // units per second
  std::vector<Demand> demands;
  bool operator==(const Flow&) const = default;
};

struct Task {
  TaskKind kind = TaskKind::compute;
  std::optional<ActionKind> action;  // of the schedule, that it computes
  bool paired = false;               // with another: a forward and a full backward as one
  std::string name;                  // for people: "F0.3" = forward of stage 0, micro-batch 3
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

  // First the plain time sum(cost), then all flows at once; it ends when the last of them does.
  std::vector<CostPart> cost;
  std::vector<Flow> flows;
  Category category = Category::forward;  // what time beyond `cost` is charged to
  Origin origin = Origin::assumed;        // what that time rests on

  // send, recv: matched by (source rank, destination rank, tag).
  std::int16_t peer_slot = -1;
  std::int64_t tag = 0;
  double bytes = 0;  // per rank; collective: the full buffer
  // A synchronous send starts when the receive is posted too; an asynchronous one at once, and the
  // receive ends when it is posted and the bytes have arrived. recv carries no cost of its own.
  bool synchronous = false;

  // collective: matched by (group, sequence). Starts when every member has reached it.
  std::int16_t group_slot = -1;
  std::int32_t sequence = 0;
  CollectiveKind collective = CollectiveKind::all_reduce;
  CollectiveAlgorithm algorithm = CollectiveAlgorithm::automatic;
  Protocol protocol = Protocol::automatic;
  bool as_flows = false;  // false: `cost` is the closed form's time; true: cost = latency
  // All-to-alls: an index into Plan::exchanges, where `bytes` is the mean that a member sends (-1:
  // all get the same), and whether it is the way back.
  std::int16_t exchange = -1;
  bool returns = false;

  // Memory timeline of the rank.
  double allocate_bytes = 0;  // when it starts
  double free_bytes = 0;      // when it ends
  // The same for a tier beside the GPU (Job::offload).
  double tier_allocate_bytes = 0;
  double tier_free_bytes = 0;
  bool operator==(const Task&) const = default;
};

enum class StreamOrder : std::uint8_t {
  in_order,  // one task at a time, in list order
  // one task at a time: of those ready the highest priority, then list order; no receives
  by_priority,
  unordered,  // every task as soon as it is ready; holds receives only
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
  int draw = 0;  // of the machine's jitter
  // Ranks r of equal r / in_step wait for each other inside their tasks, whose cost holds the
  // collectives between them: all take as long as the slowest. They are of one class.
  int in_step = 1;
  std::vector<RankClass> classes;
  std::vector<Group> groups;
  std::vector<UnevenExchange> exchanges;
  bool operator==(const Plan&) const = default;
};

// Kinds of task that take longer on a slow node, in their kernels' plain time and in the amounts of
// their flows; messages, collectives and storage do not.
bool slowed_by_node(TaskKind kind);
// Sum of its cost on a node whose kernels take `slowdown` times as long.
double plain_seconds(const Task& task, double slowdown);

// The other end of a message: for a send its receive, for a receive its send.
struct Counterpart {
  std::int32_t rank_class = -1;  // -1: the task is neither
  TaskIndex task = -1;
};

// [class][task]. All members of a class have, by slot, peers of one class, so that matching holds
// by class. Throws InternalError when a send or a receive has no partner.
std::vector<std::vector<Counterpart>> match_messages(const Plan& plan);

// [rank] -> index of its class, and position among the members.
struct ClassMember {
  std::int32_t rank_class = -1;
  std::int32_t member = -1;
};
std::vector<ClassMember> class_of_rank(const Plan& plan);

// [class][group slot] -> number of the rendezvous: slots of different classes that share a group
// have the same one, so (rendezvous, sequence) names a collective in every class that takes part.
std::vector<std::vector<std::int32_t>> rendezvous_of(const Plan& plan);

// Throws InternalError (a Plan is made by us) that names class and task unless: members partition
// the ranks, indices are in range, `after` is acyclic and together with stream order and matching
// cannot deadlock, every send has its receive and back, group members agree on their collectives,
// unordered streams hold receives only.
void validate_plan(const Plan& plan);

}  // namespace windtunnel
