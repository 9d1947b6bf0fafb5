#include "scenarios/language/text/evidence.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "scenarios/language/text/fields.hpp"

namespace windtunnel {
namespace {

bool matches(const std::vector<std::string>& pattern, const std::vector<std::string>& path) {
  if (pattern.size() > path.size()) return false;
  for (size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] != "*" && pattern[i] != path[i]) return false;
  }
  return true;
}

// Ranks patterns: more parts win, then fewer wildcards. The order in the text does not matter.
size_t closeness(const std::vector<std::string>& pattern) {
  const auto wildcards = std::count(pattern.begin(), pattern.end(), "*");
  return pattern.size() * 100 - static_cast<size_t>(wildcards);
}

// Suggests the nearest key for the first part that is wrong.
[[noreturn]] void fail_path(const DocumentEntry& entry) {
  std::string path;
  for (const std::string& part : split_path(entry.key)) {
    const std::string next = join_path(path, part);
    if (find_field(next) == nullptr) {
      const std::string noun = path.empty() ? "key" : path + " key";
      throw Error(entry.where, "origins: " + unknown_name(noun, part, child_keys(path)));
    }
    path = next;
  }
  throw Error(entry.where, fmt::format("origins: '{}' is not a key", entry.key));
}

}  // namespace

Origin parse_origin(const std::string& name, const Location& where) {
  if (has_choice<Origin>(name)) return value_of<Origin>(name);
  const std::vector<std::string_view> known = names_of<Origin>();
  throw Error(where, unknown_name("origin", name, {known.begin(), known.end()}));
}

Evidence parse_evidence(const std::string& text, const Location& where) {
  const size_t colon = text.find(": ");
  if (colon == std::string::npos) {
    throw Error(where, fmt::format("'{}' is not an evidence; write e.g. 'published: arXiv "
                                   "2407.21783 table 5'",
                                   text));
  }
  return {parse_origin(text.substr(0, colon), where), text.substr(colon + 2)};
}

EvidenceList::EvidenceList(const DocumentNode* origins) {
  if (origins == nullptr) return;
  for (const DocumentEntry& entry : origins->entries) {
    if (find_field(entry.key) == nullptr || entry.key.empty()) fail_path(entry);
    if (entry.value.kind != DocumentNode::Kind::scalar) {
      throw Error(
          entry.value.where,
          fmt::format("origins: '{}' needs a text, e.g. 'published: arXiv 2407.21783'", entry.key));
    }
    rows_.push_back({split_path(entry.key), parse_evidence(entry.value.text, entry.value.where)});
  }
}

Evidence EvidenceList::of(std::string_view path) const {
  const std::vector<std::string> parts = split_path(path);
  const Row* best = nullptr;
  for (const Row& row : rows_) {
    if (!matches(row.pattern, parts)) continue;
    if (best == nullptr || closeness(row.pattern) > closeness(best->pattern)) best = &row;
  }
  if (best == nullptr) return {Origin::assumed, "stated by the scenario without evidence"};
  return best->evidence;
}

}  // namespace windtunnel
