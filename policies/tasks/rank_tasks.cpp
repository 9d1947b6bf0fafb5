#include "policies/tasks/rank_tasks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

#include "models/base/error.hpp"
#include "models/cost/chunk/chunk_cost.hpp"
#include "models/machine/links/links.hpp"
#include "models/network/collectives/collective_law.hpp"
#include "models/plan/job_collective.hpp"

namespace windtunnel {
namespace {

CostPart part(Category category, const Parameter& parameter) {
  return {category, parameter.origin, parameter.value};
}

}  // namespace

GroupSlot add_groups(const StridedGroups& groups, const GroupShape& shape, Category axis,
                     RankId first, int members, Plan& plan) {
  const auto before = static_cast<std::int32_t>(plan.groups.size());
  for (int group = 0; group < groups.size(); ++group) {
    plan.groups.push_back({axis, groups.members(first, group)});
  }
  GroupSlot slot{std::vector<std::int32_t>(members), shape};
  for (int m = 0; m < members; ++m) slot.instance_of_member[m] = before + groups.group_of(m);
  return slot;
}

GroupSlot add_groups(std::vector<std::vector<std::int32_t>> groups, const GroupShape& shape,
                     Category axis, RankId first, int members, Plan& plan) {
  GroupSlot slot{std::vector<std::int32_t>(members), shape};
  for (std::vector<std::int32_t>& group : groups) {
    for (std::int32_t& member : group) {
      slot.instance_of_member[member] = static_cast<std::int32_t>(plan.groups.size());
      member += first;
    }
    plan.groups.push_back({axis, std::move(group)});
  }
  return slot;
}

GroupSlot add_world_groups(const Layout& layout, const GroupShape& world, Plan& plan) {
  const auto before = static_cast<std::int32_t>(plan.groups.size());
  const int members = layout.ranks() / layout.pp;
  const int island = members / layout.islands();
  for (std::vector<std::int32_t>& ranks : island_ranks(layout)) {
    plan.groups.push_back({Category::dp, std::move(ranks)});
  }
  GroupSlot slot{std::vector<std::int32_t>(members), world};
  for (int m = 0; m < members; ++m) slot.instance_of_member[m] = before + m / island;
  return slot;
}

Members whole_pipeline_rank(const Layout& layout) {
  Members members(layout.ranks() / layout.pp);
  std::iota(members.begin(), members.end(), 0);
  return members;
}

PipelineRankGroups of_members(const PipelineRankGroups& groups, const Members& members) {
  const auto cut_members = [&](std::vector<std::int32_t>& of_member) {
    std::vector<std::int32_t> own;
    own.reserve(members.size());
    for (const int member : members) own.push_back(of_member[member]);
    of_member = std::move(own);
  };
  const auto cut = [&](std::optional<GroupSlot>& slot) {
    if (slot) cut_members(slot->instance_of_member);
  };
  PipelineRankGroups own = groups;
  for (std::optional<GroupSlot>& slot : own.replicas) cut(slot);
  for (std::optional<GroupSlot>& slot : own.inner) cut(slot);
  cut(own.partner);
  cut(own.world);
  for (auto& [tier, slot] : own.codes) cut_members(slot.instance_of_member);
  for (std::vector<std::int32_t>& rendezvous : own.rendezvous) cut_members(rendezvous);
  return own;
}

RankTasks::RankTasks(const CollectiveCosts& costs, int rank, const Members& members,
                     PipelineRankGroups groups, GroupsAlone& alone)
    : costs_(costs), job_(costs.job()), alone_(alone), rank_(rank), members_(members) {
  class_.name = fmt::format("pp {}", rank);
  class_.streams = {{"compute", StreamOrder::in_order},   {"send", StreamOrder::in_order},
                    {"send back", StreamOrder::in_order}, {"recv", StreamOrder::unordered},
                    {"dp", StreamOrder::in_order},        {"copy", StreamOrder::in_order},
                    {"store", StreamOrder::in_order},     {"encode", StreamOrder::in_order},
                    {"parity", StreamOrder::in_order}};
  // Ranks of a pipeline rank are consecutive (Megatron's order tp-cp-dp-pp).
  class_.members = members_of(rank);
  for (int a = 0; a < kReplicaAxes; ++a) {
    replica_slots_[a] = add_slot(std::move(groups.replicas[a]));
  }
  for (int g = 0; g < kInnerGroups; ++g) inner_slots_[g] = add_slot(std::move(groups.inner[g]));
  partner_slot_ = add_slot(std::move(groups.partner));
  world_slot_ = add_slot(std::move(groups.world));
  for (auto& [tier, slot] : groups.codes) code_slots_[tier] = add_slot(std::move(slot));
  for (std::vector<std::int32_t>& rendezvous : groups.rendezvous) {
    rendezvous_slots_.push_back(static_cast<int>(class_.groups.size()));
    class_.groups.push_back(std::move(rendezvous));
  }
  meeting_sequence_.assign(rendezvous_slots_.size(), 0);
}

// Adds a slot and returns its number; -1: there are no groups.
int RankTasks::add_slot(std::optional<GroupSlot> slot) {
  if (!slot) return -1;
  class_.groups.push_back(std::move(slot->instance_of_member));
  groups_.push_back({.shape = slot->shape});
  return static_cast<int>(class_.groups.size()) - 1;
}

const GroupShape& RankTasks::shape_alone(int slot) {
  std::optional<GroupShape>& alone = groups_[slot].alone;
  if (!alone) alone = alone_.shape(class_.groups[slot].front());
  return *alone;
}

std::vector<RankId> RankTasks::members_of(int pp) const {
  std::vector<RankId> members(members_.begin(), members_.end());
  const RankId first = pp * (job_.layout.ranks() / job_.layout.pp);
  for (RankId& member : members) member += first;
  return members;
}

int RankTasks::peer_slot(int pp) {
  const auto known = std::ranges::find(peers_, pp, &Peer::rank);
  if (known != peers_.end()) return static_cast<int>(known - peers_.begin());
  class_.peers.push_back(members_of(pp));
  peers_.push_back(
      {pp, message_way(job_.layout, LinkTable::keeping_reference(job_.cluster), rank_, pp)});
  return static_cast<int>(peers_.size()) - 1;
}

TaskIndex RankTasks::append(Task task) {
  task.iteration = static_cast<std::int16_t>(iteration_);
  class_.tasks.push_back(std::move(task));
  return static_cast<TaskIndex>(class_.tasks.size()) - 1;
}

TaskIndex RankTasks::receive(const Message& message, std::vector<TaskIndex> after) {
  Task task;
  task.kind = TaskKind::recv;
  task.name = "recv " + message.name;
  task.stream = kRecv;
  task.stage = message.stage;
  task.microbatch = message.unit;
  task.category = Category::pp;
  task.peer_slot = static_cast<std::int16_t>(peer_slot(message.peer));
  task.tag = message.tag;
  task.after = std::move(after);
  return append(std::move(task));
}

TaskIndex RankTasks::send(const Message& message, double bytes, StreamIndex stream,
                          std::vector<TaskIndex> after) {
  const int slot = peer_slot(message.peer);
  const MessageWay& way = peers_[slot].way;
  const Calibration& calibration = calibration_of(job_, way.pool);
  const bool in_node = way.in_node;
  const Parameter& efficiency =
      in_node ? inner_efficiency(calibration, job_.cluster.node) : calibration.nic_efficiency;
  Task task;
  task.kind = TaskKind::send;
  task.name = "send " + message.name;
  task.stream = stream;
  task.stage = message.stage;
  task.microbatch = message.unit;
  task.after = std::move(after);
  task.synchronous = job_.software.sends == Sends::synchronous;
  task.cost = {
      part(Category::pp, calibration.p2p_launch_s),
      part(Category::pp, in_node ? calibration.nvlink_latency_s : calibration.nic_latency_s)};
  if (!in_node) {
    const FabricSpec& fabric = job_.cluster.fabric;
    const Parameter& hop = fabric.hop_latency_s;
    task.cost.push_back({Category::pp, hop.origin, hop.value * way.hops});
    if (way.extra_latency_s > 0) {
      task.cost.push_back({Category::pp, fabric.wan_latency_s.origin, way.extra_latency_s});
    }
  }
  task.category = Category::pp;
  const NodeSpec& node = job_.cluster.node_of_pool(way.pool);
  const Parameter& port = in_node ? inner_port(node, way.in_package) : node.nic_Bps;
  task.origin = origin_of_rate(port.origin, efficiency.origin);
  task.peer_slot = static_cast<std::int16_t>(slot);
  task.tag = message.tag;
  task.bytes = bytes / efficiency.value;
  const auto measured = in_node ? measured_message(calibration, bytes) : std::nullopt;
  if (measured) {
    task.cost = {{Category::pp, Origin::measured, measured->latency_s}};
    task.origin = Origin::measured;
    task.bytes = measured->transfer_s * port.value;
  }
  return append(std::move(task));
}

TaskIndex RankTasks::transfers(const std::vector<Transfer>& transfers, const char* verb,
                               const std::string& where, int stage,
                               const std::vector<TaskIndex>& after) {
  TaskIndex last = -1;
  RowEnds row_ends = {-1, -1};
  for (const Transfer& transfer : transfers) {
    if (transfer.starts_row) row_ends.fill(-1);
    std::vector<TaskIndex> ready = before(transfer, last, row_ends);
    if (ready.empty()) {
      std::ranges::copy_if(after, std::back_inserter(ready), [](TaskIndex t) { return t >= 0; });
    }
    const std::string what =
        fmt::format("{}{}", is_of_experts(transfer.axis) ? "experts " : "", where);
    if (!transfer.kernels.empty()) {
      last = kernels(transfer, what, stage, std::move(ready));
      ready = {last};
    }
    if (transfer.bytes <= 0) continue;
    last = exchange(transfer, fmt::format("{} {}", verb, what), stage, std::move(ready));
    row_ends[transfer.second_channel] = last;
  }
  return last;
}

// Returns the earlier transfers that a transfer waits for. In a sequence kernels wait for the
// transfer before them, and the transfer after them waits for the kernels. If nothing is computed
// during collectives (GradientOverlap::blocking), every transfer waits for the one before it.
std::vector<TaskIndex> RankTasks::before(const Transfer& transfer, TaskIndex last,
                                         const RowEnds& row_ends) const {
  if (last < 0) return {};
  const bool blocking = job_.communication.overlap == GradientOverlap::blocking;
  const bool kernels = !transfer.kernels.empty() || class_.tasks[last].stream == kCompute;
  if (!blocking && (transfer.starts_row || !kernels)) return {};
  std::vector<TaskIndex> ready = {last};
  for (const TaskIndex end : row_ends) {
    if (end >= 0 && end != last) ready.push_back(end);
  }
  return ready;
}

TaskIndex RankTasks::exchange(const Transfer& transfer, std::string name, int stage,
                              std::vector<TaskIndex> after) {
  Task task;
  task.kind = TaskKind::collective;
  task.name = std::move(name);
  task.stream = transfer.second_channel ? kReduceBeside : kReduce;
  task.stage = stage;
  task.after = std::move(after);
  task.category = Category::dp;
  task.collective = transfer.kind;
  task.algorithm = transfer.algorithm;
  task.bytes = transfer.bytes;
  const int slot = replica_slots_[static_cast<int>(transfer.axis)];
  return last_collective_[transfer.second_channel] =
             append_collective(std::move(task), slot, transfer.longer_s);
}

TaskIndex RankTasks::kernels(const Transfer& transfer, const std::string& name, int stage,
                             std::vector<TaskIndex> after) {
  Task task;
  task.kind = transfer.kernels_beside ? TaskKind::encode : TaskKind::compute;
  task.category = transfer.kernels.front().category;
  task.name = fmt::format("{} {}",
                          task.category == Category::optimizer ? "update"
                          : task.category == Category::dp      ? "copy"
                          : transfer.bytes > 0                 ? "encode"
                                                               : "decode",
                          name);
  task.stream = !transfer.kernels_beside  ? kCompute
                : transfer.second_channel ? kReduceBeside
                                          : kReduce;
  task.stage = stage;
  task.priority = 1;
  task.after = std::move(after);
  task.cost = transfer.kernels;
  const TaskIndex added = append(std::move(task));
  if (transfer.bytes <= 0) last_kernels_.push_back(added);
  return added;
}

TaskIndex RankTasks::background(const std::vector<Transfer>& row, const std::string& name,
                                double share, TaskIndex after) {
  const std::int16_t stream = stream_named("sync");
  TaskIndex last = after;
  for (const Transfer& transfer : row) {
    Task task;
    task.name = name;
    task.stream = stream;
    task.category = Category::sync;
    if (last >= 0) task.after = {last};
    if (transfer.bytes <= 0) {
      task.kind = TaskKind::encode;
      task.cost = transfer.kernels;
      for (CostPart& part : task.cost) part.seconds *= share;
      constexpr double kLeast_s = 1e-9;  // resolution of the engine's clock
      if (total_seconds(task.cost) < kLeast_s) continue;
      last = append(std::move(task));
      continue;
    }
    CHECK(transfer.kernels.empty(), "kernels of {} stand before it", name);
    task.kind = TaskKind::collective;
    task.collective = transfer.kind;
    task.algorithm = transfer.algorithm;
    task.bytes = transfer.bytes * share;
    const int slot = replica_slots_[static_cast<int>(transfer.axis)];
    // A part of a collective takes the same share of its latency.
    const CollectiveCost whole = costs_.cost(Category::dp, transfer.kind, groups_[slot].shape,
                                             transfer.bytes, transfer.algorithm);
    last =
        append_collective(std::move(task), slot, (share - 1) * (whole.seconds - whole.transfer_s));
  }
  return last;
}

std::vector<TaskIndex> RankTasks::last_transfers() const {
  std::vector<TaskIndex> last = last_kernels_;
  for (const TaskIndex collective : last_collective_) {
    if (collective >= 0) last.push_back(collective);
  }
  return last;
}

void RankTasks::forget_transfers() {
  last_collective_.fill(-1);
  last_kernels_.clear();
}

TaskIndex RankTasks::reduce_with_partner(std::string name, double bytes,
                                         std::vector<TaskIndex> after) {
  return collective(std::move(name), partner_slot_, CollectiveKind::all_reduce, bytes,
                    std::move(after));
}

TaskIndex RankTasks::norm(std::vector<TaskIndex> after) {
  return collective("gradient norm", world_slot_, CollectiveKind::all_reduce, 8, std::move(after));
}

TaskIndex RankTasks::collective(std::string name, int slot, CollectiveKind kind, double bytes,
                                std::vector<TaskIndex> after) {
  Task task;
  task.kind = TaskKind::collective;
  task.name = std::move(name);
  task.stream = kReduce;
  task.after = std::move(after);
  task.category = Category::dp;
  task.collective = kind;
  task.bytes = bytes;
  return last_collective_[0] = append_collective(std::move(task), slot);
}

TaskIndex RankTasks::meet(int rendezvous, std::string name, Category category,
                          std::vector<TaskIndex> after) {
  Task task;
  task.kind = TaskKind::collective;
  task.name = std::move(name);
  task.stream = meeting_stream_;
  task.after = std::move(after);
  task.category = category;
  task.group_slot = static_cast<std::int16_t>(rendezvous_slots_[rendezvous]);
  task.sequence = meeting_sequence_[rendezvous]++;
  return append(std::move(task));
}

TaskIndex RankTasks::append_collective(Task task, int slot, double longer_s) {
  CHECK(slot >= 0, "no group for '{}'", task.name);
  GroupUse& group = groups_[slot];
  task.group_slot = static_cast<std::int16_t>(slot);
  task.sequence = group.next_sequence++;
  const Fidelity fidelity = job_.communication.fidelity;
  // Exchanges of snapshots are not part of the training's communication.
  if (task.category != Category::snapshot) {
    if (task.algorithm == CollectiveAlgorithm::automatic) {
      const CollectiveChoice choice =
          collective_choice(job_, Category::dp, task.collective, group.shape);
      task.algorithm = choice.algorithm;
      task.protocol = choice.protocol;
    }
  }
  const CollectiveChoice choice(task.algorithm, task.protocol);
  const CollectiveCost closed = costs_.cost(task.collective, choice, group.shape, task.bytes);
  task.origin = closed.origin;
  // The cheapest algorithm may be another one when groups communicate at the same time.
  if (task.category != Category::snapshot) {
    task.algorithm = closed.algorithm;
    task.protocol = closed.protocol;
  }
  // Inside one NVSwitch domain no other group shares the ports for long. The few bytes of the norm
  // over all ranks are mostly latency.
  const bool idle = group.shape.nodes == 1 || slot == world_slot_;
  if (fidelity == Fidelity::closed || (fidelity == Fidelity::automatic && idle)) {
    task.cost = {{task.category, closed.origin, closed.seconds + longer_s}};
  } else {
    task.as_flows = true;
    // collective_flows() uses the cost of the group if it is alone.
    const CollectiveCost alone = costs_.cost(task.collective, {task.algorithm, task.protocol},
                                             shape_alone(slot), task.bytes);
    // Data flows at the rate of its protocol, so the collective cannot take less than this.
    const double waited_s = std::max(0.0, alone.seconds - alone.transfer_s + longer_s);
    task.cost = {{task.category, closed.origin, waited_s}};
  }
  return append(std::move(task));
}

std::int16_t RankTasks::stream_named(const std::string& name) {
  const auto known = std::ranges::find(class_.streams, name, &Stream::name);
  if (known == class_.streams.end()) class_.streams.push_back({name, StreamOrder::in_order});
  return static_cast<std::int16_t>(std::ranges::find(class_.streams, name, &Stream::name) -
                                   class_.streams.begin());
}

std::int16_t RankTasks::inner_stream(Category category, InnerStream stream) {
  const auto [known, is_new] = inner_streams_.try_emplace(
      {category, stream}, static_cast<std::int16_t>(class_.streams.size()));
  if (is_new) {
    const char* suffix = stream == InnerStream::later ? " beside" : "";
    class_.streams.push_back(
        {fmt::format("{}{}", to_string(category), suffix), StreamOrder::in_order});
  }
  return known->second;
}

TaskIndex RankTasks::append_inner(Task task, const InnerCollective& collective, Category category,
                                  InnerStream stream) {
  const int slot = inner_slots_[static_cast<int>(collective.group)];
  CHECK(slot >= 0, "{} has a collective in a group that the layout does not make", task.name);
  task.kind = TaskKind::collective;
  task.stream = inner_stream(category, stream);
  task.category = category;
  task.group_slot = static_cast<std::int16_t>(slot);
  task.sequence = groups_[slot].next_sequence++;
  task.collective = collective.kind;
  task.algorithm = collective.choice.algorithm;
  task.protocol = collective.choice.protocol;
  task.bytes = collective.bytes;
  if (collective.way != ExchangeWay::even) {
    task.exchange = static_cast<std::int16_t>(collective.exchange);
  }
  task.returns = collective.way == ExchangeWay::back;
  task.origin = collective.origin;
  const Fidelity fidelity = job_.communication.fidelity;
  // PCIe links also carry what goes to NICs and to the host.
  const bool alone = collective.in_node && job_.cluster.node.gpu_path == GpuPath::nvlink;
  task.as_flows = fidelity == Fidelity::flows || (fidelity == Fidelity::automatic && !alone);
  const double waited_s =
      task.as_flows ? collective.seconds - collective.transfer_s : collective.seconds;
  task.cost = {{category, collective.origin, std::max(0.0, waited_s)}};
  return append(std::move(task));
}

TaskIndex RankTasks::optimizer(std::vector<CostPart> cost, std::vector<TaskIndex> after) {
  Task task;
  task.kind = TaskKind::compute;
  task.name = "optimizer";
  task.stream = kCompute;
  task.category = Category::optimizer;
  task.cost = std::move(cost);
  task.after = std::move(after);
  return append(std::move(task));
}

TaskIndex RankTasks::dispatch(double ahead_s, double between_s, TaskIndex last) {
  const auto host = [](double seconds) {
    return std::vector<CostPart>{{Category::host, Origin::assumed, seconds}};
  };
  Task begin;
  begin.kind = TaskKind::compute;
  begin.name = "dispatched";
  begin.stream = kCompute;
  begin.category = Category::host;
  begin.after = {last};
  if (between_s > 0) begin.cost = host(between_s);
  if (ahead_s > 0) {
    Task ahead;
    ahead.kind = TaskKind::encode;  // the host does this in parallel to kernels
    ahead.name = "dispatch";
    ahead.stream = stream_named("dispatch");
    ahead.category = Category::host;
    ahead.cost = host(ahead_s);
    begin.after.push_back(append(std::move(ahead)));
  }
  return append(std::move(begin));
}

}  // namespace windtunnel
