// A small job with round numbers for tests: 2 nodes of 4 GPUs unless changed.
#pragma once

#include "models/calibration/calibration.hpp"
#include "models/plan/job.hpp"

namespace windtunnel {

inline Parameter spec(double value) {
  return {value, value, value, Origin::spec, "test"};
}

inline Calibration ideal_calibration() {
  Calibration calibration;
  calibration.name = "ideal";
  for (const CalibrationField& field : calibration_fields()) {
    calibration.*field.member = {0, 0, 0, Origin::published, "test"};
  }
  for (Parameter Calibration::*efficiency :
       {&Calibration::gemm_efficiency, &Calibration::attention_forward_efficiency,
        &Calibration::attention_backward_efficiency, &Calibration::memory_efficiency,
        &Calibration::nvlink_efficiency, &Calibration::nic_efficiency,
        &Calibration::pcie_efficiency, &Calibration::host_memory_efficiency,
        &Calibration::storage_efficiency, &Calibration::kernel_sustained, &Calibration::scan_share,
        &Calibration::expert_cast_share}) {
    (calibration.*efficiency).value = 1;
  }
  calibration.gemm_tile_m.value = 128;
  calibration.gemm_tile_n.value = 128;
  calibration.optimizer_bytes.value = 30;
  return calibration;
}

inline TransformerSpec small_model() {
  TransformerSpec model;
  model.name = "small";
  model.layers = 8;
  model.hidden = 1024;
  model.heads = 16;
  model.kv_heads = 16;
  model.ffn_hidden = 4096;
  model.vocabulary = 32768;
  model.sequence = 1024;
  model.source = "test";
  return model;
}

inline Cluster small_cluster(int nodes, int gpus_per_node) {
  Cluster cluster;
  cluster.nodes = nodes;
  NodeSpec& node = cluster.node;
  node.name = "test-node";
  node.gpus = gpus_per_node;
  node.nics = gpus_per_node;
  node.gpu.name = "test-gpu";
  for (Parameter GpuSpec::*flops :
       {&GpuSpec::fp32_flops, &GpuSpec::tf32_flops, &GpuSpec::fp16_flops, &GpuSpec::bf16_flops}) {
    node.gpu.*flops = spec(100e12);
  }
  node.gpu.memory_bytes = spec(80e9);
  node.gpu.memory_Bps = spec(2e12);
  node.gpu.sms = spec(100);
  node.gpu.l2_bytes = spec(40e6);
  node.nvlink_Bps = spec(200e9);
  node.nic_Bps = spec(25e9);
  node.pcie_Bps = spec(20e9);
  node.host_memory_bytes = spec(1e12);
  node.host_memory_Bps = spec(200e9);
  node.cpu_cores = spec(64);
  node.storage_nic_Bps = spec(10e9);
  cluster.storage.write_Bps.value = 20e9;
  cluster.storage.read_Bps.value = 20e9;
  cluster.storage.latency_s.value = 0;
  return cluster;
}

inline Job small_job(int tp, int pp, int dp, int vpp = 1) {
  Job job;
  job.model = small_model();
  job.layout.tp = tp;
  job.layout.pp = pp;
  job.layout.vpp = vpp;
  job.layout.dp = dp;
  job.layout.sharding = Sharding::zero1;
  job.layout.sequence_parallel = tp > 1;
  job.cluster =
      small_cluster(tp * pp * dp >= 4 ? tp * pp * dp / 4 : 1, tp * pp * dp >= 4 ? 4 : tp * pp * dp);
  job.batch = {8 * dp, 1, 1024};
  job.precision = Precision::bf16;
  job.schedule.name = vpp > 1 ? "interleaved-1f1b" : "1f1b";
  job.communication.overlap = GradientOverlap::bucketed;
  job.calibration = ideal_calibration();
  return job;
}

}  // namespace windtunnel
