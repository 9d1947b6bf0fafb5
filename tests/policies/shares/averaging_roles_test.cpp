#include "policies/shares/averaging_roles.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "models/base/random.hpp"

namespace windtunnel {
namespace {

using Kinds = std::vector<AveragingPeers>;

double total_part(const Kinds& kinds, const AveragingRoles& roles) {
  double sum = 0;
  for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
    sum += kinds[kind].count * roles.parts[kind];
  }
  return sum;
}

TEST(AveragingRoles, EqualPeersAllReduce) {
  for (const int peers : {2, 3, 8, 40}) {
    const Kinds kinds = {{.count = double(peers), .up_Bps = 1e7, .down_Bps = 1e7}};
    const AveragingRoles roles = adaptive_roles(kinds);
    EXPECT_NEAR(roles.rate_Bps, 1e7 * peers / (2.0 * (peers - 1)), 1);
    EXPECT_NEAR(roles.rate_Bps, all_reduce_roles(kinds).rate_Bps, 1);
    EXPECT_NEAR(roles.parts[0], 1.0 / peers, 1e-9);
  }
}

// One peer does not compute and has a link as fast as those of all others together, whose own links
// are filled by their gradients and the averages.
TEST(AveragingRoles, OneFatHelperIsAParameterServer) {
  const Kinds kinds = {{.count = 8, .up_Bps = 1e7, .down_Bps = 1e7},
                       {.count = 1, .up_Bps = 1e9, .down_Bps = 1e9, .computes = false}};
  const AveragingRoles roles = adaptive_roles(kinds);
  EXPECT_NEAR(roles.rate_Bps, 1e7, 1);
  EXPECT_NEAR(roles.rate_Bps, server_roles(kinds).rate_Bps, 1);
  EXPECT_NEAR(roles.parts[0], 0, 1e-6);
  EXPECT_NEAR(roles.parts[1], 1, 1e-6);
  EXPECT_NEAR(all_reduce_roles(kinds).rate_Bps, 1e7 * 8 / 14, 1);
}

TEST(AveragingRoles, WhoCannotUploadGivesNothing) {
  const Kinds helper = {{.count = 4, .up_Bps = 1e7, .down_Bps = 1e7},
                        {.count = 3, .up_Bps = 0, .down_Bps = 1e9, .computes = false}};
  EXPECT_NEAR(adaptive_roles(helper).parts[1], 0, 1e-9);
  EXPECT_NEAR(adaptive_roles(helper).rate_Bps, 1e7 * 4 / 6, 1);
  // A computing peer cannot send its gradients, so that no average is ever complete.
  const Kinds stuck = {{.count = 4, .up_Bps = 1e7, .down_Bps = 1e7},
                       {.count = 1, .up_Bps = 0, .down_Bps = 1e9}};
  EXPECT_NEAR(adaptive_roles(stuck).rate_Bps, 0, 1e-3);
}

Kinds random_kinds(RandomStream& random, int most) {
  Kinds kinds;
  for (int kind = 0; kind < most; ++kind) {
    kinds.push_back({.count = 1.0 + static_cast<double>(random.below(6)),
                     .up_Bps = 1e6 * std::pow(10, 2 * random.uniform()),
                     .down_Bps = 1e6 * std::pow(10, 2 * random.uniform()),
                     .computes = kind == 0 || random.below(3) > 0});
  }
  return kinds;
}

TEST(AveragingRoles, NoFixedStrategyIsFaster) {
  RandomStream random(1, RandomPurpose::test, 0);
  for (int round = 0; round < 500; ++round) {
    Kinds kinds = random_kinds(random, 1 + static_cast<int>(random.below(5)));
    kinds[0].count += 1;  // at least two compute
    const AveragingRoles best = adaptive_roles(kinds);
    EXPECT_GE(best.rate_Bps, all_reduce_roles(kinds).rate_Bps * (1 - 1e-6)) << round;
    EXPECT_GE(best.rate_Bps, server_roles(kinds).rate_Bps * (1 - 1e-6)) << round;
    EXPECT_NEAR(total_part(kinds, best), 1, 1e-6) << round;
    for (const double part : best.parts) EXPECT_GE(part, -1e-9);
  }
}

// The rate of averaging if each peer i averages the share parts[i] of the gradients.
double rate_of(const Kinds& peers, const std::vector<double>& parts) {
  const double computing = computing_peers(peers);
  double rate = 1e300;
  for (std::size_t i = 0; i < peers.size(); ++i) {
    const double own = peers[i].computes ? 1 - parts[i] : 0;
    const double for_others = parts[i] * (computing - (peers[i].computes ? 1 : 0));
    const double load = own + for_others;
    if (load > 0) rate = std::min({rate, peers[i].up_Bps / load, peers[i].down_Bps / load});
  }
  return rate;
}

// Tries every division of the gradients into equal parts that three or four peers average: none is
// faster than the linear programme, and the best is nearly as fast.
TEST(AveragingRoles, TriedWaysAreNotFasterAndTheBestIsNear) {
  constexpr int kParts = 40;
  RandomStream random(2, RandomPurpose::test, 0);
  for (int round = 0; round < 60; ++round) {
    Kinds peers = random_kinds(random, 3 + static_cast<int>(random.below(2)));
    for (AveragingPeers& peer : peers) peer.count = 1;
    peers[1].computes = true;
    double best = 0;
    std::vector<double> parts(peers.size());
    const std::function<void(std::size_t, int)> share = [&](std::size_t peer, int left) {
      if (peer + 1 == peers.size()) {
        parts[peer] = double(left) / kParts;
        best = std::max(best, rate_of(peers, parts));
        return;
      }
      for (int own = 0; own <= left; ++own) {
        parts[peer] = double(own) / kParts;
        share(peer + 1, left - own);
      }
    };
    share(0, kParts);
    const double found = adaptive_roles(peers).rate_Bps;
    EXPECT_GE(found, best * (1 - 1e-6)) << round;
    EXPECT_LE(found, best * 1.1) << round;
  }
}

// Naming equal peers one by one gives the same result as naming a kind.
TEST(AveragingRoles, KindsAreWhatTheirPeersAreOneByOne) {
  RandomStream random(3, RandomPurpose::test, 0);
  for (int round = 0; round < 50; ++round) {
    Kinds kinds = random_kinds(random, 2);
    kinds[0].count += 1;
    Kinds single;
    for (AveragingPeers kind : kinds) {
      const int count = static_cast<int>(kind.count);
      kind.count = 1;
      single.insert(single.end(), count, kind);
    }
    const double rate = adaptive_roles(kinds).rate_Bps;
    EXPECT_NEAR(adaptive_roles(single).rate_Bps, rate, 1e-6 * rate) << round;
  }
}

}  // namespace
}  // namespace windtunnel
