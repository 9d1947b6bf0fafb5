// What stands at a place of a model, and the parts that it has. A layer of most transformers is
// attention and an MLP, each behind a norm and added to what it reads. Hybrid models list these
// parts as layers of their own, in the letters of Megatron-LM's --hybrid-override-pattern
// (Nemotron-H: arXiv 2504.03624), or mix whole layers of several kinds (Qwen3-Next, Kimi Linear:
// arXiv 2510.26692; Llama 4 Maverick); blocks of diffusion transformers are not alike either
// (Stable Diffusion 3: arXiv 2403.03206, figure 2; FLUX.1), nor are those of an encoder and of the
// decoder that reads it (T5: arXiv 1910.10683; BART: arXiv 1910.13461).
#pragma once

#include <array>

namespace windtunnel {

enum class Block {
  layer,      // attention and a dense MLP
  moe_layer,  // attention and experts
  attention,  // alone, as the three that follow
  mamba,      // Mamba-2, or another mixer that carries a state (scan_form.hpp)
  mlp,        // dense
  experts,
  mamba_layer,         // such a mixer and a dense MLP
  mamba_moe_layer,     // and experts
  double_stream,       // weights for text and others for images, that attend to each other
  last_double_stream,  // the last double-stream block, of whose text only keys and values are read
  single_stream,       // attention and MLP beside each other, behind one norm
  encoder_layer,       // attention without a mask and an MLP, of the source's tokens
  decoder_layer,       // attention, attention to what the encoder made of the source, and an MLP
  embedding,
  head,
};

constexpr bool has_two_streams(Block block) {
  return block == Block::double_stream || block == Block::last_double_stream;
}
constexpr bool is_of_two_stacks(Block block) {
  return block == Block::encoder_layer || block == Block::decoder_layer;
}
// Cross-attention: keys and values are those of the encoder's output.
constexpr bool reads_source(Block block) {
  return block == Block::decoder_layer;
}
constexpr bool has_attention(Block block) {
  return block == Block::layer || block == Block::moe_layer || block == Block::attention ||
         block == Block::single_stream || has_two_streams(block) || is_of_two_stacks(block);
}
// How many times a layer has attention's weights.
constexpr int attentions(Block block) {
  if (!has_attention(block)) return 0;
  return has_two_streams(block) || reads_source(block) ? 2 : 1;
}
constexpr bool has_mamba(Block block) {
  return block == Block::mamba || block == Block::mamba_layer || block == Block::mamba_moe_layer;
}
constexpr bool has_experts(Block block) {
  return block == Block::moe_layer || block == Block::experts || block == Block::mamba_moe_layer;
}
constexpr bool has_mlp(Block block) {
  return block == Block::layer || block == Block::mlp || block == Block::mamba_layer ||
         block == Block::single_stream || has_two_streams(block) || is_of_two_stacks(block);
}
// What mixes the tokens of a sequence, and what works on each of them.
constexpr bool has_mixer(Block block) {
  return has_attention(block) || has_mamba(block);
}
constexpr bool has_feed_forward(Block block) {
  return has_mlp(block) || has_experts(block);
}
constexpr bool is_layer(Block block) {
  return block != Block::embedding && block != Block::head;
}
// Whether attention and MLP read the output of one norm.
constexpr bool shares_norm(Block block) {
  return block == Block::single_stream;
}
// Norms, and sums with what the layer reads.
constexpr int halves(Block block) {
  if (shares_norm(block)) return 1;
  return (has_mixer(block) ? 1 : 0) + (reads_source(block) ? 1 : 0) +
         (has_feed_forward(block) ? 1 : 0);
}

struct BlockLetter {
  char letter;
  Block block;
};
// The letters of TransformerSpec::pattern.
inline constexpr std::array kBlockLetters{
    BlockLetter{'M', Block::mamba},         BlockLetter{'*', Block::attention},
    BlockLetter{'-', Block::mlp},           BlockLetter{'E', Block::experts},
    BlockLetter{'T', Block::layer},         BlockLetter{'X', Block::moe_layer},
    BlockLetter{'L', Block::mamba_layer},   BlockLetter{'R', Block::mamba_moe_layer},
    BlockLetter{'D', Block::double_stream}, BlockLetter{'d', Block::last_double_stream},
    BlockLetter{'S', Block::single_stream}, BlockLetter{'B', Block::encoder_layer},
    BlockLetter{'C', Block::decoder_layer},
};
// All that a layer can be.
inline constexpr std::array kLayerBlocks{Block::layer,         Block::moe_layer,
                                         Block::attention,     Block::mamba,
                                         Block::mlp,           Block::experts,
                                         Block::mamba_layer,   Block::mamba_moe_layer,
                                         Block::double_stream, Block::last_double_stream,
                                         Block::single_stream, Block::encoder_layer,
                                         Block::decoder_layer};

}  // namespace windtunnel
