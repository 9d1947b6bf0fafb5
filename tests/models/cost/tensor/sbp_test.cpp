#include "models/cost/tensor/sbp.hpp"

#include <gtest/gtest.h>

#include <array>
#include <optional>

#include "models/base/error.hpp"
#include "models/cost/chunk/chunk_cost.hpp"
#include "models/network/groups/parallel_groups.hpp"
#include "models/plan/job_collective.hpp"
#include "tests/models/cost/cost_fixtures.hpp"

namespace windtunnel {
namespace {

constexpr Signature kRows = split_along(0);
constexpr Signature kColumns = split_along(1);

// How Y = X W (rows axis 0, columns axis 1) comes out without a transition, by the paper's table of
// matrix products; none if X and W do not go together.
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

// The paper's table of boxing costs (recalled), p ranks, a tensor of T bytes.
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

// What a rank holds afterwards can only come from what it held or received.
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

// The collectives of a matrix that is divided by columns and then one by rows, forward and back,
// out of the rules of products alone, are those of Megatron's layer.
TEST(Sbp, MegatronsLayerComesOutOfTheRules) {
  TransformerSpec model = llama3_8b();
  model.layers = 4;
  for (const bool sequence_parallel : {false, true}) {
    Layout layout{.tp = 8, .pp = 4, .sequence_parallel = sequence_parallel};
    Job job = test_job(model, layout, {.global = 16, .micro = 1, .sequence = 8192});
    job.cluster.node.nvlink_Bps = parameter(1e15);  // nothing but the exposed latencies
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
    // Backward: the transposed weights in reverse order, so again columns first, then rows.
    const auto gradient = product_signature(kBroadcast, kColumns);
    EXPECT_EQ(product_signature(gradient.value(), kRows), kPartial);
  }
}

TEST(Sbp, NegativeAxisIsRefused) {
  EXPECT_THROW(transition(split_along(-1), kBroadcast, 1, 2), Error);
}

}  // namespace
}  // namespace windtunnel
