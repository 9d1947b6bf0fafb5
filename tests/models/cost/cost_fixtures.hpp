// Machines and models that the cost tests share: round numbers near H100, published models.
#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

#include "models/base/error.hpp"
#include "models/plan/job.hpp"
#include "models/workload/op_kernel.hpp"
#include "tests/support/parameter.hpp"

namespace windtunnel {

inline const Op& op_named(const std::vector<Op>& ops, std::string_view name) {
  const auto at = std::ranges::find(ops, name, &Op::name);
  CHECK(at != ops.end(), "no op '{}'", name);
  return *at;
}

inline Cluster test_cluster(int nodes = 1) {
  Cluster cluster;
  cluster.nodes = nodes;
  cluster.node.gpu.name = "test-gpu";
  cluster.node.gpu.fp32_flops = parameter(60e12);
  cluster.node.gpu.bf16_flops = parameter(1000e12);
  cluster.node.gpu.fp8_flops = parameter(2000e12);
  cluster.node.gpu.fp4_flops = parameter(4000e12);
  cluster.node.gpu.memory_bytes = parameter(80e9);
  cluster.node.gpu.memory_Bps = parameter(3e12);
  cluster.node.gpu.sms = parameter(132);
  cluster.node.nvlink_Bps = parameter(450e9);
  cluster.node.nic_Bps = parameter(50e9);
  return cluster;
}

inline Calibration test_calibration() {
  Calibration c;
  c.gemm_efficiency = parameter(0.8);
  c.gemm_k_half = parameter(200);
  c.gemm_tile_m = parameter(256);
  c.gemm_tile_n = parameter(128);
  c.attention_forward_efficiency = parameter(0.6);
  c.attention_backward_efficiency = parameter(0.5);
  c.attention_half_sequence = parameter(400);
  c.memory_efficiency = parameter(0.9);
  c.memory_half_bytes = parameter(4e6);
  c.kernel_launch_s = parameter(2e-6);
  c.kernel_sustained = parameter(0.75, Origin::published);
  c.optimizer_bytes = parameter(38);
  c.nvlink_efficiency = parameter(0.8);
  c.nvlink_latency_s = parameter(2e-6);
  c.nic_efficiency = parameter(0.9);
  c.nic_latency_s = parameter(5e-6);
  c.collective_launch_s = parameter(10e-6);
  c.framework_bytes = parameter(3e9);
  c.fragmentation = parameter(0.05);
  return c;
}

// Brown et al. 2020 (arXiv 2005.14165) state these sizes; Megatron-LM pads the vocabulary.
inline TransformerSpec gpt3_175b() {
  TransformerSpec model;
  model.name = "gpt3-175b";
  model.layers = 96;
  model.hidden = 12288;
  model.heads = model.kv_heads = 96;
  model.ffn_hidden = 49152;
  model.vocabulary = 51200;
  model.sequence = 2048;
  return model;
}

// Grattafiori et al. 2024 (arXiv 2407.21783), table 3.
inline TransformerSpec llama3(int layers, int hidden, int heads, int ffn_hidden) {
  TransformerSpec model;
  model.name = "llama3";
  model.layers = layers;
  model.hidden = hidden;
  model.heads = heads;
  model.kv_heads = 8;
  model.ffn_hidden = ffn_hidden;
  model.vocabulary = 128256;
  model.sequence = 8192;
  model.activation = Activation::swiglu;
  model.normalisation = Normalisation::rms_norm;
  model.position = PositionEncoding::rotary;
  model.biases = false;
  model.tied_embeddings = false;
  return model;
}
inline Job test_job(const TransformerSpec& model, const Layout& layout, const Batch& batch,
                    Precision precision = Precision::bf16, Recompute recompute = Recompute::none) {
  Job job;
  job.model = model;
  job.layout = layout;
  job.batch = batch;
  job.precision = precision;
  job.recompute = recompute;
  job.cluster = test_cluster(2);
  job.calibration = test_calibration();
  return job;
}

// DeepSeek-AI 2024 (arXiv 2412.19437), section 4.2, states these sizes; multi-token prediction is
// left out.
inline TransformerSpec deepseek_v3() {
  TransformerSpec model = llama3(61, 7168, 128, 18432);
  model.name = "deepseek-v3";
  model.kv_heads = 128;
  model.head_width = 128;
  model.vocabulary = 129280;
  model.sequence = 4096;
  model.moe = {
      .experts = 256, .per_token = 8, .ffn_hidden = 2048, .shared_ffn = 2048, .dense_layers = 3};
  model.latent = {.query_rank = 1536, .kv_rank = 512, .rotary_width = 64, .value_width = 128};
  return model;
}

inline TransformerSpec llama3_8b() {
  return llama3(32, 4096, 32, 14336);
}
inline TransformerSpec llama3_405b() {
  return llama3(126, 16384, 128, 53248);
}

}  // namespace windtunnel
