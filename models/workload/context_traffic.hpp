// What a GPU sends in the attention of one layer where cp ranks share every sequence, per
// micro-batch and direction, by the form of context parallelism: ring, ulysses, usp, burst,
// token-ring, rsa, dsp or lasp.
//
// The bytes of each form, forward and backward, with sources, and what models with frames (video)
// send: docs/physics/cost.md, "Context parallelism". What of it is exposed:
// models/cost/parallel/context_parallel.hpp.
#pragma once

#include "models/workload/layout.hpp"
#include "models/workload/op_kernel.hpp"

namespace windtunnel {

// Sizes on one GPU, after division by tp.
struct ContextTensors {
  double tokens = 0;                        // T
  double q = 0, k = 0, v = 0, context = 0;  // bytes of a token
  double heads = 0, kv_heads = 0;
  double state = 0;      // bytes: of a linear attention's state, all heads and sequences
  double earlier = 1;    // keys that pass on a ring, over those of T: a slice needs all before it
  double between = 0;    // bytes of a token between layers
  double projected = 0;  // bytes: keys and values that all are multiplied into; 0: they are not
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
