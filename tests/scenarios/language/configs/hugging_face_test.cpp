#include "scenarios/language/configs/hugging_face.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "models/base/error.hpp"

namespace windtunnel {
namespace {

struct PublishedConfig {
  const char* what;
  const char* text;
  double parameters;  // the published checkpoint's language model
  double active = 0;  // 0: all of them
};

// Dimensions are as published; counts are sums of the tensors in the checkpoints.
const PublishedConfig kConfigs[] = {
    {"Llama 3.1 8B",
     R"({"model_type": "llama", "hidden_size": 4096, "intermediate_size": 14336,
         "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8,
         "vocab_size": 128256, "max_position_embeddings": 131072, "attention_bias": false,
         "rope_scaling": {"factor": 8.0, "rope_type": "llama3"}, "tie_word_embeddings": false})",
     8030261248},
    {"Nemotron-H 8B",
     R"({"model_type": "nemotron_h", "hidden_size": 4096, "intermediate_size": 21504,
         "num_hidden_layers": 52, "num_attention_heads": 32, "num_key_value_heads": 8,
         "attention_head_dim": 128, "vocab_size": 131072, "ssm_state_size": 128, "n_groups": 8,
         "mamba_head_dim": 64, "mamba_num_heads": 128, "chunk_size": 128,
         "hybrid_override_pattern": "M-M-M-M*-M-M-M-M-M*-M-M-M-M-M*-M-M-M-M-M*-M-M-M-M-M-"})",
     8.10e9},
    {"Nemotron 3 Nano as transformers 5 writes it",
     R"({"model_type": "nemotron_h", "hidden_size": 2688, "intermediate_size": 1856,
         "num_attention_heads": 32, "num_key_value_heads": 2, "head_dim": 128,
         "vocab_size": 131072, "ssm_state_size": 128, "n_groups": 8, "mamba_head_dim": 64,
         "mamba_num_heads": 64, "n_routed_experts": 128, "num_experts_per_tok": 6,
         "moe_intermediate_size": 1856, "moe_shared_expert_intermediate_size": 3712,
         "layers_block_type": ["linear_attention", "moe", "full_attention", "mamba", "moe"]})",
     2 * 1.2974e9 + 2 * 38.74e6 + 23.4e6 + 704.6e6, 0.966e9},
    {"Mamba2 2.7B",
     R"({"model_type": "mamba2", "hidden_size": 2560, "num_hidden_layers": 64, "num_heads": 80,
         "head_dim": 64, "state_size": 128, "n_groups": 1, "vocab_size": 50288,
         "tie_word_embeddings": true})",
     2.702e9},
    {"Mistral 7B",
     R"({"model_type": "mistral", "hidden_size": 4096, "intermediate_size": 14336,
         "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8,
         "vocab_size": 32000, "sliding_window": 4096})",
     7241732096},
    {"Mixtral 8x7B",
     R"({"model_type": "mixtral", "hidden_size": 4096, "intermediate_size": 14336,
         "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8,
         "vocab_size": 32000, "sliding_window": null, "num_local_experts": 8,
         "num_experts_per_tok": 2})",
     46702792704, 12.88e9},
    {"Qwen2.5 7B",
     R"({"model_type": "qwen2", "hidden_size": 3584, "intermediate_size": 18944,
         "num_hidden_layers": 28, "num_attention_heads": 28, "num_key_value_heads": 4,
         "vocab_size": 152064, "sliding_window": 131072, "use_sliding_window": false,
         "max_window_layers": 28, "tie_word_embeddings": false})",
     7615616512},
    {"Qwen3 8B",
     R"({"model_type": "qwen3", "hidden_size": 4096, "intermediate_size": 12288, "head_dim": 128,
         "num_hidden_layers": 36, "num_attention_heads": 32, "num_key_value_heads": 8,
         "vocab_size": 151936, "tie_word_embeddings": false})",
     8190735360},
    {"Qwen3 30B-A3B",
     R"({"model_type": "qwen3_moe", "hidden_size": 2048, "intermediate_size": 6144,
         "head_dim": 128, "num_hidden_layers": 48, "num_attention_heads": 32,
         "num_key_value_heads": 4, "vocab_size": 151936, "num_experts": 128,
         "num_experts_per_tok": 8, "moe_intermediate_size": 768, "decoder_sparse_step": 1,
         "mlp_only_layers": [], "tie_word_embeddings": false})",
     30532122624, 3.35e9},
    {"Gemma 2 9B",
     R"({"model_type": "gemma2", "hidden_size": 3584, "intermediate_size": 14336, "head_dim": 256,
         "num_hidden_layers": 42, "num_attention_heads": 16, "num_key_value_heads": 8,
         "vocab_size": 256000, "sliding_window": 4096})",
     9241705984},
    {"Gemma 3 27B",
     R"({"model_type": "gemma3", "vision_config": {"hidden_size": 1152},
         "text_config": {"model_type": "gemma3_text", "hidden_size": 5376,
         "intermediate_size": 21504, "head_dim": 128, "num_hidden_layers": 62,
         "num_attention_heads": 32, "num_key_value_heads": 16, "sliding_window": 1024}})",
     27009e6},
    {"DeepSeek-V2-Lite",
     R"({"model_type": "deepseek_v2", "hidden_size": 2048, "intermediate_size": 10944,
         "num_hidden_layers": 27, "num_attention_heads": 16, "num_key_value_heads": 16,
         "vocab_size": 102400, "q_lora_rank": null, "kv_lora_rank": 512, "qk_nope_head_dim": 128,
         "qk_rope_head_dim": 64, "v_head_dim": 128, "n_routed_experts": 64, "n_shared_experts": 2,
         "num_experts_per_tok": 6, "moe_intermediate_size": 1408, "first_k_dense_replace": 1,
         "moe_layer_freq": 1, "tie_word_embeddings": false})",
     15706484224, 2.66e9},
    {"DeepSeek-V3, without multi-token prediction",
     R"({"model_type": "deepseek_v3", "hidden_size": 7168, "intermediate_size": 18432,
         "num_hidden_layers": 61, "num_attention_heads": 128, "num_key_value_heads": 128,
         "vocab_size": 129280, "q_lora_rank": 1536, "kv_lora_rank": 512, "qk_nope_head_dim": 128,
         "qk_rope_head_dim": 64, "v_head_dim": 128, "n_routed_experts": 256,
         "n_shared_experts": 1, "num_experts_per_tok": 8, "moe_intermediate_size": 2048,
         "first_k_dense_replace": 3, "moe_layer_freq": 1})",
     671026e6, 37.5e9},
    {"GPT-2",
     R"({"model_type": "gpt2", "n_embd": 768, "n_layer": 12, "n_head": 12, "n_positions": 1024,
         "vocab_size": 50257})",
     124439808},
    {"GPT-J 6B",
     R"({"model_type": "gptj", "n_embd": 4096, "n_layer": 28, "n_head": 16, "n_inner": null,
         "n_positions": 2048, "vocab_size": 50400, "rotary_dim": 64,
         "tie_word_embeddings": false})",
     6050882784},
    {"OPT 1.3B",
     R"({"model_type": "opt", "hidden_size": 2048, "ffn_dim": 8192, "num_hidden_layers": 24,
         "num_attention_heads": 32, "vocab_size": 50272, "max_position_embeddings": 2048,
         "word_embed_proj_dim": 2048})",
     1315758080},
    {"GPT-NeoX 20B",
     R"({"model_type": "gpt_neox", "hidden_size": 6144, "intermediate_size": 24576,
         "num_hidden_layers": 44, "num_attention_heads": 64, "vocab_size": 50432,
         "tie_word_embeddings": false})",
     20554567680},
    {"Phi-3 mini",
     R"({"model_type": "phi3", "hidden_size": 3072, "intermediate_size": 8192,
         "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 32,
         "vocab_size": 32064, "sliding_window": 2047})",
     3821079552},
    {"gpt-oss 20B",
     R"({"model_type": "gpt_oss", "hidden_size": 2880, "intermediate_size": 2880, "head_dim": 64,
         "num_hidden_layers": 24, "num_attention_heads": 64, "num_key_value_heads": 8,
         "vocab_size": 201088, "sliding_window": 128, "num_local_experts": 32,
         "num_experts_per_tok": 4, "tie_word_embeddings": false})",
     20914757184, 0},
    {"Qwen3-Next 80B-A3B, without multi-token prediction",
     R"({"model_type": "qwen3_next", "hidden_size": 2048, "intermediate_size": 5120,
         "num_hidden_layers": 48, "num_attention_heads": 16, "num_key_value_heads": 2,
         "head_dim": 256, "vocab_size": 151936, "full_attention_interval": 4,
         "linear_conv_kernel_dim": 4, "linear_key_head_dim": 128, "linear_num_key_heads": 16,
         "linear_num_value_heads": 32, "linear_value_head_dim": 128, "num_experts": 512,
         "num_experts_per_tok": 10, "moe_intermediate_size": 512, "decoder_sparse_step": 1,
         "mlp_only_layers": [], "shared_expert_intermediate_size": 512,
         "tie_word_embeddings": false})",
     79674e6, 3.87e9},
    {"Qwen3.5 397B-A17B, without its tower and multi-token prediction",
     R"({"model_type": "qwen3_5_moe", "vision_config": {"depth": 27, "hidden_size": 1152,
         "intermediate_size": 4304}, "text_config": {"model_type": "qwen3_5_moe_text",
         "hidden_size": 4096, "num_hidden_layers": 60, "num_attention_heads": 32,
         "num_key_value_heads": 2, "head_dim": 256, "vocab_size": 248320,
         "attn_output_gate": true, "full_attention_interval": 4, "linear_key_head_dim": 128,
         "linear_num_key_heads": 16, "linear_num_value_heads": 64, "linear_value_head_dim": 128,
         "num_experts": 512, "num_experts_per_tok": 10, "moe_intermediate_size": 1024,
         "shared_expert_intermediate_size": 1024, "mtp_num_hidden_layers": 1}})",
     397e9, 17.3e9},
    {"DeepSeek-V3.2",
     R"({"model_type": "deepseek_v32", "hidden_size": 7168, "intermediate_size": 18432,
         "num_hidden_layers": 61, "num_attention_heads": 128, "num_key_value_heads": 128,
         "vocab_size": 129280, "q_lora_rank": 1536, "kv_lora_rank": 512, "qk_nope_head_dim": 128,
         "qk_rope_head_dim": 64, "v_head_dim": 128, "n_routed_experts": 256,
         "n_shared_experts": 1, "num_experts_per_tok": 8, "moe_intermediate_size": 2048,
         "first_k_dense_replace": 3, "moe_layer_freq": 1, "index_n_heads": 64,
         "index_head_dim": 128, "index_topk": 2048, "num_nextn_predict_layers": 1})",
     671.9e9, 38.4e9},
    {"GLM-5, 744 B and 40 B of a token, which its makers count without embedding and head",
     R"({"model_type": "glm_moe_dsa", "hidden_size": 6144, "intermediate_size": 12288,
         "num_hidden_layers": 78, "num_attention_heads": 64, "num_key_value_heads": 64,
         "head_dim": 64, "vocab_size": 154880, "q_lora_rank": 2048, "kv_lora_rank": 512,
         "qk_nope_head_dim": 192, "qk_rope_head_dim": 64, "v_head_dim": 256,
         "n_routed_experts": 256, "n_shared_experts": 1, "num_experts_per_tok": 8,
         "moe_intermediate_size": 2048, "first_k_dense_replace": 3, "index_n_heads": 32,
         "index_head_dim": 128, "index_topk": 2048})",
     744e9, 41.8e9},
    {"GLM-4.5, without its layer for multi-token prediction",
     R"({"model_type": "glm4_moe", "hidden_size": 5120, "intermediate_size": 12288,
         "num_hidden_layers": 92, "num_attention_heads": 96, "num_key_value_heads": 8,
         "head_dim": 128, "attention_bias": true, "vocab_size": 151552, "n_routed_experts": 160,
         "n_shared_experts": 1, "num_experts_per_tok": 8, "moe_intermediate_size": 1536,
         "first_k_dense_replace": 3})",
     352.8e9, 33.6e9},
    {"Kimi-Linear 48B-A3B",
     R"({"model_type": "kimi_linear", "hidden_size": 2304, "intermediate_size": 9216,
         "num_hidden_layers": 27, "num_attention_heads": 32, "num_key_value_heads": 32,
         "head_dim": 72, "vocab_size": 163840, "q_lora_rank": null, "kv_lora_rank": 512,
         "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128, "mla_use_nope": true,
         "num_experts": 256, "num_experts_per_token": 8, "num_shared_experts": 1,
         "moe_intermediate_size": 1024, "first_k_dense_replace": 1, "moe_layer_freq": 1,
         "linear_attn_config": {"full_attn_layers": [4, 8, 12, 16, 20, 24, 27],
         "kda_layers": [1, 2, 3, 5, 6, 7, 9, 10, 11, 13, 14, 15, 17, 18, 19, 21, 22, 23, 25, 26],
         "head_dim": 128, "num_heads": 32, "short_conv_kernel_size": 4}})",
     49.12e9, 3.48e9},
    {"MiniMax-Text-01",
     R"({"model_type": "minimax_text_01", "hidden_size": 6144, "intermediate_size": 9216,
         "num_hidden_layers": 8, "num_attention_heads": 64, "num_key_value_heads": 8,
         "head_dim": 128, "vocab_size": 200064, "num_local_experts": 32,
         "num_experts_per_tok": 2, "attn_type_list": [0, 0, 0, 0, 0, 0, 0, 1],
         "shared_intermediate_size": 0})",
     // The layers are a tenth of those of the published 456 B; embedding and head are whole.
     (456e9 - 2.458e9) / 10 + 2.458e9},
    {"MiniMax-M2",
     R"({"model_type": "minimax_m2", "hidden_size": 3072, "intermediate_size": 1536,
         "num_hidden_layers": 62, "num_attention_heads": 48, "num_key_value_heads": 8,
         "head_dim": 128, "vocab_size": 200064, "num_local_experts": 256,
         "num_experts_per_tok": 8, "use_mtp": true, "num_mtp_modules": 3,
         "mtp_transformer_layers": 1, "scoring_func": "sigmoid", "use_routing_bias": true})",
     228.7e9},
    {"Llama 4 Maverick, without its tower",
     R"({"model_type": "llama4", "text_config": {"model_type": "llama4_text",
         "hidden_size": 5120, "intermediate_size": 8192, "intermediate_size_mlp": 16384,
         "num_hidden_layers": 48, "num_attention_heads": 40, "num_key_value_heads": 8,
         "head_dim": 128, "vocab_size": 202048, "num_local_experts": 128,
         "num_experts_per_tok": 1, "interleave_moe_layer_step": 2,
         "attention_chunk_size": 8192}})",
     400.7e9, 17.2e9},
    {"Llama 4 Scout, without its tower",
     R"({"model_type": "llama4", "text_config": {"model_type": "llama4_text",
         "hidden_size": 5120, "intermediate_size": 8192, "intermediate_size_mlp": 16384,
         "num_hidden_layers": 48, "num_attention_heads": 40, "num_key_value_heads": 8,
         "head_dim": 128, "vocab_size": 202048, "num_local_experts": 16,
         "num_experts_per_tok": 1, "interleave_moe_layer_step": 1,
         "attention_chunk_size": 8192}})",
     107.77e9, 17.2e9},
    {"gpt-oss 120B",
     R"({"model_type": "gpt_oss", "hidden_size": 2880, "intermediate_size": 2880, "head_dim": 64,
         "num_hidden_layers": 36, "num_attention_heads": 64, "num_key_value_heads": 8,
         "vocab_size": 201088, "sliding_window": 128, "num_local_experts": 128,
         "num_experts_per_tok": 4, "tie_word_embeddings": false})",
     116829156672, 0},
    {"Kimi K2, 1,026 B of the checkpoint",
     R"({"model_type": "kimi_k2", "hidden_size": 7168, "intermediate_size": 18432,
         "num_hidden_layers": 61, "num_attention_heads": 64, "num_key_value_heads": 64,
         "vocab_size": 163840, "q_lora_rank": 1536, "kv_lora_rank": 512, "qk_nope_head_dim": 128,
         "qk_rope_head_dim": 64, "v_head_dim": 128, "n_routed_experts": 384,
         "n_shared_experts": 1, "num_experts_per_tok": 8, "moe_intermediate_size": 2048,
         "first_k_dense_replace": 1, "moe_layer_freq": 1})",
     1026e9, 32.9e9},
    {"T5 11B",
     R"({"model_type": "t5", "d_ff": 65536, "d_kv": 128, "d_model": 1024, "num_heads": 128,
         "num_layers": 24, "n_positions": 512, "vocab_size": 32128, "dropout_rate": 0.1,
         "relative_attention_num_buckets": 32, "is_encoder_decoder": true})",
     11307321344},
    {"mT5 XXL, gated and with a head of its own",
     R"({"model_type": "mt5", "d_ff": 10240, "d_kv": 64, "d_model": 4096, "num_heads": 64,
         "num_layers": 24, "num_decoder_layers": 24, "vocab_size": 250112,
         "feed_forward_proj": "gated-gelu", "tie_word_embeddings": false})",
     12921057280},
    {"BART large",
     R"({"model_type": "bart", "d_model": 1024, "encoder_layers": 12, "decoder_layers": 12,
         "encoder_attention_heads": 16, "decoder_attention_heads": 16, "encoder_ffn_dim": 4096,
         "decoder_ffn_dim": 4096, "vocab_size": 50265, "max_position_embeddings": 1024})",
     406291456},
    {"Nemotron-4 15B",
     R"({"model_type": "nemotron", "hidden_size": 6144, "intermediate_size": 24576,
         "num_hidden_layers": 32, "num_attention_heads": 48, "num_key_value_heads": 8,
         "vocab_size": 256000, "hidden_act": "relu2", "tie_word_embeddings": false})",
     15.6e9},
};

TEST(HuggingFace, CountsTheParametersOfPublishedCheckpoints) {
  for (const PublishedConfig& config : kConfigs) {
    const TransformerSpec model = model_of_hugging_face(config.text, "config.json");
    EXPECT_NEAR(model.parameters() / config.parameters, 1, 0.003) << config.what;
    if (config.active > 0) {
      EXPECT_NEAR(model.active_parameters() / config.active, 1, 0.01) << config.what;
    }
    if (model.moe.experts == 0) {
      EXPECT_EQ(model.active_parameters(), model.parameters()) << config.what;
    }
    EXPECT_EQ(model.name, "config.json");
  }
}

std::string refusal(const std::string& text) {
  try {
    model_of_hugging_face(text, "config.json");
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

TransformerSpec model_of(const std::string& fields) {
  return model_of_hugging_face(
      R"({"hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 6,
          "num_attention_heads": 4, "vocab_size": 100, )" +
          fields + "}",
      "config.json");
}

TEST(HuggingFace, WindowsAreListedOrUsual) {
  EXPECT_EQ(model_of(R"("model_type": "mistral", "sliding_window": 8)").window, 8);
  EXPECT_EQ(model_of(R"("model_type": "mistral", "sliding_window": 8)").global_every, 0);
  EXPECT_EQ(model_of(R"("model_type": "mistral", "sliding_window": null)").window, 0);
  EXPECT_EQ(model_of(R"("model_type": "gemma2", "sliding_window": 8)").global_every, 2);
  const std::string types = R"("model_type": "gemma3", "sliding_window": 8, "layer_types": [
    "sliding_attention", "sliding_attention", "full_attention",
    "sliding_attention", "sliding_attention", "full_attention"])";
  EXPECT_EQ(model_of(types).global_every, 3);
  EXPECT_EQ(model_of(R"("model_type": "qwen2", "use_sliding_window": true, "sliding_window": 8,
                        "max_window_layers": 3)")
                .global_every,
            2);
}

TEST(HuggingFace, BoundsAndScaledPositionsAreReadInAnyFamily) {
  const std::string experts = R"("model_type": "gpt_oss", "num_local_experts": 4,
                                 "num_experts_per_tok": 2)";
  const TransformerSpec plain = model_of(experts);
  EXPECT_FALSE(plain.clamped_activation || plain.scaled_rotary);
  const TransformerSpec full =
      model_of(experts + R"(, "swiglu_limit": 7.0, "rope_scaling": {"rope_type": "yarn"})");
  EXPECT_TRUE(full.clamped_activation && full.scaled_rotary);
  const auto scaled = [](const std::string& rotary) {
    return model_of(R"("model_type": "llama", )" + rotary).scaled_rotary;
  };
  EXPECT_TRUE(scaled(R"("rope_scaling": {"type": "yarn", "factor": 4.0})"));
  EXPECT_TRUE(scaled(R"("rope_parameters": {"rope_type": "yarn", "factor": 4.0})"));
  EXPECT_FALSE(scaled(R"("rope_scaling": {"rope_type": "llama3", "factor": 8.0})"));
  // As in DeepSeek's, the temperature is part of the scores.
  EXPECT_FALSE(scaled(R"("rope_scaling": {"type": "yarn", "mscale": 1.0, "mscale_all_dim": 1.0})"));
  EXPECT_FALSE(scaled(R"("rope_scaling": {"rope_type": "yarn", "attention_factor": 1.0})"));
  EXPECT_FALSE(scaled(R"("rope_scaling": null)"));
  EXPECT_TRUE(model_of(R"("model_type": "mistral", "swiglu_limit": 7.0)").clamped_activation);
  EXPECT_FALSE(model_of(R"("model_type": "gpt2", "n_layer": 2, "n_embd": 64, "n_head": 4,
                           "n_positions": 64, "swiglu_limit": 7.0)")
                   .clamped_activation);
}

TEST(HuggingFace, LayersHaveTheirPlaces) {
  EXPECT_EQ(model_of(R"("model_type": "llama4", "intermediate_size_mlp": 256,
                        "num_local_experts": 4, "interleave_moe_layer_step": 2,
                        "attention_chunk_size": 8)")
                .pattern,
            "TXTXTX");
  const std::string next = R"("model_type": "qwen3_next", "num_experts": 4,
      "num_experts_per_tok": 2, "moe_intermediate_size": 32, )";
  EXPECT_EQ(model_of(next + R"("full_attention_interval": 3)").pattern, "RRXRRX");
  EXPECT_EQ(model_of(next + R"("layer_types": ["full_attention", "linear_attention",
      "full_attention", "full_attention", "full_attention", "full_attention"],
      "mlp_only_layers": [1])")
                .pattern,
            "XLXXXX");
  const TransformerSpec experts = model_of(R"("model_type": "qwen3_moe", "num_experts": 4,
      "num_experts_per_tok": 2, "moe_intermediate_size": 32, "mlp_only_layers": [0, 1])");
  EXPECT_EQ(experts.pattern, "");
  EXPECT_EQ(experts.moe.dense_layers, 2);
}

// Parameters in a file that are not counted are named, with their share if it is known.
TEST(HuggingFace, WhatIsLeftOutIsNamed) {
  EXPECT_TRUE(model_of(R"("model_type": "llama", "rms_norm_eps": 1e-6, "torch_dtype": "bfloat16",
      "bos_token_id": 1, "rope_theta": 10000.0, "use_cache": true)")
                  .left_out.empty());
  const auto unknown = model_of(R"("model_type": "llama", "loop_count": 3)").left_out;
  ASSERT_EQ(unknown.size(), 1);
  EXPECT_TRUE(unknown.front().starts_with("loop_count, unknown for this model_type"))
      << unknown.front();
  // These keys are sizes, although their names begin like those of scales and switches.
  for (const char* key : {"qk_nope_head_dim", "norm_layers", "topk_experts", "output_heads",
                          "use_parallel_branch", "clip_qkv"}) {
    const auto named = model_of(fmt::format(R"("model_type": "llama", "{}": 3)", key)).left_out;
    ASSERT_EQ(named.size(), 1) << key;
    EXPECT_TRUE(named.front().starts_with(key)) << named.front();
  }
  const auto trained = model_of(R"("model_type": "llama", "gradient_checkpointing": true,
      "hidden_dropout": 0.1, "embd_pdrop": 0.0, "clip_qkv": null,
      "quantization_config": {"quant_method": "fp8"})")
                           .left_out;
  ASSERT_EQ(trained.size(), 1);
  EXPECT_TRUE(
      trained.front().starts_with("gradient_checkpointing, hidden_dropout, quantization_config, "
                                  "which describe how it was trained"))
      << trained.front();
  const TransformerSpec tower = model_of_hugging_face(
      R"({"model_type": "gemma3", "vision_config": {"hidden_size": 1152,
          "intermediate_size": 4304, "num_hidden_layers": 27},
          "text_config": {"model_type": "gemma3_text", "hidden_size": 64,
          "intermediate_size": 128, "num_hidden_layers": 6, "num_attention_heads": 4,
          "num_key_value_heads": 4, "sliding_window": 8}})",
      "config.json");
  ASSERT_EQ(tower.left_out.size(), 1);
  EXPECT_TRUE(tower.left_out.front().starts_with("vision_config: 417 M parameters"))
      << tower.left_out.front();
  const TransformerSpec predicting = model_of(R"("model_type": "deepseek_v3",
      "qk_nope_head_dim": 16, "kv_lora_rank": 16, "qk_rope_head_dim": 8, "v_head_dim": 16,
      "n_routed_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 32,
      "num_nextn_predict_layers": 1)");
  EXPECT_EQ(predicting.mtp_layers, 0);
  ASSERT_EQ(predicting.left_out.size(), 1);
  EXPECT_NE(predicting.left_out.front().find("state mtp_layers: 1"), std::string::npos);
}

TEST(HuggingFace, AFileOfTextStatesItsSizes) {
  EXPECT_NE(refusal(R"({"model_type": "llama", "vocab_size": 32064})").find("is missing"),
            std::string::npos);
}

TEST(HuggingFace, KindsOfLayersThatAreWrongAreRefused) {
  const std::string start = R"({"model_type": "kimi_linear", "hidden_size": 64, "vocab_size": 100,
      "intermediate_size": 128, "num_hidden_layers": 3, "num_attention_heads": 4,
      "kv_lora_rank": 16, "qk_nope_head_dim": 16, "qk_rope_head_dim": 8, "v_head_dim": 16,
      "num_experts": 4, "num_experts_per_token": 2, "moe_intermediate_size": 32,
      "linear_attn_config": {"head_dim": 16, "num_heads": 4, "full_attn_layers": )";
  EXPECT_EQ(refusal(start + "[4]}}"),
            "config.json:5:83: full_attn_layers: 4 is not from 1 to the 3 layers");
  EXPECT_NE(refusal(start + "[\"a\"]}}").find("config.json:5:83: "), std::string::npos);
}

TEST(HuggingFace, RoutersMayBeLimitedToGroups) {
  const std::string config = R"("model_type": "deepseek_v3", "kv_lora_rank": 32,
    "qk_nope_head_dim": 16, "qk_rope_head_dim": 8, "v_head_dim": 16, "n_routed_experts": 16,
    "num_experts_per_tok": 4, "moe_intermediate_size": 64)";
  EXPECT_EQ(model_of(config).moe.groups, 1);
  const MixtureOfExperts moe = model_of(config + R"(, "n_group": 8, "topk_group": 4)").moe;
  EXPECT_EQ(moe.groups, 8);
  EXPECT_EQ(moe.groups_per_token, 4);
}

// Published are 284 B and 13 B active for Flash, 1.6 T and 49 B for Pro
// (huggingface.co/deepseek-ai/DeepSeek-V4-Flash and -Pro). Active parameters that attention lacks
// are named.
TEST(HuggingFace, CompressedAttentionIsCountedAsLatentAndNamed) {
  const auto config = [](int layers, const std::string& first, const std::string& rest) {
    std::string ratios = first;
    for (int i = 2; i < layers; ++i) ratios += i % 2 == 0 ? ", 4" : ", 128";
    return fmt::format(
        R"("model_type": "deepseek_v4", "num_hidden_layers": {}, "compress_ratios": [{}, 0],
           "num_nextn_predict_layers": 1, "vocab_size": 129280, "head_dim": 512,
           "qk_rope_head_dim": 64, "o_lora_rank": 1024, "n_shared_experts": 1, "hc_mult": 4,
           "num_experts_per_tok": 6, "sliding_window": 128, "num_key_value_heads": 1, {})",
        layers, ratios, rest);
  };
  const auto whole_model = [](const std::string& fields) {
    return model_of_hugging_face("{" + fields + "}", "config.json");
  };
  const TransformerSpec flash = whole_model(
      config(43, "0, 0",
             R"("hidden_size": 4096, "num_attention_heads": 64, "q_lora_rank": 1024, "o_groups": 8,
         "n_routed_experts": 256, "moe_intermediate_size": 2048, "index_topk": 512)"));
  const TransformerSpec pro = whole_model(config(
      61, "128, 128",
      R"("hidden_size": 7168, "num_attention_heads": 128, "q_lora_rank": 1536, "o_groups": 16,
         "n_routed_experts": 384, "moe_intermediate_size": 3072, "index_topk": 1024)"));
  EXPECT_NEAR(flash.parameters() / 284e9, 1, 0.01);
  EXPECT_NEAR(pro.parameters() / 1.6e12, 1, 0.02);
  EXPECT_NEAR(flash.active_parameters() / 13e9, 1, 0.05);
  EXPECT_NEAR(pro.active_parameters() / 49e9, 1, 0.05);
  EXPECT_EQ(flash.sparse.top_k, 640);
  EXPECT_EQ(pro.sparse.top_k, 1152);
  ASSERT_EQ(flash.left_out.size(), 4);  // the last one is the module for further tokens
  EXPECT_TRUE(flash.left_out[0].starts_with("an output projection in groups")) << flash.left_out[0];
  EXPECT_TRUE(flash.left_out[1].starts_with("layers that read only a window of 128 keys"));
  EXPECT_TRUE(flash.left_out[2].starts_with("hyper-connections: only one of 4 residual streams"));
  EXPECT_NE(refusal(R"({"model_type": "deepseek_v4", "num_hidden_layers": 3, "hidden_size": 64,
      "vocab_size": 9, "num_attention_heads": 4, "n_routed_experts": 4, "num_experts_per_tok": 2,
      "moe_intermediate_size": 64, "o_groups": 2, "o_lora_rank": 8, "compress_ratios": [0, 4]})")
                .find("compress_ratios: lists 2 of 3 layers"),
            std::string::npos);
}

TEST(HuggingFace, LengthOfTrainingIsKnownOfLearnedPositionsAlone) {
  EXPECT_EQ(model_of(R"("model_type": "llama", "max_position_embeddings": 4096)").sequence, 0);
  EXPECT_EQ(model_of_hugging_face(kConfigs[13].text, "c.json").sequence, 1024);
}

TEST(HuggingFace, WhatIsMissingOrUnknownHasItsPlace) {
  EXPECT_TRUE(refusal(R"({"model_type": "mamba"})")
                  .starts_with("config.json:1:16: unknown model_type 'mamba'; known: bart, "
                               "deepseek_v2, deepseek_v3, deepseek_v32, deepseek_v4, gemma"));
  EXPECT_TRUE(refusal(R"({"model_type": "zamba2"})")
                  .starts_with("config.json:1:16: model_type 'zamba2' is not modelled: it has "
                               "layers that share weights"));
  EXPECT_EQ(refusal("{\"hidden_size\": 4}"),
            "config.json:1:1: 'model_type' is missing, so this is no config.json of Hugging Face");
  EXPECT_EQ(refusal("\n{\"model_type\": \"llama\"}"),
            "config.json:2:1: 'num_hidden_layers' is missing");
  EXPECT_TRUE(refusal("[1, 2]").starts_with("config.json:1:1: "));
  EXPECT_TRUE(refusal("{\"model_type\": ").starts_with("config.json:"));
  const std::string llama = R"({"model_type": "llama", "num_hidden_layers": 2, "vocab_size": 10,
      "num_attention_heads": 4, "intermediate_size": 8,)";
  EXPECT_EQ(refusal(llama + "\"hidden_size\": 6.5}"),
            "config.json:2:71: hidden_size: '6.5' is not a whole number");
  EXPECT_EQ(
      refusal(llama + "\"hidden_size\": 6}"),
      "config.json:1:1: the hidden width 6 is not a multiple of 4 heads, and the width of a head "
      "is not stated");
  EXPECT_EQ(refusal(llama + "\"hidden_size\": 8, \"num_key_value_heads\": 3}"),
            "config.json:1:1: 4 heads are no multiple of 3 key and value heads");
  EXPECT_EQ(refusal(llama + "\"hidden_size\": 0}"),
            "config.json:1:1: model.hidden: 0 must be from 1 to 1000000");
}

// A file states the longest source; the decoder's output is as long.
TEST(HuggingFace, AnEncoderAndADecoderShareASequence) {
  const std::string bart = R"({"model_type": "bart", "d_model": 64, "encoder_layers": 2,
      "decoder_layers": 3, "encoder_attention_heads": 4, "decoder_attention_heads": 4,
      "encoder_ffn_dim": 128, "vocab_size": 100, "max_position_embeddings": 32,)";
  const TransformerSpec model =
      model_of_hugging_face(bart + "\"decoder_ffn_dim\": 128}", "config.json");
  EXPECT_EQ(model.pattern, "BBCCC");
  EXPECT_EQ(model.source_tokens, 32);
  EXPECT_EQ(model.sequence, 64);
  EXPECT_EQ(refusal(bart + "\"decoder_ffn_dim\": 256}"),
            "config.json:3:99: decoder_ffn_dim: 256 differs from 128 of the encoder; only stacks "
            "of the same width are modelled");
  EXPECT_TRUE(refusal(R"({"model_type": "whisper"})")
                  .starts_with("config.json:1:16: model_type 'whisper' is not modelled: it has a "
                               "sound encoder"));
}

TEST(HuggingFace, LayersThatAreNotModelledAreRefused) {
  const std::string start = R"({"model_type": "mistral", "hidden_size": 64, "vocab_size": 100,
      "intermediate_size": 128, "num_hidden_layers": 3, "num_attention_heads": 4,
      "sliding_window": 8, "layer_types":)";
  EXPECT_EQ(refusal(start + R"(["full_attention", "linear_attention", "full_attention"]})"),
            "config.json:3:61: layer_types: 'linear_attention' is not modelled; known: "
            "full_attention, sliding_attention, chunked_attention");
  EXPECT_EQ(refusal(start + R"(["full_attention", "sliding_attention", "full_attention"]})"),
            "config.json:3:42: 2 of 3 layers attend to the whole sequence; only one such layer at "
            "equal distances, or none, is modelled");
  EXPECT_EQ(refusal(start + R"(["full_attention"]})"),
            "config.json:3:42: layer_types: lists 1 of 3 layers");
}

TEST(HuggingFace, EmbeddingsOfAnotherWidthThanTheLayersAreRefused) {
  const std::string opt = R"({"model_type": "opt", "hidden_size": 1024, "ffn_dim": 4096,
      "num_hidden_layers": 24, "num_attention_heads": 16, "vocab_size": 50272,
      "max_position_embeddings": 2048, "word_embed_proj_dim": 512})";
  EXPECT_EQ(refusal(opt),
            "config.json:3:63: word_embed_proj_dim: embeddings of width 512 before layers of 1024 "
            "are not modelled");
}

}  // namespace
}  // namespace windtunnel
