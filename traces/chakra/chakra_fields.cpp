#include "traces/chakra/chakra_fields.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <sstream>
#include <utility>

#include "models/base/error.hpp"

namespace windtunnel {
namespace {

using chakra::AttributeProto;

template <class Enum>
std::vector<std::string> words(int count) {
  std::vector<std::string> names;
  for (int i = 0; i < count; ++i) names.emplace_back(to_string(static_cast<Enum>(i)));
  return names;
}

[[noreturn]] void wrong_type(const AttributeProto& attribute, const char* expected) {
  throw Error(fmt::format("attribute '{}' is not {}", attribute.name(), expected));
}

void expect(bool holds, const AttributeProto& attribute, const char* expected) {
  if (!holds) wrong_type(attribute, expected);
}

double not_negative(const AttributeProto& attribute) {
  const double value = number_of(attribute);
  if (!(value >= 0) || std::isinf(value)) wrong_type(attribute, "a number of at least 0");
  return value;
}

double finite(const AttributeProto& attribute) {
  const double value = number_of(attribute);
  expect(std::isfinite(value), attribute, "a finite number");
  return value;
}

// A look-up by type or by kind returns the first row that matches.
constexpr std::pair<chakra::CollectiveCommType, CollectiveKind> kCollectives[] = {
    {chakra::ALL_REDUCE, CollectiveKind::all_reduce},
    {chakra::REDUCE, CollectiveKind::reduce},
    {chakra::ALL_GATHER, CollectiveKind::all_gather},
    {chakra::GATHER, CollectiveKind::gather},
    {chakra::BROADCAST, CollectiveKind::broadcast},
    {chakra::ALL_TO_ALL, CollectiveKind::all_to_all},
    {chakra::REDUCE_SCATTER, CollectiveKind::reduce_scatter},
    {chakra::REDUCE_SCATTER_BLOCK, CollectiveKind::reduce_scatter},
    {chakra::BARRIER, CollectiveKind::all_reduce},
    {chakra::ALL_TO_ALL, CollectiveKind::send_recv},
};

CollectiveKind collective_of(std::int64_t comm_type) {
  for (const auto& [type, kind] : kCollectives) {
    if (type == comm_type) return kind;
  }
  throw Error(
      fmt::format("comm_type {} is not simulated; known: all-reduce (0), reduce (1), all-gather "
                  "(2), gather (3), broadcast (5), all-to-all (6), reduce-scatter (7, 8), barrier "
                  "(9)",
                  comm_type));
}

void set_type(const chakra::Node& node, Task& task) {
  switch (node.type()) {
    case chakra::COMM_SEND_NODE:
      task.kind = TaskKind::send;
      task.category = Category::pp;
      break;
    case chakra::COMM_RECV_NODE:
      task.kind = TaskKind::recv;
      task.category = Category::pp;
      break;
    case chakra::COMM_COLL_NODE:
      task.kind = TaskKind::collective;
      task.category = Category::dp;
      task.as_flows = true;
      break;
    case chakra::MEM_LOAD_NODE:
    case chakra::MEM_STORE_NODE:
      task.kind = TaskKind::copy;
      break;
    case chakra::STORAGE_NODE:
    case chakra::CHECKPOINT_NODE:
      task.kind = TaskKind::store;
      break;
    default:
      task.kind = TaskKind::compute;
  }
}

void set_time(const chakra::Node& node, double tensor_bytes, Task& task) {
  const bool communicates = task.kind == TaskKind::send || task.kind == TaskKind::recv ||
                            task.kind == TaskKind::collective;
  if (communicates) return;
  if (node.duration_micros() > 0) {
    task.cost = {{Category::forward, Origin::assumed, double(node.duration_micros()) * 1e-6}};
  } else if (task.kind == TaskKind::copy && tensor_bytes > 0) {
    Flow flow;
    flow.amount = tensor_bytes;
    flow.demands = {
        {node.type() == chakra::MEM_LOAD_NODE ? Resource::pcie_in : Resource::pcie_out, 1}};
    task.flows = {flow};
  }
}

std::string text_of_demands(const std::vector<Demand>& demands) {
  std::string text;
  for (const Demand& demand : demands) {
    text +=
        fmt::format("{}{} {}", text.empty() ? "" : " ", word_of(demand.resource), demand.weight);
  }
  return text;
}

std::vector<Demand> demands_of(const std::string& text) {
  constexpr int kMostWeight = 1000;
  std::vector<Demand> demands;
  std::istringstream in(text);
  std::string resource;
  while (in >> resource) {
    Demand demand{value_of<Resource>("resource", resource), 0};
    if (!(in >> demand.weight) || demand.weight < 1 || demand.weight > kMostWeight) {
      throw Error(fmt::format("'{}' is not a list of resources with a weight each", text));
    }
    demands.push_back(demand);
  }
  return demands;
}

template <class Number>
requires std::is_arithmetic_v<Number>
void set_value(const AttributeProto& attribute, Number& value) {
  if constexpr (std::is_same_v<Number, bool>) {
    value = flag_of(attribute);
  } else if constexpr (std::is_floating_point_v<Number>) {
    // free_bytes is negative if a backward pass for the input gradient keeps more memory for the
    // weight gradients than it releases.
    const bool signed_bytes = attribute.name().ends_with("free_bytes");
    value = signed_bytes ? finite(attribute) : not_negative(attribute);
  } else {
    const std::int64_t integer = integer_of(attribute);
    if (!std::in_range<Number>(integer)) wrong_type(attribute, "in range");
    value = static_cast<Number>(integer);
  }
}

template <class Enum>
requires std::is_enum_v<Enum>
void set_value(const AttributeProto& attribute, Enum& value) {
  value = value_of<Enum>(attribute.name(), text_of(attribute));
}

template <class Enum>
void set_value(const AttributeProto& attribute, std::optional<Enum>& value) {
  set_value(attribute, value.emplace());
}

void set_value(const AttributeProto& attribute, std::vector<double>& values) {
  values = numbers_of(attribute);
}

void set_value(const AttributeProto& attribute, std::vector<std::string>& values) {
  values = texts_of(attribute);
}

std::vector<std::string> own_names() {
  std::vector<std::string> names;
  const auto add = [&](const char* name, auto&, auto&) {
    names.push_back(std::string(kChakraPrefix) + name);
  };
  Task task;
  visit_task_fields(task, task, add);
  TaskLists lists;
  visit_list_fields(lists, lists, add);
  return names;
}

}  // namespace

FlatExchanges flattened(const std::vector<UnevenExchange>& exchanges) {
  FlatExchanges flat;
  for (const UnevenExchange& exchange : exchanges) {
    flat.members.push_back(std::ssize(exchange.received));
    flat.received.insert(flat.received.end(), exchange.received.begin(), exchange.received.end());
    flat.locality.push_back(exchange.locality.value_or(-1));
  }
  return flat;
}

std::vector<UnevenExchange> unflattened(const FlatExchanges& flat) {
  const auto refuse = [] { throw Error("exchange_members, _received and _locality do not match"); };
  if (flat.members.size() != flat.locality.size()) refuse();
  std::vector<UnevenExchange> exchanges;
  std::size_t next = 0;
  for (std::size_t i = 0; i < flat.members.size(); ++i) {
    const std::int64_t members = flat.members[i];
    if (members < 0 || members > std::ssize(flat.received)) refuse();
    UnevenExchange& exchange = exchanges.emplace_back();
    for (std::int64_t member = 0; member < members; ++member, ++next) {
      if (next >= flat.received.size() ||
          !(flat.received[next] >= 0 && flat.received[next] < 1e9)) {
        refuse();
      }
      exchange.received.push_back(flat.received[next]);
    }
    if (!(flat.locality[i] <= 1)) refuse();
    if (flat.locality[i] >= 0) exchange.locality = flat.locality[i];
  }
  if (next != flat.received.size()) refuse();
  return exchanges;
}

const std::vector<std::string>& names_of(ActionKind) {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> letters;
    for (int i = 0; i <= static_cast<int>(ActionKind::receive_backward); ++i) {
      letters.emplace_back(letters_of(static_cast<ActionKind>(i)));
    }
    return letters;
  }();
  return names;
}

const std::vector<std::string>& names_of(StreamOrder) {
  static const std::vector<std::string> names = {"in_order", "by_priority", "unordered"};
  return names;
}

const std::vector<std::string>& names_of(Resource) {
  static const std::vector<std::string> names = {
      "sm",      "hbm",    "pcie_out",      "pcie_in",      "host_memory", "cpu",
      "nic_out", "nic_in", "storage_write", "storage_read", "local_disk"};
  return names;
}

const std::vector<std::string>& names_of(Category) {
  static const std::vector<std::string> names = words<Category>(kCategories);
  return names;
}

const std::vector<std::string>& names_of(Origin) {
  static const std::vector<std::string> names = words<Origin>(kOrigins);
  return names;
}

const std::vector<std::string>& names_of(CollectiveKind) {
  static const auto names = words<CollectiveKind>(static_cast<int>(CollectiveKind::send_recv) + 1);
  return names;
}

const std::vector<std::string>& names_of(CollectiveAlgorithm) {
  static const auto names = words<CollectiveAlgorithm>(kCollectiveAlgorithms);
  return names;
}

const std::vector<std::string>& names_of(Protocol) {
  static const auto names = words<Protocol>(static_cast<int>(Protocol::simple) + 1);
  return names;
}

chakra::CollectiveCommType comm_type_of(CollectiveKind kind) {
  const auto* row = std::find_if(std::begin(kCollectives), std::end(kCollectives),
                                 [&](const auto& known) { return known.second == kind; });
  CHECK(row != std::end(kCollectives), "a comm_type for each kind");
  return row->first;
}

bool gathers(CollectiveKind kind) {
  return kind == CollectiveKind::all_gather || kind == CollectiveKind::gather;
}

size_t index_of_name(std::string_view noun, const std::string& name,
                     const std::vector<std::string>& names) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) throw Error(unknown_name(noun, name, names));
  return static_cast<size_t>(found - names.begin());
}

std::int64_t integer_of(const AttributeProto& attribute) {
  switch (attribute.value_case()) {
    case AttributeProto::kInt32Val:
      return attribute.int32_val();
    case AttributeProto::kInt64Val:
      return attribute.int64_val();
    case AttributeProto::kUint32Val:
      return attribute.uint32_val();
    case AttributeProto::kSint32Val:
      return attribute.sint32_val();
    case AttributeProto::kSint64Val:
      return attribute.sint64_val();
    case AttributeProto::kFixed32Val:
      return attribute.fixed32_val();
    case AttributeProto::kSfixed32Val:
      return attribute.sfixed32_val();
    case AttributeProto::kSfixed64Val:
      return attribute.sfixed64_val();
    case AttributeProto::kUint64Val:
    case AttributeProto::kFixed64Val: {
      const std::uint64_t natural =
          attribute.has_uint64_val() ? attribute.uint64_val() : attribute.fixed64_val();
      expect(std::in_range<std::int64_t>(natural), attribute, "below 2^63");
      return static_cast<std::int64_t>(natural);
    }
    default:
      wrong_type(attribute, "an integer");
  }
}

double number_of(const AttributeProto& attribute) {
  if (attribute.has_double_val()) return attribute.double_val();
  if (attribute.has_float_val()) return attribute.float_val();
  return static_cast<double>(integer_of(attribute));
}

bool flag_of(const AttributeProto& attribute) {
  expect(attribute.has_bool_val(), attribute, "true or false");
  return attribute.bool_val();
}

const std::string& text_of(const AttributeProto& attribute) {
  if (attribute.has_bytes_val()) return attribute.bytes_val();
  expect(attribute.has_string_val(), attribute, "a text");
  return attribute.string_val();
}

std::vector<std::int64_t> integers_of(const AttributeProto& attribute) {
  expect(attribute.has_int64_list(), attribute, "a list of integers");
  const auto& values = attribute.int64_list().values();
  return {values.begin(), values.end()};
}

std::vector<double> numbers_of(const AttributeProto& attribute) {
  expect(attribute.has_double_list(), attribute, "a list of doubles");
  const auto& values = attribute.double_list().values();
  return {values.begin(), values.end()};
}

std::vector<std::string> texts_of(const AttributeProto& attribute) {
  expect(attribute.has_string_list(), attribute, "a list of texts");
  const auto& values = attribute.string_list().values();
  return {values.begin(), values.end()};
}

TaskLists lists_of(const Task& task) {
  TaskLists lists;
  for (const CostPart& part : task.cost) {
    lists.cost_s.push_back(part.seconds);
    lists.cost_of.push_back(fmt::format("{} {}", to_string(part.category), to_string(part.origin)));
  }
  for (const Flow& flow : task.flows) {
    lists.flow_amount.push_back(flow.amount);
    lists.flow_max_rate.push_back(flow.max_rate);
    lists.flow_demands.push_back(text_of_demands(flow.demands));
  }
  return lists;
}

void set_lists(Task& task, const TaskLists& lists) {
  if (lists.cost_s.size() != lists.cost_of.size() ||
      lists.flow_amount.size() != lists.flow_max_rate.size() ||
      lists.flow_amount.size() != lists.flow_demands.size()) {
    throw Error("the lists of costs and flows differ in length");
  }
  task.cost.clear();
  for (size_t i = 0; i < lists.cost_s.size(); ++i) {
    std::istringstream in(lists.cost_of[i]);
    std::string category;
    std::string origin;
    in >> category >> origin;
    if (!(lists.cost_s[i] >= 0) || std::isinf(lists.cost_s[i])) {
      throw Error(fmt::format("a cost of {} s", lists.cost_s[i]));
    }
    task.cost.push_back({value_of<Category>("category", category),
                         value_of<Origin>("origin", origin), lists.cost_s[i]});
  }
  task.flows.clear();
  for (size_t i = 0; i < lists.flow_amount.size(); ++i) {
    const double amount = lists.flow_amount[i];
    const double max_rate = lists.flow_max_rate[i];
    if (!(amount >= 0) || std::isinf(amount) || !(max_rate > 0)) {
      throw Error(
          fmt::format("a flow of {} at a rate of up to {} is not possible", amount, max_rate));
    }
    task.flows.push_back({amount, max_rate, demands_of(lists.flow_demands[i])});
  }
}

StandardNode read_standard(const chakra::Node& node) {
  StandardNode standard;
  Task& task = standard.task;
  task.name = node.name();
  set_type(node, task);
  double tensor_bytes = 0;
  bool barrier = false;
  for (const AttributeProto& attribute : node.attr()) {
    const std::string& name = attribute.name();
    if (name == "is_cpu_op") {
      standard.on_cpu = flag_of(attribute);
    } else if (name == "pg_name") {
      standard.group = text_of(attribute);
    } else if (name == "comm_type" && task.kind == TaskKind::collective) {
      barrier = integer_of(attribute) == chakra::BARRIER;
      task.collective = collective_of(integer_of(attribute));
    } else if (name == "comm_size") {
      task.bytes = not_negative(attribute);
    } else if (name == (task.kind == TaskKind::recv ? "comm_src" : "comm_dst")) {
      standard.peer = integer_of(attribute);
    } else if (name == "comm_tag") {
      task.tag = integer_of(attribute);
    } else if (name == "tensor_size") {
      tensor_bytes = not_negative(attribute);
    }
  }
  if (barrier) task.bytes = 0;
  set_time(node, tensor_bytes, task);
  return standard;
}

void add_own_attributes(const Task& task, const Task& standard, ChakraAttributes& attributes) {
  const auto add = [&](const char* name, const auto& value, const auto& known) {
    if (value != known) add_attribute(attributes, std::string(kChakraPrefix) + name, value);
  };
  visit_task_fields(task, standard, add);
  const TaskLists lists = lists_of(task);
  const TaskLists known = lists_of(standard);
  visit_list_fields(lists, known, add);
}

void read_own_attributes(const ChakraAttributes& attributes, Task& task) {
  TaskLists lists = lists_of(task);
  for (const AttributeProto& attribute : attributes) {
    if (!attribute.name().starts_with(kChakraPrefix)) continue;
    const std::string_view name = std::string_view(attribute.name()).substr(kChakraPrefix.size());
    bool known = false;
    const auto set = [&](const char* field, auto& value, const auto&) {
      if (name != field) return;
      set_value(attribute, value);
      known = true;
    };
    visit_task_fields(task, task, set);
    visit_list_fields(lists, lists, set);
    if (!known) throw Error(unknown_name("attribute", attribute.name(), own_names()));
  }
  set_lists(task, lists);
}

}  // namespace windtunnel
