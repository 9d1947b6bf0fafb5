#include "models/machine/links/path_choice.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "models/base/error.hpp"
#include "models/base/random.hpp"

namespace windtunnel {
namespace {

// The largest number of paths that one transfer uses if it could use more: SimGrid's cost grows
// with the square of a flow's links.
constexpr int kMostShares = 16;

std::uint64_t pair_of(int a, int b) {
  return static_cast<std::uint64_t>(a) << 32 | static_cast<std::uint32_t>(b);
}

// The path of a turn. A stride near the golden section visits every path once. It keeps paths apart
// that share a link further down, as where a leaf has fewer uplinks than there are cores.
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

PathChooser::PathChooser(const LinkTable& links) : links_(links) {
  if (links.cluster().fabric.routing == Routing::planned) load_s_.assign(links.count(), 0);
}

std::span<const PathShare> PathChooser::choose(int src_gpu, int dst_gpu, double bytes) {
  shares_.assign(1, PathShare());
  const Routing routing = links_.cluster().fabric.routing;
  const int paths = links_.paths(src_gpu, dst_gpu);
  CHECK(paths > 0, "{} ways from GPU {} to {}", paths, src_gpu, dst_gpu);
  // Under spray a bundle is one link, so only edge lists and detours around a failed bundle have
  // several paths.
  if (paths > 1 && routing == Routing::spray) spray(paths, hashed(src_gpu, dst_gpu, paths));
  if (routing == Routing::adaptive) adapt(src_gpu, dst_gpu, paths, bytes);
  if (routing == Routing::planned) {
    shares_.front().path = least_loaded(src_gpu, dst_gpu, paths, bytes);
  } else if (paths > 1 && routing == Routing::ecmp) {
    shares_.front().path = hashed(src_gpu, dst_gpu, paths);
  } else if (paths > 1 && routing == Routing::split_single_path) {
    split(src_gpu, dst_gpu, paths);
  }
  return shares_;
}

// Uses all paths equally or, if there are more than kMostShares, that many evenly spaced ones.
void PathChooser::spray(int paths, int first) {
  const int shares = std::min(paths, kMostShares);
  shares_.clear();
  for (int i = 0; i < shares; ++i) {
    shares_.push_back({(first + i * paths / shares) % paths, 1.0 / shares});
  }
}

// Uses the minimal path and evenly spaced detours. Before settle() the load of both is only
// counted.
void PathChooser::adapt(int src_gpu, int dst_gpu, int paths, double bytes) {
  const int detours = std::min(paths - 1, kMostShares);
  const double minimal = detours == 0 ? 1 : static_cast<double>(minimal_parts_) / kParts;
  shares_.front().share = minimal;
  for (int i = 0; i < detours; ++i) {
    shares_.push_back({1 + i * (paths - 1) / detours, (1 - minimal) / detours});
  }
  if (!settled_) return expect(src_gpu, dst_gpu, bytes);
  std::erase_if(shares_, [](const PathShare& way) { return way.share == 0; });
}

void PathChooser::expect(int src_gpu, int dst_gpu, double bytes) {
  const auto detours = static_cast<double>(shares_.size() - 1);
  for (const PathShare& way : shares_) {
    route_.clear();
    links_.append_route(src_gpu, dst_gpu, route_, way.path);
    for (const LinkId link : route_) {
      if (links_.fabric_link(link) < 0) continue;
      LinkLoad& load = expected_[link];
      const double seconds = bytes / links_.capacity(link);
      if (way.path == 0) load.minimal_s += seconds;
      if (detours == 0) load.detour_s += seconds;  // there is no other path
      if (way.path > 0) load.detour_s += seconds / detours;
    }
  }
}

double PathChooser::busiest_s(int minimal_parts) const {
  const double minimal = static_cast<double>(minimal_parts) / kParts;
  double most_s = 0;
  for (const auto& [link, load] : expected_) {
    most_s = std::max(most_s, minimal * load.minimal_s + (1 - minimal) * load.detour_s);
  }
  return most_s;
}

// The load of the busiest link is convex in the share: if the next larger share is not worse, the
// best share is not smaller.
void PathChooser::settle() {
  int low = 0;
  int high = kParts;
  while (low < high) {
    const int middle = (low + high) / 2;
    const bool worse = busiest_s(middle + 1) > busiest_s(middle) * (1 + 1e-9);
    (worse ? high : low) = worse ? middle : middle + 1;
  }
  minimal_parts_ = low;
  settled_ = true;
  expected_.clear();
}

int PathChooser::hashed(int src_gpu, int dst_gpu, int paths) const {
  const Cluster& cluster = links_.cluster();
  const std::uint64_t connection = pair_of(nic_of(cluster, src_gpu), nic_of(cluster, dst_gpu));
  return static_cast<int>(
      RandomStream(cluster.fabric.routing_seed, RandomPurpose::routing, connection).below(paths));
}

// Squared loads emphasise the fullest link of a path; links common to all paths do not matter.
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

// Parts from a NIC to a leaf continue after the path where its parts to other leaves ended. The
// first parts of a NIC continue where those of neighbouring NICs ended.
int& PathChooser::turn_of(int src_gpu, int dst_gpu, int paths) {
  route_.clear();
  other_.clear();
  links_.append_route(src_gpu, dst_gpu, route_, 0);
  links_.append_route(src_gpu, dst_gpu, other_, paths - 1);
  // Paths split above the source's leaf and join at the destination's.
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
