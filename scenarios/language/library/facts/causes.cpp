#include "scenarios/language/library/facts/causes.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "models/base/error.hpp"
#include "scenarios/language/library/library_reader.hpp"
#include "scenarios/language/text/choices.hpp"
#include "scenarios/language/text/document.hpp"

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
    throw Error(node.where, "strength: 'from' must be above 0 and below 'to'");
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
  if (cause.patterns.empty()) throw Error(node.where, "patterns: must be a list of at least one");
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
    throw Error(node.where, "look_at: the last row must be 'any'");
  }
  return cause;
}

constexpr std::pair<std::string_view, Parameter NodeSpec::*> kRates[] = {
    {"nic_Bps", &NodeSpec::nic_Bps}, {"nvlink_Bps", &NodeSpec::nvlink_Bps}};

Parameter InterconnectLaw::*law_number(const DocumentEntry& entry) {
  std::vector<std::string> known;
  for (const InterconnectLawField& field : interconnect_law_fields()) {
    if (field.name == entry.key) return field.member;
    known.emplace_back(field.name);
  }
  throw Error(entry.where, unknown_name("law", entry.key, known));
}

Parameter NodeSpec::*node_rate(const DocumentEntry& entry) {
  std::vector<std::string> known;
  for (const auto& [name, member] : kRates) {
    if (name == entry.key) return member;
    known.emplace_back(name);
  }
  throw Error(entry.where, unknown_name("node", entry.key, known));
}

template <class Member, class Find>
void read_powers(const DocumentNode& map, const std::string& key, const Find& find,
                 std::vector<std::pair<Member, double>>& to) {
  const DocumentNode* numbers = map.value_of(key);
  if (numbers == nullptr) return;
  for (const DocumentEntry& entry : numbers->entries) {
    to.emplace_back(find(entry), quantity(entry.value, Dimension::number, entry.key));
  }
}

CollectiveCause read_collective_cause(const DocumentEntry& entry) {
  const DocumentNode& map = entry.value;
  require_map(map, entry.key);
  check_keys(map, {"says", "look_at", "across", "strengths", "strength", "law", "node", "algorithm",
                   "protocol", "without", "source"});
  CollectiveCause cause;
  cause.name = entry.key;
  cause.says = require_text(map, "says");
  cause.look_at = require_text(map, "look_at");
  cause.source = require_text(map, "source");
  cause.strength = require_text(map, "strength");
  if (map.value_of("across") != nullptr) cause.across = flag(map, "across");
  const DocumentNode& strengths = require(map, "strengths");
  for (const DocumentNode& item : strengths.items) {
    cause.strengths.push_back(quantity(item, Dimension::number, "strengths"));
  }
  if (cause.strengths.empty() && strengths.text != "nics") {
    throw Error(strengths.where, "strengths: must be a list of numbers, or 'nics'");
  }
  read_powers(map, "law", law_number, cause.law);
  read_powers(map, "node", node_rate, cause.node);
  if (const DocumentNode* algorithm = map.value_of("algorithm")) {
    for (const auto each : {CollectiveAlgorithm::ring, CollectiveAlgorithm::tree}) {
      if (to_string(each) == algorithm->text) cause.choice.algorithm = each;
    }
    CHECK(cause.choice.algorithm != CollectiveAlgorithm::automatic, "'{}' is not forced by name",
          algorithm->text);
  }
  if (const DocumentNode* protocol = map.value_of("protocol")) {
    cause.choice.protocol = choice_of<Protocol>(*protocol, "protocol");
  }
  if (const DocumentNode* without = map.value_of("without")) {
    if (without->text != "nvls") {
      throw Error(without->where, unknown_name("without", without->text, {"nvls"}));
    }
    cause.without_nvls = true;
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

const std::vector<CollectiveCause>& collective_causes() {
  static const std::vector<CollectiveCause> causes = [] {
    std::vector<CollectiveCause> read;
    for (const DocumentEntry& entry : library_document("collective_causes.yaml").entries) {
      read.push_back(read_collective_cause(entry));
    }
    return read;
  }();
  return causes;
}

std::vector<double> strengths_of(const CollectiveCause& cause, int nics) {
  if (!cause.strengths.empty()) return cause.strengths;
  std::vector<double> left;
  for (int n = nics - 1; n >= 1; --n) left.push_back(static_cast<double>(n) / nics);
  return left;
}

}  // namespace windtunnel
