#include "scenarios/language/text/places.hpp"

namespace windtunnel {
namespace {

// The --set that changed the key or a key below it (it has no line); null: none. A --set of another
// key in the same map does not count.
const Location* set_at(const auto& places, std::string_view key) {
  const std::string below = std::string(key) + ".";
  for (const auto& [path, where] : places) {
    if (where.line == 0 && (path == key || path.starts_with(below))) return &where;
  }
  return nullptr;
}

}  // namespace

bool Places::stated(std::string_view key) const {
  return places_.find(key) != places_.end();
}

Location Places::where(std::string_view key) const {
  while (true) {
    if (const auto found = places_.find(key); found != places_.end()) return found->second;
    CHECK(!key.empty(), "a scenario without a place");
    const size_t dot = key.rfind('.');
    key = dot == std::string_view::npos ? std::string_view() : key.substr(0, dot);
  }
}

Location Places::fault_at(std::string_view key) const {
  const Location* set = set_at(places_, key);
  return set != nullptr ? *set : where(key);
}

Error Places::placed(const Error& error) const {
  if (error.keys().empty() || places_.empty()) return error;
  for (const std::string& key : error.keys()) {
    if (const Location* set = set_at(places_, key)) return {*set, error.what(), error.code()};
  }
  for (const std::string& key : error.keys()) {
    if (stated(key)) return {where(key), error.what(), error.code()};
  }
  return {where(error.keys().back()), error.what(), error.code()};
}

}  // namespace windtunnel
