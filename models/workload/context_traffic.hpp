// What a GPU sends for the attention of one layer when cp ranks share every sequence, per
// micro-batch and direction, by form of context parallelism: ring, ulysses, usp, burst, token-ring,
// rsa, dsp or lasp.
//
// Bytes of each form, forward and backward, with sources, and the case of models with frames
// (video): docs/physics/cost.md, "Context parallelism". How much of it is exposed:
// models/cost/parallel/context_parallel.hpp.
#pragma once

#include "models/workload/layout.hpp"
#include "models/workload/op_kernel.hpp"

namespace windtunnel {

// Sizes on one GPU, divided by tp.
struct ContextTensors {
  double tokens = 0;                        // T
  double q = 0, k = 0, v = 0, context = 0;  // bytes per token
  double heads = 0, kv_heads = 0;
  double state = 0;  // bytes of a linear attention's state, over all heads and sequences
  // number of keys that travel on a ring, relative to T: a slice needs all earlier keys
  double earlier = 1;
  double between = 0;    // bytes per token between layers
  double projected = 0;  // bytes of projected keys and values; 0: they are not projected
};

struct ContextTraffic {
  // Counts the full buffers of all all-to-alls, including the rank's own part.
  double all_to_all_bytes = 0;
  int all_to_alls = 0;
  double step_bytes = 0;  // to the neighbour, in the busier direction of the link
  double back_bytes = 0;  // in the other direction
  double steps = 0;
};

// How often each key head is copied so that every Ulysses rank has one.
double key_copies(double kv_heads, int ulysses);

ContextTraffic context_traffic(const Layout& layout, const ContextTensors& tensors, Pass pass);

// Total sent by a GPU, in both directions of its link.
double wire_bytes(const ContextTraffic& traffic, const Layout& layout);

}  // namespace windtunnel
