// Who averages which part of the gradients for whom, among peers whose links differ (DeDLOC, Diskin
// et al. 2021, arXiv 2106.10207, section 3.2). A peer that averages a part takes it from all that
// compute and sends the mean back to all of them; no link carries more than it can. Sharing the
// parts out so that the exchange takes the least time is a linear programme.
#pragma once

#include <vector>

namespace windtunnel {

// Peers that are alike.
struct AveragingPeers {
  double count = 1;  // need not be whole: those of a stage on average
  double up_Bps = 0;
  double down_Bps = 0;
  bool computes = true;  // has gradients, and needs their mean; else it averages for others only
};

struct AveragingRoles {
  double rate_Bps = 0;        // bytes of gradients that are averaged in a second
  std::vector<double> parts;  // [kind] share of them that each peer of a kind averages
};

// The best roles. Gradients are sent once to each peer that averages them, and a part may be
// averaged by several, each for some.
AveragingRoles adaptive_roles(const std::vector<AveragingPeers>& kinds);
// Fixed ones, to compare: equal parts on all peers that compute (ring or butterfly all-reduce), and
// all on one peer, the one that is fastest at it (parameter server).
AveragingRoles all_reduce_roles(const std::vector<AveragingPeers>& kinds);
AveragingRoles server_roles(const std::vector<AveragingPeers>& kinds);

double computing_peers(const std::vector<AveragingPeers>& kinds);

}  // namespace windtunnel
