#include "models/workload/tower.hpp"

namespace windtunnel {

double Tower::embedding_parameters() const {
  return (patch_values + positions) * layers.hidden;
}

double Tower::projector_parameters() const {
  double matrices = 0;
  for (std::size_t i = 1; i < projector.size(); ++i) {
    matrices += projector[i - 1] * projector[i];
  }
  return projectors * matrices;
}

double Tower::stack_parameters() const {
  return embedding_parameters() + layers.layers * layers.layer_parameters();
}

Layout tower_layout(const Tower& tower, const Layout& layout) {
  Layout own = layout;
  const TransformerSpec& layers = tower.layers;
  const bool divided = layers.heads % layout.tp == 0 && layers.ffn_hidden % layout.tp == 0;
  if (!divided) own.tp = 1;
  return own;
}

TowerFlops tower_flops(const Tower& tower) {
  const LayerFlops layer = layer_flops(tower.layers, tower.patches(), Block::layer);
  const double patches = tower.patches();
  TowerFlops flops;
  flops.attention = patches * tower.layers.layers * layer.attention;
  flops.stack = flops.attention + patches * (tower.layers.layers * layer.products +
                                             2 * tower.patch_values * tower.layers.hidden);
  flops.projector = 2.0 * tower.tokens * tower.projector_parameters();
  return flops;
}

}  // namespace windtunnel
