#include "models/plan/pipeline_stages.hpp"

namespace windtunnel {

HeldStages stages_of_ranks(const Layout& layout, const HeldStages& said) {
  return said.empty() ? looped_stages(layout.pp, layout.vpp) : said;
}

std::vector<int> looped_ranks(const Layout& layout) {
  std::vector<int> ranks(layout.stages());
  for (int stage = 0; stage < layout.stages(); ++stage) ranks[stage] = stage % layout.pp;
  return ranks;
}

std::vector<int> layers_of_stages(const Layout& layout, std::span<const int> layers_of_rank) {
  std::vector<int> layers = looped_ranks(layout);
  for (int stage = 0; stage < layout.stages(); ++stage) {
    const int all = layers_of_rank[layers[stage]];
    const int chunk = stage / layout.pp;
    layers[stage] = all / layout.vpp + (chunk < all % layout.vpp ? 1 : 0);
  }
  return layers;
}

double filling_microbatches(const Layout& layout) {
  return (layout.pp - 1.0) / layout.vpp;
}

Layout without_stages(Layout layout) {
  layout.vpp = 1;
  layout.stage_layers.clear();
  layout.first_stage_layers = layout.last_stage_layers = 0;
  return layout;
}

}  // namespace windtunnel
