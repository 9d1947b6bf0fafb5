// What a program that links the library brings beside it: schedules and snapshot schemes that the
// scenario then uses by name.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "policies/schedules/schedules.hpp"
#include "scenarios/language/case.hpp"
#include "scenarios/language/resolve/schemes.hpp"

namespace windtunnel {

struct Additions {
  OwnSchedules schedules;
  std::vector<Scheme> snapshots;
};

// The nearest tier first; of each its keys below `snapshots.*`. Throws Error for no tiers, a key
// that tiers do not have, a value that is not YAML, and for a name that the library has.
Scheme own_snapshots(const std::string& name, const std::vector<Overrides>& tiers);

// Throws Error for a name that the table of schedules has.
std::shared_ptr<const ScheduleKind> own_schedule(ScheduleKind kind);

}  // namespace windtunnel
