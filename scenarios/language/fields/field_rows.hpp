// One builder per type of row of the field table, so that a row shows only what is particular to
// it.
#pragma once

#include <algorithm>
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

// The parts of the table that have a file of their own.
Rows cluster_rows();  // "cluster" and all below it
Rows fabric_rows();
Rows communication_rows();
Rows context_rows();         // forms of "layout.cp" and "layout.ep"
Rows length_rows();          // "batch.lengths", and who computes which
Rows place_rows();           // which nodes the ranks of "layout" stand on
Rows signature_rows();       // "layout.signatures"
Rows stage_rows();           // layers of the stages
Rows shard_rows();           // what "layout.sharding" divides among whom
Rows software_rows();        // "software"
Rows tensor_overlap_rows();  // "software.tp_overlap"
Rows dispatch_rows();        // "software.dispatch"
Rows routing_rows();         // "model.moe": where its tokens go
Rows compressor_rows();      // "communication.compressor", "compress", those of "sync"
Rows sync_rows();
Rows rollout_rows();
Rows volunteer_rows();
Rows redundancy_rows();
Rows training_rows();  // "train"
Rows power_rows();     // "cluster.power"
Rows offload_rows();   // "offload"
Rows filling_rows();   // "filling"
Rows input_rows();     // "input"
Rows campaign_pause_rows();
Rows campaign_rows();  // snapshots, failures, recovery, job, campaign
Rows snapshot_rows();
Rows recovery_rows();
Rows more_rows();  // none; a program that defines its own has these keys besides

// Where a table of what notices failures stands; the paths outlive the rows.
struct DetectionPaths {
  std::string_view self, heartbeat, misses, timeout, watchdog;
};
Rows detection_rows(const DetectionPaths& paths);

inline Rows joined(const std::vector<Rows>& parts) {
  Rows all;
  for (const Rows& rows : parts) all.insert(all.end(), rows.begin(), rows.end());
  return all;
}

template <class Items>
std::vector<std::string> names_in(const Items& items) {
  std::vector<std::string> names;
  for (const auto& item : items) names.emplace_back(item.name);
  return names;
}

template <class Struct, class Type>
Struct struct_of(Type Struct::*);

// The member at the end of a path of members.
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
  } else if constexpr (std::is_same_v<Type, bool>) {
    member = named ? value.text == value.field->true_name : value.number != 0;
  } else {
    member = static_cast<Type>(named ? value_of<double>(value.text) : value.number);
  }
}

// What assign() would make the member of; false: there is nothing in it.
template <class Type>
bool read(const Type& member, Value& value) {
  const bool named = value.field->scalar == ScalarType::name;
  if constexpr (std::is_same_v<Type, std::string>) {
    value.text = member;
    return !member.empty();
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

// The row with the member of a struct, or of a struct in it, that its value sets: it takes the
// names of the member's enumeration. What the member is initialised with is the default of the key,
// unless the key is required, or left to what the struct was filled from (Field::optional). Without
// members it is the row as it stands.
template <auto... Members>
Field bound(Field row) {
  if constexpr (sizeof...(Members) > 0) {
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
    if constexpr (std::is_enum_v<Type>) {
      if (row.names.empty()) row.names = names_of<Type>();
    }
    if (!row.required && !row.optional && row.default_text.empty()) {
      const Struct usual{};
      Value value{.field = &row, .dimension = row.dimension};
      if (row.binding.read(&usual, value)) row.default_text = text_of(value);
    }
  }
  return row;
}

// Rows of what campaigns read and iterations do not, but for those named.
inline Rows of_campaign(Rows rows, const std::vector<std::string_view>& of_iterations = {}) {
  for (Field& row : rows) {
    if (std::ranges::find(of_iterations, row.path) == of_iterations.end()) {
      row.scope = Scope::campaign;
    }
  }
  return rows;
}

inline Field map_row(std::string_view path, Field row) {
  row.path = path;
  row.map = true;
  return row;
}

inline Field list_row(std::string_view path, Field row) {
  row.path = path;
  row.list = true;
  return row;
}

template <auto... Members>
Field text_row(std::string_view path, Field row) {
  row.path = path;
  row.scalar = ScalarType::text;
  return bound<Members...>(std::move(row));
}

template <auto... Members>
Field name_row(std::string_view path, Field row) {
  row.path = path;
  row.scalar = ScalarType::name;
  return bound<Members...>(std::move(row));
}

template <auto... Members>
Field flag_row(std::string_view path, Field row) {
  row.path = path;
  row.scalar = ScalarType::boolean;
  return bound<Members...>(std::move(row));
}

// A whole number that fits an int unless the row says otherwise.
template <auto... Members>
Field whole_row(std::string_view path, Field row) {
  row.path = path;
  row.scalar = ScalarType::integer;
  row.low = std::max(row.low, static_cast<double>(std::numeric_limits<int>::lowest()));
  if (row.high > 1e300) row.high = std::numeric_limits<int>::max();
  return bound<Members...>(std::move(row));
}

// A number about the world.
template <auto... Members>
Field fact_row(std::string_view path, Dimension dimension, Field row) {
  row.path = path;
  row.scalar = ScalarType::quantity;
  row.dimension = dimension;
  row.fact = true;
  return bound<Members...>(std::move(row));
}

// A number that the user chooses.
template <auto... Members>
Field choice_row(std::string_view path, Dimension dimension, Field row) {
  row = fact_row<Members...>(path, dimension, std::move(row));
  row.fact = false;
  return row;
}

template <auto... Members>
Field duration_row(std::string_view path, Field row) {
  row.low = std::max(row.low, 0.0);
  return fact_row<Members...>(path, Dimension::seconds, std::move(row));
}

// Never 0.
template <auto... Members>
Field bandwidth_row(std::string_view path, Field row) {
  row.low = 0;
  row.above_low = true;
  return fact_row<Members...>(path, Dimension::bytes_per_s, std::move(row));
}

}  // namespace windtunnel
