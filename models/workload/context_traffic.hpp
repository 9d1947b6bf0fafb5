// What a GPU sends in the attention of one layer where cp ranks share every sequence, by the form
// of context parallelism. Per micro-batch and direction; T its tokens on this GPU, q k v o bytes of
// a token's queries, keys, values and outputs (after tp), h heads, U x R = cp; k' v' with key heads
// copied until each of the U ranks has one; h' bytes of a token between layers.
//
//   form        forward                              backward
//   ring        R-1 steps of T (k+v)                 R-1 steps of 2 T (k+v): gradients go with them
//   ulysses     all-to-alls of T q, T k', T v', T o  the same of their gradients
//   usp         all-to-alls over U, then R-1 steps of T (k'+v'); backward as ring
//   burst       as ring                              R-1 steps of T (2q+o) + 8 T h: Q, dQ, dO and
//                                                    two fp32 statistics of a row
//   token-ring  R-1 steps of T q one way, T o + 4 T h (row sums) the other; backward
//               T (q+o) + 8 T h (Q, dO, statistics) one way, T q (dQ) the other: not published,
//               the same idea
//   rsa         R-1 steps of T k, then of T v        3 times as much: K and V again, and the
//                                                    all-reduces of dK and dV
//   dsp         one all-to-all of T h', activations  the same of their gradient
//               between layers
//   lasp        R-1 steps of a state, key width x value width a head, however long the sequence;
//               backward its gradient
//
// Ring: Liu et al. 2023, arXiv 2310.01889. Ulysses: Jacobs et al. 2023, arXiv 2309.14509. USP: Fang
// and Zhao 2024, arXiv 2405.07719. BurstAttention: Sun et al. 2024, arXiv 2403.09347 (its double
// ring is not counted). TokenRing: arXiv 2412.20501. RSA: Li et al. 2021, arXiv 2105.13120. LASP:
// Sun et al. 2024, arXiv 2404.02882. DSP: Zhao et al. 2024, arXiv 2403.10266. As the papers are
// remembered.
//
// Of a model with frames, whose layers attend in turn along one dimension of a sequence, DSP gives
// each rank whole frames, then whole places over all frames: attention sends nothing, and the
// dimension is switched once a layer. The other forms divide every attended length among their
// ranks as they divide a sequence, and send as much in every layer.
#pragma once

#include "models/workload/layout.hpp"
#include "models/workload/op_kernel.hpp"

namespace windtunnel {

// Of one GPU, after tp.
struct ContextTensors {
  double tokens = 0;                        // T
  double q = 0, k = 0, v = 0, context = 0;  // bytes of a token
  double heads = 0, kv_heads = 0;
  double state = 0;    // bytes: of a linear attention's state, all heads and sequences
  double earlier = 1;  // keys that pass on a ring, over those of T: a slice needs all before it
  double between = 0;  // bytes of a token between layers
};

struct ContextTraffic {
  double all_to_all_bytes = 0;  // of the full buffers, own part included, all together
  int all_to_alls = 0;
  double step_bytes = 0;  // to the neighbour, the busier direction of the link
  double back_bytes = 0;  // and the other one
  double steps = 0;
};

// Copies of each key head that Ulysses needs so that all of its ranks have one.
double key_copies(double kv_heads, int ulysses);

ContextTraffic context_traffic(const Layout& layout, const ContextTensors& tensors, Pass pass);

// Sent by a GPU in all, both directions of its link.
double wire_bytes(const ContextTraffic& traffic, const Layout& layout);

}  // namespace windtunnel
