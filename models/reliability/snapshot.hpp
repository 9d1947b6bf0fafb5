// A snapshot tier: where a copy of the training state goes, how it gets there, how often, and what
// protects it. A policy is a stack of tiers, the nearest first. Published protection schemes are
// stacks of such tiers (scenarios/library/snapshots.yaml), not code of their own.
#pragma once

#include <memory>
#include <string>

#include "models/base/choice.hpp"
#include "models/base/origin.hpp"

namespace windtunnel {

enum class SnapshotPlace {
  host_memory,  // of the GPU's own node
  peers,        // host memory of a group of nodes, the own one included: `code` says what of it
  local_disk,   // the node's own drives, or with a code those of a group of nodes
  storage,      // shared by the cluster
  replicas,     // no copy: the GPUs that hold the same shard; nothing is moved until a failure
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
  async,  // training waits until the bytes are in pinned host memory; the rest goes on beside it
  lazy,   // they go there beside forward and backward; the optimizer, which changes them, waits
};

// What training does when a snapshot is due and the one before it is not complete. Which software
// does what: models/cost/snapshot/snapshot_writer.cpp.
enum class WhenBusy {
  skip,   // trains on, and takes none this time
  queue,  // one snapshot waits its turn in host memory; for the one after it training waits
  block,  // waits until the one before is complete
};
template <>
inline constexpr Choice<WhenBusy> kChoices<WhenBusy>[] = {
    {"skip", WhenBusy::skip}, {"queue", WhenBusy::queue}, {"block", WhenBusy::block}};

enum class CodeName {
  none,
  copies,  // `data` = 1: `parity` further copies
  xor_parity,
  reed_solomon,
  recompute,  // in the node: weights twice, optimizer state recomputed from them
};

// An MDS code over `data + parity` members: any `data` of them restore everything. A member keeps
// its own data and parity / data of its size as parity of the others, in rotation (as RAID 5 does).
struct ErasureCode {
  CodeName name = CodeName::none;
  int data = 1;
  int parity = 0;
  bool in_node = false;  // members are the keeper processes of a node, not nodes
  bool on_gpu = false;   // encoded before the copy to the host, not after it on CPU cores
  double cpu_cores = 4;  // that encode, per node
  bool spread = false;   // members far apart, not adjacent nodes
  int members() const { return data + parity; }
};

// Which ranks write a snapshot, and how much of it each reads back.
enum class WritingRanks {
  all,      // each a part: those that hold the same shard share it; reads its part
  holders,  // of those that hold the same shard one writes it, and each reads it whole
  one,      // the first gathers the whole state and writes it; reads it whole and hands it out
};
template <>
inline constexpr Choice<WritingRanks> kChoices<WritingRanks>[] = {
    {"all", WritingRanks::all}, {"holders", WritingRanks::holders}, {"one", WritingRanks::one}};

// The software that makes files of tensors and tensors of files. A process of it has a pace of its
// own, however fast the storage is. Rates in bytes per second and process; 0: no limit.
// models/cost/snapshot/snapshot_writer.hpp names some.
struct SnapshotWriter {
  double write_Bps = 0;
  double read_Bps = 0;
  double copy_Bps = 0;  // between GPU and host, where its memory is not pinned
  double start_s = 0;   // in each snapshot before the first byte is written: plan, files
  WritingRanks ranks = WritingRanks::all;
  Origin origin = Origin::assumed;
};

// Every set of tiers that can fall due together is simulated once: 2^tiers iterations.
inline constexpr int kMaxSnapshotTiers = 4;
// Complete copies that a tier can hold on to.
inline constexpr int kMostKeptCopies = 8;

struct SavingRule;  // models/reliability/saving_rule.hpp

struct SnapshotTier {
  SnapshotPlace place = SnapshotPlace::storage;
  SnapshotMode mode = SnapshotMode::sync;
  WhenBusy when_busy = WhenBusy::block;
  // Exactly one of the three is positive, or `own` is there; none for replicas.
  int every_iterations = 0;
  double every_s = 0;
  bool keeper_process = false;  // host memory outlives the trainer's crash
  double every_overhead = 0;    // as often as costs at most this share of the time (CheckFreq)
  ErasureCode code{};
  SnapshotWriter writer{};
  // Bytes per second and GPU that the copy to the host is held to; 0: as fast as it goes.
  double copy_limit_Bps = 0;
  // Of the state that a snapshot moves: differential and quantised snapshots (Check-N-Run). Every
  // `full_every`-th moves all that quantisation leaves; a restore reads that and all after it.
  double changed_share = 1;
  double quantised_share = 1;
  int full_every = 1;
  int kept = 2;               // complete copies, of storage and disks; memory keeps the newest
  bool any_layout = false;    // any layout loads it as it is (Universal Checkpointing)
  double coordination_s = 0;  // training waits for so long in each snapshot besides
  std::shared_ptr<const SavingRule> own = nullptr;  // decides, of the calling program
};

// The moved share of the state, mean over full and differential snapshots.
inline double moved_share(const SnapshotTier& tier) {
  const double differential = tier.changed_share * (tier.full_every - 1);
  return tier.quantised_share * (1 + differential) / tier.full_every;
}

}  // namespace windtunnel
