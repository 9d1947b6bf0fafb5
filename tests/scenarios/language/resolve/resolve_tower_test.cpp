// Keys of a tower, their checks, and refusals of jobs with a tower.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "models/cost/chunk/step_work.hpp"
#include "models/workload/tower.hpp"
#include "models/workload/training.hpp"
#include "scenarios/language/case.hpp"
#include "tests/support/error_of.hpp"

namespace windtunnel {
namespace {

using testing::HasSubstr;

constexpr const char* kTower = "{layers: 2, hidden: 256, heads: 4, patches: 64}";

Case towered(const std::string& tower, const std::string& rest = {}) {
  return parse_case(
      fmt::format("name: a\nmodel: {{layers: 4, hidden: 512, heads: 8, vocabulary: 32000, "
                  "sequence: 1024, tied_embeddings: false, tower: {}}}\n"
                  "cluster: {{nodes: 1, node: dgx-h100}}\nbatch: {{global: 64}}\n{}\n",
                  tower, rest),
      "a.yaml");
}

std::string fault(const std::string& tower, const std::string& rest = {}) {
  return error_of([&] { towered(tower, rest); });
}

TEST(ResolveTower, CompletesWhatIsLeftOut) {
  const Tower tower = *towered(kTower).job.model.tower;
  EXPECT_EQ(tower.sources, 1);
  EXPECT_EQ(tower.tokens, 64);
  EXPECT_EQ(tower.layers.ffn_hidden, 1024);
  EXPECT_EQ(tower.projector, (std::vector<double>{256, 512}));
  EXPECT_FALSE(tower.layers.masked());
  const Tower all = *towered(
                         "{layers: 2, hidden: 256, heads: 4, ffn: 640, patches: 64, tokens: 16, "
                         "sources: 3, activation: swiglu, patch_values: 588, positions: 65, "
                         "projector: [1024, 256, 512], projector_copies: 4}")
                         .job.model.tower;
  EXPECT_EQ(all.sources, 3);
  EXPECT_EQ(all.tokens, 16);
  EXPECT_EQ(all.layers.ffn_hidden, 640);
  EXPECT_EQ(all.layers.activation, Activation::swiglu);
  EXPECT_EQ(all.projector_parameters(), 4.0 * (1024 * 256 + 256 * 512));
  EXPECT_EQ(all.embedding_parameters(), (588 + 65) * 256.0);
}

TEST(ResolveTower, NamesWhatIsMissingOrWrong) {
  EXPECT_THAT(
      fault("{layers: 2, hidden: 256, heads: 4}"),
      HasSubstr("model.tower: has no 'patches', and the model itself has no tower; add it"));
  EXPECT_THAT(fault("{layers: 2, hidden: 256, heads: 3, patches: 64}"),
              HasSubstr("model.tower.heads: 3 heads do not divide the width 256"));
  EXPECT_THAT(fault("{layers: 2, hidden: 256, heads: 4, patches: 64, projector: [256, 500]}"),
              HasSubstr("model.tower.projector: ends at the width 500, and model"));
  EXPECT_THAT(fault("{layers: 2, hidden: 256, heads: 4, patches: 64, sources: 17}"),
              HasSubstr("its 17 sources take 1088 places, and batch.sequence has 1024"));
  EXPECT_THAT(fault("{layers: 2, hidden: 256, heads: 4, patchs: 64}"), HasSubstr("patches"));
}

TEST(ResolveTower, PartsOfItCanBeFrozen) {
  EXPECT_EQ(towered(kTower).job.training, nullptr);
  const auto tower = towered(kTower, "train: {frozen: [tower]}").job.training;
  ASSERT_NE(tower, nullptr);
  EXPECT_TRUE(tower->frozen_tower);
  EXPECT_FALSE(tower->frozen_projector);
  const auto aligned =
      towered(kTower, "train: {frozen: [tower, embedding, layers, head]}").job.training;
  EXPECT_EQ(first_trained_part(aligned.get(), 4), kProjectorPart);
  EXPECT_TRUE(part_training(aligned.get(), 0, 4).backward);
  EXPECT_THAT(fault(kTower, "train: {frozen: [tower, projector, embedding, layers, head]}"),
              HasSubstr("nothing is left to be trained"));
  EXPECT_THAT(error_of([] {
                parse_case(
                    "name: a\nmodel: llama3-8b\ncluster: {nodes: 1, node: dgx-h100}\n"
                    "batch: {global: 64}\ntrain: {frozen: [tower]}\n",
                    "a.yaml");
              }),
              HasSubstr("model 'llama3-8b' has no tower"));
  // Adapters are only on the decoder's layers; everything else is frozen.
  const auto adapted = towered(kTower, "train: {adapter: lora}").job.training;
  EXPECT_FALSE(part_training(adapted.get(), kTowerPart, 4).weights);
  EXPECT_FALSE(part_training(adapted.get(), kTowerPart, 4).backward);
}

TEST(ResolveTower, IsPartOfWhatACaseIs) {
  const auto key = [](const char* patches) {
    return towered(fmt::format("{{layers: 2, hidden: 256, heads: 4, patches: {}}}", patches)).key;
  };
  EXPECT_NE(key("64"), key("128"));
  EXPECT_NE(towered(kTower).key, towered(kTower, "train: {frozen: [tower]}").key);
}

// Each of these is refused if images are read, and accepted with text only.
TEST(ResolveTower, GoesWithFewThingsThatDivideASequence) {
  constexpr const char* kText = "{layers: 2, hidden: 256, heads: 4, patches: 64, sources: 0}";
  for (const auto& [rest, reason] :
       {std::pair("layout: {cp: 2}", "ranks would divide images"),
        std::pair("layout: {pp: 2}\nschedule: {name: seq1f1b, slices: 2}",
                  "only some of these contain the images"),
        std::pair("train: {loss: contrastive}", "model.tower is another"),
        std::pair("offload: {activations: host}", "layers of model.tower would stay")}) {
    EXPECT_THAT(fault(kTower, rest), HasSubstr(reason)) << rest;
    EXPECT_THAT(fault(kText, rest), testing::Not(HasSubstr("model.tower"))) << rest;
  }
}

// A config.json may state a tower, which keys change.
TEST(ResolveTower, StartsFromAConfiguration) {
  constexpr const char* kConfig =
      R"({"model_type": "llava", "text_config": {"model_type": "llama", "vocab_size": 32064},
          "vision_config": {"model_type": "clip_vision_model", "hidden_size": 1024,
          "intermediate_size": 4096, "num_attention_heads": 16, "num_hidden_layers": 24,
          "image_size": 336, "patch_size": 14}})";
  const std::string path = testing::TempDir() + "resolve_tower_llava.json";
  std::ofstream(path) << kConfig;
  const auto of = [&](const std::string& tower) {
    const std::string text = fmt::format(
        "name: a\nmodel: {{base: '{}'{}}}\ncluster: {{nodes: 1, node: dgx-h100}}\n"
        "layout: {{sharding: zero3}}\nbatch: {{global: 64, sequence: 1024}}\n",
        path, tower);
    return parse_case(text, "a.yaml").job;
  };
  EXPECT_EQ(of("").model.tower->patches(), 576);
  EXPECT_EQ(of(", tower: {sources: 0}").model.tower->sources, 0);
  const Job smaller = of(", tower: {patches: 144, tokens: 144}");
  EXPECT_EQ(smaller.model.tower->layers.layers, 24);
  EXPECT_LT(tower_step_flops(smaller), tower_step_flops(of("")) / 3.9);
}

}  // namespace
}  // namespace windtunnel
