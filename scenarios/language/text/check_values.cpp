// Checks a scenario's text against the field table: unknown keys, wrong types, units and ranges,
// each an Error with its place and an example.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "models/base/quantity_range.hpp"
#include "scenarios/language/text/synonyms.hpp"
#include "scenarios/language/text/values.hpp"

namespace windtunnel {
namespace {

using Kind = DocumentNode::Kind;

std::string kind_text(const DocumentNode& node) {
  switch (node.kind) {
    case Kind::null:
      return "nothing";
    case Kind::scalar:
      return fmt::format("'{}'", node.text);
    case Kind::list:
      return "a list";
    case Kind::map:
      return "a map";
  }
  return "";
}

std::string last_part(std::string_view path) {
  return split_path(path).back();
}

// Fails with "cluster.nodes: " before the text; the scenario as a whole has no name.
[[noreturn]] void fail(const Location& where, const std::string& path, const std::string& what) {
  throw Error(where, path.empty() ? what : fmt::format("{}: {}", path, what));
}

// An example such as "nodes: 2048"; an item of a list has no key.
std::string example_text(const Field& field, const std::string& path) {
  if (field.path.ends_with(".*")) return std::string(field.example);
  return fmt::format("{}: {}", last_part(path), field.example);
}

// The message with the field's example instead of its dimension's, which may be far from it.
std::string with_own_example(std::string message, const Field& field) {
  const std::string_view usual = example_of(field.dimension);
  const std::size_t at = message.rfind(fmt::format("'{}'", usual));
  const bool plain = field.example.find_first_of("[{") == field.example.npos;
  if (at == message.npos || !plain) return message;
  return message.replace(at + 1, usual.size(), field.example);
}

[[noreturn]] void fail_type(const DocumentNode& node, const Field& field, const std::string& path) {
  if (path.empty() && node.kind == Kind::null) {
    throw Error(node.where, "the scenario is empty; start with 'name:' and 'model:'");
  }
  if (path.empty()) {
    throw Error(node.where,
                fmt::format("a scenario is a map of keys and values, not {}", kind_text(node)));
  }
  fail(node.where, path,
       fmt::format("expected {}, not {}; e.g. '{}'", type_text(field), kind_text(node),
                   example_text(field, path)));
}

std::string number_text(double value) {
  return fmt::format("{:.16g}", value);
}

// The lower limit in the row of an interval is a time; iterations start at 1.
double least_of(const Field& field, Dimension dimension) {
  const bool iterations =
      field.scalar == ScalarType::interval && dimension == Dimension::iterations;
  return iterations ? quantity_range(dimension).smallest : field.low;
}

void check_range(const Field& field, double value, Dimension dimension, const DocumentNode& node,
                 const std::string& path) {
  const auto text = [&](double limit) {
    const bool unit = field.scalar == ScalarType::quantity || field.scalar == ScalarType::interval;
    return unit && limit != 0 ? format_quantity(limit, dimension) : number_text(limit);
  };
  if (field.above_low && value <= field.low) {
    fail(node.where, path, fmt::format("must be above {}, not {}", text(field.low), node.text));
  }
  const double low = least_of(field, dimension);
  if (field.or_zero && value <= 0) {
    if (value == 0) return;
    fail(node.where, path, fmt::format("must be at least 0, not {}", node.text));
  }
  if (value < low) {
    fail(node.where, path,
         fmt::format("must be {}at least {}, not {}", field.or_zero ? "0 or " : "", text(low),
                     node.text));
  }
  if (value > field.high) {
    fail(node.where, path, fmt::format("must be at most {}, not {}", text(field.high), node.text));
  }
}

class Checker {
 public:
  explicit Checker(const AddedNames& added) : added_(added) {}

  Values check(const DocumentNode& scenario, const std::string& path) {
    keeping_faults([&] { walk(scenario, *find_field(path), path, scenario.where); });
    if (!faults_.empty()) throw all_faults();
    return std::move(values_);
  }

 private:
  // Continues after a fault, so that faults in other parts of the text are found, too.
  template <class Work>
  void keeping_faults(Work work) {
    try {
      work();
    } catch (const Error& error) {
      faults_.push_back(error);
    }
  }

  // One Error with all faults, a line each, because an Error has one place.
  Error all_faults() const {
    std::string text(faults_.front().text());
    constexpr size_t kShown = 20;
    for (size_t i = 1; i < std::min(faults_.size(), kShown); ++i) {
      text += fmt::format("\n{}", faults_[i].what());
    }
    if (faults_.size() > kShown) text += fmt::format("\nand {} more", faults_.size() - kShown);
    return {faults_.front().where(), text};
  }

  // `place` is where the key stands; later errors about the key point there.
  void walk(const DocumentNode& node, const Field& field, const std::string& path,
            const Location& place) {
    values_.place(path, place);
    if (node.kind == Kind::map && field.free_keys) return;
    if (node.kind == Kind::map && field.map) return walk_map(node, path);
    if (node.kind == Kind::list && field.list) return walk_list(node, field, path);
    if (node.kind == Kind::scalar && !field.shorthand.empty()) {
      const std::string key = join_path(path, field.shorthand);
      walk(node, *find_field(key), key, node.where);
      return fill_map(path, place);
    }
    const bool left_open = !field.open_word.empty() && node.text == field.open_word;
    if (node.kind == Kind::scalar && left_open) return;
    if (node.kind == Kind::scalar && field.scalar != ScalarType::none) {
      return add_scalar(node, field, path);
    }
    fail_type(node, field, path);
  }

  void walk_map(const DocumentNode& node, const std::string& path) {
    for (const DocumentEntry& entry : node.entries) {
      const std::string key = join_path(path, entry.key);
      const Field* child = find_field(key);
      // A key is one step of a path: it has no dots. An index or '*' is only for lists.
      const bool step = !entry.key.empty() && entry.key.find('.') == std::string::npos &&
                        pattern_of(entry.key) != "*";
      keeping_faults([&] {
        if (!step || child == nullptr) fail_unknown(entry, path);
        walk(entry.value, *child, key, entry.where);
      });
    }
    fill_map(path, node.where);
  }

  void walk_list(const DocumentNode& node, const Field& field, const std::string& path) {
    // Records the name that the list replaced.
    if (!node.scheme.empty() && field.scalar == ScalarType::name) {
      values_.add({.key = path,
                   .field = &field,
                   .text = node.scheme,
                   .where = node.where,
                   .stated = true,
                   .scheme = node.scheme});
    }
    for (size_t i = 0; i < node.items.size(); ++i) {
      const std::string key = join_path(path, std::to_string(i));
      keeping_faults([&] { walk(node.items[i], *find_field(key), key, node.items[i].where); });
    }
    values_.set_length(std::string(path), static_cast<int>(node.items.size()));
  }

  // The default of the row, which is read once: a scenario leaves most keys open. The library is
  // not asked whether it has a default's name, because it would be read for that alone.
  static const Value& usual_value(const Field& field) {
    static const auto all = [] {
      const AddedNames none;
      const Checker checker(none);
      std::vector<Value> values(field_table().size());
      for (std::size_t i = 0; i < values.size(); ++i) {
        const Field& row = field_table()[i];
        const DocumentNode node = document_node(Kind::scalar, row.default_text, {});
        if (row.scalar == ScalarType::name) {
          values[i] = {.field = &row, .dimension = row.dimension, .text = row.default_text};
        } else if (!row.default_text.empty() && row.scalar != ScalarType::none) {
          values[i] = checker.scalar_value(node, row, std::string(row.path));
          values[i].stated = false;
        }
      }
      return values;
    }();
    return all[static_cast<std::size_t>(&field - field_table().data())];
  }

  // Adds defaults for the keys that a map leaves out, and refuses to leave out required ones.
  void fill_map(const std::string& path, const Location& where) {
    for (const std::string& name : child_keys(path)) {
      const std::string key = join_path(path, name);
      if (values_.stated(key)) continue;
      const Field& child = *find_field(key);
      if (!child.required) {
        fill_default(child, key, where);
      } else if (!meant_.contains(key)) {
        const std::string in = path.empty() ? "the scenario" : path;
        faults_.emplace_back(
            where, fmt::format("{} has no '{}'; add e.g. '{}: {}'", in, name, name, child.example));
      }
    }
  }

  void fill_default(const Field& field, const std::string& key, const Location& where) {
    if (field.optional) return;
    if (field.list && field.default_text == "[]") return values_.set_length(key, 0);
    if (!field.default_text.empty()) {
      Value value = usual_value(field);
      value.key = key;
      value.where = where;
      return values_.add(std::move(value));
    }
    if (!field.map || field.scalar != ScalarType::none) return;
    // A map that is left out gets the defaults of its keys, unless one of them is required.
    for (const std::string& name : child_keys(key)) {
      if (find_field(join_path(key, name))->required) return;
    }
    for (const std::string& name : child_keys(key)) {
      const std::string below = join_path(key, name);
      fill_default(*find_field(below), below, where);
    }
  }

  [[noreturn]] void fail_unknown(const DocumentEntry& entry, const std::string& path) {
    const std::string noun = path.empty() ? "key" : path + " key";
    if (entry.key.find('.') != std::string::npos) {
      throw Error(entry.where,
                  fmt::format("unknown {} '{}'; dots are only for --set: in a file nest the maps",
                              noun, entry.key));
    }
    if (entry.key == "<<") throw Error(entry.where, "merge keys ('<<') are not supported");
    std::vector<std::string> homes;
    for (const Field& field : field_table()) {
      if (!field.path.empty() && last_part(field.path) == entry.key && entry.key != "*") {
        homes.emplace_back(field.path);
      }
    }
    if (!homes.empty()) {
      throw Error(entry.where, fmt::format("unknown {} '{}' here; it belongs at {}", noun,
                                           entry.key, fmt::join(homes, " or ")));
    }
    // A misspelt key must not also be reported as missing.
    meant_.insert(join_path(path, nearest_word(entry.key, child_keys(path))));
    throw Error(entry.where, unknown_word(noun, entry.key, child_keys(path)));
  }

  void add_scalar(const DocumentNode& node, const Field& field, const std::string& path) {
    values_.add(scalar_value(node, field, path));
  }

  Value scalar_value(const DocumentNode& node, const Field& field, const std::string& path) const {
    Value value{.key = path,
                .field = &field,
                .dimension = field.dimension,
                .where = node.where,
                .stated = true,
                .scheme = node.scheme};
    switch (field.scalar) {
      case ScalarType::none:
        fail_type(node, field, path);
      case ScalarType::text:
        if (node.text.empty()) fail_type(node, field, path);
        value.text = node.text;
        break;
      case ScalarType::name:
        value.text = checked_name(node, field);
        break;
      case ScalarType::boolean:
        if (node.text != "true" && node.text != "false") fail_type(node, field, path);
        value.number = node.text == "true" ? 1 : 0;
        break;
      case ScalarType::integer:
        value.number = whole_number(node, field, path);
        break;
      case ScalarType::quantity:
        value.number = quantity(node, field, path);
        break;
      case ScalarType::interval:
        if (is_added(node.text, field)) {
          value.text = node.text;
          return value;
        }
        read_interval(node, field, path, value);
        break;
    }
    check_range(field, value.number, value.dimension, node, path);
    return value;
  }

  static double quantity(const DocumentNode& node, const Field& field, const std::string& path) {
    try {
      return parse_quantity(node.text, field.dimension);
    } catch (const Error& error) {
      fail(node.where, path, with_own_example(error.what(), field));
    }
  }

  static double whole_number(const DocumentNode& node, const Field& field,
                             const std::string& path) {
    try {
      const double number = parse_quantity(node.text, Dimension::number);
      if (number == std::floor(number)) return number;
    } catch (const Error&) {
      // A unit or a word: the message below says what is expected.
    }
    fail_type(node, field, path);
  }

  bool is_added(const std::string& name, const Field& field) const {
    const auto names = added_.find(field.path);
    return names != added_.end() && std::ranges::count(names->second, name) > 0;
  }

  void read_interval(const DocumentNode& node, const Field& field, const std::string& path,
                     Value& value) const {
    const bool iterations =
        node.text.find("iter") != node.text.npos || node.text.find("step") != node.text.npos;
    value.dimension = iterations ? Dimension::iterations : Dimension::seconds;
    try {
      value.number = parse_quantity(node.text, value.dimension);
    } catch (const Error& error) {
      const auto names = added_.find(field.path);
      const std::string rules = names == added_.end() || names->second.empty()
                                    ? ""
                                    : fmt::format(", or a saving rule of your program: {}",
                                                  fmt::join(names->second, ", "));
      fail(node.where, path, fmt::format("{} or '10 iterations'{}", error.what(), rules));
    }
    if (!iterations) return;
    if (value.number != std::floor(value.number)) {
      fail(node.where, path,
           fmt::format("expected a whole number of iterations, not '{}'", node.text));
    }
    if (value.number > 1e9) {
      fail(node.where, path,
           fmt::format("must be at most 1000000000 iterations, not {}", node.text));
    }
  }

  std::string checked_name(const DocumentNode& node, const Field& field) const {
    for (const std::string_view suffix : suffixes_of(field)) {
      if (node.text.ends_with(suffix)) return node.text;
    }
    std::vector<std::string> names = names_of(field);
    if (const auto more = added_.find(field.path); more != added_.end()) {
      names.insert(names.end(), more->second.begin(), more->second.end());
    }
    for (const std::string& name : names) {
      if (name == node.text) return name;
    }
    // Messages name the map, such as "model", rather than its key, such as "base".
    std::string noun = last_part(field.path);
    if (noun == "base" || noun == "name" || noun == "balance" || noun == "form" || noun == "*") {
      const std::vector<std::string> parts = split_path(field.path);
      noun = parts[parts.size() - 2];
    }
    const std::size_t dot = field.path.rfind('.');
    const Field* around = find_field(field.path.substr(0, dot == field.path.npos ? 0 : dot));
    const bool lists = around != nullptr && around->list && !around->shorthand.empty();
    const std::string_view example = lists ? around->example : field.example;
    std::string other = lists || field.map
                            ? fmt::format(" (or a {}, e.g. '{}: {}')",
                                          lists ? "map or a list" : "map", noun, example)
                            : "";
    if (const auto suffixes = suffixes_of(field); !suffixes.empty()) {
      // The message says how to define something that the library lacks.
      const bool shorthand = around != nullptr && around->shorthand == last_part(field.path);
      other += fmt::format(" (or your own file, FILE{}{})", fmt::join(suffixes, " or FILE"),
                           shorthand ? fmt::format(", or a map of its keys below {}", noun) : "");
    }
    throw Error(node.where, unknown_word(noun, node.text, names) + other);
  }

  const AddedNames& added_;
  Values values_;
  std::vector<Error> faults_;
  std::set<std::string> meant_;  // keys
};

}  // namespace

Values check_values(const DocumentNode& scenario, const std::string& path,
                    const AddedNames& added) {
  return Checker(added).check(scenario, path);
}

}  // namespace windtunnel
