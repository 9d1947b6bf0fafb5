#include "models/network/collectives/collective_interval.hpp"

#include <cmath>

#include "models/base/quantile.hpp"

namespace windtunnel {
namespace {

// Returns the noise that a law from specification has inside a node over NVLink.
const Parameter& node_noise(bool small) {
  constexpr const char* kSource =
      "covers nine tenths of the measured points inside a node over NVLink, predicted from "
      "specification; see \"How sure they are\" in docs/physics/collectives.md";
  static const Parameter of_large = {0.18, 0.09, 0.36, Origin::published, kSource};
  static const Parameter of_small = {0.27, 0.135, 0.54, Origin::published, kSource};
  return small ? of_small : of_large;
}

}  // namespace

Parameter collective_noise(const InterconnectLaw& law, const NodeSpec& node, int nodes,
                           double bytes, bool fitted) {
  const bool small = bytes < kLargeCollective_bytes;
  const Parameter& of_network = small ? law.small_noise_log : law.noise_log;
  if (fitted || nodes > 1 || node.gpu_path != GpuPath::nvlink) return of_network;
  const Parameter& of_node = node_noise(small);
  return of_node.value < of_network.value ? of_node : of_network;
}

TimeFactors time_factors(const InterconnectLaw& law, int nodes, double noise) {
  const double core = kNormal95 * noise;
  const double middle = slowdown_log(law, nodes, 0.5);
  const double faster = middle - slowdown_log(law, nodes, 0.05);
  const double slower = slowdown_log(law, nodes, 0.95) - middle;
  return {std::exp(-std::hypot(core, faster)), std::exp(std::hypot(core, slower))};
}

Calibration with_network_at_end(const Calibration& calibration, bool faster) {
  Calibration moved = calibration;
  for (Parameter Calibration::*share :
       {&Calibration::nvlink_efficiency, &Calibration::nic_efficiency,
        &Calibration::pcie_efficiency}) {
    Parameter& number = moved.*share;
    number.value = faster ? number.high : number.low;
  }
  for (Parameter Calibration::*seconds :
       {&Calibration::nvlink_latency_s, &Calibration::nic_latency_s,
        &Calibration::collective_launch_s, &Calibration::p2p_launch_s}) {
    Parameter& number = moved.*seconds;
    number.value = faster ? number.low : number.high;
  }
  return moved;
}

double reported_s(int process_gpus, double seconds) {
  if (process_gpus == 1) return seconds;
  constexpr double kLaunchS = 4.3e-6;  // per GPU; SuperBench's node: 34 to 35 us for eight
  constexpr double kCorner = 3;
  const double launch_s = process_gpus * kLaunchS;
  return std::pow(std::pow(seconds, kCorner) + std::pow(launch_s, kCorner), 1 / kCorner);
}

}  // namespace windtunnel
