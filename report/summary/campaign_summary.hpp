// What a campaign found, as sections of a run's summary: goodput, what each tier of the snapshots
// costs and protects, how often to save by formula and by simulation, where the wall time goes.
// Sections and rows that would say nothing are left out.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "report/summary/summary.hpp"

namespace windtunnel {

// The sections of a record that has a campaign.
std::vector<SummarySection> campaign_sections(const Record& record);

// "between 5 min and 4 h: less than 0.05 points of goodput, or no more than chance. 5 min, ...": of
// intervals of snapshots that are as good as the best (is_as_good()).
std::string as_good_text(std::string_view shortest, std::string_view longest);

// The simulated point next to this interval, which its whole iterations can differ from; null if
// there are none.
const IntervalReport::Point* point_at(const IntervalReport& report, double every_s);

}  // namespace windtunnel
