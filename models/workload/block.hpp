// The kinds of blocks that make up a model, and their parts. A layer of most transformers is
// attention and an MLP, each with a norm before and a residual connection. Hybrid models list these
// parts as separate layers, in the letters of Megatron-LM's --hybrid-override-pattern (Nemotron-H:
// arXiv 2504.03624), or mix whole layers of several kinds (Qwen3-Next, Kimi Linear: arXiv
// 2510.26692; Llama 4 Maverick). Blocks of diffusion transformers differ too (Stable Diffusion 3:
// arXiv 2403.03206, figure 2; FLUX.1), and so do encoder and decoder layers (T5: arXiv 1910.10683;
// BART: arXiv 1910.13461).
#pragma once

#include <array>

namespace windtunnel {

enum class Block {
  layer,      // attention and a dense MLP
  moe_layer,  // attention and experts
  attention,  // alone, like the next three
  mamba,      // Mamba-2, or another mixer with a state (scan_form.hpp)
  mlp,        // dense
  experts,
  mamba_layer,         // such a mixer and a dense MLP
  mamba_moe_layer,     // such a mixer and experts
  double_stream,       // separate weights for text and images, which attend to each other
  last_double_stream,  // the last double-stream block: only keys and values of its text are used
  single_stream,       // attention and MLP in parallel after one norm
  encoder_layer,       // attention without a mask and an MLP, for the source's tokens
  decoder_layer,       // attention, attention to the encoder's output, and an MLP
  embedding,
  head,
};

constexpr bool has_two_streams(Block block) {
  return block == Block::double_stream || block == Block::last_double_stream;
}
constexpr bool is_of_two_stacks(Block block) {
  return block == Block::encoder_layer || block == Block::decoder_layer;
}
// Whether it has cross-attention: keys and values are those of the encoder's output.
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
// The mixer combines the tokens of a sequence; the feed-forward half works on each token alone.
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
// A block has this number of norms and of residual additions.
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
// All kinds that a layer can have.
inline constexpr std::array kLayerBlocks{Block::layer,         Block::moe_layer,
                                         Block::attention,     Block::mamba,
                                         Block::mlp,           Block::experts,
                                         Block::mamba_layer,   Block::mamba_moe_layer,
                                         Block::double_stream, Block::last_double_stream,
                                         Block::single_stream, Block::encoder_layer,
                                         Block::decoder_layer};

}  // namespace windtunnel
