#include "scenarios/language/text/synonyms.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "models/base/error.hpp"

namespace windtunnel {
namespace {

// If several rows have the same word, the first whose `ours` is known at that place counts.
struct Synonym {
  std::string_view word, ours;
  std::string_view with = {};  // what else must be stated for the same meaning
};
// PyTorch's HSDP (ShardingStrategy.HYBRID_SHARD in torch/distributed/fsdp/api.py) and DeepSpeed's
// MiCS (deepspeed/runtime/zero/mics.py) shard within a group and copy between groups.
constexpr std::string_view kCopies = "layout.shard_ranks: GPUs of one copy";
constexpr Synonym kSynonyms[] = {{"fsdp", "zero3"},
                                 {"fsdp", "torchtitan"},
                                 {"fsdp2", "zero3"},
                                 {"fsdp2", "torchtitan"},
                                 {"hsdp", "zero3", kCopies},
                                 {"hybrid_shard", "zero3", kCopies},
                                 {"mics", "zero3", kCopies},
                                 {"full_shard", "zero3"},
                                 {"shard_grad_op", "zero2"},
                                 {"no_shard", "none"},
                                 {"ddp", "none"},
                                 {"pytorch", "torchtitan"},
                                 {"nemo", "megatron"},
                                 {"zero-bubble", "zb-h1"},
                                 {"vocab", "vocabulary"},
                                 {"vocab_size", "vocabulary"},
                                 {"seq", "sequence"},
                                 {"seq_len", "sequence"},
                                 {"seq_length", "sequence"},
                                 {"topk", "per_token"},
                                 {"top_k", "per_token"},
                                 {"num_experts", "experts"},
                                 {"hidden_size", "hidden"},
                                 {"d_model", "hidden"},
                                 {"feed_forward", "ffn"},
                                 {"ffn_hidden", "ffn"},
                                 {"intermediate_size", "ffn"},
                                 {"n_layers", "layers"},
                                 {"num_layers", "layers"},
                                 {"n_heads", "heads"},
                                 {"num_heads", "heads"},
                                 {"network", "fabric"},
                                 {"ethernet", "roce"},
                                 {"norm", "normalisation"},
                                 {"positions", "position"},
                                 {"act", "activation"},
                                 {"hidden_act", "activation"},
                                 {"head_dim", "head_width"},
                                 {"num_kv_heads", "kv_heads"},
                                 {"n_kv_heads", "kv_heads"},
                                 {"num_key_value_heads", "kv_heads"},
                                 {"max_position_embeddings", "sequence"},
                                 {"num_experts_per_tok", "per_token"},
                                 {"moe_intermediate_size", "ffn"},
                                 {"shared", "shared_ffn"},
                                 {"shared_experts", "shared_ffn"},
                                 {"mbs", "micro"},
                                 {"gbs", "global"}};

// Null: no known word has such a synonym.
const Synonym* synonym_of(std::string_view name, const std::vector<std::string>& known) {
  for (const Synonym& each : kSynonyms) {
    if (each.word == name && std::ranges::find(known, each.ours) != known.end()) return &each;
  }
  return nullptr;
}

}  // namespace

std::string nearest_word(std::string_view name, const std::vector<std::string>& known) {
  const Synonym* ours = synonym_of(name, known);
  return ours == nullptr ? nearest_name(name, known) : std::string(ours->ours);
}

std::string unknown_word(std::string_view noun, std::string_view name,
                         const std::vector<std::string>& known) {
  const Synonym* ours = synonym_of(name, known);
  if (ours == nullptr) return unknown_name(noun, name, known);
  if (!ours->with.empty()) {
    return fmt::format("unknown {} '{}'; write {} with {}", noun, name, ours->ours, ours->with);
  }
  return fmt::format("unknown {} '{}'; did you mean '{}'?", noun, name, ours->ours);
}

}  // namespace windtunnel
