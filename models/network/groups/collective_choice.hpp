// Names of collectives, algorithms and NCCL's wire formats (protocols).
#pragma once

#include <cstdint>

namespace windtunnel {

// The kinds are those of nccl-tests. In send_recv every member sends S bytes to the next in a ring,
// as in sendrecv_perf. In gather and reduce member 0 gets the result.
enum class CollectiveKind : std::uint8_t {
  all_reduce,
  reduce_scatter,
  all_gather,
  broadcast,  // from member 0
  all_to_all,
  reduce,
  gather,
  send_recv,
};

enum class CollectiveAlgorithm : std::uint8_t {
  automatic,
  ring,
  tree,                // double binary tree
  hierarchical,        // scatter in the node, a ring per rail, gather in the node
  recursive_doubling,  // log2 n exchanges of the whole buffer
  halving_doubling,    // Rabenseifner: vector halving with distance doubling, then the reverse
  nvls,                // reduced in the NVSwitch; between nodes a ring per rail
  nvls_tree,           // as nvls, but between nodes a double tree
  collnet_direct,      // reduced in the network's switches (SHARP), every GPU on its own rail
  collnet_chain,       // as collnet_direct, but with a chain inside the node
  pat,                 // parallel aggregated trees
  pairwise,            // n - 1 exchanges in sequence
  direct,              // all pairs concurrently
  hfreduce,            // on the hosts' CPUs (Fire-Flyer, arXiv 2408.14158)
  torus,      // rings both ways along every torus dimension concurrently, as in XLA on TPUs
  one_sided,  // all pairs concurrently, written by GPUs directly (DeepEP)
};
inline constexpr int kCollectiveAlgorithms = static_cast<int>(CollectiveAlgorithm::one_sided) + 1;

// NCCL's wire formats are 8-byte lines with flags (LL), 128-byte lines (LL128), and plain data that
// fences order (Simple).
enum class Protocol : std::uint8_t { automatic, ll, ll128, simple };

struct CollectiveChoice {
  CollectiveAlgorithm algorithm = CollectiveAlgorithm::automatic;
  Protocol protocol = Protocol::automatic;
  CollectiveChoice() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): an algorithm alone is a choice
  CollectiveChoice(CollectiveAlgorithm algorithm, Protocol protocol = Protocol::automatic)
      : algorithm(algorithm), protocol(protocol) {}
  bool operator==(const CollectiveChoice&) const = default;
};

const char* to_string(CollectiveKind kind);
const char* to_string(CollectiveAlgorithm algorithm);
const char* to_string(Protocol protocol);

}  // namespace windtunnel
