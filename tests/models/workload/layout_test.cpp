#include "models/workload/layout.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "tests/models/cost/cost_fixtures.hpp"
#include "tests/support/error_of.hpp"

namespace windtunnel {
namespace {

TEST(Layout, RanksRunThroughTpThenCpThenDpThenPp) {
  const Layout layout{.tp = 2, .cp = 3, .pp = 4, .dp = 5};
  EXPECT_EQ(rank_of(layout, {.tp = 1}), 1);
  EXPECT_EQ(rank_of(layout, {.cp = 1}), 2);
  EXPECT_EQ(rank_of(layout, {.dp = 1}), 6);
  EXPECT_EQ(rank_of(layout, {.pp = 1}), 30);
  for (int rank = 0; rank < layout.ranks(); ++rank) {
    EXPECT_EQ(rank_of(layout, coordinates_of(layout, rank)), rank);
  }
}

TEST(Layout, OrderSaysWhichRanksAreNeighbours) {
  Layout layout{.tp = 2, .cp = 3, .pp = 4, .dp = 5};
  EXPECT_TRUE(rank_map(layout).in_order());
  layout.order = {RankAxis::tp, RankAxis::cp, RankAxis::dp, RankAxis::pp};
  EXPECT_TRUE(rank_map(layout).in_order());
  layout.order = {RankAxis::tp, RankAxis::pp};  // then cp and dp
  const RankMap map = rank_map(layout);
  for (int rank = 0; rank < layout.ranks(); ++rank) {
    const RankCoordinates at = coordinates_of(layout, rank);
    EXPECT_EQ(map.gpu_of(rank), at.tp + 2 * (at.pp + 4 * (at.cp + 3 * at.dp)));
  }
}

// In BitPipe's process groups the pipeline ranks d and pp - 1 - d, which hold the same stages, are
// neighbours, and each direction of the pipeline visits all ranks.
TEST(Layout, PairsOfPipelineRanksStandSideBySide) {
  Layout layout{.tp = 2, .pp = 8, .dp = 4};
  layout.order = {RankAxis::tp, RankAxis::dp, RankAxis::pp_pairs};
  const RankMap map = rank_map(layout);
  const auto place = [&](int pp) { return map.gpu_of(rank_of(layout, {.pp = pp})) / 8; };
  std::vector<int> places;
  for (int pp = 0; pp < 8; ++pp) places.push_back(place(pp));
  EXPECT_EQ(places, (std::vector<int>{0, 7, 2, 5, 4, 3, 6, 1}));
  for (int pp = 0; pp < 4; ++pp) EXPECT_EQ(place(pp) / 2, place(7 - pp) / 2);
  layout.pp = 3;
  layout.order = {RankAxis::tp, RankAxis::dp, RankAxis::pp_pairs};
  EXPECT_TRUE(rank_map(layout).in_order());
}

TEST(Layout, LayersAreSplitEvenlyUnevenlyOrAsListed) {
  TransformerSpec model = llama3_405b();
  Layout layout{.pp = 16, .vpp = 8, .first_stage_layers = -1, .last_stage_layers = -1};
  std::vector<int> expected(128, 1);
  expected.front() = expected.back() = 0;
  EXPECT_EQ(layers_per_stage(model, layout), expected);

  model.layers = 10;
  EXPECT_EQ(layers_per_stage(model, {.pp = 5}), std::vector<int>(5, 2));
  EXPECT_EQ(layers_per_stage(model, {.pp = 2, .stage_layers = {7, 3}}), (std::vector<int>{7, 3}));
  EXPECT_EQ(layers_per_stage(model, {.first_stage_layers = -1}), std::vector<int>{10});
}

TEST(Layout, LayersThatDoNotDivideAreNamed) {
  TransformerSpec model = gpt3_175b();
  EXPECT_EQ(error_of([&] { layers_per_stage(model, {.pp = 5}); }),
            "96 layers of model 'gpt3-175b' (first +0, last +0) do not divide into 5 stages (pp 5 "
            "x vpp 1); set layout.stages");
  EXPECT_EQ(error_of([&] { layers_per_stage(model, {.pp = 64, .vpp = 2}); }),
            "128 stages (pp 64 x vpp 2) are too many for the 96 layers of model 'gpt3-175b'; each "
            "stage except the first and the last needs at least one");
  EXPECT_EQ(error_of([&] { layers_per_stage(model, {.pp = 2, .stage_layers = {96}}); }),
            "layout.stages lists 1 stages, but pp 2 x vpp 1 makes 2");
  EXPECT_EQ(error_of([&] {
              layers_per_stage(model, {.pp = 2, .stage_layers = {48, 47}});
            }),
            "layout.stages lists 95 layers in all, but model 'gpt3-175b' has 96");
  EXPECT_EQ(error_of([&] {
              layers_per_stage(model, {.pp = 2, .stage_layers = {97, -1}});
            }),
            "stage 1 of 2 would hold -1 layers; change layout.stages");
}

TEST(Layout, MicrobatchesDivideTheGlobalBatch) {
  EXPECT_EQ(microbatches({.dp = 128}, {.global = 2048, .micro = 1}), 16);
  EXPECT_EQ(error_of([] { microbatches({.dp = 3}, {.global = 16, .micro = 2}); }),
            "batch.global 16 is not a multiple of batch.micro 2 x dp 3 = 6");
}

TEST(Layout, CheckNamesWhatDoesNotFit) {
  const TransformerSpec model = llama3_405b();
  const Layout layout{.tp = 8, .pp = 2, .dp = 2, .sequence_parallel = true};
  const Batch batch{.global = 4, .micro = 1, .sequence = 8192};
  const auto error_with = [&](const auto& change) {
    Layout changed = layout;
    Batch changed_batch = batch;
    change(changed, changed_batch);
    return error_of([&] { check_layout(model, changed, changed_batch, changed.ranks(), 8); });
  };
  EXPECT_EQ(error_with([](Layout&, Batch&) {}), "no error");
  EXPECT_EQ(error_with([](Layout& l, Batch&) { l.pp = 0; }),
            "layout.pp is 0; it must be at least 1");
  EXPECT_EQ(error_with([](Layout& l, Batch&) { l.tp = 3; }),
            "layout.tp 3 does not divide heads 128");
  EXPECT_EQ(error_with([](Layout& l, Batch&) { l.tp = 16; }),
            "layout.tp 16 does not divide kv_heads 8");
  EXPECT_EQ(error_with([](Layout& l, Batch&) { l.cp = 3; }),
            "2 x layout.cp = 6 does not divide batch.sequence 8192");
  EXPECT_EQ(error_with([](Layout&, Batch& b) { b.sequence = 100; }),
            "layout.tp x cp = 8 does not divide batch.sequence 100");
  EXPECT_EQ(error_with([](Layout& l, Batch&) { l.pp = 1, l.vpp = 2; }),
            "layout.vpp is 2 but layout.pp is 1; chunks need a pipeline");
  // A layout may fill whole nodes.
  EXPECT_EQ(error_of([&] { check_layout(model, layout, batch, 32, 4); }), "no error");
  // Groups of four fit in a node of six, but the second one would straddle two nodes.
  EXPECT_EQ(error_of([&] {
              check_layout(model, {.tp = 4, .dp = 6}, {6, 1, 8192}, 24, 6);
            }),
            "layout.tp 4 neither divides the 6 GPUs of a node nor is a multiple of them");
  EXPECT_EQ(error_of([&] { check_layout(model, layout, batch, 64, 8); }),
            "layout tp 8 x cp 1 x pp 2 x dp 2 = 32 ranks, but the cluster has 64 GPUs; without "
            "layout.dp, or with layout.dp=auto, dp follows from the others");
}

TEST(Layout, SequenceParallelismDividesBothStacks) {
  TransformerSpec model = llama3_8b();
  model.pattern = "BC";
  const auto error_with = [&](int source, bool divided) {
    model.source_tokens = source;
    const Layout layout{.tp = 8, .sequence_parallel = divided};
    return error_of([&] { check_layout(model, layout, {1, 1, 8192}, 8, 8); });
  };
  EXPECT_EQ(error_with(1024, true), "no error");
  EXPECT_EQ(error_with(100, true), "layout.tp 8 does not divide model.source_tokens 100");
  EXPECT_EQ(error_with(100, false), "no error");
}

TEST(Layout, ExpertsAreDividedAmongRanksOfAStage) {
  TransformerSpec model = llama3_8b();
  const Batch batch{.global = 8, .micro = 1, .sequence = 8192};
  const auto error_with = [&](const Layout& layout) {
    return error_of([&] { check_layout(model, layout, batch, layout.ranks(), 8); });
  };
  EXPECT_EQ(error_with({.dp = 8, .ep = 8}), "layout.ep is 8 but model 'llama3' has no experts");
  model.moe = {.experts = 12, .per_token = 2, .ffn_hidden = 14336};
  EXPECT_EQ(error_with({.tp = 2, .cp = 2, .dp = 2, .ep = 4, .sequence_parallel = true}),
            "no error");
  EXPECT_EQ(error_with({.tp = 2, .cp = 2, .dp = 2, .ep = 4}),
            "layout.ep 4 with layout.tp 2 needs sequence parallelism, as in Megatron-LM; set "
            "layout.sequence_parallel: true");
  EXPECT_EQ(error_with({.pp = 2, .dp = 4, .ep = 8}),
            "layout.ep 8 does not divide tp x cp x dp = 4");
  EXPECT_EQ(error_with({.dp = 8, .ep = 8}), "layout.ep 8 does not divide moe.experts 12");
  EXPECT_EQ(error_with({.tp = 2, .dp = 2, .ep = 4, .ep_tokens = ExpertTokens::gathered}),
            "layout.ep 4 does not divide dp = 2");
  model.ffn_hidden = 1;  // no layer has a dense MLP
  EXPECT_EQ(error_with({.tp = 2, .dp = 4, .ep = 4, .sequence_parallel = true}), "no error");
  model.moe.dense_layers = 1;
  EXPECT_EQ(error_with({.tp = 2, .dp = 4, .ep = 4}), "layout.tp 2 does not divide ffn_hidden 1");
}

TEST(Layout, ShardsAreDividedAmongCopies) {
  const TransformerSpec model = llama3_8b();
  const Batch batch{.global = 8, .micro = 1, .sequence = 8192};
  const auto error_with = [&](const Layout& layout) {
    return error_of([&] { check_layout(model, layout, batch, layout.ranks(), 8); });
  };
  EXPECT_EQ(error_with({.cp = 2, .dp = 4, .sharding = Sharding::zero3, .shard_ranks = 8}),
            "no error");
  EXPECT_EQ(error_with({.cp = 2, .dp = 4, .sharding = Sharding::zero3, .shard_ranks = 3}),
            "layout.shard_ranks 3 does not divide dp x cp = 8");
  EXPECT_EQ(error_with({.dp = 8, .shard_ranks = 8}),
            "layout.shard_ranks is 8 but layout.sharding is none");
}

TEST(Layout, OnlyZero3HasLevelsAndFewerBits) {
  const TransformerSpec model = llama3_8b();
  const Batch batch{.global = 32, .micro = 1, .sequence = 8192};
  const auto error_with = [&](Layout layout) {
    layout.dp = 32 / layout.tp;
    return error_of([&] { check_layout(model, layout, batch, 32, 8); });
  };
  EXPECT_EQ(error_with({.sharding = Sharding::zero3,
                        .secondary_ranks = 8,
                        .weight_bits = 8,
                        .gradient_bits = 4}),
            "no error");
  EXPECT_EQ(error_with({.sharding = Sharding::zero3, .weight_ranks = 2, .gradient_ranks = 8}),
            "no error");
  EXPECT_EQ(error_with({.sharding = Sharding::zero2, .weight_bits = 8}),
            "layout.weight_bits is 8, but only layout.sharding: zero3 gathers weights and scatters "
            "gradients");
  EXPECT_EQ(error_with({.sharding = Sharding::zero3, .gradient_bits = 5}),
            "layout.gradient_bits is 5; an element can be sent with 4, 6, 8 or 16 bits");
  EXPECT_EQ(error_with({.sharding = Sharding::zero3, .gradient_ranks = 3}),
            "layout.gradient_ranks 3 does not divide the ranks that share a copy, 32");
  EXPECT_EQ(error_with({.tp = 2, .sharding = Sharding::zero3, .secondary_ranks = 8}),
            "layout.secondary_ranks 8 x tp 2 = 16 ranks do not divide the 8 GPUs of a node, "
            "within which a second copy of the weights must be");
  EXPECT_EQ(error_with({.sharding = Sharding::zero3, .shard_ranks = 8, .secondary_ranks = 8}),
            "layout.secondary_ranks is 8, but 8 ranks share the first copy; the second copy must "
            "be shared by fewer, within a node");
}

TEST(Layout, HeadsOfTheirOwnWidthNeedNotDivideTheHiddenState) {
  TransformerSpec model = llama3_8b();
  const Batch batch{.global = 8, .micro = 1, .sequence = 8192};
  model.heads = model.kv_heads = 3;
  const auto error = [&] { return error_of([&] { check_layout(model, {}, batch, 1, 8); }); };
  EXPECT_EQ(error(), "heads 3 does not divide hidden 4096");
  model.head_width = 64;
  EXPECT_EQ(error(), "no error");
}

TEST(Layout, VocabularyIsPaddedAsMegatronDoes) {
  EXPECT_EQ(padded_vocabulary(50257, 1), 50304);
  EXPECT_EQ(padded_vocabulary(50257, 8), 51200);
  EXPECT_EQ(padded_vocabulary(51200, 8), 51200);
}

}  // namespace
}  // namespace windtunnel
