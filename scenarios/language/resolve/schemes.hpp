// Published ways to protect a job, by name: stacks of snapshot tiers and recovery policies of
// scenarios/library, in the words of a scenario. A name in a scenario is replaced by what it
// stands for before anything is checked, so that --set reaches into it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "models/reliability/snapshot.hpp"
#include "models/results/note.hpp"
#include "scenarios/language/text/document.hpp"
#include "scenarios/language/text/evidence.hpp"
#include "scenarios/language/text/values.hpp"

namespace windtunnel {

// A value that users of a scheme measured, where it differs from what its authors claim.
struct SchemeReport {
  std::string key;  // "recovery.elastic.rejoin"
  std::string value;
  std::string source;
};

struct Scheme {
  std::string name;
  std::string help;
  DocumentNode body;      // what would stand under "snapshots" or "recovery"
  EvidenceList evidence;  // of the scheme, under that key, and of its numbers below it
  std::vector<SchemeReport> reports = {};
};

const std::vector<Scheme>& snapshot_schemes();
const std::vector<Scheme>& recovery_schemes();

// Throws Error with location: no body, no help, no evidence of the scheme. `key` is "snapshots" or
// "recovery".
std::vector<Scheme> read_schemes(const DocumentNode& document, std::string_view key);

// On nodes of `gpus` GPUs.
std::vector<SnapshotTier> tiers_of(const Scheme& scheme, int gpus);

// A part of a scenario that the calling program brings under a name.
struct OwnPart {
  std::string key;  // where the name stands: "snapshots", "cluster.fabric" or "failures.*"
  std::string name;
  DocumentNode body;  // what stands there in its place
};

// `snapshots: NAME` becomes the list of its tiers. Throws Error with the nearest name.
void expand_snapshots(DocumentNode& scenario);
// Names of `own` parts become what they stand for; under a fabric, keys that the scenario states
// beside its name (`{base: NAME, ...}`) stay; a NAME may be based on another part. The later of two
// parts with one name counts. Throws Error where bases lead back to a part.
void expand_own(DocumentNode& scenario, const std::vector<OwnPart>& own);
// What `recovery: NAME` or `recovery: {base: NAME, ...}` leaves out is that of the scheme. The
// notes say what stays as the scenario states it where an override names the scheme.
std::vector<Note> expand_recovery(DocumentNode& scenario);

// The evidence of a number that the scenario states, or that a scheme brought.
Evidence evidence_of(const Value& value, const EvidenceList& scenario);

}  // namespace windtunnel
