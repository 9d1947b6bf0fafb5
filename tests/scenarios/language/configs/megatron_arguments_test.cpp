#include "scenarios/language/configs/megatron_arguments.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "models/base/error.hpp"
#include "scenarios/language/library/library.hpp"

namespace windtunnel {
namespace {

TEST(MegatronArguments, GptAsOfItsPaper) {
  const TransformerSpec model = model_of_megatron_arguments(
      "--num-layers 96 --hidden-size 12288 --num-attention-heads 96 --seq-length 2048 "
      "--max-position-embeddings 2048 --vocab-size 51200 --micro-batch-size 1",
      "gpt.args");
  EXPECT_NEAR(model.parameters() / 174.6e9, 1, 0.001);  // arXiv 2104.04473, eq. 2
  EXPECT_EQ(model.ffn_hidden, 49152);
  EXPECT_EQ(model.sequence, 2048);
  EXPECT_TRUE(model.biases && model.tied_embeddings && model.dropout);
  EXPECT_EQ(model.position, PositionEncoding::learned);
}

TEST(MegatronArguments, LlamaAsALaunchScriptHasIt) {
  const TransformerSpec model = model_of_megatron_arguments(R"(MODEL=(   # Llama 3 70B
    --num-layers 80 --hidden-size=8192 --ffn-hidden-size 28672 \
    --num-attention-heads 64 --group-query-attention --num-query-groups 8
    --seq-length 8192 --vocab-size 128256 --swiglu --normalization RMSNorm
    --position-embedding-type rope --disable-bias-linear
    --untie-embeddings-and-output-weights --hidden-dropout 0.0 --attention-dropout 0.0
))",
                                                            "llama.args");
  EXPECT_EQ(model.parameters(), 70553706496.0);
  EXPECT_FALSE(model.dropout);
}

TEST(MegatronArguments, HybridModelsByTheirPattern) {
  const std::string arguments =
      " --hidden-size 2688 --ffn-hidden-size 1856 --num-attention-heads 32 "
      "--group-query-attention --num-query-groups 2 --kv-channels 128 --vocab-size 131072 "
      "--seq-length 8192 --normalization RMSNorm --position-embedding-type none "
      "--disable-bias-linear --untie-embeddings-and-output-weights --num-experts 128 "
      "--moe-router-topk 6 --moe-ffn-hidden-size 1856 "
      "--moe-shared-expert-intermediate-size 3712 --mamba-num-heads 64 --mamba-num-groups 8 ";
  const std::string nano = "MEMEM*EMEMEM*EMEMEM*EMEMEM*EMEMEM*EMEMEMEM*EMEMEMEME";
  const auto read = [&](const std::string& more) {
    return model_of_megatron_arguments(arguments + more, "nano.args");
  };
  EXPECT_NEAR(read("--hybrid-override-pattern " + nano).parameters() / 31.6e9, 1, 0.01);
  // The newer option may also contain pipeline stages and modules for multi-token prediction.
  const TransformerSpec newer = read("--hybrid-layer-pattern MEM*|EME/*E");
  EXPECT_EQ(newer.pattern, "MEM*EME");
  EXPECT_EQ(newer.layers, 7);
  EXPECT_EQ(newer.mamba.state, 128);
  EXPECT_THROW(read("--hybrid-layer-pattern ME --num-layers 3"), Error);
  EXPECT_THROW(read("--hybrid-layer-pattern MX"), Error);
  EXPECT_THROW(read("--hybrid-layer-pattern MG"), Error);
  const TransformerSpec delta = read("--hybrid-layer-pattern GEGE*E --linear-num-value-heads 48");
  EXPECT_EQ(delta.pattern, "MEME*E");
  EXPECT_EQ(delta.mamba.kind, ScanKind::gated_delta);
  EXPECT_EQ(delta.mamba.heads, 48);
}

// Tests variants of attention, a gate, and multi-token prediction.
TEST(MegatronArguments, VariantsOfAttention) {
  const auto read = [](const std::string& more) {
    return model_of_megatron_arguments(
        "--num-layers 8 --hidden-size 256 --num-attention-heads 4 --vocab-size 1000 "
        "--mtp-num-layers 1 " +
            more,
        "variants.args");
  };
  EXPECT_EQ(read("").mtp_layers, 1);
  const TransformerSpec delta = read(
      "--experimental-attention-variant gated_delta_net --attention-output-gate --num-experts 4 "
      "--moe-layer-freq ([0]*1+[1]*7)");
  EXPECT_EQ(delta.pattern, "LRRXRRRX");
  EXPECT_TRUE(delta.attention_gate);
  const TransformerSpec dsa =
      read("--experimental-attention-variant dsa --dsa-indexer-topk 512 --multi-latent-attention");
  EXPECT_EQ(dsa.sparse.top_k, 512);
  EXPECT_EQ(dsa.sparse.heads, 64);
  EXPECT_THROW(read("--experimental-attention-variant strange"), Error);
}

TEST(MegatronArguments, ExpertsLatentAttentionAndWindows) {
  const std::string text =
      "--num-layers 61 --hidden-size 7168 --ffn-hidden-size 18432 --num-attention-heads 128 "
      "--vocab-size 129280 --seq-length 4096 --swiglu --normalization RMSNorm "
      "--position-embedding-type rope --disable-bias-linear "
      "--untie-embeddings-and-output-weights --multi-latent-attention --q-lora-rank 1536 "
      "--kv-lora-rank 512 --qk-head-dim 128 --qk-pos-emb-head-dim 64 --v-head-dim 128 "
      "--num-experts 256 --moe-router-topk 8 --moe-ffn-hidden-size 2048 "
      "--moe-shared-expert-intermediate-size 2048 --moe-layer-freq \"([0]*3+[1]*58)\" "
      "--moe-router-num-groups 8 --moe-router-group-topk 4";
  const TransformerSpec model = model_of_megatron_arguments(text, "v3.args");
  EXPECT_NEAR(model.parameters() / 671.03e9, 1, 0.001);
  EXPECT_EQ(model.moe.dense_layers, 3);
  EXPECT_EQ(model.moe.groups, 8);
  EXPECT_EQ(model.moe.groups_per_token, 4);
  const auto sparse = [&](const std::string& freq) {
    return model_of_megatron_arguments(
        "--num-layers 5 --hidden-size 64 --num-attention-heads 4 "
        "--vocab-size 100 --num-experts 4 --window-size 127,0 "
        "--moe-layer-freq " +
            freq,
        "a.args");
  };
  EXPECT_EQ(sparse("2").moe.dense_layers, 2);
  EXPECT_EQ(sparse("[1,0,1,1,0]").moe.dense_layers, 2);
  EXPECT_EQ(sparse("1").window, 128);
  EXPECT_EQ(sparse("1 --window-size [63,0]").window, 64);
  EXPECT_THROW(sparse("[1,0]"), Error);
}

std::string arguments_refusal(const std::string& text) {
  try {
    model_of_megatron_arguments(text, "a.args");
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

TEST(MegatronArguments, WhatIsMissingOrNoNumberHasItsPlace) {
  EXPECT_EQ(arguments_refusal(""), "a.args:1:1: --num-layers is missing");
  EXPECT_EQ(arguments_refusal("--num-layers --hidden-size 4"),
            "a.args:1:1: --num-layers: expected a value after it");
  EXPECT_EQ(arguments_refusal("\n  --num-layers $LAYERS"),
            "a.args:2:16: --num-layers: '$LAYERS' is a shell variable; write its value");
  EXPECT_EQ(arguments_refusal("--num-layers many"),
            "a.args:1:14: --num-layers: 'many' is not a number");
  EXPECT_EQ(arguments_refusal("--num-layers 1.5"),
            "a.args:1:14: --num-layers: '1.5' is not a whole number");
  const std::string start = "--num-layers 2 --hidden-size 64 --vocab-size 9 ";
  EXPECT_EQ(arguments_refusal(start + "--num-attention-heads 5"),
            "a.args:1:14: the hidden width 64 is not a multiple of 5 heads, and the width of a "
            "head is not stated");
  EXPECT_EQ(arguments_refusal(start + "--num-attention-heads 4 --normalization BatchNorm"),
            "a.args:1:88: --normalization: 'BatchNorm' is neither LayerNorm nor RMSNorm");
}

// All that the arguments can state of a model, as a text.
std::string said_of(const TransformerSpec& m) {
  return fmt::format(
      "{} layers {} wide, {}/{} heads of {}, ffn {}, {} words, window {}, mtp {}, gate {}, dropout "
      "{}, biases {}, tied {}, activation {}, norm {}; experts {} {} {}/{} {} {} {} dense {}; "
      "latent "
      "{} {} {} {}; sparse {} {} {}; pattern {} {} {} {} {} {}",
      m.layers, m.hidden, m.heads, m.kv_heads, m.head_dim(), m.ffn_hidden, m.vocabulary, m.window,
      m.mtp_layers, m.attention_gate, m.dropout, m.biases, m.tied_embeddings,
      static_cast<int>(m.activation), static_cast<int>(m.normalisation), m.moe.experts,
      m.moe.per_token, m.moe.groups, m.moe.groups_per_token, m.moe.ffn_hidden, m.moe.shared_ffn,
      m.moe.latent_width, m.moe.dense_layers, m.latent.query_rank, m.latent.kv_rank,
      m.latent.rotary_width, m.latent.value_width, m.sparse.heads, m.sparse.width, m.sparse.top_k,
      m.pattern, static_cast<int>(m.mamba.kind), m.mamba.state, m.mamba.head_width, m.mamba.groups,
      m.mamba.heads);
}

// Whether Megatron-LM has no letters for the model's pattern, or none for these positions.
bool is_beyond_arguments(const TransformerSpec& model) {
  const bool other_scan =
      model.mamba.kind == ScanKind::kimi_delta || model.mamba.kind == ScanKind::lightning;
  const bool letters = model.pattern.find_first_of("DdS") != std::string::npos;
  const bool alternating = model.mamba.state == 0 && !model.pattern.empty();
  return other_scan || letters || alternating;
}

TEST(MegatronArguments, EveryModelThatIsWrittenIsReadAsTheSame) {
  int beyond = 0;
  for (const TransformerSpec& model : library_models()) {
    if (is_beyond_arguments(model)) {
      // Megatron-LM has no arguments for encoder and decoder, so that such models are not counted.
      beyond += model.source_tokens > 0 ? 0 : 1;
      continue;
    }
    std::vector<Setting> settings;
    for (const auto& [name, value] : megatron_settings_of(model)) {
      settings.push_back({name, value, Location{"model"}});
    }
    EXPECT_EQ(said_of(model_of_megatron_settings(settings, "model")), said_of(model)) << model.name;
  }
  EXPECT_LT(beyond, 10);
}

}  // namespace
}  // namespace windtunnel
