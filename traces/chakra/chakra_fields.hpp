// Converts the fields of a Chakra node to those of a Task, and lists the fields of a Task that
// Chakra lacks. Writer and reader share this so that they stay consistent.
#pragma once

#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "models/plan/plan.hpp"
#include "traces/chakra/chakra_wire.hpp"
#include "traces/chakra/rank_trace.hpp"

namespace windtunnel {

inline constexpr std::string_view kChakraPrefix = "windtunnel.";
inline constexpr int kChakraFormat = 1;  // version of our attributes

// The names of an enum's values, in their order.
const std::vector<std::string>& names_of(ActionKind);
const std::vector<std::string>& names_of(StreamOrder);
const std::vector<std::string>& names_of(Resource);
const std::vector<std::string>& names_of(Category);
const std::vector<std::string>& names_of(Origin);
const std::vector<std::string>& names_of(CollectiveKind);
const std::vector<std::string>& names_of(CollectiveAlgorithm);
const std::vector<std::string>& names_of(Protocol);

template <class Enum>
const std::string& word_of(Enum value) {
  return names_of(value).at(static_cast<size_t>(value));
}

// Chakra has no send_recv: it is written as ALL_TO_ALL, and one of our attributes names it.
chakra::CollectiveCommType comm_type_of(CollectiveKind kind);

// Whether comm_size, which is the buffer that a rank passes in, is the rank's share of Task::bytes.
bool gathers(CollectiveKind kind);

// Throws Error that suggests the nearest known name if `name` is not known.
size_t index_of_name(std::string_view noun, const std::string& name,
                     const std::vector<std::string>& names);
template <class Enum>
Enum value_of(std::string_view noun, const std::string& name) {
  return static_cast<Enum>(index_of_name(noun, name, names_of(Enum{})));
}

// Task::cost and Task::flows as lists of equal length.
struct TaskLists {
  std::vector<double> cost_s;
  std::vector<std::string> cost_of;  // "forward measured"
  std::vector<double> flow_amount;
  std::vector<double> flow_max_rate;
  std::vector<std::string> flow_demands;  // "pcie_out 1 host_memory 2"
};
TaskLists lists_of(const Task& task);
void set_lists(Task& task, const TaskLists& lists);  // throws Error if the lists do not match

// Visits every field of Task except name and after, together with the same field of another Task.
template <class First, class Second, class Visit>
void visit_task_fields(First& a, Second& b, const Visit& field) {
  field("kind", a.kind, b.kind);
  field("action", a.action, b.action);
  field("paired", a.paired, b.paired);
  field("stream", a.stream, b.stream);
  field("iteration", a.iteration, b.iteration);
  field("stage", a.stage, b.stage);
  field("microbatch", a.microbatch, b.microbatch);
  field("join_first", a.join_first, b.join_first);
  field("not_before_s", a.not_before_s, b.not_before_s);
  field("priority", a.priority, b.priority);
  field("category", a.category, b.category);
  field("origin", a.origin, b.origin);
  field("peer_slot", a.peer_slot, b.peer_slot);
  field("tag", a.tag, b.tag);
  field("bytes", a.bytes, b.bytes);
  field("synchronous", a.synchronous, b.synchronous);
  field("group_slot", a.group_slot, b.group_slot);
  field("sequence", a.sequence, b.sequence);
  field("collective", a.collective, b.collective);
  field("algorithm", a.algorithm, b.algorithm);
  field("protocol", a.protocol, b.protocol);
  field("as_flows", a.as_flows, b.as_flows);
  field("exchange", a.exchange, b.exchange);
  field("returns", a.returns, b.returns);
  field("allocate_bytes", a.allocate_bytes, b.allocate_bytes);
  field("free_bytes", a.free_bytes, b.free_bytes);
}

template <class First, class Second, class Visit>
void visit_list_fields(First& a, Second& b, const Visit& field) {
  field("cost_s", a.cost_s, b.cost_s);
  field("cost_of", a.cost_of, b.cost_of);
  field("flow_amount", a.flow_amount, b.flow_amount);
  field("flow_max_rate", a.flow_max_rate, b.flow_max_rate);
  field("flow_demands", a.flow_demands, b.flow_demands);
}

// Plan::exchanges as lists of numbers.
struct FlatExchanges {
  std::vector<std::int64_t> members;  // per exchange: the number of its entries in `received`
  std::vector<double> received;
  std::vector<double> locality;  // per exchange; negative: none
};
FlatExchanges flattened(const std::vector<UnevenExchange>& exchanges);
// Throws Error if the lists do not match.
std::vector<UnevenExchange> unflattened(const FlatExchanges& flat);

// Throws Error without a location if an attribute has the wrong type; the caller adds the location.
StandardNode read_standard(const chakra::Node& node);

using ChakraAttributes = google::protobuf::RepeatedPtrField<chakra::AttributeProto>;

// Adds an attribute for each field in which `task` differs from `standard`.
void add_own_attributes(const Task& task, const Task& standard, ChakraAttributes& attributes);
// Sets fields from the attributes. Throws Error for an unknown attribute with our prefix.
void read_own_attributes(const ChakraAttributes& attributes, Task& task);

template <class Value>
void add_attribute(ChakraAttributes& attributes, std::string name, const Value& value) {
  chakra::AttributeProto& attribute = *attributes.Add();
  attribute.set_name(std::move(name));
  if constexpr (std::is_same_v<Value, std::optional<ActionKind>>) {
    attribute.set_string_val(word_of(value.value()));
  } else if constexpr (std::is_enum_v<Value>) {
    attribute.set_string_val(word_of(value));
  } else if constexpr (std::is_convertible_v<Value, std::string>) {
    attribute.set_string_val(value);
  } else if constexpr (std::is_same_v<Value, bool>) {
    attribute.set_bool_val(value);
  } else if constexpr (std::is_same_v<Value, double>) {
    attribute.set_double_val(value);
  } else if constexpr (std::is_same_v<Value, std::int64_t>) {
    attribute.set_int64_val(value);
  } else if constexpr (std::is_same_v<Value, std::uint64_t>) {
    attribute.set_uint64_val(value);
  } else if constexpr (std::is_integral_v<Value>) {
    attribute.set_int32_val(value);
  } else if constexpr (std::is_same_v<Value, std::vector<double>>) {
    attribute.mutable_double_list()->mutable_values()->Add(value.begin(), value.end());
  } else if constexpr (std::is_same_v<Value, std::vector<std::int64_t>>) {
    attribute.mutable_int64_list()->mutable_values()->Add(value.begin(), value.end());
  } else {
    attribute.mutable_string_list()->mutable_values()->Add(value.begin(), value.end());
  }
}

// Typed access; each throws Error that names the attribute if it has another type. Numbers may have
// any type that can hold them; lists must have the form of add_attribute().
std::int64_t integer_of(const chakra::AttributeProto& attribute);
double number_of(const chakra::AttributeProto& attribute);
bool flag_of(const chakra::AttributeProto& attribute);
const std::string& text_of(const chakra::AttributeProto& attribute);
std::vector<std::int64_t> integers_of(const chakra::AttributeProto& attribute);
std::vector<double> numbers_of(const chakra::AttributeProto& attribute);
std::vector<std::string> texts_of(const chakra::AttributeProto& attribute);

}  // namespace windtunnel
