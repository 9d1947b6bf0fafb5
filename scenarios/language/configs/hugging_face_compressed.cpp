// DeepSeek-V4: attention to compressed keys, an output projection in groups, hyper-connections. No
// layer of the simulator has these; latent attention to chosen keys represents them, and the
// differences are named with their shares.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "scenarios/language/configs/hugging_face_config.hpp"

namespace windtunnel {
namespace {

// The parts of DeepSeek-V4's attention that latent attention lacks
// (huggingface.co/deepseek-ai/DeepSeek-V4-Pro, inference/model.py).
struct CompressedAttention {
  double head = 0;              // width of the keys, which are also values; one set for all heads
  double groups = 0, rank = 0;  // groups and rank of the output projection
  double indexer_heads = 0;
  double choosing = 0;       // layers that choose compressed keys
  double dense = 0;          // layers that read all keys, which are compressed more
  double compression = 128;  // of the keys in `dense` layers
};

CompressedAttention compressed_attention(const HuggingFaceConfig& config,
                                         const TransformerSpec& model) {
  CompressedAttention part{.head = double(model.head_width),
                           .groups = double(config.whole("o_groups")),
                           .rank = double(config.whole("o_lora_rank")),
                           .indexer_heads = double(config.whole_or("index_n_heads", 64))};
  const std::vector<DocumentNode>& ratios = config.list("compress_ratios");
  if (std::ssize(ratios) < model.layers) {  // ratios of modules for further tokens may follow
    throw Error(config.where("compress_ratios"),
                fmt::format("compress_ratios: lists {} of {} layers", ratios.size(), model.layers));
  }
  for (int layer = 0; layer < model.layers; ++layer) {
    const int ratio = windtunnel::whole(ratios[layer], "compress_ratios");
    if (ratio <= 1) continue;  // the layer attends only to its window
    (ratio <= 16 ? part.choosing : part.dense) += 1;
    if (ratio > 16) part.compression = ratio;
  }
  return part;
}

// Names the parts that are counted differently, each with its share of a token's operations.
void name_compressed_parts(const HuggingFaceConfig& config, const CompressedAttention& part,
                           int window, TransformerSpec& model) {
  constexpr int kLength = 4096;
  const double token = model_flops(model, 1, kLength) / 3 / kLength;
  const double layers = model.layers;
  const double out = part.head * model.heads * part.rank + part.groups * part.rank * model.hidden;
  const double compressors =
      (2 * part.choosing + part.dense) / layers * 2 * model.hidden * part.head;
  const double indexer = part.choosing / layers *
                         (model.latent.query_rank * part.indexer_heads * model.sparse.width +
                          model.hidden * (part.indexer_heads + 4.0 * model.sparse.width));
  const double is = double(model.hidden) * (model.latent.query_rank + part.head) +
                    model.latent.query_rank * model.heads * part.head + out + compressors + indexer;
  const double counted = model.attention_parameters();
  model.left_out.push_back(fmt::format(
      "an output projection in groups and compressors of keys: the matrices of attention are "
      "counted with {:.3g} of {:.3g} parameters per layer, {:.2g} % of the operations too {}",
      counted, is, 100 * 2 * std::abs(is - counted) * layers / token,
      is < counted ? "many" : "few"));
  const double all_keys = model.sparse.top_k;
  const double dense_keys = window + kLength / part.compression;
  const double more = part.dense * (all_keys - dense_keys) +
                      (layers - part.dense - part.choosing) * (all_keys - window);
  model.left_out.push_back(fmt::format(
      "layers that read only a window of {} keys, or also all keys compressed by {:.0f}: each is "
      "counted as a layer that chooses {:.0f} keys, {:.2g} % of the operations of {} tokens too {}",
      window, part.compression, all_keys,
      100 * 4 * model.heads * part.head * std::abs(more) / token, kLength,
      more < 0 ? "few" : "many"));
  if (const int streams = config.whole_or("hc_mult", 1); streams > 1) {
    model.left_out.push_back(
        fmt::format("hyper-connections: only one of {} residual streams is counted, without the "
                    "memory of the others and the passes that mix them",
                    streams));
  }
}

}  // namespace

// Keys and values of a token are one vector for all heads, as in latent attention. The differences
// are listed in TransformerSpec::left_out.
void read_compressed_attention(const HuggingFaceConfig& config, TransformerSpec& model) {
  const CompressedAttention part = compressed_attention(config, model);
  const int window = config.whole_or("sliding_window", 128);
  LatentAttention& latent = model.latent;
  latent.query_rank = config.whole("q_lora_rank");
  if (latent.rotary_width >= part.head || model.heads <= 0 || model.layers <= 0) {
    throw Error(config.where("head_dim"),
                "expected layers, heads, and a head_dim above qk_rope_head_dim");
  }
  model.head_width = latent.kv_rank = model.head_width - latent.rotary_width;
  latent.value_width = static_cast<int>(std::max(1.0, part.groups * part.rank / model.heads));
  // Only layers that choose keys have an indexer, and it scores keys that are compressed by four.
  const double scored = part.indexer_heads * part.choosing / model.layers / 4;
  model.sparse.heads = std::max(1, static_cast<int>(std::lround(scored)));
  model.sparse.top_k = window + config.whole_or("index_topk", 512);
  constexpr double kMostWide = 1e8;  // larger numbers are refused later
  if (model.heads * part.head < kMostWide) name_compressed_parts(config, part, window, model);
}

}  // namespace windtunnel
