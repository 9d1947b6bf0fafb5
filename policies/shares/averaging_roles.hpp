// Which peers average which part of the gradients when their links differ (DeDLOC, Diskin et al.
// 2021, arXiv 2106.10207, section 3.2). A peer that averages a part receives it from all peers that
// compute, and sends the mean back to them. No link exceeds its capacity. A linear program finds
// the parts with the shortest exchange.
#pragma once

#include <vector>

namespace windtunnel {

// A kind of identical peers.
struct AveragingPeers {
  double count = 1;  // may be fractional: then it is the mean number in a stage
  double up_Bps = 0;
  double down_Bps = 0;
  bool computes = true;  // has gradients and needs their mean; false: only averages for others
};

struct AveragingRoles {
  double rate_Bps = 0;        // bytes of gradients averaged per second
  std::vector<double> parts;  // [kind] share of the gradients that each peer of the kind averages
};

// Returns the optimal roles. A peer sends its gradients once, each part to the peers that average
// it. Several peers may average different pieces of a part.
AveragingRoles adaptive_roles(const std::vector<AveragingPeers>& kinds);
// These return fixed roles for comparison: all peers that compute average equal parts (ring or
// butterfly all-reduce), or the single fastest peer averages everything (parameter server).
AveragingRoles all_reduce_roles(const std::vector<AveragingPeers>& kinds);
AveragingRoles server_roles(const std::vector<AveragingPeers>& kinds);

double computing_peers(const std::vector<AveragingPeers>& kinds);

}  // namespace windtunnel
