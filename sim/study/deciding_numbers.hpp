// Which single numbers decide an answer: defaults that nobody stated, tried at half and at double
// their value, and the assumed constants of the calibration that move the step time most.
#pragma once

#include <string>
#include <vector>

#include "models/results/campaign_report.hpp"
#include "models/results/note.hpp"
#include "scenarios/language/case.hpp"
#include "sim/campaign/campaign.hpp"

namespace windtunnel {

// A default decides where half or double its value moves the answer by more than this share.
inline constexpr double kDecidingShare = 0.02;

// A note for each default of failures, recovery, snapshots and storage that decides the goodput.
// `inputs` and `report`: of the case's campaign. A few trials are played again with the same random
// numbers; a change that these trials do not tell from none is not reported.
std::vector<Note> deciding_campaign_defaults(const Case& the_case, const CampaignInputs& inputs,
                                             const CampaignReport& report, int threads);

// The same of the step time, by its closed form: defaults of software and communication.
std::vector<Note> deciding_step_defaults(const Case& the_case, const PreparedIteration& prepared,
                                         int threads);

// The assumed constants of the calibration on which the step time hangs most, at most three, those
// first that move it most: "memory.efficiency 0.75 (10 % less: +1.2 %)". Empty where none moves it
// by a thousandth.
std::string assumed_constants(const Job& job, const PreparedIteration& prepared);

}  // namespace windtunnel
