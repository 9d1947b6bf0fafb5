// Who computes which sequences of a global batch when their lengths differ.
//
//   static   one degree of context parallelism, the least that holds the longest sequence that may
//            come; sequences are packed up to what its GPUs hold and the packs dealt out in turn
//   flexsp   micro-batch by micro-batch groups of different degrees at once, so that the slowest
//            group ends early (FlexSP: Wang et al. 2024, arXiv 2412.01523; its integer programme is
//            replaced by a search over divisions of the GPUs, length_groups.hpp). A micro-batch
//            takes more sequences where GPUs would else wait for its longest
//   hdp      each sequence gets the GPUs that it needs, longest first those that then end first,
//            into a pack of theirs while memory holds it: by work and not by tokens. Or packs
//            filled to memory are dealt out so, if that is faster. GPUs join at the end of the
//            batch only (ByteScale: Ge et al. 2025, arXiv 2502.21231; without offloading
//            activations)
#pragma once

#include <vector>

#include "models/workload/sequence_lengths.hpp"
#include "policies/lengths/length_costs.hpp"

namespace windtunnel {

// Sequences that a group of GPUs computes together.
struct LengthPack {
  std::size_t degree = 0;  // index
  int first = 0;           // of its `ranks` GPUs, which are consecutive
  int ranks = 1;
  std::vector<int> sequences;  // indices
  double tokens = 0;
  AttentionSeconds attention;
  double seconds = 0;
};

// Every GPU computes its packs in their order.
struct LengthPlan {
  std::vector<std::vector<LengthPack>> rounds;  // flexsp: one after the other; others: one round
  double seconds = 0;
};

// `longest`: that may come, for static. Throws Error when a sequence does not fit all GPUs.
LengthPlan balance_lengths(LengthPolicy policy, const std::vector<int>& lengths, double longest,
                           const LengthCosts& costs);

}  // namespace windtunnel
