#include "policies/gradient_overlap.hpp"

#include "models/base/error.hpp"
#include "models/memory.hpp"

namespace windtunnel {
namespace {

struct Tensor {
  double parameters = 0;  // whole model
  double work = 0;        // relative backward time
};

// The weight tensors of a stage in the order in which the backward pass completes them.
std::vector<Tensor> tensors_backward(const Job& job, int stage, int layers) {
  const TransformerSpec& model = job.model;
  const double qkv = double(model.hidden) * (model.hidden + 2 * model.kv_width());
  const double projection = double(model.hidden) * model.hidden;
  const double mlp_out = double(model.ffn_hidden) * model.hidden;
  const double mlp_in = double(model.hidden) * model.up_width();
  std::vector<Tensor> tensors;
  if (stage == job.layout.stages() - 1) {
    // Tied: the stage has a copy of its own, unless it also holds the embedding; then the gradient
    // is complete with the embedding's.
    const double head = double(model.vocabulary) * model.hidden;
    const bool shared = model.tied_embeddings && stage == 0;
    tensors.push_back({shared ? 0 : head, head});
  }
  for (int layer = 0; layer < layers; ++layer) {
    for (const double weight : {mlp_out, mlp_in, projection, qkv}) {
      tensors.push_back({weight, weight});
    }
  }
  if (stage == 0) tensors.push_back({model.embedding_parameters(), 0});
  return tensors;
}

}  // namespace

std::vector<GradientBucket> gradient_buckets(const Job& job, int stage, int layers,
                                             double stage_parameters) {
  if (stage_parameters <= 0) return {};
  const std::vector<Tensor> tensors = tensors_backward(job, stage, layers);
  double parameters = 0;
  double work = 0;
  for (const Tensor& tensor : tensors) {
    parameters += tensor.parameters;
    work += tensor.work;
  }
  CHECK(parameters > 0, "stage {} has parameters but no tensors", stage);
  // Norms and biases ride with the matrices; scaling keeps the stage's total exact.
  const double scale = stage_parameters / parameters;
  const double bytes = gradient_bytes_per_parameter(job);

  std::vector<GradientBucket> buckets;
  GradientBucket open{0, 0};
  double done = 0;
  for (const Tensor& tensor : tensors) {
    open.parameters += tensor.parameters * scale;
    done += tensor.work;
    if (open.parameters * bytes < job.communication.bucket_bytes) continue;
    buckets.push_back({open.parameters, work > 0 ? done / work : 1});
    open = {0, 0};
  }
  if (open.parameters > 0) buckets.push_back({open.parameters, 1});
  buckets.back().ready_share = 1;
  return buckets;
}

}  // namespace windtunnel
