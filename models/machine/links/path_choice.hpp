// Which of the equal ways through a fabric a transfer takes: FabricSpec::routing. Transfers of one
// plan are asked for in order, since planned routing and splitting look at what went before.
//
// ECMP: hash of the connection, RFC 2992. Splitting: Addanki et al., "Challenging the need for
// packet spraying" (arXiv 2407.00550): where the parts from a NIC to a leaf are a multiple of the
// ways, no link carries more than under ideal spraying. Planned: C4P, Dong et al. 2024 (arXiv
// 2406.04594), section 4: a controller that knows all connections. Adaptive: one share of all
// transfers goes the minimal way, the rest evenly over detours, and of all shares it is the one
// that loads the busiest link of the fabric least: what routers reach that compare the queues of
// both (UGAL: Singh 2005; Kim et al. 2008; Slingshot: De Sensi et al. 2020) when traffic is steady.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "models/machine/links/links.hpp"

namespace windtunnel {

struct PathShare {
  int path = 0;
  double share = 1;  // of the bytes; those of one transfer sum to 1
};

class PathChooser {
 public:
  explicit PathChooser(const LinkTable& links);  // kept by reference

  // Ways of `bytes` from GPU to GPU. The result is valid until the next call. Under ecmp the same
  // pair of NICs always takes the same way.
  std::span<const PathShare> choose(int src_gpu, int dst_gpu, double bytes);

  // Whether ways depend on what is asked for later: then all transfers are asked for twice, with
  // settle() between.
  bool asks_twice() const { return links_.cluster().fabric.routing == Routing::adaptive; }
  void settle();

 private:
  // What a link has if all transfers go the minimal way, and if all take detours.
  struct LinkLoad {
    double minimal_s = 0;
    double detour_s = 0;
  };

  void spray(int paths, int first);
  void adapt(int src_gpu, int dst_gpu, int paths, double bytes);
  void expect(int src_gpu, int dst_gpu, double bytes);
  double busiest_s(int minimal_parts) const;
  int hashed(int src_gpu, int dst_gpu, int paths) const;
  int least_loaded(int src_gpu, int dst_gpu, int paths, double bytes);
  void split(int src_gpu, int dst_gpu, int paths);
  int& turn_of(int src_gpu, int dst_gpu, int paths);

  static constexpr int kParts = 64;  // whole ones, so that flows weigh whole numbers on links

  const LinkTable& links_;
  std::vector<double> load_s_;  // [link] time at its full bandwidth; planned only
  // Split only: the way that is next, of a NIC to one leaf (named by its first link downwards), of
  // a NIC to any, of a leaf (named by its first link upwards) to a NIC's first parts.
  std::unordered_map<std::uint64_t, int> turn_to_leaf_;
  std::unordered_map<int, int> turn_of_nic_;
  std::unordered_map<LinkId, int> turn_at_leaf_;
  std::unordered_map<LinkId, LinkLoad> expected_;  // adaptive, until settle()
  bool settled_ = false;
  int minimal_parts_ = kParts;  // adaptive, of kParts
  std::vector<PathShare> shares_;
  std::vector<LinkId> route_;
  std::vector<LinkId> other_;
};

}  // namespace windtunnel
