// What a campaign found, as sections of a run's summary: goodput, what each tier of the snapshots
// costs and protects, how often to save by formula and by simulation, where the wall time goes.
// Sections and rows that would say nothing are left out.
#pragma once

#include <string>
#include <vector>

#include "report/figures/summary.hpp"

namespace windtunnel {

std::vector<SummarySection> campaign_sections(const CampaignReport& report);

// "99.99973 %": near certainty two digits of what is missing to it.
std::string survival_text(double probability);

// Percentage points of a share, two digits: differences are small.
std::string points_text(double share);

// The simulated point next to this interval, which its whole iterations can differ from; null if
// there are none.
const IntervalReport::Point* point_at(const IntervalReport& report, double every_s);

}  // namespace windtunnel
