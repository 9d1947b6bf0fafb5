// How a row of the field table is written: a builder for its type, the path of the key, and then
// further properties in any order:
//
//   fact_row("failures.*.rate", sets<&FailureClass::rate_per_node_s>, Dimension::per_node_s,
//            range(0, kMost), optional, example("3.24 per 1000 node-days"), "help of the key")
//
// A row states only what is particular to it. The names of an enumeration and the default follow
// from the member that the key sets, an example from the default.
#pragma once

#include <algorithm>
#include <concepts>
#include <deque>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "scenarios/language/text/choices.hpp"
#include "scenarios/language/text/fields.hpp"
#include "scenarios/language/text/values.hpp"

namespace windtunnel {

using Rows = std::vector<Field>;

std::vector<std::string> calibration_names();

// These parts of the table have a file of their own.
Rows cluster_rows();  // "cluster" and all below it
Rows fabric_rows();
Rows communication_rows();
Rows context_rows();         // algorithms of "layout.cp" and "layout.ep"
Rows length_rows();          // "batch.lengths", and which ranks compute which sequences
Rows place_rows();           // which nodes hold the ranks of "layout"
Rows signature_rows();       // "layout.signatures"
Rows stage_rows();           // layers of each pipeline stage
Rows shard_rows();           // what "layout.sharding" divides, and over which ranks
Rows software_rows();        // "software"
Rows tensor_overlap_rows();  // "software.tp_overlap"
Rows dispatch_rows();        // "software.dispatch"
Rows routing_rows();         // "model.moe": routing of tokens
Rows compressor_rows();      // "communication.compressor", "compress", those of "sync"
Rows sync_rows();
Rows rollout_rows();
Rows volunteer_rows();
Rows redundancy_rows();
Rows tower_rows();     // "model.tower"
Rows training_rows();  // "train"
Rows power_rows();     // "cluster.power"
Rows offload_rows();   // "offload"
Rows filling_rows();   // "filling"
Rows input_rows();     // "input"
Rows campaign_pause_rows();
Rows campaign_rows();  // snapshots, failures, recovery, job, campaign
Rows snapshot_rows();
Rows recovery_rows();
Rows more_rows();  // empty unless a program that links the library defines keys here

// The paths of the keys for detection of a failure. They must outlive the rows.
struct DetectionPaths {
  std::string_view self, heartbeat, misses, timeout, watchdog;
};
Rows detection_rows(const DetectionPaths& paths);

inline Rows joined(const std::vector<Rows>& parts) {
  Rows all;
  for (const Rows& rows : parts) all.insert(all.end(), rows.begin(), rows.end());
  return all;
}

// Makes the paths of keys below a place, for rows that several places share.
struct PathsBelow {
  std::string_view place;

  std::string_view operator()(std::string_view key) const {
    static std::deque<std::string> paths;  // the rows refer to them
    return paths.emplace_back(std::string(place).append(key));
  }
};

template <class Items>
std::vector<std::string> names_in(const Items& items) {
  std::vector<std::string> names;
  for (const auto& item : items) names.emplace_back(item.name);
  return names;
}

// The names of all items that these functions list.
template <auto... Lists>
std::vector<std::string> names_listed() {
  std::vector<std::string> names;
  for (const auto& list : {names_in(Lists())...}) {
    names.insert(names.end(), list.begin(), list.end());
  }
  return names;
}

template <class Struct, class Type>
Struct struct_of(Type Struct::*);

// Returns the member at the end of a path of members.
template <auto First, auto... Rest>
auto& member_of(auto& target) {
  return ((target.*First).*....*Rest);
}

template <class Type>
void assign(Type& member, const Value& value) {
  const bool named = value.field->scalar == ScalarType::name;
  if constexpr (std::is_same_v<Type, std::string>) {
    member = value.text;
  } else if constexpr (std::is_same_v<Type, Recompute>) {
    member = recompute_of(value.text);
  } else if constexpr (std::is_enum_v<Type>) {
    member = value_of<Type>(value.text);
  } else if constexpr (std::is_same_v<Type, Parameter>) {
    member = {value.number, value.number, value.number, {}, {}};  // evidence is added later
  } else if constexpr (std::is_same_v<Type, bool>) {
    member = named ? value.text == value.field->true_name : value.number != 0;
  } else if constexpr (requires { member.emplace(); }) {  // std::optional
    assign(member.emplace(), value);
  } else {
    member = static_cast<Type>(named ? value_of<double>(value.text) : value.number);
  }
}

// Reads the member into `value`, the reverse of assign(). Returns false if the member is unset.
template <class Type>
bool read(const Type& member, Value& value) {
  const bool named = value.field->scalar == ScalarType::name;
  if constexpr (std::is_same_v<Type, std::string>) {
    value.text = member;
    return !member.empty();
  } else if constexpr (std::is_same_v<Type, Parameter>) {
    value.number = member.value;
    return !member.source.empty();
  } else if constexpr (std::is_same_v<Type, Recompute>) {
    value.text = to_string(member);
  } else if constexpr (std::is_enum_v<Type>) {
    if (!has_name(member)) return false;
    value.text = name_of(member);
  } else if constexpr (std::is_same_v<Type, bool>) {
    if (named) {
      const bool first = (value.field->names.front() == value.field->true_name) == member;
      value.text = value.field->names[first ? 0 : 1];
    } else {
      value.number = member ? 1 : 0;
    }
  } else if constexpr (std::is_arithmetic_v<Type>) {
    if (named) {
      value.text = name_of(static_cast<double>(member));
    } else {
      value.number = static_cast<double>(member);
    }
  } else {  // std::optional
    return member.has_value() && read(*member, value);
  }
  return true;
}

// Such a struct starts as an entry of the library, which a default would silently replace.
template <class Struct>
inline constexpr bool kFromLibrary =
    std::is_same_v<Struct, TransformerSpec> || std::is_same_v<Struct, MixtureOfExperts> ||
    std::is_same_v<Struct, LatentAttention> || std::is_same_v<Struct, SparseAttention> ||
    std::is_same_v<Struct, MambaMixer> || std::is_same_v<Struct, NodeSpec> ||
    std::is_same_v<Struct, GpuSpec> || std::is_same_v<Struct, FabricSpec>;

// Binds a row to the member of a struct, or of a struct in it, that its value sets. The row takes
// the names of the member's enumeration. The member's initialiser is the default of the key, unless
// the key is required or keeps what the struct was filled from (Field::optional), as every key of
// the library's structs does.
template <auto... Members>
Field bound(Field row) {
  const auto first = [](auto member, auto...) { return member; };
  using Struct = decltype(struct_of(first(Members...)));
  using Type = std::remove_cvref_t<decltype(member_of<Members...>(std::declval<Struct&>()))>;
  row.binding = {&kTypeTag<Struct>,
                 [](void* target, const Value& value) {
                   assign(member_of<Members...>(*static_cast<Struct*>(target)), value);
                 },
                 [](const void* target, Value& value) {
                   return read(member_of<Members...>(*static_cast<const Struct*>(target)), value);
                 }};
  if constexpr (std::is_same_v<Type, Parameter>) {
    row.binding.parameter = [](void* target) {
      return &member_of<Members...>(*static_cast<Struct*>(target));
    };
  }
  if constexpr (kFromLibrary<Struct>) row.optional = true;
  if constexpr (std::is_enum_v<Type>) {
    if (row.names.empty()) row.names = names_of<Type>();
  }
  if (!row.required && !row.optional && row.default_text.empty()) {
    const Struct usual{};
    Value value{.field = &row, .dimension = row.dimension};
    if (row.binding.read(&usual, value)) row.default_text = text_of(value);
  }
  return row;
}

// Each property of a row is a function object that sets it in a Field.
template <auto... Members>
struct Sets {};
template <auto... Members>
inline constexpr Sets<Members...> sets;  // the member, or path of members, that the key sets

inline constexpr auto required = [](Field& row) { row.required = true; };
inline constexpr auto optional = [](Field& row) { row.optional = true; };
inline constexpr auto or_map = [](Field& row) { row.map = true; };    // the key also takes a map
inline constexpr auto or_list = [](Field& row) { row.list = true; };  // the key also takes a list
inline constexpr auto or_zero = [](Field& row) { row.or_zero = true; };
inline constexpr auto free_keys = [](Field& row) { row.free_keys = true; };

// in_entry: a library entry may state the key, too. in_every_entry: it must.
inline constexpr auto in_entry = [](Field& row) { row.in_entry = InEntry::may; };
inline constexpr auto in_every_entry = [](Field& row) { row.in_entry = InEntry::must; };

inline auto required_if(bool condition) {
  return [=](Field& row) { row.required = condition; };
}
inline auto shorthand(std::string_view key) {
  return [=](Field& row) { row.shorthand = key; };
}
inline auto at_least(double low) {
  return [=](Field& row) { row.low = low; };
}
inline auto at_most(double high) {
  return [=](Field& row) { row.high = high; };
}
inline auto range(double low, double high) {
  return [=](Field& row) { row.low = low, row.high = high; };
}
inline auto above(double low, double high = std::numeric_limits<double>::max()) {
  return [=](Field& row) { row.low = low, row.high = high, row.above_low = true; };
}
inline auto by_default(const std::string& text) {
  return [=](Field& row) { row.default_text = text; };
}
inline auto names(const std::vector<std::string_view>& list) {
  return [=](Field& row) { row.names = list; };
}
inline auto names(std::vector<std::string> (*library)()) {
  return [=](Field& row) { row.library = library; };
}
inline auto true_name(std::string_view name) {
  return [=](Field& row) { row.true_name = name; };
}
inline auto files(std::string_view suffixes) {
  return [=](Field& row) { row.file_suffix = suffixes; };
}
inline auto example(std::string_view text) {
  return [=](Field& row) { row.example = text; };
}

inline void state(Field& row, Dimension dimension) {
  row.dimension = dimension;
}
inline void state(Field& row, Scope scope) {
  row.scope = scope;
}
inline void state(Field& row, std::string_view help) {
  row.help = help;
}
template <std::invocable<Field&> Property>
void state(Field& row, const Property& property) {
  property(row);
}
template <auto... Members>
void state(Field& /*row*/, Sets<Members...> /*bound last*/) {}

// Members are bound last, because their default is written with the names and unit of the row.
template <class Property>
Field bound_by(Field row, const Property& /*property*/) {
  return row;
}
template <auto... Members>
Field bound_by(Field row, Sets<Members...> /*members*/) {
  return bound<Members...>(std::move(row));
}

template <class... Properties>
Field row_of(ScalarType scalar, std::string_view path, const Properties&... properties) {
  Field row{.path = path, .scalar = scalar};
  (state(row, properties), ...);
  if (scalar == ScalarType::integer) {  // it fits an int unless the row says otherwise
    row.low = std::max(row.low, static_cast<double>(std::numeric_limits<int>::lowest()));
    if (row.high > 1e300) row.high = std::numeric_limits<int>::max();
  }
  ((row = bound_by(std::move(row), properties)), ...);
  return row;
}

// Marks the rows as read by campaigns and not by iterations, except those named in `of_iterations`.
inline Rows of_campaign(Rows rows, const std::vector<std::string_view>& of_iterations = {}) {
  for (Field& row : rows) {
    if (std::ranges::find(of_iterations, row.path) == of_iterations.end()) {
      row.scope = Scope::campaign;
    }
  }
  return rows;
}

template <class... Properties>
Field map_row(std::string_view path, const Properties&... properties) {
  return row_of(ScalarType::none, path, or_map, properties...);
}

template <class... Properties>
Field list_row(std::string_view path, const Properties&... properties) {
  return row_of(ScalarType::none, path, or_list, properties...);
}

template <class... Properties>
Field text_row(std::string_view path, const Properties&... properties) {
  return row_of(ScalarType::text, path, properties...);
}

template <class... Properties>
Field name_row(std::string_view path, const Properties&... properties) {
  return row_of(ScalarType::name, path, properties...);
}

template <class... Properties>
Field flag_row(std::string_view path, const Properties&... properties) {
  return row_of(ScalarType::boolean, path, properties...);
}

template <class... Properties>
Field whole_row(std::string_view path, const Properties&... properties) {
  return row_of(ScalarType::integer, path, properties...);
}

// Makes the row of a number that the user chooses.
template <class... Properties>
Field choice_row(std::string_view path, const Properties&... properties) {
  return row_of(ScalarType::quantity, path, properties...);
}

// Makes the row of a number about the world, which needs evidence.
template <class... Properties>
Field fact_row(std::string_view path, const Properties&... properties) {
  const auto is_fact = [](Field& row) { row.fact = true; };
  return row_of(ScalarType::quantity, path, is_fact, properties...);
}

template <class... Properties>
Field duration_row(std::string_view path, const Properties&... properties) {
  return fact_row(path, Dimension::seconds, at_least(0), properties...);
}

// Makes the row of a bandwidth, which is never 0.
template <class... Properties>
Field bandwidth_row(std::string_view path, const Properties&... properties) {
  return fact_row(path, Dimension::bytes_per_s, above(0), properties...);
}

// Makes the row of an interval, which is a number of iterations or a time.
template <class... Properties>
Field interval_row(std::string_view path, const Properties&... properties) {
  return row_of(ScalarType::interval, path, properties...);
}

}  // namespace windtunnel
