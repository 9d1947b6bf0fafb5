#include "models/compression/recipe_parts.hpp"

namespace windtunnel {

GradientBuffer gradient_buffer(std::span<const TensorShape> tensors) {
  GradientBuffer buffer;
  for (const TensorShape& tensor : tensors) {
    buffer.tensors += tensor.count;
    buffer.filled_elements += tensor.filled * tensor.elements();
    if (!tensor.matrix()) {
      buffer.vector_elements += tensor.elements();
      buffer.columns += tensor.count;
      continue;
    }
    buffer.matrix_elements += tensor.elements();
    buffer.columns += tensor.count * tensor.columns;
  }
  return buffer;
}

double elements_of(std::span<const TensorShape> tensors) {
  double elements = 0;
  for (const TensorShape& tensor : tensors) elements += tensor.elements();
  return elements;
}

Op pass(std::string_view name, double bytes, double starts) {
  return {.name = name, .bytes = bytes, .launches = starts, .starts = starts, .compressing = name};
}

Op product(std::string_view name, double m, double n, double k, double count,
           double element_bytes) {
  Op op = {.name = name, .kind = OpKind::gemm, .m = m, .n = n, .k = k, .batch = count};
  op.flops = 2 * m * n * k * count;
  op.bytes = element_bytes * count * (m * k + k * n + m * n);
  // By default PyTorch keeps products of fp32 tensors in fp32 and does not use TF32.
  if (element_bytes >= 4) op.precision = Precision::fp32;
  op.launches = op.starts = count;
  op.compressing = name;
  return op;
}

QuantiseKernels quantise_kernels(double bits) {
  if (bits == 8) return {"quantise-int8", "dequantise-int8"};
  if (bits == 4) return {"quantise-int4", "dequantise-int4"};
  return {};
}

Op block_pass(double bytes, double starts, std::string_view kernel) {
  Op op = pass("quantise blocks", bytes, starts);
  op.kernel = kernel;
  return op;
}

Op requantise_pass(double packed, double ranks) {
  return pass("requantise blocks", packed + packed / ranks);
}

RecipeStep all_reduce_step(std::vector<Op> kernels, double bytes) {
  return {.kernels = std::move(kernels), .kind = CollectiveKind::all_reduce, .bytes = bytes};
}

RecipeStep all_gather_step(std::vector<Op> kernels, double bytes, const ReducingGroup& group) {
  return {.kernels = std::move(kernels),
          .kind = CollectiveKind::all_gather,
          .bytes = bytes * group.ranks};
}

void add_two_hops(std::vector<Op> first, std::vector<Op> between, double bytes, Recipe& recipe) {
  recipe.steps.push_back(
      {.kernels = std::move(first), .kind = CollectiveKind::all_to_all, .bytes = bytes});
  recipe.steps.push_back(
      {.kernels = std::move(between), .kind = CollectiveKind::all_gather, .bytes = bytes});
  recipe.steps.back().gathers_parts = true;
}

RecipeStep last_step(std::vector<Op> kernels) {
  return {.kernels = std::move(kernels)};
}

void add_dense(double bytes, Recipe& recipe) {
  if (bytes > 0) recipe.steps.push_back(all_reduce_step({}, bytes));
}

void add_feedback(ErrorFeedback feedback, double elements, double element_bytes,
                  std::vector<Op>& kernels, Recipe& recipe) {
  if (feedback == ErrorFeedback::none || feedback == ErrorFeedback::usual) return;
  const bool two = feedback == ErrorFeedback::econtrol;
  Op add = pass("error add", (two ? 5 : 3) * element_bytes * elements);
  add.kernel = "add";
  kernels.push_back(add);
  recipe.state_bytes += (two ? 2 : 1) * element_bytes * elements;
}

}  // namespace windtunnel
