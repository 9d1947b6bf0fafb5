#include "policies/exchange/gradient_tensors.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "models/workload/layer_table.hpp"
#include "models/workload/training.hpp"
#include "scenarios/language/case.hpp"
#include "tests/support/small_job.hpp"
#include "tests/support/towers.hpp"

namespace windtunnel {
namespace {

Job tensors_job(const std::string& model) {
  return parse_case(fmt::format("name: tensors\nmodel: {}\ncluster: {{nodes: 1, node: dgx-v100}}\n"
                                "batch: {{global: 8}}\nprecision: fp16\n",
                                model),
                    "tensors.yaml", {})
      .job;
}

std::vector<StageTensor> tensors_of(const Job& job) {
  return stage_tensors(job, 0, 0, job.model.layers, chunk_costs(job).front());
}

double sum(const std::vector<StageTensor>& tensors, double StageTensor::*member) {
  double total = 0;
  for (const StageTensor& tensor : tensors) total += tensor.*member;
  return total;
}

// Expected is len(list(model.parameters())) of torchvision's models and of Hugging Face's
// BertForPreTraining.
TEST(StageTensors, AreAsManyAsTheFrameworkHas) {
  const std::pair<const char*, std::size_t> models[] = {
      {"resnet-20", 65},   {"resnet-18-cifar", 62}, {"resnet-50", 161},    {"resnet-101", 314},
      {"resnet-152", 467}, {"resnext-50", 161},     {"resnext-101", 314},  {"vgg-16", 32},
      {"alexnet", 16},     {"vgg-16-cifar", 54},    {"densenet-201", 604}, {"googlenet", 173},
      {"bert-base", 206},  {"bert-large", 398}};
  for (const auto& [name, count] : models) {
    EXPECT_EQ(tensors_of(tensors_job(name)).size(), count) << name;
  }
}

TEST(StageTensors, OfANetworkHaveItsShapesFromTheLastLayerOn) {
  const std::vector<StageTensor> tensors = tensors_of(tensors_job("resnet-50"));
  EXPECT_EQ(tensors[0].shape.rows, 0);  // the bias of the last layer
  EXPECT_EQ(tensors[0].parameters, 1000);
  EXPECT_EQ(tensors[1].shape.rows, 1000);
  EXPECT_EQ(tensors[1].shape.columns, 2048);
  EXPECT_EQ(tensors[2].parameters, 2048);  // the norm before the pool
  // PowerSGD reshapes a convolution to outputs by inputs x pixels of its window.
  EXPECT_EQ(tensors.back().shape.rows, 64);
  EXPECT_EQ(tensors.back().shape.columns, 3 * 49);
  EXPECT_DOUBLE_EQ(sum(tensors, &StageTensor::parameters), 25557032);
}

// A tower's gradients are complete after the embedding's: first its projector, then its layers,
// numbered after the decoder's eight, then the embedding of patches. Its matrices process 64
// patches for 1024 tokens of a sequence.
TEST(StageTensors, OfATowerFollowTheEmbedding) {
  const Job job = job_with_tower(small_job(1, 1, 1));
  const std::vector<StageTensor> tensors = tensors_of(job);
  EXPECT_NEAR(sum(tensors, &StageTensor::parameters), job.model.parameters(), 1);
  const auto first_of = [&](int layer) {
    return std::ranges::find(tensors, layer, &StageTensor::layer);
  };
  const auto embedding = std::ranges::find(tensors, 32768, [](const StageTensor& tensor) {
    return static_cast<int>(tensor.shape.rows);
  });
  ASSERT_NE(embedding, tensors.end());
  EXPECT_EQ((embedding + 1)->shape.rows, 1024);  // the projector's last matrix
  EXPECT_EQ((embedding + 1)->shape.columns, 512);
  EXPECT_LT(embedding, first_of(9));
  EXPECT_LT(first_of(9), first_of(8));
  EXPECT_EQ(tensors.back().shape.rows, 256);
  EXPECT_EQ(tensors.back().shape.columns, 48 + 64);
  // The bias of the MLP's second matrix comes first, and its work is that of both.
  EXPECT_NEAR(first_of(9)->work / first_of(7)->work, 64.0 / 1024 / 16, 1e-9);
  Training training;
  training.frozen_projector = false;
  Job frozen = job;
  frozen.training = std::make_shared<const Training>(training);
  EXPECT_EQ(tensors_of(frozen).size(), tensors.size() - 2 * 12 - 1);
}

std::vector<StageTensor>::const_iterator first_of(const std::vector<StageTensor>& tensors,
                                                  int layer) {
  return std::ranges::find(tensors, layer, &StageTensor::layer);
}

// In the backward pass the work of frozen parts is added to the next trained part.
TEST(StageTensors, OfATowerTakeTheWorkOfFrozenPartsBeforeThem) {
  const auto tensors_with = [](const Training& training) {
    Job job = job_with_tower(small_job(1, 1, 1));
    job.training = std::make_shared<const Training>(training);
    return tensors_of(job);
  };
  const auto projector = tensors_with({.frozen_projector = false,
                                       .frozen_embedding = true,
                                       .frozen_head = true,
                                       .frozen_layers = std::vector<bool>(8, true)});
  ASSERT_EQ(projector.size(), 2U);
  EXPECT_GT(projector[0].work, 0.99);  // the decoder's work and its own
  const auto tower = tensors_with({.frozen_tower = false, .frozen_projector = true});
  const double matrix = 256.0 * 1024 * 64 / 1024;
  const double half = (512.0 * 1024 + 256 * 512) * 16 / 1024 / 2;
  EXPECT_NEAR(first_of(tower, 9)->work / first_of(tower, 7)->work,
              (matrix + half) / (1024.0 * 4096), 1e-9);
  // Steps without a backward pass train all parts.
  const auto zeroth = tensors_with(
      {.method = TrainingMethod::zeroth_order, .frozen_tower = false, .frozen_projector = false});
  EXPECT_EQ(zeroth.size(), tensors_of(job_with_tower(small_job(1, 1, 1))).size());
}

// Each tp rank runs the whole projector, and whole layers if they have fewer heads than there are
// ranks.
TEST(StageTensors, OfATowerHaveTheWorkOfARank) {
  for (const int tp : {1, 2, 8}) {
    const auto tensors = tensors_of(job_with_tower(small_job(tp, 1, 1)));
    const auto layer = first_of(tensors, 9);
    const double decoder = first_of(tensors, 7)->work;
    EXPECT_NEAR((layer - 2)->work / decoder, tp * 512 * 1024 / 64 / (1024.0 * 4096), 1e-9) << tp;
    EXPECT_NEAR(layer->work / decoder, (tp == 8 ? 8 : 1) / 256.0, 1e-9) << tp;
  }
}

TEST(StageTensors, CarryAllWorkAndTheirShapesAllParameters) {
  for (const char* name : {"resnet-50", "vgg-16", "densenet-201", "bert-large", "llama3-8b",
                           "deepseek-v3", "qwen3-30b-a3b", "gpt-oss-120b", "bloom-176b"}) {
    const std::vector<StageTensor> tensors = tensors_of(tensors_job(name));
    EXPECT_NEAR(sum(tensors, &StageTensor::work), 1, 1e-9) << name;
    EXPECT_NEAR(sum(tensors, &StageTensor::forward_work), 1, 1e-9) << name;
    for (const StageTensor& tensor : tensors) {
      EXPECT_GT(tensor.parameters, 0) << name;
      EXPECT_DOUBLE_EQ(tensor.shape.elements(), tensor.parameters) << name;
    }
  }
}

// The sizes that follow from the model's dimensions add up to the chunk's parameters, so that
// nothing has to be scaled.
TEST(StageTensors, MatchTheChunkWhateverTheLayout) {
  for (const int moe : {0, 8}) {
    for (const int pp : {1, 2, 4}) {
      for (const int tp : {1, 2, 4}) {
        Job job = small_job(tp, pp, 8 / tp);
        if (moe > 0) {
          job.model.moe = {.experts = moe, .per_token = 2, .ffn_hidden = 2048, .shared_ffn = 512};
          job.layout.ep = 2;
          job.layout.sequence_parallel = tp > 1;
        }
        job.model.activation = moe > 0 ? Activation::swiglu : Activation::gelu;
        job.model.biases = pp != 2;
        job.model.tied_embeddings = tp != 2;
        job.model.modulation = pp == 4 ? 6 : 0;
        const std::vector<ChunkCost> chunks = chunk_costs(job);
        const int layers = job.model.layers / pp;
        for (int stage = 0; stage < pp; ++stage) {
          const auto tensors = stage_tensors(job, stage, stage * layers, layers, chunks[stage]);
          EXPECT_NEAR(sum(tensors, &StageTensor::parameters), chunks[stage].parameters, 1e-3);
          for (const StageTensor& tensor : tensors) {
            EXPECT_EQ(tensor.shape.columns, std::round(tensor.shape.columns)) << tp << " " << pp;
          }
        }
      }
    }
  }
}

TEST(StageTensors, OfAPatternMatchTheChunk) {
  for (const int tp : {1, 2}) {
    Job job = small_job(tp, 2, 8 / tp);
    job.model.moe = {
        .experts = 8, .per_token = 2, .ffn_hidden = 2048, .shared_ffn = 512, .latent_width = 256};
    job.model.pattern = "M-ME*EDdSM";
    job.model.layers = 10;
    job.model.mamba = {.state = 64, .head_width = 64, .groups = 4, .heads = 32};
    job.model.modulation = 6;
    job.model.text_tokens = job.batch.sequence / 4;
    job.model.conditioning = 4096;
    job.layout.ep = 2;
    job.layout.sequence_parallel = tp > 1;
    const std::vector<ChunkCost> chunks = chunk_costs(job);
    double parameters = 0;
    for (int stage = 0; stage < 2; ++stage) {
      const auto tensors = stage_tensors(job, stage, stage * 5, 5, chunks[stage]);
      EXPECT_NEAR(sum(tensors, &StageTensor::parameters), chunks[stage].parameters, 1e-3);
      for (const StageTensor& tensor : tensors) {
        EXPECT_EQ(tensor.shape.columns, std::round(tensor.shape.columns)) << tp;
      }
      parameters += chunks[stage].parameters;
    }
    EXPECT_GT(parameters, job.model.parameters() / 8);
  }
}

TEST(StageTensors, OfEveryMixerGateAndModuleMatchTheChunk) {
  for (const ScanKind kind : {ScanKind::gated_delta, ScanKind::kimi_delta, ScanKind::lightning}) {
    for (const int tp : {1, 2}) {
      Job job = small_job(tp, 2, 8 / tp);
      job.model.biases = job.model.tied_embeddings = false;
      job.model.moe = {.experts = 8, .per_token = 2, .ffn_hidden = 2048, .shared_ffn = 512};
      job.model.pattern = "LRTXLMRX";
      job.model.layers = 8;
      job.model.mamba = {.kind = kind, .state = 64, .head_width = 64, .groups = 16, .heads = 16};
      job.model.attention_gate = true;
      job.model.mtp_layers = 2;
      job.layout.ep = 2;
      const std::vector<ChunkCost> chunks = chunk_costs(job);
      for (int stage = 0; stage < 2; ++stage) {
        const auto tensors =
            stage_tensors(job, stage, stage * 4, stage == 0 ? 4 : 6, chunks[stage]);
        EXPECT_NEAR(sum(tensors, &StageTensor::parameters), chunks[stage].parameters, 1e-3);
        for (const StageTensor& tensor : tensors) {
          EXPECT_EQ(tensor.shape.columns, std::round(tensor.shape.columns)) << tp;
        }
      }
    }
  }
}

TEST(StageTensors, OfAnIndexerMatchTheChunk) {
  Job job = small_job(2, 1, 4);
  job.model.biases = false;
  job.model.head_width = 64;
  job.model.latent = {.query_rank = 256, .kv_rank = 128, .rotary_width = 32, .value_width = 64};
  job.model.sparse = {.heads = 4, .width = 64, .top_k = 256};
  const std::vector<ChunkCost> chunks = chunk_costs(job);
  const auto tensors = stage_tensors(job, 0, 0, job.model.layers, chunks[0]);
  EXPECT_NEAR(sum(tensors, &StageTensor::parameters), chunks[0].parameters, 1e-3);
  for (const StageTensor& tensor : tensors) {
    EXPECT_EQ(tensor.shape.columns, std::round(tensor.shape.columns));
  }
}

TEST(StageTensors, SeparateProjectionsAreMoreTensorsOfTheSameParameters) {
  Job job = small_job(1, 1, 2);
  const auto fused = tensors_of(job);
  job.model.separate_projections = true;
  const auto separate = tensors_of(job);
  EXPECT_EQ(separate.size(), fused.size() + 4 * job.model.layers);  // two matrices, two biases
  EXPECT_DOUBLE_EQ(sum(separate, &StageTensor::parameters), sum(fused, &StageTensor::parameters));
  EXPECT_NEAR(sum(separate, &StageTensor::work), 1, 1e-12);
}

// VGG-16 has 90 % of its weights in three linear layers, which take hardly any of its time.
TEST(StageTensors, WorkFollowsTheKernelsAndNotTheWeights) {
  Job job = tensors_job("vgg-16");
  job.batch = {512, 64, 1};  // with batches of one, reading weights dominates
  const std::vector<StageTensor> tensors = tensors_of(job);
  double parameters = 0;
  double work = 0;
  for (int i = 0; i < 6; ++i) {
    parameters += tensors[i].parameters;
    work += tensors[i].work;
  }
  EXPECT_GT(parameters, 0.89 * 138357544);
  EXPECT_LT(work, 0.1);
}

}  // namespace
}  // namespace windtunnel
