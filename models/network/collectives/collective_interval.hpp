// How far a measured collective may lie from the closed form: what points of such networks scatter
// by (noise of the interconnect law), how far a group lies beyond what its law was fitted on, and
// slow nodes of a shared machine. The rule that `validate collectives` judges and `expect` states.
#pragma once

#include "models/calibration/calibration.hpp"
#include "models/calibration/interconnect_law.hpp"
#include "models/machine/cluster.hpp"

namespace windtunnel {

// From so many bytes on the noise is that of large messages (InterconnectLaw::noise_log).
inline constexpr double kLargeCollective_bytes = 1e6;

// Standard deviation of log(measured / law), with its origin. `fitted`: the law was fitted on the
// machine. From specification a group inside of one node is surer than the network's noise says
// where NVLink joins its GPUs, as no network has a part in it.
Parameter collective_noise(const InterconnectLaw& law, const NodeSpec& node, int nodes,
                           double bytes, bool fitted);

// The ends of the 90 % interval of measured / law. `noise`: one standard deviation of its
// logarithm, beside that of slow nodes.
struct TimeFactors {
  double low = 1;
  double high = 1;
};
TimeFactors time_factors(const InterconnectLaw& law, int nodes, double noise);

// With what the calibration says of links and messages at the end of its interval at which they are
// faster, or slower.
Calibration with_network_at_end(const Calibration& calibration, bool faster);

// Seconds that nccl-tests reports of a collective that takes `seconds`: no less than a process
// needs to launch it on all its GPUs, one after the other. Both go on at once, so the longer of the
// two, rounded at the corner.
double reported_s(int process_gpus, double seconds);

}  // namespace windtunnel
