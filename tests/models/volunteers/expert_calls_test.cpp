#include "models/volunteers/expert_calls.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <queue>
#include <vector>

#include "models/base/random.hpp"

namespace windtunnel {
namespace {

TEST(ExpertCalls, WaitsForTheKthOfThoseThatCome) {
  const auto wait = [](int experts, int answers, double loss) {
    return answered_s({.experts = experts, .answers = answers, .loss = loss, .timeout_s = 100}, 2);
  };
  EXPECT_DOUBLE_EQ(wait(1, 1, 0), 2);
  EXPECT_DOUBLE_EQ(wait(4, 4, 0), 2 * (1 + 1.0 / 2 + 1.0 / 3 + 1.0 / 4));
  EXPECT_DOUBLE_EQ(wait(4, 1, 0), 2 * 1.0 / 4);
  EXPECT_NEAR(wait(1, 1, 0.1), 0.9 * 2 + 0.1 * 100, 1e-12);
  EXPECT_NEAR(wait(2, 1, 0.1), 0.81 * 1 + 0.18 * 2 + 0.01 * 100, 1e-12);
}

TEST(ExpertCalls, WaitsAsDrawnOnesDo) {
  RandomStream random(1, RandomPurpose::test, 0);
  for (int round = 0; round < 20; ++round) {
    ExpertCalls calls{.experts = 1 + static_cast<int>(random.below(6)),
                      .loss = 0.5 * random.uniform(),
                      .timeout_s = 50};
    calls.answers = 1 + static_cast<int>(random.below(calls.experts));
    double sum = 0;
    double squares = 0;
    constexpr int kDraws = 20000;
    for (int draw = 0; draw < kDraws; ++draw) {
      std::vector<double> come;
      for (int call = 0; call < calls.experts; ++call) {
        if (random.uniform() >= calls.loss) come.push_back(random.exponential(1));
      }
      std::ranges::sort(come);
      const bool enough = static_cast<int>(come.size()) >= calls.answers;
      const double wait_s = enough ? come[calls.answers - 1] : calls.timeout_s;
      sum += wait_s;
      squares += wait_s * wait_s;
    }
    const double mean = sum / kDraws;
    const double error = std::sqrt((squares / kDraws - mean * mean) / kDraws);
    EXPECT_NEAR(mean, answered_s(calls, 1), 4 * error) << round;
  }
}

// Simulates batches that wait or are served in turn, one expert per visit. The analysis is exact if
// both times are exponential and each visit draws its peer anew.
double simulated_rate(const CalledPeers& called, int in_flight, RandomStream& random) {
  struct Arrival {
    double at_s;
    bool operator<(const Arrival& other) const { return at_s > other.at_s; }
  };
  std::priority_queue<Arrival> arrivals;
  for (int batch = 0; batch < in_flight; ++batch) {
    arrivals.push({random.exponential(called.wait_s)});
  }
  std::vector<double> free_s(called.peers);
  constexpr int kVisits = 200000;
  double end_s = 0;
  for (int visit = 0; visit < kVisits; ++visit) {
    const double at_s = arrivals.top().at_s;
    arrivals.pop();
    double& peer = free_s[random.below(called.peers)];
    peer = std::max(peer, at_s) + random.exponential(called.compute_s);
    end_s = std::max(end_s, peer);
    arrivals.push({peer + random.exponential(called.wait_s)});
  }
  return kVisits / end_s / called.visits;
}

TEST(ExpertCalls, TheAnalysisIsWhatBatchesInTurnDo) {
  RandomStream random(2, RandomPurpose::test, 0);
  for (const double wait_s : {0.01, 0.1, 1.0}) {
    for (const int in_flight : {1, 8, 64}) {
      const CalledPeers called{.peers = 4, .visits = 10, .wait_s = wait_s, .compute_s = 0.05};
      const double expected = batches_per_s(called, in_flight);
      EXPECT_NEAR(simulated_rate(called, in_flight, random), expected, 0.02 * expected)
          << wait_s << " s, " << in_flight << " in flight";
    }
  }
}

TEST(ExpertCalls, NeitherPeersNorLittlesLawAreBeaten) {
  RandomStream random(3, RandomPurpose::test, 0);
  for (int round = 0; round < 200; ++round) {
    const CalledPeers called{.peers = 1 + static_cast<int>(random.below(20)),
                             .visits = 1.0 + static_cast<double>(random.below(100)),
                             .wait_s = random.uniform(),
                             .compute_s = 0.001 + 0.1 * random.uniform(),
                             .experts = 1 + static_cast<int>(random.below(4))};
    const double most = called.peers / (called.visits * called.experts * called.compute_s);
    double before = 0;
    for (const int in_flight : {1, 2, 16, 128, 4096}) {
      const double rate = batches_per_s(called, in_flight);
      const double unqueued = in_flight / (called.visits * (called.wait_s + called.compute_s));
      EXPECT_LE(rate, most * (1 + 1e-9));
      EXPECT_LE(rate, unqueued * (1 + 1e-9));
      EXPECT_GE(rate, before * (1 - 1e-9));
      before = rate;
    }
    EXPECT_GT(batches_per_s(called, 1 + static_cast<int>(100 * saturating_batches(called))),
              0.9 * most);
  }
}

// The paper claims that latency costs many concurrent trainers nothing, and a single one nearly all
// of its rate.
TEST(ExpertCalls, ManyTrainersAreFlatWhereOneFalls) {
  const auto rate = [](double latency_s, int trainers) {
    return batches_per_s({.peers = 4, .visits = 224, .wait_s = latency_s, .compute_s = 0.01},
                         trainers);
  };
  EXPECT_GT(rate(1, 4096), 0.9 * rate(0.01, 4096));
  EXPECT_LT(rate(1, 1), 0.05 * rate(0.01, 1));
}

}  // namespace
}  // namespace windtunnel
