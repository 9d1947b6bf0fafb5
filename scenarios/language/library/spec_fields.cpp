#include "scenarios/language/library/spec_fields.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "models/base/error.hpp"

namespace windtunnel {
namespace {

void check_experts(const MixtureOfExperts& moe, int layers) {
  if (moe.per_token < 1 || moe.per_token > moe.experts) {
    throw Error(fmt::format("model.moe.per_token {} must be from 1 to the number of experts, {}",
                            moe.per_token, moe.experts));
  }
  if (moe.ffn_hidden < 1) {
    throw Error::about({"model.moe"},
                       "model.moe has no 'ffn', the width of one expert; add e.g. 'ffn: 2048'");
  }
  if (moe.dense_layers > layers) {
    throw Error(fmt::format("model.moe.dense_layers {} is more than the {} layers",
                            moe.dense_layers, layers));
  }
}

// A pattern needs values for each of its letters, and each value needs a letter that uses it.
void check_pattern_letters(const TransformerSpec& model) {
  const std::string key = "model.hybrid_override_pattern";
  const MambaMixer& mamba = model.mamba;
  for (const char letter : model.pattern) {
    if (std::ranges::find(kBlockLetters, letter, &BlockLetter::letter) != kBlockLetters.end()) {
      continue;
    }
    throw Error(
        fmt::format("{}: '{}' is not a kind of layer; known: M (Mamba), * (attention), - (MLP), E "
                    "(experts), T and X (attention and one of these), L and R (Mamba and one of "
                    "these), D, d and S (blocks of two streams, the last of them, of one stream), "
                    "B and C (layers of an encoder, of a decoder that reads it)",
                    key, letter));
  }
  const int listed = static_cast<int>(model.pattern.size());
  if (listed > 0 && listed != model.layers) {
    throw Error(fmt::format("{} lists {} layers, but model.layers is {}; leave one of them out",
                            key, listed, model.layers));
  }
  const bool has_m = model.layers_with(has_mamba) > 0;
  if (has_m && (mamba.state < 1 || mamba.head_width < 1 || mamba.groups < 1 || mamba.heads < 1)) {
    throw Error(
        fmt::format("{} has layers of Mamba; state model.mamba: {{state_dim: 128, "
                    "head_dim: 64, num_groups: 8, num_heads: ...}}",
                    key));
  }
  if (has_m && mamba.heads % mamba.groups != 0) {
    throw Error(fmt::format("model.mamba: {} heads are no multiple of {} groups", mamba.heads,
                            mamba.groups));
  }
  if (listed > 0 && model.layers_with(has_experts) > 0 && model.moe.experts == 0) {
    throw Error(fmt::format("{} has layers of experts; state model.moe", key));
  }
  if (listed > 0 && model.layers_with(has_experts) == 0 && model.moe.experts > 0) {
    throw Error(fmt::format("model.moe: {} has no layer of experts (E)", key));
  }
  if (listed > 0 && model.moe.dense_layers > 0) {
    throw Error(fmt::format(
        "model.moe.dense_layers: {} already says which layers are dense; leave it out", key));
  }
  if (model.text_tokens > 0 && model.layers_with(has_two_streams) == 0) {
    throw Error(fmt::format(
        "model.text_tokens: no layer of the model has two streams; list such layers in {} (D)",
        key));
  }
}

// Encoder and decoder layers (letters B, C) require model.source_tokens, and the reverse.
void check_stacks(const TransformerSpec& model) {
  const int layers = model.layers_with(is_of_two_stacks);
  if (layers == 0 && model.source_tokens == 0) return;
  const std::string key = "model.source_tokens";
  if (model.source_tokens == 0) {
    throw Error::about({"model.hybrid_override_pattern", key},
                       "{}: encoder and decoder layers (B, C) divide a sequence; state how many of "
                       "its tokens the encoder reads",
                       key);
  }
  const int encoder = model.layers_of(Block::encoder_layer);
  if (encoder > 0 && encoder < layers && layers == model.layers) {
    for (int layer = 0; layer < encoder; ++layer) {
      if (model.block_of(layer) == Block::encoder_layer) continue;
      throw Error::about({"model.hybrid_override_pattern", key},
                         "model.hybrid_override_pattern: layer {} is a decoder layer (C) but "
                         "encoder layers (B) follow it; list the encoder first",
                         layer + 1);
    }
    return;
  }
  throw Error::about({key, "model.hybrid_override_pattern"},
                     "{}: needs a model with only encoder and decoder layers; list only these in "
                     "model.hybrid_override_pattern (B and C)",
                     key);
}

void check_sparse(const TransformerSpec& model) {
  const SparseAttention& sparse = model.sparse;
  if (sparse.heads == 0) return;
  if (sparse.width < 1 || sparse.top_k < 1) {
    throw Error::about({"model.sparse"},
                       "model.sparse: state width (of the indexer's keys) and top_k (the keys that "
                       "attention reads per token)");
  }
  if (model.latent.kv_rank == 0 || model.window > 0) {
    throw Error::about({"model.sparse"},
                       "model.sparse: needs latent attention (model.latent) without a window");
  }
}

}  // namespace

bool belongs_to(std::string_view key, Topology topology) {
  const Field* field = find_field(join_path("cluster.fabric", key));
  const unsigned known = field == nullptr ? 0 : field->topologies;
  return known == 0 || (known >> static_cast<unsigned>(topology) & 1U) != 0;
}

std::vector<BoundRow> fabric_members() {
  std::vector<BoundRow> rows = bound_rows<FabricSpec>("cluster.fabric");
  std::stable_partition(rows.begin(), rows.end(),
                        [](const BoundRow& row) { return row.field->topologies != 0; });
  return rows;
}

void check_model(const TransformerSpec& model) {
  if (model.moe.experts > 0) check_experts(model.moe, model.layers);
  check_pattern_letters(model);
  const LatentAttention& latent = model.latent;
  if (latent.kv_rank > 0 && latent.value_width < 1) {
    throw Error("model.latent has no 'value_width', the width of a head's values");
  }
  if (latent.kv_rank == 0 && latent.rotary_width > 0) {
    throw Error("model.latent has no 'kv_rank', the width of the compressed keys and values");
  }
  check_sparse(model);
  check_stacks(model);
  if (model.projected_keys > 0 && model.sequence == 0) {
    throw Error::about(
        {"model.projected_keys"},
        "model.projected_keys: the size of the matrices depends on model.sequence; state it");
  }
  if (model.mtp_layers > 0 && model.encoder) {
    throw Error::about({"model.mtp_layers"}, "model.mtp_layers: an encoder predicts no next token");
  }
  if (model.window > 0 && model.frames > 0) {
    throw Error(
        "model.window: with model.frames layers attend to whole frames; keep one of the two");
  }
}

}  // namespace windtunnel
