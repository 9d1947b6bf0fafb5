#include "scenarios/language/library/interconnect_laws.hpp"

#include <gtest/gtest.h>

#include "scenarios/language/library/library.hpp"
#include "scenarios/language/text/choices.hpp"

namespace windtunnel {
namespace {

bool may_be_none(std::string_view name) {
  return name == "net.small_bytes" || name == "tuner.bandwidth" || name == "tuner.ll128" ||
         name == "one_sided.step" || name == "nvls.round";
}

// The test covers every node of the library over every transport.
TEST(InterconnectLaws, EveryNumberHasAValueAndASource) {
  for (const NodeSpec& node : library_nodes()) {
    for (const Choice<Transport>& transport : kChoices<Transport>) {
      if (transport.value == Transport::ici) continue;  // NCCL does not run over it
      const InterconnectLaw law = specified_interconnect_law(node, transport.value);
      ASSERT_TRUE(law.stated) << node.name;
      for (const InterconnectLawField& field : interconnect_law_fields()) {
        const Parameter& parameter = law.*field.member;
        const std::string at =
            node.name + " " + std::string(transport.name) + " " + std::string(field.name);
        EXPECT_TRUE(parameter.value > 0 || may_be_none(field.name)) << at;
        EXPECT_LE(parameter.low, parameter.value) << at;
        EXPECT_GE(parameter.high, parameter.value) << at;
        EXPECT_TRUE(parameter.high > parameter.low || !field.fitted) << at << ": a fit moves it";
        EXPECT_GE(parameter.source.size(), 5u) << at;
      }
      EXPECT_LE(law.net_share.value, 1) << node.name;
      EXPECT_LE(law.node_share.value, 1) << node.name;
      EXPECT_LE(law.one_sided_net.value, law.net_share.value) << node.name;
      EXPECT_LE(law.one_sided_node.value, law.node_share.value) << node.name;
    }
  }
}

// Values of each layer reach the law: sockets are slower than RDMA, PCIe is slower than NVLink, and
// other generations differ from Hopper in their own values.
TEST(InterconnectLaws, LayersChangeWhatIsTheirs) {
  const NodeSpec h100 = find_node("dgx-h100");
  const InterconnectLaw base = specified_interconnect_law(h100, Transport::infiniband);
  for (const Choice<Transport>& transport : kChoices<Transport>) {
    if (transport.value == Transport::infiniband || transport.value == Transport::ici) continue;
    const InterconnectLaw law = specified_interconnect_law(h100, transport.value);
    EXPECT_LT(law.net_share.value, base.net_share.value) << transport.name;
    EXPECT_EQ(law.node_share.value, base.node_share.value) << transport.name;
  }
  NodeSpec pcie = h100;
  pcie.gpu_path = GpuPath::pcie;
  EXPECT_LT(specified_interconnect_law(pcie, Transport::infiniband).node_share.value,
            base.node_share.value);
  NodeSpec v100 = h100;
  v100.gpu = find_gpu("v100");
  EXPECT_EQ(specified_interconnect_law(v100, Transport::infiniband).net_share.value,
            base.net_share.value);
  v100.nics = 1;
  EXPECT_LT(specified_interconnect_law(v100, Transport::infiniband).net_share.value,
            base.net_share.value);
  for (const char* gpu : {"b200", "gb200", "b300", "gb300"}) {
    NodeSpec blackwell = h100;
    blackwell.gpu = find_gpu(gpu);
    EXPECT_LT(specified_interconnect_law(blackwell, Transport::infiniband).nvls_share.value,
              base.nvls_share.value)
        << gpu;
  }
}

// A host limits bytes per second: half of 100 Gb/s on V100 with one NIC for all GPUs, and 3.5 GB/s
// with sockets.
TEST(InterconnectLaws, SlowNicsDoNotFeelTheirHost) {
  NodeSpec node = find_node("dgx-v100");
  node.nics = 1;
  const auto share = [&](double nic_Bps, Transport transport) {
    node.nic_Bps = {nic_Bps, nic_Bps, nic_Bps, Origin::spec, "test"};
    return specified_interconnect_law(node, transport).net_share.value;
  };
  EXPECT_DOUBLE_EQ(share(12.5e9, Transport::infiniband), 0.5);
  EXPECT_DOUBLE_EQ(share(25e9, Transport::infiniband), 0.25);
  EXPECT_DOUBLE_EQ(share(1.25e9, Transport::infiniband), 0.95);
  EXPECT_DOUBLE_EQ(share(12.5e9, Transport::tcp), 0.28);
  EXPECT_DOUBLE_EQ(share(1.25e9, Transport::tcp), 0.95);
}

// Constants that were fitted to runs are kept: those of links inside nodes for groups in one node,
// those of NICs for all groups.
TEST(InterconnectLaws, AMachinesLawUnlessItsConstantsWereFitted) {
  const NodeSpec& node = find_node("dgx-a100");
  const auto stated = [&](const char* name) {
    Calibration calibration = find_calibration(name);
    state_network_law(node, Transport::infiniband, calibration);
    return calibration;
  };
  const Calibration published = stated("a100-published");
  EXPECT_TRUE(published.network.stated);
  EXPECT_FALSE(published.node_network);
  const Calibration single = stated("a100-single-node");
  EXPECT_TRUE(interconnect_law(single, 2).stated);
  EXPECT_FALSE(interconnect_law(single, 1).stated);
  EXPECT_FALSE(stated("h100-sweep").network.stated);
}

}  // namespace
}  // namespace windtunnel
