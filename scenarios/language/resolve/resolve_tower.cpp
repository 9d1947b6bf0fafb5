// The tower before a decoder, from checked values or a config.json.
#include <fmt/format.h>

#include <memory>
#include <string>
#include <utility>

#include "models/workload/tower.hpp"
#include "scenarios/language/resolve/resolve.hpp"

namespace windtunnel {
namespace {

constexpr const char* kKey = "model.tower";

Tower inline_tower(const Values& values) {
  for (const char* key : {"layers", "hidden", "heads", "patches"}) {
    if (values.has(join_path(kKey, key))) continue;
    values.fail(kKey, fmt::format("has no '{}', and the model itself has no tower; add it", key));
  }
  Tower tower;
  tower.layers.name = "tower";
  tower.layers.bidirectional = true;
  tower.layers.position = PositionEncoding::none;
  return tower;
}

// Fills in widths that the scenario leaves out.
void complete(const Values& values, const TransformerSpec& model, Tower& tower) {
  TransformerSpec& layers = tower.layers;
  layers.kv_heads = layers.heads;
  if (layers.ffn_hidden == 0) layers.ffn_hidden = 4 * layers.hidden;
  if (tower.tokens == 0) tower.tokens = tower.patches();
  const std::vector<std::string> widths = values.items("model.tower.projector");
  if (!widths.empty()) tower.projector.clear();
  for (const std::string& key : widths) tower.projector.push_back(values.integer(key));
  if (tower.projector.empty()) tower.projector = {double(layers.hidden), double(model.hidden)};
}

}  // namespace

void resolve_tower(const Values& values, TransformerSpec& model) {
  if (!values.stated(kKey) && !model.tower) return;
  Tower tower = model.tower ? *model.tower : inline_tower(values);
  if (values.has("model.tower.patches") || values.has("model.tower.tokens")) tower.source.clear();
  values.fill(kKey, tower);
  complete(values, model, tower);
  const TransformerSpec& layers = tower.layers;
  if (layers.hidden % layers.heads != 0) {
    values.fail("model.tower.heads",
                fmt::format("{} heads do not divide the width {}", layers.heads, layers.hidden));
  }
  if (tower.projector.size() < 2 || tower.projector.back() != model.hidden) {
    values.fail("model.tower.projector",
                fmt::format("ends at the width {:.0f}, and model '{}' has {}; state two widths or "
                            "more, the last of which is the model's",
                            tower.projector.back(), model.name, model.hidden));
  }
  model.tower = std::make_shared<const Tower>(std::move(tower));
}

void check_tower_room(const Values& values, const TransformerSpec& model, int sequence) {
  if (!model.tower) return;
  const Tower& tower = *model.tower;
  const double places = double(tower.sources) * tower.tokens;
  if (places <= sequence) return;
  values.fail(kKey,
              fmt::format("its {} sources take {:.0f} places, and batch.sequence has {}; state a "
                          "longer one, or smaller sources by patches and tokens; sources: 0 "
                          "trains on text alone",
                          tower.sources, places, sequence));
}

}  // namespace windtunnel
