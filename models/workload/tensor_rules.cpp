#include "models/workload/tensor_rules.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace windtunnel {
namespace {

constexpr const char* kColumns = "columns";
constexpr const char* kRows = "rows";
constexpr const char* kWhole = "whole";

void add_attention(const TransformerSpec& model, std::vector<TensorRule>& rules) {
  const double layers = model.layers;
  const double hidden = model.hidden;
  const auto add = [&](const char* name, double rows, double columns, const char* split,
                       const char* why) {
    rules.push_back({name, layers, rows, columns, split, why});
  };
  const LatentAttention& latent = model.latent;
  if (latent.kv_rank == 0) {
    add("attention.query", hidden, model.q_width(), kColumns, "whole heads to each rank");
    for (const char* name : {"attention.key", "attention.value"}) {
      add(name, hidden, model.kv_width(), kColumns,
          model.kv_heads < model.heads
              ? "whole groups; copied where there are more ranks than groups"
              : "whole heads to each rank");
    }
  } else {
    const bool low_rank = latent.query_rank > 0;
    if (low_rank) {
      add("attention.query_down", hidden, latent.query_rank, kWhole,
          "small; its norm needs it all");
    }
    add("attention.query", low_rank ? latent.query_rank : hidden, model.q_width(), kColumns,
        "whole heads to each rank");
    add("attention.key_value_down", hidden, latent.kv_rank + latent.rotary_width, kWhole,
        "small; all heads share it");
    add("attention.key_value_up", latent.kv_rank,
        static_cast<double>(model.heads) * (model.head_dim() + latent.value_width), kColumns,
        "whole heads to each rank");
  }
  add("attention.projection", model.context_width(), hidden, kRows,
      "its input is divided by heads; partial sums are reduced");
}

// Of an MLP with `width` inner columns, `count` of them.
void add_mlp(const TransformerSpec& model, const std::string& name, double count, double width,
             bool expert, std::vector<TensorRule>& rules) {
  if (count <= 0 || width <= 0) return;
  const double hidden = model.hidden;
  const char* inner = expert ? "by expert" : kColumns;
  const char* outer = expert ? "by expert" : kRows;
  const std::string whole = expert ? "each expert lies on one rank of ep" : "";
  if (model.activation == Activation::swiglu) {
    rules.push_back({name + ".gate", count, hidden, width, inner, whole});
  }
  rules.push_back({name + ".up", count, hidden, width, inner, whole});
  rules.push_back({name + ".down", count, width, hidden, outer,
                   expert ? whole : "its input is divided; partial sums are reduced"});
}

}  // namespace

std::vector<TensorRule> tensor_rules(const TransformerSpec& model) {
  std::vector<TensorRule> rules;
  const double hidden = model.hidden;
  rules.push_back({"embedding", 1, static_cast<double>(model.vocabulary), hidden, kRows,
                   "a part of the vocabulary to each rank"});
  if (model.position == PositionEncoding::learned) {
    rules.push_back({"positions", 1, static_cast<double>(model.sequence), hidden, kWhole, "small"});
  }
  if (model.encoder) {
    rules.push_back({"segments", 1, model.segment_parameters(), 1, kWhole, "small"});
  }
  rules.push_back({"norms", 2.0 * model.layers + 1, norm_parameters(model), 1, kWhole,
                   "with sequence parallelism their gradients are summed over the ranks"});
  add_attention(model, rules);
  const double sparse = model.moe_layers();
  add_mlp(model, "mlp", model.layers - sparse, model.ffn_hidden, false, rules);
  if (sparse > 0) {
    const MixtureOfExperts& moe = model.moe;
    rules.push_back({"router", sparse, hidden, static_cast<double>(moe.experts), kWhole,
                     "every rank sends its own tokens"});
    add_mlp(model, "experts", sparse * moe.experts, moe.ffn_hidden, true, rules);
    add_mlp(model, "shared_experts", sparse, moe.shared_ffn, false, rules);
  }
  if (!model.tied_embeddings) {
    rules.push_back({"head", 1, hidden, static_cast<double>(model.vocabulary), kColumns,
                     "a part of the vocabulary to each rank; the loss reduces over them"});
  }
  if (model.encoder) {
    rules.push_back({"encoder_head", 1, model.encoder_parameters(), 1, kWhole, "small"});
  }
  return rules;
}

int most_tensor_ranks(const TransformerSpec& model) {
  return model.latent.kv_rank > 0 ? model.heads : std::gcd(model.heads, model.kv_heads);
}

}  // namespace windtunnel
