// A grid of cases, each with its campaigns: iterations are simulated once per distinct table
// (Case::table), then all campaigns run from event to event on all cores, with the same random
// numbers at every point.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "models/base/error.hpp"
#include "models/base/values_by_type.hpp"
#include "models/results/campaign_report.hpp"
#include "models/results/iteration_report.hpp"
#include "scenarios/language/case.hpp"

namespace windtunnel {

struct VariedKey {
  std::string key;
  std::vector<std::string> values;
  bool operator==(const VariedKey&) const = default;
};

// All combinations; the last key changes fastest.
std::vector<Overrides> cross_product(const std::vector<VariedKey>& keys);
// The one at `index`, which is below the number of all.
Overrides values_at(const std::vector<VariedKey>& keys, size_t index);

struct Sweep {
  ScenarioText scenario;  // at every point
  std::vector<VariedKey> vary;
  bool operator==(const Sweep&) const = default;
};
size_t grid_size(const Sweep& sweep);  // how many points it has

// Cases, and prepared iterations, that stay in memory: each of the latter takes up to 200 KB.
constexpr size_t kMostKept = 250;

// A sweep of a million points holds as many of these: it is kept below 64 bytes. What a case varies
// follows from its index: values_at().
struct SweepCase {
  int index = 0;                                 // in the grid
  std::uint64_t key = 0;                         // key_number() of Case::key; 0: `fault`
  std::uint64_t table = 0;                       // likewise of Case::table
  std::shared_ptr<const Error> fault = nullptr;  // why it cannot be simulated; null: it can
  // What the keys were made of, of the first kMostKept points: so that it is read once.
  std::shared_ptr<const Case> read = nullptr;

  std::string reason() const { return fault != nullptr ? fault->what() : ""; }
  bool operator==(const SweepCase& other) const {
    return index == other.index && key == other.key && table == other.table &&
           reason() == other.reason();
  }
};

// Every point of the grid with its keys, or with what makes it impossible already. Throws Error
// when none is left (a key is misspelt or has no values, the scenario has no campaign) and for a
// grid of more points than an index can count.
std::vector<SweepCase> sweep_cases(const Sweep& sweep, int threads = 0);

// Part `shard` of `shards`: points that share a table stay together as far as that leaves the parts
// equal; among these they are dealt evenly over the grid, whose corners differ in effort.
std::vector<SweepCase> shard_of(const std::vector<SweepCase>& cases, int shard, int shards);

struct SweepPoint {
  int index = 0;
  std::string scenario{};  // its name
  std::string key{};
  std::string reason{};          // not empty: infeasible, and why
  std::optional<Error> fault{};  // the same, where this process found it
  Job job{};
  IterationReport iteration{};
  std::optional<CampaignReport> campaign{};  // with a goodput per trial
  ValuesByType studies{};                    // as Record::studies
};

struct SweepOptions {
  int threads = 0;  // 0: all cores; the same results for any number
  // Called once per point, one call at a time, in any order.
  std::function<void(const SweepPoint&)> finished = {};
  std::function<void(const std::string&)> progress = {};
  const std::atomic<bool>* stop = nullptr;  // set: the points under way are finished, no more begun
};

// Simulates these cases of the sweep. Throws Error when a file that the scenario names is no longer
// what it was when the keys were made.
void run_sweep(const Sweep& sweep, const std::vector<SweepCase>& cases,
               const SweepOptions& options);

}  // namespace windtunnel
