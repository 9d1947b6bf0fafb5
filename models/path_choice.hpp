// Which of the equal ways through a fabric a transfer takes: FabricSpec::routing. Transfers of one
// plan are asked for in order, since planned routing and splitting look at what went before.
//
// ECMP: hash of the connection, RFC 2992. Splitting: see "Packet spraying challenged" (minimal
// splitting of single paths reaches the worst-case load of ideal spraying). Planned: C4P, Dong et
// al. 2024 (arXiv 2406.04594), section 4: a controller that knows all connections.
#pragma once

#include <span>
#include <vector>

#include "models/links.hpp"

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

 private:
  const LinkTable& links_;
  std::vector<double> load_bytes_;  // [link], planned and split only
  std::vector<PathShare> shares_;
  std::vector<LinkId> route_;
};

}  // namespace windtunnel
