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

// Returns the first of these fields that the file has. 0 if it has none, or if the value is a list,
// as in towers that are not transformers.
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

// The input of a family's reader, and the tower that it completes: the reader sets the parts before
// and after the layers.
struct TowerParts {
  const TowerConfig& config;
  const TowerConfig& document;
  double text;  // width of the decoder
  HuggingFaceTower& made;

  Tower& tower() const { return made.tower; }
  double width() const { return made.tower.layers.hidden; }
  int patches() const { return made.tower.patches(); }
  // Sets the patches of a square image, and its tokens, each of which stands for `merged` x
  // `merged` patches.
  void set_square_patches(int usual_side, int merged = 1, int frames = 1) const {
    const int patch = std::max(1, config.whole_or("patch_size", 14));
    const int stated = first_of(config, {"image_size"});
    made.side = stated > 0 ? stated : usual_side;
    made.side_is_stated = stated > 0;
    const int across = std::min(made.side / patch, 1000);
    tower().layers.sequence = across * across;
    tower().tokens = patches() / (merged * merged);
    tower().patch_values = 3.0 * frames * squared(patch);
  }
};

// Pixels on a side of the image that is counted if the file does not state its size.
constexpr int kFreeSide = 448;

void read_llava(const TowerParts& of) {
  of.set_square_patches(336);
  of.tower().positions = of.patches() + 1;
  of.tower().projector = {of.width(), of.text, of.text};
}

void read_gemma3(const TowerParts& of) {
  of.set_square_patches(896);
  of.tower().tokens = of.document.whole_or("mm_tokens_per_image", 256);
  of.tower().positions = of.patches();
  of.tower().projector = {of.width(), of.text};
}

// Two by two patches become a token in an MLP of two matrices; Qwen3-VL has such an MLP behind
// layers in the middle, too, and learned positions.
void read_qwen(const TowerParts& of) {
  const int merged = std::clamp(of.config.whole_or("spatial_merge_size", 2), 1, 16);
  const int frames = std::clamp(of.config.whole_or("temporal_patch_size", 2), 1, 16);
  of.set_square_patches(kFreeSide, merged, frames);
  const double inside = of.width() * merged * merged;
  const DocumentNode* deep = of.config.find("deepstack_visual_indexes");
  of.tower().projector = {inside, inside, of.text};
  of.tower().projectors = deep == nullptr ? 1 : 1 + static_cast<int>(deep->items.size());
  of.tower().positions = of.config.whole_or("num_position_embeddings", 0);
}

// Shuffled pixels pass through two matrices and then the projector. Widths that a file leaves out
// are those of the class, as in read_mllama().
void read_llama4(const TowerParts& of) {
  const double ratio = of.config.number_or("pixel_shuffle_ratio", 0.5);
  const int side = std::clamp(static_cast<int>(std::lround(1 / std::max(ratio, 0.1))), 1, 10);
  of.set_square_patches(448, side);
  const double in = of.config.whole_or("projector_input_dim", 4096);
  const double out = of.config.whole_or("projector_output_dim", 4096);
  of.tower().positions = of.patches() + 1;
  of.tower().projector = {double(of.tower().layers.ffn_hidden), in, out, of.text};
}

// An image is up to max_num_tiles tiles. Each supported aspect ratio has a table of positions.
void read_mllama(const TowerParts& of) {
  of.set_square_patches(448);
  const int tiles = std::clamp(of.config.whole_or("max_num_tiles", 4), 1, 64);
  const DocumentNode* forms = of.config.find("supported_aspect_ratios");
  const double tables = forms == nullptr ? 9 : 1 + double(forms->items.size());
  const double tile = of.patches() + 1;
  of.tower().positions = tile + tables * tiles * (tile + 2);
  of.tower().layers.sequence *= tiles;
  of.tower().tokens = of.patches();
  of.made.in_sequence = false;
  of.made.side = static_cast<int>(of.made.side * std::sqrt(tiles));  // if tiles form a square
  of.tower().projector = {double(of.config.whole_or("vision_output_dim", 7680)), of.text};
}

void read_mistral3(const TowerParts& of) {
  const int merged = std::clamp(of.document.whole_or("spatial_merge_size", 2), 1, 16);
  of.set_square_patches(1540, merged);
  of.tower().projector = {squared(merged) * of.width(), of.width(), of.text, of.text};
}

// Two convolutions over a spectrum of 30 s, the second of which halves its frames. They count as
// one matrix over the frames that are left.
void read_whisper(const TowerParts& of) {
  const double bins = of.config.whole_or("num_mel_bins", 128);
  of.tower().layers.sequence =
      std::clamp(of.config.whole_or("max_source_positions", 1500), 0, 1'000'000);
  of.tower().tokens = of.patches() / 2;
  of.tower().patch_values = 3 * (bins + of.width());
  of.tower().positions = of.patches();
  of.tower().projector = {of.width(), of.text};
}

struct TowerFamily {
  std::string_view model_type;  // of the whole file
  void (*read)(const TowerParts&);
  bool gated = false;  // its MLPs have three matrices
};
constexpr std::array kTowerFamilies = std::to_array<TowerFamily>({
    {"gemma3", read_gemma3},
    {"llama4", read_llama4},
    {"llava", read_llava},
    {"mistral3", read_mistral3, true},
    {"mllama", read_mllama},
    {"qwen2_5_vl", read_qwen, true},
    {"qwen2_audio", read_whisper},
    {"qwen2_vl", read_qwen},
    {"qwen3_5", read_qwen},
    {"qwen3_5_moe", read_qwen},
    {"qwen3_vl", read_qwen},
    {"qwen3_vl_moe", read_qwen},
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
  // In Qwen2.5-VL all but the listed layers attend inside windows of this side in pixels.
  const int pixels = first_of(tower, {"window_size"});
  const DocumentNode* whole = tower.find("fullatt_block_indexes");
  if (pixels > 0 && whole != nullptr && !whole->items.empty()) {
    const int across = std::min(pixels / std::max(1, tower.whole_or("patch_size", 14)), 1000);
    layers.window = std::max(1, across * across);
    layers.global_every = std::max(1, layers.layers / static_cast<int>(whole->items.size()));
  }
  return layers;
}

// The input that is counted: "an image of 448 x 448 pixels".
std::string source_text(const HuggingFaceTower& of) {
  if (of.side == 0) return "30 s of sound";
  return fmt::format("an image of {} x {} pixels{}", of.side, of.side,
                     of.side_is_stated ? "" : " (the file states no size)");
}

std::string share_text(const HuggingFaceTower& of, const TransformerSpec& model) {
  constexpr int kLength = 4096;
  const double sequence = model_flops(model, 1, kLength);
  if (of.tower.patches() == 0) {
    const double token = 100 * of.tower.layers.parameters() / model.active_parameters();
    return fmt::format("a patch costs its layers {:.2g} % of what a token costs the decoder",
                       token);
  }
  const std::string read =
      of.in_sequence ? fmt::format(" and {} tokens of the sequence", of.tower.tokens) : "";
  return fmt::format(
      "{} is {} patches{}, and adds {:.2g} % to the operations of a sequence of {} tokens",
      source_text(of), of.tower.patches(), read, 100 * of.flops() / sequence, kLength);
}

// Whether a job can simulate the tower. Larger sizes come from damaged files, or from files that do
// not state the number of heads, which then counts as one.
bool is_simulated(const HuggingFaceTower& of) {
  const TransformerSpec& layers = of.tower.layers;
  return of.in_sequence && of.tower.patches() > 0 && of.tower.tokens > 0 &&
         layers.layers <= 10'000 && layers.hidden <= 1'000'000 && layers.head_dim() <= 256 &&
         layers.ffn_hidden > 0 && layers.hidden % layers.heads == 0;
}

}  // namespace

double HuggingFaceTower::flops() const {
  const TowerFlops forward = tower_flops(tower);
  return 3 * (forward.stack + forward.projector);
}

std::vector<HuggingFaceTower> towers_of(const DocumentNode& document,
                                        const TransformerSpec& model) {
  std::vector<HuggingFaceTower> towers;
  const TowerConfig whole(document);
  const DocumentNode* type = whole.find("model_type");
  for (const char* key : {"vision_config", "audio_config"}) {
    const DocumentNode* node = document.value_of(key);
    if (node == nullptr || node->kind != DocumentNode::Kind::map) continue;
    const TowerConfig config(*node);
    HuggingFaceTower made{.key = key, .tower = {}};
    TransformerSpec& layers = made.tower.layers;
    layers = tower_layers(config);
    const auto* family =
        type == nullptr ? kTowerFamilies.end()
                        : std::ranges::find(kTowerFamilies, type->text, &TowerFamily::model_type);
    const bool known = family != kTowerFamilies.end();
    layers.name = key;
    layers.activation = known && family->gated ? Activation::swiglu : Activation::gelu;
    if (known && layers.parameters() > 0) {
      family->read({config, whole, double(model.hidden), made});
      made.tower.source = source_text(made);
    }
    towers.push_back(std::move(made));
  }
  return towers;
}

void read_towers(const DocumentNode& document, TransformerSpec& model) {
  for (const HuggingFaceTower& made : towers_of(document, model)) {
    if (made.tower.layers.layers <= 0 || made.tower.layers.hidden <= 0) {
      model.left_out.push_back(fmt::format("{}: its size is not stated", made.key));
    } else if (!model.tower && is_simulated(made)) {
      model.tower = std::make_shared<const Tower>(made.tower);
    } else {
      model.left_out.push_back(fmt::format("{}: {} parameters; {}", made.key,
                                           format_count(made.tower.parameters()),
                                           share_text(made, model)));
    }
  }
}

}  // namespace windtunnel
