// These helpers shorten hand-written Plans and make clusters with round numbers.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "models/machine/cluster.hpp"
#include "models/plan/plan.hpp"

namespace windtunnel {

inline Parameter exactly(double value) {
  return {value, value, value, Origin::assumed, "test"};
}

// Each node has two GPUs: NVLink 100 B/s, a NIC of 10 B/s per GPU, PCIe 20 B/s, host memory 30 B/s,
// storage 15 B/s behind 10 B/s per node, 100 SMs, 4 cores, HBM 1000 B/s. All are in one pod.
inline Cluster small_cluster(int nodes) {
  Cluster cluster;
  cluster.nodes = nodes;
  NodeSpec& node = cluster.node;
  node.gpus = 2;
  node.nics = 2;
  node.gpu.sms = exactly(100);
  node.gpu.memory_Bps = exactly(1000);
  node.nvlink_Bps = exactly(100);
  node.nic_Bps = exactly(10);
  node.pcie_Bps = exactly(20);
  node.host_memory_Bps = exactly(30);
  node.cpu_cores = exactly(4);
  node.storage_nic_Bps = exactly(10);
  cluster.storage.write_Bps.value = 15;
  cluster.storage.read_Bps.value = 15;
  return cluster;
}

inline Task plain(TaskKind kind, const std::string& name, int stream, double seconds,
                  std::vector<TaskIndex> after = {}) {
  Task task;
  task.kind = kind;
  task.name = name;
  task.stream = static_cast<std::int16_t>(stream);
  if (seconds > 0) task.cost = {{Category::forward, Origin::assumed, seconds}};
  task.after = std::move(after);
  return task;
}

inline Task compute(const std::string& name, int stream, double seconds,
                    std::vector<TaskIndex> after = {}) {
  return plain(TaskKind::compute, name, stream, seconds, std::move(after));
}

inline Task message(TaskKind kind, const std::string& name, int stream, int peer_slot,
                    std::int64_t tag, double bytes, std::vector<TaskIndex> after = {}) {
  Task task = plain(kind, name, stream, 0, std::move(after));
  task.peer_slot = static_cast<std::int16_t>(peer_slot);
  task.tag = tag;
  task.bytes = bytes;
  return task;
}

inline Task send(const std::string& name, int stream, int peer_slot, std::int64_t tag, double bytes,
                 std::vector<TaskIndex> after = {}) {
  return message(TaskKind::send, name, stream, peer_slot, tag, bytes, std::move(after));
}

inline Task recv(const std::string& name, int stream, int peer_slot, std::int64_t tag, double bytes,
                 std::vector<TaskIndex> after = {}) {
  return message(TaskKind::recv, name, stream, peer_slot, tag, bytes, std::move(after));
}

inline Task collective(const std::string& name, int stream, int group_slot, int sequence,
                       double seconds, std::vector<TaskIndex> after = {}) {
  Task task = plain(TaskKind::collective, name, stream, seconds, std::move(after));
  task.group_slot = static_cast<std::int16_t>(group_slot);
  task.sequence = sequence;
  return task;
}

inline Task with_flow(Task task, double amount, std::vector<Demand> demands,
                      double max_rate = std::numeric_limits<double>::infinity()) {
  task.flows.push_back({amount, max_rate, std::move(demands)});
  return task;
}

inline std::vector<Stream> streams(int in_order, int unordered = 0) {
  std::vector<Stream> result;
  for (int i = 0; i < in_order; ++i) result.push_back({"s" + std::to_string(i), {}});
  for (int i = 0; i < unordered; ++i) result.push_back({"recv", StreamOrder::unordered});
  return result;
}

}  // namespace windtunnel
