// Which single numbers decide an answer. Defaults that nobody stated are tried at half and at
// double their value: of a campaign with the same failures, of a step by its closed form. The
// assumed constants of the calibration are named by how far they move the step.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "models/results/note.hpp"
#include "scenarios/language/case.hpp"
#include "sim/campaign/campaign.hpp"

namespace windtunnel {

// Share of the goodput or the step time: a number that moves it by less is not told.
inline constexpr double kDecides = 0.02;

// A note for each of the case's numbers that are so, recorded repairs among them, the most decisive
// first, with the goodput at half of it and at twice. `is_open` says which are asked about; of the
// others, of keys that change the iterations, and of 0 none is. `inputs` and `report`: the campaign
// of the case.
std::vector<Note> decisive_numbers(const Case& the_case, const CampaignInputs& inputs,
                                   const CampaignReport& report,
                                   const std::function<bool(const ResolvedValue&)>& is_open,
                                   int threads);

// For a published way to go on (`recovery: torchft`) whose users measured other numbers than its
// authors claim: the goodput with either.
std::vector<Note> reported_numbers(const Case& the_case, const CampaignInputs& inputs,
                                   const CampaignReport& report, int threads);

// A note for each default of software and communication that moves the step time by more than
// kDecides, with the step at half of it and at twice.
std::vector<Note> decisive_step_numbers(const Case& the_case, const PreparedIteration& prepared,
                                        int threads);

// The assumed constants of the calibration on which the step time hangs most, at most three, those
// first that move it most: "memory.efficiency 0.75 (10 % less: +1.2 %)". Empty where none moves it
// by a thousandth.
std::string assumed_constants(const Job& job, const PreparedIteration& prepared);

// What the field table's default filled in.
bool is_plain_default(const ResolvedValue& value);

}  // namespace windtunnel
