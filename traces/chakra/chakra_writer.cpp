#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>
#include <utility>

#include "models/base/error.hpp"
#include "traces/chakra/chakra.hpp"
#include "traces/chakra/chakra_fields.hpp"
#include "traces/chakra/chakra_wire.hpp"

namespace windtunnel {
namespace {

constexpr const char* kVersion = "0.0.4";  // of the schema

using NodeBytes = ChakraExport::NodeBytes;

// Flattens [slot][member] to one list ordered by slot, for `count` members from `first` on.
template <class Number>
std::vector<std::int64_t> flattened(const std::vector<std::vector<Number>>& slots,
                                    std::int32_t first, std::int32_t count) {
  std::vector<std::int64_t> all;
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

// PyTorch writes process groups as a Python list that holds one JSON text.
std::string process_groups_text(const Plan& plan, const std::vector<std::int32_t>& groups) {
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

chakra::NodeType type_of(const Task& task) {
  switch (task.kind) {
    case TaskKind::send:
      return chakra::COMM_SEND_NODE;
    case TaskKind::recv:
      return chakra::COMM_RECV_NODE;
    case TaskKind::collective:
      return chakra::COMM_COLL_NODE;
    case TaskKind::copy:
    case TaskKind::store:
      for (const Flow& flow : task.flows) {
        for (const Demand& demand : flow.demands) {
          if (demand.resource == Resource::pcie_in || demand.resource == Resource::storage_read) {
            return chakra::MEM_LOAD_NODE;
          }
        }
      }
      return chakra::MEM_STORE_NODE;
    default:
      return chakra::COMP_NODE;
  }
}

// Readers expect 32-bit tags; a longer one is written as it is.
void add_tag(std::int64_t tag, ChakraAttributes& attributes) {
  if (std::in_range<std::int32_t>(tag)) {
    add_attribute(attributes, "comm_tag", static_cast<std::int32_t>(tag));
  } else {
    add_attribute(attributes, "comm_tag", tag);
  }
}

// Writes the tasks of a class. Its members differ only in the standard attributes that name peers
// and groups, so the rest of each node is encoded once for all members.
class TaskWriter {
 public:
  TaskWriter(const Plan& plan, const std::vector<std::vector<Counterpart>>& partners,
             std::int32_t rank_class)
      : plan_(plan), owner_(plan.classes[rank_class]), partners_(partners[rank_class]) {}

  // Node 0 holds the groups.
  static std::uint64_t id_of(TaskIndex task) { return static_cast<std::uint64_t>(task) + 1; }

  // Returns the nodes as this member writes them, in the order of the tasks.
  std::vector<NodeBytes> nodes(std::int32_t member) const {
    std::vector<NodeBytes> all;
    all.reserve(owner_.tasks.size());
    std::vector<TaskIndex> last_on_stream(owner_.streams.size(), -1);
    for (TaskIndex t = 0; t < std::ssize(owner_.tasks); ++t) {
      const Task& task = owner_.tasks[t];
      chakra::Node node = node_of(t);
      TaskIndex& last = last_on_stream[task.stream];
      if (owner_.streams[task.stream].order == StreamOrder::in_order) {
        if (last >= 0) node.add_ctrl_deps(id_of(last));
        last = t;
      }
      NodeBytes& bytes = all.emplace_back();
      node.AppendPartialToString(&bytes.before);
      bytes.behind = own_attributes(std::move(node), t, member);
      bytes.members = members_of_group(t, member);
    }
    return all;
  }

  // Appends a node that was written for another member of the class, with this member's attributes.
  void append(TaskIndex t, std::int32_t member, const NodeBytes& node, std::string& bytes) {
    own_.Clear();
    add_standard(t, member, *own_.mutable_attr());
    const bool alike = members_of_group(t, member) == node.members;
    std::string other;
    if (!alike) other = own_attributes(node_of(t), t, member);
    const std::string& behind = alike ? node.behind : other;
    encode_length(node.before.size() + own_.ByteSizeLong() + behind.size(), bytes);
    bytes += node.before;
    own_.AppendPartialToString(&bytes);
    bytes += behind;
  }

 private:
  // Builds a node up to the standard attributes, without the dependencies that order its stream.
  chakra::Node node_of(TaskIndex t) const {
    const Task& task = owner_.tasks[t];
    chakra::Node node;
    node.set_id(id_of(t));
    node.set_name(task.name);
    node.set_type(type_of(task));
    for (const TaskIndex before : task.after) node.add_data_deps(id_of(before));
    node.set_duration_micros(static_cast<std::uint64_t>(rounded(total_seconds(task.cost) * 1e6)));
    add_attribute(*node.mutable_attr(), "is_cpu_op", false);
    return node;
  }

  // Attributes of our own, for properties that the standard attributes do not express.
  std::string own_attributes(chakra::Node node, TaskIndex t, std::int32_t member) const {
    add_standard(t, member, *node.mutable_attr());
    chakra::Node own;
    add_own_attributes(owner_.tasks[t], read_standard(node).task, *own.mutable_attr());
    return own.SerializePartialAsString();
  }

  // Returns the number of ranks in the task's group, by which comm_size of a gather is divided; 0
  // if the task is not a collective.
  std::size_t members_of_group(TaskIndex t, std::int32_t member) const {
    const Task& task = owner_.tasks[t];
    if (task.kind != TaskKind::collective) return 0;
    return plan_.groups[owner_.groups[task.group_slot][member]].members.size();
  }

  void add_standard(TaskIndex t, std::int32_t member, ChakraAttributes& attributes) const {
    const Task& task = owner_.tasks[t];
    const RankId self = owner_.members[member];
    switch (task.kind) {
      case TaskKind::send:
        add_message(task, self, owner_.peers[task.peer_slot][member], task.bytes, attributes);
        break;
      case TaskKind::recv: {
        const Counterpart& send = partners_[t];
        add_message(task, owner_.peers[task.peer_slot][member], self,
                    plan_.classes[send.rank_class].tasks[send.task].bytes, attributes);
        break;
      }
      case TaskKind::collective: {
        const std::int32_t group = owner_.groups[task.group_slot][member];
        const double shares = gathers(task.collective) ? double(members_of_group(t, member)) : 1;
        add_attribute(attributes, "comm_type", std::int64_t{comm_type_of(task.collective)});
        add_attribute(attributes, "comm_size", rounded(task.bytes / shares));
        add_attribute(attributes, "pg_name", std::to_string(group + 1));
        break;
      }
      case TaskKind::copy:
      case TaskKind::store: {
        const double bytes =
            task.bytes > 0 || task.flows.empty() ? task.bytes : task.flows.front().amount;
        add_attribute(attributes, "tensor_size", static_cast<std::uint64_t>(rounded(bytes)));
        break;
      }
      default:
        break;
    }
  }

  static void add_message(const Task& task, RankId from, RankId to, double bytes,
                          ChakraAttributes& attributes) {
    add_attribute(attributes, "comm_src", from);
    add_attribute(attributes, "comm_dst", to);
    add_tag(task.tag, attributes);
    add_attribute(attributes, "comm_size", rounded(bytes));
  }

  const Plan& plan_;
  const RankClass& owner_;
  const std::vector<Counterpart>& partners_;
  chakra::Node own_;  // attributes of one member
};

chakra::GlobalMetadata metadata_of(const Plan& plan, const std::vector<std::string>& scenario,
                                   std::int32_t c, std::int32_t first, std::int32_t count) {
  const RankClass& owner = plan.classes[c];
  std::vector<std::string> streams;
  std::vector<std::string> orders;
  for (const Stream& stream : owner.streams) {
    streams.push_back(stream.name);
    orders.push_back(word_of(stream.order));
  }
  const auto members = owner.members.begin() + first;
  chakra::GlobalMetadata metadata;
  metadata.set_version(kVersion);
  const auto add = [&](const char* name, const auto& value) {
    add_attribute(*metadata.mutable_attr(), std::string(kChakraPrefix) + name, value);
  };
  add("format", kChakraFormat);
  add("ranks", plan.ranks);
  add("iterations", plan.iterations);
  add("in_step", plan.in_step);
  if (!plan.exchanges.empty()) {
    const FlatExchanges flat = flattened(plan.exchanges);
    add("exchange_members", flat.members);
    add("exchange_received", flat.received);
    add("exchange_locality", flat.locality);
  }
  if (!scenario.empty()) add("scenario", scenario);
  add("class", owner.name);
  add("class_index", c);
  add("first_member", first);
  add("members", std::vector<std::int64_t>(members, members + count));
  add("tasks", static_cast<std::int32_t>(owner.tasks.size()));
  add("streams", streams);
  add("stream_orders", orders);
  add("groups", flattened(owner.groups, first, count));
  add("peers", flattened(owner.peers, first, count));
  return metadata;
}

}  // namespace

ChakraExport::ChakraExport(const Plan& plan, ChakraRanks ranks, std::vector<std::string> scenario)
    : plan_(plan),
      scenario_(std::move(scenario)),
      partners_(match_messages(plan)),
      groups_of_rank_(plan.ranks) {
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
  nodes_.resize(plan.classes.size());
  for (const Part& part : parts_) {
    const bool in_one_file = part.count == std::ssize(plan.classes[part.rank_class].members);
    if (part.first > 0 || in_one_file) continue;
    nodes_[part.rank_class] = TaskWriter(plan, partners_, part.rank_class).nodes(part.first);
  }
  for (std::int32_t g = 0; g < std::ssize(plan.groups); ++g) {
    for (const RankId rank : plan.groups[g].members) groups_of_rank_[rank].push_back(g);
  }
}

RankId ChakraExport::rank(int file) const {
  const Part& part = parts_.at(file);
  return plan_.classes[part.rank_class].members[part.first];
}

std::string ChakraExport::content(int file) const {
  std::string bytes;
  put_content(file, bytes);
  return bytes;
}

void ChakraExport::put_content(int file, std::string& bytes) const {
  bytes.clear();
  const Part& part = parts_.at(file);
  const RankClass& owner = plan_.classes[part.rank_class];
  encode(metadata_of(plan_, scenario_, part.rank_class, part.first, part.count), bytes);
  std::vector<std::int32_t> groups;
  for (std::int32_t m = part.first; m < part.first + part.count; ++m) {
    const auto& of_rank = groups_of_rank_[owner.members[m]];
    groups.insert(groups.end(), of_rank.begin(), of_rank.end());
  }
  std::sort(groups.begin(), groups.end());
  groups.erase(std::unique(groups.begin(), groups.end()), groups.end());
  chakra::Node header;
  header.set_name("process_groups");
  header.set_type(chakra::METADATA_NODE);
  header.mutable_inputs()->set_values(process_groups_text(plan_, groups));
  encode(header, bytes);
  TaskWriter writer(plan_, partners_, part.rank_class);
  const std::vector<NodeBytes>& known = nodes_[part.rank_class];
  const std::vector<NodeBytes> alone =
      known.empty() ? writer.nodes(part.first) : std::vector<NodeBytes>();
  const std::vector<NodeBytes>& nodes = known.empty() ? alone : known;
  for (TaskIndex t = 0; t < std::ssize(nodes); ++t) writer.append(t, part.first, nodes[t], bytes);
}

}  // namespace windtunnel
