// How far a measured collective may be from the closed form: scatter of measurements (the noise of
// the interconnect law), distance of a group from those in the law's fit, and slow nodes of a
// shared machine. `validate collectives` judges this interval and `expect` prints it.
#pragma once

#include "models/calibration/calibration.hpp"
#include "models/calibration/interconnect_law.hpp"
#include "models/machine/cluster.hpp"

namespace windtunnel {

// From this size on the noise of large messages applies (InterconnectLaw::noise_log).
inline constexpr double kLargeCollective_bytes = 1e6;

// Standard deviation of log(measured / law), with its origin. `fitted`: the law was fitted on this
// machine. A law from specification has less noise for a group in one node joined by NVLink, since
// no network is involved.
Parameter collective_noise(const InterconnectLaw& law, const NodeSpec& node, int nodes,
                           double bytes, bool fitted);

// The ends of the 90 % interval of measured / law. `noise`: standard deviation of its logarithm,
// apart from slow nodes.
struct TimeFactors {
  double low = 1;
  double high = 1;
};
TimeFactors time_factors(const InterconnectLaw& law, int nodes, double noise);

// The calibration with all constants of links and messages at the faster, or slower, end of their
// intervals.
Calibration with_network_at_end(const Calibration& calibration, bool faster);

// The time that nccl-tests reports for a collective of `seconds`. It is at least the time that a
// process needs to launch it on all its GPUs one after the other. Both overlap, so this is a
// smoothed maximum.
double reported_s(int process_gpus, double seconds);

}  // namespace windtunnel
