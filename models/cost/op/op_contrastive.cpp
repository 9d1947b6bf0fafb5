// A contrastive loss (CLIP: Radford et al. 2021, arXiv 2103.00020): the embeddings of a rank's
// sequences against those of the whole batch, in both directions, each with a softmax over its rows
// (OpenCLIP's local loss). The kernels that compute the other side's embeddings are not counted.
//
// Whole: similarities of fp32 in HBM, as cross entropy has its logits. Tiled, on a ring or not: one
// kernel multiplies, keeps a tile on the chip and writes a sum of exponentials for each row;
// backward it multiplies again (Inf-CL: Cheng et al. 2024, arXiv 2410.17243, section 3).
#include "models/cost/op/op_parts.hpp"

namespace windtunnel {
namespace {

struct Similarities {
  double sequences = 0;  // of a micro-batch on this GPU
  double batch = 0;
  double width = 0;
};

// Computes both directions at once. Tiles never leave the chip.
Op similarity_op(std::string_view name, double m, double n, double k, double result_bytes,
                 const Shard& s) {
  Op op;
  op.name = name;
  op.kind = OpKind::gemm;
  op.batch = 2;
  op.m = m;
  op.n = n;
  op.k = k;
  op.flops = 2 * op.batch * m * n * k;
  op.bytes = result_bytes;
  if (s.quantise > 0) op.precision = Precision::bf16;
  return op;
}

std::vector<Op> forward_ops(const Similarities& x, bool whole, const Shard& s) {
  const double rows = 2 * s.e * (x.sequences + x.batch) * x.width;
  const double matrix = 2 * x.sequences * x.batch;
  if (!whole) {
    return {
        similarity_op("similarities", x.sequences, x.batch, x.width, rows + 8 * x.sequences, s)};
  }
  // Maximum, subtraction, exponential, sum and division, all of fp32.
  return {similarity_op("similarities", x.sequences, x.batch, x.width, rows + 4 * matrix, s),
          memory_op("softmax", (4 + 8 + 8 + 4 + 8) * matrix)};
}

// Gradients of this rank's embeddings and of all that they were compared with.
std::vector<Op> backward_ops(const Similarities& x, bool whole, const Shard& s) {
  const double rows = 2 * s.e * (x.sequences + x.batch) * x.width;
  const double matrix = whole ? 4 * 2 * x.sequences * x.batch : 0;
  std::vector<Op> ops;
  if (whole) {
    ops.push_back(memory_op("softmax", 2 * matrix));
  } else {
    ops.push_back(similarity_op("similarities", x.sequences, x.batch, x.width, rows, s));
  }
  ops.push_back(similarity_op("own gradients", x.sequences, x.width, x.batch, rows + matrix, s));
  ops.push_back(
      similarity_op("others' gradients", x.batch, x.width, x.sequences, rows + matrix, s));
  return ops;
}

}  // namespace

std::vector<Op> contrastive_ops(const Job& job, Pass pass, const Shard& s) {
  const TrainingLoss& loss = job.training->loss;
  const Similarities x{.sequences = static_cast<double>(job.batch.micro),
                       .batch = static_cast<double>(job.batch.global),
                       .width = loss.width > 0 ? loss.width : s.hidden};
  const bool whole = loss.form == ContrastiveForm::whole;
  const Op embedder = plain_linear_op({"logits", OpRole::logits, x.sequences, s.hidden, x.width},
                                      pass, s.e, job, s);
  if (pass == Pass::backward_weight) return {embedder};
  const Op norm = norm_op("final norm", pass, s);
  const double vectors = pass == Pass::forward ? 2 : 3;
  const Op unit = memory_op("normalise", vectors * s.e * x.sequences * x.width);
  std::vector<Op> ops;
  if (pass == Pass::forward) {
    ops = {norm, embedder, unit};
    for (const Op& op : forward_ops(x, whole, s)) ops.push_back(op);
    return ops;
  }
  ops = backward_ops(x, whole, s);
  ops.insert(ops.end(), {unit, embedder, norm});
  return ops;
}

}  // namespace windtunnel
