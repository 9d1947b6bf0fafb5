// What a campaign found, as sections of a run's summary: goodput, what each tier of the snapshots
// costs and protects, how often to save by formula and by simulation, where the wall time goes.
// Sections and rows that would say nothing are left out.
#pragma once

#include <string>
#include <vector>

#include "report/summary/summary.hpp"

namespace windtunnel {

// Of a record that has a campaign.
std::vector<SummarySection> campaign_sections(const Record& record);

// The simulated point next to this interval, which its whole iterations can differ from; null if
// there are none.
const IntervalReport::Point* point_at(const IntervalReport& report, double every_s);

}  // namespace windtunnel
