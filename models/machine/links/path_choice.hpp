// Chooses among equal paths through a fabric for each transfer: FabricSpec::routing. Transfers of a
// plan must be asked for in order, since planned routing and splitting depend on earlier ones.
//
// ECMP: hash of the connection, RFC 2992. Splitting: Addanki et al., "Challenging the need for
// packet spraying" (arXiv 2407.00550): if the parts from a NIC to a leaf are a multiple of the
// paths, no link carries more than under ideal spraying. Planned: C4P, Dong et al. 2024 (arXiv
// 2406.04594), section 4: a controller that knows all connections. Adaptive: one share of every
// transfer takes the minimal path, the rest is spread evenly over detours. The share is the one
// that loads the busiest link of the fabric least. Routers that compare queues (UGAL: Singh 2005;
// Kim et al. 2008; Slingshot: De Sensi et al. 2020) reach this with steady traffic.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "models/machine/links/links.hpp"

namespace windtunnel {

struct PathShare {
  int path = 0;
  double share = 1;  // of the bytes; the shares of a transfer sum to 1
};

class PathChooser {
 public:
  explicit PathChooser(const LinkTable& links);  // kept by reference

  // Paths of `bytes` from GPU to GPU, valid until the next call. Under ecmp a pair of NICs always
  // takes the same path.
  std::span<const PathShare> choose(int src_gpu, int dst_gpu, double bytes);

  // Whether paths depend on later transfers. Then all transfers must be asked for twice, with
  // settle() in between.
  bool asks_twice() const { return links_.cluster().fabric.routing == Routing::adaptive; }
  void settle();

 private:
  // Time on a link if all transfers take minimal paths, and if all take detours.
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

  static constexpr int kParts = 64;  // integers, so that flows have integer weights on links

  const LinkTable& links_;
  std::vector<double> load_s_;  // [link] time at full bandwidth; under planned routing only
  // Under split routing only: the next path of a NIC to one leaf (identified by its first downward
  // link), of a NIC to any leaf, and of a leaf (identified by its first upward link) for a NIC's
  // first parts.
  std::unordered_map<std::uint64_t, int> turn_to_leaf_;
  std::unordered_map<int, int> turn_of_nic_;
  std::unordered_map<LinkId, int> turn_at_leaf_;
  std::unordered_map<LinkId, LinkLoad> expected_;  // adaptive, until settle()
  bool settled_ = false;
  int minimal_parts_ = kParts;  // adaptive, out of kParts
  std::vector<PathShare> shares_;
  std::vector<LinkId> route_;
  std::vector<LinkId> other_;
};

}  // namespace windtunnel
