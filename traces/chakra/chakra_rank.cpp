#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <queue>
#include <unordered_map>
#include <utility>

#include "models/base/error.hpp"
#include "traces/chakra/chakra_fields.hpp"
#include "traces/chakra/chakra_wire.hpp"
#include "traces/chakra/rank_trace.hpp"

namespace windtunnel {
namespace {

constexpr std::int64_t kMostShort = std::numeric_limits<std::int16_t>::max();

std::int32_t small_integer(const chakra::AttributeProto& attribute, std::int64_t least,
                           std::int64_t most = std::numeric_limits<std::int32_t>::max()) {
  const std::int64_t value = integer_of(attribute);
  if (value < least || value > most) {
    throw Error(fmt::format("attribute '{}' is {}", attribute.name(), value));
  }
  return static_cast<std::int32_t>(value);
}

template <class Number>
std::vector<Number> small_integers(const chakra::AttributeProto& attribute) {
  std::vector<Number> values;
  for (const std::int64_t value : integers_of(attribute)) {
    if (value < 0 || !std::in_range<Number>(value)) {
      throw Error(fmt::format("attribute '{}' has {}", attribute.name(), value));
    }
    values.push_back(static_cast<Number>(value));
  }
  return values;
}

// Splits one list, ordered by slot, into [slot][member].
std::vector<std::vector<std::int32_t>> by_slot(const std::vector<std::int32_t>& all, size_t members,
                                               const char* what) {
  if (all.size() % members != 0) {
    throw Error(fmt::format("{} {} for {} members", all.size(), what, members));
  }
  std::vector<std::vector<std::int32_t>> slots;
  for (auto at = all.begin(); at != all.end(); at += static_cast<std::ptrdiff_t>(members)) {
    slots.emplace_back(at, at + static_cast<std::ptrdiff_t>(members));
  }
  return slots;
}

// Reads our own metadata, except the tasks. Throws Error without a location.
class OwnHeader {
 public:
  // Returns the number of tasks that follow.
  std::int32_t read(const chakra::GlobalMetadata& metadata, RankTrace& rank) {
    for (const chakra::AttributeProto& attribute : metadata.attr()) {
      if (attribute.name().starts_with(kChakraPrefix)) set(attribute, rank);
    }
    rank.own = format_ > 0;
    if (!rank.own) return 0;
    if (rank.rank_class.members.empty()) throw Error("the metadata lists no members");
    if (streams_.size() != orders_.size())
      throw Error("streams and stream_orders differ in number");
    for (size_t s = 0; s < streams_.size(); ++s) {
      rank.rank_class.streams.push_back(
          {streams_[s], value_of<StreamOrder>("stream order", orders_[s])});
    }
    const size_t members = rank.rank_class.members.size();
    if (rank.first_member >= rank.ranks || members > size_t(rank.ranks - rank.first_member)) {
      throw Error(fmt::format("a class has members {} to {}, but the job has {} ranks",
                              rank.first_member, rank.first_member + members - 1, rank.ranks));
    }
    rank.exchanges = unflattened(exchanges_);
    rank.rank_class.groups = by_slot(groups_, members, "groups");
    rank.rank_class.peers = by_slot(peers_, members, "peers");
    return tasks_;
  }

 private:
  void set(const chakra::AttributeProto& attribute, RankTrace& rank) {
    using Set = std::function<void()>;
    const std::map<std::string, Set> fields = {
        {"format", [&] { format_ = small_integer(attribute, 1); }},
        {"ranks", [&] { rank.ranks = small_integer(attribute, 1); }},
        {"iterations", [&] { rank.iterations = small_integer(attribute, 1, kMostShort); }},
        {"in_step", [&] { rank.in_step = small_integer(attribute, 1); }},
        {"exchange_members", [&] { exchanges_.members = integers_of(attribute); }},
        {"exchange_received", [&] { exchanges_.received = numbers_of(attribute); }},
        {"exchange_locality", [&] { exchanges_.locality = numbers_of(attribute); }},
        {"scenario", [&] { rank.scenario = texts_of(attribute); }},
        {"class", [&] { rank.rank_class.name = text_of(attribute); }},
        {"class_index", [&] { rank.class_index = small_integer(attribute, 0); }},
        {"first_member", [&] { rank.first_member = small_integer(attribute, 0); }},
        {"members", [&] { rank.rank_class.members = small_integers<RankId>(attribute); }},
        {"tasks", [&] { tasks_ = small_integer(attribute, 0); }},
        {"streams", [&] { streams_ = texts_of(attribute); }},
        {"stream_orders", [&] { orders_ = texts_of(attribute); }},
        {"groups", [&] { groups_ = small_integers<std::int32_t>(attribute); }},
        {"peers", [&] { peers_ = small_integers<std::int32_t>(attribute); }},
    };
    const auto field = fields.find(attribute.name().substr(kChakraPrefix.size()));
    if (field == fields.end()) {
      std::vector<std::string> known;
      for (const auto& [name, unused] : fields) known.push_back(std::string(kChakraPrefix) + name);
      throw Error(unknown_name("attribute", attribute.name(), known));
    }
    field->second();
    if (format_ > kChakraFormat) {
      throw Error(
          fmt::format("it is in format {}, which only a newer windtunnel can read", format_));
    }
  }

  int format_ = 0;
  FlatExchanges exchanges_;
  std::int32_t tasks_ = 0;
  std::vector<std::string> streams_;
  std::vector<std::string> orders_;
  std::vector<std::int32_t> groups_;
  std::vector<std::int32_t> peers_;
};

// Parses PyTorch's text: a list in brackets and quotes around the JSON list. Other texts have no
// groups.
std::vector<ProcessGroup> parse_process_groups(const std::string& text) {
  using nlohmann::json;
  std::vector<ProcessGroup> groups;
  const size_t first = text.find("[{");
  const size_t last = text.rfind("}]");
  if (first == std::string::npos || last == std::string::npos || last < first) return groups;
  const json list = json::parse(text.begin() + static_cast<std::ptrdiff_t>(first),
                                text.begin() + static_cast<std::ptrdiff_t>(last) + 2, nullptr,
                                /*allow_exceptions=*/false);
  if (!list.is_array()) return groups;
  for (const json& entry : list) {
    const auto name = entry.find("pg_name");
    const auto ranks = entry.find("ranks");
    if (name == entry.end() || !name->is_string() || ranks == entry.end() || !ranks->is_array()) {
      throw Error("a process group needs pg_name and ranks");
    }
    ProcessGroup group{name->get<std::string>(), "", {}};
    const auto axis = entry.find("pg_desc");
    if (axis != entry.end() && axis->is_string()) group.axis = axis->get<std::string>();
    const auto size = entry.find("group_size");
    if (size != entry.end() && size->is_number_unsigned() && ranks->empty()) {
      group.all = size->get<std::uint64_t>();
    }
    for (const json& rank : *ranks) {
      if (!rank.is_number_unsigned() || !std::in_range<RankId>(rank.get<std::uint64_t>())) {
        throw Error(fmt::format("process group '{}' has an invalid rank", group.name));
      }
      group.ranks.push_back(rank.get<RankId>());
    }
    groups.push_back(std::move(group));
  }
  return groups;
}

// A task whose predecessors are still given as node ids.
struct ReadNode {
  StandardNode standard;
  std::int64_t byte = 0;
  std::uint64_t id = 0;
  std::vector<std::uint64_t> deps;
};

// Returns positions in the file in topological order; independent nodes keep the order of the file.
// If there is a cycle, the nodes on it and after it are missing.
std::vector<TaskIndex> order_by_dependencies(const std::vector<std::vector<TaskIndex>>& after) {
  std::vector<std::vector<TaskIndex>> followers(after.size());
  std::vector<size_t> pending(after.size());
  std::priority_queue<TaskIndex, std::vector<TaskIndex>, std::greater<>> ready;
  for (TaskIndex t = 0; t < std::ssize(after); ++t) {
    pending[t] = after[t].size();
    for (const TaskIndex before : after[t]) followers[before].push_back(t);
    if (pending[t] == 0) ready.push(t);
  }
  std::vector<TaskIndex> order;
  while (!ready.empty()) {
    const TaskIndex t = ready.top();
    ready.pop();
    order.push_back(t);
    for (const TaskIndex follower : followers[t]) {
      if (--pending[follower] == 0) ready.push(follower);
    }
  }
  return order;
}

class RankReader {
 public:
  explicit RankReader(const std::string& path) : nodes_of_(nodes_of(path)), file_(*nodes_of_) {
    rank_.file = path;
  }

  RankTrace read() {
    const chakra::GlobalMetadata metadata = file_.metadata();
    std::int32_t tasks = 0;
    at(file_.message(), [&] { tasks = OwnHeader().read(metadata, rank_); });
    chakra::Node node;
    while (file_.next(node)) at(file_.message(), [&] { add(node); });
    if (rank_.own && std::ssize(nodes_) != tasks) {
      file_.fail(file_.message(),
                 fmt::format("the file has only {} of {} tasks", nodes_.size(), tasks));
    }
    resolve();
    if (!rank_.own) name_rank();
    return std::move(rank_);
  }

 private:
  static std::unique_ptr<ChakraNodes> nodes_of(const std::string& path) {
    if (path.ends_with(".json")) return std::make_unique<ChakraJson>(path);
    return std::make_unique<ChakraFile>(path);
  }

  // Adds this place to Errors that have none.
  template <class Body>
  void at(std::int64_t byte, const Body& body) const {
    try {
      body();
    } catch (const Error& error) {
      file_.fail(byte, error.what());
    }
  }

  void add(const chakra::Node& node) {
    if (node.type() == chakra::METADATA_NODE) {
      for (ProcessGroup& group : parse_process_groups(node.inputs().values())) {
        rank_.declared.push_back(std::move(group));
      }
      if (rank_.own) return;
    }
    if (!index_of_id_.try_emplace(node.id(), static_cast<TaskIndex>(nodes_.size())).second) {
      throw Error(fmt::format("node {} is in the file twice", node.id()));
    }
    ReadNode read{read_standard(node),
                  file_.message(),
                  node.id(),
                  {node.data_deps().begin(), node.data_deps().end()}};
    if (rank_.own) {
      read_own_attributes(node.attr(), read.standard.task);
    } else {
      const StandardNode& standard = read.standard;
      const bool computes = node.type() == chakra::COMP_NODE && !standard.on_cpu;
      rank_.untimed += computes && standard.task.cost.empty() ? 1 : 0;
      read.deps.insert(read.deps.end(), node.ctrl_deps().begin(), node.ctrl_deps().end());
      std::sort(read.deps.begin(), read.deps.end());
      read.deps.erase(std::unique(read.deps.begin(), read.deps.end()), read.deps.end());
    }
    nodes_.push_back(std::move(read));
  }

  // Other tools remove nodes from traces without removing dependencies on them. Such a dependency
  // is ignored. Our own files have all nodes.
  std::vector<TaskIndex> positions(const ReadNode& node) {
    std::vector<TaskIndex> after;
    for (const std::uint64_t id : node.deps) {
      const auto found = index_of_id_.find(id);
      if (found != index_of_id_.end()) {
        after.push_back(found->second);
      } else if (rank_.own) {
        throw Error(
            fmt::format("node {} comes after node {}, which is not in the file", node.id, id));
      } else {
        ++rank_.absent_deps;
      }
    }
    return after;
  }

  // Checks the numbers by which one of our tasks refers to its rank's groups and peers.
  void check_slots(const Task& task) const {
    const auto check = [&](const char* what, int slot, std::size_t slots) {
      if (slot >= 0 && std::cmp_less(slot, slots)) return;
      throw Error(fmt::format("task '{}' refers to {} {}, but its rank has {}", task.name, what,
                              slot, slots));
    };
    const RankClass& owner = rank_.rank_class;
    if (task.kind == TaskKind::collective) check("group", task.group_slot, owner.groups.size());
    if (task.kind == TaskKind::send || task.kind == TaskKind::recv) {
      check("peer", task.peer_slot, owner.peers.size());
    }
  }

  void resolve() {
    std::vector<std::vector<TaskIndex>> after(nodes_.size());
    for (size_t i = 0; i < nodes_.size(); ++i) {
      at(nodes_[i].byte, [&] { after[i] = positions(nodes_[i]); });
    }
    if (rank_.own) {
      for (size_t i = 0; i < nodes_.size(); ++i) {
        at(nodes_[i].byte, [&] { check_slots(nodes_[i].standard.task); });
        nodes_[i].standard.task.after = std::move(after[i]);
        rank_.rank_class.tasks.push_back(std::move(nodes_[i].standard.task));
      }
      return;
    }
    const std::vector<TaskIndex> order = order_by_dependencies(after);
    std::vector<TaskIndex> place(nodes_.size(), -1);
    for (TaskIndex t = 0; t < std::ssize(order); ++t) place[order[t]] = t;
    const auto left = std::find(place.begin(), place.end(), -1);
    if (left != place.end()) {
      const ReadNode& node = nodes_[left - place.begin()];
      file_.fail(node.byte, fmt::format("node {} waits for itself", node.id));
    }
    ForeignTasks tasks(rank_);
    for (const TaskIndex old : order) {
      for (TaskIndex& before : after[old]) before = place[before];
      at(nodes_[old].byte,
         [&] { tasks.append(std::move(nodes_[old].standard), std::move(after[old])); });
    }
  }

  void name_rank() {
    const RankId rank = rank_of_name(rank_.file);
    if (rank < 0) {
      throw Error(
          Location{rank_.file},
          "the name of the file must have the form NAME.RANK.et (or .json), as in llama.0.et");
    }
    rank_.rank_class.name = fmt::format("rank {}", rank);
    rank_.rank_class.members = {rank};
    rank_.first_member = rank;
  }

  std::unique_ptr<ChakraNodes> nodes_of_;
  ChakraNodes& file_;
  RankTrace rank_;
  std::vector<ReadNode> nodes_;
  std::unordered_map<std::uint64_t, TaskIndex> index_of_id_;
};

}  // namespace

RankTrace read_chakra_rank(const std::string& path) {
  return RankReader(path).read();
}

RankId rank_of_name(const std::string& path) {
  const std::filesystem::path name = std::filesystem::path(path).filename();
  if (name.extension() != ".et" && name.extension() != ".json") return -1;
  const std::string number = name.stem().extension().string();  // ".12"
  RankId rank = -1;
  const char* end = number.data() + number.size();
  if (number.size() < 2 || number[1] == '-') return -1;
  const auto parsed = std::from_chars(number.data() + 1, end, rank);
  const bool whole = parsed.ec == std::errc() && parsed.ptr == end;
  return whole && rank < std::numeric_limits<RankId>::max() ? rank : -1;
}

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
