#include "scenarios/language/configs/hugging_face_towers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "models/base/units.hpp"
#include "scenarios/language/configs/hugging_face_config.hpp"

namespace windtunnel {
namespace {

using TowerConfig = HuggingFaceConfig;

// Returns the first field that is there. 0: none is, or it is a list, which towers that are not
// transformers have.
int first_of(const TowerConfig& tower, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    const DocumentNode* node = tower.find(name);
    if (node == nullptr) continue;
    return node->kind == DocumentNode::Kind::scalar ? tower.whole(name) : 0;
  }
  return 0;
}

double squared(double x) {
  return x * x;
}

// Parameters around the layers. A patch meets those that embed it, a token those of the projector.
struct Around {
  double patch = 0, positions = 0, projector = 0;
  double sum() const { return patch + positions + projector; }
};

// What the readers of a family's parts are given; they set patches and tokens of a source.
struct TowerParts {
  const TowerConfig& tower;
  const TowerConfig& document;
  double text;  // width of the decoder
  HuggingFaceTower& made;

  double width() const { return made.layers.hidden; }
  // Sets the patches of a square image and its tokens, of which one stands for a square of patches.
  // Returns the parameters that embed a patch.
  double square_patches(int usual_side, int merged = 1, int frames = 1) const {
    const int patch = std::max(1, tower.whole_or("patch_size", 14));
    const int stated = first_of(tower, {"image_size"});
    made.side = stated > 0 ? stated : usual_side;
    made.side_is_stated = stated > 0;
    const int across = std::min(made.side / patch, 1000);
    made.patches = across * across;
    made.tokens = made.patches / (merged * merged);
    return 3.0 * frames * squared(patch) * width();
  }
};

// An image of this side is counted where the file leaves it free.
constexpr int kFreeSide = 448;

Around llava_parts(const TowerParts& of) {
  const double patches = of.square_patches(336);
  return {patches, (of.made.patches + 1) * of.width(), of.width() * of.text + squared(of.text)};
}

Around gemma3_parts(const TowerParts& of) {
  const double patches = of.square_patches(896);
  of.made.tokens = of.document.whole_or("mm_tokens_per_image", 256);
  return {patches, of.made.patches * of.width(), of.width() * of.text};
}

// Two by two patches become a token in an MLP of two matrices; Qwen3-VL has such an MLP behind
// layers in the middle, too, and learned positions.
Around qwen_parts(const TowerParts& of) {
  const int merged = std::clamp(of.tower.whole_or("spatial_merge_size", 2), 1, 16);
  const int frames = std::clamp(of.tower.whole_or("temporal_patch_size", 2), 1, 16);
  const double patches = of.square_patches(kFreeSide, merged, frames);
  const double inside = of.width() * merged * merged;
  const DocumentNode* deep = of.tower.find("deepstack_visual_indexes");
  const double mergers = deep == nullptr ? 1 : 1 + double(deep->items.size());
  const double positions = of.tower.whole_or("num_position_embeddings", 0) * of.width();
  return {patches, positions, mergers * inside * (inside + of.text)};
}

// Shuffled pixels pass through two matrices and then the projector. Widths that a file leaves out
// are those of the class, as in mllama_parts().
Around llama4_parts(const TowerParts& of) {
  const double ratio = of.tower.number_or("pixel_shuffle_ratio", 0.5);
  const int side = std::clamp(static_cast<int>(std::lround(1 / std::max(ratio, 0.1))), 1, 10);
  const double patches = of.square_patches(448, side);
  const double in = of.tower.whole_or("projector_input_dim", 4096);
  const double out = of.tower.whole_or("projector_output_dim", 4096);
  return {patches, (of.made.patches + 1) * of.width(),
          in * (of.made.layers.ffn_hidden + out) +
              of.tower.whole_or("vision_output_dim", 7680) * of.text};
}

// An image is up to max_num_tiles tiles, which have tables of positions for each form of an image.
Around mllama_parts(const TowerParts& of) {
  const double patches = of.square_patches(448);
  const int tiles = std::clamp(of.tower.whole_or("max_num_tiles", 4), 1, 64);
  const DocumentNode* forms = of.tower.find("supported_aspect_ratios");
  const double tables = forms == nullptr ? 9 : 1 + double(forms->items.size());
  const double tile = (of.made.patches + 1) * of.width();
  of.made.patches *= tiles;
  of.made.side = static_cast<int>(of.made.side * std::sqrt(tiles));  // tiles in a square
  of.made.tokens = 0;  // layers of the decoder read them beside its sequence
  return {patches, tile + tables * tiles * (tile + 2 * of.width()),
          of.tower.whole_or("vision_output_dim", 7680) * of.text};
}

Around mistral3_parts(const TowerParts& of) {
  const int merged = std::clamp(of.document.whole_or("spatial_merge_size", 2), 1, 16);
  const double patches = of.square_patches(1540, merged);
  return {patches, 0,
          squared(merged) * squared(of.width()) + of.width() * of.text + squared(of.text)};
}

// Two convolutions over a spectrum of 30 s, the second of which halves its frames.
Around whisper_parts(const TowerParts& of) {
  const double bins = of.tower.whole_or("num_mel_bins", 128);
  of.made.patches = std::clamp(of.tower.whole_or("max_source_positions", 1500), 0, 1'000'000);
  of.made.tokens = of.made.patches / 2;
  return {3 * of.width() * (bins + of.width()), of.made.patches * of.width(), of.width() * of.text};
}

struct TowerFamily {
  std::string_view model_type;  // of the whole file
  Around (*parts)(const TowerParts&);
  bool gated = false;  // its MLPs have three matrices
};
constexpr std::array kTowerFamilies = std::to_array<TowerFamily>({
    {"gemma3", gemma3_parts},
    {"llama4", llama4_parts},
    {"llava", llava_parts},
    {"mistral3", mistral3_parts, true},
    {"mllama", mllama_parts},
    {"qwen2_5_vl", qwen_parts, true},
    {"qwen2_audio", whisper_parts},
    {"qwen2_vl", qwen_parts},
    {"qwen3_5", qwen_parts},
    {"qwen3_5_moe", qwen_parts},
    {"qwen3_vl", qwen_parts},
    {"qwen3_vl_moe", qwen_parts},
});

// The layers of a tower, under the various names that files use.
TransformerSpec tower_layers(const TowerConfig& tower) {
  TransformerSpec layers;
  layers.layers = first_of(tower, {"num_hidden_layers", "depth", "num_layers", "encoder_layers"}) +
                  first_of(tower, {"num_global_layers"});
  layers.hidden = first_of(tower, {"embed_dim", "hidden_size", "width", "d_model"});
  layers.ffn_hidden = first_of(tower, {"intermediate_size", "encoder_ffn_dim"});
  if (layers.ffn_hidden == 0) {
    layers.ffn_hidden = static_cast<int>(std::clamp<double>(
        layers.hidden * tower.number_or("mlp_ratio", 4), 0, TowerConfig::kMostOfAll));
  }
  layers.heads = std::max(1, first_of(tower, {"num_attention_heads", "num_heads", "attention_heads",
                                              "encoder_attention_heads"}));
  layers.kv_heads = layers.heads;
  layers.bidirectional = true;
  layers.position = PositionEncoding::none;
  // Qwen2.5-VL: all layers but the listed ones attend inside windows of this many pixels.
  const int pixels = first_of(tower, {"window_size"});
  const DocumentNode* whole = tower.find("fullatt_block_indexes");
  if (pixels > 0 && whole != nullptr && !whole->items.empty()) {
    const int across = std::min(pixels / std::max(1, tower.whole_or("patch_size", 14)), 1000);
    layers.window = std::max(1, across * across);
    layers.global_every = std::max(1, layers.layers / static_cast<int>(whole->items.size()));
  }
  return layers;
}

std::string share_text(const HuggingFaceTower& tower, const TransformerSpec& model) {
  constexpr int kLength = 4096;
  const double sequence = model_flops(model, 1, kLength);
  if (tower.patches == 0) {
    const double token = 100 * tower.layers.parameters() / model.active_parameters();
    return fmt::format("a patch costs its layers {:.2g} % of what a token costs the decoder",
                       token);
  }
  const std::string source =
      tower.side == 0 ? std::string("30 s of sound")
                      : fmt::format("an image of {} x {} pixels{}", tower.side, tower.side,
                                    tower.side_is_stated ? "" : " (the file states no size)");
  const std::string read =
      tower.tokens > 0 ? fmt::format(" and {} tokens of the sequence", tower.tokens) : "";
  return fmt::format(
      "{} is {} patches{}, and adds {:.2g} % to the operations of a sequence of {} tokens", source,
      tower.patches, read, 100 * tower.flops / sequence, kLength);
}

}  // namespace

std::vector<HuggingFaceTower> towers_of(const DocumentNode& document,
                                        const TransformerSpec& model) {
  std::vector<HuggingFaceTower> towers;
  const TowerConfig whole(document);
  const DocumentNode* type = whole.find("model_type");
  for (const char* key : {"vision_config", "audio_config"}) {
    const DocumentNode* node = document.value_of(key);
    if (node == nullptr || node->kind != DocumentNode::Kind::map) continue;
    const TowerConfig config(*node);
    HuggingFaceTower tower{.key = key, .layers = tower_layers(config)};
    const auto* family =
        type == nullptr ? kTowerFamilies.end()
                        : std::ranges::find(kTowerFamilies, type->text, &TowerFamily::model_type);
    const bool known = family != kTowerFamilies.end();
    tower.layers.activation = known && family->gated ? Activation::swiglu : Activation::gelu;
    tower.parameters = tower.layers.parameters();
    if (known && tower.parameters > 0) {
      const Around around = family->parts({config, whole, double(model.hidden), tower});
      tower.parameters += around.sum();
      const double projected = tower.tokens > 0 ? tower.tokens : tower.patches;
      tower.flops = model_flops(tower.layers, 1, std::max(tower.patches, 1)) +
                    6 * (tower.patches * around.patch + projected * around.projector);
    }
    towers.push_back(std::move(tower));
  }
  return towers;
}

void name_towers(const DocumentNode& document, TransformerSpec& model) {
  for (const HuggingFaceTower& tower : towers_of(document, model)) {
    if (tower.layers.layers <= 0 || tower.layers.hidden <= 0) {
      model.left_out.push_back(fmt::format("{}: its size is not stated", tower.key));
      continue;
    }
    model.left_out.push_back(fmt::format("{}: {} parameters; {}", tower.key,
                                         format_count(tower.parameters), share_text(tower, model)));
  }
}

}  // namespace windtunnel
