// How often to take snapshots: the intervals of a stack of tiers with the most goodput, or the
// least cost, in simulated campaigns. All of them have the same iterations and the same random
// numbers, so that a campaign at another interval differs by that interval alone. Those that are
// told meet other failures than those that were searched by (to_choose_by()).
//
// One tier after the other: a logarithmic grid from one iteration to the whole campaign, then the
// golden section between the best one's neighbours; again from there until nothing is gained, since
// the best interval of a tier depends on the others. Every candidate has three digits: what is
// found is what was simulated, and `run --set` says the same of it.
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
  std::vector<std::string> keys;  // "snapshots.0.every"; '*': every tier that has an interval
  Aim aim = Aim::goodput;         // or cost
  int threads = 0;                // 0: all cores; the result is the same
  std::function<void(const std::string&)> progress = {};
};

struct IntervalSearch {
  struct Tier {
    int index = 0;
    std::string key;     // "snapshots.0.every"
    std::string name;    // tier_name()
    std::string value;   // "12.3 min", "40 iterations"
    double every_s = 0;  // the same
    // Between these, beside the other tiers' best, it does not matter (as_good_range()).
    std::string shortest, longest;
    double storage_s = 0;              // storage_interval_s()
    double given_s = 0;                // the scenario's own, as every_s
    bool as_given = true;              // it stays: beside the others' best none surely brings more
    bool is_needed = true;             // a trial went back to the tier
    bool storage_allows_given = true;  // or it takes more of the bandwidth than storage_share
  };
  std::vector<Tier> tiers;
  CampaignReport given;      // with the scenario's own intervals
  CampaignReport best;       // as `run` would say of it
  Estimate gain;             // of goodput over these, trial by trial
  double storage_share = 1;  // StorageSpec::share
  int campaigns = 0;
  std::optional<IntervalReport> theory;  // at the scenario's own intervals
};

// Whether a key of --over is one for this search.
bool is_interval_key(const std::string& key);

// The tiers that the keys name, in their order. Throws Error where one takes no snapshots at
// intervals, or none does.
std::vector<int> searched_tiers(const std::vector<std::string>& keys, const Job& job);

// Throws Error as simulate() does; where the scenario has no campaign, a tier has no interval, or
// the cost is asked for without tokens and a price.
IntervalSearch search_intervals(const ScenarioText& scenario, const IntervalSearchOptions& options);

}  // namespace windtunnel
