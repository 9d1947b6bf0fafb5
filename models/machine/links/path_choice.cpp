#include "models/machine/links/path_choice.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "models/base/error.hpp"
#include "models/base/random.hpp"

namespace windtunnel {
namespace {

std::uint64_t pair_of(int a, int b) {
  return static_cast<std::uint64_t>(a) << 32 | static_cast<std::uint32_t>(b);
}

// Ways in the order in which turns take them: a stride near the golden section reaches every way
// once, and ways that share a link below (of a leaf with fewer uplinks than there are cores) far
// apart.
int way_of_turn(int turn, int paths) {
  int stride = std::max(1, static_cast<int>(0.6180339887498949 * paths));
  while (std::gcd(stride, paths) != 1) --stride;
  return static_cast<int>(static_cast<std::int64_t>(turn) * stride % paths);
}

LinkId first_difference(const std::vector<LinkId>& route, const std::vector<LinkId>& other) {
  const auto at = std::ranges::mismatch(route, other).in1;
  return at == route.end() ? route.back() : *at;
}

}  // namespace

int fewest_parts(int flows, int paths) {
  return paths / std::gcd(flows, paths);
}

PathChooser::PathChooser(const LinkTable& links) : links_(links) {
  if (links.cluster().fabric.routing == Routing::planned) load_s_.assign(links.count(), 0);
}

std::span<const PathShare> PathChooser::choose(int src_gpu, int dst_gpu, double bytes) {
  shares_.assign(1, PathShare());
  const Routing routing = links_.cluster().fabric.routing;
  const int paths = links_.paths(src_gpu, dst_gpu);
  CHECK(paths > 0, "{} ways from GPU {} to {}", paths, src_gpu, dst_gpu);
  // A bundle is one link: only edge lists, and detours around a failed bundle, leave several ways.
  if (paths > 1 && routing == Routing::spray) spray(paths, hashed(src_gpu, dst_gpu, paths));
  if (routing == Routing::planned) {
    shares_.front().path = least_loaded(src_gpu, dst_gpu, paths, bytes);
  } else if (paths > 1 && routing == Routing::ecmp) {
    shares_.front().path = hashed(src_gpu, dst_gpu, paths);
  } else if (paths > 1 && routing == Routing::split_single_path) {
    split(src_gpu, dst_gpu, paths);
  }
  return shares_;
}

// All ways alike, or that many of them evenly spaced.
void PathChooser::spray(int paths, int first) {
  constexpr int kMostShares = 16;
  const int shares = std::min(paths, kMostShares);
  shares_.clear();
  for (int i = 0; i < shares; ++i) {
    shares_.push_back({(first + i * paths / shares) % paths, 1.0 / shares});
  }
}

int PathChooser::hashed(int src_gpu, int dst_gpu, int paths) const {
  const Cluster& cluster = links_.cluster();
  const std::uint64_t connection = pair_of(nic_of(cluster, src_gpu), nic_of(cluster, dst_gpu));
  return static_cast<int>(
      RandomStream(cluster.fabric.routing_seed, RandomPurpose::routing, connection).below(paths));
}

// Squares let the fullest link of a way count most; links that all ways share count for none.
int PathChooser::least_loaded(int src_gpu, int dst_gpu, int paths, double bytes) {
  int best = 0;
  double least = std::numeric_limits<double>::infinity();
  for (int path = 0; path < paths; ++path) {
    route_.clear();
    links_.append_route(src_gpu, dst_gpu, route_, path);
    double load = 0;
    for (const LinkId link : route_) load += load_s_[link] * load_s_[link];
    if (load >= least * (1 - 1e-12)) continue;
    least = load;
    best = path;
  }
  route_.clear();
  links_.append_route(src_gpu, dst_gpu, route_, best);
  for (const LinkId link : route_) load_s_[link] += bytes / links_.capacity(link);
  return best;
}

void PathChooser::split(int src_gpu, int dst_gpu, int paths) {
  const int parts = links_.cluster().fabric.parts;
  CHECK(parts > 0, "a transfer in {} parts", parts);
  int& turn = turn_of(src_gpu, dst_gpu, paths);
  shares_.clear();
  for (int part = 0; part < parts; ++part, ++turn) {
    if (part < paths) shares_.push_back({way_of_turn(turn % paths, paths), 0});
    shares_[part % paths].share += 1.0 / parts;
  }
}

// A NIC's parts to a leaf go on where its parts to other leaves ended; its first ones where those
// of the NICs beside it ended.
int& PathChooser::turn_of(int src_gpu, int dst_gpu, int paths) {
  route_.clear();
  other_.clear();
  links_.append_route(src_gpu, dst_gpu, route_, 0);
  links_.append_route(src_gpu, dst_gpu, other_, paths - 1);
  // The ways part above the source's leaf and join at the destination's.
  const LinkId up = first_difference(route_, other_);
  std::ranges::reverse(route_);
  std::ranges::reverse(other_);
  const LinkId down = first_difference(route_, other_);
  const int parts = links_.cluster().fabric.parts;
  const int nic = nic_of(links_.cluster(), src_gpu);
  const auto [of_nic, new_nic] = turn_of_nic_.try_emplace(nic, 0);
  if (new_nic) {
    int& at_leaf = turn_at_leaf_[up];
    of_nic->second = at_leaf;
    at_leaf += parts;
  }
  int& turn = turn_to_leaf_.try_emplace(pair_of(nic, down), of_nic->second).first->second;
  of_nic->second += parts;
  return turn;
}

}  // namespace windtunnel
