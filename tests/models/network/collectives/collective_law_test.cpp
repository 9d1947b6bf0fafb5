#include "models/network/collectives/collective_law.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <random>
#include <set>
#include <utility>

#include "models/base/error.hpp"
#include "models/network/groups/collective_steps.hpp"
#include "models/network/nccl/nccl_latencies.hpp"
#include "models/network/nccl/nccl_tuner.hpp"
#include "tests/models/network/collective_fixtures.hpp"

namespace windtunnel {
namespace {

using K = CollectiveKind;
using A = CollectiveAlgorithm;
using P = Protocol;

// All factors differ, so that each term shows which of them it contains.
Calibration with_law() {
  Calibration calibration = make_calibration();
  InterconnectLaw& law = calibration.network;
  for (const InterconnectLawField& field : interconnect_law_fields())
    law.*field.member = parameter(1);
  law.stated = true;
  law.launch = parameter(2);
  law.node_step = parameter(3);
  law.net_ll_step = parameter(1.5);
  law.net_ll128_step = parameter(1.25);
  law.net_simple_step = parameter(1.75);
  law.tree_step = parameter(1.1);
  law.gather_step = parameter(1.4);
  law.nvls_launch = parameter(0.9);
  law.tree_chunk_bytes = parameter(1e6);
  law.rendezvous_s = parameter(7e-6);
  law.rendezvous_bytes = parameter(1e18);
  law.node_share = parameter(0.8);
  law.node_ll = parameter(0.4);
  law.node_ll128 = parameter(0.7);
  law.net_share = parameter(0.9);
  law.net_tree = parameter(0.6);
  law.net_ll = parameter(0.3);
  law.net_ll128 = parameter(0.85);
  law.nvls_share = parameter(0.65);
  law.nvls_round_bytes = parameter(0);
  law.small_share = parameter(0.5);
  law.small_bytes = parameter(0);
  law.net_pairs = parameter(0.92);
  law.net_shift = parameter(0.55);
  law.pair_step_s = parameter(3e-6);
  law.ring_overlap = parameter(0.75);
  law.tree_overlap = parameter(0.71);
  law.nvls_overlap = parameter(0.67);
  law.pairs_overlap = parameter(0.9);
  law.tuner_bandwidth = parameter(0);
  law.tuner_release = parameter(28);
  law.slow_share = parameter(0);
  return calibration;
}

struct Terms {
  Cluster cluster = make_cluster(4);
  Calibration calibration = with_law();
  std::vector<std::int32_t> gpus = strided(32, 1);

  LawTerms of(CollectiveKind kind, CollectiveAlgorithm algorithm, Protocol protocol,
              double bytes = 1e9) const {
    const CollectiveChoice running(algorithm, protocol);
    return CollectiveLaw(kind, running, group_shape(gpus, cluster), cluster, calibration)
        .terms(running, bytes);
  }
};

void expect_terms(const LawTerms& terms, double launch_us, double node_us, double net_us,
                  double node_efficiency, double net_efficiency, double overlap) {
  EXPECT_NEAR(terms.launch_s, 1e-6 * launch_us, 1e-15);
  EXPECT_NEAR(terms.node_step_s, 1e-6 * node_us, 1e-15);
  EXPECT_NEAR(terms.net_step_s, 1e-6 * net_us, 1e-15);
  EXPECT_NEAR(terms.node_efficiency, node_efficiency, 1e-12);
  EXPECT_NEAR(terms.net_efficiency, net_efficiency, 1e-12);
  EXPECT_EQ(terms.overlap, overlap);
  EXPECT_EQ(terms.slowdown, 1);
}

// Expected values are the microseconds of NCCL's tuning.cc times the law's factors.
TEST(CollectiveLaw, RingsByHand) {
  Terms terms;
  const auto all_reduce = K::all_reduce;
  // A ring of four nodes has four edges, but only three steps cross nodes; the last part crosses
  // all four.
  const double edges = 4. / 3;
  expect_terms(terms.of(all_reduce, A::ring, P::ll), 2 * 6.6, 3 * 0.6, edges * 1.5 * 2.7, 0.8 * 0.4,
               0.9 * 0.3, 0.75);
  expect_terms(terms.of(all_reduce, A::ring, P::ll128), 2 * 14, 3 * 1.9, edges * 1.25 * 4,
               0.8 * 0.7, 0.9 * 0.85, 0.75);
  expect_terms(terms.of(all_reduce, A::ring, P::simple), 2 * 8.4, 3 * 3.4, edges * 1.75 * 14, 0.8,
               0.9, 0.75);
  expect_terms(terms.of(K::all_gather, A::ring, P::simple), 2 * 8.4, 1.4 * 3 * 3.4,
               1.4 * edges * 1.75 * 14, 0.8, 0.9, 0.75);
  // Algorithms that NCCL's table lacks count as rings.
  for (const auto other : {A::hierarchical, A::hfreduce, A::halving_doubling}) {
    expect_terms(terms.of(all_reduce, other, P::simple), 2 * 8.4, 3 * 3.4, 1.75 * 14, 0.8, 0.9,
                 0.75);
  }
  terms.cluster.node.gpu_path = GpuPath::pcie;
  expect_terms(terms.of(all_reduce, A::ring, P::ll), 2 * 6.6, 3 * 1, edges * 1.5 * 2.7, 0.8 * 0.4,
               0.9 * 0.3, 0.75);
  // A GPU that is alone in its node waits for the network as in a tree.
  terms.gpus = strided(4, 8);
  expect_terms(terms.of(all_reduce, A::ring, P::ll), 2 * 6.6, 3 * 1, 1.5 * 5, 0.8 * 0.4, 0.9 * 0.3,
               0.75);
}

TEST(CollectiveLaw, TreesPassAChunkOn) {
  Terms terms;
  const double step_us = 1.75 * 1.1 * 14;
  const double node_Bps = 8 * kNic_Bps * 0.9;
  expect_terms(terms.of(K::all_reduce, A::tree, P::simple), 2 * 8.4, 3 * 4,
               step_us + 1e6 * 1e6 / node_Bps, 0.8, 0.9 * 0.6, 0.71);
  expect_terms(terms.of(K::all_reduce, A::tree, P::simple, 1000), 2 * 8.4, 3 * 4,
               step_us + 1e6 * 1000 / node_Bps, 0.8, 0.9 * 0.6, 0.71);
  // LL sends chunks of one sixteenth, also inside nodes. Two nodes up and down are four steps, one
  // of which is in the transfer time.
  const double ll_Bps = 450e9 * 0.8 * 0.4;
  const double net_ll_Bps = 8 * kNic_Bps * 0.9 * 0.6 * 0.3;
  for (const double bytes : {1000., 1e9}) {
    const double chunk = std::min(bytes, 1e6 / 16);
    expect_terms(terms.of(K::all_reduce, A::tree, P::ll, bytes), 2 * 6.8,
                 3 * 0.6 + 1e6 * chunk / ll_Bps, 1.5 * 1.1 * 5 + 1e6 * 0.75 * chunk / net_ll_Bps,
                 0.8 * 0.4, 0.9 * 0.6 * 0.3, 0.71);
  }
  // LL128 sends chunks of up to one quarter.
  for (const double bytes : {1e6, 2.4e6, 1e9}) {
    const double enough = 16 * (1 + 2 + 0.1 * 8) / 8;
    const double chunk = std::clamp(bytes / (enough * std::sqrt(2)), 1e6 / 16, 1e6 / 4);
    EXPECT_NEAR(terms.of(K::all_reduce, A::tree, P::ll128, bytes).node_step_s,
                3 * 1.25e-6 + chunk / (450e9 * 0.8 * 0.7), 1e-15);
  }
  terms.gpus = strided(16, 2);  // half of the NICs
  expect_terms(terms.of(K::all_reduce, A::tree, P::simple), 2 * 8.4, 3 * 4,
               step_us + 1e6 * .5e6 / (node_Bps / 2), 0.8, 0.9 * 0.6, 0.71);  // and of channels
}

TEST(CollectiveLaw, TheSwitchCountsOnce) {
  const Terms terms;
  expect_terms(terms.of(K::all_reduce, A::nvls, P::simple), 0.9 * 25, 0, 1.75 * 18, 0.65, 0.9,
               0.67);
  expect_terms(terms.of(K::all_reduce, A::nvls, P::ll), 0.9 * 25, 0, 1.75 * 18, 0.65, 0.9,
               0.67);  // NVLS has Simple only
  expect_terms(terms.of(K::all_gather, A::nvls, P::simple), 0.9 * 25, 0, 1.4 * 1.75 * 18, 0.8, 0.9,
               0.67);
}

// The first round of all channels does not overlap; a message smaller than a round is its own
// round.
TEST(CollectiveLaw, TheSwitchFillsARoundFirst) {
  Terms terms;
  terms.calibration.network.nvls_round_bytes = parameter(4 << 20);
  const double round = 8.0 * (4 << 20);
  for (const double bytes : {1e6, 1e7, 1e8, 1e9}) {
    const LawTerms of_size = terms.of(K::all_reduce, A::nvls, P::simple, bytes);
    EXPECT_NEAR(of_size.node_efficiency, 0.65 * bytes / (bytes + std::min(bytes, round)), 1e-12);
    EXPECT_EQ(terms.of(K::all_reduce, A::ring, P::simple, bytes).node_efficiency, 0.8);
  }
}

TEST(CollectiveLaw, PairsExchangeWithAllOfANode) {
  Terms terms;
  expect_terms(terms.of(K::all_to_all, A::pairwise, P::simple), 2 * 8.4, 3 * 3.4, 8 * 3, 0.8,
               0.9 * 0.92, 0.9);
  expect_terms(terms.of(K::send_recv, A::direct, P::ll), 2 * 8.4, 3 * 3.4, 1.75 * 14, 0.8,
               0.9 * 0.55, 0.9);
  terms.cluster.node.gpu_path = GpuPath::pcie;
  expect_terms(terms.of(K::all_to_all, A::pairwise, P::simple), 2 * 8.4, 3 * 5.7, 8 * 3, 0.8,
               0.9 * 0.92, 0.9);
}

TEST(CollectiveLaw, LargeMessagesWaitAndSmallPartsAreCopied) {
  Terms terms;
  terms.calibration.network.rendezvous_bytes = parameter(1000);
  terms.calibration.network.small_bytes = parameter(500);
  const auto ring = [&](Protocol protocol, double bytes) {
    return terms.of(K::all_reduce, A::ring, protocol, bytes);
  };
  const double edges = 4. / 3;
  // Parts have S / 32 bytes, which LL's flags double.
  EXPECT_NEAR(ring(P::simple, 31999).net_step_s, edges * 1.75 * 14e-6, 1e-15);
  EXPECT_NEAR(ring(P::simple, 32000).net_step_s, edges * 1.75 * 14e-6 + 7e-6, 1e-15);
  EXPECT_NEAR(ring(P::ll, 15999).net_step_s, edges * 1.5 * 2.7e-6, 1e-15);
  EXPECT_NEAR(ring(P::ll, 16000).net_step_s, edges * 1.5 * 2.7e-6 + 7e-6, 1e-15);
  const double passed_on_s = 0.75 * 1000 / (8 * kNic_Bps * 0.9 * 0.6 * 0.85);
  EXPECT_NEAR(terms.of(K::all_reduce, A::tree, P::ll128, 1000).net_step_s,
              1.25 * 1.1 * 8.5e-6 + 7e-6 + passed_on_s, 1e-15);  // a tree sends it whole
  EXPECT_NEAR(ring(P::simple, 16000).net_efficiency, 0.9 * 0.5, 1e-12);
  EXPECT_NEAR(ring(P::simple, 32 * 500 * std::sqrt(2)).net_efficiency, 0.9 * std::sqrt(0.5), 1e-12);
  EXPECT_NEAR(ring(P::simple, 32000).net_efficiency, 0.9, 1e-12);
  EXPECT_NEAR(ring(P::ll128, 16000).net_efficiency, 0.9 * 0.85, 1e-12);
}

TEST(CollectiveLaw, NoShareIsMoreThanTheWireOrThanWasMeasured) {
  Terms terms;
  terms.calibration.network.small_share = parameter(10);
  terms.calibration.network.small_bytes = parameter(1e18);
  EXPECT_EQ(terms.of(K::all_reduce, A::ring, P::simple).net_efficiency, 1);
  terms.cluster.fabric.measured = {200e9, 0, 0, Origin::measured};
  EXPECT_NEAR(terms.of(K::all_reduce, A::ring, P::simple).net_efficiency, 200e9 / (8 * kNic_Bps),
              1e-12);
  terms.calibration.network.slow_share = parameter(1);
  EXPECT_EQ(terms.of(K::all_reduce, A::ring, P::simple).slowdown,
            slowdown(terms.calibration.network, 4));
}

TEST(CollectiveLaw, WithoutALawFiveConstantsServeAll) {
  Terms terms;
  terms.calibration.network.stated = false;
  for (const auto algorithm : {A::ring, A::tree, A::nvls}) {
    expect_terms(terms.of(K::all_reduce, algorithm, P::simple), 4, 1, 5, 0.85, 0.9, 1);
  }
  terms.cluster.node.gpu_path = GpuPath::pcie;
  EXPECT_EQ(terms.of(K::all_reduce, A::ring, P::simple).node_efficiency, 0.8);
}

// Phases that an algorithm runs one after the other add up and do not overlap, whatever the law's
// exponent: of 32 members' parts, 28 move inside nodes and 24 leave them.
TEST(CollectiveLaw, PhasesAddUp) {
  Terms terms;
  constexpr double kBytes = 1e13;  // makes latency negligible
  const GroupShape shape = group_shape(terms.gpus, terms.cluster);
  const auto cost = [&](A algorithm) {
    return collective_cost(K::all_to_all, {algorithm, P::simple}, shape, kBytes, terms.cluster,
                           terms.calibration);
  };
  const double node_s = 7.0 / 8 * kBytes / (terms.cluster.node.nvlink_Bps.value * 0.8);
  const double pairwise_s = cost(A::pairwise).seconds;
  EXPECT_NEAR(cost(A::hierarchical).seconds, pairwise_s + node_s, 1e-3 * pairwise_s);
}

TEST(CollectiveLaw, LatencyAndTransferOverlapAsTheExponentSays) {
  LawTerms terms;
  EXPECT_DOUBLE_EQ(law_seconds(terms, 3, 4), 7);
  terms.overlap = 0.5;  // strongest pipelining
  EXPECT_DOUBLE_EQ(law_seconds(terms, 9, 4), 9 + 4 + 2 * 6);
  terms.overlap = 2;
  EXPECT_DOUBLE_EQ(law_seconds(terms, 3, 4), 5);
  terms.overlap = 60;  // the larger of both
  EXPECT_NEAR(law_seconds(terms, 3, 4), 4, 1e-6);
  terms.slowdown = 1.5;
  for (const double overlap : {0.5, 0.7, 1.0, 3.0}) {
    terms.overlap = overlap;
    EXPECT_EQ(law_seconds(terms, 0, 0), 0);
    EXPECT_DOUBLE_EQ(law_seconds(terms, 2, 0), 3);
    EXPECT_DOUBLE_EQ(law_seconds(terms, 0, 2), 3);
    double last_s = 0;
    for (double transfer_s = 1e-9; transfer_s < 1e3; transfer_s *= 3) {
      const double now_s = law_seconds(terms, 1e-3, transfer_s);
      EXPECT_GE(now_s, last_s);
      EXPECT_GE(now_s, 1.5 * std::max(1e-3, transfer_s));
      EXPECT_DOUBLE_EQ(now_s, law_seconds(terms, transfer_s, 1e-3));
      last_s = now_s;
    }
  }
}

TEST(CollectiveLaw, TheTunersPickRunsUnlessAskedOtherwise) {
  Terms terms;
  terms.cluster.node.gpu.generation = GpuGeneration::hopper;
  const GroupShape shape = group_shape(terms.gpus, terms.cluster);
  const auto choice = [&](CollectiveChoice wanted, double bytes) {
    return CollectiveLaw(K::all_reduce, wanted, shape, terms.cluster, terms.calibration)
        .choice(bytes);
  };
  const TunerTable table = make_tuner_table(K::all_reduce, shape, terms.cluster, {});
  int picks = 0;
  CollectiveChoice last;
  for (double bytes = 8; bytes < 1e11; bytes *= 2) {
    EXPECT_EQ(choice({}, bytes), nccl_choice(table, {}, bytes)) << bytes;
    picks += choice({}, bytes) != last;
    last = choice({}, bytes);
    EXPECT_EQ(choice({A::automatic, P::ll}, bytes).protocol, P::ll);
    EXPECT_EQ(choice(A::tree, bytes).algorithm, A::tree);
    EXPECT_EQ(choice(A::hfreduce, bytes), CollectiveChoice(A::hfreduce));
    EXPECT_EQ(choice({A::tree, P::simple}, bytes), CollectiveChoice(A::tree, P::simple));
  }
  EXPECT_GT(picks, 2);
  terms.calibration.network.stated = false;
  EXPECT_EQ(choice({}, 1e9), CollectiveChoice());
}

// A law that is kept for many sizes gives the same bits as a new one, whatever it was asked before.
TEST(CollectiveLaw, KeptForManySizesItSaysWhatANewOneSays) {
  std::mt19937 random(7);
  const auto up_to = [&](int most) { return std::uniform_int_distribution(0, most)(random); };
  std::set<std::pair<A, P>> ran;
  for (int trial = 0; trial < 400; ++trial) {
    Cluster cluster = make_cluster(1 << up_to(6), 1 << up_to(3));
    const int gpu = up_to(4);
    cluster.node.gpu.generation =
        std::array{GpuGeneration::volta, GpuGeneration::ampere, GpuGeneration::hopper,
                   GpuGeneration::blackwell, GpuGeneration::blackwell}
            .at(gpu);
    cluster.node.gpu.superchip = gpu == 4;
    cluster.fabric.nodes_per_pod = 4;
    Calibration calibration = with_law();
    InterconnectLaw& law = calibration.network;
    law.stated = up_to(3) > 0;
    law.tuner_release = parameter(std::array{18, 19, 23, 28}.at(up_to(3)));
    law.tuner_ll128 = parameter(up_to(1));
    law.slow_share = parameter(0.1 * up_to(1));
    const auto kind = static_cast<K>(up_to(static_cast<int>(K::send_recv)));
    CollectiveChoice wanted;
    if (up_to(2) == 0) wanted.algorithm = static_cast<A>(up_to(static_cast<int>(A::hfreduce)));
    if (up_to(2) == 0) wanted.protocol = static_cast<P>(up_to(static_cast<int>(P::simple)));
    const GroupShape shape = group_shape(strided(1 + up_to(cluster.gpus() - 1), 1), cluster);
    const CollectiveLaw kept(kind, wanted, shape, cluster, calibration);
    for (int i = 0; i < 20; ++i) {
      const double bytes = std::floor(std::exp2(0.01 * up_to(3600)));
      const CollectiveCost once = collective_cost(kind, wanted, shape, bytes, cluster, calibration);
      EXPECT_EQ(collective_cost(kept, bytes), once)
          << to_string(kind) << " of " << bytes << " on " << shape.members;
      EXPECT_TRUE(std::isfinite(once.seconds));
      ran.emplace(once.algorithm, once.protocol);
    }
  }
  EXPECT_GT(ran.size(), 15u);
}

// Algorithms that NCCL lacks also have a time, in closed form and as flows.
TEST(CollectiveLaw, EveryAlgorithmRunsUnderAStatedLaw) {
  const Terms terms;
  const GroupShape shape = group_shape(terms.gpus, terms.cluster);
  int ran = 0;
  for (int k = 0; k <= static_cast<int>(K::send_recv); ++k) {
    const auto kind = static_cast<CollectiveKind>(k);
    for (const CollectiveAlgorithm algorithm : algorithms_of(kind)) {
      if (why_not(kind, algorithm, shape, terms.cluster) != nullptr) continue;
      const CollectiveCost cost =
          collective_cost(kind, algorithm, shape, 1e8, terms.cluster, terms.calibration);
      EXPECT_EQ(cost.algorithm, algorithm);
      EXPECT_GE(cost.seconds, cost.transfer_s);
      const CollectiveFlows flows =
          collective_flows(kind, algorithm, terms.gpus, 1e8, terms.cluster, terms.calibration);
      EXPECT_NEAR(fluid_time(flows, terms.gpus, terms.cluster) / cost.seconds, 1, 0.1)
          << to_string(kind) << " " << to_string(algorithm);
      ++ran;
    }
  }
  EXPECT_GT(ran, 18);
}

// The origin of a time is the weakest of the fields that it uses; fields that it does not use have
// no effect.
TEST(CollectiveLaw, RestsOnTheFieldsThatItUses) {
  Terms terms;
  const auto weak_fields = [&](CollectiveKind kind, CollectiveChoice choice) {
    std::vector<std::string_view> weak;
    for (const InterconnectLawField& field : interconnect_law_fields()) {
      Calibration calibration = with_law();
      (calibration.network.*field.member).origin = Origin::assumed;
      const Origin origin = collective_cost(kind, choice, group_shape(terms.gpus, terms.cluster),
                                            1e9, terms.cluster, calibration)
                                .origin;
      if (origin == Origin::assumed) weak.push_back(field.name);
    }
    return weak;
  };
  using Names = std::vector<std::string_view>;
  EXPECT_EQ(weak_fields(K::all_reduce, {A::ring, P::ll}),
            (Names{"launch", "node.step", "net.ll_step", "node.share", "node.ll", "net.share",
                   "net.ll", "ring.overlap", "slow.share", "slow.log"}));
  EXPECT_EQ(
      weak_fields(K::all_reduce, {A::tree, P::simple}),
      (Names{"launch", "node.step", "net.simple_step", "net.tree_step", "net.tree_chunk",
             "node.share", "net.share", "net.tree", "tree.overlap", "slow.share", "slow.log"}));
  EXPECT_EQ(weak_fields(K::all_to_all, {A::pairwise, P::simple}),
            (Names{"launch", "node.step", "node.share", "net.share", "net.pairs", "net.pair_step",
                   "pairs.overlap", "slow.share", "slow.log"}));
  EXPECT_EQ(weak_fields(K::all_to_all, A::one_sided),
            (Names{"one_sided.launch", "one_sided.step", "one_sided.node", "one_sided.net",
                   "slow.share", "slow.log"}));
  terms.gpus = strided(8, 1);
  EXPECT_EQ(weak_fields(K::all_reduce, {A::nvls, P::simple}),
            (Names{"nvls.launch", "nvls.share", "nvls.overlap"}));
}

TEST(NcclLatencies, AreKnownOfNcclsAlgorithmsAlone) {
  for (const auto algorithm :
       {A::ring, A::tree, A::nvls, A::nvls_tree, A::collnet_direct, A::collnet_chain, A::pat}) {
    ASSERT_NE(find_nccl_latencies(algorithm), nullptr);
    EXPECT_EQ(find_nccl_latencies(algorithm)->algorithm, algorithm);
  }
  for (const auto algorithm : {A::automatic, A::hierarchical, A::hfreduce, A::pairwise}) {
    EXPECT_EQ(find_nccl_latencies(algorithm), nullptr);
  }
  EXPECT_EQ(protocol_index(P::ll), 0u);
  EXPECT_EQ(protocol_index(P::simple), 2u);
  EXPECT_THROW(protocol_index(P::automatic), InternalError);
}

// ---- Measured curves.

// The curve has kinks, a constant part and a jump in its slope.
KernelLaw curve_of(const char* key, double scale) {
  KernelLaw law;
  law.key = key;
  law.curve.sizes = {1e3, 1e4, 1e5, 1e8};
  law.curve.seconds = {scale * 2e-5, scale * 2e-5, scale * 9e-5, scale * 5e-2};
  law.least = 1e3;
  law.most = 1e8;
  return law;
}

Calibration with_curves() {
  Calibration calibration = make_calibration();
  calibration.kernel_laws.laws = {
      curve_of("all-reduce-ring ranks=8", 1), curve_of("all-gather-ring ranks=8", 0.6),
      curve_of("reduce-scatter-ring ranks=8", 0.7), curve_of("all-to-all-pairwise ranks=8", 0.5),
      curve_of("send", 0.3)};
  return calibration;
}

TEST(MeasuredCollectives, BothFormsTakeWhatWasMeasured) {
  const Calibration calibration = with_curves();
  Cluster cluster = make_cluster(2);
  const std::vector<std::int32_t> gpus = strided(8, 1);
  for (const GpuPath path : {GpuPath::nvlink, GpuPath::pcie}) {
    cluster.node.gpu_path = path;
    const GroupShape shape = group_shape(gpus, cluster);
    for (const auto& [kind, scale] :
         {std::pair{K::all_reduce, 1.0}, std::pair{K::all_gather, 0.6},
          std::pair{K::reduce_scatter, 0.7}, std::pair{K::all_to_all, 0.5}}) {
      double before = 0;
      for (double bytes = 100; bytes < 1e10; bytes *= 1.7) {
        const double seconds = curve_of("", scale).curve.at(bytes);
        const CollectiveCost cost =
            collective_cost(kind, A::automatic, shape, bytes, cluster, calibration);
        EXPECT_NEAR(cost.seconds, seconds, 1e-12 * seconds) << to_string(kind) << " " << bytes;
        EXPECT_EQ(cost.origin, Origin::measured);
        EXPECT_GE(cost.seconds, before);
        before = cost.seconds;
        const CollectiveFlows flows =
            collective_flows(kind, A::automatic, gpus, bytes, cluster, calibration);
        EXPECT_NEAR(fluid_time(flows, gpus, cluster), seconds, 1e-9 * seconds)
            << to_string(kind) << " " << bytes;
        EXPECT_GE(flows.latency_s, 0);
      }
    }
  }
}

TEST(MeasuredCollectives, OtherGroupsAndKindsKeepTheConstants) {
  const Calibration calibration = with_curves();
  const Calibration constants = make_calibration();
  const Cluster cluster = make_cluster(2);
  const auto both = [&](K kind, A algorithm, const std::vector<std::int32_t>& gpus) {
    const GroupShape shape = group_shape(gpus, cluster);
    return std::pair{collective_cost(kind, algorithm, shape, 1e6, cluster, calibration),
                     collective_cost(kind, algorithm, shape, 1e6, cluster, constants)};
  };
  const auto fewer = both(K::all_reduce, A::automatic, strided(4, 1));
  EXPECT_EQ(fewer.first, fewer.second);
  const auto across = both(K::all_reduce, A::ring, strided(8, 2));
  EXPECT_EQ(across.first, across.second);
  const auto broadcast = both(K::broadcast, A::automatic, strided(8, 1));
  EXPECT_EQ(broadcast.first, broadcast.second);
  const auto tree = both(K::all_reduce, A::tree, strided(8, 1));
  EXPECT_EQ(tree.first, tree.second);
}

TEST(MeasuredCollectives, OneSizeForEachPairKeepsTheCurveWhereAllAreEqual) {
  const Calibration calibration = with_curves();
  const Cluster cluster = make_cluster(1);
  const std::vector<std::int32_t> gpus = strided(8, 1);
  const std::vector<double> bytes(64, 1e6 / 8);
  const double seconds = curve_of("", 0.5).curve.at(1e6);
  EXPECT_NEAR(all_to_all_v_cost(bytes, gpus, cluster, calibration).seconds, seconds,
              1e-9 * seconds);
}

// A measured choice of the library gives the time of the automatic algorithm, not of one that is
// requested.
TEST(MeasuredCollectives, ByTheChoiceOfALibrary) {
  Calibration calibration = make_calibration();
  calibration.kernel_laws.laws = {curve_of("all-reduce ranks=8", 1),
                                  curve_of("broadcast ranks=8", 2)};
  const Cluster cluster = make_cluster(1);
  const GroupShape shape = group_shape(strided(8, 1), cluster);
  const auto seconds = [&](K kind, A algorithm) {
    return collective_cost(kind, algorithm, shape, 3e6, cluster, calibration).seconds;
  };
  const double measured_s = curve_of("", 1).curve.at(3e6);
  EXPECT_NEAR(seconds(K::all_reduce, A::automatic), measured_s, 1e-12);
  EXPECT_NEAR(seconds(K::broadcast, A::automatic), 2 * measured_s, 1e-12);
  EXPECT_LT(seconds(K::all_reduce, A::tree), measured_s / 2);
  // The curve of a specific algorithm takes precedence.
  calibration.kernel_laws.laws.push_back(curve_of("all-reduce-ring ranks=8", 0.25));
  EXPECT_NEAR(seconds(K::all_reduce, A::automatic), measured_s / 4, 1e-12);
}

TEST(MeasuredCollectives, AMessage) {
  EXPECT_FALSE(measured_message(make_calibration(), 1e6));
  for (const double bytes : {0.0, 1e3, 5e4, 1e7}) {
    const auto message = measured_message(with_curves(), bytes);
    ASSERT_TRUE(message);
    EXPECT_NEAR(message->latency_s + message->transfer_s, curve_of("", 0.3).curve.at(bytes), 1e-18);
    EXPECT_EQ(message->transfer_s > 0, bytes > 0);
  }
}

}  // namespace
}  // namespace windtunnel
