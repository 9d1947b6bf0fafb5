#include "sim/study/possible_layout.hpp"

#include <fmt/format.h>

#include <string>

#include "models/base/error.hpp"
#include "models/workload/axes.hpp"
#include "scenarios/language/case.hpp"

namespace windtunnel {

std::optional<Overrides> possible_layout(const ScenarioText& scenario, const Overrides& point) {
  constexpr int kMostStages = 128;
  struct Tensor {
    int tp;
    const char* sequence_parallel;
  };
  for (int pp = 1; pp <= kMostStages; ++pp) {
    for (const auto& [tp, sequence_parallel] :
         {Tensor{1, "false"}, Tensor{2, "false"}, Tensor{2, "true"}, Tensor{4, "false"},
          Tensor{4, "true"}, Tensor{8, "false"}, Tensor{8, "true"}}) {
      try {
        Overrides set = point;
        set.emplace_back("layout", fmt::format("{{tp: {}, pp: {}, sequence_parallel: {}}}", tp, pp,
                                               sequence_parallel));
        const int dp = resolve_unprepared(scenario, set).job.layout.dp;
        // Keeps everything else that the scenario says about its layout.
        set = point;
        const Layout tried{.tp = tp, .pp = pp, .dp = dp};
        for (const Axis& axis : kAxes) {
          set.emplace_back(axis.key, std::to_string(tried.*axis.size));
        }
        set.emplace_back("layout.sequence_parallel", sequence_parallel);
        resolve_unprepared(scenario, set);
        return set;
      } catch (const Error&) {
        continue;
      }
    }
  }
  return std::nullopt;
}

}  // namespace windtunnel
