// The tiers of snapshots, from checked values: interval, place, members of the code, and refusals
// of keys that a place does not use.
#include <fmt/format.h>

#include <algorithm>

#include "models/base/find_named.hpp"
#include "models/cost/snapshot/snapshot_writer.hpp"
#include "models/reliability/saving_interval.hpp"
#include "models/reliability/snapshot_place.hpp"
#include "scenarios/language/resolve/resolve.hpp"
#include "scenarios/language/text/choices.hpp"

namespace windtunnel {
namespace {

void resolve_interval(const Values& values, const std::string& path, const OwnSavingRules& own,
                      SnapshotTier& tier) {
  const std::string key = path + ".every";
  if (saves_for_share(tier)) return;
  if (!values.has(key)) {
    throw Error(values.where(path),
                fmt::format("{} has no 'every'; add e.g. 'every: 10 iterations'", path));
  }
  const Value& every = values.at(key);
  tier.own = own_named(own, every.text);
  if (tier.own != nullptr) return;
  if (every.dimension == Dimension::iterations) {
    save_every_iterations(tier, static_cast<std::int64_t>(every.number));
  } else {
    save_every_seconds(tier, every.number);
  }
}

// Sets numbers of members that the scenario leaves out; protection_of() checks the code.
void resolve_members(const Values& values, const std::string& path, int gpus, ErasureCode& code) {
  const std::string data = path + ".data";
  const std::string parity = path + ".parity";
  const bool whole = code.name == CodeName::copies || code.name == CodeName::recompute;
  const bool raid = code.name == CodeName::xor_parity && code.in_node;
  if (code.name == CodeName::recompute && (values.has(data) || values.has(parity))) {
    values.fail(values.has(data) ? data : parity, "recompute has no members; remove this key");
  }
  if (code.name == CodeName::reed_solomon && !values.has(parity)) {
    values.fail(path, values.has(data) ? "rs has no 'parity'; add e.g. 'parity: 2'"
                                       : "rs has neither 'data' nor 'parity'; add e.g. 'data: 4' "
                                         "and 'parity: 2'");
  }
  if (!values.has(data) && !whole && !raid) {
    values.fail(path,
                fmt::format("{} has no 'data'; add e.g. 'data: 4'", values.text(path + ".name")));
  }
  if (!values.has(data) && raid) code.data = std::max(1, gpus - 1);
  if (!values.has(parity)) code.parity = 1;
}

bool resolve_scope(const Values& values, const std::string& path, const SnapshotTier& tier) {
  const std::string key = path + ".code.scope";
  const bool host = traits_of(tier).code == PlaceCode::in_node;
  const bool in_node = values.has(key) ? values.text(key) == "node" : host;
  if (in_node && !host) values.fail(key, "node is for tier: host-memory");
  if (!in_node && host) {
    values.fail(key, "for memory of other nodes use tier: peers; write that, or scope: node");
  }
  if (in_node && !tier.keeper_process) {
    values.fail(path + ".code",
                "inside a node a code protects keeper processes; add keeper: process");
  }
  return in_node;
}

ErasureCode resolve_code(const Values& values, const std::string& path, const SnapshotTier& tier,
                         int gpus) {
  ErasureCode code;
  const std::string key = path + ".code";
  if (!values.has(key + ".name")) return code;
  values.fill(key, code);
  code.in_node = resolve_scope(values, path, tier);
  resolve_members(values, key, gpus, code);
  if (code.in_node && code.members() > gpus) {
    values.fail(
        key, fmt::format("{} data + {} parity members, but a node has {} GPUs with a keeper each",
                         code.data, code.parity, gpus));
  }
  return code;
}

void resolve_writer(const Values& values, const std::string& path, SnapshotTier& tier) {
  const std::string key = path + ".writer";
  if (!values.has(key + ".name")) return;
  const NamedWriter& named = find_named(snapshot_writers(), "writer", values.text(key + ".name"));
  tier.writer = usual_writer(named);
  values.fill(key, tier.writer);
  if (!values.has(path + ".when_busy")) tier.when_busy = named.when_busy;
}

// Refuses keys about copies that the tier does not make or cannot have.
void check_keys_of_place(const Values& values, const std::string& path, SnapshotPlace in) {
  const PlaceTraits& place = traits_of(in);
  if (!place.copied) {
    for (const std::string& name : child_keys("snapshots.*")) {
      if (name == "tier" || !values.stated(join_path(path, name))) continue;
      values.fail(join_path(path, name),
                  fmt::format("nothing is copied to {}; remove this key", name_of(in)));
    }
  }
  if (values.stated(path + ".keeper") && !place.of_process &&
      values.text(path + ".keeper") == "process") {
    values.fail(path + ".keeper",
                fmt::format("{} needs no keeper; it is for host-memory and peers", name_of(in)));
  }
  if (values.stated(path + ".kept") && place.copied && !place.keeps_several()) {
    values.fail(path + ".kept", "memory always keeps only the newest copy; remove this key");
  }
}

SnapshotTier resolve_tier(const Values& values, const std::string& path, int gpus,
                          const OwnSavingRules& own) {
  SnapshotTier tier;
  values.fill(path, tier);
  check_keys_of_place(values, path, tier.place);
  if (!traits_of(tier).copied) return tier;
  resolve_interval(values, path, own, tier);
  tier.code = resolve_code(values, path, tier, gpus);
  resolve_writer(values, path, tier);
  if (tier.changed_share < 1 && tier.full_every == 1) {
    values.fail(
        path + ".changed",
        "every snapshot is a full one; add e.g. full_every: 10 to make the others differential");
  }
  return tier;
}

}  // namespace

std::vector<SnapshotTier> resolve_snapshots(const Values& values, int gpus,
                                            const OwnSavingRules& own) {
  const int tiers = values.length("snapshots");
  if (tiers > kMaxSnapshotTiers) {
    throw Error(values.where(fmt::format("snapshots.{}", kMaxSnapshotTiers)),
                fmt::format("snapshots: there are {} tiers; at most {} are possible", tiers,
                            kMaxSnapshotTiers));
  }
  std::vector<SnapshotTier> resolved;
  for (int i = 0; i < tiers; ++i) {
    resolved.push_back(resolve_tier(values, fmt::format("snapshots.{}", i), gpus, own));
  }
  return resolved;
}

}  // namespace windtunnel
