// Hashes of every member of what the executors read and give back: equal values have equal hashes,
// a change of the last bit of any member gives another one.
#pragma once

#include <string>
#include <vector>

#include "models/plan/plan.hpp"
#include "models/plan/timeline.hpp"
#include "sim/campaign/campaign.hpp"

namespace windtunnel {

std::string hash_of(const Plan& plan);
std::string hash_of(const Timeline& timeline);
std::string hash_of(const std::vector<CampaignEvent>& events);

}  // namespace windtunnel
