#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdint>
#include <string_view>

#include "scenarios/language/resolve/resolve.hpp"
#include "scenarios/language/text/choices.hpp"

namespace windtunnel {
namespace {

bool says(const Values& values, std::string_view key, std::string_view word) {
  return values.has(key) && values.text(key) == word;
}

// The first stated key that does not exist in GPT-2; empty: none. The width of an MLP is no sign if
// its activation is stated. An encoder has no sign, because it is BERT.
std::string sign_of_llama(const Values& values) {
  if (values.has("model.encoder") && values.flag("model.encoder")) return "";
  const int heads = values.integer("model.heads");
  if (values.has("model.kv_heads") && values.integer("model.kv_heads") != heads) {
    return fmt::format("kv_heads: {} with {} heads", values.integer("model.kv_heads"), heads);
  }
  if (values.stated("model.latent")) return "latent attention";
  if (says(values, "model.activation", "swiglu")) return "activation: swiglu";
  if (says(values, "model.normalisation", "rms-norm")) return "normalisation: rms-norm";
  if (values.has("model.activation") || !values.has("model.ffn")) return "";
  const int ffn = values.integer("model.ffn");
  const int hidden = values.integer("model.hidden");
  if (ffn == std::int64_t{4} * hidden) return "";
  return fmt::format("ffn: {}, not four times hidden", ffn);
}

}  // namespace

ModelFamily model_family(const Values& values) {
  ModelFamily family{.forms = {}, .name = "GPT-2", .sign = sign_of_llama(values)};
  const std::int64_t hidden = values.integer("model.hidden");
  family.forms.kv_heads = values.integer("model.heads");
  family.forms.ffn_hidden = static_cast<int>(4 * hidden);
  if (family.sign.empty()) return family;
  family.name = "Llama";
  family.forms.activation = Activation::swiglu;
  family.forms.normalisation = Normalisation::rms_norm;
  family.forms.position = PositionEncoding::rotary;
  family.forms.biases = false;
  family.forms.tied_embeddings = false;
  if (!says(values, "model.activation", "gelu")) {
    family.forms.ffn_hidden = static_cast<int>(hidden * 4 * 2 / 3 / 64 * 64);
  }
  return family;
}

std::vector<Note> model_defaults(const Values& values, const Job& job) {
  if (job.network || values.has("model.base")) return {};
  const TransformerSpec& model = job.model;
  std::vector<std::string> open;
  const auto add = [&](std::string_view key, const std::string& value) {
    if (!values.has(fmt::format("model.{}", key)))
      open.push_back(fmt::format("{}: {}", key, value));
  };
  const auto flag = [](bool yes) { return yes ? "true" : "false"; };
  add("kv_heads", std::to_string(model.kv_heads));
  add("head_width", std::to_string(model.head_dim()));
  if (model.layers_with(has_mlp) > 0) add("ffn", std::to_string(model.ffn_hidden));
  add("activation", std::string(name_of(model.activation)));
  add("normalisation", std::string(name_of(model.normalisation)));
  add("position", std::string(name_of(model.position)));
  add("attention", std::string(name_of(model.attention)));
  add("biases", flag(model.biases));
  add("tied_embeddings", flag(model.tied_embeddings));
  add("dropout", flag(model.dropout));
  if (open.empty()) return {};
  const ModelFamily family = model_family(values);
  const std::string why = family.sign.empty()
                              ? "so defaults"
                              : fmt::format("and {} is unlike a GPT, so defaults", family.sign);
  return {{"model",
           fmt::format("has no base, {} of {} apply: {}; state the values that differ, or a base",
                       why, family.name, fmt::join(open, ", "))}};
}

}  // namespace windtunnel
