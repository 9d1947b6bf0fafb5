#include "scenarios/language/additions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "models/compression/compressors.hpp"
#include "scenarios/language/overrides.hpp"

namespace windtunnel {
namespace {

template <class Items>
void check_name(const std::string& what, const std::string& name, const Items& known) {
  if (name.empty()) throw Error(fmt::format("a {} needs a name", what));
  const auto has_name = [&](const auto& item) { return item.name == name; };
  if (std::ranges::none_of(known, has_name)) return;
  throw Error(fmt::format("the library has a {} '{}' already; take another name", what, name));
}

// One that stands in a scenario as it is: a word to YAML, and no interval.
void check_word(const std::string& what, const std::string& name) {
  constexpr std::string_view kOthers[] = {"null", "true", "false", "yes", "no", "on", "off"};
  const auto is_letter = [](char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; };
  const auto belongs = [&](char c) {
    return is_letter(c) || std::isdigit(static_cast<unsigned char>(c)) != 0 || c == '-' ||
           c == '_' || c == '.';
  };
  const bool is_word = !name.empty() && is_letter(name.front()) &&
                       std::ranges::all_of(name, belongs) &&
                       std::ranges::find(kOthers, name) == std::end(kOthers);
  if (is_word) return;
  throw Error(
      fmt::format("a {} cannot be called '{}': a letter, and then letters, digits, '-', '_' "
                  "and '.' make a name",
                  what, name));
}

}  // namespace

Scheme own_snapshots(const std::string& name, const std::vector<Overrides>& tiers) {
  check_name("snapshot scheme", name, snapshot_schemes());
  if (tiers.empty()) throw Error(fmt::format("snapshot scheme '{}' has no tier", name));
  const DocumentNode empty = document_node(DocumentNode::Kind::map, "", {});
  DocumentNode list = document_node(DocumentNode::Kind::list, "", {});
  list.items.assign(tiers.size(), empty);
  DocumentNode document = empty;
  document.entries.push_back({"snapshots", {}, list});
  for (std::size_t i = 0; i < tiers.size(); ++i) {
    for (const auto& [key, value] : tiers[i]) {
      const std::string path = fmt::format("snapshots.{}.{}", i, key);
      try {
        apply_override(document, path, value);
      } catch (const Error& error) {
        // No option that anybody typed.
        throw Error::about({path}, "snapshot scheme '{}', tier {}: {}", name, i, error.text());
      }
    }
  }
  return {name, "", document.entries.front().value, EvidenceList(nullptr)};
}

std::shared_ptr<const CompressorKind> own_compressor(CompressorKind kind) {
  check_name("compressor", kind.name, compressor_kinds());
  check_word("compressor", kind.name);
  kind.usual.name = kind.name;
  check_numbers(kind.usual);
  return std::make_shared<const CompressorKind>(std::move(kind));
}

std::shared_ptr<const SavingRule> own_saving_rule(SavingRule rule) {
  if (rule.name.empty()) throw Error("a rule of when to save needs a name");
  check_word("rule of when to save", rule.name);  // "1 h" is an interval
  return std::make_shared<const SavingRule>(std::move(rule));
}

std::shared_ptr<const ScheduleKind> own_schedule(ScheduleKind kind) {
  check_name("schedule", kind.name, schedule_kinds());
  return std::make_shared<const ScheduleKind>(std::move(kind));
}

}  // namespace windtunnel
