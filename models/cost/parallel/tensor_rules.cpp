#include "models/cost/parallel/tensor_rules.hpp"

#include <algorithm>
#include <initializer_list>
#include <numeric>
#include <string_view>

#include "models/base/error.hpp"

namespace windtunnel {
namespace {

constexpr const char* kColumns = "columns";
constexpr const char* kRows = "rows";
constexpr const char* kWhole = "whole";

// Adds the tensors of attention in `layers` layers; in `read` of them the output projection reads
// gathered data.
void add_attention(const TransformerSpec& model, const std::string& of, double layers, double read,
                   std::vector<TensorRule>& rules) {
  if (layers == 0) return;
  const double hidden = model.hidden;
  const auto add = [&](const char* name, double rows, double columns, const char* split,
                       const char* why) {
    rules.push_back({of + "attention." + name, layers, rows, columns, split, why});
  };
  const LatentAttention& latent = model.latent;
  if (latent.kv_rank == 0) {
    add("query", hidden, model.q_width(), kColumns, "whole heads to each rank");
    for (const char* name : {"key", "value"}) {
      add(name, hidden, model.kv_width(), kColumns,
          model.kv_heads < model.heads
              ? "whole groups; copied where there are more ranks than groups"
              : "whole heads to each rank");
    }
  } else {
    const bool low_rank = latent.query_rank > 0;
    if (low_rank) {
      add("query_down", hidden, latent.query_rank, kWhole,
          "small; its norm needs the whole tensor");
    }
    add("query", low_rank ? latent.query_rank : hidden, model.q_width(), kColumns,
        "whole heads to each rank");
    add("key_value_down", hidden, latent.kv_rank + latent.rotary_width, kWhole,
        "small; all heads share it");
    add("key_value_up", latent.kv_rank,
        static_cast<double>(model.heads) * (model.head_dim() + latent.value_width), kColumns,
        "whole heads to each rank");
  }
  if (model.attention_gate) {
    add("gate", hidden, model.context_width(), kColumns, "whole heads to each rank");
  }
  if (const SparseAttention& sparse = model.sparse; sparse.heads > 0) {
    const char* all = "every rank scores all keys";
    add("indexer.query", latent.query_rank > 0 ? latent.query_rank : hidden,
        double(sparse.heads) * sparse.width, kWhole, all);
    add("indexer.key", hidden + 2, sparse.width, kWhole, all);
    add("indexer.weights", hidden, sparse.heads, kWhole, all);
  }
  if (read == 0) return;
  rules.push_back({of + "attention.projection", read, double(model.context_width()), hidden, kRows,
                   "its input is divided by heads, and partial sums are reduced"});
}

void add_mamba(const TransformerSpec& model, std::vector<TensorRule>& rules) {
  const double layers = model.layers_with(has_mamba);
  if (layers == 0) return;
  const MambaMixer& mamba = model.mamba;
  const double hidden = model.hidden;
  const auto add = [&](const char* name, double rows, double columns, const char* split,
                       const char* why) {
    if (rows > 0)
      rules.push_back({std::string("mamba.") + name, layers, rows, columns, split, why});
  };
  add("in", hidden, double(mamba.projected()) - mamba.rank(), kColumns,
      "whole heads, and the groups that they share, to each rank");
  if (mamba.rank() > 0) {
    add("gates_down", hidden, mamba.rank(), kWhole, "small; all heads share it");
    add("gates_up", mamba.rank(), mamba.inner(), kColumns, "whole heads to each rank");
  }
  add("convolution", mamba.form().convolution ? mamba.convolved() : 0, kMambaConvolution, kRows,
      "channels as the projection divides them");
  add("heads", mamba.head_parameters(), 1, kRows, "vectors of heads and the norm after the scan");
  rules.push_back({"mamba.out", layers, static_cast<double>(mamba.inner()), hidden, kRows,
                   "its input is divided by heads, and partial sums are reduced"});
}

// Adds the tensors of `count` MLPs with `width` inner columns.
void add_mlp(const TransformerSpec& model, const std::string& name, double count, double width,
             bool expert, std::vector<TensorRule>& rules) {
  if (count <= 0 || width <= 0) return;
  const double hidden = expert ? model.expert_width() : model.hidden;
  const char* inner = expert ? "by expert" : kColumns;
  const char* outer = expert ? "by expert" : kRows;
  const std::string whole = expert ? "each expert is on one rank of ep" : "";
  if (model.activation == Activation::swiglu) {
    rules.push_back({name + ".gate", count, hidden, width, inner, whole});
  }
  rules.push_back({name + ".up", count, hidden, width, inner, whole});
  rules.push_back({name + ".down", count, width, hidden, outer,
                   expert ? whole : "its input is divided, and partial sums are reduced"});
}

void add_experts(const TransformerSpec& model, double layers, std::vector<TensorRule>& rules) {
  if (layers == 0 || model.moe.experts == 0) return;
  const MixtureOfExperts& moe = model.moe;
  const double hidden = model.hidden;
  rules.push_back({"router", layers, hidden, static_cast<double>(moe.experts), kWhole,
                   "every rank sends its own tokens"});
  if (moe.latent_width > 0) {
    const double width = moe.latent_width;
    rules.push_back({"experts.narrow", layers, hidden, width, kWhole, "before all experts"});
    rules.push_back({"experts.widen", layers, width, hidden, kWhole, "after all experts"});
  }
  add_mlp(model, "experts", layers * moe.experts, moe.ffn_hidden, true, rules);
  add_mlp(model, "shared_experts", layers, moe.shared_ffn, false, rules);
}

double norms_of(const TransformerSpec& model) {
  double norms = model.source_tokens > 0 ? 2 : 1;
  for (const Block block : kLayerBlocks) {
    const int streams = has_two_streams(block) ? 2 : 1;
    const int unread = block == Block::last_double_stream ? 1 : 0;
    norms += double(streams * halves(block) - unread) * model.layers_of(block);
  }
  return norms + model.mtp_layers * (3.0 + halves(model.block_of(model.layers)));
}

double modulations_of(const TransformerSpec& model) {
  double matrices = 0;
  for (const Block block : kLayerBlocks) {
    matrices += model.modulation_of(block) * model.layers_of(block);
  }
  return matrices;
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
  if (model.conditioning > 0) {
    rules.push_back({"conditions", 1, static_cast<double>(model.conditioning), hidden, kWhole,
                     "small; every layer reads them"});
  }
  rules.push_back({"norms", norms_of(model), norm_parameters(model), 1, kWhole,
                   "with sequence parallelism their gradients are summed over the ranks"});
  if (const double matrices = modulations_of(model); matrices > 0) {
    rules.push_back(
        {"modulation", matrices, hidden, hidden, kColumns, "gathered: only one row per sequence"});
  }
  const Block last = model.block_of(model.layers);
  const auto with_modules = [&](bool (*part)(Block)) {
    const bool has = model.mtp_layers > 0 && part(last);
    return double(model.layers_with(part) + (has ? model.mtp_layers : 0));
  };
  const double attention = with_modules(has_attention);
  add_attention(model, "", attention, attention, rules);
  if (const double cross = model.layers_with(reads_source); cross > 0) {
    add_attention(model, "cross.", cross, cross, rules);
  }
  if (model.projected_keys > 0) {
    rules.push_back({"attention.key_projections", 2 * attention, double(model.projected_keys),
                     double(model.sequence), kWhole, "all heads share them"});
  }
  add_mamba(model, rules);
  add_mlp(model, "mlp", with_modules(has_mlp), model.ffn_hidden, false, rules);
  add_attention(model, "text.", model.layers_with(has_two_streams),
                model.layers_of(Block::double_stream), rules);
  add_mlp(model, "text.mlp", model.layers_of(Block::double_stream), model.ffn_hidden, false, rules);
  add_experts(model, with_modules(has_experts), rules);
  if (model.mtp_layers > 0) {
    rules.push_back({"mtp.in", double(model.mtp_layers), 2 * hidden, hidden, kColumns,
                     "gathered, because its layer reads the whole width"});
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
  int ranks = 0;  // gcd(0, n) is n
  if (model.layers_with(has_mamba) > 0) ranks = std::gcd(model.mamba.heads, model.mamba.groups);
  if (ranks > 0 && model.layers_with(has_attention) == 0) return ranks;
  const int heads = model.latent.kv_rank > 0 ? model.heads : std::gcd(model.heads, model.kv_heads);
  return std::gcd(ranks, heads);
}

namespace {

void check_mamba_divides(std::initializer_list<std::string_view> keys, int ranks, const char* what,
                         int value) {
  if (value % ranks == 0) return;
  throw Error::about(keys, "{}: {} ranks do not divide the {} {} of Mamba layers", *keys.begin(),
                     ranks, value, what);
}

}  // namespace

void check_pattern_layout(const TransformerSpec& model, const Layout& layout) {
  if (model.pattern.empty()) return;
  if (layout.signatures != ProductSignatures{}) {
    throw Error::of_key("layout.signatures",
                        ": model '{}' has a pattern of layers, which are always divided as in "
                        "Megatron-LM; leave it out",
                        model.name);
  }
  if (model.layers_with(has_mamba) == 0) return;
  check_mamba_divides({"layout.tp", "model.mamba.num_heads"}, layout.tp, "heads",
                      model.mamba.heads);
  check_mamba_divides({"layout.tp", "model.mamba.num_groups"}, layout.tp, "groups",
                      model.mamba.groups);
  if (layout.cp == 1) return;
  check_mamba_divides({"layout.cp", "layout.tp", "model.mamba.num_heads"}, layout.tp * layout.cp,
                      "heads", model.mamba.heads);
  const int groups = model.mamba.groups / layout.tp;
  if (groups % layout.cp != 0 && layout.cp % groups != 0) {
    throw Error::of_key("layout.cp",
                        "{}: the {} groups of a rank (model.mamba.num_groups over layout.tp) can "
                        "be neither divided nor copied evenly among the cp ranks",
                        layout.cp, groups);
  }
}

}  // namespace windtunnel
