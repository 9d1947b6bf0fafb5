// Which peers average which part of the gradients when their links differ (DeDLOC, Diskin et al.
// 2021, arXiv 2106.10207, section 3.2). A peer that averages a part receives it from all peers that
// compute and sends the mean back to them; no link exceeds its capacity. The parts that minimise
// the time of the exchange are the solution of a linear program.
#pragma once

#include <vector>

namespace windtunnel {

// Identical peers.
struct AveragingPeers {
  double count = 1;  // may be fractional: the mean number in a stage
  double up_Bps = 0;
  double down_Bps = 0;
  bool computes = true;  // has gradients and needs their mean; false: it only averages for others
};

struct AveragingRoles {
  double rate_Bps = 0;        // bytes of gradients averaged per second
  std::vector<double> parts;  // [kind] share averaged by each peer of the kind
};

// The optimal roles. Gradients are sent once to each peer that averages them; several peers may
// average different pieces of a part.
AveragingRoles adaptive_roles(const std::vector<AveragingPeers>& kinds);
// Fixed roles for comparison: equal parts on all peers that compute (ring or butterfly all-reduce),
// and everything on the single fastest peer (parameter server).
AveragingRoles all_reduce_roles(const std::vector<AveragingPeers>& kinds);
AveragingRoles server_roles(const std::vector<AveragingPeers>& kinds);

double computing_peers(const std::vector<AveragingPeers>& kinds);

}  // namespace windtunnel
