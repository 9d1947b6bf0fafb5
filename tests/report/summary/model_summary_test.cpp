#include <gtest/gtest.h>

#include <memory>

#include "models/base/units.hpp"
#include "report/summary/summary.hpp"
#include "scenarios/language/library/library.hpp"
#include "tests/report/summary/section_row.hpp"

namespace windtunnel {
namespace {

SummarySection section_of(const char* model) {
  Job job;
  job.model = find_model(model);
  job.batch.sequence = 4096;
  return model_section(job);
}

TEST(ModelSummary, OfADenseModel) {
  const SummarySection section = section_of("llama3-70b");
  EXPECT_EQ(section.title, "Model llama3-70b");
  EXPECT_EQ(row(section, "shape"),
            "80 layers, hidden 8,192, 64 heads of 128 (8 of keys and values), feed-forward 28,672, "
            "vocabulary 128,256, sequence 4,096");
  EXPECT_EQ(row(section, "forms"),
            "swiglu, rms-norm, rotary positions, flash attention, biases no, tied embeddings no");
  EXPECT_EQ(row(section, "parameters"), format_count(70553706496.0));
}

TEST(ModelSummary, OfExpertsLatentsAndWindows) {
  const SummarySection experts = section_of("deepseek-v3");
  EXPECT_EQ(
      row(experts, "shape"),
      "61 layers, hidden 7,168, 128 heads of 128 with latents of 512 for keys and values, 256 "
      "experts of 2,048, 8 a token, shared ones of 2,048; 3 dense layers of 18,432, "
      "vocabulary 129,280, sequence 4,096");
  EXPECT_EQ(row(experts, "parameters"),
            format_count(find_model("deepseek-v3").parameters()) + ", " +
                format_count(find_model("deepseek-v3").active_parameters()) +
                " of them active per token");
  EXPECT_NE(row(section_of("gemma3-27b"), "forms")
                .find("flash attention, windows of 1,024 except in one layer of 6"),
            std::string::npos);
  EXPECT_NE(row(section_of("vit-h-14"), "forms").find("flash attention without a mask"),
            std::string::npos);
}

TEST(ModelSummary, OfATableOfLayers) {
  Job job;
  for (const LayerTable& network : library_networks()) {
    if (network.name == "resnet-50") job.network = std::make_shared<const LayerTable>(network);
  }
  ASSERT_NE(job.network, nullptr);
  EXPECT_EQ(row(model_section(job), "parameters"), format_count(job.network->parameters()));
}

}  // namespace
}  // namespace windtunnel
