// Describes a gradient compressor by what a GPU does with one buffer of gradients: kernels on the
// compute stream, collectives that wait for them, more kernels, and the state that is kept. The
// closed form, the Plan and the memory model all use this one description. Formulas for bytes and
// FLOPs are in the individual recipes.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "models/compression/compressor.hpp"
#include "models/network/collectives/collective.hpp"
#include "models/workload/op_kernel.hpp"

namespace windtunnel {

// One gradient, or `count` of the same shape. `rows` 0: a vector (bias, norm), which low-rank and
// sparse methods send uncompressed if their authors do.
struct TensorShape {
  double rows = 0;
  double columns = 0;
  double count = 1;
  // Share of its rows that are not zero (embeddings).
  double filled = 1;

  double elements() const { return count * (rows > 0 ? rows : 1) * columns; }
  bool matrix() const { return rows > 1 && columns > 1; }
};

// The group that reduces a buffer: `ranks` members, spread evenly over `nodes` nodes.
struct ReducingGroup {
  int ranks = 1;
  int nodes = 1;

  double per_node() const { return static_cast<double>(ranks) / nodes; }
};

enum class ReduceHop : std::uint8_t {
  all,     // among all members
  node,    // among the members of a node
  across,  // among members with the same position in their nodes
};

// `kernels` in order, then the collective over `bytes` (the full buffer, as in collective_cost()),
// which waits for them. Without bytes: only kernels, the last step of a recipe. Each step waits for
// the previous one.
struct RecipeStep {
  std::vector<Op> kernels;
  CollectiveKind kind = CollectiveKind::all_reduce;
  ReduceHop hop = ReduceHop::all;
  CollectiveAlgorithm algorithm = CollectiveAlgorithm::automatic;
  double bytes = 0;
  // the step runs once in this many steps of training; `bytes` is the mean per step
  double every = 1;
  // The collective gathers the parts that the members have reduced. With sharded gradients each
  // member needs only its own part, so nothing is sent.
  bool gathers_parts = false;
  // The kernels can run on a part of the elements.
  bool by_part = false;
};

struct Recipe {
  std::vector<RecipeStep> steps;
  double state_bytes = 0;   // kept between steps: error, warm-started factors, second moments
  double buffer_bytes = 0;  // while the buffer is in flight, in addition to the gradients
};

// Bytes that one rank sends over the network per step, summed over all hops, counted as for a ring:
// 2 (P-1)/P S for an all-reduce, (P-1)/P S for the others.
double wire_bytes(const Recipe& recipe, const ReducingGroup& group);
double kernel_bytes(const Recipe& recipe);  // that kernels read and write in HBM

// The tensors of the busiest of `members` that share them. Shares are equal unless tensors stay
// `whole`: then the busiest member has at least the largest tensor.
std::vector<TensorShape> divided(std::vector<TensorShape> shapes, double members, bool whole);

// The recipe for a buffer of `tensors` whose gradients have `element_bytes` each. It is an average
// over steps if the method's steps differ (ACP-SGD, `every`), but leaves out the warm-up, which
// run_wire_bytes() includes. A buffer with nothing to compress (a bucket of biases) is sent
// uncompressed. Throws Error, with choice.where, for an unknown name or a parameter out of range.
Recipe make_recipe(const CompressorChoice& choice, std::span<const TensorShape> tensors,
                   const ReducingGroup& group, double element_bytes);

// wire_bytes() per step over a whole run that is dense in the share `warmup` of its steps. 1-bit
// LAMB, fp16 gradients: 1/(w + (1-w)/16) less than dense, 4.6 at w = 0.165 (Li et al. 2021, arXiv
// 2104.06069).
double run_wire_bytes(const CompressorChoice& choice, std::span<const TensorShape> tensors,
                      const ReducingGroup& group, double element_bytes);

// Checks a choice against all tensors of a job: as make_recipe(), and some matrix must be as large
// as the rank. Throws Error about the rank.
void check_compressor(const CompressorChoice& choice, std::span<const TensorShape> tensors);

}  // namespace windtunnel
