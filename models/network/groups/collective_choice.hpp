// Names of collectives: what is asked for, by which algorithm, in which of NCCL's wire formats.
#pragma once

#include <cstdint>

namespace windtunnel {

// nccl-tests' names. send_recv: every member sends S bytes to the next one of a ring, as
// sendrecv_perf does. gather, reduce: to member 0.
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
  recursive_doubling,  // log2 n exchanges of everything
  halving_doubling,    // Rabenseifner: vector halving with distance doubling, and back
  nvls,                // reduced in the NVSwitch; between nodes a ring per rail
  nvls_tree,           // the same; between nodes a double tree
  collnet_direct,      // reduced in the network's switches (SHARP), every GPU with its rail
  collnet_chain,       // the same, a chain in the node
  pat,                 // parallel aggregated trees
  pairwise,            // n - 1 exchanges
  direct,              // all pairs at once
  hfreduce,            // on the hosts' CPUs (Fire-Flyer, arXiv 2408.14158)
  torus,               // rings both ways along every dimension of a torus at once, as XLA's on TPUs
  one_sided,           // all pairs at once, written by the GPUs themselves (DeepEP)
};
inline constexpr int kCollectiveAlgorithms = static_cast<int>(CollectiveAlgorithm::one_sided) + 1;

// NCCL's wire formats: 8-byte lines with flags, 128-byte lines, plain with fences.
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
