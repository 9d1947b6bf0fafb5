// Labels of measured rows describe machines and networks. The labels are those of published rows,
// and others in their style.
#include "validate/accuracy/collectives/collective_machine.hpp"

#include <gtest/gtest.h>

#include "tests/support/error_of.hpp"

namespace windtunnel {
namespace {

constexpr double kGbps = 1e9 / 8;

struct NetworkCase {
  const char* text;
  Transport transport;
  int nics;  // per node; 0: not stated
  double nics_per_gpu;
  double nic_Gbps;  // 0: not stated
};

const NetworkCase kNetworks[] = {
    {"InfiniBand NDR 8x400Gb/s/node", Transport::infiniband, 8, 0, 400},
    {"InfiniBand NDR 8x400Gb/s/node, SHARP job", Transport::infiniband, 8, 0, 400},
    {"InfiniBand NDR 8x400Gb/s/node (16 CX-7 over 2 nodes)", Transport::infiniband, 8, 0, 400},
    {"InfiniBand EDR 100Gb/s/node", Transport::infiniband, 1, 0, 100},
    {"InfiniBand EDR 1x100Gb/s/node (NDv2)", Transport::infiniband, 1, 0, 100},
    {"InfiniBand HDR", Transport::infiniband, 0, 0, 200},
    {"IB NDR, 4 NICs per node", Transport::infiniband, 4, 0, 400},
    {"EFA 32x100Gb/s/node", Transport::efa, 32, 0, 100},
    {"EFA 4x100Gb/s/node", Transport::efa, 4, 0, 100},
    {"EFAv3 16 x 200 Gb/s", Transport::efa, 16, 0, 200},
    {"GPUDirect-TCPX 4x200Gb/s/node", Transport::tcpx, 4, 0, 200},
    {"GPUDirect-TCPXO 8x200Gb/s/node", Transport::tcpxo, 8, 0, 200},
    {"RoCEv2 8x400Gb/s/node (CX-7)", Transport::roce, 8, 0, 400},
    {"RoCEv2 1x400Gb/s NIC per rank", Transport::roce, 0, 1, 400},
    {"RoCE 1 QSFP 200Gb/s", Transport::roce, 1, 0, 200},
    {"4 NICs per node (RoCE, 400Gb/s class)", Transport::roce, 4, 0, 400},
    {"HPE Slingshot-11 2x200Gb/s/node", Transport::slingshot, 2, 0, 200},
    {"HPE Slingshot-11 4x200Gb/s/node (1 NIC per GPU)", Transport::slingshot, 4, 0, 200},
    {"Slingshot-10 2 NICs per node", Transport::slingshot, 2, 0, 100},
    {"unknown 8-NIC fabric, ~49 GB/s per NIC", Transport::infiniband, 8, 0, 400},
    {"unknown fabric, ~13.5 GB/s per GPU pair", Transport::infiniband, 0, 0, 108},
    {"Ethernet 25 Gb/s", Transport::tcp, 0, 0, 25},
    {"10GbE", Transport::tcp, 0, 0, 10},
    {"IB 400Gb/s, 1 NIC per GPU", Transport::infiniband, 0, 1, 400},
    {"4x Slingshot-11 NICs per node", Transport::slingshot, 4, 0, 200},
    {"Slingshot-11, 1 NIC per GPU (4 per node)", Transport::slingshot, 0, 1, 200},
    {"8x NDR InfiniBand (400 Gb/s each)", Transport::infiniband, 8, 0, 400},
    {"NDR InfiniBand, 3.2 Tb/s per node", Transport::infiniband, 8, 0, 400},
    {"InfiniBand 3.2Tbps", Transport::infiniband, 8, 0, 400},
    {"2x HDR100", Transport::infiniband, 2, 0, 100},
    {"dual-rail InfiniBand HDR", Transport::infiniband, 2, 0, 200},
    {"400G RoCE v2, 8 rails", Transport::roce, 8, 0, 400},
    {"GPUDirect-RDMA 8 x 400 Gbps", Transport::roce, 8, 0, 400},
    {"RoCE 8x50GB/s", Transport::roce, 8, 0, 400},
    {"PCIe gen4 + 1x100Gb/s Ethernet", Transport::tcp, 1, 0, 100},
    {"RoCE 3200Gb/s/node", Transport::roce, 8, 0, 400},
};

TEST(NetworkText, TransportNicsAndSpeed) {
  for (const NetworkCase& each : kNetworks) {
    const NetworkText read = read_network(each.text);
    EXPECT_TRUE(read.names_transport) << each.text;
    EXPECT_EQ(read.transport, each.transport) << each.text;
    EXPECT_EQ(read.nics, each.nics) << each.text;
    EXPECT_EQ(read.nics_per_gpu, each.nics_per_gpu) << each.text;
    EXPECT_DOUBLE_EQ(read.nic_Bps, each.nic_Gbps * kGbps) << each.text;
  }
}

TEST(NetworkText, InsideTheNode) {
  EXPECT_EQ(read_network("NVLink4/NVSwitch").nvlink_Bps, 450e9);
  EXPECT_EQ(read_network("NVLink3/NVSwitch").nvlink_Bps, 300e9);
  EXPECT_EQ(read_network("NVLink4/NVSwitch (NVLS)").nvls, true);
  EXPECT_EQ(read_network("NVSwitch").nvlink, true);
  EXPECT_EQ(read_network("NVLink4 4-GPU node").nvlink_Bps, 450e9);
  EXPECT_EQ(read_network("NVL72 NVLink5 domain (MNNVL)").nvlink_domain, 72);
  EXPECT_EQ(read_network("MNNVL").nvlink_domain, 72);
  EXPECT_EQ(read_network("PCIe gen3").pcie_Bps, 16e9);
  EXPECT_EQ(read_network("PCIe Gen 4 x16").pcie_Bps, 32e9);
  EXPECT_EQ(read_network("InfiniBand NDR, SHARP job").sharp, true);
  EXPECT_EQ(read_network("InfiniBand NDR").sharp, false);
}

CollectiveRow row_of(const std::string& machine, const std::string& gpu, int gpus, int nodes,
                     const std::string& network) {
  CollectiveRow row;
  row.machine = machine;
  row.gpu = gpu;
  row.gpus = gpus;
  row.nodes = nodes;
  row.network = network;
  return row;
}

CollectiveMachine machine(const CollectiveRow& row) {
  return machine_of(row, node_sizes({row}));
}

TEST(CollectiveMachine, Dgx) {
  const CollectiveMachine read =
      machine(row_of("M", "NVIDIA H100 80GB HBM3", 64, 8, "InfiniBand NDR 8x400Gb/s/node"));
  EXPECT_EQ(read.cluster.node.name, "dgx-h100");
  EXPECT_EQ(read.cluster.nodes, 8);
  EXPECT_EQ(read.cluster.node.gpus, 8);
  EXPECT_EQ(read.cluster.node.nics, 8);
  EXPECT_EQ(read.cluster.node.nic_Bps.value, 50e9);
  EXPECT_EQ(read.shape.members, 64);
  EXPECT_EQ(read.shape.members_per_nic, 1);
  EXPECT_TRUE(read.assumed.empty());
}

// If ranks use part of each node, they lie on its first GPUs, and each has a NIC.
TEST(CollectiveMachine, PartOfEachNode) {
  const std::vector<CollectiveRow> rows = {
      row_of("M", "H100", 10, 10, "unknown 8-NIC fabric, ~49 GB/s per NIC"),
      row_of("M", "H100", 40, 10, "unknown 8-NIC fabric, ~49 GB/s per NIC")};
  const NodeSizes sizes = node_sizes(rows);
  EXPECT_EQ(sizes.at("M"), 4);
  const CollectiveMachine one = machine_of(rows[0], sizes);
  EXPECT_EQ(one.cluster.node.gpus, 8);
  EXPECT_EQ(one.gpus[1], 8);
  EXPECT_EQ(one.shape.members_per_node, 1);
  const CollectiveMachine four = machine_of(rows[1], sizes);
  EXPECT_EQ(four.cluster.node.gpus, 8);
  EXPECT_EQ(four.shape.members_per_nic, 1);
  EXPECT_EQ(four.gpus[4], 8);
}

// If there are more NICs than GPUs, each GPU gets one with its share of their summed bandwidth.
TEST(CollectiveMachine, ManySmallNics) {
  const CollectiveMachine read = machine(row_of("M", "H100", 16, 2, "EFA 32x100Gb/s/node"));
  EXPECT_EQ(read.cluster.node.nics, 8);
  EXPECT_EQ(read.cluster.node.nic_Bps.value, 50e9);
  EXPECT_EQ(read.cluster.fabric.transport, Transport::efa);
}

TEST(CollectiveMachine, FewNicsShared) {
  const CollectiveMachine read =
      machine(row_of("M", "A100-SXM4-40GB", 8, 2, "HPE Slingshot-11 2x200Gb/s/node"));
  EXPECT_EQ(read.cluster.node.gpus, 4);
  EXPECT_EQ(read.cluster.node.nics, 2);
  EXPECT_EQ(read.shape.members_per_nic, 2);
}

TEST(CollectiveMachine, OneNvlinkDomain) {
  const CollectiveMachine read =
      machine(row_of("M", "GB200", 72, 18, "NVL72 NVLink5 domain (MNNVL)"));
  EXPECT_EQ(read.cluster.nodes, 1);
  EXPECT_EQ(read.shape.nodes, 1);
  EXPECT_EQ(read.shape.members, 72);
}

TEST(CollectiveMachine, OneNicPerRank) {
  const CollectiveMachine read =
      machine(row_of("M", "NVIDIA H200", 2, 2, "RoCEv2 1x400Gb/s NIC per rank"));
  EXPECT_EQ(read.cluster.node.gpus, read.cluster.node.nics);
  EXPECT_EQ(read.cluster.node.nic_Bps.value, 50e9);
}

// NVLink is used although PCIe is also named; a rack of trays is one domain.
TEST(CollectiveMachine, NvlinkBesidePcie) {
  const CollectiveMachine both =
      machine(row_of("M", "H100", 16, 2, "NVLink4, PCIe gen5, 8x400Gb/s InfiniBand"));
  EXPECT_EQ(both.cluster.node.nvlink_Bps.value, 450e9);
  EXPECT_EQ(both.cluster.node.pcie_Bps.value, 64e9);
  EXPECT_EQ(machine(row_of("M", "GB200", 36, 9, "NVLink5")).shape.nodes, 1);
}

// A number with too many digits is not a number of NICs.
TEST(CollectiveMachine, LongNumbers) {
  const std::string digits(400, '9');
  for (const std::string& text :
       {digits + "x" + digits + "Gb/s", "NVL" + digits, digits + " NICs", "PCIe gen" + digits}) {
    EXPECT_NO_THROW(read_network("RoCE " + text)) << text;
  }
}

TEST(CollectiveMachine, PcieOnly) {
  const CollectiveMachine read = machine(row_of("M", "Tesla P100-PCIE-16GB", 2, 1, "PCIe gen3"));
  EXPECT_EQ(read.cluster.node.name, "pcie-p100");
  EXPECT_EQ(read.cluster.nodes, 1);
}

// The report states if one machine is used in place of another.
TEST(CollectiveMachine, StandsForOthers) {
  const CollectiveMachine h800 = machine(row_of("M", "H800 SXM", 8, 1, "NVSwitch"));
  EXPECT_EQ(h800.cluster.node.nvlink_Bps.value, 200e9);
  EXPECT_FALSE(h800.assumed.empty());
  const CollectiveMachine either =
      machine(row_of("M", "H100/H200 SXM (not stated which)", 8, 1, "NVLink4"));
  EXPECT_EQ(either.cluster.node.name, "dgx-h100");
  EXPECT_FALSE(either.assumed.empty());
}

std::string refusal(const CollectiveRow& row) {
  return error_of([&] { machine(row); });
}

TEST(CollectiveMachine, SaysWhatIsMissing) {
  EXPECT_EQ(refusal(row_of("M", "Gaudi 3", 8, 1, "RoCE")),
            "no GPU of the library is called 'Gaudi 3'");
  EXPECT_EQ(refusal(row_of("M", "H100", 16, 2, "NVLink4/NVSwitch")),
            "'NVLink4/NVSwitch' does not say which network joins the nodes");
  EXPECT_EQ(refusal(row_of("M", "H100", 16, 2, "")),
            "'' does not say which network joins the nodes");
  EXPECT_EQ(refusal(row_of("M", "H100", 16, 3, "RoCE 8x400Gb/s")),
            "16 ranks cannot be spread evenly over 3 nodes");
}

TEST(CollectiveMachine, ForcedChoice) {
  EXPECT_EQ(forced_choice("NCCL_ALGO=Tree forced; n=100 iters").algorithm,
            CollectiveAlgorithm::tree);
  EXPECT_EQ(forced_choice("NCCL_ALGO=NVLSTree; excerpt").algorithm, CollectiveAlgorithm::nvls_tree);
  EXPECT_EQ(forced_choice("NCCL_PROTO=LL128").protocol, Protocol::ll128);
  EXPECT_EQ(forced_choice("NCCL algorithm requested: tree; medians").algorithm,
            CollectiveAlgorithm::tree);
  EXPECT_EQ(forced_choice("NCCL algorithm requested: collnet; medians").algorithm,
            CollectiveAlgorithm::collnet_direct);
  EXPECT_EQ(forced_choice("a tree stood there"), CollectiveChoice());
}

// Nodes are as in MareNostrum 5, with four H100 and no switch. The curve of "nvlstree" equals that
// of "ring"; the other algorithms cannot run, and their curves equal that of NCCL's choice.
TEST(CollectiveMachine, ForcedAndNotThere) {
  using enum CollectiveAlgorithm;
  const CollectiveMachine four =
      machine(row_of("M", "H100", 16, 4, "InfiniBand NDR200 4 NICs per node"));
  const auto running = [&](CollectiveAlgorithm algorithm) {
    return running_choice(CollectiveKind::all_reduce, algorithm, four);
  };
  for (const CollectiveAlgorithm algorithm : {ring, tree}) {
    EXPECT_EQ(running(algorithm).choice, CollectiveChoice(algorithm));
    EXPECT_EQ(running(algorithm).fell_back, "");
  }
  EXPECT_EQ(running(nvls_tree).choice, CollectiveChoice(ring));
  EXPECT_EQ(running(nvls_tree).fell_back,
            "nvls-tree was requested, which this machine does not support: ring");
  for (const CollectiveAlgorithm algorithm : {nvls, collnet_direct, collnet_chain, pat}) {
    EXPECT_EQ(running(algorithm).choice, CollectiveChoice());
    EXPECT_FALSE(running(algorithm).fell_back.empty());
  }
  const CollectiveMachine eight =
      machine(row_of("M", "H100", 16, 2, "InfiniBand NDR 8x400Gb/s/node"));
  EXPECT_EQ(running_choice(CollectiveKind::all_reduce, nvls_tree, eight).choice,
            CollectiveChoice(nvls_tree));
}

TEST(CollectiveMachine, OneProcessLaunchesForANode) {
  const char* const node = "NVLink4/NVSwitch";
  EXPECT_EQ(machine(row_of("M", "H100", 8, 1, node)).process_gpus, 8);
  EXPECT_EQ(machine(row_of("M (torch.distributed)", "H100", 8, 1, node)).process_gpus, 1);
  EXPECT_EQ(machine(row_of("M", "AMD MI300X", 8, 1, "xGMI")).process_gpus, 1);
  EXPECT_EQ(machine(row_of("M", "H100", 16, 2, "RoCE 8x400Gb/s")).process_gpus, 1);
}

}  // namespace
}  // namespace windtunnel
