// Tests of stage costs with slices and stage-aware recomputation, and of the costs by which the
// job's schedule is planned.
#include "policies/lowering/unit_cost.hpp"

#include <gtest/gtest.h>

#include "models/cost/memory/memory.hpp"
#include "policies/evaluation/schedule_evaluator.hpp"
#include "policies/schedules/schedules.hpp"
#include "tests/models/cost/cost_fixtures.hpp"

namespace windtunnel {
namespace {

using ::testing::HasSubstr;

Job small_job(const TransformerSpec& model, int ranks, Recompute recompute = Recompute::none) {
  Layout layout;
  layout.pp = ranks;
  Batch batch;
  batch.global = 8;
  batch.micro = 1;
  batch.sequence = 8192;
  return test_job(model, layout, batch, Precision::bf16, recompute);
}

// A sliced schedule with these shares; the order of its actions does not matter.
Schedule sliced(int ranks, int slices, std::vector<double> shares = {}) {
  Schedule schedule =
      generate_schedule("seq1f1b", {.ranks = ranks, .microbatches = 8, .slices = slices});
  schedule.slice_shares = std::move(shares);
  return schedule;
}

struct Sums {
  double flops = 0;
  double activation_bytes = 0;
  double weight_activation_bytes = 0;
  double boundary_bytes = 0;
  double time_s = 0;
};

Sums sums_of(const std::vector<ChunkCost>& costs, std::size_t stage, std::size_t slices) {
  Sums sums;
  for (std::size_t slice = 0; slice < slices; ++slice) {
    const ChunkCost& cost = costs[stage * slices + slice];
    sums.flops += cost.hardware_flops;
    sums.activation_bytes += cost.activation_bytes;
    sums.weight_activation_bytes += cost.weight_activation_bytes;
    sums.boundary_bytes += cost.boundary_bytes;
    sums.time_s += total_seconds(cost.forward) + total_seconds(cost.backward_input) +
                   total_seconds(cost.backward_weight);
  }
  return sums;
}

TEST(UnitCosts, OfAWholeMicrobatchAreTheChunks) {
  const Job job = small_job(llama3_8b(), 4, Recompute::full);
  const auto chunks = chunk_costs(job);
  const auto costs = unit_costs(job, generate_schedule("1f1b", 4, 8, 1), chunks);
  ASSERT_EQ(costs.size(), chunks.size());
  for (std::size_t stage = 0; stage < chunks.size(); ++stage) {
    EXPECT_EQ(total_seconds(costs[stage].recompute), total_seconds(chunks[stage].recompute));
    EXPECT_EQ(costs[stage].activation_bytes, chunks[stage].activation_bytes);
    EXPECT_EQ(costs[stage].transient_bytes, chunks[stage].transient_bytes);
  }
}

// Under a causal mask with fused attention the slices add up to the whole in FLOPs and bytes, but
// not in time: small GEMMs are less efficient, and each slice reads every weight.
TEST(UnitCosts, SlicesAddUpToTheWhole) {
  const std::vector<TransformerSpec> models = {llama3_8b(), deepseek_v3()};
  for (const TransformerSpec& model : models) {
    Job job = small_job(model, 2);
    if (model.moe_layers() > 0) {
      job.model.layers = 8;
      job.layout.ep = 1;
    }
    const auto chunks = chunk_costs(job);
    for (const auto& shares :
         std::vector<std::vector<double>>{{}, {0.4, 0.25, 0.2, 0.15}, {0.01, 0.01, 0.01, 0.97}}) {
      const auto costs = unit_costs(job, sliced(2, 4, shares), chunks);
      ASSERT_EQ(costs.size(), 8U);
      for (std::size_t stage = 0; stage < 2; ++stage) {
        const Sums whole = sums_of(chunks, stage, 1);
        const Sums parts = sums_of(costs, stage, 4);
        EXPECT_NEAR(parts.flops, whole.flops, 1e-9 * whole.flops);
        EXPECT_NEAR(parts.activation_bytes, whole.activation_bytes, 1e-9 * whole.activation_bytes);
        EXPECT_NEAR(parts.weight_activation_bytes, whole.weight_activation_bytes,
                    1e-9 * whole.weight_activation_bytes);
        EXPECT_NEAR(parts.boundary_bytes, whole.boundary_bytes, 1e-9 * whole.boundary_bytes);
        EXPECT_GT(parts.time_s, whole.time_s);
        for (std::size_t slice = 0; slice < 4; ++slice) {
          EXPECT_EQ(costs[stage * 4 + slice].parameters, chunks[stage].parameters);
        }
      }
    }
  }
}

// The second of two equal slices has three times as many pairs of query and key as the first.
TEST(UnitCosts, LaterSlicesAttendToMore) {
  const Job job = small_job(llama3_8b(), 1);
  const auto costs = unit_costs(job, sliced(1, 2), chunk_costs(job));
  const double layers = job.model.layers;
  // By convention the full square counts: 4 s^2 h / 2 for the forward pass and 2.5 times that for
  // the backward pass.
  const double square = 3.5 * 4 * 8192.0 * 8192.0 * 4096 * layers;
  EXPECT_NEAR(costs[1].hardware_flops - costs[0].hardware_flops, square / 2, 1e-9 * square);
  EXPECT_EQ(costs[0].boundary_bytes, costs[1].boundary_bytes);
  EXPECT_GT(total_seconds(costs[1].forward), total_seconds(costs[0].forward));
  EXPECT_GT(total_seconds(costs[1].backward_input), total_seconds(costs[0].backward_input));
  // Keys and values are held until the gradients of later slices arrive: 2 x 2 B x 1,024.
  const auto whole = chunk_costs(job);
  EXPECT_LT(costs[0].transient_bytes, whole[0].transient_bytes);
  EXPECT_NEAR(costs[1].transient_bytes - costs[0].transient_bytes, layers * 4096 * 2 * 2 * 1024, 1);
}

// Full recomputation keeps a layer's input; with slices it also keeps keys and values.
TEST(UnitCosts, RecomputedSlicesKeepKeysAndValues) {
  const Job job = small_job(llama3_8b(), 1, Recompute::full);
  const double input = layer_activations(job).kept;
  const double half = layer_activations(job, Block::layer, {0, 0.5}).kept;
  EXPECT_EQ(half, input / 2 + 4096 * 2 * 2 * 1024);
}

// A quarter of the square lies in whole blocks above the diagonal, whose time is saved. Their FLOPs
// count, like the half that fused attention skips, so that HFU is not below MFU.
TEST(UnitCosts, UnfusedAttentionSkipsWhatTheMaskHides) {
  TransformerSpec model = llama3_8b();
  model.attention = AttentionKernel::unfused;
  const Job job = small_job(model, 1);
  const auto whole = chunk_costs(job);
  const auto costs = unit_costs(job, sliced(1, 2), whole);
  const double flops = whole[0].hardware_flops;
  EXPECT_NEAR(sums_of(costs, 0, 2).flops, flops, 1e-9 * flops);
  EXPECT_LT(sums_of(costs, 0, 2).time_s, total_seconds(whole[0].forward) +
                                             total_seconds(whole[0].backward_input) +
                                             total_seconds(whole[0].backward_weight));
}

// Shares of equal work are no multiples of what matrix units need, and the slices run on them all
// the same.
TEST(UnitCosts, UnfusedSlicesOfAnyShareRunOnTheMatrixUnits) {
  TransformerSpec model = llama3_8b();
  model.attention = AttentionKernel::unfused;
  const Job job = small_job(model, 1);
  const auto whole = chunk_costs(job);
  const double halves_s = sums_of(unit_costs(job, sliced(1, 2), whole), 0, 2).time_s;
  const auto costs = unit_costs(job, sliced(1, 2, {0.5003, 0.4997}), whole);
  EXPECT_NEAR(sums_of(costs, 0, 2).time_s, halves_s, 0.05 * halves_s);
}

TEST(UnitCosts, EarlierStagesRecomputeMore) {
  EXPECT_EQ(recompute_share(1, 3, 4), 1);
  EXPECT_EQ(recompute_share(0.6, 0, 1), 0.6);
  // The shares are 1 - 0.2 * 3 / (3, 2, 1), and 0 on the last rank.
  EXPECT_NEAR(recompute_share(0.8, 0, 4), 0.8, 1e-15);
  EXPECT_NEAR(recompute_share(0.8, 1, 4), 0.7, 1e-15);
  EXPECT_NEAR(recompute_share(0.8, 2, 4), 0.4, 1e-15);
  EXPECT_EQ(recompute_share(0.8, 3, 4), 0);
  EXPECT_EQ(recompute_share(0.5, 2, 4), 0);

  Job job = small_job(llama3_8b(), 4, Recompute::full);  // 8 layers per stage
  const auto chunks = chunk_costs(job);
  Job keeping = job;
  keeping.recompute = Recompute::none;
  const auto kept = chunk_costs(keeping);
  job.schedule.recompute_share = 0.75;  // 6, 5, 2, 0 layers
  const auto costs = unit_costs(job, generate_schedule("1f1b", 4, 8, 1), chunks);
  const std::vector<double> layers = {6, 5, 2, 0};
  for (int stage = 0; stage < 4; ++stage) {
    EXPECT_NEAR(total_seconds(costs[stage].recompute),
                layers[stage] / 8 * total_seconds(chunks[stage].recompute), 1e-12);
    EXPECT_NEAR(
        costs[stage].activation_bytes,
        kept[stage].activation_bytes +
            layers[stage] / 8 * (chunks[stage].activation_bytes - kept[stage].activation_bytes),
        1);
    EXPECT_NEAR(costs[stage].recomputed_bytes, layers[stage] / 8 * chunks[stage].recomputed_bytes,
                1);
    EXPECT_EQ(costs[stage].parameters, chunks[stage].parameters);
  }
  EXPECT_EQ(costs[3].hardware_flops, kept[3].hardware_flops);
  EXPECT_EQ(costs[3].transient_bytes, kept[3].transient_bytes);
}

// A stage that an explicit schedule never recomputes costs as much as without recomputation.
// Activations that an action R recomputes are not counted as transient again.
TEST(UnitCosts, ExplicitRecomputation) {
  for (const Recompute recompute : {Recompute::selective, Recompute::full}) {
    const Job job = small_job(llama3_8b(), 2, recompute);
    const auto chunks = chunk_costs(job);
    Job keeping = job;
    keeping.recompute = Recompute::none;
    const auto kept = chunk_costs(keeping);
    const Schedule schedule = generate_schedule("last-no-recompute-1f1b", 2, 8, 1);
    const auto costs = unit_costs(job, schedule, chunks);
    EXPECT_EQ(costs[1].activation_bytes, kept[1].activation_bytes);
    EXPECT_EQ(costs[1].transient_bytes, kept[1].transient_bytes);
    EXPECT_EQ(costs[1].recomputed_bytes, 0);
    EXPECT_EQ(total_seconds(costs[1].recompute), 0);
    EXPECT_EQ(costs[1].hardware_flops, kept[1].hardware_flops);
    EXPECT_EQ(costs[0].activation_bytes, chunks[0].activation_bytes);
    EXPECT_EQ(total_seconds(costs[0].recompute), total_seconds(chunks[0].recompute));
    EXPECT_NEAR(costs[0].activation_bytes + costs[0].recomputed_bytes, kept[0].activation_bytes, 1);
    EXPECT_NEAR(costs[0].transient_bytes,
                chunks[0].transient_bytes - layer_activations(job).recomputed, 1);
    // The peak is a whole micro-batch on the last stage, and two checkpoints and a recomputed
    // micro-batch on the first.
    const auto peaks = evaluate_schedule(schedule, stage_costs(costs), 0).peak_activation;
    EXPECT_NEAR(peaks[1], kept[1].activation_bytes, 1);
    EXPECT_NEAR(peaks[0], 2 * chunks[0].activation_bytes + chunks[0].recomputed_bytes, 1);
  }
}

TEST(UnitCosts, MemoryIsOfAllSlicesAndTheLargest) {
  const Job job = small_job(llama3_8b(), 2);
  const auto chunks = chunk_costs(job);
  const auto units = unit_costs(job, sliced(2, 4), chunks);
  const auto memory = memory_chunks(chunks, units);
  ASSERT_EQ(memory.size(), 2U);
  for (std::size_t stage = 0; stage < 2; ++stage) {
    EXPECT_NEAR(memory[stage].activation_bytes, chunks[stage].activation_bytes, 10);
    EXPECT_EQ(memory[stage].transient_bytes, units[stage * 4 + 3].transient_bytes);
    EXPECT_LT(memory[stage].transient_bytes, chunks[stage].transient_bytes);
    EXPECT_EQ(memory[stage].parameters, chunks[stage].parameters);
  }
}

}  // namespace
}  // namespace windtunnel
