// What is to be simulated: the text of a scenario and the values that are set over it.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>
#include <windtunnel/compressor.hpp>
#include <windtunnel/export.hpp>
#include <windtunnel/saving_rule.hpp>
#include <windtunnel/schedule.hpp>

namespace windtunnel_api {

// {"layout.tp", "8"}: a path of the scenario and a value as it would stand there.
using Setting = std::pair<std::string, std::string>;

// A tier of a snapshot scheme, in the scenario's words:
// {{"tier", "peers"}, {"every", "10 iterations"}, {"code.name", "xor"}}.
using SnapshotTier = std::vector<Setting>;

// Tells which value a setting has after resolution, and where that comes from.
struct ResolvedValue {
  std::string key;     // "cluster.fabric.pod_oversubscription"
  std::string value;   // as text with its unit
  std::string origin;  // "measured", "published", "spec" or "assumed"
  std::string source;
  bool is_default = false;
};

// A value: copies are independent, also on different threads; a moved-from object may only be
// assigned to or destroyed. Settings are checked when the case is used, so that dependent settings
// can be made one after the other; check() checks them at once.
class WINDTUNNEL_API Case {
 public:
  // Reads a scenario or the configuration of a training program (docs/guide/import.md). Settings
  // that the latter does not contain, such as the machine, must be set. Files that the scenario
  // names are relative to it.
  static Case from_file(const std::string& path);
  // `name` stands for the file in messages. Files that the text names are relative to its folder,
  // or to the working directory if it has none.
  static Case from_text(std::string text, std::string name = "scenario");

  // The same as --set of the program; later settings take precedence.
  Case& set(const std::string& key, const std::string& value);

  // `schedule: NAME` then selects this generator. `chunks`: stages per rank if the scenario does
  // not say. Throws Error if the library has the name.
  Case& add_schedule(const std::string& name, ScheduleGenerator generate, int chunks = 1);

  // `communication.compressor: NAME` then selects this compressor, also in `sync`. Throws Error if
  // the library has the name, and for invalid numbers.
  Case& add_compressor(const std::string& name, Compressor compressor);

  // `snapshots.*.every: NAME` then selects this rule. Throws Error for a name that begins like an
  // interval.
  Case& add_saving_rule(const std::string& name, SavingRule rule);

  // `snapshots: NAME` then selects these tiers, nearest first. Throws Error if the library has the
  // name, and for invalid keys.
  Case& add_snapshots(const std::string& name, const std::vector<SnapshotTier>& tiers);

  // `cluster.fabric: NAME`, or NAME as its `base`, then selects these keys below `cluster.fabric`:
  // {{"topology", "fat-tree"}, {"nodes_per_pod", "64"}}. Throws Error if the library has the name,
  // and for invalid keys.
  Case& add_fabric(const std::string& name, const std::vector<Setting>& keys);

  // NAME in the list `failures` then selects these keys below `failures.*`: {{"kind", "process"},
  // {"rate", "2 per 1000 node-days"}}. Throws Error for a name that is no word, and for invalid
  // keys.
  Case& add_failure(const std::string& name, const std::vector<Setting>& keys);

  // Throws Error for the first fault.
  void check() const;
  std::string name() const;
  // Equal for equivalent cases, regardless of spelling, comments and name. Schedules, compressors
  // and rules of the calling program count by name.
  std::string key() const;
  std::vector<ResolvedValue> values() const;

  struct State;
  const State& state() const { return *state_; }

 private:
  explicit Case(State state);
  State& changed();  // makes a private copy of the state

  std::shared_ptr<const State> state_;  // never changed: copies share it
};

}  // namespace windtunnel_api
