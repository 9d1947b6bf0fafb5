// Which numbers that nobody stated decide what a campaign comes to: each is halved and doubled, and
// the same failures are met again.
#pragma once

#include <functional>
#include <vector>

#include "models/results/note.hpp"
#include "scenarios/language/case.hpp"
#include "sim/campaign/campaign.hpp"

namespace windtunnel {

// Of the goodput: a number that moves it less is not told.
inline constexpr double kDecides = 0.02;

// A note for each of the case's numbers that are so, the most decisive first, with the goodput at
// half of it and at twice. `is_open` says which are asked about; of the others, of keys that change
// the iterations, and of 0 none is. `inputs` and `report`: the campaign of the case.
std::vector<Note> decisive_numbers(const Case& the_case, const CampaignInputs& inputs,
                                   const CampaignReport& report,
                                   const std::function<bool(const ResolvedValue&)>& is_open,
                                   int threads);

// Of a published way to go on (`recovery: torchft`), where those who use it measured other numbers
// than its authors claim: the goodput with either.
std::vector<Note> reported_numbers(const Case& the_case, const CampaignInputs& inputs,
                                   const CampaignReport& report, int threads);

// What the field table's default filled in.
bool is_plain_default(const ResolvedValue& value);

}  // namespace windtunnel
