#include "policies/analysis/schedule_sensitivity.hpp"

#include <algorithm>
#include <array>
#include <boost/math/distributions/normal.hpp>
#include <cmath>
#include <cstddef>
#include <numeric>

#include "models/base/error.hpp"
#include "models/base/random.hpp"

namespace windtunnel {
namespace {

// Equally likely values of a log-normal distribution of mean 1. The table replaces the inverse CDF,
// because the inner loop of all replays draws once per action.
constexpr std::size_t kQuantiles = 1024;
std::array<double, kQuantiles> jitter_factors(double sigma) {
  const boost::math::normal normal;
  std::array<double, kQuantiles> factors;
  for (std::size_t i = 0; i < kQuantiles; ++i) {
    factors[i] = std::exp(sigma * quantile(normal, (static_cast<double>(i) + 0.5) / kQuantiles));
  }
  const double mean = std::accumulate(factors.begin(), factors.end(), 0.0) / kQuantiles;
  for (double& factor : factors) factor /= mean;
  return factors;
}

struct Baseline {
  const ScheduleGraph& graph;
  const StepClock& clock;
  const std::vector<double>& duration_s;
  double step_s = 0;
};

JitterEffect jitter_effect(const Baseline& base, const SensitivityOptions& options) {
  const std::array<double, kQuantiles> factors = jitter_factors(options.jitter);
  std::vector<double> duration_s = base.duration_s;
  std::vector<double> growth_s;
  GraphTimes times;
  for (int draw = 0; draw < options.draws; ++draw) {
    RandomStream random(options.seed, RandomPurpose::jitter, draw);
    for (std::size_t n = 0; n < duration_s.size(); ++n) {
      if (base.graph.nodes[n].is_message()) continue;
      duration_s[n] = base.duration_s[n] * factors[random.below(kQuantiles)];
    }
    play(base.graph, duration_s, times);
    growth_s.push_back(base.clock.step_s(times) - base.step_s);
  }
  if (growth_s.empty()) return {};
  const double mean_s =
      std::accumulate(growth_s.begin(), growth_s.end(), 0.0) / static_cast<double>(growth_s.size());
  // The smallest value that at least 95 % of the draws do not exceed.
  const auto at =
      growth_s.begin() + static_cast<std::ptrdiff_t>((growth_s.size() * 95 + 99) / 100) - 1;
  std::nth_element(growth_s.begin(), at, growth_s.end());
  return {mean_s, *at};
}

SlowRankEffect slow_rank_effect(const Baseline& base, int ranks, double slowness) {
  SlowRankEffect effect;
  std::vector<double> duration_s = base.duration_s;
  GraphTimes times;
  for (int rank = 0; rank < ranks; ++rank) {
    for (std::size_t n = 0; n < duration_s.size(); ++n) {
      const ScheduleGraph::Node& node = base.graph.nodes[n];
      const bool slow = node.rank == rank && !node.is_message();
      duration_s[n] = base.duration_s[n] * (slow ? 1 + slowness : 1);
    }
    play(base.graph, duration_s, times);
    effect.growth_s.push_back(base.clock.step_s(times) - base.step_s);
    if (effect.growth_s[rank] > effect.growth_s[effect.worst]) effect.worst = rank;
  }
  return effect;
}

struct Times {
  std::vector<StageCost> costs;
  MessageTimes messages;
};

struct TimesPart {
  std::string_view name;
  void (*scale)(Times& times, double factor);
};

const std::vector<TimesPart>& times_parts() {
  static const std::vector<TimesPart> parts = {
      {"forward",
       [](Times& times, double factor) {
         for (StageCost& cost : times.costs) {
           cost.forward_s *= factor;
           cost.forward_hideable_s *= factor;
         }
       }},
      {"backward_input",
       [](Times& times, double factor) {
         for (StageCost& cost : times.costs) {
           cost.backward_input_s *= factor;
           cost.backward_hideable_s *= factor;
         }
       }},
      {"backward_weight",
       [](Times& times, double factor) {
         for (StageCost& cost : times.costs) cost.backward_weight_s *= factor;
       }},
      {"recompute",
       [](Times& times, double factor) {
         for (StageCost& cost : times.costs) cost.recompute_s *= factor;
       }},
      {"message",
       [](Times& times, double factor) {
         for (double& message_s : times.messages.forward_s) message_s *= factor;
         for (double& message_s : times.messages.backward_s) message_s *= factor;
       }},
  };
  return parts;
}

std::vector<WhatIf> what_ifs(const Baseline& base, const Schedule& schedule, const Times& times) {
  std::vector<WhatIf> effects;
  GraphTimes played;
  for (const TimesPart& part : times_parts()) {
    const auto changed_s = [&](double factor, bool& has_part) {
      Times scaled = times;
      part.scale(scaled, factor);
      const std::vector<double> duration_s =
          node_durations(base.graph, schedule, scaled.costs, scaled.messages);
      has_part = duration_s != base.duration_s;
      play(base.graph, duration_s, played);
      return base.clock.step_s(played) - base.step_s;
    };
    bool has_part = false;
    WhatIf effect{.part = part.name};
    effect.without_s = changed_s(0, has_part);
    if (!has_part) continue;
    effect.doubled_s = changed_s(2, has_part);
    effects.push_back(effect);
  }
  return effects;
}

std::optional<double> step_under(Sends sends, const Schedule& schedule,
                                 const std::vector<StageCost>& costs, Messages messages,
                                 const OptimizerSync& sync) {
  messages.sends = sends;
  try {
    const ScheduleGraph graph = schedule_graph(schedule, costs, messages);
    GraphTimes times;
    play(graph, node_durations(graph, schedule, costs, messages.times), times);
    return StepClock(schedule, graph, sync).step_s(times);
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace

std::string_view to_string(Sends sends) {
  switch (sends) {
    case Sends::asynchronous:
      return "asynchronous";
    case Sends::blocking:
      return "blocking";
    case Sends::synchronous:
      return "synchronous";
  }
  return "unknown";
}

ScheduleSensitivity schedule_sensitivity(const Schedule& schedule,
                                         const std::vector<StageCost>& costs,
                                         const Messages& messages, const OptimizerSync& sync,
                                         const SensitivityOptions& options) {
  const ScheduleGraph graph = schedule_graph(schedule, costs, messages);
  const std::vector<double> duration_s = node_durations(graph, schedule, costs, messages.times);
  GraphTimes times;
  play(graph, duration_s, times);
  const StepClock clock(schedule, graph, sync);
  const Baseline base{graph, clock, duration_s, clock.step_s(times)};

  ScheduleSensitivity result;
  result.jitter = jitter_effect(base, options);
  result.slow_rank = slow_rank_effect(base, schedule.ranks, options.slowness);
  result.what_ifs = what_ifs(base, schedule, {costs, messages.times});
  for (const Sends sends : {Sends::asynchronous, Sends::blocking, Sends::synchronous}) {
    result.sends.push_back({sends, step_under(sends, schedule, costs, messages, sync)});
  }
  result.step_with_norm_s =
      StepClock(schedule, graph, {.post_validation = false, .norm_s = sync.norm_s}).step_s(times);
  result.step_post_validated_s =
      StepClock(schedule, graph, {.post_validation = true}).step_s(times);
  return result;
}

}  // namespace windtunnel
