#include "scenarios/language/configs/hugging_face_towers.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "scenarios/language/configs/hugging_face.hpp"
#include "scenarios/language/text/document.hpp"

namespace windtunnel {
namespace {

struct PublishedTower {
  const char* what;
  const char* text;
  double parameters;  // decoder and tower of the checkpoint
  int patches, tokens;
};

// The configurations are as published, without keys that are no sizes; counts are sums of the
// checkpoints' tensors.
const PublishedTower kTowers[] = {
    {"LLaVA 1.5 7B",
     R"({"model_type": "llava", "text_config": {"model_type": "llama", "vocab_size": 32064},
         "vision_config": {"model_type": "clip_vision_model", "hidden_size": 1024,
         "intermediate_size": 4096, "num_attention_heads": 16, "num_hidden_layers": 24,
         "image_size": 336, "patch_size": 14, "projection_dim": 768}})",
     7063427072, 576, 576},
    {"Gemma 3 4B",
     R"({"model_type": "gemma3", "mm_tokens_per_image": 256, "text_config": {
         "model_type": "gemma3_text", "hidden_size": 2560, "intermediate_size": 10240,
         "num_hidden_layers": 34, "sliding_window": 1024}, "vision_config": {
         "model_type": "siglip_vision_model", "hidden_size": 1152, "intermediate_size": 4304,
         "num_attention_heads": 16, "num_hidden_layers": 27, "image_size": 896,
         "patch_size": 14}})",
     4300079472, 4096, 256},
    {"Qwen2-VL 7B",
     R"({"model_type": "qwen2_vl", "hidden_size": 3584, "intermediate_size": 18944,
         "num_hidden_layers": 28, "num_attention_heads": 28, "num_key_value_heads": 4,
         "vocab_size": 152064, "vision_config": {"depth": 32, "embed_dim": 1280, "mlp_ratio": 4,
         "num_heads": 16, "in_chans": 3, "hidden_size": 3584, "patch_size": 14,
         "spatial_merge_size": 2, "temporal_patch_size": 2}})",
     8291375616, 1024, 256},
    {"Qwen2.5-VL 7B",
     R"({"model_type": "qwen2_5_vl", "hidden_size": 3584, "intermediate_size": 18944,
         "num_hidden_layers": 28, "num_attention_heads": 28, "num_key_value_heads": 4,
         "vocab_size": 152064, "vision_config": {"depth": 32, "hidden_size": 1280,
         "intermediate_size": 3420, "num_heads": 16, "out_hidden_size": 3584, "patch_size": 14,
         "spatial_merge_size": 2, "window_size": 112, "temporal_patch_size": 2,
         "fullatt_block_indexes": [7, 15, 23, 31]}})",
     8292166656, 1024, 256},
    {"Qwen3-VL 8B",
     R"({"model_type": "qwen3_vl", "text_config": {"model_type": "qwen3_vl_text",
         "hidden_size": 4096, "intermediate_size": 12288, "num_hidden_layers": 36,
         "num_attention_heads": 32, "num_key_value_heads": 8, "head_dim": 128,
         "vocab_size": 151936}, "vision_config": {"depth": 27, "hidden_size": 1152,
         "intermediate_size": 4304, "num_heads": 16, "patch_size": 16, "spatial_merge_size": 2,
         "temporal_patch_size": 2, "num_position_embeddings": 2304, "out_hidden_size": 4096,
         "deepstack_visual_indexes": [8, 16, 24]}})",
     8767123696, 784, 196},
    {"Mistral Small 3.1 24B",
     R"({"model_type": "mistral3", "spatial_merge_size": 2, "text_config": {
         "model_type": "mistral", "hidden_size": 5120, "intermediate_size": 32768,
         "num_hidden_layers": 40, "num_attention_heads": 32, "num_key_value_heads": 8,
         "head_dim": 128, "vocab_size": 131072}, "vision_config": {"model_type": "pixtral",
         "hidden_size": 1024, "intermediate_size": 4096, "num_attention_heads": 16,
         "num_hidden_layers": 24, "image_size": 1540, "patch_size": 14}})",
     24011361280, 12100, 3025},
    {"Llama 3.2 11B Vision Instruct",
     R"({"model_type": "mllama", "text_config": {"model_type": "mllama_text_model",
         "hidden_size": 4096, "intermediate_size": 14336, "num_hidden_layers": 40,
         "num_attention_heads": 32, "num_key_value_heads": 8, "vocab_size": 128256,
         "cross_attention_layers": [3, 8, 13, 18, 23, 28, 33, 38]}, "vision_config": {
         "model_type": "mllama_vision_model", "hidden_size": 1280, "intermediate_size": 5120,
         "attention_heads": 16, "num_hidden_layers": 32, "num_global_layers": 8,
         "image_size": 560, "patch_size": 14, "max_num_tiles": 4, "vision_output_dim": 7680,
         "supported_aspect_ratios": [[1, 1], [1, 2], [1, 3], [1, 4], [2, 1], [2, 2], [3, 1],
         [4, 1]]}})",
     10670220835, 6400, 0},
    {"Llama 4 Scout",
     R"({"model_type": "llama4", "text_config": {"model_type": "llama4_text",
         "hidden_size": 5120, "intermediate_size": 8192, "intermediate_size_mlp": 16384,
         "num_hidden_layers": 48, "num_attention_heads": 40, "num_key_value_heads": 8,
         "head_dim": 128, "vocab_size": 202048, "num_local_experts": 16,
         "num_experts_per_tok": 1, "interleave_moe_layer_step": 1, "attention_chunk_size": 8192},
         "vision_config": {"model_type": "llama4_vision_model", "hidden_size": 1408,
         "intermediate_size": 5632, "num_attention_heads": 16, "num_hidden_layers": 34,
         "image_size": 336, "patch_size": 14, "pixel_shuffle_ratio": 0.5,
         "projector_input_dim": 4096, "projector_output_dim": 4096,
         "vision_output_dim": 4096}})",
     108641793536, 576, 144},
    {"Qwen2-Audio 7B",
     R"({"model_type": "qwen2_audio", "text_config": {"model_type": "qwen2",
         "intermediate_size": 11008, "vocab_size": 156032}, "audio_config": {
         "model_type": "qwen2_audio_encoder", "encoder_layers": 32, "d_model": 1280,
         "encoder_ffn_dim": 5120, "encoder_attention_heads": 20, "num_mel_bins": 128,
         "max_source_positions": 1500}})",
     8397094912, 1500, 750},
};

TEST(HuggingFaceTowers, HaveTheParametersOfPublishedCheckpoints) {
  for (const PublishedTower& published : kTowers) {
    const TransformerSpec model = model_of_hugging_face(published.text, published.what);
    const std::vector<HuggingFaceTower> towers =
        towers_of(parse_document(published.text, published.what), model);
    ASSERT_EQ(towers.size(), 1U) << published.what;
    const HuggingFaceTower& of = towers.front();
    const Tower& tower = of.tower;
    const double simulated = model.tower ? model.tower->parameters() : 0;
    const double rest = published.parameters - (model.parameters() - simulated);
    EXPECT_NEAR(tower.parameters() / rest, 1, 0.005)
        << published.what << ": " << model.parameters() << " and " << tower.parameters();
    EXPECT_EQ(tower.patches(), published.patches) << published.what;
    EXPECT_EQ(of.in_sequence ? tower.tokens : 0, published.tokens) << published.what;
    // The layers take three passes of two operations per weight, and attention in addition.
    EXPECT_GE(of.flops(), 6.0 * tower.patches() * tower.layers.parameters() * 0.99);
    EXPECT_LE(of.flops(), 6.0 * tower.patches() * tower.parameters() * 3);
    EXPECT_EQ(model.tower != nullptr, of.in_sequence) << published.what;
    if (of.in_sequence) {
      EXPECT_EQ(model.tower->parameters(), tower.parameters());
      EXPECT_EQ(model.tower->projector.back(), model.hidden) << published.what;
      continue;
    }
    const auto named = std::ranges::find_if(
        model.left_out, [&](const std::string& text) { return text.starts_with(of.key); });
    ASSERT_NE(named, model.left_out.end()) << published.what;
    EXPECT_NE(named->find("% to the operations"), std::string::npos) << *named;
  }
}

// Widths that a file leaves out are the defaults of its class.
TEST(HuggingFaceTowers, MayLeaveWidthsToTheirClass) {
  const auto parameters = [](const std::string& stated) {
    const std::string text = R"({"model_type": "mllama", "text_config": {
        "model_type": "mllama_text_model", "hidden_size": 64, "intermediate_size": 128,
        "num_hidden_layers": 2, "num_attention_heads": 4, "vocab_size": 100},
        "vision_config": {"hidden_size": 32, "num_hidden_layers": 1)" +
                             stated + "}}";
    const TransformerSpec model = model_of_hugging_face(text, "config.json");
    return towers_of(parse_document(text, "config.json"), model).at(0).tower.parameters();
  };
  EXPECT_EQ(parameters(""), parameters(R"(, "vision_output_dim": 7680, "image_size": 448)"));
  EXPECT_NE(parameters(""), parameters(R"(, "vision_output_dim": 4096)"));
}

}  // namespace
}  // namespace windtunnel
