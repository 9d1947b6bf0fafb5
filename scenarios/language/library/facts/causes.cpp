#include "scenarios/language/library/facts/causes.hpp"

#include <algorithm>

#include "models/base/error.hpp"
#include "scenarios/language/library/library_reader.hpp"
#include "scenarios/language/text/document_reader.hpp"

namespace windtunnel {
namespace {

Strength read_strength(const DocumentNode& node) {
  require_map(node, "strength");
  check_keys(node, {"from", "to", "is"});
  const auto end = [&](const char* key) {
    return quantity(require(node, key), Dimension::number, key);
  };
  Strength strength{end("from"), end("to"), require_text(node, "is")};
  if (strength.from <= 0 || strength.from >= strength.to) {
    throw Error(node.where, "strength: 'from' has to be above 0 and below 'to'");
  }
  return strength;
}

StepPattern pattern_named(const DocumentNode& node) {
  const auto& names = step_pattern_names();
  const auto found = std::ranges::find(names, node.text);
  if (found == names.end()) throw Error(node.where, unknown_name("pattern", node.text, names));
  return static_cast<StepPattern>(found - names.begin());
}

std::vector<std::pair<std::string, std::string>> read_texts(const DocumentNode& node,
                                                            const std::string& key) {
  require_map(node, key);
  std::vector<std::pair<std::string, std::string>> texts;
  for (const DocumentEntry& entry : node.entries) texts.emplace_back(entry.key, entry.value.text);
  return texts;
}

Cause read_cause(const DocumentEntry& entry) {
  const DocumentNode& node = entry.value;
  require_map(node, entry.key);
  check_keys(node, {"help", "set", "strength", "patterns", "shows", "prior", "look_at", "tells",
                    "source"});
  Cause cause;
  cause.name = entry.key;
  cause.help = require_text(node, "help");
  cause.set = read_texts(require(node, "set"), "set");
  if (const DocumentNode* strength = node.value_of("strength")) {
    cause.strength = read_strength(*strength);
  }
  for (const DocumentNode& pattern : require(node, "patterns").items) {
    cause.patterns.push_back(pattern_named(pattern));
  }
  if (cause.patterns.empty()) throw Error(node.where, "patterns: has to be a list of one or more");
  if (const DocumentNode* shows = node.value_of("shows")) {
    if (shows->text != "input")
      throw Error(shows->where, unknown_name("timer", shows->text, {"input"}));
    cause.shows_as_input = true;
  }
  cause.prior = quantity(require(node, "prior"), Dimension::number, "prior");
  cause.look_at = read_texts(require(node, "look_at"), "look_at");
  cause.tells = require_text(node, "tells");
  cause.source = require_text(node, "source");
  if (cause.look_at.empty() || cause.look_at.back().first != "any") {
    throw Error(node.where, "look_at: its last row has to be 'any'");
  }
  return cause;
}

}  // namespace

const std::vector<std::string>& step_pattern_names() {
  static const std::vector<std::string> names = {"steady", "phase",  "trend",
                                                 "bursts", "jitter", "periodic"};
  return names;
}

std::string_view name_of(StepPattern pattern) {
  return step_pattern_names()[static_cast<std::size_t>(pattern)];
}

bool Cause::makes(StepPattern pattern) const {
  return std::ranges::find(patterns, pattern) != patterns.end();
}

const std::vector<Cause>& causes() {
  static const std::vector<Cause> all = [] {
    std::vector<Cause> read;
    for (const DocumentEntry& entry : library_document("causes.yaml").entries) {
      read.push_back(read_cause(entry));
    }
    return read;
  }();
  return all;
}

const std::string& setting_of(const Cause& cause, std::string_view software) {
  for (const auto& [name, text] : cause.look_at) {
    if (name == "any" || software.starts_with(name)) return text;
  }
  return cause.look_at.back().second;
}

}  // namespace windtunnel
