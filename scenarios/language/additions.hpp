// What a program that links the library brings beside it: schedules, compressors, rules of when to
// save, and parts of a scenario in its words (snapshot schemes, fabrics, classes of failures). The
// scenario then uses them by name.
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
  std::vector<OwnPart> parts;
};

// Throw Error for no keys, a key that there is not below that of the part, a value that is not
// YAML, and for a name that the library has. The nearest tier comes first, each with its keys below
// `snapshots.*`; a fabric has keys below `cluster.fabric`; a class of failures has those below
// `failures.*`, and is called `name` where none of them says so.
OwnPart own_snapshots(const std::string& name, const std::vector<Overrides>& tiers);
OwnPart own_fabric(const std::string& name, const Overrides& keys);
OwnPart own_failure(const std::string& name, const Overrides& keys);

// Throw Error for a name that the library has: of a schedule, a compressor.
std::shared_ptr<const ScheduleKind> own_schedule(ScheduleKind kind);
// Usual numbers of it, too: throws Error for one that cannot be.
std::shared_ptr<const CompressorKind> own_compressor(CompressorKind kind);
// Throws Error for a name that a scenario would take for an interval.
std::shared_ptr<const SavingRule> own_saving_rule(SavingRule rule);

}  // namespace windtunnel
