// Which activations of a layer are dropped after the forward pass and recomputed before the layer's
// backward pass: a set of modules, in Megatron-Core's terms (TransformerConfig, recompute_modules:
// megatron/core/transformer/transformer_config.py), and the layers that do so. Memory, time and
// hardware FLOPs follow from it: models/cost/chunk/activations.hpp, models/cost/op/op.hpp.
#pragma once

#include <cstdint>
#include <string>

#include "models/base/choice.hpp"

namespace windtunnel {

// The modules up to `moe` are Megatron-Core's (`shared_experts` since core_v0.14.0). A module
// includes the ones inside it (`moe` includes `moe_act`, `mlp` includes `mlp_act`). `attention` is
// what MaxText's policies recompute beside kept queries, keys and values.
enum class RecomputeModule : std::uint8_t {
  core_attn,       // from queries, keys and values to attention's output, which is kept
  layernorm,       // outputs of a layer's norms
  moe_act,         // input of the experts' second product
  mla_up_proj,     // latent attention: queries, keys and values from their compressed form
  mlp,             // the MLP of dense layers, after the norm
  shared_experts,  // the MLP of shared experts
  moe,             // the MLP of a layer with experts, including communication
  mlp_act,         // input of the second product of a dense MLP or of shared experts
  scores,          // scores of unfused attention
  matmuls,         // torchtitan's selective "op": norms, activations and every other product
  attention,       // from queries, keys and values to the sum after attention's projection
  layer,           // everything except the layer's input
};
template <>
inline constexpr Choice<RecomputeModule> kChoices<RecomputeModule>[] = {
    {"core_attn", RecomputeModule::core_attn},
    {"layernorm", RecomputeModule::layernorm},
    {"moe_act", RecomputeModule::moe_act},
    {"mla_up_proj", RecomputeModule::mla_up_proj},
    {"mlp", RecomputeModule::mlp},
    {"shared_experts", RecomputeModule::shared_experts},
    {"moe", RecomputeModule::moe},
    {"mlp_act", RecomputeModule::mlp_act},
    {"scores", RecomputeModule::scores},
    {"op", RecomputeModule::matmuls},
    {"attention", RecomputeModule::attention},
    {"layer", RecomputeModule::layer}};

// Which layers of a stage recompute. `layers` is the method's parameter.
enum class RecomputeMethod : std::uint8_t {
  all,      // every layer, individually
  block,    // the first `layers`, individually (Megatron-LM's recompute_method)
  uniform,  // all, in groups of `layers`: only the input of each group is kept
  every,    // one in `layers` (torchtitan to v0.2.2: selective_ac_option)
};
template <>
inline constexpr Choice<RecomputeMethod> kChoices<RecomputeMethod>[] = {
    {"all", RecomputeMethod::all},
    {"block", RecomputeMethod::block},
    {"uniform", RecomputeMethod::uniform},
    {"every", RecomputeMethod::every}};

struct Recompute {
  std::uint16_t modules = 0;  // bit 1 << RecomputeModule
  bool searched = false;  // true until policies/search/memory_search.hpp has found the cheapest set
  RecomputeMethod method = RecomputeMethod::all;
  int layers = 0;  // parameter of `method`

  template <class... Modules>
  static constexpr Recompute of(Modules... modules) {
    return {static_cast<std::uint16_t>((0U | ... | (1U << static_cast<unsigned>(modules))))};
  }
  constexpr bool states(RecomputeModule module) const {
    return (modules >> static_cast<unsigned>(module) & 1U) != 0;
  }
  // Whether the module is recomputed, itself or as part of another.
  constexpr bool has(RecomputeModule module) const {
    using enum RecomputeModule;
    if (states(module) || states(layer)) return true;
    if (module == moe_act || module == shared_experts) return states(moe);
    if (module == core_attn) return states(attention);
    return module == scores && (states(core_attn) || states(attention));
  }
  constexpr Recompute with(RecomputeModule module) const {
    Recompute more = *this;
    more.modules |= static_cast<std::uint16_t>(1U << static_cast<unsigned>(module));
    return more;
  }
  // Whether layers of one stage may differ in what they recompute.
  constexpr bool by_layer() const {
    return method == RecomputeMethod::block || method == RecomputeMethod::every;
  }
  constexpr bool covers(int layer_of_stage) const {
    if (method == RecomputeMethod::block) return layer_of_stage < layers;
    return method != RecomputeMethod::every || (layer_of_stage + 1) % layers == 0;
  }
  friend constexpr bool operator==(const Recompute&, const Recompute&) = default;

  // Named sets.
  static const Recompute none, selective, full, automatic;
};
inline constexpr Recompute Recompute::none{};
// Everything that can be recomputed without weight products and fused attention.
inline constexpr Recompute Recompute::selective =
    Recompute::of(RecomputeModule::layernorm, RecomputeModule::moe_act, RecomputeModule::mlp_act,
                  RecomputeModule::scores);
inline constexpr Recompute Recompute::full = Recompute::of(RecomputeModule::layer);
inline constexpr Recompute Recompute::automatic{.searched = true};
template <>
inline constexpr Choice<Recompute> kChoices<Recompute>[] = {{"none", Recompute::none},
                                                            {"selective", Recompute::selective},
                                                            {"full", Recompute::full},
                                                            {"auto", Recompute::automatic}};

// Writes it as a scenario does: "full", "[layernorm, moe_act]", "{modules: full, method: block,
// layers: 4}".
inline std::string to_string(const Recompute& recompute) {
  Recompute all = recompute;
  all.method = RecomputeMethod::all;
  all.layers = 0;
  std::string text;
  if (has_name(all)) {
    text = name_of(all);
  } else {
    for (const auto& [name, module] : kChoices<RecomputeModule>) {
      if (recompute.states(module)) text += (text.empty() ? "[" : ", ") + std::string(name);
    }
    text += "]";
  }
  if (recompute.method == RecomputeMethod::all) return text;
  return "{modules: " + text + ", method: " + std::string(name_of(recompute.method)) +
         ", layers: " + std::to_string(recompute.layers) + "}";
}

// A named set, or a single module; the name must be valid.
inline Recompute recompute_of(std::string_view name) {
  if (has_choice<Recompute>(name)) return value_of<Recompute>(name);
  return Recompute::of(value_of<RecomputeModule>(name));
}

}  // namespace windtunnel
