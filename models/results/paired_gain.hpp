// Whether one training is better than another that met the same failures, or only luckier: the one
// rule of all that advises an interval (plan, run, sweep, optimise).
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "models/results/campaign_report.hpp"

namespace windtunnel {

// The least gain of goodput that counts: minutes a month.
inline constexpr double kLeastGain = 5e-4;
// Trials whose interval reaches further cannot tell that nothing is lost.
inline constexpr double kTellingGain = 2 * kLeastGain;

// What `better` has more than `other`, trial by trial, over the trials that both have; zero where
// either has none.
Estimate paired_gain(const std::vector<double>& better, const std::vector<double>& other);

// Surely more than nothing, and enough to matter.
bool is_gain(const Estimate& gain, double least = kLeastGain);

// "less than 0.05 points of goodput, or no more than chance": what is no gain.
std::string no_gain_text();

// No gain, and the trials can tell, which few failures do not: then nothing is as good as the best.
bool is_as_good(const Estimate& gain);

// "at most 0.1 points of goodput": what the best has more than one that is as good.
std::string as_good_loss_text();

// The first and the last place, around `best`, which are as good; [place][trial].
std::pair<size_t, size_t> as_good_places(const std::vector<std::vector<double>>& trials,
                                         size_t best);

}  // namespace windtunnel
