// Whether one training is better than another that met the same failures, or only luckier: the one
// rule of all that advises an interval (plan, run, sweep, optimise).
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "models/results/campaign_report.hpp"

namespace windtunnel {

// Of goodput: minutes a month. Less matters to nobody.
inline constexpr double kLeastGain = 5e-4;

// What `better` has more than `other`, trial by trial, over the trials that both have; zero where
// either has none.
Estimate paired_gain(const std::vector<double>& better, const std::vector<double>& other);

// Surely more than nothing, and enough to matter.
bool is_gain(const Estimate& gain, double least = kLeastGain);

// "less than 0.05 points of goodput, or no more than chance": what is no gain.
std::string no_gain_text();

// The first and the last place, around `best`, from which `best` is no gain; [place][trial].
std::pair<size_t, size_t> as_good_places(const std::vector<std::vector<double>>& trials,
                                         size_t best);

}  // namespace windtunnel
