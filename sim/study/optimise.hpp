// Finds the best configuration of a job that fits: enumerates layouts, schedules, micro-batches and
// recomputation, judges them in closed form (policies/lowering/iteration_estimate.hpp), and
// simulates the best.
// The search is exact except for the closed form. It skips a configuration only if the time or cost
// of its kernels alone, or the memory of its training state with one micro-batch, already exceeds
// the last place of the ranking. It also skips a single schedule of a configuration if the time of
// its passes, or of passes and collectives without what only a Plan expresses, exceeds that place.
// If memory is varied, it skips only if a point of the frontier is as small and as fast. (Slices
// skip the masked part of unfused attention; the bounds do not foresee this saving.)
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "models/results/record.hpp"
#include "scenarios/language/case.hpp"
#include "sim/study/configurations.hpp"
#include "sim/study/studies.hpp"

namespace windtunnel {

enum class Aim { iteration, memory, goodput, cost };

// Throws Error if the aim needs a campaign (goodput, cost) that the scenario lacks, or if cost
// lacks tokens and a price.
void check_aim(const Job& job, Aim aim);

struct OptimiseOptions {
  bool layout = false;    // all axes, sharding, sequence parallelism
  bool schedule = false;  // all named schedules that are synchronous
  bool micro_batch = false;
  bool recompute = false;
  bool recompute_modules = false;  // also lists of modules, not only named sets
  bool offload = false;            // searches offloads; then only single schedules are skipped
  Allowed allowed = {};            // of schedules and shardings
  double headroom = 0;             // share of each GPU's memory that must stay free
  // If campaigns decide: keys such as "snapshots.0.every", whose intervals are searched for each
  // place of the ranking (interval_search.hpp).
  std::vector<std::string> intervals = {};
  Aim aim = Aim::iteration;
  int top = 10;       // number of places of the ranking
  int simulated = 3;  // how many places are simulated; all if campaigns decide
  StudyDepth depth = StudyDepth::intervals;  // of the records of simulated configurations
  int threads = 0;                           // 0: all cores; the result does not depend on it
  std::function<void(const std::string&)> progress = {};
};

struct RankedConfiguration {
  Overrides set = {};  // overrides that give this configuration
  double estimated_s = 0;
  double estimated_usd = 0;  // for all tokens, without failures; 0: the scenario has no cost
  double memory_bytes = 0;   // of the fullest GPU
  std::optional<Record> record = {};  // if it was simulated
  // If campaigns decide: its own, with other failures than the record's (to_choose_by()).
  std::optional<CampaignReport> chosen_by = {};
  std::string failure = {};  // why the simulation failed
};

struct Optimisation {
  std::vector<RankedConfiguration> best;  // best first
  // If memory is varied (recompute, offload): the Pareto-optimal configurations, by memory. Each is
  // faster than the one before it.
  std::vector<RankedConfiguration> frontier;
  std::int64_t estimated = 0;
  std::int64_t passed_over = 0;  // skipped, because they cannot be among the best
  // Infeasible configurations by reason, with one example for each.
  struct Reason {
    std::int64_t count = 0;
    std::string example;  // of those that do not fit in memory, the one that exceeds it least
    double bytes = 0;     // memory that the example's fullest GPU needs
  };
  std::map<std::string, Reason> infeasible;
};

// `points`: further overrides, each of which is tried with everything; at least one, which may be
// empty. If layouts are searched, the scenario's own layout may be impossible. Throws Error as
// load_case does, if nothing is feasible (exit code 1), or if a needed campaign is missing.
Optimisation optimise(const ScenarioText& scenario, const std::vector<Overrides>& points,
                      const OptimiseOptions& options);

}  // namespace windtunnel
