// ASTRA-sim ships a ring all-reduce of eight ranks as an example. It is rebuilt here field by
// field, with the same length in bytes. We had only a text form, which does not show three numbers:
// comm_type and comm_tag (0 here) and the microseconds of a reduction (7 here).
// https://github.com/astra-sim/astra-sim/blob/2ac213a/examples/custom_collective/sample/
// allreduce_ring_8ranks.0.et
#include <fmt/format.h>
#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "models/network/collectives/collective_interval.hpp"
#include "sim/engine/engine.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/small_job.hpp"
#include "traces/chakra/chakra.hpp"
#include "traces/chakra/chakra_fields.hpp"
#include "traces/chakra/trace_machine.hpp"

namespace windtunnel {
namespace {

namespace fs = std::filesystem;

constexpr int kRanks = 8;
constexpr int kSteps = 28;          // per rank, sends and receives in turn
constexpr int kReductions = 7;      // one after each of the first seven receives
constexpr int kBytes = 128 * 1024;  // 1 MiB in eight chunks
constexpr int kMicros = 7;
constexpr int kUpstreamFile = 29581;  // bytes

// Returns the algorithm from which the trace was generated, as its metadata states it.
std::string algorithm() {
  std::string xml =
      "<algo name=\"allreduce_ring_1channelsperring\" proto=\"LL128\" nchannels=\"1\" "
      "nchunksperloop=\"8\" ngpus=\"8\" coll=\"allreduce\" inplace=\"1\">\n";
  for (int rank = 0; rank < kRanks; ++rank) {
    xml += fmt::format(
        "  <gpu id=\"{}\" i_chunks=\"8\" o_chunks=\"0\" s_chunks=\"0\">\n"
        "    <tb id=\"0\" send=\"{}\" recv=\"{}\" chan=\"0\">\n",
        rank, (rank + 1) % kRanks, (rank + kRanks - 1) % kRanks);
    for (int step = 0; step < kSteps; ++step) {
      const char* type = step % 2 == 0 ? "s" : step < 2 * kReductions ? "rrc" : "r";
      const int chunk = (rank + 2 * kRanks - (step + 1) / 2) % kRanks;
      xml += fmt::format(
          "      <step s=\"{0}\" type=\"{1}\" srcbuf=\"i\" srcoff=\"{2}\" dstbuf=\"i\" "
          "dstoff=\"{2}\" cnt=\"1\" depid=\"-1\" deps=\"-1\" hasdep=\"0\"/>\n",
          step, type, chunk);
    }
    xml += "    </tb>\n  </gpu>\n";
  }
  return xml + "</algo>\n";
}

// Every node depends on the one before it; no node states is_cpu_op.
std::string ring_trace_of(int rank) {
  chakra::GlobalMetadata metadata;
  add_attribute(*metadata.mutable_attr(), "schema", "1.0.2-chakra.0.0.4");
  add_attribute(*metadata.mutable_attr(), "input_file", algorithm());
  add_attribute(*metadata.mutable_attr(), "collective", "allreduce");
  std::string bytes = encode(metadata);
  std::uint64_t nodes = 0;
  const auto node_of = [&](chakra::NodeType type, const char* name, int step) {
    chakra::Node node;
    node.set_id(nodes++);
    if (node.id() > 0) node.add_data_deps(node.id() - 1);
    node.set_type(type);
    node.set_name(fmt::format("{}_NODE_tb0_step{}", name, step));
    return node;
  };
  for (int step = 0; step < kSteps; ++step) {
    const bool sends = step % 2 == 0;
    chakra::Node message = node_of(sends ? chakra::COMM_SEND_NODE : chakra::COMM_RECV_NODE,
                                   sends ? "COMM_SEND" : "COMM_RECV", step);
    ChakraAttributes& attributes = *message.mutable_attr();
    add_attribute(attributes, "comm_type", std::int64_t{0});
    add_attribute(attributes, "comm_size", std::int64_t{kBytes});
    add_attribute(attributes, sends ? "comm_dst" : "comm_src",
                  std::int32_t{(rank + (sends ? 1 : kRanks - 1)) % kRanks});
    add_attribute(attributes, "comm_tag", std::int32_t{0});
    bytes += encode(message);
    if (sends || step > 2 * kReductions) continue;
    chakra::Node reduction = node_of(chakra::COMP_NODE, "COMP", step);
    reduction.set_duration_micros(kMicros);
    bytes += encode(reduction);
  }
  return bytes;
}

std::string ring_folder(int ranks) {
  const std::string folder =
      fmt::format("{}windtunnel-chakra-ring-{}-{}", ::testing::TempDir(), getpid(), ranks);
  fs::remove_all(folder);
  fs::create_directories(folder);
  for (int rank = 0; rank < ranks; ++rank) {
    std::ofstream(fmt::format("{}/allreduce_ring_8ranks.{}.et", folder, rank), std::ios::binary)
        << ring_trace_of(rank);
  }
  return folder;
}

TEST(ChakraUpstreamRing, HasTheLengthOfUpstream) {
  for (int rank = 0; rank < kRanks; ++rank) EXPECT_EQ(ring_trace_of(rank).size(), kUpstreamFile);
  EXPECT_EQ(ring_trace_of(0).substr(0, 4), "\xda\xd0\x01\x12");
}

// Fourteen messages follow one another, and a reduction follows each of the first seven.
TEST(ChakraUpstreamRing, TakesWhatItsMessagesAndReductionsTake) {
  const Cluster cluster = small_cluster(1, kRanks);
  Calibration calibration = ideal_calibration();
  calibration.p2p_launch_s.value = 2e-6;
  calibration.nvlink_latency_s.value = 3e-6;
  calibration.nvlink_efficiency.value = 0.8;
  RankPlan import = read_chakra(chakra_files(ring_folder(kRanks)));
  EXPECT_TRUE(import.foreign);
  EXPECT_EQ(import.plan.ranks, kRanks);
  EXPECT_EQ(import.absent_deps, 0);
  add_transfer_costs(import.plan, cluster, calibration);
  const Timeline timeline = execute(import.plan, cluster, {.calibration = calibration});
  const double message_s = calibration.p2p_launch_s.value + calibration.nvlink_latency_s.value +
                           kBytes / (0.8 * cluster.node.nvlink_Bps.value);
  const double expected_s = kSteps / 2 * message_s + kReductions * kMicros * 1e-6;
  EXPECT_NEAR(timeline.makespan_s, expected_s, 1e-9 * expected_s);
}

TEST(ChakraUpstreamRing, TakesLongerWhereItsMessagesDo) {
  const Cluster cluster = small_cluster(1, kRanks);
  Calibration calibration = ideal_calibration();
  calibration.p2p_launch_s.value = 2e-6;
  RankPlan import = read_chakra(chakra_files(ring_folder(kRanks)));
  add_transfer_costs(import.plan, cluster, calibration);
  const auto step_s = [&] {
    return execute(import.plan, cluster, {.calibration = calibration}).makespan_s;
  };
  constexpr double kReductions_s = kReductions * kMicros * 1e-6;
  const double messages_s = step_s() - kReductions_s;
  scale_communication(import.plan, 1.5, 3);  // all messages are small
  EXPECT_NEAR(step_s(), 3 * messages_s + kReductions_s, 1e-9 * step_s());
}

// The times of communication have the uncertainty that the network's law gives, or none if there is
// no law.
TEST(ChakraUpstreamRing, TheLawOfTheNetworkSaysHowFarItMayBeOff) {
  const Cluster cluster = small_cluster(1, kRanks);
  Calibration calibration = ideal_calibration();
  EXPECT_EQ(communication_error(cluster, calibration).large, 1);
  calibration.network.stated = true;
  calibration.network.noise_log = {0.1, 0.1, 0.1, Origin::published, "test"};
  calibration.network.small_noise_log = {0.3, 0.3, 0.3, Origin::published, "test"};
  const CommunicationError error = communication_error(cluster, calibration);
  EXPECT_NEAR(std::log(error.large), 1.96 * 0.1, 1e-3);
  EXPECT_NEAR(std::log(error.small), 1.96 * 0.3, 1e-3);
}

TEST(ChakraUpstreamRing, TheCalibrationsNumbersEndWhereLinksAreFasterOrSlower) {
  Calibration calibration = ideal_calibration();
  calibration.nvlink_efficiency = {0.8, 0.7, 0.9, Origin::published, "test"};
  calibration.p2p_launch_s = {2e-6, 1e-6, 4e-6, Origin::published, "test"};
  const Calibration faster = with_network_at_end(calibration, true);
  const Calibration slower = with_network_at_end(calibration, false);
  EXPECT_EQ(faster.nvlink_efficiency.value, 0.9);
  EXPECT_EQ(slower.nvlink_efficiency.value, 0.7);
  EXPECT_EQ(faster.p2p_launch_s.value, 1e-6);
  EXPECT_EQ(slower.p2p_launch_s.value, 4e-6);
}

TEST(ChakraUpstreamRing, NeedsTheFilesOfAllRanks) {
  const std::string error = error_of([] { read_chakra(chakra_files(ring_folder(1))); });
  EXPECT_THAT(error, testing::HasSubstr(
                         "rank 0 exchanges messages with rank 1, which has no trace (there are "
                         "traces of 1 rank); give the files of all ranks, or their folder"));
}

}  // namespace
}  // namespace windtunnel
