#include "scenarios/language/resolve/schemes.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "models/base/find_named.hpp"
#include "scenarios/language/library/facts/training_software.hpp"
#include "scenarios/language/library/library_reader.hpp"
#include "scenarios/language/resolve/resolve.hpp"
#include "scenarios/language/text/document.hpp"

namespace windtunnel {
namespace {

using Kind = DocumentNode::Kind;

constexpr std::string_view kSnapshots = "snapshots";
constexpr std::string_view kRecovery = "recovery";
constexpr std::string_view kFabric = "cluster.fabric";
constexpr std::string_view kFailures = "failures.*";

// The scheme's body as if it were written at the place of its name.
DocumentNode body_at(const DocumentNode& body, const std::string& scheme, const Location& where) {
  DocumentNode node = document_node(body.kind, body.text, where);
  node.scheme = scheme;
  for (const DocumentNode& item : body.items) node.items.push_back(body_at(item, scheme, where));
  for (const DocumentEntry& entry : body.entries) {
    node.entries.push_back({entry.key, where, body_at(entry.value, scheme, where)});
  }
  return node;
}

// Adds keys of `base` that `map` lacks, recursively. Returns the keys that have different values in
// both, with the values.
std::vector<std::string> add_missing(DocumentNode& map, const DocumentNode& base) {
  std::vector<std::string> kept;
  for (const DocumentEntry& entry : base.entries) {
    DocumentEntry* own = map.find(entry.key);
    if (own == nullptr) {
      map.entries.push_back(entry);
    } else if (own->value.kind == Kind::map && entry.value.kind == Kind::map) {
      for (const std::string& below : add_missing(own->value, entry.value)) {
        kept.push_back(fmt::format("{}.{}", entry.key, below));
      }
    } else if (flow_text(own->value) != flow_text(entry.value)) {
      kept.push_back(
          fmt::format("{}: {} (not {})", entry.key, flow_text(own->value), flow_text(entry.value)));
    }
  }
  return kept;
}

std::vector<SchemeReport> reports_in(const DocumentNode& scheme) {
  std::vector<SchemeReport> reports;
  const DocumentNode* map = scheme.value_of("reports");
  if (map == nullptr) return reports;
  require_map(*map, "reports");
  for (const DocumentEntry& entry : map->entries) {
    require_map(entry.value, entry.key);
    check_keys(entry.value, {"value", "source"});
    reports.push_back(
        {entry.key, require_text(entry.value, "value"), require_text(entry.value, "source")});
  }
  return reports;
}

const std::vector<Scheme>& schemes_of(std::string_view key) {
  return key == kSnapshots ? snapshot_schemes() : recovery_schemes();
}

}  // namespace

std::vector<Scheme> read_schemes(const DocumentNode& document, std::string_view key) {
  const std::string body(key);
  require_map(document, "schemes");
  std::vector<Scheme> schemes;
  for (const DocumentEntry& entry : document.entries) {
    require_map(entry.value, entry.key);
    check_keys(entry.value, {"help", body, "origins", "reports"});
    const DocumentNode& origins = require(entry.value, "origins");
    require_map(origins, "origins");
    require(origins, body);
    schemes.push_back({entry.key, require_text(entry.value, "help"), require(entry.value, body),
                       EvidenceList(&origins), reports_in(entry.value)});
  }
  return schemes;
}

const std::vector<Scheme>& snapshot_schemes() {
  static const std::vector<Scheme> schemes =
      read_schemes(library_document("snapshots.yaml"), kSnapshots);
  return schemes;
}

const std::vector<Scheme>& recovery_schemes() {
  static const std::vector<Scheme> schemes =
      read_schemes(library_document("recoveries.yaml"), kRecovery);
  return schemes;
}

std::vector<SnapshotTier> tiers_of(const Scheme& scheme, int gpus) {
  return resolve_snapshots(check_values(scheme.body, std::string(kSnapshots)), gpus);
}

namespace {

// Returns the last of the `own` parts that the node names; null: the node names none.
const OwnPart* named_by(const DocumentNode& node, std::string_view key,
                        const std::vector<OwnPart>& own) {
  if (node.kind != Kind::scalar) return nullptr;
  const OwnPart* found = nullptr;
  for (const OwnPart& part : own) {
    if (part.key == key && part.name == node.text) found = &part;
  }
  return found;
}

void expand_in_place(DocumentNode& node, std::string_view key, const std::vector<OwnPart>& own) {
  if (const OwnPart* part = named_by(node, key, own)) node = body_at(part->body, "", node.where);
}

void expand_own_fabric(DocumentNode& fabric, const std::vector<OwnPart>& own) {
  expand_in_place(fabric, kFabric, own);
  std::vector<std::string> expanded;
  while (const DocumentNode* base = fabric.value_of("base")) {
    const OwnPart* part = named_by(*base, kFabric, own);
    if (part == nullptr) return;
    const Location where = base->where;
    const bool again = std::ranges::find(expanded, part->name) != expanded.end();
    expanded.push_back(part->name);
    if (again) {
      throw Error(where, fmt::format("the bases of fabric '{}' form a cycle ({}): one of them "
                                     "needs a base of the library, or none",
                                     part->name, fmt::join(expanded, ", ")));
    }
    std::erase_if(fabric.entries, [](const DocumentEntry& entry) { return entry.key == "base"; });
    add_missing(fabric, body_at(part->body, "", where));
  }
}

}  // namespace

void expand_own(DocumentNode& scenario, const std::vector<OwnPart>& own) {
  if (own.empty()) return;
  if (DocumentEntry* snapshots = scenario.find(kSnapshots)) {
    expand_in_place(snapshots->value, kSnapshots, own);
  }
  if (DocumentEntry* failures = scenario.find("failures")) {
    for (DocumentNode& item : failures->value.items) expand_in_place(item, kFailures, own);
  }
  if (DocumentEntry* cluster = scenario.find("cluster")) {
    if (DocumentEntry* fabric = cluster->value.find("fabric")) {
      expand_own_fabric(fabric->value, own);
    }
  }
}

void expand_snapshots(DocumentNode& scenario) {
  DocumentEntry* entry = scenario.find(kSnapshots);
  if (entry == nullptr || entry->value.kind != Kind::scalar) return;
  const Scheme& scheme =
      find_named(snapshot_schemes(), kSnapshots, entry->value.text, entry->value.where);
  entry->value = body_at(scheme.body, scheme.name, entry->value.where);
}

std::vector<Note> expand_recovery(DocumentNode& scenario) {
  DocumentEntry* entry = scenario.find(kRecovery);
  if (entry == nullptr) return {};
  DocumentNode& node = entry->value;
  if (node.kind == Kind::scalar) {
    DocumentNode map = document_node(Kind::map, "", node.where);
    map.entries.push_back({"base", node.where, node});
    node = std::move(map);
  }
  const DocumentNode* base = node.value_of("base");
  if (base == nullptr || base->kind != Kind::scalar) return {};
  const Scheme& scheme = find_named(recovery_schemes(), kRecovery, base->text, base->where);
  const bool overridden = base->where.line == 0;  // by --set; in a file the user sees it
  const std::vector<std::string> kept =
      add_missing(node, body_at(scheme.body, scheme.name, base->where));
  if (!overridden || kept.empty()) return {};
  return {{std::string(kRecovery), fmt::format("{} does not replace the stated keys: {}",
                                               scheme.name, fmt::join(kept, ", "))}};
}

Evidence evidence_of(const Value& value, const EvidenceList& scenario) {
  if (value.scheme.empty()) return scenario.of(value.key);
  const bool of_snapshots = value.key.starts_with(kSnapshots);
  if (!of_snapshots && !value.key.starts_with(kRecovery)) {
    const Framework& software = find_framework(value.scheme);
    return {software.origin, source_of(software, value.key)};
  }
  const std::string_view key = of_snapshots ? kSnapshots : kRecovery;
  for (const Scheme& scheme : schemes_of(key)) {
    if (scheme.name == value.scheme) return scheme.evidence.of(value.key);
  }
  fail_check("scheme is listed", __FILE__, __LINE__, value.scheme);
}

}  // namespace windtunnel
