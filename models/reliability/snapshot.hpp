// A snapshot tier: where a copy of the training state is stored, how it gets there, how often, and
// what protects it. A policy is a stack of tiers, nearest first. Published protection schemes are
// such stacks (scenarios/library/snapshots.yaml), without code of their own.
#pragma once

#include <memory>
#include <string>

#include "models/base/choice.hpp"
#include "models/base/origin.hpp"

namespace windtunnel {

enum class SnapshotPlace {
  host_memory,  // of the GPU's own node
  peers,        // host memory of a group of nodes including its own, protected by `code`
  local_disk,   // the node's own drives, or with a code those of a group of nodes
  storage,      // shared by the cluster
  replicas,     // no copy: GPUs that hold the same shard; data moves only after a failure
};
template <>
inline constexpr Choice<SnapshotPlace> kChoices<SnapshotPlace>[] = {
    {"host-memory", SnapshotPlace::host_memory},
    {"peers", SnapshotPlace::peers},
    {"local-disk", SnapshotPlace::local_disk},
    {"storage", SnapshotPlace::storage},
    {"replicas", SnapshotPlace::replicas}};

enum class SnapshotMode {
  sync,   // training waits until the copy is complete
  async,  // training waits until the data is in pinned host memory; the rest overlaps training
  lazy,   // data is copied during forward and backward; only the optimizer, which changes it, waits
};

// What training does when a snapshot is due and the previous one is not complete. Behaviour of
// software: models/cost/snapshot/snapshot_writer.cpp.
enum class WhenBusy {
  skip,   // continues, without this snapshot
  queue,  // one snapshot waits in host memory; training waits before the one after it
  block,  // waits until the previous one is complete
};
template <>
inline constexpr Choice<WhenBusy> kChoices<WhenBusy>[] = {
    {"skip", WhenBusy::skip}, {"queue", WhenBusy::queue}, {"block", WhenBusy::block}};

enum class CodeName {
  none,
  copies,  // `data` = 1: `parity` additional copies
  xor_parity,
  reed_solomon,
  recompute,  // in the node: weights twice, from which optimizer state is recomputed
};

// An MDS code over `data + parity` members: any `data` of them restore everything. A member keeps
// its own data and, rotating as in RAID 5, others' parity of parity / data times its data's size.
struct ErasureCode {
  CodeName name = CodeName::none;
  int data = 1;
  int parity = 0;
  bool in_node = false;  // members are keeper processes of one node, not nodes
  bool on_gpu = false;   // encoded before the copy to the host instead of after it on CPU cores
  double cpu_cores = 4;  // used for encoding, per node
  bool spread = false;   // members far apart, not adjacent nodes
  int members() const { return data + parity; }
};

// Which ranks write a snapshot, and how much each reads back.
enum class WritingRanks {
  all,      // ranks with the same shard each write a part and read that part back
  holders,  // one of the ranks with the same shard writes it; each reads the whole shard
  one,      // the first rank gathers and writes the whole state; it reads it and distributes it
};
template <>
inline constexpr Choice<WritingRanks> kChoices<WritingRanks>[] = {
    {"all", WritingRanks::all}, {"holders", WritingRanks::holders}, {"one", WritingRanks::one}};

// The software that serialises tensors to files and back. A process of it is limited by its own
// rates even if storage is faster. Bytes per second and process; 0: no limit.
// models/cost/snapshot/snapshot_writer.hpp has presets.
struct SnapshotWriter {
  double write_Bps = 0;
  double read_Bps = 0;
  double copy_Bps = 0;  // between GPU and host if its host memory is not pinned
  double start_s = 0;   // per snapshot, before the first byte is written: plan, files
  WritingRanks ranks = WritingRanks::all;
  Origin origin = Origin::assumed;
};

// Every set of tiers that can be due together is simulated once: 2^tiers iterations.
inline constexpr int kMaxSnapshotTiers = 4;
// Complete copies that a tier can keep.
inline constexpr int kMostKeptCopies = 8;

struct SavingRule;  // models/reliability/saving_rule.hpp

struct SnapshotTier {
  SnapshotPlace place = SnapshotPlace::storage;
  SnapshotMode mode = SnapshotMode::sync;
  WhenBusy when_busy = WhenBusy::block;
  // Exactly one of the three intervals is positive, or `own` is set; replicas have none.
  int every_iterations = 0;
  double every_s = 0;
  bool keeper_process = false;  // host memory survives a crash of the trainer
  // interval chosen so that snapshots cost at most this share of time (CheckFreq)
  double every_overhead = 0;
  ErasureCode code{};
  SnapshotWriter writer{};
  // Limit in bytes per second and GPU on the copy to the host; 0: none.
  double copy_limit_Bps = 0;
  // Share of the state that a snapshot moves: differential and quantised snapshots (Check-N-Run).
  // Every `full_every`-th moves everything that quantisation leaves; a restore reads that one and
  // all later ones.
  double changed_share = 1;
  double quantised_share = 1;
  int full_every = 1;
  int kept = 2;               // complete copies on storage and disks; memory keeps only the newest
  bool any_layout = false;    // any layout can load it without conversion (Universal Checkpointing)
  double coordination_s = 0;  // additional wait of training per snapshot
  std::shared_ptr<const SavingRule> own = nullptr;  // the calling program's rule; null: an interval
};

// The share of the state that is moved, averaged over full and differential snapshots.
inline double moved_share(const SnapshotTier& tier) {
  const double differential = tier.changed_share * (tier.full_every - 1);
  return tier.quantised_share * (1 + differential) / tier.full_every;
}

}  // namespace windtunnel
