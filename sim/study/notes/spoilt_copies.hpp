// Loss spikes that reach further back than the copies that are kept: all of them are spoilt, and
// the job begins again from nothing, unless more are kept or they are taken less often.
#pragma once

#include <vector>

#include "models/plan/job.hpp"
#include "models/results/campaign_report.hpp"
#include "models/results/note.hpp"

namespace windtunnel {

// A note for each class of such failures; `tiers`: tier_reports() of the job.
std::vector<Note> spoilt_copies(const Job& job, const std::vector<TierReport>& tiers);

}  // namespace windtunnel
