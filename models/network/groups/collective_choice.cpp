#include "models/network/groups/collective_choice.hpp"

namespace windtunnel {

const char* to_string(CollectiveKind kind) {
  switch (kind) {
    case CollectiveKind::all_reduce:
      return "all-reduce";
    case CollectiveKind::reduce_scatter:
      return "reduce-scatter";
    case CollectiveKind::all_gather:
      return "all-gather";
    case CollectiveKind::broadcast:
      return "broadcast";
    case CollectiveKind::all_to_all:
      return "all-to-all";
    case CollectiveKind::reduce:
      return "reduce";
    case CollectiveKind::gather:
      return "gather";
    case CollectiveKind::send_recv:
      return "send-recv";
  }
  return "unknown";
}

const char* to_string(CollectiveAlgorithm algorithm) {
  switch (algorithm) {
    case CollectiveAlgorithm::automatic:
      return "automatic";
    case CollectiveAlgorithm::ring:
      return "ring";
    case CollectiveAlgorithm::tree:
      return "tree";
    case CollectiveAlgorithm::hierarchical:
      return "hierarchical";
    case CollectiveAlgorithm::recursive_doubling:
      return "recursive-doubling";
    case CollectiveAlgorithm::halving_doubling:
      return "halving-doubling";
    case CollectiveAlgorithm::nvls:
      return "nvls";
    case CollectiveAlgorithm::nvls_tree:
      return "nvls-tree";
    case CollectiveAlgorithm::collnet_direct:
      return "collnet-direct";
    case CollectiveAlgorithm::collnet_chain:
      return "collnet-chain";
    case CollectiveAlgorithm::pat:
      return "pat";
    case CollectiveAlgorithm::pairwise:
      return "pairwise";
    case CollectiveAlgorithm::direct:
      return "direct";
    case CollectiveAlgorithm::hfreduce:
      return "hfreduce";
    case CollectiveAlgorithm::torus:
      return "torus";
    case CollectiveAlgorithm::one_sided:
      return "one-sided";
  }
  return "unknown";
}

const char* to_string(Protocol protocol) {
  switch (protocol) {
    case Protocol::automatic:
      return "automatic";
    case Protocol::ll:
      return "ll";
    case Protocol::ll128:
      return "ll128";
    case Protocol::simple:
      return "simple";
  }
  return "unknown";
}

}  // namespace windtunnel
