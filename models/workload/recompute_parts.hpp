// Which modules of recomputation apply to a model.
#pragma once

#include "models/workload/recompute.hpp"
#include "models/workload/transformer.hpp"

namespace windtunnel {

// Whether some layer of the model contains the module.
inline bool has_module(const TransformerSpec& model, RecomputeModule module) {
  using enum RecomputeModule;
  const bool shared = model.moe.shared_ffn > 0;
  const bool dense = model.layers_with(has_mlp) > 0;
  switch (module) {
    case layernorm:
    case matmuls:
    case layer:
      return true;
    case core_attn:
    case attention:
    case scores:
      return model.layers_with(has_attention) > 0;
    case mla_up_proj:
      return model.latent.kv_rank > 0;
    case moe_act:
    case moe:
      return model.moe_layers() > 0;
    case shared_experts:
      return shared;
    case mlp:
      return dense;
    case mlp_act:
      return dense || shared;
  }
  return true;
}

}  // namespace windtunnel
