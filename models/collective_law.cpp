#include "models/collective_law.hpp"

#include <algorithm>
#include <cmath>

#include "models/nccl_latencies.hpp"
#include "models/nccl_tuner.hpp"

namespace windtunnel {
namespace {

using enum CollectiveAlgorithm;

// Bound by what somebody measured of the fabric: FabricSpec::measured.
double measured_share(CollectiveKind kind, const GroupShape& shape, const Cluster& cluster,
                      double share) {
  const MeasuredBus& measured = cluster.fabric.measured;
  double bus_Bps = 0;
  if (kind == CollectiveKind::all_reduce) bus_Bps = measured.all_reduce_Bps;
  if (kind == CollectiveKind::all_gather) bus_Bps = measured.all_gather_Bps;
  if (kind == CollectiveKind::reduce_scatter) bus_Bps = measured.reduce_scatter_Bps;
  if (bus_Bps == 0) return share;
  const double group_Bps = bus_Bps * cluster.nodes / shape.nodes;
  return std::min(share, group_Bps / (cluster.node.nics * cluster.node.nic_Bps.value));
}

LawTerms constant_terms(const Cluster& cluster, const Calibration& calibration) {
  const bool pcie = cluster.node.gpu_path == GpuPath::pcie;
  LawTerms terms;
  terms.launch_s = calibration.collective_launch_s.value;
  terms.node_step_s = calibration.nvlink_latency_s.value;
  terms.net_step_s = calibration.nic_latency_s.value;
  terms.node_efficiency =
      pcie ? calibration.pcie_efficiency.value : calibration.nvlink_efficiency.value;
  terms.net_efficiency = calibration.nic_efficiency.value;
  return terms;
}

bool is_tree(CollectiveAlgorithm algorithm) {
  return algorithm == tree || algorithm == nvls_tree || algorithm == pat;
}

double overlap_of(CollectiveAlgorithm algorithm, const NetworkLaw& law) {
  if (algorithm == nvls || algorithm == nvls_tree) return law.nvls_overlap.value;
  return is_tree(algorithm) ? law.tree_overlap.value : law.ring_overlap.value;
}

// Bytes that a step sends at once over one connection; LL's lines are half flags.
double message_bytes(CollectiveChoice choice, const GroupShape& shape, double bytes) {
  const double payload = is_tree(choice.algorithm) ? bytes : bytes / shape.members;
  return choice.protocol == Protocol::ll ? 2 * payload : payload;
}

// Where every member talks to every other: no algorithm of NCCL's table.
LawTerms pair_terms(CollectiveKind kind, const GroupShape& shape, const NcclLatencies& row,
                    const NetworkLaw& law) {
  LawTerms terms;
  terms.launch_s = 1e-6 * row.base_us[2] * law.launch.value;
  terms.node_step_s = 1e-6 * row.nvlink_us[2] * law.node_step.value;
  terms.node_efficiency = law.node_share.value;
  // A step across nodes exchanges with all GPUs of one.
  const bool all = kind == CollectiveKind::all_to_all;
  terms.net_step_s = all ? law.pair_step_s.value * shape.members_per_node
                         : 1e-6 * row.net_us[2] * law.net_simple_step.value;
  terms.net_efficiency = law.net_share.value * (all ? law.net_pairs : law.net_shift).value;
  terms.overlap = law.pairs_overlap.value;
  return terms;
}

LawTerms nccl_terms(CollectiveKind kind, CollectiveChoice choice, const GroupShape& shape,
                    double bytes, const Cluster& cluster, const NetworkLaw& law) {
  const NcclLatencies& ring_row = *find_nccl_latencies(ring);
  if (kind == CollectiveKind::all_to_all || kind == CollectiveKind::gather ||
      kind == CollectiveKind::send_recv) {
    return pair_terms(kind, shape, ring_row, law);
  }
  const NcclLatencies* known = find_nccl_latencies(choice.algorithm);
  const NcclLatencies& row = known == nullptr ? ring_row : *known;
  // A GPU alone in its node sends and receives at once, as a tree does.
  const bool alone = shape.members == shape.nodes && choice.algorithm == ring;
  const NcclLatencies& net_row = alone ? *find_nccl_latencies(tree) : row;
  const bool pcie = cluster.node.gpu_path == GpuPath::pcie;
  const bool in_switch = choice.algorithm == nvls || choice.algorithm == nvls_tree;
  const std::size_t p = protocol_index(choice.protocol);
  const Parameter& net_factor = p == 0   ? law.net_ll_step
                                : p == 1 ? law.net_ll128_step
                                         : law.net_simple_step;

  LawTerms terms;
  terms.launch_s = 1e-6 * row.base_us[p] * law.launch.value;
  terms.node_step_s = 1e-6 * (pcie ? row.pci_us : row.nvlink_us)[p] * law.node_step.value;
  terms.net_step_s = 1e-6 * net_row.net_us[p] * net_factor.value;
  if (is_tree(choice.algorithm)) terms.net_step_s *= law.tree_step.value;
  if (in_switch) {  // NCCL counts the switch once, whatever its steps
    terms.launch_s = 1e-6 * row.nvlink_us[p] * law.nvls_launch.value;
    terms.node_step_s = 0;
  }
  if (kind == CollectiveKind::all_gather || kind == CollectiveKind::reduce_scatter) {
    terms.node_step_s *= law.gather_step.value;
    terms.net_step_s *= law.gather_step.value;
  }
  const bool small =
      choice.algorithm == ring && p == 2 && bytes / shape.members <= law.small_bytes.value;
  if (message_bytes(choice, shape, bytes) >= law.rendezvous_bytes.value) {
    terms.net_step_s += law.rendezvous_s.value;
  }
  terms.node_efficiency =
      in_switch && kind == CollectiveKind::all_reduce ? law.nvls_share.value : law.node_share.value;
  terms.net_efficiency = law.net_share.value;
  if (p == 2 && (choice.algorithm == tree || choice.algorithm == nvls_tree)) {
    const NodeSpec& node = cluster.node;
    const double used = std::min(1.0, static_cast<double>(shape.members_per_node) / node.gpus);
    const double node_Bps = node.nics * node.nic_Bps.value * used * terms.net_efficiency;
    if (node_Bps > 0) terms.net_step_s += std::min(bytes, law.tree_chunk_bytes.value) / node_Bps;
  }
  if (small) terms.net_efficiency *= law.small_share.value;
  if (choice.algorithm == tree) terms.net_efficiency *= law.net_tree.value;
  if (p == 0) terms.node_efficiency *= law.node_ll.value;
  if (p == 1) terms.node_efficiency *= law.node_ll128.value;
  if (p == 0) terms.net_efficiency *= law.net_ll.value;
  if (p == 1) terms.net_efficiency *= law.net_ll128.value;
  terms.overlap = overlap_of(choice.algorithm, law);
  return terms;
}

}  // namespace

LawTerms law_terms(CollectiveKind kind, CollectiveChoice choice, const GroupShape& shape,
                   double bytes, const Cluster& cluster, const Calibration& calibration) {
  const NetworkLaw& law = calibration.network;
  LawTerms terms = law.stated ? nccl_terms(kind, choice, shape, bytes, cluster, law)
                              : constant_terms(cluster, calibration);
  if (law.stated) terms.slowdown = slowdown(law, shape.nodes);
  // More than the wire carries is no share.
  terms.net_efficiency = measured_share(kind, shape, cluster, std::min(1.0, terms.net_efficiency));
  terms.node_efficiency = std::min(1.0, terms.node_efficiency);
  return terms;
}

CollectiveChoice law_choice(CollectiveKind kind, CollectiveChoice wanted, const GroupShape& shape,
                            double bytes, const Cluster& cluster, const Calibration& calibration) {
  const NetworkLaw& law = calibration.network;
  if (!law.stated || (wanted.algorithm != automatic && wanted.protocol != Protocol::automatic)) {
    return wanted;
  }
  TunerSettings settings;
  settings.ll128_between = law.tuner_ll128.value >= 0.5;
  settings.net_share = law.tuner_bandwidth.value;
  settings.minor_version = static_cast<int>(law.tuner_release.value);
  return nccl_choice(make_tuner_table(kind, shape, cluster, settings), wanted, bytes);
}

double law_seconds(const LawTerms& terms, double latency_s, double transfer_s) {
  if (terms.overlap == 1) return (latency_s + transfer_s) * terms.slowdown;
  const double p = terms.overlap;
  const double larger = std::max(latency_s, transfer_s);
  if (larger <= 0) return 0;
  const double ratio = std::min(latency_s, transfer_s) / larger;
  return larger * std::pow(1 + std::pow(ratio, p), 1 / p) * terms.slowdown;
}

}  // namespace windtunnel
