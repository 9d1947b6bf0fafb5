#include "scenarios/language/configs/hugging_face.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "scenarios/language/configs/hugging_face_config.hpp"
#include "scenarios/language/configs/model_limits.hpp"

namespace windtunnel {
namespace {

using Config = HuggingFaceConfig;

// If `global` of the layers have no window, returns n so that every n-th layer has none; 0 if all
// layers have one. Throws Error if layers without a window cannot be evenly spaced.
int global_every(int global, int layers, const Location& where) {
  if (global == 0) return 0;
  const int every = layers / global;
  if (layers / every == global) return every;
  throw Error(where, fmt::format("{} of {} layers attend to the whole sequence; only one such "
                                 "layer at equal distances, or none, is modelled",
                                 global, layers));
}

// Sets the layers with a window: those of layer_types, or without that key all but every n-th.
void set_windows(const Config& config, const ModelForm& form, const ModelReader& stated,
                 TransformerSpec& model) {
  const auto row = std::ranges::find(form.rows, "window", &StatedRow::key);
  if (row == form.rows.end()) return;
  int usual_every = stated.find(".global_every").value_or(0);
  if (form.states(".global")) {
    const int global = std::min(stated.find(".global").value_or(model.layers), model.layers);
    if (global == model.layers) model.window = 0;
    if (global == model.layers) return;
    usual_every = global_every(global, model.layers, config.where("max_window_layers"));
  }
  model.global_every = model.window > 0 ? usual_every : 0;
  if (!config.has("layer_types")) return;
  int global = 0;
  for (const DocumentNode& type : config.list("layer_types")) {
    const bool local = type.text == "sliding_attention" || type.text == "chunked_attention";
    if (!local && type.text != "full_attention") {
      throw Error(type.where, fmt::format("layer_types: '{}' is not modelled; known: "
                                          "full_attention, sliding_attention, chunked_attention",
                                          type.text));
    }
    global += local ? 0 : 1;
  }
  const Location where = config.where("layer_types");
  if (std::ssize(config.list("layer_types")) != model.layers) {
    throw Error(where, fmt::format("layer_types: lists {} of {} layers",
                                   config.list("layer_types").size(), model.layers));
  }
  if (global == model.layers) {
    model.window = 0;
    model.global_every = 0;
    return;
  }
  if (model.window == 0) config.at(row->of.front());
  model.global_every = global_every(global, model.layers, where);
}

// Converts a word of layers_block_type, the newer form of the pattern, to the pattern's letter.
char letter_of(const DocumentNode& type) {
  for (const auto& [name, letter] : {std::pair{"mamba", 'M'},
                                     {"linear_attention", 'M'},
                                     {"attention", '*'},
                                     {"full_attention", '*'},
                                     {"mlp", '-'},
                                     {"moe", 'E'}}) {
    if (type.text == name) return letter;
  }
  throw Error(type.where, fmt::format("layers_block_type: '{}' is not modelled; known: mamba, "
                                      "attention, mlp, moe",
                                      type.text));
}

void read_pattern(const Config& config, TransformerSpec& model) {
  if (config.find("layers_block_type") != nullptr) {
    for (const DocumentNode& type : config.list("layers_block_type")) {
      model.pattern += letter_of(type);
    }
  } else {
    model.pattern = config.at("hybrid_override_pattern").text;
  }
  model.layers = static_cast<int>(model.pattern.size());
  if (config.find("num_hidden_layers") == nullptr) return;
  const int layers = config.whole("num_hidden_layers");
  if (layers == model.layers) return;
  throw Error(
      config.where("num_hidden_layers"),
      fmt::format("num_hidden_layers is {}, but the pattern lists {}", layers, model.layers));
}

// [layer] Whether it has full attention, by a list with an item for each layer.
std::vector<bool> attention_by_list(const Config& config, const std::string& key, bool words) {
  std::vector<bool> attention;
  for (const DocumentNode& type : config.list(key)) {
    attention.push_back(words ? type.text == "full_attention" : whole(type, key) == 1);
    if (!words || attention.back() || type.text == "linear_attention") continue;
    throw Error(type.where, fmt::format("{}: '{}' is not modelled here; known: full_attention, "
                                        "linear_attention",
                                        key, type.text));
  }
  return attention;
}

// [layer] Whether it has full attention: as one of the form's lists says, or else every n-th layer;
// without lists all have.
std::vector<bool> attention_layers(const Config& config, const ModelForm& form, int every,
                                   std::size_t layers) {
  std::vector<bool> attention(layers, form.full_attention.empty());
  for (const auto& [kind, key] : form.full_attention) {
    if (kind == "numbers") {  // the file counts layers from 1
      for (const DocumentNode& node : config.list(key)) {
        const std::string name = key.substr(key.rfind('.') + 1);
        const int layer = whole(node, name);
        if (layer < 1 || layer > std::ssize(attention)) {
          throw Error(node.where,
                      fmt::format("{}: {} is not from 1 to the {} layers", name, layer, layers));
        }
        attention[layer - 1] = true;
      }
      return attention;
    }
    if (!config.has(key)) continue;
    attention = attention_by_list(config, key, kind == "words");
    if (attention.size() == layers) return attention;
    throw Error(config.where(key),
                fmt::format("{}: lists {} of {} layers", key, attention.size(), layers));
  }
  if (form.full_attention.empty()) return attention;
  for (std::size_t i = 0; i < layers; ++i) attention[i] = (i + 1) % every == 0;
  return attention;
}

// [layer] Whether it has experts.
std::vector<bool> expert_layers(const Config& config, const ModelForm& form,
                                const ModelReader& stated, std::size_t layers) {
  const std::size_t dense = stated.find(".dense").value_or(0);
  const std::size_t every = stated.find(".experts_every").value_or(1);
  const std::size_t step = stated.find(".experts_step").value_or(1);
  std::vector<bool> experts(layers);
  for (std::size_t i = 0; i < layers; ++i) {
    experts[i] = i >= dense && (i + 1) % every == 0 && i % step == 0;
  }
  if (!form.states(".experts_every") || !config.has("mlp_only_layers")) return experts;
  for (const DocumentNode& layer : config.list("mlp_only_layers")) {
    const int one = whole(layer, "mlp_only_layers");
    if (one < std::ssize(experts)) experts[one] = false;
  }
  return experts;
}

// Sets the kinds of layers: as a pattern or, where possible, as a number of dense layers before
// layers with experts. Two stacks have layers of an encoder and then those of a decoder that reads
// it; the decoder's text is taken to be as long as the longest input that the file states.
void set_layers(const Config& config, const ModelForm& form, const ModelReader& stated,
                TransformerSpec& model) {
  const auto few = [](int layers) { return std::size_t(std::clamp(layers, 0, 10'000)); };
  if (form.states(".scans")) model.pattern.assign(few(model.layers), 'M');
  if (const std::optional<int> encoder = stated.find(".encoder")) {
    const int decoder = *stated.find(".decoder");
    model.layers = *encoder + decoder;
    model.pattern = std::string(few(*encoder), 'B') + std::string(few(decoder), 'C');
    model.sequence = 2 * model.source_tokens;
  }
  const bool by_layer = form.states(".dense") || form.states(".experts_every");
  if (by_layer || !form.full_attention.empty()) {
    const std::size_t layers = few(model.layers);
    const int every = stated.find(".full_every").value_or(1);
    const std::vector<bool> attention = attention_layers(config, form, every, layers);
    std::vector<bool> experts = expert_layers(config, form, stated, layers);
    if (model.moe.experts == 0) experts.assign(layers, false);
    std::string letters;
    for (std::size_t i = 0; i < layers; ++i) {
      letters += attention[i] ? (experts[i] ? 'X' : 'T') : (experts[i] ? 'R' : 'L');
    }
    const std::size_t dense = std::min(letters.find_first_not_of('T'), letters.size());
    const bool plain = letters.find_first_not_of('X', dense) == std::string::npos;
    if (!plain) model.pattern = letters;
    if (plain) model.moe.dense_layers = model.moe.experts > 0 ? static_cast<int>(dense) : 0;
  }
  if (model.layers_with(has_mamba) == 0) model.mamba = {};
}

// True if positions are YaRN's and its temperature scales queries and keys. In DeepSeek's files
// mscale equals mscale_all_dim, and the temperature scales scores instead (transformers,
// modeling_rope_utils.py, _compute_yarn_parameters). Older files call the type `type`; from version
// 5 of transformers on, rope_parameters replaces rope_scaling.
bool scales_rotary(const Config& config) {
  for (const char* key : {"rope_scaling", "rope_parameters"}) {
    const DocumentNode* node = config.find(key);
    if (node == nullptr || node->kind != DocumentNode::Kind::map) continue;
    const Config rotary(*node);
    const DocumentNode* type = rotary.find("rope_type");
    if (type == nullptr) type = rotary.find("type");
    if (type == nullptr || type->text != "yarn") continue;
    const double mscale = rotary.number_or("mscale", 0);
    const bool of_scores = mscale != 0 && mscale == rotary.number_or("mscale_all_dim", 0);
    return rotary.number_or("attention_factor", of_scores ? 1 : 0) != 1;
  }
  return false;
}

// Reads settings that any family's file may have.
void read_kernels_of_their_own(const Config& config, TransformerSpec& model) {
  model.scaled_rotary = model.position == PositionEncoding::rotary && scales_rotary(config);
  model.clamped_activation =
      model.activation == Activation::swiglu && config.number_or("swiglu_limit", 0) > 0;
}

// Lists the parts of the form that are not counted, if the file has them. A number of 1 is none.
void name_parts(const Config& config, const ModelForm& form, TransformerSpec& model) {
  for (const auto& [names, words] : form.left_out) {
    const auto has = [&](const std::string& name) {
      const DocumentNode* node = config.find(name);
      if (node == nullptr) return false;
      const bool number = node->text.find_first_not_of("0123456789") == std::string::npos;
      return node->kind != DocumentNode::Kind::scalar || !number || config.whole(name) > 1;
    };
    std::size_t count = 0;
    bool any = false;
    for (const std::string& name : names) {
      if (!has(name)) continue;
      any = true;
      count = config.at(name).items.size();
    }
    if (!any) continue;
    model.left_out.push_back(fmt::format(fmt::runtime(words), fmt::arg("count", count),
                                         fmt::arg("layers", model.layers)));
  }
}

const std::vector<ModelForm>& forms() {
  static const std::vector<ModelForm> all =
      read_model_forms(require(model_files(), "hugging_face"));
  return all;
}

const ModelForm& form_of(const DocumentNode& map, const DocumentNode& whole) {
  const DocumentNode* node = map.value_of("model_type");
  if (node == nullptr) node = whole.value_of("model_type");
  if (node == nullptr) {
    throw Error(whole.where, "'model_type' is missing, so this is no config.json of Hugging Face");
  }
  const auto found = std::ranges::find(forms(), node->text, &ModelForm::name);
  if (found != forms().end()) return *found;
  if (const DocumentNode* has = require(model_files(), "not_modelled").value_of(node->text)) {
    throw Error(node->where,
                fmt::format("model_type '{}' is not modelled: it has {}. Start from the most "
                            "similar model of the library (base) and state the values that differ",
                            node->text, has->text));
  }
  throw Error(node->where,
              fmt::format("unknown model_type '{}'; known: {}. State its dimensions instead "
                          "(model: {{layers: ..., hidden: ..., heads: ...}}), or start from a "
                          "similar model of the library (base) and state the values that differ",
                          node->text, fmt::join(hugging_face_types(), ", ")));
}

}  // namespace

std::vector<std::string> hugging_face_types() {
  std::vector<std::string> names;
  for (const ModelForm& form : forms()) names.push_back(form.name);
  std::ranges::sort(names);
  return names;
}

TransformerSpec model_of_hugging_face(const std::string& text, const std::string& path) {
  const DocumentNode document = parse_document(text, path);  // JSON is YAML in flow style
  require_map(document, path);
  const DocumentNode* language = document.value_of("text_config");
  const DocumentNode& map =
      language != nullptr && language->kind == DocumentNode::Kind::map ? *language : document;
  const ModelForm& form = form_of(map, document);
  TransformerSpec model;
  model.name = path;
  model.source = fmt::format("{}, model_type {}", path, form.name);
  const Config config(map, &map == &document ? nullptr : &form.defaults);
  for (const std::string& name : form.reads) config.find(name);
  ModelReader stated(config, model);
  if (form.part == "pattern") {
    read_pattern(config, model);
    stated.set(".experts", model.layers_with(has_experts));
  }
  stated.read(form.rows);
  if (const auto width = stated.find(".embedding"); width && *width != model.hidden) {
    throw Error(config.where("word_embed_proj_dim"),
                fmt::format("word_embed_proj_dim: embeddings of width {} before layers of {} are "
                            "not modelled",
                            *width, model.hidden));
  }
  if (form.part == "compressed attention") read_compressed_attention(config, model);
  set_windows(config, form, stated, model);
  set_layers(config, form, stated, model);
  name_parts(config, form, model);
  read_kernels_of_their_own(config, model);
  check_limits(model, map.where);
  name_left_out(document, config, model);
  return model;
}

}  // namespace windtunnel
