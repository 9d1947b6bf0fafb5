// How long it takes to write a snapshot (save_s) and to restore it: normally (restore_s), after
// losing nodes that its code or copies tolerate (rebuild_s), and converted for a job with other
// missing nodes than when it was taken (reshape_s).
#pragma once

#include <vector>

#include "models/calibration/calibration.hpp"
#include "models/machine/cluster.hpp"
#include "models/reliability/snapshot.hpp"
#include "models/workload/layout.hpp"

namespace windtunnel {

// Training state that GPUs must save: of the fullest GPU considered, and in total.
struct SavedState {
  double fullest_bytes = 0;
  double all_bytes = 0;
};
// The caller gets `bytes_per_gpu`, by pipeline rank, from snapshot_bytes_per_gpu().
SavedState saved_state(const std::vector<double>& bytes_per_gpu, const Layout& layout);

// Seconds until a snapshot of a tier without a code can be restored, when nothing else runs: the
// duration of the tasks of policies/protection/snapshot_tasks.hpp. The data goes to the host, then
// to its place. S is SavedState::fullest_bytes times moved_share(), w the parts of a writing
// process (writer_parts()), g the GPUs of a node:
//   to the host   max(w S / PCIe, w S / SnapshotWriter::copy_Bps, g S / host memory)
//   local-disk    start + max(g S / disk, w S / SnapshotWriter::write_Bps)
//   storage       start + latency + max(all bytes / storage write, g S / storage NIC,
//                 w S / SnapshotWriter::write_Bps)
// SnapshotTier::copy_limit_Bps also limits the copy to the host. 0 for replicas.
double save_s(const SnapshotTier& tier, const SavedState& state, const Layout& layout,
              const Cluster& cluster, const Calibration& calibration);

// Seconds until every GPU has its state again, with all ranks reading their own data concurrently.
// S is SavedState::fullest_bytes times restored_share(). Each byte leaves the tier once, then
// crosses host memory and PCIe. (Weights needed by several replicas are read by one of them and
// gathered over the training network, which is orders of magnitude faster than storage and not
// counted.)
//   to the GPU    max(w S / PCIe, w S / SnapshotWriter::copy_Bps, g S / host memory)
//   host-memory, peers   max(w S / SnapshotWriter::read_Bps, to the GPU): each node has its copy
//   local-disk    max(g S / disk, w S / SnapshotWriter::read_Bps) + to the GPU
//   storage       latency + max(all bytes / storage read, g S / storage NIC,
//                 w S / SnapshotWriter::read_Bps) + to the GPU
//   replicas      what a GPU holds, S x ranks that hold the same, over the NIC of a live GPU
// Every file is read once even if several processes need it: the others find it in memory.
double restore_s(const SnapshotTier& tier, const SavedState& state, const Layout& layout,
                 const Cluster& cluster, const Calibration& calibration);

// The same after losing m of k + m members, as many as the code tolerates; 0: it tolerates none.
//   code over nodes: max(k, m) g S / NICs of a node (each of the m new members receives k blocks,
//     and each of the k survivors sends to m) or, if it takes longer, g S / disk of a survivor;
//     then decoding k g S, then to the GPU. Further copies: k = 1 and nothing to decode (GEMINI,
//     SOSP 2023, retrieval from a peer).
//   code in the node: decoding k S, then to the GPU
//   recompute: restore_s(), because the optimizer state is recomputed from the weights
//   replicas: restore_s()
double rebuild_s(const SnapshotTier& tier, const SavedState& state, const Layout& layout,
                 const Cluster& cluster, const Calibration& calibration);

// Additional time if replicas were lost or came back since the copy was taken and shards span all
// of them: the copy is converted, which reads and writes it at its place once more. Without
// sharding, or if whole copies of shards are left, every rank finds its own data; a copy for any
// layout (Universal Checkpointing, arXiv 2406.18820) needs no conversion.
double reshape_s(const SnapshotTier& tier, const SavedState& state, const Layout& layout,
                 const Cluster& cluster, const Calibration& calibration);
// Time of the conversion after a change of tp, pp or dp, when no rank finds its own data (Universal
// Checkpointing); 0 if loading converts (SnapshotTier::any_layout; ByteCheckpoint, arXiv
// 2407.20143).
double convert_s(const SnapshotTier& tier, const SavedState& state, const Layout& layout,
                 const Cluster& cluster, const Calibration& calibration);

// Other data that nodes read at every restart (StorageSpec::startup_bytes), and by how much all
// reads are slowed by other jobs that restart at the same time (StorageSpec::storm).
struct StartupReads {
  double alone_s = 0;
  double storm_s = 0;
  bool operator==(const StartupReads&) const = default;
};

// `tier`: the restart is from a copy of this tier; nullptr: the job starts from scratch. A copy in
// storage is read together with the other data, any other copy afterwards. Nodes share the storage
// bandwidth evenly, each up to its own link; nodes that have finished leave their share to the
// others:
//   r = min(storage read / nodes, storage NIC)
StartupReads startup_reads(const SnapshotTier* tier, const SavedState& state, const Layout& layout,
                           const Cluster& cluster, const Calibration& calibration);

}  // namespace windtunnel
