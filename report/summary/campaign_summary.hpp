// The results of a campaign as sections of a run's summary: goodput, cost and protection of each
// snapshot tier, how often to save by formula and by simulation, the parts of the wall time. Empty
// sections and rows are omitted.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "report/summary/summary.hpp"

namespace windtunnel {

// The sections of a record that has a campaign.
std::vector<SummarySection> campaign_sections(const Record& record);

// "between 5 min and 4 h: less than 0.05 points of goodput, or no more than chance. 5 min, ...":
// describes snapshot intervals that are as good as the best (is_as_good()).
std::string as_good_text(std::string_view shortest, std::string_view longest);

// The simulated point nearest to this interval, which may differ because points are whole
// iterations; null if there are none.
const IntervalReport::Point* point_at(const IntervalReport& report, double every_s);

}  // namespace windtunnel
