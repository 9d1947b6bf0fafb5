#include "scenarios/language/library/facts/collective_causes.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "scenarios/language/library/library_reader.hpp"
#include "scenarios/language/text/choices.hpp"
#include "scenarios/language/text/document_reader.hpp"

namespace windtunnel {
namespace {

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
    throw Error(strengths.where, "strengths: has to be a list of numbers, or 'nics'");
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
