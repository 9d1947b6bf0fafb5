// Building blocks of recipes: sums over a buffer's tensors, kernels by name, error feedback.
#pragma once

#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "models/compression/recipe.hpp"

namespace windtunnel {

inline constexpr double kIndexBytes = 4;
inline constexpr double kScaleBytes = 4;  // fp32
inline constexpr double kStateBytes = 4;  // an element of the optimizer's moments: fp32

struct GradientBuffer {
  double matrix_elements = 0;
  double vector_elements = 0;
  double tensors = 0;
  double filled_elements = 0;  // elements that are not zero
  double columns = 0;          // of matrices; a vector counts as one
  double elements() const { return matrix_elements + vector_elements; }
};
GradientBuffer gradient_buffer(std::span<const TensorShape> tensors);
double elements_of(std::span<const TensorShape> tensors);

// A memory-bound kernel. `starts`: number of kernels, one after the other.
Op pass(std::string_view name, double bytes, double starts = 1);
// `count` products of m x k by k x n.
Op product(std::string_view name, double m, double n, double k, double count, double element_bytes);

// The kernels of kernel_kinds() that pack integers of this many bits and unpack them; empty: not
// measured.
struct QuantiseKernels {
  std::string_view quantise, dequantise;
};
QuantiseKernels quantise_kernels(double bits);
// Packs elements into blocks of few bits with a scale each, or unpacks them. `kernel` is the name
// of the measured kernel.
Op block_pass(double bytes, double starts, std::string_view kernel);
// Sums the parts of `packed` bytes from all ranks and packs the sum again.
Op requantise_pass(double packed, double ranks);

RecipeStep all_reduce_step(std::vector<Op> kernels, double bytes);
// Gathers `bytes` from every member, P times as much in total.
RecipeStep all_gather_step(std::vector<Op> kernels, double bytes, const ReducingGroup& group);
// Both halves of an all-reduce that is not a plain sum, of `bytes`: each member reduces its part
// and then gathers the others' parts.
void add_two_hops(std::vector<Op> first, std::vector<Op> between, double bytes, Recipe& recipe);
RecipeStep last_step(std::vector<Op> kernels);
// Adds the reduction of data that is sent uncompressed; nothing if `bytes` is 0.
void add_dense(double bytes, Recipe& recipe);

// Adds kernels and state of error feedback. ef: e += g, then e -= what was sent: 2 reads and a
// write per element. ef21: g - h, then h += what was sent: as many. econtrol: d = eta e + g - h, e
// += g - h - sent: 3 reads, 2 writes, and two arrays of state.
void add_feedback(ErrorFeedback feedback, double elements, double element_bytes,
                  std::vector<Op>& kernels, Recipe& recipe);

}  // namespace windtunnel
