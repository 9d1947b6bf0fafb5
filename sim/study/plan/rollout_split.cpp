#include "sim/study/plan/rollout_split.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "models/base/error.hpp"
#include "models/cost/memory/memory.hpp"
#include "policies/lowering/for_each_index.hpp"
#include "sim/study/rollout/simulate_rollout.hpp"
#include "sim/study/simulate.hpp"

namespace windtunnel {
namespace {

// Returns sizes of an engine that fill nodes: powers of two.
std::vector<int> engine_sizes(int gpus_per_node, int nodes) {
  std::vector<int> sizes;
  for (int size = 1; size <= gpus_per_node * nodes; size *= 2) {
    const bool fills =
        size <= gpus_per_node ? gpus_per_node % size == 0 : size % gpus_per_node == 0 && size <= 32;
    if (fills) sizes.push_back(size);
  }
  return sizes;
}

struct Tried {
  std::vector<RankedSplit> feasible;
  std::vector<std::string> faults;
};

class Splitter {
 public:
  Splitter(const ScenarioText& scenario, const Case& given)
      : scenario_(scenario),
        given_(given),
        engines_(*given.asked.find<RolloutSpec>()),
        nodes_(given.job.cluster.nodes) {
    if (!engines_.colocated) nodes_ += engines_.nodes;
    for (const int size : engine_sizes(given.job.cluster.node.gpus, nodes_)) learn_speed(size);
  }

  // Returns the numbers of learner nodes that are tried.
  std::vector<int> learners() const {
    std::vector<int> all;
    if (engines_.colocated) return {nodes_};
    for (int nodes = 1; nodes < nodes_; ++nodes) all.push_back(nodes);
    return all;
  }

  Tried try_all(int learner_nodes) const {
    Tried tried;
    Overrides set;
    if (!engines_.colocated) {
      set = {{"cluster.nodes", std::to_string(learner_nodes)},
             {"rollout.nodes", std::to_string(nodes_ - learner_nodes)}};
      const Layout& layout = given_.job.layout;
      const int width = layout.tp * layout.cp * layout.pp;
      const int gpus = learner_nodes * given_.job.cluster.node.gpus;
      if (gpus % width == 0) {
        set.emplace_back("layout.dp", std::to_string(gpus / width));
        set.emplace_back("batch.global", std::to_string(nearest_batch(gpus / width)));
      }
    }
    try {
      set.emplace_back("rollout.engine.tp", "1");
      const Case learner = resolve_case(scenario_, set);
      const std::string excess = gpu_memory_excess(learner.prepared->memory, learner.job);
      if (!excess.empty()) throw Error(excess);
      const LearnerPace pace = estimated_pace(learner.job, *learner.prepared);
      for (const auto& [size, speed] : speeds_) try_engine(learner, pace, size, speed, set, tried);
    } catch (const Error& error) {
      tried.faults.emplace_back(error.what());
    }
    return tried;
  }

  const std::string& too_small() const { return too_small_; }

 private:
  // Returns the sequences of an update that these replicas share evenly, nearest to the scenario's.
  int nearest_batch(int replicas) const {
    const Batch& batch = given_.job.batch;
    const double whole = static_cast<double>(replicas) * batch.micro;
    return static_cast<int>(std::max(1.0, std::round(batch.global / whole)) * whole);
  }

  // Finds an engine's speed: the same in all splits unless the learner's state stays on GPUs.
  void learn_speed(int size) {
    RolloutSpec spec = engines_;
    spec.engine.tp = size;
    try {
      const LearnerPace pace = estimated_pace(given_.job, *given_.prepared);
      speeds_.emplace(size, engine_speeds(given_.job, spec, pace));
    } catch (const Error& error) {
      too_small_ = error.what();
    }
  }

  void try_engine(const Case& learner, const LearnerPace& pace, int size,
                  const EngineSpeeds& speeds, const Overrides& set, Tried& tried) const {
    RankedSplit split;
    split.set = set;
    split.set.back().second = std::to_string(size);
    split.engine_gpus = size;
    split.learner_nodes = learner.job.cluster.nodes;
    RolloutSpec spec = *learner.asked.find<RolloutSpec>();
    spec.engine.tp = size;
    split.engine_nodes = spec.colocated ? split.learner_nodes : spec.nodes;
    try {
      split.estimate = simulate_rollout(learner.job, spec, pace, speeds);
      tried.feasible.push_back(std::move(split));
    } catch (const Error& error) {
      tried.faults.emplace_back(error.what());
    }
  }

  const ScenarioText& scenario_;
  const Case& given_;
  const RolloutSpec& engines_;
  int nodes_;                           // of learner and engines together
  std::map<int, EngineSpeeds> speeds_;  // [GPUs of an engine]
  std::string too_small_;
};

bool is_better(const RankedSplit& a, const RankedSplit& b) {
  return a.best_known().samples_per_s > b.best_known().samples_per_s;
}

void simulate_split(const ScenarioText& scenario, const SplitOptions& options, RankedSplit& split) {
  try {
    split.record = simulate(resolve_case(scenario, split.set), {.threads = options.threads});
    split.record->plan = {};
    split.record->timeline.ranks.clear();
    split.record->critical_path.clear();
  } catch (const Error& error) {
    split.failure = error.what();
  }
}

void simulate_best(const ScenarioText& scenario, const SplitOptions& options,
                   std::vector<RankedSplit>& best) {
  const int count = std::min(options.simulated, static_cast<int>(best.size()));
  for (int i = 0; i < count; ++i) {
    if (options.progress) options.progress(fmt::format("simulating {} of {}", i + 1, count));
    simulate_split(scenario, options, best[i]);
  }
  std::ranges::stable_sort(best, [](const RankedSplit& a, const RankedSplit& b) {
    const auto group = [](const RankedSplit& at) {
      return at.record ? 0 : at.failure.empty() ? 1 : 2;
    };
    return group(a) != group(b) ? group(a) < group(b) : is_better(a, b);
  });
}

}  // namespace

SplitSearch search_splits(const ScenarioText& scenario, const SplitOptions& options) {
  const Case given = resolve_case(scenario);
  if (!given.asked.has<RolloutSpec>()) {
    throw Error(Location{scenario.file},
                "has no engines: add 'rollout: {...}', as in scenarios/reinforcement.yaml");
  }
  const Splitter splitter(scenario, given);
  const std::vector<int> learners = splitter.learners();
  if (options.progress) options.progress(fmt::format("{} splits", learners.size()));
  std::vector<Tried> tried(learners.size());
  for_each_index(learners.size(), options.threads,
                 [&](std::size_t i) { tried[i] = splitter.try_all(learners[i]); });
  SplitSearch search;
  search.example = splitter.too_small();
  for (Tried& each : tried) {
    for (const std::string& fault : each.faults) {
      ++search.infeasible;
      search.example = fault;
    }
    for (RankedSplit& split : each.feasible) {
      ++search.estimated;
      const int apart = split.learner_nodes - split.engine_nodes;
      const bool even = apart == 0 || apart == 1;
      if (even && (!search.even || is_better(split, *search.even))) search.even = split;
      search.best.push_back(std::move(split));
    }
  }
  if (search.best.empty()) {
    throw Error(fmt::format("no split of the nodes is feasible; for example: {}", search.example),
                ExitCode::failed);
  }
  std::ranges::stable_sort(search.best, is_better);
  if (std::ssize(search.best) > options.top) search.best.resize(options.top);
  simulate_best(scenario, options, search.best);
  if (search.even && options.simulated > 0) {
    simulate_split(scenario, options, *search.even);
    // The even split comes first if its simulation is better, because then the estimates of it were
    // wrong.
    const bool first = search.even->record && is_better(*search.even, search.best.front());
    if (first) search.best.insert(search.best.begin(), *search.even);
  }
  return search;
}

}  // namespace windtunnel
