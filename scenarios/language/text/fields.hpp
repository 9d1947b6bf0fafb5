// The one table of all keys of a scenario. Each row has the key's path, type, range, help and
// scope; the row of a plain value also names the member that it sets, whose initialiser is the
// default. The parser, the defaults, --explain, the nearest name in an error, the JSON Schema and
// the identity of a case all use it. In a path, '*' stands for the index of a list.
#pragma once

#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "models/base/units.hpp"
#include "models/results/resolved_value.hpp"

namespace windtunnel {

enum class ScalarType {
  none,      // a map or a list only
  text,      // any word
  name,      // one of `names` or `library`
  boolean,   // true, false
  integer,   // a whole number
  quantity,  // a number with a unit of `dimension`
  interval,  // "10 iterations" or a time
};

struct Parameter;
struct Value;

// Whether entries of the library state a key.
enum class InEntry { never, may, must };

template <class Struct>
inline constexpr char kTypeTag = 0;  // its address tells structs apart

// Ties a row to the member of a struct that its value becomes.
struct Binding {
  const void* target = nullptr;  // kTypeTag of the struct
  void (*assign)(void* target, const Value& value) = nullptr;
  // Writes the member into `value`. Returns false if the member is unset.
  bool (*read)(const void* target, Value& value) = nullptr;
  // Returns the member if it is a number with evidence, else null.
  Parameter* (*parameter)(void* target) = nullptr;
};

struct Field {
  std::string_view path = {};  // "cluster.nodes", "snapshots.*.every"; "" is the whole scenario
  ScalarType scalar = ScalarType::none;
  Dimension dimension = Dimension::number;  // of a quantity
  bool map = false;                         // may be a map with the keys below `path`
  bool list = false;                        // may be a list with items `path`.*
  bool free_keys = false;                   // a map whose keys are paths of this table
  std::string_view shorthand = {};          // a scalar here means {shorthand: scalar}
  double low = std::numeric_limits<double>::lowest();
  bool above_low = false;  // the value must be above `low`, not equal to it
  bool or_zero = false;    // also accepts 0, even if it is below `low`
  double high = std::numeric_limits<double>::max();
  bool required = false;  // in the map that contains the key
  // The key has no default: if it is left out, the member keeps the value that it had before.
  bool optional = false;
  std::string_view open_word = {};  // the word for a value that is left open: "dp: auto"
  std::string default_text = {};
  std::vector<std::string_view> names = {};
  std::string_view true_name = {};                  // the name of `true`, if a flag has names for
                                                    // its values
  std::vector<std::string> (*library)() = nullptr;  // lists the names in the library
  std::string_view file_suffix = {};  // a name with this suffix is a file; several are separated by
                                      // blanks
  bool fact = false;  // a number about the world, which needs evidence; else the user's choice
  std::string_view example = {};
  std::string_view help = {};
  Scope scope = Scope::iteration;
  InEntry in_entry = InEntry::never;
  unsigned topologies = 0;  // topologies with this key, as bits 1 << topology; 0: all
  Binding binding = {};

  bool admits(double number) const {
    if (or_zero && number == 0) return true;
    return (above_low ? number > low : number >= low) && number <= high;
  }
};

const std::vector<Field>& field_table();

// Finds the row of a concrete path ("snapshots.0.every") or of a pattern; nullptr if there is none.
const Field* find_field(std::string_view path);

// A row that sets a member of some struct.
struct BoundRow {
  std::string_view key;  // relative to the path: "nvlink", "every.overhead"
  const Field* field = nullptr;
};

// Returns the rows bound to a struct, given its kTypeTag, in the order of the table. `path` is
// concrete or a pattern.
std::vector<BoundRow> bound_rows(std::string_view path, const void* type);
template <class Struct>
std::vector<BoundRow> bound_rows(std::string_view path) {
  return bound_rows(path, &kTypeTag<Struct>);
}

// Returns the member that the row is bound to if it is a number with evidence, else null.
template <class Struct>
Parameter* parameter_of(const Field& field, Struct& target) {
  return field.binding.parameter == nullptr ? nullptr : field.binding.parameter(&target);
}
template <class Struct>
const Parameter* parameter_of(const Field& field, const Struct& target) {
  return parameter_of(field, const_cast<Struct&>(target));  // only its address is used
}

// Returns the keys directly below `path`, without items of lists ("*").
const std::vector<std::string>& child_keys(std::string_view path);

// "cluster" and "nodes" make "cluster.nodes"; "" and "name" make "name".
std::string join_path(std::string_view parent, std::string_view key);
std::vector<std::string> split_path(std::string_view path);

// Converts "snapshots.0.every" to "snapshots.*.every".
std::string pattern_of(std::string_view path);

// The kinds of value that a field takes, for messages: "a whole number", "a name or a map".
std::string type_text(const Field& field);

std::vector<std::string_view> suffixes_of(const Field& field);

// Names that the field takes, for messages and the schema.
std::vector<std::string> names_of(const Field& field);

}  // namespace windtunnel
