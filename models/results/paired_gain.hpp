// Whether one training run is really better than another with the same failures, or only by chance.
// Everything that advises an interval (plan, run, sweep, optimise) uses this rule.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "models/results/campaign_report.hpp"

namespace windtunnel {

// The smallest gain of goodput that matters: minutes a month.
inline constexpr double kLeastGain = 5e-4;
// If the confidence interval of the gain ends above this, the trials are too noisy to call two runs
// equally good.
inline constexpr double kTellingGain = 2 * kLeastGain;

// Goodput of `better` minus that of `other`, trial by trial, over the trials that both have; zero
// if there are none.
Estimate paired_gain(const std::vector<double>& better, const std::vector<double>& other);

// Whether the gain is significantly above zero, and large enough to matter.
bool is_gain(const Estimate& gain, double least = kLeastGain);

// Describes a gain that is_gain() rejects: "less than 0.05 points of goodput, or no more than
// chance".
std::string no_gain_text();

// Whether trials are precise enough to tell that there is no gain. With few failures they never
// are, and nothing is as good as the best.
bool is_as_good(const Estimate& gain);

// By how much the best may exceed one that is as good: "at most 0.1 points of goodput".
std::string as_good_loss_text();

// The first and last place of the range around `best` in which all are as good. `trials` is
// [place][trial].
std::pair<size_t, size_t> as_good_places(const std::vector<std::vector<double>>& trials,
                                         size_t best);

}  // namespace windtunnel
