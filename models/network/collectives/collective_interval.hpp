// How far a measured collective may be from the closed form, for three reasons: measurements
// scatter (the noise of the interconnect law), the group may be unlike those that the law was
// fitted to, and a shared machine has slow nodes. `validate collectives` judges this interval and
// `expect` prints it.
#pragma once

#include "models/calibration/calibration.hpp"
#include "models/calibration/interconnect_law.hpp"
#include "models/machine/cluster.hpp"

namespace windtunnel {

// The noise of large messages (InterconnectLaw::noise_log) applies from this size on.
inline constexpr double kLargeCollective_bytes = 1e6;

// Standard deviation of log(measured / law), with its origin. `fitted`: the law was fitted on this
// machine. A law from specification has less noise for a group in one node joined by NVLink, since
// no network is involved.
Parameter collective_noise(const InterconnectLaw& law, const NodeSpec& node, int nodes,
                           double bytes, bool fitted);

// The ends of the 90 % interval of measured / law. `noise`: standard deviation of log(measured /
// law) without the effect of slow nodes.
struct TimeFactors {
  double low = 1;
  double high = 1;
};
TimeFactors time_factors(const InterconnectLaw& law, int nodes, double noise);

// The calibration with all constants of links and messages at the faster, or slower, end of their
// intervals.
Calibration with_network_at_end(const Calibration& calibration, bool faster);

// The time that nccl-tests reports for a collective of `seconds`. One process launches it on all
// its GPUs one after the other and reports at least the time that this takes. Launches overlap the
// collective, so the result is a smoothed maximum.
double reported_s(int process_gpus, double seconds);

}  // namespace windtunnel
