#include "policies/protection/snapshot_tasks.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "models/base/error.hpp"
#include "models/cost/memory/memory.hpp"
#include "models/cost/offload/host_work.hpp"
#include "models/cost/snapshot/snapshot_cost.hpp"
#include "models/cost/snapshot/snapshot_writer.hpp"
#include "models/machine/pcie_rate.hpp"
#include "models/network/groups/group_shapes.hpp"
#include "models/reliability/snapshot_place.hpp"
#include "policies/protection/snapshot_tiers.hpp"

namespace windtunnel {
namespace {

// Whether every stage sees the same pattern of groups, so that its ranks can be one class.
bool is_regular(const NodeGroups& groups, int pp) {
  const int block = groups.size * groups.stride;
  if (groups.nodes % block != 0) return false;
  const int per_stage = groups.nodes / pp;
  return groups.nodes % pp != 0 || per_stage % block == 0 || block % per_stage == 0;
}

class Snapshot {
 public:
  Snapshot(const Job& job, const SnapshotTier& tier, double state_bytes, double largest,
           int code_slot, RankTasks& tasks)
      : job_(job),
        tier_(tier),
        weight_share_(weight_share(job)),
        bytes_(snapshot_bytes(tier, state_bytes, weight_share_)),
        largest_(largest),
        code_slot_(code_slot),
        tasks_(tasks) {}

  SnapshotEnd add(TaskIndex after) {
    const PlaceTraits& place = traits_of(tier_);
    if (!place.copied) return {};
    // Data moves in chunks: each encoded chunk is sent while the next one is encoded.
    const TaskIndex encoded_on_gpu =
        tier_.code.on_gpu && bytes_.parity > 0 ? encode_on_gpu(after) : after;
    SnapshotEnd end;
    end.staged = end.complete = copy(encoded_on_gpu);
    if (bytes_.coded > 0) end.complete = encode(end.complete);
    if (bytes_.wire > 0) {
      end.complete = exchange({end.complete, tier_.code.on_gpu ? encoded_on_gpu : end.complete});
    }
    if (place.way) end.complete = write(*place.way, end.complete);
    return end;
  }

 private:
  static Task task(TaskKind kind, std::string_view name, StreamIndex stream, double bytes,
                   std::vector<TaskIndex> after) {
    Task task;
    task.kind = kind;
    task.name = name;
    task.stream = stream;
    task.category = Category::snapshot;
    task.bytes = bytes;
    std::erase(after, -1);
    task.after = std::move(after);
    return task;
  }

  TaskIndex encode_on_gpu(TaskIndex after) {
    const GpuSpec& gpu = job_.cluster.node.gpu;
    Task encode = task(TaskKind::encode, "encode", kCopy, bytes_.state, {after});
    const double rate_Bps = gpu_encode_rate(tier_.code, gpu, job_.calibration);
    encode.origin =
        origin_of_rate(gpu.memory_Bps.origin, job_.calibration.memory_efficiency.origin);
    encode.cost = {{Category::snapshot, encode.origin, bytes_.state / rate_Bps}};
    return tasks_.append(std::move(encode));
  }

  TaskIndex copy(TaskIndex after) {
    const Parameter& efficiency = job_.calibration.pcie_efficiency;
    Task copy = task(TaskKind::copy, "copy to host", kCopy, bytes_.moved, {after});
    const double link_Bps = job_.cluster.node.pcie_one_way_Bps();
    double rate = of_process(link_Bps);
    if (tier_.copy_limit_Bps > 0) rate = std::min(rate, tier_.copy_limit_Bps / efficiency.value);
    rate = std::min(rate, of_process(tier_.writer.copy_Bps) / efficiency.value);
    const double crossing = bytes_.moved * state_share_on_gpu(job_);
    copy.flows =
        paced_by(job_, Resource::pcie_out, crossing / efficiency.value, rate, bytes_.moved);
    if (crossing <= 0) {  // everything is already in host memory
      copy.flows = {host_traffic(job_, bytes_.moved, std::numeric_limits<double>::infinity())};
    } else if (rate < link_Bps) {
      copy.flows.front().max_rate = rate;
    }
    copy.origin = origin_of_rate(one_way_limit(job_.cluster.node).origin, efficiency.origin);
    return tasks_.append(std::move(copy));
  }

  // Encodes on the node's encoding cores, which its GPUs share.
  TaskIndex encode(TaskIndex after) {
    const Parameter core_Bps = core_encode_rate(tier_.code);
    const double cores = tier_.code.cpu_cores / job_.cluster.node.gpus;
    Task encode = task(TaskKind::encode, "encode", kEncode, bytes_.coded, {after});
    const double core_s = bytes_.coded / core_Bps.value;
    encode.flows = paced_by(job_, Resource::cpu, core_s, cores, bytes_.coded + bytes_.parity);
    encode.flows.front().max_rate = cores;
    encode.origin = weakest(core_Bps.origin, job_.cluster.node.cpu_cores.origin);
    return tasks_.append(std::move(encode));
  }

  // Each member sends and receives `wire` bytes. The host's memory is read and written for them,
  // unless the GPU sends them.
  TaskIndex exchange(const std::vector<TaskIndex>& after) {
    const ErasureCode& code = tier_.code;
    const double wire = snapshot_bytes(tier_, largest_, weight_share_).wire;
    const double members = code.members();
    const bool copies = code.name == CodeName::copies;
    const NodeSpec& node = job_.cluster.node;
    const double nic_Bps = node.nic_Bps.value * node.nics / node.gpus;
    Task exchange = task(TaskKind::collective, copies ? "send copies" : "reduce parity", kParity,
                         wire * members / (members - 1), after);
    std::ranges::sort(exchange.after);
    exchange.after.erase(std::unique(exchange.after.begin(), exchange.after.end()),
                         exchange.after.end());
    exchange.collective = copies ? CollectiveKind::all_to_all : CollectiveKind::reduce_scatter;
    if (!code.on_gpu) exchange.flows = {host_traffic(job_, 2 * wire, nic_Bps / wire)};
    if (code_slot_ >= 0) return tasks_.append_collective(std::move(exchange), code_slot_);
    exchange.kind = TaskKind::store;
    exchange.bytes = wire;
    const Parameter& efficiency = job_.calibration.nic_efficiency;
    const Parameter& latency_s = job_.calibration.nic_latency_s;
    exchange.cost = {{Category::snapshot, latency_s.origin, (members - 1) * latency_s.value}};
    for (const Resource nic : {Resource::nic_out, Resource::nic_in}) {
      exchange.flows.push_back({.amount = wire / efficiency.value, .demands = {{nic, 1}}});
    }
    exchange.origin = origin_of_rate(node.nic_Bps.origin, efficiency.origin);
    return tasks_.append(std::move(exchange));
  }

  // Returns the rate at which a writing process handles this rank's part of the state; infinite if
  // there is no limit.
  double of_process(double rate_Bps) const {
    if (rate_Bps == 0) return std::numeric_limits<double>::infinity();
    return rate_Bps / writer_parts(tier_.writer, job_.layout);
  }

  // A rank writes as fast as its process and its node allow; storage is shared by all nodes.
  TaskIndex write(const PlaceWay& way, TaskIndex after) {
    const double start_s = tier_.writer.start_s;
    const StorageSpec* storage = traits_of(tier_).storage(job_.cluster);
    Task store = task(TaskKind::store, way.task, kStore, bytes_.written, {after});
    if (storage != nullptr) {
      store.cost = {
          {Category::snapshot, storage->latency_s.origin, storage->latency_s.value + start_s}};
    } else if (start_s > 0) {
      store.cost = {{Category::snapshot, tier_.writer.origin, start_s}};
    }
    const Parameter& node_Bps = job_.cluster.node.*way.node_Bps;
    const Parameter& efficiency = job_.calibration.storage_efficiency;
    const double process_Bps = of_process(tier_.writer.write_Bps) / efficiency.value;
    const double rate_Bps = std::min(node_Bps.value, process_Bps);
    store.flows =
        paced_by(job_, way.write, bytes_.written / efficiency.value, rate_Bps, bytes_.written);
    store.origin = origin_of_rate(storage != nullptr ? storage->write_Bps.origin : node_Bps.origin,
                                  efficiency.origin);
    if (process_Bps < node_Bps.value) {
      store.flows.front().max_rate = process_Bps;
      store.origin = weakest(store.origin, tier_.writer.origin);
    }
    return tasks_.append(std::move(store));
  }

  const Job& job_;
  const SnapshotTier& tier_;
  const double weight_share_;
  const SnapshotBytes bytes_;
  const double largest_;
  const int code_slot_;
  RankTasks& tasks_;
};

}  // namespace

std::vector<GroupSlot> add_code_groups(const Job& job, const SnapshotTier& tier, Plan& plan) {
  if (snapshot_bytes(tier, 1, weight_share(job)).wire <= 0) return {};
  const Cluster& cluster = job.cluster;
  const int gpus = cluster.node.gpus;
  CHECK(plan.ranks == cluster.gpus(), "{} ranks on {} GPUs", plan.ranks, cluster.gpus());
  const NodeGroups nodes =
      protection_of(tier, cluster.nodes, same_shard_nodes(job.layout, cluster)).groups;
  const bool all_flows = job.communication.fidelity == Fidelity::flows;
  const bool folds = cluster.ranks.in_order() && is_regular(nodes, job.layout.pp);
  if (!all_flows && !folds) return {};
  const auto before = static_cast<std::int32_t>(plan.groups.size());
  plan.groups.resize(before + nodes.groups() * gpus, {Category::snapshot, {}});
  const auto group_of = [&](RankId rank) {
    return before + nodes.group_of(cluster.node_of(rank)) * gpus + cluster.slot_of(rank);
  };
  for (RankId rank = 0; rank < plan.ranks; ++rank) {
    plan.groups[group_of(rank)].members.push_back(rank);
  }
  WorstShape worst(cluster);
  for (auto group = plan.groups.begin() + before; group != plan.groups.end(); ++group) {
    worst.add(group->members);
  }
  const GroupShape shape = among_concurrent(worst.shape(), cluster);
  const int members = plan.ranks / job.layout.pp;
  std::vector<GroupSlot> slots;
  for (int pp = 0; pp < job.layout.pp; ++pp) {
    GroupSlot slot{std::vector<std::int32_t>(members), shape};
    for (int m = 0; m < members; ++m) slot.instance_of_member[m] = group_of(pp * members + m);
    slots.push_back(std::move(slot));
  }
  return slots;
}

SnapshotEnd add_snapshot(const Job& job, const SnapshotTier& tier, double state_bytes,
                         double largest, int code_slot, TaskIndex after, RankTasks& tasks) {
  return Snapshot(job, tier, state_bytes, largest, code_slot, tasks).add(after);
}

TaskIndex add_coordination(const SnapshotTier& tier, TaskIndex after, RankTasks& tasks) {
  Task wait;
  wait.kind = TaskKind::compute;
  wait.name = "coordinate snapshot";
  wait.stream = kCompute;
  wait.category = Category::snapshot;
  wait.cost = {{Category::snapshot, Origin::assumed, tier.coordination_s}};
  if (after >= 0) wait.after = {after};
  return tasks.append(std::move(wait));
}

}  // namespace windtunnel
