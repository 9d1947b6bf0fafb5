// Builds the task list of one pipeline rank: its streams, peers and groups, and the tasks that do
// not depend on the schedule: messages, collectives, the optimizer.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "models/cost/op/inner_round.hpp"
#include "models/network/groups/group_shapes.hpp"
#include "models/plan/job.hpp"
#include "models/plan/plan.hpp"
#include "policies/exchange/data_parallel.hpp"
#include "policies/exchange/replica_groups.hpp"

namespace windtunnel {

// A family of groups: it has one for each member of a pipeline rank, with common properties.
struct GroupSlot {
  std::vector<std::int32_t> instance_of_member;  // index into Plan::groups
  GroupShape shape;
};

// Shapes that a plan's groups have if no other groups communicate at the same time.
class GroupsAlone {
 public:
  // Keeps references.
  GroupsAlone(const Plan& plan, const Cluster& cluster) : plan_(plan), shapes_(cluster) {}
  GroupShape shape(std::int32_t group) { return shapes_.of(plan_.groups[group].members); }

 private:
  const Plan& plan_;
  GroupShapes shapes_;
};

struct PipelineRankGroups {
  std::array<std::optional<GroupSlot>, kReplicaAxes> replicas;  // ranks with the same parameters
  // Groups inside a replica, if their collectives are tasks.
  std::array<std::optional<GroupSlot>, kInnerGroups> inner;
  std::optional<GroupSlot> partner;  // GradientPartner
  std::optional<GroupSlot> world;
  std::map<int, GroupSlot> codes;  // by index in Job::snapshots of the tier that is due
  // [group][member] Ranks that start an action together, as indices into Plan::groups.
  std::vector<std::vector<std::int32_t>> rendezvous;
};

// Adds all groups of this family to the plan. `first`: the first rank of the first group;
// `members`: number of consecutive ranks.
GroupSlot add_groups(const StridedGroups& groups, const GroupShape& shape, Category axis,
                     RankId first, int members, Plan& plan);
// Adds any groups, given as positions among the `members`.
GroupSlot add_groups(std::vector<std::vector<std::int32_t>> groups, const GroupShape& shape,
                     Category axis, RankId first, int members, Plan& plan);
// Adds one group of all ranks, or one per island, for the members of any pipeline rank.
GroupSlot add_world_groups(const Layout& layout, const GroupShape& world, Plan& plan);

enum StreamIndex : std::int16_t {
  kCompute,
  kSend,
  kSendBack,
  kRecv,
  kReduce,
  kCopy,
  kStore,
  kEncode,
  kParity,
  kReduceBeside,  // exists only if two collectives can run at once
};

// One message of a pipeline.
struct Message {
  std::string name;  // "F2.5": what is sent
  int stage = 0;     // stage of the sending or receiving task
  int unit = 0;
  int peer = 0;  // pipeline rank
  std::int64_t tag = 0;
};

// Names ranks of a pipeline rank by their distance from its first one, ascending.
using Members = std::vector<int>;
Members whole_pipeline_rank(const Layout& layout);
// Returns the groups restricted to these members.
PipelineRankGroups of_members(const PipelineRankGroups& groups, const Members& members);

class RankTasks {
 public:
  // Builds tasks for these members of pipeline rank `rank`, with their `groups`. Keeps references
  // to the costs, their job and `alone`.
  RankTasks(const CollectiveCosts& costs, int rank, const Members& members,
            PipelineRankGroups groups, GroupsAlone& alone);

  void set_iteration(int iteration) { iteration_ = iteration; }
  void reserve(std::size_t tasks) { class_.tasks.reserve(tasks); }
  TaskIndex append(Task task);

  // These append one end of a message and return its task.
  TaskIndex receive(const Message& message, std::vector<TaskIndex> after);
  TaskIndex send(const Message& message, double bytes, StreamIndex stream,
                 std::vector<TaskIndex> after);

  // Appends transfers, each after its kernels. A sequence starts when all of `after` (-1: nothing)
  // have ended, and its transfers follow each other. Returns the last task; -1: there is none.
  // `verb` and `where` form names such as "reduce experts 3/0".
  TaskIndex transfers(const std::vector<Transfer>& transfers, const char* verb,
                      const std::string& where, int stage, const std::vector<TaskIndex>& after);
  bool has_partner() const { return partner_slot_ >= 0; }
  bool has_world() const { return world_slot_ >= 0; }
  TaskIndex reduce_with_partner(std::string name, double bytes, std::vector<TaskIndex> after);
  // Gradient clipping needs the norm over all gradients: eight bytes, for which all ranks wait for
  // each other.
  TaskIndex norm(std::vector<TaskIndex> after);
  // Returns the transfers since forget_transfers() that no other transfer follows: the last
  // collective of each stream, and all kernels that end a sequence.
  std::vector<TaskIndex> last_transfers() const;
  void forget_transfers();

  // Lets kernels of transfers run as early as possible, between segments of actions. Segments must
  // then have explicit dependencies on each other.
  void put_kernels_first() { class_.streams[kCompute].order = StreamOrder::by_priority; }
  bool kernels_first() const { return class_.streams[kCompute].order == StreamOrder::by_priority; }
  void add_second_channel() { class_.streams.push_back({"dp beside", StreamOrder::in_order}); }
  // Appends transfers after `after`, in sequence, on a separate stream. `share`: the share of each
  // transfer, including its kernels, that is appended. Returns the last task.
  TaskIndex background(const std::vector<Transfer>& row, const std::string& name, double share,
                       TaskIndex after);
  // Must be called after the second channel, if there is one, has been added.
  void add_rendezvous() {
    meeting_stream_ = static_cast<std::int16_t>(class_.streams.size());
    class_.streams.push_back({"meet", StreamOrder::in_order});
  }
  // Appends a task that takes no time and ends when all ranks of the rendezvous have arrived.
  // `category`: that of the wait.
  TaskIndex meet(int rendezvous, std::string name, Category category, std::vector<TaskIndex> after);

  TaskIndex optimizer(std::vector<CostPart> cost, std::vector<TaskIndex> after);
  // Adds the dispatch of the next iteration's programs by a controller. It takes `ahead_s` in
  // parallel to this iteration, after earlier dispatches, and `between_s` after `last`, the end of
  // this iteration.
  TaskIndex dispatch(double ahead_s, double between_s, TaskIndex last);

  // Returns -1 if the tier has no groups.
  int code_slot(int tier) const {
    const auto slot = code_slots_.find(tier);
    return slot == code_slots_.end() ? -1 : slot->second;
  }
  // Adds group, origin and time to `task`, which must have name, kind, bytes, stream, category and
  // predecessors.
  TaskIndex append_collective(Task task, int slot, double longer_s = 0);

  // The stream of a collective inside a replica. awaited: the pass waits for it; later: it overlaps
  // another pass.
  enum class InnerStream : std::uint8_t { awaited, later };
  // Appends a collective between ranks of a replica. `task` must have name, stage, micro-batch and
  // predecessors.
  TaskIndex append_inner(Task task, const InnerCollective& collective, Category category,
                         InnerStream stream);

  // Returns the index of an in-order stream without a StreamIndex, which is created on first use.
  std::int16_t stream_named(const std::string& name);

  // Sets the memory that the task frees when it ends.
  void set_free_bytes(TaskIndex task, double bytes) { class_.tasks[task].free_bytes = bytes; }
  void set_tier_bytes(TaskIndex task, double allocated, double freed) {
    class_.tasks[task].tier_allocate_bytes = allocated;
    class_.tasks[task].tier_free_bytes = freed;
  }

  RankClass take() { return std::move(class_); }

 private:
  struct GroupUse {
    GroupShape shape;
    // shape of the first member's group if it is alone, computed on demand
    std::optional<GroupShape> alone = {};
    int next_sequence = 0;
  };
  struct Peer {
    int rank = 0;
    MessageWay way;
  };

  // last collective of a sequence on each stream; -1: none
  using RowEnds = std::array<TaskIndex, 2>;

  int add_slot(std::optional<GroupSlot> slot);
  std::int16_t inner_stream(Category category, InnerStream stream);
  const GroupShape& shape_alone(int slot);
  std::vector<RankId> members_of(int pp) const;
  int peer_slot(int pp);
  std::vector<TaskIndex> before(const Transfer& transfer, TaskIndex last,
                                const RowEnds& row_ends) const;
  // Adds the kernels of a transfer; collective() adds its collective.
  TaskIndex kernels(const Transfer& transfer, const std::string& name, int stage,
                    std::vector<TaskIndex> after);
  TaskIndex exchange(const Transfer& transfer, std::string name, int stage,
                     std::vector<TaskIndex> after);
  // Adds a collective to the stream of reductions.
  TaskIndex collective(std::string name, int slot, CollectiveKind kind, double bytes,
                       std::vector<TaskIndex> after);

  const CollectiveCosts& costs_;
  const Job& job_;
  GroupsAlone& alone_;
  const int rank_;
  const Members members_;
  RankClass class_;
  int iteration_ = 0;
  std::vector<Peer> peers_;       // by slot
  std::vector<GroupUse> groups_;  // by slot
  std::array<int, kReplicaAxes> replica_slots_{};
  std::array<int, kInnerGroups> inner_slots_{};
  std::map<std::pair<Category, InnerStream>, std::int16_t> inner_streams_;
  int partner_slot_ = -1;
  int world_slot_ = -1;
  std::map<int, int> code_slots_;
  std::vector<int> rendezvous_slots_;
  std::vector<int> meeting_sequence_;  // [rendezvous]
  std::int16_t meeting_stream_ = -1;
  // the last collective of each of the two streams of reductions
  std::array<TaskIndex, 2> last_collective_ = {-1, -1};
  std::vector<TaskIndex> last_kernels_;
};

}  // namespace windtunnel
