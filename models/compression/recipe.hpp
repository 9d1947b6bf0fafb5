// A gradient compressor as what it makes a GPU do for one buffer of gradients: kernels on the
// compute stream, collectives that wait for them, kernels again, and the state that it keeps. One
// description serves closed form, Plan and memory. Bytes and FLOPs: the formulas stand at each
// recipe.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "models/compression/compressor.hpp"
#include "models/network/collectives/collective.hpp"
#include "models/workload/op_kernel.hpp"

namespace windtunnel {

// A gradient, or `count` of the same shape. `rows` 0: a vector (bias, norm), which low-rank and
// sparse methods send as it is where their authors do.
struct TensorShape {
  double rows = 0;
  double columns = 0;
  double count = 1;
  // Share of its rows that are not zero (embeddings); 1: all.
  double filled = 1;

  double elements() const { return count * (rows > 0 ? rows : 1) * columns; }
  bool matrix() const { return rows > 1 && columns > 1; }
};

// The group that reduces: `ranks` members, on `nodes` nodes with as many members each.
struct ReducingGroup {
  int ranks = 1;
  int nodes = 1;

  double per_node() const { return static_cast<double>(ranks) / nodes; }
};

enum class ReduceHop : std::uint8_t {
  all,     // among all members
  node,    // among the members of a node
  across,  // among members of equal place in their nodes
};

// `kernels` in their order, then the collective over `bytes` (the full buffer, as collective_cost()
// takes it), which waits for them. Without bytes: kernels only, the last step of a recipe. Each
// step waits for the one before.
struct RecipeStep {
  std::vector<Op> kernels;
  CollectiveKind kind = CollectiveKind::all_reduce;
  ReduceHop hop = ReduceHop::all;
  CollectiveAlgorithm algorithm = CollectiveAlgorithm::automatic;
  double bytes = 0;
  double every = 1;  // it runs once in so many steps, with so many times `bytes` then
  // Its collective hands out the parts that each member has reduced: where each needs its own part
  // alone (sharded gradients), nothing travels.
  bool gathers_parts = false;
  // Its kernels do as well for a part of the elements alone.
  bool by_part = false;
};

struct Recipe {
  std::vector<RecipeStep> steps;
  double state_bytes = 0;   // kept from step to step: error, warm-started factors, second moments
  double buffer_bytes = 0;  // while the buffer is under way, beside the gradients
};

// Bytes that one rank sends over the network per step, by the usual count of a ring: 2 (P-1)/P S
// of an all-reduce, (P-1)/P S of the others, over all hops.
double wire_bytes(const Recipe& recipe, const ReducingGroup& group);
double kernel_bytes(const Recipe& recipe);  // of HBM

// The tensors of the busiest of `members` that divide them. Each has an equal share, unless tensors
// stay `whole`: then the busiest has no less than the largest tensor.
std::vector<TensorShape> divided(std::vector<TensorShape> shapes, double members, bool whole);

// A buffer of `tensors` whose gradients have `element_bytes` each. Averages over the steps of a
// method whose steps differ (ACP-SGD, `every`); warm-up left out: run_wire_bytes(). A buffer may
// hold nothing that the method compresses (a bucket of biases): then it travels as it is. Throws
// Error, with choice.where, for an unknown name and a number out of range.
Recipe make_recipe(const CompressorChoice& choice, std::span<const TensorShape> tensors,
                   const ReducingGroup& group, double element_bytes);

// wire_bytes() per step over a whole run: dense in the share `warmup` of its steps. 1-bit LAMB,
// fp16 gradients: 1/(w + (1-w)/16) less than dense, 4.6 at w = 0.165 (Li et al. 2021, arXiv
// 2104.06069).
double run_wire_bytes(const CompressorChoice& choice, std::span<const TensorShape> tensors,
                      const ReducingGroup& group, double element_bytes);

// What the choice asks of all tensors of a job together: make_recipe()'s checks, and a matrix as
// large as the rank. Throws Error about the rank.
void check_compressor(const CompressorChoice& choice, std::span<const TensorShape> tensors);

}  // namespace windtunnel
