// The scenarios in scenarios/pools must come close to published results of systems for
// heterogeneous nodes.
#include <gtest/gtest.h>

#include "scenarios/language/case.hpp"
#include "sim/study/simulate.hpp"
#include "tests/support/error_of.hpp"

namespace windtunnel {
namespace {

double step_s(const std::string& file, const Overrides& set = {}) {
  return simulate(load_case(WINDTUNNEL_SOURCE_DIR "/scenarios/pools/" + file, set))
      .iteration.time_s;
}

constexpr const char* kEthernet = "{base: dgx-a100, nics: 1, nic: 25 Gb/s}";

// Holmes (arXiv 2312.03549): islands with different NICs are nearly as fast as one RDMA network,
// and far faster than Ethernet, if data parallelism stays inside them.
TEST(Holmes, IslandsLieBetweenRdmaAndEthernet) {
  const double islands_s = step_s("islands.yaml");
  const double across_s = step_s("islands.yaml", {{"layout.place", "{dp: [infiniband, roce]}"}});
  const double rdma_s = step_s("islands.yaml", {{"cluster.pools.1.network", "infiniband"}});
  const double ethernet_s = step_s("islands.yaml", {{"cluster.pools.1.network", "infiniband"},
                                                    {"cluster.pools.0.node", kEthernet},
                                                    {"cluster.pools.1.node", kEthernet}});
  EXPECT_LT(rdma_s, islands_s);
  EXPECT_LT(islands_s, across_s);
  EXPECT_LT(across_s, ethernet_s);
  EXPECT_LT(islands_s, 1.25 * rdma_s);
  EXPECT_GT(ethernet_s, 1.5 * islands_s);
}

// Cephalo (arXiv 2411.01075) reports at least 1.2 times the throughput of an even split.
TEST(Cephalo, SequencesSharedOutBeatAnEvenSplit) {
  const double even_s = step_s("uneven-batch.yaml", {{"batch.shares", "even"}});
  const double shared_s = step_s("uneven-batch.yaml");
  EXPECT_GT(even_s, 1.2 * shared_s);
}

// Cephalo also fits models whose training state has no room if it is divided evenly.
TEST(Cephalo, StateApartFromSequencesFitsALargerModel) {
  for (const char* micro : {"1", "2", "4"}) {
    EXPECT_TRUE(fails(
        [&] {
          step_s("uneven-state.yaml", {{"layout.shard_shares", "even"}, {"batch.micro", micro}});
        },
        "more than the usable", ExitCode::failed))
        << micro;
  }
  const double even_s = step_s("uneven-state.yaml", {{"batch.shares", "even"}});
  EXPECT_GT(even_s, 1.2 * step_s("uneven-state.yaml"));
}

// A cluster of two generations must be slower than a cluster of the newer generation. If its work
// is divided well, it is faster than a cluster of the older generation.
TEST(MixedGenerations, LieBetweenTheirParts) {
  const auto of = [](const std::string& node) {
    return step_s("mixed-generations.yaml",
                  {{"cluster.pools", "[{name: new, nodes: 64, node: " + node +
                                         "}, {name: old, nodes: 64, node: " + node + "}]"}});
  };
  const double mixed_s = step_s("mixed-generations.yaml");
  EXPECT_GT(mixed_s, of("dgx-h100"));
  EXPECT_LT(mixed_s, of("dgx-a100"));
}

}  // namespace
}  // namespace windtunnel
