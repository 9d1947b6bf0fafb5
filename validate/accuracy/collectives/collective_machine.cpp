#include "validate/accuracy/collectives/collective_machine.hpp"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <cmath>

#include "models/base/error.hpp"
#include "models/base/quantile.hpp"
#include "models/network/nccl/nccl_latencies.hpp"
#include "models/network/nccl/nccl_tuner.hpp"
#include "scenarios/language/library/facts/gpu_names.hpp"
#include "scenarios/language/library/library.hpp"
#include "traces/text/text.hpp"

namespace windtunnel {
namespace {

// Whether the text contains every word of a library's name: "aws-p5" in "AWS p5.48xlarge".
bool names_all(const std::string& name, const std::string& text) {
  for (size_t at = 0; at < name.size();) {
    const size_t end = std::min(name.find('-', at), name.size());
    if (!contains_text(text, name.substr(at, end - at))) return false;
    at = end + 1;
  }
  return true;
}

class MachineReader {
 public:
  MachineReader(const CollectiveRow& row, const NodeSizes& sizes)
      : row_(row),
        sizes_(sizes),
        network_(read_network(row.network)),
        gpu_(gpu_named(row.gpu, true)) {}

  CollectiveMachine read() {
    machine_.calibration = gpu_.calibration;
    machine_.sharp = network_.sharp;
    machine_.assumed = network_.assumed;
    machine_.nccl_release = nccl_release(row_.nccl_version);
    set_node();
    set_domain();
    place();
    set_node_links();
    if (machine_.cluster.nodes > 1) set_network();
    set_process();
    set_fabric();
    machine_.shape = group_shape(machine_.gpus, machine_.cluster);
    return std::move(machine_);
  }

 private:
  NodeSpec& node() { return machine_.cluster.node; }

  void set_node() {
    std::string name = gpu_.node;
    // If the library has the machine's own node, that node is the most precise.
    const std::string label = row_.machine + " " + row_.gpu;
    size_t longest = 0;
    for (const NodeSpec& known : library_nodes()) {
      if (known.name.size() <= longest || !names_all(known.name, label) ||
          !plain_name(known.gpu.name).starts_with(gpu_.kind)) {
        continue;
      }
      name = known.name;
      longest = name.size();
    }
    node() = find_node(name);
    library_gpus_ = node().gpus;
    library_nics_ = node().nics;
    if (!gpu_.instead.empty()) machine_.assumed.push_back(gpu_.instead);
    if (contains_text(row_.gpu, "/")) {
      machine_.assumed.push_back(fmt::format("{} is {}", row_.gpu, node().gpu.name));
    }
  }

  // If the text names only NVLink, the machine is a rack in which NVLink connects the trays.
  void set_domain() {
    if (network_.nvlink_domain > 0 || library_gpus_ <= 8 || !network_.nvlink ||
        network_.names_transport || network_.nic_Bps > 0) {
      return;
    }
    network_.nvlink_domain = library_gpus_;
    machine_.assumed.push_back(fmt::format("one NVLink domain of {} GPUs", library_gpus_));
  }

  // Places the ranks on the first GPUs of each node.
  void place() {
    int nodes = row_.nodes;
    if (network_.nvlink_domain > 0) nodes = (row_.gpus - 1) / network_.nvlink_domain + 1;
    if (nodes == 0) {
      nodes = (row_.gpus - 1) / node().gpus + 1;
      machine_.assumed.push_back(fmt::format("{} nodes", nodes));
    }
    if (row_.gpus % nodes != 0) {
      throw Error(fmt::format("{} ranks cannot be spread evenly over {} nodes", row_.gpus, nodes));
    }
    const int per_node = row_.gpus / nodes;
    node().gpus = node_gpus(per_node);
    machine_.cluster.nodes = nodes;
    for (int at = 0; at < nodes; ++at) {
      for (int i = 0; i < per_node; ++i) machine_.gpus.push_back(at * node().gpus + i);
    }
  }

  int node_gpus(int per_node) const {
    if (network_.nvlink_domain > 0) return network_.nvlink_domain;
    const auto known = sizes_.find(row_.machine);
    const int most = known == sizes_.end() ? per_node : std::max(per_node, known->second);
    // A row that uses one or two GPUs of each node does not state the size of a node. Eight NICs
    // indicate eight GPUs.
    const bool part = most <= 2 && row_.nodes > 1 && !contains_text(row_.gpu, "pcie");
    const int stated = std::max(most, network_.nics <= library_gpus_ ? network_.nics : 0);
    return part ? std::max(stated, std::min(library_gpus_, 8)) : stated;
  }

  // Sets links within a node.
  void set_node_links() {
    NodeSpec& at = node();
    const bool pcie_gpu = contains_text(row_.gpu, "pcie") && !network_.nvlink;
    if (network_.pcie_Bps > 0) at.pcie_Bps = stated(network_.pcie_Bps);
    if (network_.pcie_Bps > 0 && !network_.nvlink) {
      at.gpu_path = GpuPath::pcie;
    } else if (pcie_gpu) {
      at.gpu_path = GpuPath::pcie;
      machine_.assumed.emplace_back("GPUs of a node reach each other over PCIe");
    } else if (network_.nvlink_Bps > 0) {
      at.nvlink_Bps = stated(network_.nvlink_Bps);
    } else if (gpu_.nvlink_Bps > 0) {
      at.nvlink_Bps = stated(gpu_.nvlink_Bps);
    }
  }

  // Sets links between nodes. If there are more NICs than GPUs, each GPU gets one NIC with their
  // combined bandwidth.
  void set_network() {
    NodeSpec& at = node();
    if (!network_.names_transport && network_.nic_Bps == 0) {
      throw Error(fmt::format("'{}' does not say which network joins the nodes", row_.network));
    }
    int nics = network_.nics;
    if (network_.nics_per_gpu > 0) nics = static_cast<int>(network_.nics_per_gpu * at.gpus);
    if (nics == 0) {
      nics = std::min(library_nics_, at.gpus);
      machine_.assumed.push_back(fmt::format("{} NICs per node", nics));
    }
    double nic_Bps = network_.nic_Bps;
    if (nic_Bps == 0) {
      nic_Bps = at.nic_Bps.value;
      machine_.assumed.push_back(fmt::format("NICs of {:g} Gb/s", nic_Bps * 8e-9));
    }
    if (nics > at.gpus) {
      nic_Bps *= static_cast<double>(nics) / at.gpus;
      nics = at.gpus;
    }
    at.nics = nics;
    at.nic_Bps = stated(nic_Bps);
  }

  // nccl-tests on one node is usually one process (-g 8), which launches on its GPUs in turn.
  void set_process() {
    const bool several = contains_text(row_.notes + row_.machine, "mpi") ||
                         contains_text(row_.notes + row_.machine, "torch");
    const bool stated = contains_text(row_.notes, "one process");
    const bool amd = gpu_.kind.starts_with("mi");
    if (machine_.cluster.nodes > 1 || row_.gpus < 8 || several || (amd && !stated)) return;
    machine_.process_gpus = row_.gpus;
    if (stated) return;
    machine_.assumed.push_back(fmt::format("one process launches on {} GPUs", row_.gpus));
  }

  // Assumes one pod: rows do not state where in the machine their nodes are, and adaptive routing
  // spreads traffic that few cables between neighbours could not carry. For GH200 nodes of a
  // dragonfly, with one number of nodes left out, fits have a sigma of 0.17 this way, and 0.81 with
  // nodes placed on groups in order.
  void set_fabric() {
    FabricSpec& fabric = machine_.cluster.fabric;
    fabric = find_fabric("full-bisection").fabric;
    // On Slingshot and similar fabrics without NCCL's plugin, NCCL uses sockets.
    fabric.transport = contains_text(row_.notes, "tcp path") ? Transport::tcp : network_.transport;
  }

  Parameter stated(double value) const {
    return {value, value, value, Origin::published, "the row: " + row_.network};
  }

  const CollectiveRow& row_;
  const NodeSizes& sizes_;
  NetworkText network_;
  const GpuName& gpu_;
  int library_gpus_ = 8;  // of the library's node
  int library_nics_ = 8;
  CollectiveMachine machine_;
};

// Returns the value of NAME=value in the notes, normalised.
std::string setting(const std::string& notes, std::string_view name) {
  const size_t at = notes.find(name);
  if (at == std::string::npos || at + name.size() >= notes.size() ||
      (notes[at + name.size()] != '=' && notes[at + name.size()] != ' ')) {
    return {};
  }
  const size_t from = at + name.size() + 1;
  return plain_name(notes.substr(from, notes.find_first_of(" ;,", from) - from));
}

}  // namespace

NodeSizes node_sizes(const std::vector<CollectiveRow>& rows) {
  NodeSizes sizes;
  for (const CollectiveRow& row : rows) {
    if (row.nodes == 0 || row.gpus % row.nodes != 0) continue;
    int& most = sizes[row.machine];
    most = std::max(most, row.gpus / row.nodes);
  }
  return sizes;
}

CollectiveMachine machine_of(const CollectiveRow& row, const NodeSizes& sizes) {
  return MachineReader(row, sizes).read();
}

CollectiveChoice forced_choice(const std::string& notes) {
  CollectiveChoice choice;
  std::string algorithm = setting(notes, "NCCL_ALGO");
  if (algorithm.empty()) algorithm = setting(notes, "NCCL algorithm requested:");
  for (int i = 0; i < kCollectiveAlgorithms; ++i) {
    const auto known = static_cast<CollectiveAlgorithm>(i);
    const bool of_nccl = find_nccl_latencies(known) != nullptr;
    if (of_nccl && plain_name(to_string(known)) == algorithm) choice.algorithm = known;
  }
  // NCCL before 2.14 had one algorithm of this name.
  if (algorithm == "collnet") choice.algorithm = CollectiveAlgorithm::collnet_direct;
  const std::string protocol = setting(notes, "NCCL_PROTO");
  for (const Protocol known : {Protocol::ll, Protocol::ll128, Protocol::simple}) {
    if (to_string(known) == protocol) choice.protocol = known;
  }
  return choice;
}

RunningChoice running_choice(CollectiveKind kind, CollectiveChoice forced,
                             const CollectiveMachine& machine) {
  if (forced.algorithm == CollectiveAlgorithm::automatic) return {forced, ""};
  TunerSettings settings;
  settings.collnet = machine.sharp;
  if (machine.nccl_release > 0) settings.minor_version = machine.nccl_release;
  const TunerTable table = make_tuner_table(kind, machine.shape, machine.cluster, settings);
  for (const TunerEntry& pair : table.pairs()) {
    if (pair.algorithm == forced.algorithm) return {forced, ""};
  }
  const bool to_ring = forced.algorithm == CollectiveAlgorithm::nvls_tree;
  const CollectiveChoice running(
      to_ring ? CollectiveAlgorithm::ring : CollectiveAlgorithm::automatic, forced.protocol);
  return {running, fmt::format("{} was requested, which this machine does not support: {}",
                               to_string(forced.algorithm), to_ring ? "ring" : "what NCCL picks")};
}

bool NetworkPace::one_sided() const {
  constexpr double kFactor = 1.25;
  constexpr double kShare = 0.75;
  return points > 0 && std::max(ratio, 1 / ratio) > kFactor && same_side >= kShare;
}

NetworkPace pace_of(const std::vector<double>& ratios) {
  NetworkPace pace;
  if (ratios.empty()) return pace;
  pace.points = static_cast<int>(ratios.size());
  pace.ratio = quantile(ratios, 0.5);
  const auto same = std::ranges::count_if(
      ratios, [&](double ratio) { return pace.ratio < 1 ? ratio < 1 : ratio > 1; });
  pace.same_side = static_cast<double>(same) / pace.points;
  return pace;
}

std::optional<std::string> pace_text(const NetworkPace& pace, const std::string& than) {
  if (!pace.one_sided()) return std::nullopt;
  return fmt::format("reaches {:.0f} % of {} (median of {} points, {:.0f} of them {})",
                     100 * pace.ratio, than, pace.points, pace.same_side * pace.points,
                     pace.ratio < 1 ? "slower" : "faster");
}

}  // namespace windtunnel
