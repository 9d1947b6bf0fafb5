// Assigns streams and slots of a Plan to the nodes of a foreign trace: work on the CPU, compute,
// memory, storage and sends have a stream each, and collectives one per process group.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "traces/chakra/rank_trace.hpp"

namespace windtunnel {

// A node as its standard fields describe it. Fields that they leave open are those of a new Task.
struct StandardNode {
  Task task;
  std::string group;       // pg_name
  std::int64_t peer = -1;  // comm_dst of a send, comm_src of a receive
  bool on_cpu = false;
  std::string storage = "storage";  // the stream of a store
};

class ForeignTasks {
 public:
  // Appends tasks to `rank`, which must outlive this object.
  explicit ForeignTasks(RankTrace& rank) : rank_(rank) {}

  // Throws Error without a location.
  void append(StandardNode node, std::vector<TaskIndex> after);

 private:
  std::int16_t stream(const std::string& name, StreamOrder order);
  std::int16_t peer_slot(std::int64_t peer, const char* missing);
  std::int16_t group_slot(const std::string& name);

  RankTrace& rank_;
  std::map<std::string, std::int16_t> streams_;
  std::map<std::int64_t, std::int16_t> peers_;
  std::map<std::string, std::int16_t> groups_;
  std::vector<std::int32_t> next_sequence_;
};

}  // namespace windtunnel
