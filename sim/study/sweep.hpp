// A grid of cases with campaigns: iterations are simulated once per distinct table (Case::table),
// then all campaigns run event by event on all cores, with the same random numbers at every point.
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
// Returns the combination at `index`, below the total number.
Overrides values_at(const std::vector<VariedKey>& keys, size_t index);

struct Sweep {
  ScenarioText scenario;  // at every point
  std::vector<VariedKey> vary;
  bool operator==(const Sweep&) const = default;
};
size_t grid_size(const Sweep& sweep);  // how many points it has

// Number of cases, and of prepared iterations, kept in memory: a prepared iteration takes up to 200
// KB.
constexpr size_t kMostKept = 250;

// Kept below 64 bytes, because a sweep of a million points holds as many of these. A case's values
// follow from its index: values_at().
struct SweepCase {
  int index = 0;                                 // in the grid
  std::uint64_t key = 0;                         // key_number() of Case::key; 0: see `fault`
  std::uint64_t table = 0;                       // key_number() of Case::table
  std::shared_ptr<const Error> fault = nullptr;  // why it cannot be simulated; null: it can
  // The case itself for the first kMostKept points, to avoid reading it again.
  std::shared_ptr<const Case> read = nullptr;

  std::string reason() const { return fault != nullptr ? fault->what() : ""; }
  bool operator==(const SweepCase& other) const {
    return index == other.index && key == other.key && table == other.table &&
           reason() == other.reason();
  }
};

// Every point of the grid with its keys, or with an error that already makes it impossible. Throws
// Error if no point is left (a key is misspelt or has no values, the scenario has no campaign) and
// if the grid has more points than an index can count.
std::vector<SweepCase> sweep_cases(const Sweep& sweep, int threads = 0);

// Part `shard` of `shards`: points with the same table stay together as far as parts remain equal;
// otherwise points are dealt evenly over the grid, whose corners differ in cost.
std::vector<SweepCase> shard_of(const std::vector<SweepCase>& cases, int shard, int shards);

struct SweepPoint {
  int index = 0;
  std::string scenario{};  // its name
  std::string key{};
  std::string reason{};          // not empty: infeasible, and why
  std::optional<Error> fault{};  // the same, if found by this process
  Job job{};
  IterationReport iteration{};
  std::optional<CampaignReport> campaign{};  // includes the goodput of each trial
  ValuesByType studies{};                    // as Record::studies
};

struct SweepOptions {
  int threads = 0;  // 0: all cores; the same results for any number
  // Called once per point, one call at a time, in any order.
  std::function<void(const SweepPoint&)> finished = {};
  std::function<void(const std::string&)> progress = {};
  // set: running points are finished, no new ones are started
  const std::atomic<bool>* stop = nullptr;
};

// Simulates these cases of the sweep. Throws Error if a file that the scenario names has changed
// since the keys were made.
void run_sweep(const Sweep& sweep, const std::vector<SweepCase>& cases,
               const SweepOptions& options);

}  // namespace windtunnel
