// Activations at a pipeline cut, and their gradients on the way back, as something smaller: in few
// bits (activation_codec.hpp), or through a layer of low rank (Split fine-tuning: Guo et al. 2022,
// arXiv 2211.16703): the matrix at the cut becomes two factors, and what crosses has `rank` columns
// instead of `width`, forward and, as its gradient, backward.
//
// The factors stand beside the layers of the model, which are computed as before, and stay as they
// are: no gradients of theirs are formed or reduced. Forward the sender multiplies by the first and
// the receiver by the second, backward by their transposes. A stage keeps its input at full width,
// as without them; what waits in the pipeline's buffers is as small as the messages.
#pragma once

#include <vector>

#include "models/compression/activation_codec.hpp"
#include "models/workload/op_kernel.hpp"

namespace windtunnel {

struct BoundaryRecipe {
  std::vector<Op> before = {};  // of the sender
  double bytes = 0;             // of the message
  std::vector<Op> behind = {};  // of the receiver
};

// `rows` tokens of `width` elements of `element_bytes`. Throws Error for a rank above the width.
BoundaryRecipe low_rank_boundary(double rows, double width, double rank, double element_bytes);

// The recipe for `elements` of `element_bytes`; they are sent as they are if packing does not make
// them smaller.
BoundaryRecipe packed_boundary(double elements, double element_bytes, const ActivationCodec& codec);

}  // namespace windtunnel
