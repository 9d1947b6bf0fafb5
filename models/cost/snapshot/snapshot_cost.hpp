// Bytes that a snapshot of a tier moves, encodes and stores per GPU, and the decoding when it is
// restored. An MDS code over k + m members in rotation (RAID 5; REFT's RAIM5, arXiv 2310.12670):
// data stay local; each member's share of parity is m / k of its size, and reducing each parity
// block over its k data blocks moves m bytes out and in per byte of state. Each additional copy
// (GEMINI, SOSP 2023) moves one byte.
#pragma once

#include "models/base/origin.hpp"
#include "models/calibration/calibration.hpp"
#include "models/machine/cluster.hpp"
#include "models/reliability/snapshot.hpp"

namespace windtunnel {

// Bytes per GPU.
struct SnapshotBytes {
  // part of the GPU's state in this snapshot, mean over full and differential ones
  double state = 0;
  double moved = 0;    // over PCIe to the host
  double coded = 0;    // part of `state` that CPU cores read to encode
  double parity = 0;   // added by the code to `state` on the node
  double wire = 0;     // over the compute NICs, out, and the same in
  double written = 0;  // to a disk or to storage
};
// `state_bytes`: snapshot_bytes_per_gpu(), of which `weight_share` are weights and the rest is
// optimizer state.
SnapshotBytes snapshot_bytes(const SnapshotTier& tier, double state_bytes, double weight_share);

// Host memory that the tier needs per GPU. If memory is the place: the last complete copy (with all
// differentials since its full one) and the one being written, both coded. Otherwise: the staging
// buffer for the largest snapshot.
double snapshot_host_bytes(const SnapshotTier& tier, double state_bytes, double weight_share);
// Bytes on the node's own drives, if they are the place: the kept copies (SnapshotTier::kept), each
// with its full snapshot and the differentials since, and the one being written, all coded.
double snapshot_disk_bytes(const SnapshotTier& tier, double state_bytes, double weight_share);

// Bytes that a restore reads per byte of state: the full snapshot and, on average, half of the
// differentials until the next one.
double restored_share(const SnapshotTier& tier);

// Data bytes per second that one CPU core encodes (decoding uses the same tables and loops).
Parameter core_encode_rate(const ErasureCode& code);
// Data bytes per second that a GPU encodes: memory bandwidth divided by the bytes read and written
// per data byte, (data + parity) / data.
double gpu_encode_rate(const ErasureCode& code, const GpuSpec& gpu, const Calibration& calibration);

}  // namespace windtunnel
