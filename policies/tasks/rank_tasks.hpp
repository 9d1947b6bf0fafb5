// The task list of one pipeline rank while it is written: its streams, peers and groups, and the
// tasks that look alike whatever the schedule: messages, collectives, the optimizer.
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

// A communicator of the rank's members: which instance each is in, and what they have in common.
struct GroupSlot {
  std::vector<std::int32_t> instance_of_member;  // index into Plan::groups
  GroupShape shape;
};

// Shapes of the groups of a plan, each without others beside it.
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
  std::array<std::optional<GroupSlot>, kReplicaAxes> replicas;  // hold the same parameters
  // Inside a replica, where their collectives are tasks.
  std::array<std::optional<GroupSlot>, kInnerGroups> inner;
  std::optional<GroupSlot> partner;  // GradientPartner
  std::optional<GroupSlot> world;
  std::map<int, GroupSlot> codes;  // by index into Job::snapshots, of those that are due
  // Ranks that begin an action together: [group][member], index into Plan::groups.
  std::vector<std::vector<std::int32_t>> rendezvous;
};

// Adds to the plan every one of the groups, the first of them of rank `first`, on
// which `members` consecutive ranks stand.
GroupSlot add_groups(const StridedGroups& groups, const GroupShape& shape, Category axis,
                     RankId first, int members, Plan& plan);
// The same, of groups that are no such family: of places among the `members`.
GroupSlot add_groups(std::vector<std::vector<std::int32_t>> groups, const GroupShape& shape,
                     Category axis, RankId first, int members, Plan& plan);
// One group of all ranks, or one of each island's ranks, for the members of any pipeline rank.
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
  kReduceBeside,  // only where collectives run two at once
};

// One message of a pipeline.
struct Message {
  std::string name;  // "F2.5": what is sent
  int stage = 0;     // of the task
  int unit = 0;
  int peer = 0;  // pipeline rank
  std::int64_t tag = 0;
};

// Ranks of a pipeline rank, counted from its first one, ascending.
using Members = std::vector<int>;
// All of them.
Members whole_pipeline_rank(const Layout& layout);
// The part of the groups that these members are in.
PipelineRankGroups of_members(const PipelineRankGroups& groups, const Members& members);

class RankTasks {
 public:
  // For these members of pipeline rank `rank`, whose groups are `groups`. Keeps references to the
  // costs, their job and `alone`.
  RankTasks(const CollectiveCosts& costs, int rank, const Members& members,
            PipelineRankGroups groups, GroupsAlone& alone);

  void set_iteration(int iteration) { iteration_ = iteration; }
  TaskIndex append(Task task);

  // The index of the last message, -1 without one.
  TaskIndex receive(const Message& message, std::vector<TaskIndex> after);
  TaskIndex send(const Message& message, double bytes, StreamIndex stream,
                 std::vector<TaskIndex> after);

  // One after the other, each when all of `after` (-1: nothing) are through, with the kernels
  // before it; the last task of them, -1 if there is none. "reduce experts 3/0": verb and where.
  TaskIndex transfers(const std::vector<Transfer>& transfers, const char* verb,
                      const std::string& where, int stage, const std::vector<TaskIndex>& after);
  bool has_partner() const { return partner_slot_ >= 0; }
  bool has_world() const { return world_slot_ >= 0; }
  TaskIndex reduce_with_partner(std::string name, double bytes, std::vector<TaskIndex> after);
  // Clipping needs the norm over all gradients: eight bytes, but everybody waits for everybody.
  TaskIndex norm(std::vector<TaskIndex> after);
  // The transfers since forget_transfers() that all others precede: the last collective of each
  // stream and all kernels that end a row.
  std::vector<TaskIndex> last_transfers() const;
  void forget_transfers();

  // Kernels of transfers run as soon as they can, between the segments of actions: those must wait
  // for one another themselves.
  void put_kernels_first() { class_.streams[kCompute].order = StreamOrder::by_priority; }
  bool kernels_first() const { return class_.streams[kCompute].order == StreamOrder::by_priority; }
  void add_second_channel() { class_.streams.push_back({"dp beside", StreamOrder::in_order}); }
  // On a stream of its own beside all others, one after the other behind `after`; the last of them.
  // `share`: of each transfer, its kernels included, that goes.
  TaskIndex background(const std::vector<Transfer>& row, const std::string& name, double share,
                       TaskIndex after);
  // After the second channel, if there is one.
  void add_rendezvous() {
    meeting_stream_ = static_cast<std::int16_t>(class_.streams.size());
    class_.streams.push_back({"meet", StreamOrder::in_order});
  }
  // Ends when all ranks of the rendezvous have come; takes no time. `category`: what the wait is
  // charged to.
  TaskIndex meet(int rendezvous, std::string name, Category category, std::vector<TaskIndex> after);

  TaskIndex optimizer(std::vector<CostPart> cost, std::vector<TaskIndex> after);
  // A controller dispatches the programs of the next iteration: `ahead_s` beside this one, from the
  // dispatches before on, and `between_s` behind `last`, the end of this one.
  TaskIndex dispatch(double ahead_s, double between_s, TaskIndex last);

  // -1 without groups.
  int code_slot(int tier) const {
    const auto slot = code_slots_.find(tier);
    return slot == code_slots_.end() ? -1 : slot->second;
  }
  // Name, kind, bytes, stream, category and what it waits for are given; group, origin and time are
  // added.
  TaskIndex append_collective(Task task, int slot, double longer_s = 0);

  // Which stream a collective inside a replica takes: the pass waits for it, or it runs beside
  // another pass.
  enum class InnerStream : std::uint8_t { awaited, later };
  // A collective between ranks of a replica, in `task`, which has a name, a stage, a micro-batch
  // and what it waits for.
  TaskIndex append_inner(Task task, const InnerCollective& collective, Category category,
                         InnerStream stream);

  // Index of an in-order stream that StreamIndex does not name. It is made at its first use.
  std::int16_t stream_named(const std::string& name);

  // Memory that the task frees when it ends.
  void set_free_bytes(TaskIndex task, double bytes) { class_.tasks[task].free_bytes = bytes; }
  void set_tier_bytes(TaskIndex task, double allocated, double freed) {
    class_.tasks[task].tier_allocate_bytes = allocated;
    class_.tasks[task].tier_free_bytes = freed;
  }

  RankClass take() { return std::move(class_); }

 private:
  struct GroupUse {
    GroupShape shape;
    // shape of the first member's group, computed when it is first needed
    std::optional<GroupShape> alone = {};
    int next_sequence = 0;
  };
  struct Peer {
    int rank = 0;
    MessageWay way;
  };

  using RowEnds = std::array<TaskIndex, 2>;  // last collective of a row on each stream, -1: none

  int add_slot(std::optional<GroupSlot> slot);
  std::int16_t inner_stream(Category category, InnerStream stream);
  const GroupShape& shape_alone(int slot);
  std::vector<RankId> members_of(int pp) const;
  int peer_slot(int pp);
  std::vector<TaskIndex> before(const Transfer& transfer, TaskIndex last,
                                const RowEnds& row_ends) const;
  // The kernels of a transfer, and its collective.
  TaskIndex kernels(const Transfer& transfer, const std::string& name, int stage,
                    std::vector<TaskIndex> after);
  TaskIndex exchange(const Transfer& transfer, std::string name, int stage,
                     std::vector<TaskIndex> after);
  // On the stream of reductions.
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
