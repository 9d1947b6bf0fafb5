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

// What a value became, and what it rests on.
struct ResolvedValue {
  std::string key;     // "cluster.fabric.pod_oversubscription"
  std::string value;   // as text with its unit
  std::string origin;  // "measured", "published", "spec" or "assumed"
  std::string source;
  bool is_default = false;
};

// A value: copies are independent, also on different threads; one that was moved from may only be
// assigned to or destroyed. What is set is checked when the case is used, so that settings
// that belong together may follow one another; check() does so at once.
class WINDTUNNEL_API Case {
 public:
  // A scenario, or the configuration of a training program (docs/guide/import.md); what the latter
  // does not say, such as the machine, is set. Files that the scenario names are looked for beside
  // it.
  static Case from_file(const std::string& path);
  // `name` stands for the file in messages; files that the text names are looked for beside it, in
  // the working directory where it has no folder.
  static Case from_text(std::string text, std::string name = "scenario");

  // The same as --set of the program; a later one wins.
  Case& set(const std::string& key, const std::string& value);

  // `schedule: NAME` then means this order. `chunks`: stages per rank where the scenario does not
  // say. Throws Error where the library has the name.
  Case& add_schedule(const std::string& name, ScheduleGenerator generate, int chunks = 1);

  // `communication.compressor: NAME` then means this one, as it does in `sync`. Throws Error where
  // the library has the name, and for numbers that cannot be.
  Case& add_compressor(const std::string& name, Compressor compressor);

  // `snapshots.*.every: NAME` then means that this rule says when. Throws Error for a name that
  // begins as an interval does.
  Case& add_saving_rule(const std::string& name, SavingRule rule);

  // `snapshots: NAME` then means these tiers, the nearest first. Throws Error likewise.
  Case& add_snapshots(const std::string& name, const std::vector<SnapshotTier>& tiers);

  // `cluster.fabric: NAME`, or NAME as its `base`, then means these keys below `cluster.fabric`:
  // {{"topology", "fat-tree"}, {"nodes_per_pod", "64"}}. Throws Error likewise.
  Case& add_fabric(const std::string& name, const std::vector<Setting>& keys);

  // NAME in the list `failures` then means these keys below `failures.*`:
  // {{"kind", "process"}, {"rate", "2 per 1000 node-days"}}. Throws Error likewise.
  Case& add_failure(const std::string& name, const std::vector<Setting>& keys);

  // Throws Error for the first thing that is wrong.
  void check() const;
  std::string name() const;
  // Equal for cases that say the same, whatever their spelling, comments and name. What is one's
  // own counts by its name.
  std::string key() const;
  std::vector<ResolvedValue> values() const;

  struct State;
  const State& state() const { return *state_; }

 private:
  explicit Case(State state);
  State& changed();  // a state of its own

  std::shared_ptr<const State> state_;  // never changed: copies share it
};

}  // namespace windtunnel_api
