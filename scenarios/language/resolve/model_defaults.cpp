#include "scenarios/language/resolve/model_defaults.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <string_view>

#include "scenarios/language/text/choices.hpp"

namespace windtunnel {

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
  return {
      {"model", fmt::format("has no base, and these are defaults, GPT-2's: {}; state those that "
                            "differ, or a base",
                            fmt::join(open, ", "))}};
}

}  // namespace windtunnel
