// A running job of a drill has processes, disks, and the contents of each tier.
#pragma once

#include <cstdint>
#include <deque>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "models/machine/links/links.hpp"
#include "tests/validate/harness/drill/drill.hpp"
#include "tests/validate/harness/drill/kept_process.hpp"
#include "validate/harness/execute/run_clock.hpp"

namespace windtunnel {

// Folders stand for the disks of nodes and for the storage that all share.
class DrillFolders {
 public:
  explicit DrillFolders(int nodes);
  ~DrillFolders();
  DrillFolders(const DrillFolders&) = delete;
  DrillFolders& operator=(const DrillFolders&) = delete;

  std::string file(const SnapshotTier& of, int tier, int node) const;
  void replace_disk(int node) const;

 private:
  std::filesystem::path disk(int node) const { return root_ / ("node-" + std::to_string(node)); }

  std::filesystem::path root_;
};

class DrilledJob {
 public:
  explicit DrilledJob(const Drill& drill);

  void train();
  void fail();
  // Every node loads at once, over the links of drill_cluster().
  DrillOutcome restore();
  // Returns whether every state is the state after `iteration`, and is still correct after a
  // further step.
  bool intact(std::int64_t iteration);
  int refused_copies() const { return refused_copies_; }

 private:
  // Describes what is left of a tier's newest copy.
  struct Left {
    bool serves = false;
    bool whole = true;  // no node needs others to rebuild its copy
  };

  // A tier's new copy is written beside the previous one, and replaces it when all nodes have
  // written their parts.
  void save(int index, std::int64_t iteration);
  bool write_copy(int index, int node, const Bytes& copy);
  void stage_protection(int index, std::int64_t iteration, const std::vector<Bytes>& states);
  void commit(int index);

  Left left_of(int index);
  bool holds_own(int index, int node, int at);
  void load(int index, int node, const RunClock& clock, const LinkClocks& links);
  Bytes from_group(int index, int node, const RunClock& clock, const LinkClocks& links);
  Bytes rebuilt_of(int index, int node, const std::vector<int>& members);
  void pass(const std::vector<std::vector<LinkId>>& ways, double bytes, const RunClock& clock,
            const LinkClocks& links) const;

  KeptProcess& trainer(int node) { return trainers_[static_cast<std::size_t>(node)]; }
  KeptProcess& keeper(int node) { return keepers_[static_cast<std::size_t>(node)]; }
  KeptProcess& holder(const SnapshotTier& tier, int node) {
    return tier.keeper_process ? keeper(node) : trainer(node);
  }
  // Only one thread at a time may talk to the processes of a node.
  std::optional<Bytes> get(const SnapshotTier& tier, int node, const std::string& name);
  void lose_processes(int node);
  std::vector<int> members_of(const NodeGroups& groups, int group) const;

  const Drill& drill_;
  DrillFolders folders_;
  std::vector<KeptProcess> trainers_, keepers_;
  std::vector<TierProtection> protections_;
  std::vector<std::int64_t> newest_;  // [tier] newest complete iteration; -1: none
  std::deque<std::mutex> speaks_;     // [node]
  int refused_copies_ = 0;
};

}  // namespace windtunnel
