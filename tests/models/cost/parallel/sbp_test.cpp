#include "models/cost/parallel/sbp.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "models/base/error.hpp"
#include "models/cost/chunk/chunk_cost.hpp"
#include "models/cost/parallel/tensor_ops.hpp"
#include "models/cost/parallel/tensor_parallel.hpp"
#include "models/network/groups/parallel_groups.hpp"
#include "models/plan/job_collective.hpp"
#include "tests/models/cost/cost_fixtures.hpp"

namespace windtunnel {
namespace {

constexpr Signature kRows = split_along(0);
constexpr Signature kColumns = split_along(1);

// The signature of Y = X W without a transition (rows are axis 0, columns axis 1), by the paper's
// table of matrix products; no row if X and W do not fit together.
struct ProductRule {
  Signature x;
  Signature w;
  Signature y;
};
constexpr std::array<ProductRule, 6> kProducts = {{{split_along(0), kBroadcast, split_along(0)},
                                                   {kBroadcast, split_along(1), split_along(1)},
                                                   {split_along(1), split_along(0), kPartial},
                                                   {kPartial, kBroadcast, kPartial},
                                                   {kBroadcast, kPartial, kPartial},
                                                   {kBroadcast, kBroadcast, kBroadcast}}};

std::optional<Signature> product_signature(const Signature& x, const Signature& w) {
  for (const ProductRule& rule : kProducts) {
    if (rule.x == x && rule.w == w) return rule.y;
  }
  return std::nullopt;
}

// The expected bytes are the paper's table of boxing costs (recalled), for p ranks and a tensor of
// T bytes.
TEST(Sbp, BytesOfTheTransitionsAreThePaperS) {
  const double t = 1e9;
  for (const int p : {2, 3, 8, 64}) {
    EXPECT_EQ(transition(kRows, kRows, t, p).moved_bytes, 0);
    EXPECT_DOUBLE_EQ(transition(kRows, kColumns, t, p).moved_bytes, (p - 1) * t / p);
    EXPECT_EQ(transition(kRows, kBroadcast, t, p).moved_bytes, (p - 1) * t);
    EXPECT_EQ(transition(kRows, kPartial, t, p).moved_bytes, 0);
    EXPECT_EQ(transition(kBroadcast, kRows, t, p).moved_bytes, 0);
    EXPECT_EQ(transition(kBroadcast, kBroadcast, t, p).moved_bytes, 0);
    EXPECT_EQ(transition(kBroadcast, kPartial, t, p).moved_bytes, 0);
    EXPECT_EQ(transition(kPartial, kRows, t, p).moved_bytes, (p - 1) * t);
    EXPECT_EQ(transition(kPartial, kBroadcast, t, p).moved_bytes, 2 * (p - 1) * t);
    EXPECT_EQ(transition(kPartial, kPartial, t, p).moved_bytes, 0);
  }
}

// A rank's result can consist only of what it held or received.
TEST(Sbp, EveryRankGetsAtLeastWhatItLacks) {
  const auto held = [](const Signature& s, double bytes, int p) {
    return s.spread == Spread::split ? bytes / p : bytes;
  };
  for (const Signature& from : {kRows, kColumns, kBroadcast}) {
    for (const Signature& to : {kRows, kColumns, kBroadcast}) {
      for (const int p : {1, 2, 7}) {
        const double moved = transition(from, to, 1e6, p).moved_bytes;
        EXPECT_GE(moved, p * (held(to, 1e6, p) - held(from, 1e6, p)) * (1 - 1e-12));
        EXPECT_EQ(transition(from, to, 1e6, p).collective.has_value(), moved > 0);
      }
    }
  }
}

TEST(Sbp, AllReduceIsReduceScatterAndAllGather) {
  const double t = 12345;
  EXPECT_EQ(transition(kPartial, kBroadcast, t, 8).moved_bytes,
            transition(kPartial, kRows, t, 8).moved_bytes +
                transition(kRows, kBroadcast, t, 8).moved_bytes);
}

// A matrix that is split by columns, followed by one that is split by rows, needs Megatron's
// collectives, forward and backward, by the rules of products alone.
TEST(Sbp, MegatronsLayerComesOutOfTheRules) {
  TransformerSpec model = llama3_8b();
  model.layers = 4;
  for (const bool sequence_parallel : {false, true}) {
    Layout layout{.tp = 8, .pp = 4, .sequence_parallel = sequence_parallel};
    Job job = test_job(model, layout, {.global = 16, .micro = 1, .sequence = 8192});
    job.cluster.node.nvlink_Bps = parameter(1e15);  // leaves exposed latencies only
    const GroupShape shape = tensor_group_shape(layout, job.cluster);
    const Signature between = sequence_parallel ? kRows : kBroadcast;
    const double bytes = 2.0 * 8192 * 4096;
    const auto seconds_of = [&](const Signature& from, const Signature& to) {
      const Transition step = transition(from, to, bytes, shape.members);
      if (!step.collective) return 0.0;
      return collective_cost(job, Category::tp, *step.collective, shape, step.bytes).seconds;
    };
    const auto half_s = [&] {
      const double in_s = seconds_of(between, kBroadcast);
      const auto inner = product_signature(kBroadcast, kColumns);
      const auto sum = product_signature(inner.value(), kRows);
      return in_s + seconds_of(sum.value(), between);
    };
    double tp_s = 0;
    const std::vector<ChunkCost> chunks = chunk_costs(job);
    for (const CostPart& part : chunks[1].forward) {
      tp_s += part.category == Category::tp ? part.seconds : 0;
    }
    EXPECT_NEAR(tp_s, 2 * half_s(), 1e-12);
    // The backward pass multiplies by the transposed weights in reverse order: again columns first,
    // then rows.
    const auto gradient = product_signature(kBroadcast, kColumns);
    EXPECT_EQ(product_signature(gradient.value(), kRows), kPartial);
  }
}

// ---- the signatures of a layer's products ----

using Collectives = std::vector<std::pair<CollectiveKind, double>>;

Collectives collectives_of(const std::vector<InnerRound>& rounds) {
  Collectives all;
  for (const InnerRound& round : rounds) {
    for (const InnerCollective& each : round.collectives) all.emplace_back(each.kind, each.bytes);
  }
  std::ranges::sort(all);
  return all;
}

struct Product {
  MatrixSplit weights;
  double in = 0;  // widths of input and output
  double out = 0;
};

Signature lies(MatrixSplit split) {
  return split == MatrixSplit::rows ? kRows : kColumns;
}

// Lists the collectives of a chain of products whose input and output have the signature `between`.
// By the table of products, each operand changes to the signature that fits the weights at the
// least cost.
void append_chain(const std::vector<Product>& products, const Signature& between, double rows_bytes,
                  int ranks, Collectives& all) {
  const auto change = [&](const Signature& from, const Signature& to, double width) {
    const Transition step = transition(from, to, rows_bytes * width, ranks);
    if (step.collective) all.emplace_back(*step.collective, step.bytes);
  };
  Signature now = between;
  for (std::size_t i = 0; i < products.size(); ++i) {
    const Product& product = products[i];
    if (i > 0) {
      change(now, kColumns, products[i - 1].out);
      now = kColumns;
    }
    const Signature operand =
        product_signature(kBroadcast, lies(product.weights)) ? kBroadcast : kColumns;
    change(now, operand, product.in);
    now = product_signature(operand, lies(product.weights)).value();
  }
  change(now, between, products.back().out);
}

MatrixSplit transposed(MatrixSplit split) {
  return split == MatrixSplit::rows ? MatrixSplit::columns : MatrixSplit::rows;
}

// All sixteen signatures are tested forward and backward. The backward pass runs the transposed
// weights in reverse order, and needs the forward pass's operands again. The work is divided evenly
// for any signature.
TEST(Signatures, WhatALayerSendsFollowsFromThem) {
  constexpr std::array kSplits = {MatrixSplit::rows, MatrixSplit::columns};
  TransformerSpec model = llama3_8b();
  const int tp = 4;
  const double rows_bytes = 2.0 * 2048;
  double flops = 0;
  for (int i = 0; i < 32; ++i) {
    const bool split = (i & 16) != 0;
    const ProductSignatures signatures{.qkv = kSplits[i & 1],
                                       .projection = kSplits[i >> 1 & 1],
                                       .up = kSplits[i >> 2 & 1],
                                       .down = kSplits[i >> 3 & 1]};
    const Layout layout{.tp = tp, .sequence_parallel = split, .signatures = signatures};
    const Job job = test_job(model, layout, {.global = 1, .micro = 1, .sequence = 2048});
    const PassOps ops = tensor_parallel_ops(job, Block::layer, {});
    BlockCost cost;
    add_tensor_parallel(BlockSetting(job, {}), tensor_group_shape(layout, job.cluster),
                        Block::layer, ops, cost);
    const std::vector<std::vector<Product>> halves = {
        {{signatures.qkv, 4096, 4096 + 2 * 1024}, {signatures.projection, 4096, 4096}},
        {{signatures.up, 4096, 2 * 14336}, {signatures.down, 14336, 4096}}};
    const Signature between = split ? kRows : kBroadcast;
    Collectives forward, backward;
    for (const auto& half : halves) {
      append_chain(half, between, rows_bytes, tp, forward);
      append_chain({{transposed(half[1].weights), half[1].out, half[1].in},
                    {transposed(half[0].weights), half[0].out, half[0].in}},
                   between, rows_bytes, tp, backward);
      const auto again = [&](const Signature& from, const Product& product) {
        const Signature operand = product.weights == MatrixSplit::columns ? kBroadcast : kColumns;
        const Transition step = transition(from, operand, rows_bytes * product.in, tp);
        if (step.collective) backward.emplace_back(*step.collective, step.bytes);
      };
      again(between, half[0]);
      again(kColumns, half[1]);
    }
    std::ranges::sort(forward);
    std::ranges::sort(backward);
    EXPECT_EQ(collectives_of(cost.rounds.forward), forward) << i;
    EXPECT_EQ(collectives_of(cost.rounds.backward_input), backward) << i;
    double all = 0;
    for (const auto* pass : {&ops.forward, &ops.backward_input, &ops.backward_weight}) {
      for (const Op& op : *pass) all += op.flops;
    }
    if (i == 0) flops = all;
    EXPECT_NEAR(all / flops, 1, 1e-12) << i;
  }
}

// The default signatures give the collectives of Megatron-LM of 2019, and of 2022 with sequence
// parallelism.
TEST(Signatures, TheDefaultsAreMegatrons) {
  TransformerSpec model = llama3_8b();
  const double bytes = 2.0 * 2048 * 4096;
  for (const bool split : {false, true}) {
    const Layout layout{.tp = 4, .sequence_parallel = split};
    const Job job = test_job(model, layout, {.global = 1, .micro = 1, .sequence = 2048});
    BlockCost cost;
    add_tensor_parallel(BlockSetting(job, {}), tensor_group_shape(layout, job.cluster),
                        Block::layer, tensor_parallel_ops(job, Block::layer, {}), cost);
    const std::pair gather{CollectiveKind::all_gather, bytes};
    const std::pair scatter{CollectiveKind::reduce_scatter, bytes};
    const std::pair reduce{CollectiveKind::all_reduce, bytes};
    Collectives forward = {reduce, reduce};
    Collectives backward = {reduce, reduce};
    if (split) {
      forward = {gather, gather, scatter, scatter};
      backward = {gather, gather, gather, gather, scatter, scatter};
    }
    std::ranges::sort(forward);
    std::ranges::sort(backward);
    EXPECT_EQ(collectives_of(cost.rounds.forward), forward);
    EXPECT_EQ(collectives_of(cost.rounds.backward_input), backward);
  }
}

TEST(Sbp, NegativeAxisIsRefused) {
  EXPECT_THROW(transition(split_along(-1), kBroadcast, 1, 2), Error);
}

}  // namespace
}  // namespace windtunnel
