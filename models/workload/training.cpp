#include "models/workload/training.hpp"

namespace windtunnel {
namespace {

// How a part is trained; whether gradients pass through it is decided elsewhere.
PartTraining trained_at(const Training& training, int part, int layers) {
  const bool layer = part >= 0 && part != head_part(layers);
  bool frozen = training.frozen_head;
  if (part == kTowerPart) frozen = training.frozen_tower;
  if (part == kProjectorPart) frozen = training.frozen_projector;
  if (part == kEmbeddingPart) frozen = training.frozen_embedding;
  if (layer) {
    frozen = part < static_cast<int>(training.frozen_layers.size()) && training.frozen_layers[part];
  }
  const bool adapters = training.adapter.kind != AdapterKind::none;
  return {.weights = !frozen && !adapters, .adapter = !frozen && adapters && layer};
}

}  // namespace

bool Adapter::on(LinearSite site) const {
  switch (site) {
    case LinearSite::none:
      return false;
    case LinearSite::query_key_value:
      return queries || keys || values;
    case LinearSite::projection:
      return projection;
    case LinearSite::up:
      return up;
    case LinearSite::down:
      return down;
  }
  return false;
}

bool Adapter::joins(LinearSite site) const {
  if (!per_product) return false;
  return site == LinearSite::query_key_value ? queries && keys && values : site == LinearSite::up;
}

int first_trained_part(const Training* training, int layers) {
  if (training == nullptr) return kEmbeddingPart;
  int part = kTowerPart;
  for (; part <= head_part(layers); ++part) {
    const PartTraining at = trained_at(*training, part, layers);
    if (at.weights || at.adapter) break;
  }
  return part;
}

bool trained_alike(const Training* training, int layers, int first, int other, int count) {
  if (training == nullptr) return true;
  for (int i = 0; i < count; ++i) {
    const PartTraining part = part_training(training, first + i, layers);
    if (part != part_training(training, other + i, layers)) return false;
  }
  return true;
}

PartTraining part_training(const Training* training, int part, int layers) {
  if (training == nullptr) return {};
  PartTraining at = trained_at(*training, part, layers);
  at.backward =
      training->method == TrainingMethod::backward && part >= first_trained_part(training, layers);
  return at;
}

}  // namespace windtunnel
