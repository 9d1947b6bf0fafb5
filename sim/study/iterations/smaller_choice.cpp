#include "sim/study/iterations/smaller_choice.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

namespace windtunnel {
namespace {

// Returns the share of the time in which `out` nodes are out.
double share_of_time(const SmallerSetting& setting, std::size_t out) {
  if (setting.mean_out <= 0) return out == 0 ? 1 : 0;
  const auto n = static_cast<double>(out);
  return std::exp(n * std::log(setting.mean_out) - setting.mean_out - std::lgamma(n + 1));
}

double pace(const SmallerSetting& setting, const SmallerChoice& each) {
  return each.step.rate() * setting.iteration_s;
}

// Returns the loss per second by changes between `out` nodes out and one more.
double lost_between(const SmallerSetting& setting, std::size_t out, const SmallerChoice& from,
                    const SmallerChoice& to) {
  if (from.relaid && to.relaid && from.step.layout == to.step.layout) return 0;
  const bool converts = from.relaid || to.relaid;
  const double each_s = converts ? setting.convert_s : setting.reshape_s;
  return share_of_time(setting, out) * setting.failures_per_s * each_s *
         (pace(setting, from) + pace(setting, to));
}

SmallerChoice whole(const SmallerSetting& setting) {
  return {{.iteration_s = setting.iteration_s}, false};
}

// Returns as [nodes out - 1] the jobs that can still run, the fastest first.
std::vector<std::vector<SmallerChoice>> candidates(const SmallerSetting& setting,
                                                   const std::vector<SmallerStep>& own,
                                                   const std::vector<SmallerStep>& others) {
  std::vector<std::vector<SmallerChoice>> levels;
  for (int out = 1; out < setting.nodes; ++out) {
    std::vector<SmallerChoice> level;
    if (out <= std::ssize(own)) level.push_back({own[out - 1], false});
    for (const SmallerStep& other : others) {
      if (other.layout.nodes <= setting.nodes - out) level.push_back({other, true});
    }
    if (level.empty()) break;
    std::ranges::stable_sort(level, std::ranges::greater(),
                             [](const SmallerChoice& each) { return each.step.rate(); });
    levels.push_back(std::move(level));
  }
  return levels;
}

}  // namespace

std::vector<SmallerChoice> best_smaller(const SmallerSetting& setting,
                                        const std::vector<SmallerStep>& own,
                                        const std::vector<SmallerStep>& others) {
  const auto levels = candidates(setting, own, others);
  struct Next {
    std::size_t at = 0;
    double trained = -std::numeric_limits<double>::infinity();
  };
  // `trained` has the best progress while more than `out` nodes are out, for each candidate with
  // out + 1. best_next() is the best candidate after `from`, with the loss by conversions.
  std::vector<double> trained;  // [candidate for one node more]
  const auto best_next = [&](std::size_t out, const SmallerChoice& from) {
    Next best;
    for (std::size_t i = 0; i < trained.size(); ++i) {
      const double value = trained[i] - lost_between(setting, out, from, levels[out][i]);
      if (value > best.trained) best = {i, value};
    }
    return best;
  };
  std::vector<std::vector<std::size_t>> next(levels.size());
  for (std::size_t out = levels.size(); out > 0; --out) {
    std::vector<double> here;
    for (const SmallerChoice& each : levels[out - 1]) {
      here.push_back(share_of_time(setting, out) * pace(setting, each));
      if (out == levels.size()) continue;
      const Next after = best_next(out, each);
      next[out - 1].push_back(after.at);
      here.back() += after.trained;
    }
    trained = std::move(here);
  }
  std::vector<SmallerChoice> chosen;
  std::size_t at = best_next(0, whole(setting)).at;
  for (std::size_t level = 0; level < levels.size(); ++level) {
    chosen.push_back(levels[level][at]);
    if (level + 1 < levels.size()) at = next[level][at];
  }
  return chosen;
}

std::vector<std::vector<SmallerChoice>> smaller_policies(const SmallerSetting& setting,
                                                         const std::vector<SmallerStep>& own,
                                                         const std::vector<SmallerStep>& others) {
  std::vector<std::vector<SmallerChoice>> all = {best_smaller(setting, own, others)};
  std::vector<SmallerChoice>& fewer = all.emplace_back();
  for (const SmallerStep& step : own) fewer.push_back({step, false});
  for (const SmallerStep& other : others) {
    all.emplace_back(setting.nodes - other.layout.nodes, SmallerChoice{other, true});
  }
  all.emplace_back();
  return all;
}

double trained_while_smaller(const SmallerSetting& setting,
                             const std::vector<SmallerChoice>& choice) {
  double trained = 0;
  SmallerChoice before = whole(setting);
  for (std::size_t level = 0; level < choice.size(); ++level) {
    trained += share_of_time(setting, level + 1) * pace(setting, choice[level]) -
               lost_between(setting, level, before, choice[level]);
    before = choice[level];
  }
  return trained;
}

}  // namespace windtunnel
