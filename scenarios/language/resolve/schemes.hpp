// Published ways to protect a job, by name: stacks of snapshot tiers and recovery policies of
// scenarios/library, written in the keys of a scenario. A name in a scenario is replaced by its
// scheme before anything is checked, so that --set can change parts of it.
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

// A value that users of a scheme measured, if it differs from what the authors claim.
struct SchemeReport {
  std::string key;  // "recovery.elastic.rejoin"
  std::string value;
  std::string source;
};

struct Scheme {
  std::string name;
  std::string help;
  DocumentNode body;      // the text that replaces the name under "snapshots" or "recovery"
  EvidenceList evidence;  // by path: of the scheme as a whole, and of its numbers
  std::vector<SchemeReport> reports = {};
};

const std::vector<Scheme>& snapshot_schemes();
const std::vector<Scheme>& recovery_schemes();

// Throws Error with location: no body, no help, or no evidence of the scheme. `key` is "snapshots"
// or "recovery".
std::vector<Scheme> read_schemes(const DocumentNode& document, std::string_view key);

// Returns a scheme's snapshot tiers on nodes with `gpus` GPUs.
std::vector<SnapshotTier> tiers_of(const Scheme& scheme, int gpus);

// A part of a scenario that the calling program defines under a name.
struct OwnPart {
  std::string key;  // the key that takes the name: "snapshots", "cluster.fabric" or "failures.*"
  std::string name;
  DocumentNode body;  // the text that replaces the name
};

// Replaces `snapshots: NAME` by the list of its tiers. Throws Error with the nearest name.
void expand_snapshots(DocumentNode& scenario);
// Replaces the names of `own` parts by the parts. A fabric keeps the keys that the scenario states
// next to its name (`{base: NAME, ...}`). Parts may be based on other parts; if two parts have one
// name, the later counts. Throws Error if bases form a circle.
void expand_own(DocumentNode& scenario, const std::vector<OwnPart>& own);
// Adds the scheme's keys to `recovery: NAME` or `recovery: {base: NAME, ...}`, except those that
// the scenario states. If an override named the scheme, notes list the stated keys that stay.
std::vector<Note> expand_recovery(DocumentNode& scenario);

// The evidence of a number that the scenario states or that a scheme supplies.
Evidence evidence_of(const Value& value, const EvidenceList& scenario);

}  // namespace windtunnel
