#include "traces/chakra/foreign_tasks.hpp"

#include <fmt/format.h>

#include <limits>
#include <utility>

#include "models/base/error.hpp"

namespace windtunnel {
namespace {

constexpr std::int64_t kMostSlots = std::numeric_limits<std::int16_t>::max();

std::int16_t slot_number(size_t number) {
  if (number > static_cast<size_t>(kMostSlots)) {
    throw Error(fmt::format("there are more than {} groups, peers or streams", kMostSlots));
  }
  return static_cast<std::int16_t>(number);
}

}  // namespace

void ForeignTasks::append(StandardNode node, std::vector<TaskIndex> after) {
  Task& task = node.task;
  task.after = std::move(after);
  switch (task.kind) {
    case TaskKind::send:
      task.stream = stream("send", StreamOrder::by_priority);
      task.peer_slot = peer_slot(node.peer, "COMM_SEND_NODE without comm_dst");
      break;
    case TaskKind::recv:
      task.stream = stream("recv", StreamOrder::unordered);
      task.peer_slot = peer_slot(node.peer, "COMM_RECV_NODE without comm_src");
      break;
    case TaskKind::collective:
      task.stream = stream("comm " + node.group, StreamOrder::in_order);
      task.group_slot = group_slot(node.group);
      task.sequence = next_sequence_[task.group_slot]++;
      break;
    case TaskKind::copy:
      task.stream = stream("memory", StreamOrder::by_priority);
      break;
    case TaskKind::store:
      task.stream = stream(node.storage, StreamOrder::by_priority);
      break;
    default:
      task.stream = stream(node.on_cpu ? "cpu" : "compute", StreamOrder::by_priority);
  }
  rank_.rank_class.tasks.push_back(std::move(task));
}

std::int16_t ForeignTasks::stream(const std::string& name, StreamOrder order) {
  const auto [known, is_new] = streams_.try_emplace(name, slot_number(streams_.size()));
  if (is_new) rank_.rank_class.streams.push_back({name, order});
  return known->second;
}

std::int16_t ForeignTasks::peer_slot(std::int64_t peer, const char* missing) {
  if (peer < 0) throw Error(missing);
  if (!std::in_range<RankId>(peer)) throw Error(fmt::format("rank {} as peer", peer));
  const auto [known, is_new] = peers_.try_emplace(peer, slot_number(peers_.size()));
  if (is_new) rank_.rank_class.peers.push_back({static_cast<RankId>(peer)});
  return known->second;
}

std::int16_t ForeignTasks::group_slot(const std::string& name) {
  const auto [known, is_new] = groups_.try_emplace(name, slot_number(groups_.size()));
  if (is_new) {
    rank_.rank_class.groups.push_back({known->second});
    rank_.group_names.push_back(name);
    next_sequence_.push_back(0);
  }
  return known->second;
}

}  // namespace windtunnel
