// A scenario as a flat list of checked values: every key is known, every value has its type and is
// in range, defaults are filled in, and each value knows its place in the text.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/base/error.hpp"
#include "scenarios/language/text/document.hpp"
#include "scenarios/language/text/fields.hpp"

namespace windtunnel {

// Where each key of a scenario stands. The places outlive the text, so that later checks of a job
// can still name them.

class Places {
 public:
  bool stated(std::string_view key) const;     // the key or a key below it
  Location where(std::string_view key) const;  // of the key, else of the nearest map above it
  // The same, but prefers a --set that changed the key or a key below it.
  Location fault_at(std::string_view key) const;
  // Adds a place to an error about keys: that of the first key that a --set changed, or else of the
  // first that the scenario states. Does not change an error about no key, or if nothing was read.
  Error placed(const Error& error) const;
  // Returns the result of `work` and adds places to its Errors.
  template <class Work>
  auto placing(Work work) const {
    try {
      return work();
    } catch (const Error& error) {
      throw placed(error);
    }
  }

  void add(const std::string& key, const Location& where) { places_[key] = where; }

 private:
  std::map<std::string, Location, std::less<>> places_;
};

struct Value {
  std::string key = {};  // "snapshots.0.every"
  const Field* field = nullptr;
  // A quantity is in base units; true is 1. `dimension` of an interval is iterations or seconds.
  double number = 0;
  Dimension dimension = Dimension::number;
  std::string text = {};  // names and other words
  Location where = {};
  bool stated = false;      // false: a default
  std::string scheme = {};  // the library's scheme that states the value; empty: no scheme does
};

// Writes a value ("25 MB", "true", "zero1"). Equal values give the same text.
std::string text_of(const Value& value);

// Converts the member of `target` that the row is bound to into a value at `key`. Returns nothing
// if the member is unset.
template <class Struct>
std::optional<Value> value_in(const Struct& target, const Field& field, std::string key = {}) {
  Value value{.key = std::move(key), .field = &field, .dimension = field.dimension};
  return field.binding.read(&target, value) ? std::optional(std::move(value)) : std::nullopt;
}

class Values {
 public:
  const Value* find(std::string_view key) const;
  bool has(std::string_view key) const { return find(key) != nullptr; }
  bool stated(std::string_view key) const { return places_.stated(key); }

  // The value must be there: it is required, has a default, or was asked for with has().
  const Value& at(std::string_view key) const;
  double number(std::string_view key) const { return at(key).number; }
  int integer(std::string_view key) const { return static_cast<int>(at(key).number); }
  bool flag(std::string_view key) const { return at(key).number != 0; }
  const std::string& text(std::string_view key) const { return at(key).text; }
  // Sets the members of `target` that rows at and below `path` are bound to, for each value that is
  // there.
  template <class Struct>
  void fill(std::string_view path, Struct& target) const {
    fill(path, &kTypeTag<Struct>, &target);
  }

  int length(std::string_view key) const;  // of a list; 0 if it is absent
  // The paths of the items of a list ("snapshots.0", ...), their numbers, and the items as structs
  // that fill() has filled.
  std::vector<std::string> items(std::string_view key) const;
  std::vector<double> numbers(std::string_view key) const;
  template <class Struct>
  std::vector<Struct> filled_items(std::string_view key) const {
    std::vector<Struct> all;
    for (const std::string& path : items(key)) fill(path, all.emplace_back());
    return all;
  }

  const Places& places() const { return places_; }
  Location where(std::string_view key) const { return places_.where(key); }
  Location fault_at(std::string_view key) const { return places_.fault_at(key); }
  // Throws Error at the place of the key: "key: what".
  [[noreturn]] void fail(std::string_view key, std::string_view what) const;
  // Returns the result of `work`. Its Errors do not name a key; this adds `key`.
  template <class Work>
  auto about(std::string_view key, Work work) const {
    try {
      return work();
    } catch (const Error& error) {
      fail(key, error.what());
    }
  }

  const std::map<std::string, Value, std::less<>>& all() const { return values_; }

  void add(Value value);
  void place(const std::string& key, const Location& where);
  void set_length(const std::string& key, int length);

 private:
  void fill(std::string_view path, const void* type, void* target) const;

  std::map<std::string, Value, std::less<>> values_;
  Places places_;
  std::map<std::string, int, std::less<>> lengths_;
};

// [path of a field] Names that the field accepts besides those of its row.
using AddedNames = std::map<std::string_view, std::vector<std::string>>;

// Throws Error at the first value that the field table does not allow. If `scenario` is only a part
// of a scenario, `path` is the part's path.
Values check_values(const DocumentNode& scenario, const std::string& path = "",
                    const AddedNames& added = {});

}  // namespace windtunnel
