#include "scenarios/language/additions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "models/compression/compressors.hpp"
#include "scenarios/language/library/library.hpp"
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

// Checks that a scenario can have the name as a plain word: YAML reads it as text, and it is not an
// interval.
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
      fmt::format("a {} cannot be called '{}': a name is a letter, followed by letters, digits, "
                  "'-', '_' and '.'",
                  what, name));
}

DocumentNode with_list(const char* key, std::size_t items) {
  const DocumentNode empty = document_node(DocumentNode::Kind::map, "", {});
  DocumentNode list = document_node(DocumentNode::Kind::list, "", {});
  list.items.assign(items, empty);
  DocumentNode document = empty;
  document.entries.push_back({key, {}, list});
  return document;
}

// Sets `keys` below a place of the document; `part` names their owner in messages.
void add_keys(DocumentNode& document, const std::string& place, const Overrides& keys,
              const std::string& part) {
  for (const auto& [key, value] : keys) {
    const std::string path = fmt::format("{}.{}", place, key);
    try {
      apply_override(document, path, value);
    } catch (const Error& error) {
      // The user typed no option, so the error must not name one.
      throw Error::about({path}, "{}: {}", part, error.text());
    }
  }
}

}  // namespace

OwnPart own_snapshots(const std::string& name, const std::vector<Overrides>& tiers) {
  check_name("snapshot scheme", name, snapshot_schemes());
  if (tiers.empty()) throw Error(fmt::format("snapshot scheme '{}' has no tier", name));
  DocumentNode document = with_list("snapshots", tiers.size());
  for (std::size_t i = 0; i < tiers.size(); ++i) {
    add_keys(document, fmt::format("snapshots.{}", i), tiers[i],
             fmt::format("snapshot scheme '{}', tier {}", name, i));
  }
  return {"snapshots", name, document.entries.front().value};
}

OwnPart own_fabric(const std::string& name, const Overrides& keys) {
  check_name("fabric", name, library_fabrics());
  check_word("fabric", name);
  if (keys.empty()) throw Error(fmt::format("fabric '{}' has no key", name));
  DocumentNode document = document_node(DocumentNode::Kind::map, "", {});
  add_keys(document, "cluster.fabric", keys, fmt::format("fabric '{}'", name));
  return {"cluster.fabric", name, *document.value_of("cluster")->value_of("fabric")};
}

OwnPart own_failure(const std::string& name, const Overrides& keys) {
  check_word("class of failures", name);
  if (keys.empty()) throw Error(fmt::format("class of failures '{}' has no key", name));
  DocumentNode document = with_list("failures", 1);
  add_keys(document, "failures.0", keys, fmt::format("class of failures '{}'", name));
  DocumentNode& body = document.entries.front().value.items.front();
  if (body.value_of("class") == nullptr) {
    body.entries.push_back({"class", {}, document_node(DocumentNode::Kind::scalar, name, {})});
  }
  return {"failures.*", name, body};
}

std::shared_ptr<const CompressorKind> own_compressor(CompressorKind kind) {
  check_name("compressor", kind.name, compressor_kinds());
  check_word("compressor", kind.name);
  kind.usual.name = kind.name;
  check_numbers(kind.usual);
  return std::make_shared<const CompressorKind>(std::move(kind));
}

std::shared_ptr<const SavingRule> own_saving_rule(SavingRule rule) {
  if (rule.name.empty()) throw Error("a saving rule needs a name");
  check_word("saving rule", rule.name);  // refuses "1 h", which is an interval
  return std::make_shared<const SavingRule>(std::move(rule));
}

std::shared_ptr<const ScheduleKind> own_schedule(ScheduleKind kind) {
  check_name("schedule", kind.name, schedule_kinds());
  return std::make_shared<const ScheduleKind>(std::move(kind));
}

}  // namespace windtunnel
