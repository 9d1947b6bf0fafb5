// Reading a snapshot back.
#pragma once

#include <vector>

#include "models/calibration.hpp"
#include "models/cluster.hpp"
#include "models/layout.hpp"
#include "models/snapshot.hpp"

namespace windtunnel {

// Seconds until every GPU has its state again, all ranks reading at once.
// `bytes_per_gpu` by pipeline rank: snapshot_bytes_per_gpu(). Each byte leaves the tier once
// (weights that several replicas need are read by one of them and gathered over the training
// network, which is faster than storage by orders and not counted), then crosses host memory and
// PCIe.
//   host-memory: max over ranks of max(bytes / PCIe, a node's bytes / host memory)
//   storage: latency + max(all bytes / storage read, a node's bytes / its storage NIC) + the same
double restore_s(const SnapshotTier& tier, const std::vector<double>& bytes_per_gpu,
                 const Layout& layout, const Cluster& cluster, const Calibration& calibration);

}  // namespace windtunnel
