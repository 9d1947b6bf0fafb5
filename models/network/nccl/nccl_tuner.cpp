#include "models/network/nccl/nccl_tuner.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>

#include "models/base/units.hpp"
#include "models/network/nccl/nccl_channels.hpp"
#include "models/network/nccl/nccl_latencies.hpp"

namespace windtunnel {
namespace {

using enum CollectiveAlgorithm;

constexpr double kP2pLlBytes = 16384;  // per peer

using ByNodes = std::array<double, 3>;        // one node, two, more
using ByGeneration = std::array<ByNodes, 4>;  // GB/s

// Differences of older NCCL 2 releases: latencies in microseconds of trees in Simple and of NVLS,
// and the share of a ring's bandwidth that LL gets.
struct Release {
  int since;  // x of NCCL 2.x
  double tree_base;
  double tree_nvlink;
  double tree_pci;
  double tree_net;
  double nvls_node;
  double nvls_tree_net;
  double ll_share;
};

constexpr std::array<Release, 4> kReleases = {{
    {28, 8.4, 4, 4, 14, 25, 20.9, .5},
    {23, 8.4, 4, 4, 14, 25, 14, .5},
    {19, 0, 28, 28, 28, 23, 14, .25},
    {0, 0, 4, 6, 14, 23, 19, .25},
}};

const Release& release_of(int minor) {
  return *std::ranges::find_if(kReleases,
                               [&](const Release& r) { return r.since <= std::max(minor, 0); });
}

// These limit the bandwidth of a set of channels. Between nodes the host's CPU decides the row:
// AMD's takes the second, others the first.
constexpr ByGeneration kLlMax = {{{39, 39, 20.4}, {87.7, 22.5, 19}, {141, 45, 35}, {282, 90, 70}}};
// These limit the bandwidth of one channel.
constexpr ByGeneration kRingLl128Max = {
    {{20, 20, 20}, {20, 20, 20}, {36.7, 36.7, 36.7}, {73.4, 34.6, 73.4}}};
constexpr ByGeneration kTreeLl128Max = {
    {{20, 20, 20}, {20, 20, 20}, {36.7, 36.7, 29}, {55.6, 31.67, 20}}};
constexpr ByGeneration kTreeMax = {
    {{26.5, 18.5, 10}, {24, 23.6, 17.8}, {38.7, 41.4, 36}, {70, 42.8, 24}}};
constexpr ByGeneration kNvlsTreeMax = {
    {{26.5, 18.5, 10}, {24, 23.6, 17.8}, {0, 57.7, 45.5}, {0, 96, 43.8}}};
constexpr std::array<double, 4> kNvlsEfficiency = {0, 0, .85, .74};

// NCCL scales a tree's bandwidth by these factors, which depend on log2(bytes / 64).
constexpr std::array<std::array<float, 24>, 3> kTreeCorrection = {{
    {1, 1, 1, 1, .9, .8, .7, .7, .7, .7, .6, .5, .4, .4, .5, .6, .7, .8, .9, 1, 1, 1, 1, 1},
    {1, 1, 1, 1, 1, .9, .8, .8, .8, .7, .6, .6, .6, .6, .6, .6, .8, .9, .9, .9, .9, 1, 1, 1},
    {.9, .9, .9, .9, .9, .9, .9, .8, .7, .6, .6, .5,
     .5, .5, .5, .6, .7, .8, .7, .7, .8, .9, .9, .9},
}};

// All numbers that the model of a pair of algorithm and protocol needs.
struct Tuner {
  Tuner(CollectiveKind kind, const GroupShape& shape, const TunerSettings& settings,
        const Silicon& silicon)
      : kind(kind),
        shape(shape),
        settings(settings),
        silicon(silicon),
        release(release_of(settings.minor_version)),
        trees(latencies(tree)) {}

  CollectiveKind kind;
  const GroupShape& shape;
  const TunerSettings& settings;
  const Silicon& silicon;
  const Release& release;
  NcclLatencies trees;
  NodeLinks links;
  Channels ring_found;
  Channels tree_found;
  Channels nvls_found;
  std::size_t scale = 0;  // column of ByNodes
  double per_node = 1;    // members of a node, on average
  double steps = 1;       // of a ring
  HostCpu cpu = HostCpu::intel;
  bool plain_trees = false;  // whether a tree's parent and children are on one GPU
  double ll_max = 0;

  bool reduces_all() const { return kind == CollectiveKind::all_reduce; }
  bool halves() const {  // one half of an all-reduce
    return kind == CollectiveKind::all_gather || kind == CollectiveKind::reduce_scatter;
  }
  bool between() const { return shape.nodes > 1; }
  bool collnet() const { return between() && settings.collnet; }
  bool heads_for_all() const { return links.nics >= shape.members_per_node; }
  NcclLatencies latencies(CollectiveAlgorithm algorithm) const;
  // Bandwidths are in GB/s.
  double bus_bandwidth(CollectiveAlgorithm algorithm, Protocol protocol) const;
  double ring_bandwidth(Protocol protocol) const;
  double tree_bandwidth(Protocol protocol) const;
  double cap(const Channels& found, const ByGeneration& caps) const;
  double nvls_bandwidth(CollectiveAlgorithm algorithm) const;
  double collnet_bandwidth(CollectiveAlgorithm algorithm) const;
  double latency_us(const NcclLatencies& row, Protocol protocol) const;
  double ring_latency_us(const NcclLatencies& row, std::size_t p, double net_us) const;
  double bus_share(CollectiveAlgorithm algorithm) const;
  int corrected_below(CollectiveAlgorithm algorithm) const;
  void write(TunerEntry& entry, const NcclLatencies& row, Protocol protocol) const;
};

NcclLatencies Tuner::latencies(CollectiveAlgorithm algorithm) const {
  NcclLatencies row = *find_nccl_latencies(algorithm);
  if (algorithm == tree) {
    row.base_us[2] = release.tree_base;
    row.nvlink_us[2] = release.tree_nvlink;
    row.pci_us[2] = release.tree_pci;
    row.net_us[2] = release.tree_net;
  }
  if (algorithm == nvls || algorithm == nvls_tree) row.nvlink_us[2] = release.nvls_node;
  if (algorithm == nvls_tree) row.net_us[2] = release.nvls_tree_net;
  return row;
}

double Tuner::nvls_bandwidth(CollectiveAlgorithm algorithm) const {
  const int count = nvls_found.count;
  if (release.since < 28) {
    const bool halved = algorithm == nvls_tree && shape.nodes > 2;
    const double outside = between() ? nvls_found.between / (halved ? 2 : 1) : kInfinity;
    if (reduces_all()) return count * std::min(nvls_found.inside, outside);
    return count * std::min(nvls_found.inside * (per_node - 1) / per_node, .9 * outside);
  }
  double inside = nvls_found.inside * kNvlsEfficiency.at(silicon.generation) * (count - 1) / count;
  // The two halves of an all-reduce run at once.
  inside *= reduces_all() ? 2 : (per_node - 1) / per_node;
  if (algorithm == nvls) return count * std::min(inside, between() ? nvls_found.between : inside);
  const double outside = nvls_found.between * (shape.nodes <= 2 ? 2 : 1);
  const auto row = static_cast<std::size_t>(silicon.generation);
  return count * std::min({inside, outside, kNvlsTreeMax.at(row).at(scale)});
}

double Tuner::collnet_bandwidth(CollectiveAlgorithm algorithm) const {
  if (algorithm == collnet_chain) return tree_found.count * tree_found.inside;
  const int heads = links.nics;
  if (!reduces_all()) return per_node * std::min(links.nvlink, .9 * links.nic);
  const double shared = per_node / heads;
  return heads * links.nic / ((shared + 1) / 2) * (silicon.generation >= kHopper ? .85 : 1);
}

double Tuner::cap(const Channels& found, const ByGeneration& caps) const {
  return found.count * caps.at(silicon.generation).at(scale);
}

double Tuner::ring_bandwidth(Protocol protocol) const {
  const double bus = ring_found.count * (shape.nodes <= 2 ? ring_found.inside : ring_found.between);
  if (protocol == Protocol::ll) return std::min(ll_max, release.ll_share * bus);
  if (protocol == Protocol::simple) return bus;
  const bool alone = per_node < 2 && release.since < 23;
  return std::min((alone ? .7 : .92) * bus, cap(ring_found, kRingLl128Max));
}

double Tuner::tree_bandwidth(Protocol protocol) const {
  const double bus = tree_found.count * (shape.nodes <= 2 ? tree_found.inside : tree_found.between);
  double value = std::min(.92 * bus, cap(tree_found, kTreeMax));
  if (protocol == Protocol::ll) value = std::min(value / 3.8, ll_max);
  if (protocol == Protocol::ll128) {
    value = std::min(value * (between() ? 120. / 128 : 7. / 9), cap(tree_found, kTreeLl128Max));
  }
  return plain_trees ? .85 * value : value;
}

// Bus bandwidth, which is what a link of the busiest kind carries.
double Tuner::bus_bandwidth(CollectiveAlgorithm algorithm, Protocol protocol) const {
  switch (algorithm) {
    case nvls:
    case nvls_tree:
      return nvls_bandwidth(algorithm);
    case collnet_direct:
    case collnet_chain:
      return collnet_bandwidth(algorithm);
    case pat:
      return .75 * (tree_found.count * (shape.nodes <= 2 ? tree_found.inside : tree_found.between));
    case ring:
      return ring_bandwidth(protocol);
    default:
      return tree_bandwidth(protocol);
  }
}

double Tuner::ring_latency_us(const NcclLatencies& row, std::size_t p, double net_us) const {
  const ByProtocol& inside = links.pci_only ? row.pci_us : row.nvlink_us;
  if (kind == CollectiveKind::broadcast || kind == CollectiveKind::reduce) {
    // These are pipelines. If channels inside nodes and between nodes differ, NCCL counts a step
    // for every member, and in Simple the latency of trees.
    const bool same_channels = !between() || links.nics == 1;
    if (same_channels) return row.base_us.at(p) + (between() ? row.net_us : inside).at(p);
    return row.base_us.at(p) + shape.members * (p == 2 ? trees : row).net_us.at(p);
  }
  double node_us = inside.at(p);
  double net_steps = 0;
  if (between()) {
    const double post_us = (cpu == HostCpu::amd ? 2 : 1) * (p == 2 ? 3 : 1);
    node_us = std::max(node_us, post_us);
    net_steps = (reduces_all() ? 2 : 1) * (shape.nodes - 1.);
    if (reduces_all() && release.since < 23) net_steps += 2;
  }
  return row.base_us.at(p) + (steps - net_steps) * node_us + net_steps * net_us;
}

double Tuner::latency_us(const NcclLatencies& row, Protocol protocol) const {
  const std::size_t p = protocol_index(protocol);
  // The only GPU of a node sends and receives at once, so its latency is that of a tree.
  const bool alone = shape.members == shape.nodes && release.since >= 23;
  const double wire_us = (alone ? trees : row).net_us.at(p);
  // Simple also waits for a flush.
  const double net_us = wire_us + (p == 2 ? 2 : 1) * 1e6 * settings.net_latency_s;
  const double node_us = (links.pci_only ? row.pci_us : row.nvlink_us).at(p);
  const double base_us = row.base_us.at(p);
  const int peers = shape.members / shape.nodes - 1;
  const int levels = std::bit_width(static_cast<unsigned>(shape.nodes)) - 1;
  switch (row.algorithm) {
    case tree:
      return base_us + 2 * (peers * node_us + levels * net_us);
    case collnet_direct:
      return base_us + 2 * (std::min(1, peers) * node_us + peers * .4) + net_us;
    case collnet_chain:
      return base_us + 2 * peers * node_us + net_us;
    case nvls:
      return node_us + (between() ? net_us : 0);
    case nvls_tree:
      return base_us + node_us + 2 * levels * net_us;
    case pat:
      return base_us + levels * net_us / 3.5 + 2.8 * shape.members;
    default:
      return ring_latency_us(row, p, net_us);
  }
}

// Returns how many bytes of the buffer a byte on the bus carries.
double Tuner::bus_share(CollectiveAlgorithm algorithm) const {
  const double ring_share = shape.members / steps;
  if (algorithm == ring) return ring_share;
  if (!reduces_all()) return 1;
  if (algorithm != nvls && algorithm != nvls_tree) return .5;
  return release.since >= 28 ? ring_share : 5. / 6;
}

int Tuner::corrected_below(CollectiveAlgorithm algorithm) const {
  if (algorithm == tree) return 23;
  const bool corrected = algorithm == nvls_tree && release.since >= 28 &&
                         silicon.generation == kBlackwell && cpu != HostCpu::arm;
  return corrected ? 24 : 0;
}

// Writes the entry in place, because making a table consists of little else.
void Tuner::write(TunerEntry& entry, const NcclLatencies& row, Protocol protocol) const {
  const CollectiveAlgorithm algorithm = row.algorithm;
  entry = {};
  entry.algorithm = algorithm;
  entry.protocol = protocol;
  entry.latency_s = 1e-6 * latency_us(row, protocol);
  entry.bandwidth_Bps = 1e9 * bus_share(algorithm) * bus_bandwidth(algorithm, protocol);
  entry.corrected_below = corrected_below(algorithm);
  if (algorithm == ring && protocol == Protocol::simple && reduces_all() && between()) {
    entry.plateau = silicon.generation == kVolta ? 1.9 : 1.4;
    entry.plateau_bytes = 64. * 2 * ring_found.count * shape.members;
  }
  if (protocol == Protocol::ll128) {
    entry.by_default = silicon.ll128 && !links.pci_only && (!between() || settings.ll128_between);
  }
}

// NCCL considers these in this order; if times are equal, it takes the first.
struct Considered {
  CollectiveAlgorithm algorithm;
  bool every_protocol;  // false: only Simple
  bool (*applies)(const Tuner& tuner);
};
constexpr std::array<Considered, 7> kConsidered = {{
    {tree, true, [](const Tuner& tuner) { return tuner.reduces_all(); }},
    {ring, true, [](const Tuner&) { return true; }},
    {collnet_direct, false,
     [](const Tuner& tuner) {
       return tuner.collnet() && tuner.links.nvswitch &&
              (tuner.reduces_all() || (tuner.halves() && tuner.heads_for_all()));
     }},
    {collnet_chain, false,
     [](const Tuner& tuner) { return tuner.collnet() && tuner.reduces_all(); }},
    {nvls, false,
     [](const Tuner& tuner) {
       const bool in_reach =
           !tuner.between() || (tuner.collnet() && (tuner.reduces_all() || tuner.heads_for_all()));
       return tuner.nvls_found.count >= 2 && (tuner.reduces_all() || tuner.halves()) && in_reach;
     }},
    {nvls_tree, false,
     [](const Tuner& tuner) {
       return tuner.nvls_found.count >= 2 && tuner.reduces_all() && tuner.between();
     }},
    {pat, false,
     [](const Tuner& tuner) {
       return tuner.settings.pat && tuner.release.since >= 23 && tuner.halves() &&
              tuner.shape.members == tuner.shape.nodes;
     }},
}};

bool has_tuner(CollectiveKind kind) {
  return kind != CollectiveKind::all_to_all && kind != CollectiveKind::gather &&
         kind != CollectiveKind::send_recv;
}

double ring_steps(CollectiveKind kind, int members) {
  switch (kind) {
    case CollectiveKind::all_reduce:
      return 2 * (members - 1.);
    case CollectiveKind::all_gather:
    case CollectiveKind::reduce_scatter:
      return members - 1.;
    default:
      return members;
  }
}

double ll_max_of(const Tuner& tuner) {
  int row = tuner.silicon.generation;
  if (tuner.between()) row = tuner.cpu == HostCpu::amd ? kAmpere : kVolta;
  if (tuner.release.since < 23) row = std::min<int>(row, kAmpere);
  return kLlMax.at(static_cast<std::size_t>(row)).at(tuner.scale);
}

Tuner make_tuner(CollectiveKind kind, const GroupShape& shape, const Cluster& cluster,
                 const TunerSettings& settings) {
  const NodeSpec& node = cluster.node_of_pool(shape.pool);
  const Silicon& silicon = silicon_of(node.gpu.generation);
  const bool between = shape.nodes > 1;
  Tuner tuner(kind, shape, settings, silicon);
  const NodeLinks links = node_links(node, silicon, std::max(1, shape.members_per_node));
  tuner.links = links;
  tuner.ring_found = ring_channels(links, silicon.generation, between);
  tuner.tree_found = tree_channels(links, silicon.generation, between, tuner.ring_found);
  if (between && settings.net_share > 0) {
    const double net = settings.net_share * links.nics * links.nic;
    tuner.ring_found.inside = tuner.ring_found.between = net / tuner.ring_found.count;
    tuner.tree_found.between = net / tuner.tree_found.count;
  }
  // The driver offers multicast from Hopper on; NCCL wants three GPUs for it.
  if (settings.nvls && silicon.generation >= kHopper && links.nvswitch && links.members > 2) {
    tuner.nvls_found = nvls_channels(links, silicon.generation, between);
  }
  tuner.scale = static_cast<std::size_t>(std::min(shape.nodes, 3) - 1);
  tuner.per_node = static_cast<double>(shape.members) / shape.nodes;
  tuner.steps = ring_steps(kind, shape.members);
  tuner.cpu = node.gpu.superchip ? HostCpu::arm : settings.cpu;
  // From Hopper on, NCCL's search puts both directions of a tree on one GPU, not on a neighbour's
  // NIC.
  tuner.plain_trees = between && (links.members == 1 ||
                                  (silicon.generation >= kHopper && links.nics == links.members));
  tuner.ll_max = ll_max_of(tuner);
  return tuner;
}

// Returns log2(bytes / 64), the column of kTreeCorrection; the result is negative below 64 bytes.
int size_log(double bytes) {
  const double lines = std::clamp(bytes / 64, 0., 1e18);
  return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(lines))) - 1;
}

double nominal_s(const TunerEntry& entry, double bytes, int log) {
  double bandwidth_Bps = entry.bandwidth_Bps;
  if (log >= 0 && log < entry.corrected_below) {
    bandwidth_Bps *= kTreeCorrection[protocol_index(entry.protocol)][static_cast<std::size_t>(log)];
  }
  const double plateau = bytes >= entry.plateau_bytes ? entry.plateau : 1;
  return entry.latency_s * plateau + bytes / bandwidth_Bps;
}

bool is_nccl(CollectiveAlgorithm algorithm) {
  return algorithm == automatic || find_nccl_latencies(algorithm) != nullptr;
}

const TunerEntry* cheapest(const TunerTable& table, CollectiveChoice wanted, double bytes) {
  const TunerEntry* best = nullptr;
  double best_s = kInfinity;
  const int log = size_log(bytes);
  for (const TunerEntry& entry : table.pairs()) {
    if (wanted.algorithm != automatic && wanted.algorithm != entry.algorithm) continue;
    const bool any = wanted.protocol == Protocol::automatic;
    if (any ? !entry.by_default : wanted.protocol != entry.protocol) continue;
    const double seconds = nominal_s(entry, bytes, log);
    if (seconds < best_s) {
      best_s = seconds;
      best = &entry;
    }
  }
  return best;
}

}  // namespace

TunerTable make_tuner_table(CollectiveKind kind, const GroupShape& shape, const Cluster& cluster,
                            const TunerSettings& settings) {
  TunerTable table;
  table.kind = kind;
  table.members = shape.members;
  if (!has_tuner(kind) || shape.members < 2) return table;
  const Tuner tuner = make_tuner(kind, shape, cluster, settings);
  for (const Considered& considered : kConsidered) {
    if (!considered.applies(tuner)) continue;
    const NcclLatencies row = tuner.latencies(considered.algorithm);
    for (const Protocol protocol : {Protocol::ll, Protocol::ll128, Protocol::simple}) {
      if (!considered.every_protocol && protocol != Protocol::simple) continue;
      TunerEntry& entry = table.entries.at(static_cast<std::size_t>(table.size));
      tuner.write(entry, row, protocol);
      if (entry.bandwidth_Bps > 0) ++table.size;
    }
  }
  return table;
}

double nccl_nominal_s(const TunerTable& table, CollectiveAlgorithm algorithm, Protocol protocol,
                      double bytes) {
  const TunerEntry* const entry = cheapest(table, {algorithm, protocol}, bytes);
  return entry == nullptr ? kInfinity : nominal_s(*entry, bytes, size_log(bytes));
}

CollectiveChoice nccl_choice(const TunerTable& table, CollectiveChoice wanted, double bytes) {
  if (!is_nccl(wanted.algorithm)) return wanted;
  if (!has_tuner(table.kind)) {
    const Protocol protocol =
        bytes / table.members <= kP2pLlBytes ? Protocol::ll : Protocol::simple;
    const bool exchange = table.kind == CollectiveKind::all_to_all;
    return {exchange ? pairwise : direct,
            wanted.protocol == Protocol::automatic ? protocol : wanted.protocol};
  }
  const TunerEntry* best = cheapest(table, wanted, bytes);
  if (best == nullptr) best = cheapest(table, {ring, wanted.protocol}, bytes);
  if (best == nullptr) return {ring, Protocol::simple};  // a single member
  return {best->algorithm, best->protocol};
}

}  // namespace windtunnel
