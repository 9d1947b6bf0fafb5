// How long it takes to write a snapshot (save_s) and to read it back: whole (restore_s), with nodes
// lost that its code or copies cover (rebuild_s), and converted for a job that lacks other nodes
// than then (reshape_s).
#pragma once

#include <vector>

#include "models/calibration/calibration.hpp"
#include "models/machine/cluster.hpp"
#include "models/reliability/snapshot.hpp"
#include "models/workload/layout.hpp"

namespace windtunnel {

// Of the training state that GPUs must save: of the fullest one (of those that are asked about),
// and of all.
struct SavedState {
  double fullest_bytes = 0;
  double all_bytes = 0;
};
// `bytes_per_gpu` by pipeline rank: snapshot_bytes_per_gpu().
SavedState saved_state(const std::vector<double>& bytes_per_gpu, const Layout& layout);

// Seconds until a snapshot of a tier without a code can be restored, with nothing beside it: what
// the tasks of policies/protection/snapshot_tasks.hpp take alone. First to the host, then from
// there to its place. S is SavedState::fullest_bytes times moved_share(), w the parts of a process
// that writes (writer_parts()):
//   to the host   max(w S / PCIe, w S / SnapshotWriter::copy_Bps, g S / host memory)
//   local-disk    start + max(g S / disk, w S / SnapshotWriter::write_Bps)
//   storage       start + latency + max(all bytes / storage write, g S / storage NIC,
//                 w S / SnapshotWriter::write_Bps)
// A SnapshotTier::copy_limit_Bps holds for the copy to the host besides. 0 for replicas.
double save_s(const SnapshotTier& tier, const SavedState& state, const Layout& layout,
              const Cluster& cluster, const Calibration& calibration);

// Seconds until every GPU has its state again, all ranks reading at once what they hold themselves.
// S is SavedState::fullest_bytes times restored_share(). Each byte leaves the tier once (weights
// that several replicas need are read by one of them and gathered over the training network, which
// is faster than storage by orders and not counted), then crosses host memory and PCIe. g GPUs per
// node:
//   to the GPU    max(w S / PCIe, w S / SnapshotWriter::copy_Bps, g S / host memory)
//   host-memory, peers   max(w S / SnapshotWriter::read_Bps, that) (the own copy is at home)
//   local-disk    max(g S / disk, w S / SnapshotWriter::read_Bps) + that
//   storage       latency + max(all bytes / storage read, g S / storage NIC,
//                 w S / SnapshotWriter::read_Bps) + that
// Every file is read once, also where several processes want it: the others find it in memory.
//   replicas      what a GPU holds, S x ranks that hold the same, from a live one over its NIC
double restore_s(const SnapshotTier& tier, const SavedState& state, const Layout& layout,
                 const Cluster& cluster, const Calibration& calibration);

// The same when as many members as the code covers, m of k + m, were lost; 0: it covers none.
//   code over nodes: max(k, m) g S / NICs of a node (each rebuilder takes k blocks in while each of
//     the k that are left sends to m) or, if that takes longer, g S / disk of those left; then
//     decoding k g S, then to the GPU. Further copies: k = 1 and nothing to decode (GEMINI, SOSP
//     2023, retrieval from a peer).
//   code in the node: decoding k S, then to the GPU
//   recompute: the lost optimizer state comes out of the weights: as restore_s()
//   replicas: restore_s()
double rebuild_s(const SnapshotTier& tier, const SavedState& state, const Layout& layout,
                 const Cluster& cluster, const Calibration& calibration);

// Besides, where replicas were lost or came back since the copy was taken, and shards go over all
// of them: it is converted, read and written at its place once more. Without sharding, or with
// whole copies of shards left, every rank finds its own; a copy for any layout (Universal
// Checkpointing, arXiv 2406.18820) is read as it is needed.
double reshape_s(const SnapshotTier& tier, const SavedState& state, const Layout& layout,
                 const Cluster& cluster, const Calibration& calibration);
// The same for another tp, pp or dp, of which no rank finds its own: Universal Checkpointing's
// conversion, or 0 where loading does it (SnapshotTier::any_layout; ByteCheckpoint, arXiv
// 2407.20143).
double convert_s(const SnapshotTier& tier, const SavedState& state, const Layout& layout,
                 const Cluster& cluster, const Calibration& calibration);

// What nodes read at every restart besides (StorageSpec::startup_bytes), and how much longer all of
// it takes beside others that restart at the same time (StorageSpec::storm).
struct StartupReads {
  double alone_s = 0;
  double storm_s = 0;
  bool operator==(const StartupReads&) const = default;
};

// Before a copy of this tier is loaded; nullptr: the job starts anew. From storage the copy is read
// together with the rest, from elsewhere behind it. Storage is shared evenly by the nodes that read
// from it, each at most as fast as its own way there; those that have read what they need leave
// theirs to the others:
//   r = min(storage read / nodes, storage NIC)
StartupReads startup_reads(const SnapshotTier* tier, const SavedState& state, const Layout& layout,
                           const Cluster& cluster, const Calibration& calibration);

}  // namespace windtunnel
