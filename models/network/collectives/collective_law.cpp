#include "models/network/collectives/collective_law.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "models/network/groups/collective_steps.hpp"
#include "models/network/nccl/nccl_latencies.hpp"

namespace windtunnel {
namespace {

using enum CollectiveAlgorithm;

// Returns the parameter's value, and lowers `origin` to the parameter's if that is weaker.
double used(Origin& origin, const Parameter& parameter) {
  origin = weakest(origin, parameter.origin);
  return parameter.value;
}

// Lowers net_efficiency to what measurements of the fabric allow: FabricSpec::measured.
void bound_by_measured(CollectiveKind kind, const GroupShape& shape, const Cluster& cluster,
                       LawTerms& terms) {
  const MeasuredBus& measured = cluster.fabric.measured;
  double bus_Bps = 0;
  if (kind == CollectiveKind::all_reduce) bus_Bps = measured.all_reduce_Bps;
  if (kind == CollectiveKind::all_gather) bus_Bps = measured.all_gather_Bps;
  if (kind == CollectiveKind::reduce_scatter) bus_Bps = measured.reduce_scatter_Bps;
  if (bus_Bps == 0) return;
  const double group_Bps = bus_Bps * cluster.nodes / shape.nodes;
  const NodeSpec& node = cluster.node_of_pool(shape.pool);
  const double share = group_Bps / (node.nics * node.nic_Bps.value);
  if (share >= terms.net_efficiency) return;
  terms.net_efficiency = share;
  terms.net_origin = weakest(terms.net_origin, measured.origin);
}

LawTerms constant_terms(const Cluster& cluster, const Calibration& calibration) {
  LawTerms terms;
  terms.launch_s = used(terms.origin, calibration.collective_launch_s);
  terms.node_step_s = used(terms.node_origin, calibration.nvlink_latency_s);
  terms.net_step_s = used(terms.net_origin, calibration.nic_latency_s);
  terms.node_efficiency = used(terms.node_origin, inner_efficiency(calibration, cluster.node));
  terms.net_efficiency = used(terms.net_origin, calibration.nic_efficiency);
  return terms;
}

bool is_tree(CollectiveAlgorithm algorithm) {
  return algorithm == tree || algorithm == nvls_tree || algorithm == pat;
}

const Parameter& overlap_of(CollectiveAlgorithm algorithm, const InterconnectLaw& law) {
  if (algorithm == nvls || algorithm == nvls_tree) return law.nvls_overlap;
  return is_tree(algorithm) ? law.tree_overlap : law.ring_overlap;
}

// Bytes that a step sends at once over one connection. Half of each line of LL is flags, so LL
// sends twice as many.
double message_bytes(CollectiveChoice choice, const GroupShape& shape, double bytes) {
  const double payload = is_tree(choice.algorithm) ? bytes : bytes / shape.members;
  return choice.protocol == Protocol::ll ? 2 * payload : payload;
}

double node_step_s(const NcclLatencies& row, std::size_t p, const Cluster& cluster,
                   const InterconnectLaw& law, LawTerms& terms) {
  const bool pcie = cluster.node.gpu_path == GpuPath::pcie;
  return 1e-6 * (pcie ? row.pci_us : row.nvlink_us)[p] * used(terms.node_origin, law.node_step);
}

// Constants of collectives in which every member talks to every other, which NCCL's table does not
// contain.
LawTerms pair_terms(CollectiveKind kind, const GroupShape& shape, const NcclLatencies& row,
                    const Cluster& cluster, const InterconnectLaw& law) {
  LawTerms terms;
  terms.launch_s = 1e-6 * row.base_us[2] * used(terms.origin, law.launch);
  terms.node_step_s = node_step_s(row, 2, cluster, law, terms);
  terms.node_efficiency = used(terms.node_origin, law.node_share);
  // A step across nodes exchanges data with all GPUs of one node.
  const bool all = kind == CollectiveKind::all_to_all;
  terms.net_step_s = all ? used(terms.net_origin, law.pair_step_s) * shape.members_per_node
                         : 1e-6 * row.net_us[2] * used(terms.net_origin, law.net_simple_step);
  terms.net_efficiency = used(terms.net_origin, law.net_share) *
                         used(terms.net_origin, all ? law.net_pairs : law.net_shift);
  terms.overlap = used(terms.origin, law.pairs_overlap);
  return terms;
}

// Terms of all-to-alls whose kernels write to all members at once, without NCCL.
LawTerms one_sided_terms(const GroupShape& shape, const InterconnectLaw& law) {
  LawTerms terms;
  terms.launch_s = used(terms.origin, law.one_sided_launch_s);
  terms.node_efficiency = used(terms.node_origin, law.one_sided_node);
  if (shape.nodes == 1) return terms;
  terms.net_step_s = used(terms.net_origin, law.one_sided_step_s);
  terms.net_efficiency = used(terms.net_origin, law.one_sided_net);
  return terms;
}

// NCCL counts S on a port for any group size, but a port carries S (1 + 1/g). The law's share was
// fitted for eight GPUs.
double of_nvls_size(int members_per_node) {
  return (1 + 1. / members_per_node) / (1 + 1. / 8);
}

// The share of the rate that is left because NVLS's first round overlaps nothing.
double nvls_rate_share(const GroupShape& shape, double bytes, const InterconnectLaw& law,
                       LawTerms& terms) {
  if (law.nvls_round_bytes.value <= 0 || bytes <= 0) return 1;
  const double round = used(terms.node_origin, law.nvls_round_bytes) * shape.members_per_node;
  return bytes / (bytes + std::min(bytes, round));
}

void add_node_terms(CollectiveKind kind, CollectiveChoice choice, const GroupShape& shape,
                    double bytes, const NcclLatencies& row, const Cluster& cluster,
                    const InterconnectLaw& law, LawTerms& terms) {
  const std::size_t p = protocol_index(choice.protocol);
  const auto of = [&](const Parameter& parameter) { return used(terms.node_origin, parameter); };
  if (choice.algorithm == nvls || choice.algorithm == nvls_tree) {
    // NCCL counts the switch's latency once, whatever the number of steps.
    terms.launch_s = 1e-6 * row.nvlink_us[p] * used(terms.origin, law.nvls_launch);
    terms.node_efficiency = kind == CollectiveKind::all_reduce
                                ? of(law.nvls_share) * of_nvls_size(shape.members_per_node) *
                                      nvls_rate_share(shape, bytes, law, terms)
                                : of(law.node_share);
  } else {
    terms.launch_s = 1e-6 * row.base_us[p] * used(terms.origin, law.launch);
    terms.node_step_s = node_step_s(row, p, cluster, law, terms);
    terms.node_efficiency = of(law.node_share);
  }
  if (p == 0) terms.node_efficiency *= of(law.node_ll);
  if (p == 1) terms.node_efficiency *= of(law.node_ll128);
}

void add_net_terms(CollectiveChoice choice, const GroupShape& shape, double bytes,
                   const NcclLatencies& row, const InterconnectLaw& law, LawTerms& terms) {
  const std::size_t p = protocol_index(choice.protocol);
  const auto of = [&](const Parameter& parameter) { return used(terms.net_origin, parameter); };
  const Parameter& step = p == 0   ? law.net_ll_step
                          : p == 1 ? law.net_ll128_step
                                   : law.net_simple_step;
  // The only GPU of a node sends and receives at once, so its latency is that of a tree.
  const bool alone = shape.members == shape.nodes && choice.algorithm == ring;
  terms.net_step_s = 1e-6 * (alone ? *find_nccl_latencies(tree) : row).net_us[p] * of(step);
  if (is_tree(choice.algorithm)) terms.net_step_s *= of(law.tree_step);
  if (choice.algorithm == ring && shape.members > shape.nodes && shape.nodes > 1) {
    // A part crosses all edges of the ring but one. The part that arrives last skips an edge inside
    // a node, so it crosses all edges between nodes, one more than the steps count.
    terms.net_step_s *= shape.nodes / (shape.nodes - 1.);
  }
  terms.net_efficiency = of(law.net_share);
  if (p == 0) terms.net_efficiency *= of(law.net_ll);
  if (p == 1) terms.net_efficiency *= of(law.net_ll128);
  if (choice.algorithm == tree) terms.net_efficiency *= of(law.net_tree);
  const double part = bytes / shape.members;
  if (choice.algorithm == ring && p == 2 && part < 2 * law.small_bytes.value) {
    // A rank's part is cut into messages of different sizes, some of which are small as long as the
    // part is below twice the limit.
    const double above = std::max(0.0, std::log2(part / law.small_bytes.value));
    terms.net_efficiency *= std::pow(of(law.small_share), 1 - above);
  }
}

// Adds the wait of a tree's step: a chunk must arrive before it is forwarded. Per channel, NCCL's
// chunks are 32 KiB in LL, a sixteenth of those in Simple, and in LL128 up to four times that. NCCL
// halves LL128's chunks until there are enough of them (NCCL 2.28 src/enqueue.cc), so a chunk has
// between 1/2 and all of the size that gives exactly enough.
void add_line_chunks(CollectiveChoice choice, const GroupShape& shape, double bytes, double chunk,
                     double nics_Bps, const NodeSpec& node, LawTerms& terms) {
  const double doublings = std::ceil(std::log2(shape.nodes));
  const double members = shape.members_per_node;
  const double enough = 16 * (1 + doublings + 0.1 * members) / members;
  const double least = chunk / 16;
  const double most = choice.protocol == Protocol::ll128 ? chunk / 4 : least;
  const double cut = std::clamp(bytes / (enough * std::sqrt(2)), least, most);
  const double passed_on = std::min(bytes, cut);
  const bool pcie = node.gpu_path == GpuPath::pcie;
  const double port_Bps =
      (pcie ? node.pcie_both_ways_Bps() : node.nvlink_Bps.value) * terms.node_efficiency;
  if (port_Bps > 0) terms.node_step_s += passed_on / port_Bps;
  // The transfer already includes one of the steps across nodes.
  const double steps = 2 * doublings;
  const double net_Bps = nics_Bps * terms.net_efficiency;
  if (steps > 0 && net_Bps > 0) terms.net_step_s += (steps - 1) / steps * passed_on / net_Bps;
}

// Adds the time by which steps take longer than NCCL's latency.
void add_waits(CollectiveChoice choice, const GroupShape& shape, double bytes,
               const Cluster& cluster, const InterconnectLaw& law, LawTerms& terms) {
  if (message_bytes(choice, shape, bytes) >= law.rendezvous_bytes.value) {
    terms.net_step_s += used(terms.net_origin, law.rendezvous_s);
  }
  if (choice.algorithm != tree && choice.algorithm != nvls_tree) return;
  const NodeSpec& node = cluster.node_of_pool(shape.pool);
  const double share = std::min(1.0, static_cast<double>(shape.members_per_node) / node.gpus);
  const double nics_Bps = node.nics * node.nic_Bps.value * share;
  // A group on a share of each node's GPUs has the same share of the channels, with a chunk each.
  const double chunk = share * used(terms.net_origin, law.tree_chunk_bytes);
  if (choice.protocol != Protocol::simple) {
    add_line_chunks(choice, shape, bytes, chunk, nics_Bps, node, terms);
  } else if (nics_Bps > 0) {
    terms.net_step_s += std::min(bytes, chunk) / (nics_Bps * law.net_share.value);
  }
}

LawTerms nccl_terms(CollectiveKind kind, CollectiveChoice choice, const GroupShape& shape,
                    double bytes, const Cluster& cluster, const InterconnectLaw& law) {
  if (choice.algorithm == one_sided) return one_sided_terms(shape, law);
  const NcclLatencies& ring_row = *find_nccl_latencies(ring);
  if (kind == CollectiveKind::all_to_all || kind == CollectiveKind::gather ||
      kind == CollectiveKind::send_recv) {
    return pair_terms(kind, shape, ring_row, cluster, law);
  }
  const NcclLatencies* known = find_nccl_latencies(choice.algorithm);
  const NcclLatencies& row = known == nullptr ? ring_row : *known;
  if (row.net_us[protocol_index(choice.protocol)] == 0) choice.protocol = Protocol::simple;
  LawTerms terms;
  add_node_terms(kind, choice, shape, bytes, row, cluster, law, terms);
  add_net_terms(choice, shape, bytes, row, law, terms);
  if (kind == CollectiveKind::all_gather || kind == CollectiveKind::reduce_scatter) {
    const double factor = used(terms.origin, law.gather_step);
    terms.node_step_s *= factor;
    terms.net_step_s *= factor;
  }
  add_waits(choice, shape, bytes, cluster, law, terms);
  terms.overlap = used(terms.origin, overlap_of(choice.algorithm, law));
  return terms;
}

// The name in kernel_kinds() under which this algorithm is measured; empty: there is none.
// library_name() names the library's automatic choice, which stands for the kind's default.
std::string_view measured_name(CollectiveKind kind, CollectiveAlgorithm algorithm) {
  if (kind == CollectiveKind::all_to_all && algorithm == pairwise) return "all-to-all-pairwise";
  if (kind == CollectiveKind::all_reduce && algorithm == tree) return "all-reduce-tree";
  if (algorithm != ring) return {};
  if (kind == CollectiveKind::all_reduce) return "all-reduce-ring";
  if (kind == CollectiveKind::reduce_scatter) return "reduce-scatter-ring";
  return kind == CollectiveKind::all_gather ? "all-gather-ring" : std::string_view();
}

std::string_view library_name(CollectiveKind kind, CollectiveAlgorithm algorithm) {
  if (algorithm != usual_algorithm(kind)) return {};
  constexpr std::array kKinds = {CollectiveKind::all_reduce, CollectiveKind::reduce_scatter,
                                 CollectiveKind::all_gather, CollectiveKind::all_to_all,
                                 CollectiveKind::broadcast};
  return std::ranges::find(kKinds, kind) != kKinds.end() ? to_string(kind) : std::string_view();
}

// Divides the curve's time into latency and transfer. Bytes, however few, take some time.
MessageTerms split(const TimeCurve& curve, double bytes) {
  constexpr double kLeastShare = 1e-6;
  const double seconds = curve.at(bytes);
  if (bytes <= 0) return {seconds, 0};
  const double transfer_s = std::max(seconds - curve.seconds.front(), kLeastShare * seconds);
  return {seconds - transfer_s, transfer_s};
}

}  // namespace

const KernelLaw* CollectiveLaw::measured(CollectiveAlgorithm algorithm) const {
  const KernelLaws& laws = calibration_->kernel_laws;
  if (laws.laws.empty() || shape_.nodes != 1) return nullptr;
  for (const std::string_view name :
       {measured_name(kind_, algorithm), library_name(kind_, algorithm)}) {
    if (name.empty()) continue;
    const KernelLaw* law = find_law(laws, fmt::format("{} ranks={}", name, shape_.members));
    if (law != nullptr) return law;
  }
  return nullptr;
}

bool CollectiveLaw::is_measured(CollectiveAlgorithm algorithm) const {
  return measured(algorithm) != nullptr;
}

const Parameter& inner_efficiency(const Calibration& calibration, const NodeSpec& node) {
  return node.gpu_path == GpuPath::pcie ? calibration.pcie_efficiency
                                        : calibration.nvlink_efficiency;
}

std::optional<MessageTerms> measured_message(const Calibration& calibration, double bytes) {
  const KernelLaw* law = find_law(calibration.kernel_laws, "send");
  if (law == nullptr) return {};
  return split(law->curve, bytes);
}

TunerSettings tuner_settings(const InterconnectLaw& law) {
  TunerSettings settings;
  settings.ll128_between = law.tuner_ll128.value >= 0.5;
  settings.net_share = law.tuner_bandwidth.value;
  settings.minor_version = static_cast<int>(law.tuner_release.value);
  return settings;
}

CollectiveLaw::CollectiveLaw(CollectiveKind kind, CollectiveChoice wanted, const GroupShape& shape,
                             const Cluster& cluster, const Calibration& calibration)
    : kind_(kind), wanted_(wanted), shape_(shape), cluster_(&cluster), calibration_(&calibration) {
  const InterconnectLaw& law = interconnect_law(calibration, shape.nodes);
  if (!law.stated) return;
  if (shape.nodes > 1) slowdown_ = slowdown(law, shape.nodes);
  if (wanted.algorithm != automatic && wanted.protocol != Protocol::automatic) return;
  tuner_ = make_tuner_table(kind, shape, cluster, tuner_settings(law));
}

LawTerms CollectiveLaw::terms(CollectiveChoice running, double bytes) const {
  if (const KernelLaw* law = measured(running.algorithm)) {
    const MessageTerms whole = split(law->curve, bytes);
    LawTerms terms;
    terms.launch_s = whole.latency_s;
    terms.measured_s = whole.latency_s + whole.transfer_s;
    return terms;
  }
  const InterconnectLaw& law = interconnect_law(*calibration_, shape_.nodes);
  LawTerms terms = law.stated ? nccl_terms(kind_, running, shape_, bytes, *cluster_, law)
                              : constant_terms(*cluster_, *calibration_);
  if (law.stated && shape_.nodes > 1) {
    terms.slowdown = slowdown_;
    used(terms.net_origin, law.slow_share);
    used(terms.net_origin, law.slow_log);
  }
  // Shares above 1 would be more than the wire carries.
  terms.net_efficiency = std::min(1.0, terms.net_efficiency);
  terms.node_efficiency = std::min(1.0, terms.node_efficiency);
  terms.wire_efficiency = terms.net_efficiency;
  bound_by_measured(kind_, shape_, *cluster_, terms);
  return terms;
}

CollectiveChoice CollectiveLaw::choice(double bytes) const {
  if (!tuner_) return wanted_;
  const CollectiveChoice picked = nccl_choice(*tuner_, wanted_, bytes);
  // An algorithm requested by name runs even if NCCL would not detect that the machine supports it.
  const bool passed_over = wanted_.algorithm != automatic &&
                           picked.algorithm != wanted_.algorithm &&
                           why_not(kind_, wanted_.algorithm, shape_, *cluster_) == nullptr;
  return passed_over ? CollectiveChoice(wanted_.algorithm, Protocol::simple) : picked;
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
