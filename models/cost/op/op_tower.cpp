#include "models/cost/op/op_tower.hpp"

#include <utility>

#include "models/cost/op/op_parts.hpp"
#include "models/workload/tower.hpp"
#include "models/workload/training.hpp"

namespace windtunnel {
namespace {

// Training of a tower whose parts are all trained alike. Zeroth-order steps train weights without a
// backward pass.
std::shared_ptr<const Training> trained_as(const PartTraining& part, int layers) {
  if (part.weights && part.backward) return nullptr;
  Training training;
  if (part.weights) {
    training.method = TrainingMethod::zeroth_order;
  } else {
    training.frozen_embedding = training.frozen_head = true;
    training.frozen_layers.assign(layers, true);
  }
  training.part = part;
  return std::make_shared<const Training>(std::move(training));
}

PartTraining training_of(const Job& job, int part) {
  return part_training(job.training.get(), part, job.model.layers);
}

// Drops the product of an input's gradient that nothing reads, from `first` on, and the transposed
// weights for it. A cast of the output's gradient stays: the gradient of the weights reads it too.
void drop_product(std::size_t first, std::vector<Op>& ops) {
  for (std::size_t i = first; i < ops.size(); ++i) {
    if (ops[i].kind == OpKind::gemm || ops[i].name == "transpose") ops[i] = not_run(ops[i]);
  }
}

std::vector<Op> patch_ops(const Job& own, const Tower& tower, Pass pass) {
  const Shard s = shard_of(own);
  const Linear embed{"patches", OpRole::other, s.tokens, tower.patch_values, s.hidden};
  std::vector<Op> ops;
  append_linear(embed, pass, s, ops);
  if (pass == Pass::backward_input) drop_product(0, ops);
  return ops;
}

// The first product of each projector passes on no gradient if nothing before it is trained.
std::vector<Op> projector_ops(const Job& own, const Tower& tower, bool goes_on, Pass pass) {
  const Shard s = shard_of(own);
  const double rows = double(own.batch.micro) * tower.tokens;
  std::vector<Op> ops;
  for (std::size_t i = 1; i < tower.projector.size(); ++i) {
    const double in = tower.projector[i - 1];
    const double out = tower.projector[i];
    const std::size_t first = ops.size();
    append_linear({"projector", OpRole::other, rows, in, out}, pass, s, ops);
    const bool last = i + 1 == tower.projector.size();
    if (!last && pass != Pass::backward_weight) {
      const double tensors = pass == Pass::forward ? 2 : 3;
      ops.push_back(memory_op("projector activation", tensors * s.e * rows * out));
    }
    if (pass != Pass::backward_input || goes_on || i > 1) continue;
    drop_product(first, ops);
  }
  return ops;
}

}  // namespace

Job tower_job(const Job& job, int part) {
  const Tower& tower = *job.model.tower;
  Job own = job;
  own.model = tower.layers;
  own.layout = tower_layout(tower, job.layout);
  own.training = trained_as(training_of(job, part), tower.layers.layers);
  own.batch.micro *= tower.sources;
  own.batch.global *= tower.sources;
  own.batch.sequence = tower.patches();
  return own;
}

std::vector<Op> tower_end_ops(const Job& job, int part, Pass pass) {
  const Tower& tower = *job.model.tower;
  const Job own = tower_job(job, part);
  std::vector<Op> ops;
  if (part == kTowerPart) {
    ops = patch_ops(own, tower, pass);
  } else {
    for (int i = 0; i < tower.projectors; ++i) {
      const auto more = projector_ops(own, tower, training_of(job, kTowerPart).backward, pass);
      ops.insert(ops.end(), more.begin(), more.end());
    }
  }
  if (pass == Pass::forward || training_of(job, part).backward) return ops;
  for (Op& op : ops) op = not_run(op);
  return ops;
}

double tower_end_bytes(const Job& job) {
  const Tower& tower = *job.model.tower;
  const double e = bytes_of(job.precision);
  const double sources = double(job.batch.micro) * tower.sources;
  double bytes = 0;
  const PartTraining stack = training_of(job, kTowerPart);
  if (stack.weights && stack.backward) {
    bytes += e * sources * tower.patches() * tower.patch_values;
  }
  const PartTraining projector = training_of(job, kProjectorPart);
  if (!projector.backward) return bytes;
  for (std::size_t i = 1; i < tower.projector.size(); ++i) {
    // Keeps a product's input for its weight gradient, and the input of the activation before it.
    const double inputs = (projector.weights ? 1 : 0) + (i > 1 ? 1 : 0);
    bytes += tower.projectors * inputs * e * sources * tower.tokens * tower.projector[i - 1];
  }
  return bytes;
}

}  // namespace windtunnel
