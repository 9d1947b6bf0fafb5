// Finds the single numbers that decide an answer. Defaults are tried at half and twice their value:
// in campaigns with the same failures, in steps by the closed form. Assumed constants of the
// calibration are listed by how much they change the step.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "models/results/note.hpp"
#include "scenarios/language/case.hpp"
#include "sim/campaign/campaign.hpp"

namespace windtunnel {

// As a share of goodput or step time. Smaller effects are not reported.
inline constexpr double kDecides = 0.02;

// Returns a note for each decisive number of the case, including recorded repairs, most decisive
// first, with the goodput at half and at twice the number. Tries only keys for which `is_open`
// holds, and neither keys that change iterations nor values of 0. `inputs` and `report`: the case's
// campaign.
std::vector<Note> decisive_numbers(const Case& the_case, const CampaignInputs& inputs,
                                   const CampaignReport& report,
                                   const std::function<bool(const ResolvedValue&)>& is_open,
                                   int threads);

// Returns notes on a published recovery scheme (`recovery: torchft`) whose users measured other
// numbers than its authors claim: the goodput with both.
std::vector<Note> reported_numbers(const Case& the_case, const CampaignInputs& inputs,
                                   const CampaignReport& report, int threads);

// Returns a note for each default of software and communication that changes the step time by more
// than kDecides, with the step at half and at twice the number.
std::vector<Note> decisive_step_numbers(const Case& the_case, const PreparedIteration& prepared,
                                        int threads);

// Returns the assumed constants of the calibration that affect the step time most, at most three:
// "memory.efficiency 0.75 (10 % less: +1.2 %)". Empty if none changes it by a thousandth.
std::string assumed_constants(const Job& job, const PreparedIteration& prepared);

// Whether the value is the default in the table of fields.
bool is_plain_default(const ResolvedValue& value);

}  // namespace windtunnel
