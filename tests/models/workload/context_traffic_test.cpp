#include "models/workload/context_traffic.hpp"

#include <gtest/gtest.h>

#include "tests/models/cost/cost_fixtures.hpp"

namespace windtunnel {
namespace {

// A unit of traffic is T x h elements of two bytes, with 32 heads of 128.
constexpr double kTokens = 1024;
constexpr double kHidden_bytes = 2.0 * 32 * 128;
constexpr double kUnit = kTokens * kHidden_bytes;

ContextTensors tensors(double kv_heads = 32) {
  const double kv = kHidden_bytes * kv_heads / 32;
  return {kTokens, kHidden_bytes, kv, kv, kHidden_bytes, 32, kv_heads, 2.0 * 32 * 128 * 128};
}

double sent(const Layout& layout, Pass pass, double kv_heads = 32) {
  return wire_bytes(context_traffic(layout, tensors(kv_heads), pass), layout) / kUnit;
}

Layout form(ContextForm context, int cp, int ulysses = 0) {
  Layout layout;
  layout.cp = cp;
  layout.context = context;
  layout.ulysses = ulysses;
  return layout;
}

TEST(ContextTraffic, RingPassesKeysAndValuesAndTheirGradients) {
  EXPECT_DOUBLE_EQ(sent(form(ContextForm::ring, 8), Pass::forward), 7 * 2);
  EXPECT_DOUBLE_EQ(sent(form(ContextForm::ring, 8), Pass::backward_input), 7 * 4);
  EXPECT_DOUBLE_EQ(sent(form(ContextForm::ring, 8), Pass::forward, 8), 7 * 2 / 4.0);
  EXPECT_EQ(sent(form(ContextForm::ring, 1), Pass::forward), 0);
}

// Jacobs et al. 2023 state 4 M / P, where M are the bytes of activations of a whole sequence.
TEST(ContextTraffic, UlyssesSendsFourTensorsBothWays) {
  for (const Pass pass : {Pass::forward, Pass::backward_input}) {
    EXPECT_DOUBLE_EQ(sent(form(ContextForm::ulysses, 8), pass), 4 * 7 / 8.0);
  }
  // Two key heads are shared by eight ranks, so that each is sent four times.
  EXPECT_DOUBLE_EQ(sent(form(ContextForm::ulysses, 8), Pass::forward, 2),
                   (2 + 2 * 2.0 / 32 * 4) * 7 / 8.0);
}

// With equal numbers of query and key heads the ring sends as much as Ulysses at two ranks, and
// more beyond. With grouped heads, an eighth as many, it sends 0.25 (P - 1) against 2.25 (P - 1) /
// P, which are equal at nine ranks.
TEST(ContextTraffic, WhereUlyssesSendsLessThanTheRing) {
  const auto ratio = [&](int ranks, double kv_heads) {
    return sent(form(ContextForm::ulysses, ranks), Pass::forward, kv_heads) /
           sent(form(ContextForm::ring, ranks), Pass::forward, kv_heads);
  };
  EXPECT_DOUBLE_EQ(ratio(2, 32), 1);
  EXPECT_DOUBLE_EQ(ratio(16, 32), 1 / 8.0);
  EXPECT_GT(ratio(4, 4), 1);
  EXPECT_DOUBLE_EQ(ratio(4, 4), 9 / 4.0);
  EXPECT_LT(ratio(16, 4), 1);
}

TEST(ContextTraffic, UspIsUlyssesInsideAndARingOutside) {
  const Layout both = form(ContextForm::usp, 16, 8);
  EXPECT_EQ(both.ring_ranks(), 2);
  EXPECT_DOUBLE_EQ(sent(both, Pass::forward), 4 * 7 / 8.0 + 2);
  EXPECT_DOUBLE_EQ(sent(form(ContextForm::usp, 16, 16), Pass::forward),
                   sent(form(ContextForm::ulysses, 16), Pass::forward));
  EXPECT_DOUBLE_EQ(sent(form(ContextForm::usp, 16, 1), Pass::forward),
                   sent(form(ContextForm::ring, 16), Pass::forward));
}

// In the backward pass BurstAttention sends Q, dQ and dO (3) and eight bytes of statistics per head
// of 256 bytes, where the ring sends K, V, dK and dV (4). In both passes together it sends 5/6 of
// the ring's bytes, and 5/8 of those of Megatron's tensor parallelism with sequence parallelism,
// which has four collectives of all tokens per pass: the published 40 % less.
TEST(ContextTraffic, BurstSendsLessBackward) {
  const Layout burst = form(ContextForm::burst, 8);
  EXPECT_DOUBLE_EQ(sent(burst, Pass::backward_input), 7 * (3 + 8 / 256.0));
  const double both = sent(burst, Pass::forward) + sent(burst, Pass::backward_input);
  const double tensor_parallel = (4 + 4) * 7;
  EXPECT_NEAR(both / tensor_parallel, 0.6, 0.04);
  EXPECT_NEAR(both / (7 * 6), 5 / 6.0, 0.01);
  // With grouped heads, sending keys is cheaper than sending queries.
  EXPECT_GT(sent(burst, Pass::backward_input, 8),
            sent(form(ContextForm::ring, 8), Pass::backward_input, 8));
}

TEST(ContextTraffic, TokenRingHalvesTheStepOfTheRing) {
  for (const Pass pass : {Pass::forward, Pass::backward_input}) {
    const auto step = [&](ContextForm context) {
      return context_traffic(form(context, 8), tensors(), pass).step_bytes;
    };
    EXPECT_NEAR(step(ContextForm::token_ring) / step(ContextForm::ring), 0.5, 0.02);
  }
}

// Li et al. 2021, section 3.2, state 8 (N - 1) B Z L A / N in all, as much as four all-reduces of
// tensor parallelism.
TEST(ContextTraffic, RingSelfAttentionSendsAsMuchAsTensorParallelism) {
  const Layout rsa = form(ContextForm::rsa, 8);
  EXPECT_DOUBLE_EQ(sent(rsa, Pass::forward) + sent(rsa, Pass::backward_input), 4 * 2 * 7 / 8.0 * 8);
}

// The state has B d^2 / h elements (Sun et al. 2024, table 1).
TEST(ContextTraffic, LaspPassesAStateThatKnowsNoLength) {
  const Layout lasp = form(ContextForm::lasp, 8);
  ContextTensors t = tensors();
  const double step_bytes = context_traffic(lasp, t, Pass::forward).step_bytes;
  EXPECT_EQ(step_bytes, 2.0 * 4096 * 4096 / 32);
  t.tokens *= 512;
  EXPECT_EQ(context_traffic(lasp, t, Pass::forward).step_bytes, step_bytes);
  EXPECT_EQ(context_traffic(lasp, t, Pass::backward_input).step_bytes, step_bytes);
}

// Zhao et al. 2024 have one exchange per layer and pass instead of four, which is also less than
// the ring sends.
TEST(ContextTraffic, SwitchingTheDimensionSendsAQuarterOfUlysses) {
  const Layout dsp = form(ContextForm::dsp, 8);
  EXPECT_EQ(dsp.ring_ranks(), 1);
  ContextTensors t = tensors();
  t.between = kHidden_bytes;
  for (const Pass pass : {Pass::forward, Pass::backward_input}) {
    const double bytes = wire_bytes(context_traffic(dsp, t, pass), dsp) / kUnit;
    EXPECT_DOUBLE_EQ(bytes, 7 / 8.0);
    EXPECT_DOUBLE_EQ(bytes, 0.25 * sent(form(ContextForm::ulysses, 8), pass));
    EXPECT_LT(bytes, 0.25 * sent(form(ContextForm::ring, 8), pass));
  }
}

}  // namespace
}  // namespace windtunnel
