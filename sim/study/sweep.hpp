// A grid of cases with campaigns. Iterations are simulated once per distinct table (Case::table).
// Then all campaigns run event by event on all cores, with the same random numbers at every point.
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

// Returns all combinations. The last key changes fastest.
std::vector<Overrides> cross_product(const std::vector<VariedKey>& keys);
// Returns the combination with this index, which must be below the total number.
Overrides values_at(const std::vector<VariedKey>& keys, size_t index);

struct Sweep {
  ScenarioText scenario;  // the same at every point
  std::vector<VariedKey> vary;
  bool operator==(const Sweep&) const = default;
};
size_t grid_size(const Sweep& sweep);  // number of points

// Number of cases, and of prepared iterations, that are kept in memory. A prepared iteration takes
// up to 200 KB.
constexpr size_t kMostKept = 250;

// The size must stay below 64 bytes, because a sweep of a million points holds a million of these.
// values_at() gives a case's values from its index.
struct SweepCase {
  int index = 0;                                 // of the point in the grid
  std::uint64_t key = 0;                         // key_number() of Case::key; 0 if there is a fault
  std::uint64_t table = 0;                       // key_number() of Case::table
  std::shared_ptr<const Error> fault = nullptr;  // why it cannot be simulated; null: it can
  // The case itself, so that it is not read again. Only the first kMostKept points have it.
  std::shared_ptr<const Case> read = nullptr;

  std::string reason() const { return fault != nullptr ? fault->what() : ""; }
  bool operator==(const SweepCase& other) const {
    return index == other.index && key == other.key && table == other.table &&
           reason() == other.reason();
  }
};

// Returns every point of the grid with its keys, or with an error that already makes it impossible.
// Throws Error if no point is possible (a key is misspelt or has no values, the scenario has no
// campaign), or if the grid has more points than an index can count.
std::vector<SweepCase> sweep_cases(const Sweep& sweep, int threads = 0);

// Returns part `shard` of `shards`. Points with the same table stay together as far as parts remain
// equal. Otherwise points are dealt evenly over the grid, because its corners differ in cost.
std::vector<SweepCase> shard_of(const std::vector<SweepCase>& cases, int shard, int shards);

struct SweepPoint {
  int index = 0;
  std::string scenario{};  // name of the scenario
  std::string key{};
  std::string reason{};          // why the point is infeasible; empty: it is feasible
  std::optional<Error> fault{};  // the same, if this process has found it
  Job job{};
  IterationReport iteration{};
  std::optional<CampaignReport> campaign{};  // with the goodput of each trial
  ValuesByType studies{};                    // like Record::studies
};

struct SweepOptions {
  int threads = 0;  // 0: all cores; results do not depend on it
  // Called once per point, one call at a time, in any order.
  std::function<void(const SweepPoint&)> finished = {};
  std::function<void(const std::string&)> progress = {};
  // if true, points that run are finished, and no new ones start
  const std::atomic<bool>* stop = nullptr;
};

// Simulates these cases of the sweep. Throws Error if a file that the scenario names has changed
// since the keys were made.
void run_sweep(const Sweep& sweep, const std::vector<SweepCase>& cases,
               const SweepOptions& options);

}  // namespace windtunnel
