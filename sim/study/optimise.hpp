// The best configuration of a job that fits: layouts, schedules, micro-batches and recomputation
// are enumerated, judged in closed form (policies/lowering/iteration_estimate.hpp), and the best of
// them simulated.
//
// Exact but for the closed form: a configuration is passed over only when what its kernels alone
// take, or cost, or its training state with one micro-batch occupies, is more than the last place
// of the ranking has; under one schedule also when its passes alone take more, and none of the
// frontier is missed. (Slices skip the masked part of unfused attention; that saving is not
// foreseen.)
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "models/results/record.hpp"
#include "scenarios/language/case.hpp"
#include "sim/study/configurations.hpp"

namespace windtunnel {

enum class Aim { iteration, memory, goodput, cost };

// Throws Error when the scenario has no campaign for goodput or cost to come from, or no tokens and
// price for the cost.
void check_aim(const Job& job, Aim aim);

struct OptimiseOptions {
  bool layout = false;    // all axes, sharding, sequence parallelism
  bool schedule = false;  // every synchronous one that has a name
  bool micro_batch = false;
  bool recompute = false;
  bool recompute_modules = false;  // lists of modules too, not only sets with a name
  bool offload = false;  // what lies beside the GPU; then nothing is passed over as too slow
  Allowed allowed = {};  // of schedules and shardings
  double headroom = 0;   // share of each GPU's memory that stays free
  // "snapshots.0.every": intervals that are searched for each place of the ranking
  // (interval_search.hpp), where a campaign decides.
  std::vector<std::string> intervals = {};
  Aim aim = Aim::iteration;
  int top = 10;       // places of the ranking
  int simulated = 3;  // of which so many are simulated; all of them where a campaign decides
  int threads = 0;    // 0: all cores; the result is the same
  std::function<void(const std::string&)> progress = {};
};

struct RankedConfiguration {
  Overrides set = {};  // what makes the scenario this configuration
  double estimated_s = 0;
  double estimated_usd = 0;  // of all tokens, if nothing fails; 0: the scenario has no cost
  double memory_bytes = 0;   // of the fullest GPU
  std::optional<Record> record = {};  // if it was simulated
  // Where a campaign decides: under other failures than the record's (to_choose_by()).
  std::optional<CampaignReport> chosen_by = {};
  std::string failure = {};  // why the simulation was not possible
};

struct Optimisation {
  std::vector<RankedConfiguration> best;  // best first
  // Where memory is what is varied (recompute, offload): of the configurations that fit those that
  // no other one beats in both, by memory. Each is faster than the one before it.
  std::vector<RankedConfiguration> frontier;
  std::int64_t estimated = 0;
  std::int64_t passed_over = 0;  // cannot be among the best
  // Infeasible ones by what is wrong, with an example each.
  struct Reason {
    std::int64_t count = 0;
    std::string example;  // of configurations that do not fit in memory the one that comes nearest
    double bytes = 0;     // that its fullest GPU would hold
  };
  std::map<std::string, Reason> infeasible;
};

// `points`: further overrides, of which each is tried with everything; at least one, which may be
// empty. Where layouts are searched, the scenario's own may be impossible. Throws Error as
// load_case does, when nothing is feasible (exit code 1), or when a campaign must decide and the
// scenario has none.
Optimisation optimise(const ScenarioText& scenario, const std::vector<Overrides>& points,
                      const OptimiseOptions& options);

}  // namespace windtunnel
