// A tower's kernels, bytes and operations, and what it adds to chunks, computed by hand.
#include "models/cost/op/op_tower.hpp"

#include <gtest/gtest.h>

#include "models/cost/chunk/chunk_cost.hpp"
#include "models/cost/chunk/kernel_seconds.hpp"
#include "models/cost/chunk/step_work.hpp"
#include "models/plan/task_cost.hpp"
#include "models/workload/training.hpp"
#include "tests/support/towers.hpp"

namespace windtunnel {
namespace {

double products(const std::vector<Op>& ops) {
  double sum = 0;
  for (const Op& op : ops) sum += op.kind == OpKind::gemm ? op.flops : 0;
  return sum;
}

Job with_training(Job job, bool tower, bool projector) {
  Training training;
  training.frozen_tower = !tower;
  training.frozen_projector = !projector;
  job.training = std::make_shared<const Training>(training);
  return job;
}

// Each of a micro-batch's sequences has two sources; together they are 128 patches and fill 32
// token places.
Job towered() {
  Tower tower = small_tower();
  tower.sources = 2;
  return job_with_tower(small_job(1, 1, 1), tower);
}

TEST(OpTower, EmbedsPatchesAndProjectsThem) {
  const Job job = towered();
  const double embedded = 2.0 * 128 * 48 * 256;
  EXPECT_DOUBLE_EQ(products(tower_end_ops(job, kTowerPart, Pass::forward)), embedded);
  EXPECT_EQ(products(tower_end_ops(job, kTowerPart, Pass::backward_input)), 0);
  EXPECT_DOUBLE_EQ(products(tower_end_ops(job, kTowerPart, Pass::backward_weight)), embedded);
  const double first = 2.0 * 32 * 256 * 512;
  const double second = 2.0 * 32 * 512 * 1024;
  for (const Pass pass : {Pass::forward, Pass::backward_input, Pass::backward_weight}) {
    EXPECT_DOUBLE_EQ(products(tower_end_ops(job, kProjectorPart, pass)), first + second);
  }
}

// Gradients flow back only as far as the first trained part.
TEST(OpTower, StopsWhereNothingIsTrained) {
  const double first = 2.0 * 32 * 256 * 512;
  const double second = 2.0 * 32 * 512 * 1024;
  const auto of = [&](const Job& job, int part, Pass pass) {
    return products(tower_end_ops(job, part, pass));
  };
  const Job projector = with_training(towered(), false, true);
  EXPECT_EQ(of(projector, kTowerPart, Pass::backward_weight), 0);
  EXPECT_DOUBLE_EQ(of(projector, kProjectorPart, Pass::backward_input), second);
  EXPECT_DOUBLE_EQ(of(projector, kProjectorPart, Pass::backward_weight), first + second);
  const Job tower = with_training(towered(), true, false);
  EXPECT_DOUBLE_EQ(of(tower, kProjectorPart, Pass::backward_input), first + second);
  EXPECT_EQ(of(tower, kProjectorPart, Pass::backward_weight), 0);
  const Job neither = with_training(towered(), false, false);
  EXPECT_EQ(of(neither, kProjectorPart, Pass::backward_input), 0);
  EXPECT_GT(of(neither, kProjectorPart, Pass::forward), 0);
}

// In 8 bits the output's gradient is cast even if only the weight gradients read it.
TEST(OpTower, CastsGradientsThatOnlyWeightsRead) {
  const auto casts = [](const Job& job, int part) {
    double bytes = 0;
    for (const Op& op : tower_end_ops(job, part, Pass::backward_input)) {
      if (op.name == "quantise") bytes += op.bytes;
    }
    return bytes;
  };
  Job job = towered();
  job.precision = Precision::fp8;
  const Job projector = with_training(job, false, true);
  EXPECT_GT(casts(job, kProjectorPart), 0);
  EXPECT_EQ(casts(projector, kProjectorPart), casts(job, kProjectorPart));
  EXPECT_DOUBLE_EQ(products(tower_end_ops(projector, kProjectorPart, Pass::backward_input)),
                   2.0 * 32 * 512 * 1024);
  EXPECT_GT(casts(job, kTowerPart), 0);
  EXPECT_EQ(products(tower_end_ops(job, kTowerPart, Pass::backward_input)), 0);
  EXPECT_EQ(casts(projector, kTowerPart), 0);
}

// Zeroth-order steps train all weights by forward passes only.
TEST(OpTower, HasNoBackwardPassInZerothOrderSteps) {
  const auto zeroth = [](Job job) {
    Training training{.method = TrainingMethod::zeroth_order};
    training.frozen_tower = training.frozen_projector = false;
    job.training = std::make_shared<const Training>(training);
    return job;
  };
  const Job job = zeroth(towered());
  EXPECT_EQ(tower_end_bytes(job), 0);
  const ChunkCost chunk = chunk_costs(job)[0];
  const ChunkCost alone = chunk_costs(zeroth(small_job(1, 1, 1)))[0];
  EXPECT_EQ(chunk.activation_bytes, alone.activation_bytes);
  EXPECT_EQ(total_seconds(chunk.backward_input), total_seconds(alone.backward_input));
  EXPECT_EQ(total_seconds(chunk.backward_weight), total_seconds(alone.backward_weight));
  EXPECT_GT(total_seconds(chunk.forward), total_seconds(alone.forward));
}

// Kept in 16 bits are the patches, the projector's two inputs, and the input of its activation.
TEST(OpTower, KeepsTheInputsOfItsProducts) {
  const double patches = 2.0 * 128 * 48;
  const double inputs = 2.0 * 32 * (256 + 512);
  const double activation = 2.0 * 32 * 512;
  EXPECT_DOUBLE_EQ(tower_end_bytes(towered()), patches + inputs + activation);
  EXPECT_DOUBLE_EQ(tower_end_bytes(with_training(towered(), false, true)), inputs + activation);
  EXPECT_EQ(tower_end_bytes(with_training(towered(), false, false)), 0);
}

// Korthikanti et al. 2022 (arXiv 2205.05198): a layer keeps 34 s b h in 16 bits with dropout, and 3
// s b h less without (one byte after attention, one after the MLP, and the mask of attention's
// output). A fused kernel keeps 4 B per row and head.
TEST(OpTower, AddsActivationsOfItsLayers) {
  const Job job = towered();
  const double alone = chunk_costs(small_job(1, 1, 1))[0].activation_bytes;
  const double rows = 128;
  const double layer = rows * 256 * 32 + rows * 4 * 4;
  EXPECT_DOUBLE_EQ(chunk_costs(job)[0].activation_bytes - alone, 2 * layer + tower_end_bytes(job));
  EXPECT_EQ(chunk_costs(with_training(towered(), false, false))[0].activation_bytes, alone);
}

// A chunk's hardware FLOPs exceed model FLOPs by the masked half of causal attention and by what a
// fused backward pass recomputes. A tower adds three times its forward pass, and 2.5 + 1 times its
// attention, without the gradient of the patches.
TEST(OpTower, AddsItsOperations) {
  const Job job = towered();
  const Tower& tower = *job.model.tower;
  const TowerFlops forward = tower_flops(tower);
  const double sources = 2.0 * job.batch.global;
  EXPECT_DOUBLE_EQ(tower_step_flops(job), 3 * sources * (forward.stack + forward.projector));
  EXPECT_DOUBLE_EQ(flops_per_step(job) - flops_per_step(small_job(1, 1, 1)), tower_step_flops(job));
  const double more =
      chunk_costs(job)[0].hardware_flops - chunk_costs(small_job(1, 1, 1))[0].hardware_flops;
  const double patches = 2.0 * 64 * 48 * 256;
  EXPECT_NEAR(more,
              2 * (3 * (forward.stack + forward.projector) + 0.5 * forward.attention - patches),
              1e-6 * more);
  EXPECT_DOUBLE_EQ(tower_step_flops(with_training(towered(), false, false)),
                   sources * (forward.stack + forward.projector));
  EXPECT_DOUBLE_EQ(tower_step_flops(with_training(towered(), false, true)),
                   sources * (forward.stack + 3 * forward.projector));
}

// More sources take longer and hold more; frozen parts save time and memory.
TEST(OpTower, NeverMakesAChunkCheaper) {
  for (const int tp : {1, 2, 8}) {
    for (const int pp : {1, 2}) {
      const auto first = [&](const Job& job) { return chunk_costs(job).front(); };
      const auto backward = [](const ChunkCost& chunk) {
        return total_seconds(chunk.backward_input) + total_seconds(chunk.backward_weight);
      };
      ChunkCost before = first(small_job(tp, pp, 1));
      for (const int sources : {0, 1, 2, 5}) {
        Tower tower = small_tower();
        tower.sources = sources;
        const Job job = job_with_tower(small_job(tp, pp, 1), tower);
        const ChunkCost chunk = first(job);
        if (sources > 0) {
          EXPECT_GT(total_seconds(chunk.forward), total_seconds(before.forward));
          EXPECT_GT(backward(chunk), backward(before));
          EXPECT_GT(chunk.activation_bytes, before.activation_bytes);
          const ChunkCost frozen = first(with_training(job, false, true));
          EXPECT_LT(backward(frozen), backward(chunk));
          EXPECT_LE(total_seconds(frozen.forward), total_seconds(chunk.forward));
          EXPECT_LT(frozen.activation_bytes, chunk.activation_bytes);
          EXPECT_LT(frozen.parameters, chunk.parameters);
          EXPECT_NEAR(frozen.parameters + frozen.frozen_parameters, chunk.parameters, 1e-6);
        }
        EXPECT_GE(chunk.parameters, before.parameters);
        before = chunk;
      }
    }
  }
}

// The kernel classes of a trace and the tasks of collectives include those of the tower.
TEST(OpTower, IsInWhatIsMadeOfChunks) {
  const auto more_s = [](const Job& with, const Job& without, auto seconds_of) {
    return seconds_of(with) - seconds_of(without);
  };
  const auto kernels_s = [](const Job& job) { return kernel_seconds(job)[0].total_s(); };
  const auto chunk_s = [](const Job& job) {
    const ChunkCost chunk = chunk_costs(job)[0];
    return total_seconds(chunk.forward) + total_seconds(chunk.backward_input) +
           total_seconds(chunk.backward_weight);
  };
  for (const bool trained : {true, false}) {
    const Job alone = with_training(small_job(1, 1, 1), trained, true);
    const Job job = with_training(towered(), trained, true);
    EXPECT_NEAR(more_s(job, alone, kernels_s), more_s(job, alone, chunk_s), 1e-9) << trained;
  }
  const Job divided = job_with_tower(small_job(2, 1, 1));
  const std::vector<ChunkRounds> rounds = chunk_rounds(divided);
  EXPECT_EQ(rounds[0].size(), chunk_rounds(small_job(2, 1, 1))[0].size() + 1);
  EXPECT_EQ(rounds[0].front().layers, 2);
}

}  // namespace
}  // namespace windtunnel
