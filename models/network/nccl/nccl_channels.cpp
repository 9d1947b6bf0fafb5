#include "models/network/nccl/nccl_channels.hpp"

#include <algorithm>
#include <array>
#include <span>

#include "models/base/units.hpp"

namespace windtunnel {
namespace {

// GB/s per channel that the search tries, in a node and between nodes.
constexpr std::array kSpeedsInside = {40., 30., 20., 18., 15., 12., 10., 9., 7., 6., 5., 4., 3.};
constexpr std::array kSpeedsBetween = {48., 30., 28., 24., 20., 18., 15., 12., 10., 9.,
                                       7.,  6.,  5.,  4.,  3.,  2.4, 1.2, .24, .12};
constexpr std::array kHopperSpeedsInside = {60., 50., 40., 30., 24., 20., 15., 12., 11., 6., 3.};
constexpr std::array kHopperSpeedsBetween = {48., 45., 42., 40., 30., 24., 22., 20., 17.5,
                                             15., 12., 6.,  3.,  2.4, 1.2, .24, .12};
constexpr std::array kBlackwellSpeedsInside = {90., 80., 70., 60., 50., 45.,
                                               40., 30., 24., 20., 19., 18.};
constexpr std::array kBlackwellSpeedsBetween = {96.,  80., 48., 45.1, 42., 40., 30., 24., 22., 20.,
                                                17.5, 15., 12., 6.,   3.,  2.4, 1.2, .24, .12};

constexpr int kMaxChannels = 32;  // of one search; NCCL uses each twice, once per direction
constexpr int kMaxNvlsHeads = 32;

constexpr std::array<Silicon, 6> kSilicon = {{
    {kVolta, .9, false},  // Pascal
    {kVolta, .8, true},
    {kVolta, .8, true},  // Turing
    {kAmpere, .8, true},
    {kHopper, .824, true},
    {kBlackwell, .802, true},
}};

std::span<const double> speeds_of(NcclGeneration generation, bool between) {
  if (generation == kBlackwell) {
    if (between) return kBlackwellSpeedsBetween;
    return kBlackwellSpeedsInside;
  }
  if (generation == kHopper) {
    if (between) return kHopperSpeedsBetween;
    return kHopperSpeedsInside;
  }
  if (between) return kSpeedsBetween;
  return kSpeedsInside;
}

// How often `part` fits into `whole`, with a tolerance for rounding.
int fits(double whole, double part) {
  return static_cast<int>(std::min(1e6, whole / part + 1e-6));
}

int ring_count(const NodeLinks& links, bool between, double speed) {
  // A ring that leaves the node uses no NVLink at that point.
  const double hops = between ? (links.members - 1.) / links.members : 1;
  const int inside = hops > 0 ? fits(links.nvlink, speed * hops) : kMaxChannels;
  const int outside = between ? links.nics * fits(links.nic, speed) : kMaxChannels;
  return std::min({inside, outside, kMaxChannels});
}

}  // namespace

const Silicon& silicon_of(GpuGeneration generation) {
  return kSilicon.at(static_cast<std::size_t>(generation));
}

NodeLinks node_links(const NodeSpec& node, const Silicon& silicon, int members) {
  NodeLinks links;
  // For a 16-lane bus NCCL counts 12, 24 and 48 GB/s, where the standards have 16, 32 and 64. Its
  // search subtracts a path's bandwidth from every bridge on it, so it accounts for GPUs that share
  // a port.
  const double pcie = node.pcie_Bps.value > 0 ? .75e-9 * node.pcie_both_ways_Bps() : kInfinity;
  links.members = members;
  links.pci_only = node.gpu_path == GpuPath::pcie ||
                   (node.nvlink_Bps.value <= node.pcie_Bps.value && !node.gpu.superchip);
  links.nvswitch = !links.pci_only && (node.gpus > 4 || silicon.generation == kBlackwell);
  links.nvlink = 1e-9 * node.nvlink_Bps.value * silicon.nvlink_share;
  if (links.pci_only) {
    links.nvlink = pcie;
  } else if (!links.nvswitch && node.gpus > 1) {
    links.nvlink *= (members - 1.) / (node.gpus - 1.);
  }
  links.nic = std::min(1e-9 * node.nic_Bps.value, pcie);
  links.nics = std::min(node.nics, members);
  return links;
}

Channels ring_channels(const NodeLinks& links, NcclGeneration generation, bool between) {
  Channels best{1, .1, .1};
  bool found = false;
  for (const double speed : speeds_of(generation, between)) {
    if (found && speed <= .49 * best.between) break;
    const int count = ring_count(links, between, speed);
    if (count > 0 && (!found || count * speed > best.count * best.between)) {
      best = {count, speed, speed};
      found = true;
    }
    if (found && best.count * best.between >= links.nvlink) break;
  }
  const bool enough = generation >= kHopper && best.inside < 50 && best.count > 4;
  if (best.inside >= 25 && !enough && 2 * best.count <= kMaxChannels) {
    best = {2 * best.count, best.inside / 2, best.between / 2};
  }
  return best;
}

Channels tree_channels(const NodeLinks& links, NcclGeneration generation, bool between,
                       const Channels& ring) {
  Channels found = ring;
  const double hops = (links.members - 1.) / links.members;
  const std::span<const double> speeds = speeds_of(generation, between);
  for (std::size_t i = speeds.size(); i-- > 0;) {
    if (speeds[i] <= found.inside) continue;
    if (found.inside >= 2 * found.between) break;
    if (found.count * speeds[i] * hops > links.nvlink) break;
    found.inside = speeds[i];
  }
  return found;
}

Channels nvls_channels(const NodeLinks& links, NcclGeneration generation, bool between) {
  Channels best;
  const int heads = std::min(links.members, kMaxNvlsHeads);
  const std::span<const double> speeds = speeds_of(generation, between);
  for (const double speed : speeds) {
    const int inside = fits(links.nvlink, speed) - 1;
    const int outside = between ? links.nics * fits(links.nic, speed) : heads;
    const int count = std::min({heads, inside, outside});
    if (!between && count < heads) continue;
    if (count > best.count || count * speed > best.count * best.between) {
      best = {count, speed, speed};
    }
    if (best.count == heads) break;
  }
  for (std::size_t i = speeds.size(); between && i-- > 0;) {
    if (speeds[i] <= best.between) continue;
    if (best.between >= 2 * best.inside) break;
    if (best.count > links.nics * fits(links.nic, speeds[i])) break;
    best.between = speeds[i];
  }
  return best;
}

}  // namespace windtunnel
