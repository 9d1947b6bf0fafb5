#include "models/results/paired_gain.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace windtunnel {

Estimate paired_gain(const std::vector<double>& better, const std::vector<double>& other) {
  std::vector<double> gain(std::min(better.size(), other.size()));
  if (gain.empty()) return {};
  for (size_t i = 0; i < gain.size(); ++i) gain[i] = better[i] - other[i];
  return estimate(std::move(gain), 1, -1);
}

bool is_gain(const Estimate& gain, double least) {
  return gain.low > 0 && gain.mean >= least;
}

std::string no_gain_text() {
  return fmt::format("less than {:g} points of goodput, or no more than chance can explain",
                     100 * kLeastGain);
}

bool is_as_good(const Estimate& gain) {
  return !is_gain(gain) && gain.high <= kTellingGain;
}

std::string as_good_loss_text() {
  return fmt::format("at most {:g} points of goodput below the best", 100 * kTellingGain);
}

std::pair<size_t, size_t> as_good_places(const std::vector<std::vector<double>>& trials,
                                         size_t best) {
  const auto as_good = [&](size_t place) {
    return is_as_good(paired_gain(trials[best], trials[place]));
  };
  size_t first = best, last = best;
  while (first > 0 && as_good(first - 1)) --first;
  while (last + 1 < trials.size() && as_good(last + 1)) ++last;
  return {first, last};
}

}  // namespace windtunnel
