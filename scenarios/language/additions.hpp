// What a program that links the library adds to it: schedules, compressors, rules of when to save,
// and named parts of a scenario (snapshot schemes, fabrics, classes of failures). A scenario then
// uses them by name. If the scenario was made from the configuration of a training program, the
// places of that configuration's settings.
#pragma once

#include <map>
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
  std::vector<OwnPart> parts;
  // [key] The setting that states it; empty: the text is the user's own. Errors name these places
  // instead of those of the text, which the user has not seen.
  std::map<std::string, Location> stated_at = {};
};

// Each makes a part called `name`. The keys of a snapshot tier (the nearest comes first) are those
// below `snapshots.*`, those of a fabric are below `cluster.fabric`, and those of a class of
// failures below `failures.*`; the class is called `name` unless there is a key `class`. Throw
// Error for no keys, an unknown key, a value that is not YAML, or a name that the library has.
OwnPart own_snapshots(const std::string& name, const std::vector<Overrides>& tiers);
OwnPart own_fabric(const std::string& name, const Overrides& keys);
OwnPart own_failure(const std::string& name, const Overrides& keys);

// Throws Error if the library already has a schedule of that name.
std::shared_ptr<const ScheduleKind> own_schedule(ScheduleKind kind);
// Throws Error if the library already has the name, or if a default parameter is out of its range.
std::shared_ptr<const CompressorKind> own_compressor(CompressorKind kind);
// Throws Error for a name that a scenario would read as an interval.
std::shared_ptr<const SavingRule> own_saving_rule(SavingRule rule);

}  // namespace windtunnel
