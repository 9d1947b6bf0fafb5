#include "models/reliability/saving_interval.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "models/base/error.hpp"
#include "models/base/units.hpp"
#include "models/reliability/snapshot_place.hpp"

namespace windtunnel {
namespace {

void drop_interval(SnapshotTier& tier) {
  tier.every_iterations = 0;
  tier.every_s = 0;
  tier.every_overhead = 0;
  tier.own = nullptr;
}

}  // namespace

std::string interval_key(std::size_t tier) {
  return fmt::format("snapshots.{}.every", tier);
}

bool counts_iterations(const SnapshotTier& tier) {
  return tier.every_iterations > 0;
}

bool saves_for_share(const SnapshotTier& tier) {
  return tier.every_overhead > 0;
}

double interval_s(const SnapshotTier& tier) {
  return tier.every_s;
}

bool has_interval(const SnapshotTier& tier) {
  return counts_iterations(tier) || saves_for_share(tier) || interval_s(tier) > 0;
}

std::string interval_text(const SnapshotTier& tier) {
  return counts_iterations(tier) ? format_quantity(tier.every_iterations, Dimension::iterations)
                                 : format_quantity(tier.every_s, Dimension::seconds);
}

void save_every_iterations(SnapshotTier& tier, std::int64_t iterations) {
  drop_interval(tier);
  tier.every_iterations =
      static_cast<int>(std::min<std::int64_t>(iterations, std::numeric_limits<int>::max()));
}

void save_every_seconds(SnapshotTier& tier, double seconds) {
  drop_interval(tier);
  tier.every_s = seconds;
}

void check_interval(const SnapshotTier& tier) {
  const int ways = counts_iterations(tier) + saves_for_share(tier) + (interval_s(tier) > 0) +
                   (tier.own != nullptr);
  CHECK(ways == (traits_of(tier).copied ? 1 : 0),
        "{} every {} iterations, {} s, for {} of the time and by {} rules", name_of(tier.place),
        tier.every_iterations, tier.every_s, tier.every_overhead, tier.own != nullptr ? 1 : 0);
}

}  // namespace windtunnel
