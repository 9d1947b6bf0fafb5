// What a program that links the library brings beside it: schedules, compressors, snapshot schemes
// and rules of when to save, which the scenario then uses by name.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "policies/schedules/schedules.hpp"
#include "scenarios/language/case.hpp"
#include "scenarios/language/resolve/resolve.hpp"
#include "scenarios/language/resolve/schemes.hpp"

namespace windtunnel {

struct Additions {
  OwnKinds kinds;
  std::vector<Scheme> snapshots;
};

// The nearest tier first; of each its keys below `snapshots.*`. Throws Error for no tiers, a key
// that tiers do not have, a value that is not YAML, and for a name that the library has.
Scheme own_snapshots(const std::string& name, const std::vector<Overrides>& tiers);

// Throw Error for a name that the library has: of a schedule, a compressor.
std::shared_ptr<const ScheduleKind> own_schedule(ScheduleKind kind);
// Usual numbers of it, too: throws Error for one that cannot be.
std::shared_ptr<const CompressorKind> own_compressor(CompressorKind kind);
// Throws Error for a name that a scenario would take for an interval.
std::shared_ptr<const SavingRule> own_saving_rule(SavingRule rule);

}  // namespace windtunnel
