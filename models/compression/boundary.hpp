// Compresses activations at a pipeline cut, and their gradients on the way back: to few bits
// (activation_codec.hpp), or by a low-rank factorisation of the matrix at the cut (Split
// fine-tuning: Guo et al. 2022, arXiv 2211.16703), so that `rank` columns cross instead of `width`
// in both directions.
//
// The factors are additional to the model's layers, which are computed as before, and they are
// frozen: they have no gradients. Forward, the sender multiplies by the first factor and the
// receiver by the second; backward, by their transposes. A stage keeps its input at full width, as
// without them, while the pipeline's buffers hold the small messages.
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

// The recipe for `elements` of `element_bytes`. They are sent uncompressed if packing does not make
// them smaller.
BoundaryRecipe packed_boundary(double elements, double element_bytes, const ActivationCodec& codec);

}  // namespace windtunnel
