// Which of the equal ways through a fabric a transfer takes: FabricSpec::routing. Transfers of one
// plan are asked for in order, since planned routing and splitting look at what went before.
//
// ECMP: hash of the connection, RFC 2992. Splitting: Addanki et al., "Challenging the need for
// packet spraying" (arXiv 2407.00550): where the parts from a NIC to a leaf are a multiple of the
// ways, no link carries more than under ideal spraying. Planned: C4P, Dong et al. 2024 (arXiv
// 2406.04594), section 4: a controller that knows all connections.
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

// Parts of `flows` equal transfers from a NIC to a leaf that reach the load of ideal spraying.
int fewest_parts(int flows, int paths);

class PathChooser {
 public:
  explicit PathChooser(const LinkTable& links);  // kept by reference

  // Ways of `bytes` from GPU to GPU. The result is valid until the next call. Under ecmp the same
  // pair of NICs always takes the same way.
  std::span<const PathShare> choose(int src_gpu, int dst_gpu, double bytes);

 private:
  void spray(int paths, int first);
  int hashed(int src_gpu, int dst_gpu, int paths) const;
  int least_loaded(int src_gpu, int dst_gpu, int paths, double bytes);
  void split(int src_gpu, int dst_gpu, int paths);
  int& turn_of(int src_gpu, int dst_gpu, int paths);

  const LinkTable& links_;
  std::vector<double> load_s_;  // [link] time at its full bandwidth; planned only
  // Split only: the way that is next, of a NIC to one leaf (named by its first link downwards), of
  // a NIC to any, of a leaf (named by its first link upwards) to a NIC's first parts.
  std::unordered_map<std::uint64_t, int> turn_to_leaf_;
  std::unordered_map<int, int> turn_of_nic_;
  std::unordered_map<LinkId, int> turn_at_leaf_;
  std::vector<PathShare> shares_;
  std::vector<LinkId> route_;
  std::vector<LinkId> other_;
};

}  // namespace windtunnel
