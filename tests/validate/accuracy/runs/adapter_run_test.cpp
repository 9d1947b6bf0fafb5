#include <gtest/gtest.h>

#include "models/base/error.hpp"
#include "scenarios/language/library/library.hpp"
#include "validate/accuracy/runs/run_source.hpp"

namespace windtunnel {
namespace {

TrainingRun run_of(const char* source, const char* model, const char* note) {
  TrainingRun run;
  run.source = source;
  run.model = model;
  run.note = note;
  return run;
}

std::shared_ptr<const Training> trained(const TrainingRun& run, const char* model = "llama2-7b") {
  std::vector<std::string> assumed;
  Job job;
  job.model = find_model(model);
  train_adapters(run, source_of(run).adapter, job, assumed);
  return job.training;
}

TEST(AdapterRun, AllParametersWhereNothingIsSaid) {
  EXPECT_EQ(trained(run_of("a paper", "Llama 2 7B", "")), nullptr);
  // A note about other rows of the table does not apply to this one.
  EXPECT_EQ(trained(run_of("a", "Llama 3.2 3B", "baseline; LoRA/QLoRA steps drop it")), nullptr);
}

// 4,194,304 parameters are 32 layers of 2 x 8 x (4096 + 4096), for queries and values.
TEST(AdapterRun, RankAndMatricesFromTheTrainedParameters) {
  const auto lora = trained(run_of("LitGPT", "Llama 2 7 B LoRA", "trainable parameters 4,194,304"));
  ASSERT_NE(lora, nullptr);
  EXPECT_EQ(lora->adapter.kind, AdapterKind::lora);
  EXPECT_EQ(lora->adapter.rank, 8);
  EXPECT_TRUE(lora->adapter.queries && lora->adapter.values);
  EXPECT_FALSE(lora->adapter.keys || lora->adapter.projection || lora->adapter.up);
  EXPECT_THROW(trained(run_of("LitGPT", "Llama 2 7 B LoRA", "trainable parameters 5")), Error);
}

TEST(AdapterRun, StatedRanksAndKinds) {
  const auto mlperf = trained(run_of("MLPerf", "Llama 2 70B LoRA (rank 16)", ""), "llama2-70b");
  EXPECT_EQ(mlperf->adapter.rank, 16);
  EXPECT_TRUE(mlperf->adapter.projection);
  EXPECT_FALSE(mlperf->adapter.up);
  EXPECT_EQ(trained(run_of("a", "Llama 2 7B QLoRA", ""))->adapter.kind, AdapterKind::qlora);
  TrainingRun quantised = run_of("a", "Llama 2 7B LoRA", "");
  quantised.precision = "bf16, base weights bnb.nf4";
  EXPECT_EQ(trained(quantised)->adapter.kind, AdapterKind::qlora);
}

TEST(AdapterRun, PromptsOfLayersAreRefused) {
  EXPECT_THROW(trained(run_of("LitGPT", "Llama 2 7 B Adapter", "Adapter")), Error);
}

}  // namespace
}  // namespace windtunnel
