#include "models/cost/inference/engine_speed.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/workload/stage_parameters.hpp"
#include "tests/models/cost/cost_fixtures.hpp"
#include "tests/support/error_of.hpp"

namespace windtunnel {
namespace {

using testing::HasSubstr;

TransformerSpec grouped_model() {
  TransformerSpec model;
  model.name = "grouped";
  model.layers = 32;
  model.hidden = 4096;
  model.heads = 32;
  model.kv_heads = 8;
  model.ffn_hidden = 14336;
  model.vocabulary = 128256;
  model.sequence = 8192;
  model.activation = Activation::swiglu;
  model.normalisation = Normalisation::rms_norm;
  model.position = PositionEncoding::rotary;
  model.biases = false;
  model.tied_embeddings = false;
  return model;
}

Job learner_of(const TransformerSpec& model) {
  Job job;
  job.model = model;
  job.cluster = test_cluster(2);
  job.calibration = test_calibration();
  return job;
}

TEST(EngineSpeed, KeysAndValuesByHand) {
  const TransformerSpec model = grouped_model();
  EXPECT_EQ(cache_bytes_per_token(model, 1, 2), 2 * 2 * 32 * 8 * 128);
  EXPECT_EQ(cache_bytes_per_token(model, 4, 2), 2 * 2 * 32 * 2 * 128);
  // With more GPUs than key heads, each GPU still has one.
  EXPECT_EQ(cache_bytes_per_token(model, 16, 2), 2 * 2 * 32 * 1 * 128);
  TransformerSpec latent = model;
  latent.latent = {.query_rank = 1536, .kv_rank = 512, .rotary_width = 64, .value_width = 128};
  EXPECT_EQ(cache_bytes_per_token(latent, 1, 2), 2 * 32 * (512 + 64));
  EXPECT_EQ(cache_bytes_per_token(latent, 8, 2), 2 * 32 * (512 + 64));
}

// Each of 24 Mamba layers has 128 heads of 64 numbers with 128 states each, and B and C of 8
// groups: per layer 4 B x 2^20 of states, and 2 B x 3 x 10,240 of the convolution.
TEST(EngineSpeed, StatesOfMambaLayersTakeRoomBesideKeysAndValues) {
  TransformerSpec model = grouped_model();
  EXPECT_EQ(state_bytes_per_sequence(model, 1, 2), 0);
  const double without = engine_speed(learner_of(model), {.tp = 1}, 4096).capacity;
  model.mamba = {.state = 128, .head_width = 64, .groups = 8, .heads = 128};
  model.pattern = "MMM*";
  const double by_hand = 24.0 * (4 * 128 * 64 * 128 + 2 * 3 * (128 * 64 + 2 * 8 * 128));
  EXPECT_EQ(state_bytes_per_sequence(model, 1, 2), by_hand);
  EXPECT_EQ(state_bytes_per_sequence(model, 4, 2), by_hand / 4);
  EXPECT_GT(without, 0);
  EXPECT_THROW(engine_speed(learner_of(model), {.tp = 1, .most_sequences = 4096}, 4096), Error);
  // Without attention a sequence's state does not grow, so that either all sequences fit or none.
  model.pattern = "M";
  const EngineSpeed speed = engine_speed(learner_of(model), {.tp = 1, .most_sequences = 8}, 4096);
  EXPECT_EQ(speed.capacity, 8 * 4096);
}

TEST(EngineSpeed, AStepReadsTheWeightsAndTheCache) {
  const Job learner = learner_of(grouped_model());
  const EngineSpeed speed = engine_speed(learner, {.tp = 1}, 4096);
  const double rate = 3e12 * 0.9;
  const double matrices =
      32 * (learner.model.attention_parameters() + learner.model.mlp_parameters()) +
      128256.0 * 4096;
  EXPECT_GT(speed.base_s[1], 2 * matrices / rate);
  // At most the launches and half-rate bytes of some twenty kernels per layer come on top.
  EXPECT_LT(speed.base_s[1], 2 * matrices / rate + 33 * 20 * (2e-6 + 4e6 / rate));
  EXPECT_NEAR(speed.context_s, 2.0 * 2 * 32 * 8 * 128 / rate, 1e-6 * speed.context_s);
  // While memory bounds a step, more sequences hardly lengthen it; a large batch does.
  EXPECT_LT(speed.base_s[16], 1.2 * speed.base_s[1]);
  for (int b = 1; b < speed.most_sequences(); ++b) {
    ASSERT_GE(speed.base_s[b + 1], speed.base_s[b]) << b;
  }
  const double room = 0.9 * 0.989 * 80 * 1024.0 * 1024 * 1024;
  EXPECT_LT(speed.capacity, room / (2 * 2 * 32 * 8 * 128));
  EXPECT_GT(speed.capacity, 0.6 * room / (2 * 2 * 32 * 8 * 128));
}

TEST(EngineSpeed, PromptsGoThroughAtTheRateOfCompute) {
  const Job learner = learner_of(grouped_model());
  const EngineSpeed speed = engine_speed(learner, {.tp = 1}, 4096);
  const double flops =
      2 * 32 * (learner.model.attention_parameters() + learner.model.mlp_parameters());
  EXPECT_GT(speed.prompt_token_s, flops / 1000e12);
  EXPECT_LT(speed.prompt_token_s, 3 * flops / 1000e12);
  EXPECT_GT(speed.prompt_square_s, 0);
  // Causal attention of a chunk of 8,192 tokens is half of the square, and takes at most three
  // times as long as at the GPU's peak.
  const double attention = 2 * 32 * 32 * 128 * 2 / 2.0;
  EXPECT_GT(speed.prompt_square_s, attention / 1000e12);
  EXPECT_LT(speed.prompt_square_s, 3 * attention / 1000e12);
}

TEST(EngineSpeed, MoreGpusAreFasterAndHoldMore) {
  Job learner = learner_of(grouped_model());
  // The model is so small that eight GPUs wait longer for all-reduces than they save.
  EXPECT_GT(engine_speed(learner, {.tp = 8}, 4096).base_s[1],
            engine_speed(learner, {.tp = 4}, 4096).base_s[1]);
  learner.calibration.collective_launch_s = parameter(0);
  learner.calibration.nvlink_latency_s = parameter(0);
  EngineSpeed before = engine_speed(learner, {.tp = 1}, 4096);
  for (const int tp : {2, 4, 8}) {
    const EngineSpeed speed = engine_speed(learner, {.tp = tp}, 4096);
    EXPECT_LT(speed.base_s[1], before.base_s[1]) << tp;
    EXPECT_GT(speed.capacity, 1.9 * before.capacity) << tp;
    EXPECT_GT(speed.base_s[1], before.base_s[1] / 2) << tp;  // launches, and bytes of all-reduces
    before = speed;
  }
}

// A few tokens visit few of the 64 experts, and only those experts' weights are read.
TEST(EngineSpeed, ExpertsThatNobodyVisitsAreNotRead) {
  TransformerSpec model = grouped_model();
  model.hidden = 2048;
  model.ffn_hidden = 6144;
  model.moe.experts = 64;
  model.moe.per_token = 2;
  model.moe.ffn_hidden = 1024;
  const Job learner = learner_of(model);
  const EngineSpeed speed = engine_speed(learner, {.tp = 1}, 4096);
  const double rate = 3e12 * 0.9;
  const double expert_s = 2 * 32 * model.expert_parameters() / rate;
  EXPECT_LT(speed.base_s[1], 2 * (model.parameters() - 32 * 60 * model.expert_parameters()) / rate +
                                 33 * 40 * (2e-6 + 4e6 / rate));
  EXPECT_GT(speed.base_s[256] - speed.base_s[1], 55 * expert_s);
}

// The host starts as many kernels for 64 small experts as for 16. With a kernel for each expert it
// would start at least 48 more in each of 32 layers.
TEST(EngineSpeed, ExpertsOfALayerAreOneKernel) {
  constexpr double kKernel_s = 1e-3;
  const auto step_s = [](int experts) {
    TransformerSpec model = grouped_model();
    model.moe = {.experts = experts, .per_token = 2, .ffn_hidden = 64};
    Job job = learner_of(model);
    job.calibration.host_launch_s = parameter(10 * kKernel_s);
    job.calibration.host_kernel_s = parameter(kKernel_s);
    return engine_speed(job, {.tp = 1, .cuda_graphs = false}, 4096).base_s[256];
  };
  EXPECT_LT(step_s(64) - step_s(16), 0.02 * 48 * 32 * kKernel_s);
}

TEST(EngineSpeed, WithoutRoomItSaysWhat) {
  const Job learner = learner_of(grouped_model());
  const std::string fault =
      error_of([&] { engine_speed(learner, {.tp = 1, .memory_share = 0.2}, 4096); });
  EXPECT_THAT(fault, HasSubstr("memory for keys and values of 0 tokens"));
  EXPECT_THAT(error_of([&] { engine_speed(learner, {.tp = 1}, 4096, 60e9); }),
              HasSubstr("the learner's state 55.9 GiB"));
}

// The share of memory that the error names suffices, and one that is 0.1 % smaller does not.
TEST(EngineSpeed, TheMemoryThatItNamesIsEnough) {
  const Job learner = learner_of(grouped_model());
  const auto fault = [&](double share, double longest) {
    return error_of([&] { engine_speed(learner, {.tp = 1, .memory_share = share}, longest); });
  };
  for (const double longest : {512.0, 4096.0, 30000.0}) {
    const std::string text = fault(0.2, longest);
    const std::string key = "set rollout.engine.memory: ";
    const std::size_t at = text.find(key);
    ASSERT_NE(at, std::string::npos) << text;
    const double share = std::stod(text.substr(at + key.size()));
    EXPECT_EQ(fault(share, longest), "no error") << text;
    EXPECT_NE(fault(share - 2e-3, longest), "no error") << text;
  }
  EXPECT_THAT(fault(0.9, 1e9), HasSubstr(") is not enough"));
}

TEST(EngineSpeed, StepsAddUpInClosedForm) {
  const EngineSpeed speed{.base_s = {0, 1, 1.5, 2}, .context_s = 0.01, .capacity = 1e6};
  double sum = 0;
  double context = 70;
  for (int i = 0; i < 25; ++i) {
    sum += speed.decode_s(1, 3, context);
    context += 3;
  }
  EXPECT_NEAR(speed.decode_s(25, 3, 70), sum, 1e-12 * sum);
  EXPECT_EQ(speed.decode_s(1, 2, 100), 1.5 + 1);
}

// Adapters that engines do not merge add products to every step. 4-bit weights leave more memory
// for keys and values.
TEST(EngineSpeed, AdaptersStandBesideTheirBase) {
  Job job = learner_of(grouped_model());
  const EngineSpeed merged = engine_speed(job, {.tp = 1}, 4096);
  Training training;
  const auto with = [&](AdapterKind kind) {
    training.adapter = {.kind = kind, .rank = 16};
    job.training = std::make_shared<const Training>(training);
    return engine_speed(job, {.tp = 1}, 4096);
  };
  const EngineSpeed lora = with(AdapterKind::lora);
  EXPECT_GT(lora.base_s[1], merged.base_s[1]);
  EXPECT_EQ(lora.context_s, merged.context_s);
  const ParameterCounts counts = parameter_counts(job.model, job.training.get());
  const double of_token = cache_bytes_per_token(job.model, 1, 2);
  EXPECT_NEAR(merged.capacity - lora.capacity, 2 * counts.trained / of_token, 1);
  const double matrices =
      job.model.layers * (job.model.attention_parameters() + job.model.mlp_parameters());
  EXPECT_EQ(with(AdapterKind::dora).base_s[1], merged.base_s[1]);  // merged
  EXPECT_EQ(changed_weight_bytes(job), engine_weight_bytes(job));
  EXPECT_NEAR(with(AdapterKind::qlora).capacity - lora.capacity,
              (2 - kNf4Bytes) * matrices / of_token, 1);
}

// Weights in fp8 take half of the memory and half of the time to read. Embedding, head, keys and
// values stay in 16 bit. The learner's precision does not matter.
TEST(EngineSpeed, WeightsAreKeptInTheEnginesPrecision) {
  Job job = learner_of(grouped_model());
  job.cluster.node.gpu.fp8_flops = parameter(2 * job.cluster.node.gpu.bf16_flops.value);
  const EngineSpeed usual = engine_speed(job, {.tp = 1}, 4096);
  const EngineSpeed fp8 = engine_speed(job, {.tp = 1, .precision = Precision::fp8}, 4096);
  const double of_token = cache_bytes_per_token(job.model, 1, 2);
  const double layers = job.model.layers * job.model.layer_parameters(job.model.block_of(0));
  EXPECT_NEAR(fp8.capacity - usual.capacity, layers / of_token, 1);
  EXPECT_LT(fp8.base_s[1], usual.base_s[1]);
  EXPECT_GT(fp8.base_s[1], usual.base_s[1] / 2);
  EXPECT_EQ(fp8.context_s, usual.context_s);
  job.precision = Precision::fp8;
  EXPECT_EQ(engine_speed(job, {.tp = 1}, 4096).base_s, usual.base_s);
}

// Kernels of few rows end before the host has launched the next ones; those of prompts do not.
TEST(EngineSpeed, TheHostStartsKernelsOutsideOfGraphs) {
  Job job = learner_of(grouped_model());
  job.calibration.host_launch_s = parameter(100e-6);
  const EngineSpeed graphs = engine_speed(job, {.tp = 1}, 4096);
  const EngineSpeed eager = engine_speed(job, {.tp = 1, .cuda_graphs = false}, 4096);
  EXPECT_GT(eager.base_s[1], graphs.base_s[1] + job.model.layers * 20e-6);
  EXPECT_NEAR(eager.prompt_token_s, graphs.prompt_token_s, 1e-3 * graphs.prompt_token_s);
}

// The learner's training method does not matter to an engine, which runs the adapters forward once.
TEST(EngineSpeed, AdaptersAreServedAloneHoweverTheyAreTrained) {
  Job job = learner_of(grouped_model());
  Training training{.adapter = {.kind = AdapterKind::lora, .rank = 16}};
  training.frozen_layers = std::vector<bool>(job.model.layers, false);
  training.frozen_layers[0] = true;
  const auto step_s = [&] {
    job.training = std::make_shared<const Training>(training);
    return engine_speed(job, {.tp = 1}, 4096).base_s;
  };
  const std::vector<double> plain_s = step_s();
  training.adapter.dropout = true;
  EXPECT_EQ(step_s(), plain_s);
  training.method = TrainingMethod::zeroth_order;
  EXPECT_EQ(step_s(), plain_s);
  training.frozen_layers[0] = false;
  EXPECT_GT(step_s()[1], plain_s[1]);  // one more layer has adapters
}

}  // namespace
}  // namespace windtunnel
