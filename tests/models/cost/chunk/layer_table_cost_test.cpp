#include "models/cost/chunk/layer_table_cost.hpp"

#include <gtest/gtest.h>

#include "models/cost/memory/memory.hpp"
#include "models/workload/layer_table.hpp"
#include "tests/models/cost/cost_fixtures.hpp"
#include "tests/support/error_of.hpp"

namespace windtunnel {
namespace {

Job network_job(int micro) {
  NetworkBuilder builder({3, 32, 32});
  builder.convolution("conv", {64, {3, 1, 1}, false, true, true});
  builder.pool("pool", LayerKind::max_pool, {2, 2, 0});
  builder.linear("fc", 10, false);
  Job job;
  job.network = std::make_shared<const LayerTable>(LayerTable{"small", builder.take(), "test"});
  job.model = network_model(*job.network);
  job.cluster = test_cluster();
  job.calibration = test_calibration();
  job.batch = {micro, micro, 1};
  return job;
}

std::string fault_of(const Job& job) {
  return error_of([&] { chunk_costs(job); });
}

TEST(LayerTableCost, IsTheSumOfItsKernels) {
  const Job job = network_job(64);
  const std::vector<ChunkCost> chunks = chunk_costs(job);
  ASSERT_EQ(chunks.size(), 1u);
  double forward_s = 0;
  double flops = 0;
  for (const Pass pass : {Pass::forward, Pass::backward_input, Pass::backward_weight}) {
    for (const Op& op : network_ops(*job.network, 64, job.precision, pass)) {
      flops += op.flops;
      if (pass != Pass::forward) continue;
      forward_s += op_cost(op, job.cluster.node.gpu, job.precision, job.calibration).seconds;
    }
  }
  EXPECT_DOUBLE_EQ(total_seconds(chunks[0].forward), forward_s);
  EXPECT_EQ(chunks[0].parameters, job.network->parameters());
  // Model FLOPs are three times the forward pass; they include the gradient of the images, which is
  // not computed.
  EXPECT_DOUBLE_EQ(model_flops(*job.network, 64),
                   flops + 2 * 64 * job.network->layers.front().forward_macs());
  EXPECT_DOUBLE_EQ(chunks[0].hardware_flops, model_flops(*job.network, 64));
}

// Winograd's algorithm reduces the multiplications of the 3 x 3 convolution, in fp32 only. Bytes
// and the linear layer stay the same.
TEST(LayerTableCost, WinogradDividesMultiplications) {
  Job job = network_job(64);
  job.precision = Precision::fp32;
  const std::vector<LayerCost> direct = network_layer_costs(job);
  job.calibration.convolution_winograd = {2.25, 2.25, 2.25, Origin::assumed, "test"};
  const std::vector<LayerCost> fewer = network_layer_costs(job);
  EXPECT_LT(fewer.front().backward_weight.seconds, direct.front().backward_weight.seconds);
  EXPECT_GT(fewer.front().backward_weight.seconds, direct.front().backward_weight.seconds / 2.25);
  EXPECT_EQ(fewer.back().backward_s(), direct.back().backward_s());
  // HFU counts the multiplications that Winograd's algorithm saves, as it is not recomputation that
  // is saved.
  EXPECT_DOUBLE_EQ(chunk_costs(job)[0].hardware_flops, model_flops(*job.network, 64));
  job.precision = Precision::bf16;
  const double half_s = network_layer_costs(job).front().backward_weight.seconds;
  job.calibration.convolution_winograd.value = 1;
  EXPECT_EQ(network_layer_costs(job).front().backward_weight.seconds, half_s);
}

TEST(LayerTableCost, HostLaunchesStayBesideTheKernels) {
  Job job = network_job(64);
  const double kernels_s = total_seconds(chunk_costs(job)[0].forward);
  job.calibration.host_launch_s.value = 1;
  // The forward pass has five kernels, each far shorter than its launch of 1 s.
  const double waiting_s = total_seconds(chunk_costs(job)[0].forward);
  EXPECT_NEAR(waiting_s, 5, 1e-6);
  EXPECT_GT(waiting_s, kernels_s);
  job.software.cuda_graphs = true;
  EXPECT_DOUBLE_EQ(total_seconds(chunk_costs(job)[0].forward), kernels_s);
}

// Kept at 2 B per element are the image, the convolution's output for the norm, the norm's output
// for the ReLU, the pool's output and the last one.
TEST(LayerTableCost, KeepsItsActivations) {
  const ChunkCost chunk = chunk_costs(network_job(64))[0];
  const double pixels = 32 * 32;
  EXPECT_EQ(chunk.activation_bytes, 2 * 64 * (3 * pixels + 2 * 64 * pixels + 16 * pixels + 10));
  EXPECT_EQ(chunk.transient_bytes, 2 * 64 * 2 * 64 * pixels);
}

TEST(LayerTableCost, RunsDataParallelOnly) {
  EXPECT_EQ(fault_of(network_job(4)), "no error");
  Job job = network_job(4);
  job.batch.sequence = 128;
  EXPECT_EQ(fault_of(job),
            "batch.sequence is 128, but model 'small' has samples, not sequences; leave it out");
  job = network_job(4);
  job.layout.sequence_parallel = true;
  EXPECT_EQ(fault_of(job), "layout.sequence_parallel: model 'small' has no sequences");
  job = network_job(4);
  job.layout.stage_layers = {1};
  EXPECT_EQ(fault_of(job), "layout.stages: model 'small' runs as one stage");
}

TEST(LayerTableCost, MemoryFollowsTheSharding) {
  Job job = network_job(4);
  job.layout.dp = 8;
  job.layout.sharding = Sharding::zero1;
  const std::vector<ChunkCost> chunks = chunk_costs(job);
  const GpuMemory memory = gpu_memory(job, chunks, {chunks[0].activation_bytes}).front();
  const double parameters = job.network->parameters();
  EXPECT_DOUBLE_EQ(memory.weights, 2 * parameters);
  EXPECT_DOUBLE_EQ(memory.gradients, 4 * parameters);
  EXPECT_DOUBLE_EQ(memory.optimizer, 12 * parameters / 8);
  EXPECT_DOUBLE_EQ(memory.activations, chunks[0].activation_bytes);
  // ZeRO-3 gathers the largest layer with weights, here the linear one, and the one before it, the
  // norm.
  job.layout.sharding = Sharding::zero3;
  EXPECT_EQ(gathered_parameters(job), 2 * 64 + 10 * (64 * 256 + 1));
}

}  // namespace
}  // namespace windtunnel
