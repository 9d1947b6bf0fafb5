#include "models/workload/training.hpp"

#include <gtest/gtest.h>

namespace windtunnel {
namespace {

constexpr int kLayers = 4;

PartTraining at(const Training& training, int part) {
  return part_training(&training, part, kLayers);
}

TEST(Training, AllIsTrainedWhereNothingIsSaid) {
  for (int part = kEmbeddingPart; part <= head_part(kLayers); ++part) {
    EXPECT_EQ(part_training(nullptr, part, kLayers), PartTraining{});
  }
  EXPECT_EQ(part_training(nullptr), PartTraining{});
  EXPECT_EQ(first_trained_part(nullptr, kLayers), kEmbeddingPart);
}

// Gradients pass through frozen parts above the first trained one, and stop there.
TEST(Training, NoBackwardPassBelowTheFirstTrainedPart) {
  Training training{.frozen_embedding = true, .frozen_layers = {true, true, false, true}};
  EXPECT_EQ(first_trained_part(&training, kLayers), 2);
  EXPECT_EQ(at(training, kEmbeddingPart), (PartTraining{false, false, false}));
  EXPECT_EQ(at(training, 1), (PartTraining{false, false, false}));
  EXPECT_EQ(at(training, 2), (PartTraining{true, false, true}));
  EXPECT_EQ(at(training, 3), (PartTraining{false, false, true}));
  EXPECT_EQ(at(training, head_part(kLayers)), (PartTraining{true, false, true}));
}

// With adapters all weights are frozen, and a frozen layer has no adapters.
TEST(Training, AdaptersAreTrainedAlone) {
  Training training{.frozen_layers = {true}, .adapter = {.kind = AdapterKind::lora, .rank = 8}};
  EXPECT_EQ(first_trained_part(&training, kLayers), 1);
  EXPECT_EQ(at(training, 0), (PartTraining{false, false, false}));
  EXPECT_EQ(at(training, 1), (PartTraining{false, true, true}));
  EXPECT_EQ(at(training, head_part(kLayers)), (PartTraining{false, false, true}));
}

TEST(Training, ZerothOrderStepsHaveNoBackwardPass) {
  Training training{.method = TrainingMethod::zeroth_order};
  for (int part = kEmbeddingPart; part <= head_part(kLayers); ++part) {
    EXPECT_EQ(at(training, part), (PartTraining{true, false, false}));
  }
}

TEST(Training, NothingTrainedIsBeyondTheHead) {
  Training training{.frozen_embedding = true,
                    .frozen_head = true,
                    .frozen_layers = std::vector<bool>(kLayers, true)};
  EXPECT_GT(first_trained_part(&training, kLayers), head_part(kLayers));
}

// QLoRA, section 3, states 0.127 bits of scales per parameter.
TEST(Training, DoubleQuantisation) {
  EXPECT_NEAR(8 * kNf4Bytes, 4.127, 1e-3);
}

}  // namespace
}  // namespace windtunnel
