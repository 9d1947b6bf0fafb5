// What one snapshot of a tier moves, encodes and keeps, per GPU, and what reading it back takes to
// decode. An MDS code over k + m members in rotation (RAID 5; REFT's RAIM5, arXiv 2310.12670): data
// stay at home; each member's share of the parity is m / k of its size, and reducing each parity
// block over its k data blocks moves m bytes out and in per byte of state. Further copies (GEMINI,
// SOSP 2023): one byte each.
#pragma once

#include "models/base/origin.hpp"
#include "models/calibration/calibration.hpp"
#include "models/machine/cluster.hpp"
#include "models/reliability/snapshot.hpp"

namespace windtunnel {

// Bytes per GPU.
struct SnapshotBytes {
  double state = 0;    // that this snapshot takes of the GPU's state, mean of full and differential
  double moved = 0;    // over PCIe to the host
  double coded = 0;    // of `state`, read by CPU cores to encode
  double parity = 0;   // that the code adds to `state` on the node
  double wire = 0;     // over the compute NICs, out and as much in
  double written = 0;  // to a disk or to storage
};
// `state_bytes`: snapshot_bytes_per_gpu(); `weight_share` of them are weights, the rest optimizer.
SnapshotBytes snapshot_bytes(const SnapshotTier& tier, double state_bytes, double weight_share);

// Of host memory that the tier takes per GPU: where memory is the place, the last complete copy
// (with all differentials since its full one) and the one being written, coded as they are;
// else the buffer that what travels on is staged in, of the largest snapshot.
double snapshot_host_bytes(const SnapshotTier& tier, double state_bytes, double weight_share);
// Of the node's own drives, where they are the place: the copies that it keeps
// (SnapshotTier::kept), each with the full snapshot that it builds on and the differentials since,
// and the one being written, coded as they are.
double snapshot_disk_bytes(const SnapshotTier& tier, double state_bytes, double weight_share);

// Bytes that a restore reads per byte of state: the full snapshot and, on average, half of the
// differentials that follow until the next.
double restored_share(const SnapshotTier& tier);

// Data bytes per second that one CPU core encodes (or decodes: the same tables and loops).
Parameter core_encode_rate(const ErasureCode& code);
// Data bytes per second of a GPU: what it reads and writes, (data + parity) / data of them, over
// its memory bandwidth.
double gpu_encode_rate(const ErasureCode& code, const GpuSpec& gpu, const Calibration& calibration);

}  // namespace windtunnel
