// Searches the snapshot intervals of a stack of tiers with the most goodput, or the least cost, by
// simulated campaigns. All campaigns have the same iterations and random numbers, so they differ
// only by the intervals. Reported campaigns have other failures than those used in the search
// (to_choose_by()).
// The search takes one tier after the other: a logarithmic grid from one iteration to the whole
// campaign, then golden-section search between the neighbours of the best point. It repeats this
// from the result until nothing improves, because the best interval of a tier depends on the
// others. Every candidate is rounded to three digits, so that the reported interval is exactly one
// that was simulated, and `run --set` gives the same result.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "models/results/campaign_report.hpp"
#include "scenarios/language/case.hpp"
#include "sim/study/optimise.hpp"

namespace windtunnel {

struct IntervalSearchOptions {
  std::vector<std::string> keys;  // "snapshots.0.every"; '*': every tier with an interval
  Aim aim = Aim::goodput;         // goodput or cost
  int threads = 0;                // 0: all cores; the result does not depend on it
  std::function<void(const std::string&)> progress = {};
};

struct IntervalSearch {
  struct Tier {
    int index = 0;
    std::string key;     // "snapshots.0.every"
    std::string name;    // tier_name()
    std::string value;   // "12.3 min", "40 iterations"
    double every_s = 0;  // `value` in seconds
    // If the other tiers have their best intervals, all intervals between these two are as good
    // (as_good_range()).
    std::string shortest, longest;
    double storage_s = 0;   // storage_interval_s()
    double given_s = 0;     // every_s in the scenario
    bool as_given = true;   // kept: with the others at their best, no other is surely better
    bool is_needed = true;  // a trial was restored from the tier
    bool storage_allows_given = true;  // false: the given one exceeds storage_share
  };
  std::vector<Tier> tiers;
  CampaignReport given;      // with the scenario's own intervals
  CampaignReport best;       // as `run` would report it
  Estimate gain;             // of goodput, trial by trial
  double storage_share = 1;  // StorageSpec::share
  int campaigns = 0;
  std::optional<IntervalReport> theory;  // at the scenario's own intervals
};

// Returns whether this search handles a key of --over.
bool is_interval_key(const std::string& key);

// Returns the tiers that the keys name, in order. Throws Error if one of them does not save at
// intervals, or if there is none.
std::vector<int> searched_tiers(const std::vector<std::string>& keys, const Job& job);

// Throws Error as simulate() does; also if the scenario has no campaign, if a tier has no interval,
// or if cost is requested without tokens and a price.
IntervalSearch search_intervals(const ScenarioText& scenario, const IntervalSearchOptions& options);

}  // namespace windtunnel
