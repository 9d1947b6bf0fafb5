#include "policies/gradient_tensors.hpp"

#include <array>

#include "models/base/error.hpp"

namespace windtunnel {
namespace {

// Whole model; `work` in parameters that a token meets.
void add_layer(const TransformerSpec& model, int layer, std::vector<StageTensor>& tensors) {
  const double h = model.hidden;
  const auto add = [&](double parameters) {
    if (parameters > 0) tensors.push_back({parameters, parameters, layer, false});
  };
  const double in_per_out = double(model.up_width()) / model.ffn_hidden;  // of the MLP's matrices
  if (model.is_moe(layer)) {
    const double out = h * model.moe.ffn_hidden;
    const double shared = h * model.moe.shared_ffn;
    for (const double times : {1.0, in_per_out}) {
      tensors.push_back(
          {times * model.moe.experts * out, times * model.moe.per_token * out, layer, true});
      add(times * shared);
    }
  } else {
    add(h * model.ffn_hidden);
    add(h * model.up_width());
  }
  const double projection = h * model.context_width();
  add(projection);
  add(model.attention_parameters() - projection);
}

}  // namespace

std::vector<StageTensor> stage_tensors(const Job& job, int stage, int first_layer, int layers,
                                       const ChunkCost& chunk, bool embedding_here) {
  if (chunk.parameters <= 0) return {};
  const TransformerSpec& model = job.model;
  std::vector<StageTensor> tensors;
  tensors.reserve(4 * layers + 2);
  if (stage == job.layout.stages() - 1) {
    // Tied: the stage has a copy of its own, unless it also holds the embedding; then the gradient
    // is complete with the embedding's.
    const double head = double(model.vocabulary) * model.hidden;
    const bool shared = model.tied_embeddings && (stage == 0 || embedding_here);
    // Without layers, too, the final norm needs a tensor to ride with.
    const double left = stage > 0 && layers == 0 ? model.hidden : 0;
    tensors.push_back({shared ? left : head, head, -1, false});
  }
  for (int layer = first_layer + layers; layer-- > first_layer;) add_layer(model, layer, tensors);
  if (stage == 0) tensors.push_back({model.embedding_parameters(), 0, -1, false});

  std::array<double, 2> parameters{};  // dense, experts
  double work = 0;
  for (const StageTensor& tensor : tensors) {
    parameters[tensor.expert] += tensor.parameters;
    work += tensor.work;
  }
  CHECK(parameters[0] > 0, "stage {} has parameters but no tensors", stage);
  const double experts = chunk.expert_parameters;
  const std::array<double, 2> scale = {(chunk.parameters - experts) / parameters[0],
                                       parameters[1] > 0 ? experts / parameters[1] : 0};
  for (StageTensor& tensor : tensors) {
    tensor.parameters *= scale[tensor.expert];
    tensor.work = work > 0 ? tensor.work / work : 0;
  }
  return tensors;
}

}  // namespace windtunnel
