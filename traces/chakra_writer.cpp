#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>
#include <utility>

#include "models/base/error.hpp"
#include "traces/chakra.hpp"
#include "traces/chakra_fields.hpp"
#include "traces/chakra_wire.hpp"

namespace windtunnel {
namespace {

constexpr const char* kVersion = "0.0.4";  // of the schema

std::string own(const char* name) {
  return std::string(kChakraPrefix) + name;
}

// [slot][member] -> one list, slot by slot, of some members.
template <class Number>
ChakraAttribute::Integers flattened(const std::vector<std::vector<Number>>& slots,
                                    std::int32_t first, std::int32_t count) {
  ChakraAttribute::Integers all;
  for (const std::vector<Number>& slot : slots) {
    all.insert(all.end(), slot.begin() + first, slot.begin() + first + count);
  }
  return all;
}

bool is_world(const std::vector<RankId>& members, int ranks) {
  if (std::ssize(members) != ranks) return false;
  for (RankId rank = 0; rank < ranks; ++rank) {
    if (members[rank] != rank) return false;
  }
  return true;
}

// PyTorch's text of its process groups: a Python list of one JSON text.
std::string process_groups(const Plan& plan, const std::vector<std::int32_t>& groups) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const std::int32_t g : groups) {
    const Group& group = plan.groups[g];
    nlohmann::ordered_json entry;
    entry["pg_name"] = std::to_string(g + 1);
    entry["pg_desc"] = to_string(group.axis);
    entry["ranks"] = is_world(group.members, plan.ranks) ? std::vector<RankId>() : group.members;
    entry["group_size"] = group.members.size();
    list.push_back(std::move(entry));
  }
  return fmt::format("['{}']", list.dump());
}

std::int64_t rounded(double value) {
  constexpr double kLimit = 0x1p62;
  return std::llround(std::clamp(value, 0.0, kLimit));
}

ChakraNodeType type_of(const Task& task) {
  switch (task.kind) {
    case TaskKind::send:
      return ChakraNodeType::comm_send;
    case TaskKind::recv:
      return ChakraNodeType::comm_recv;
    case TaskKind::collective:
      return ChakraNodeType::comm_coll;
    case TaskKind::copy:
    case TaskKind::store:
      for (const Flow& flow : task.flows) {
        for (const Demand& demand : flow.demands) {
          if (demand.resource == Resource::pcie_in || demand.resource == Resource::storage_read) {
            return ChakraNodeType::mem_load;
          }
        }
      }
      return ChakraNodeType::mem_store;
    default:
      return ChakraNodeType::comp;
  }
}

// CollectiveCommType of et_def.proto.
std::int64_t comm_type(CollectiveKind kind) {
  switch (kind) {
    case CollectiveKind::all_reduce:
      return 0;
    case CollectiveKind::all_gather:
      return 2;
    case CollectiveKind::broadcast:
      return 5;
    case CollectiveKind::all_to_all:
      return 6;
    case CollectiveKind::reduce_scatter:
      return 7;
    case CollectiveKind::reduce:
      return 1;
    case CollectiveKind::gather:
      return 3;
    case CollectiveKind::send_recv:
      return 6;  // Chakra has no shift; the windtunnel attribute says what it is
  }
  return 0;
}

// Tags of 32 bits as the readers expect them; a longer one as it is.
ChakraAttribute tag_attribute(std::int64_t tag) {
  if (!std::in_range<std::int32_t>(tag)) return {"comm_tag", tag};
  return {"comm_tag", static_cast<std::int32_t>(tag)};
}

// Writes the tasks of one member of a class.
class TaskWriter {
 public:
  TaskWriter(const Plan& plan, const std::vector<std::vector<Counterpart>>& partners,
             std::int32_t rank_class, std::int32_t member)
      : plan_(plan),
        owner_(plan.classes[rank_class]),
        partners_(partners[rank_class]),
        member_(member),
        last_on_stream_(owner_.streams.size(), -1) {}

  // Node 0 holds the groups.
  static std::uint64_t id_of(TaskIndex task) { return static_cast<std::uint64_t>(task) + 1; }

  ChakraNode node(TaskIndex t) {
    const Task& task = owner_.tasks[t];
    ChakraNode node;
    node.id = id_of(t);
    node.name = task.name;
    node.type = type_of(task);
    for (const TaskIndex before : task.after) node.data_deps.push_back(id_of(before));
    TaskIndex& last = last_on_stream_[task.stream];
    if (owner_.streams[task.stream].order == StreamOrder::in_order) {
      if (last >= 0) node.ctrl_deps.push_back(id_of(last));
      last = t;
    }
    node.duration_micros = rounded(total_seconds(task.cost) * 1e6);
    node.attributes.push_back({"is_cpu_op", false});
    add_standard(task, t, node.attributes);
    Task standard = read_standard(node).task;
    add_own_attributes(task, standard, node.attributes);
    return node;
  }

 private:
  void add_standard(const Task& task, TaskIndex t, std::vector<ChakraAttribute>& attributes) const {
    const RankId self = owner_.members[member_];
    switch (task.kind) {
      case TaskKind::send:
        add_message(task, self, owner_.peers[task.peer_slot][member_], task.bytes, attributes);
        break;
      case TaskKind::recv: {
        const Counterpart& send = partners_[t];
        add_message(task, owner_.peers[task.peer_slot][member_], self,
                    plan_.classes[send.rank_class].tasks[send.task].bytes, attributes);
        break;
      }
      case TaskKind::collective: {
        const std::int32_t group = owner_.groups[task.group_slot][member_];
        const double shares =
            gathers(task.collective) ? double(plan_.groups[group].members.size()) : 1;
        attributes.push_back({"comm_type", comm_type(task.collective)});
        attributes.push_back({"comm_size", rounded(task.bytes / shares)});
        attributes.push_back({"pg_name", std::to_string(group + 1)});
        break;
      }
      case TaskKind::copy:
      case TaskKind::store: {
        const double bytes =
            task.bytes > 0 || task.flows.empty() ? task.bytes : task.flows.front().amount;
        attributes.push_back({"tensor_size", static_cast<std::uint64_t>(rounded(bytes))});
        break;
      }
      default:
        break;
    }
  }

  static void add_message(const Task& task, RankId from, RankId to, double bytes,
                          std::vector<ChakraAttribute>& attributes) {
    attributes.push_back({"comm_src", from});
    attributes.push_back({"comm_dst", to});
    attributes.push_back(tag_attribute(task.tag));
    attributes.push_back({"comm_size", rounded(bytes)});
  }

  const Plan& plan_;
  const RankClass& owner_;
  const std::vector<Counterpart>& partners_;
  const std::int32_t member_;
  std::vector<TaskIndex> last_on_stream_;
};

ChakraMetadata metadata_of(const Plan& plan, std::int32_t c, std::int32_t first,
                           std::int32_t count) {
  const RankClass& owner = plan.classes[c];
  ChakraAttribute::Strings streams;
  ChakraAttribute::Strings orders;
  for (const Stream& stream : owner.streams) {
    streams.push_back(stream.name);
    orders.push_back(name_of(stream.order));
  }
  return {kVersion,
          {{own("format"), std::int32_t{kChakraFormat}},
           {own("ranks"), std::int32_t{plan.ranks}},
           {own("iterations"), std::int32_t{plan.iterations}},
           {own("class"), owner.name},
           {own("class_index"), c},
           {own("first_member"), first},
           {own("members"), ChakraAttribute::Integers(owner.members.begin() + first,
                                                      owner.members.begin() + first + count)},
           {own("tasks"), static_cast<std::int32_t>(owner.tasks.size())},
           {own("streams"), streams},
           {own("stream_orders"), orders},
           {own("groups"), flattened(owner.groups, first, count)},
           {own("peers"), flattened(owner.peers, first, count)}}};
}

}  // namespace

ChakraExport::ChakraExport(const Plan& plan, ChakraRanks ranks)
    : plan_(plan), partners_(match_messages(plan)), groups_of_rank_(plan.ranks) {
  for (std::int32_t c = 0; c < std::ssize(plan.classes); ++c) {
    const auto members = static_cast<std::int32_t>(plan.classes[c].members.size());
    if (ranks == ChakraRanks::one_per_class) {
      parts_.push_back({c, 0, members});
    } else {
      for (std::int32_t m = 0; m < members; ++m) parts_.push_back({c, m, 1});
    }
  }
  std::sort(parts_.begin(), parts_.end(), [&](const Part& a, const Part& b) {
    return plan.classes[a.rank_class].members[a.first] <
           plan.classes[b.rank_class].members[b.first];
  });
  for (std::int32_t g = 0; g < std::ssize(plan.groups); ++g) {
    for (const RankId rank : plan.groups[g].members) groups_of_rank_[rank].push_back(g);
  }
}

RankId ChakraExport::rank(int file) const {
  const Part& part = parts_.at(file);
  return plan_.classes[part.rank_class].members[part.first];
}

std::string ChakraExport::content(int file) const {
  const Part& part = parts_.at(file);
  const RankClass& owner = plan_.classes[part.rank_class];
  std::string bytes = encode(metadata_of(plan_, part.rank_class, part.first, part.count));
  std::vector<std::int32_t> groups;
  for (std::int32_t m = part.first; m < part.first + part.count; ++m) {
    const auto& of_rank = groups_of_rank_[owner.members[m]];
    groups.insert(groups.end(), of_rank.begin(), of_rank.end());
  }
  std::sort(groups.begin(), groups.end());
  groups.erase(std::unique(groups.begin(), groups.end()), groups.end());
  ChakraNode header;
  header.name = "process_groups";
  header.type = ChakraNodeType::metadata;
  header.input_values = process_groups(plan_, groups);
  bytes += encode(header);
  TaskWriter writer(plan_, partners_, part.rank_class, part.first);
  for (TaskIndex t = 0; t < std::ssize(owner.tasks); ++t) bytes += encode(writer.node(t));
  return bytes;
}

}  // namespace windtunnel
