#include "tests/validate/harness/drill/drill.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "models/base/error.hpp"
#include "models/reliability/snapshot_place.hpp"
#include "tests/validate/harness/drill/coded_group.hpp"
#include "tests/validate/harness/drill/drill_names.hpp"
#include "tests/validate/harness/drill/drilled_job.hpp"

namespace windtunnel {

DrillFolders::DrillFolders(int nodes) {
  std::string path = std::filesystem::temp_directory_path() / "windtunnel-drill-XXXXXX";
  if (mkdtemp(path.data()) == nullptr) {
    throw Error(fmt::format("no folder {}: {}", path, std::strerror(errno)), ExitCode::failed);
  }
  root_ = path;
  std::filesystem::create_directory(root_ / "storage");
  for (int node = 0; node < nodes; ++node) std::filesystem::create_directory(disk(node));
}

DrillFolders::~DrillFolders() {
  std::error_code ignored;
  std::filesystem::remove_all(root_, ignored);
}

std::string DrillFolders::file(const SnapshotTier& of, int tier, int node) const {
  const std::filesystem::path folder =
      traits_of(of).on_own_drives() ? disk(node) : root_ / "storage";
  return folder / fmt::format("tier-{}-of-{}", tier, node);
}

void DrillFolders::replace_disk(int node) const {
  std::filesystem::remove_all(disk(node));
  std::filesystem::create_directory(disk(node));
}

DrilledJob::DrilledJob(const Drill& drill)
    : drill_(drill),
      folders_(drill.nodes),
      trainers_(static_cast<std::size_t>(drill.nodes)),
      keepers_(static_cast<std::size_t>(drill.nodes)),
      newest_(drill.tiers.size(), -1),
      speaks_(static_cast<std::size_t>(drill.nodes)) {
  for (const SnapshotTier& tier : drill.tiers) {
    protections_.push_back(protection_of(tier, drill.nodes, {drill.nodes, 1, 1}));
  }
  const Bytes empty(drill.state_bytes);
  for (KeptProcess& trainer : trainers_) trainer.put(kDrilledState, empty);
}

void DrilledJob::train() {
  for (std::int64_t done = 1; done <= drill_.iterations; ++done) {
    for (int node = 0; node < drill_.nodes; ++node) {
      trainer(node).train(kDrilledState, node, done - 1, done);
    }
    for (int tier = 0; tier < std::ssize(drill_.tiers); ++tier) {
      if (saves_after(drill_.tiers[tier], done)) save(tier, done);
    }
  }
}

void DrilledJob::fail() {
  if (drill_.flipped_tier >= 0) {
    holder(drill_.tiers[drill_.flipped_tier], drill_.flipped_node)
        .flip_byte(own_copy(drill_.flipped_tier, drill_.flipped_node));
  }
  for (const int node : drill_.lost_trainers) trainer(node).kill_now();
  for (const int node : drill_.lost_keepers) lose_processes(node);
  for (const int node : drill_.lost_nodes) {
    lose_processes(node);
    folders_.replace_disk(node);
  }
  // The job restarts, which also ends the trainers that are left.
  for (KeptProcess& trainer : trainers_) trainer = KeptProcess();
  for (const auto* lost : {&drill_.lost_nodes, &drill_.lost_keepers}) {
    for (const int node : *lost) keeper(node) = KeptProcess();
  }
}

bool DrilledJob::intact(std::int64_t iteration) {
  for (int node = 0; node < drill_.nodes; ++node) {
    for (const std::int64_t more : {0, 1}) {
      trainer(node).train(kDrilledState, node, iteration, iteration + more);
      const Bytes expected = trained_state(node, iteration + more, drill_.state_bytes);
      if (trainer(node).get(kDrilledState) != expected) return false;
    }
  }
  return true;
}

void DrilledJob::lose_processes(int node) {
  trainer(node).kill_now();
  keeper(node).kill_now();
}

std::vector<int> DrilledJob::members_of(const NodeGroups& groups, int group) const {
  std::vector<int> members;
  for (int node = 0; node < drill_.nodes; ++node) {
    if (groups.group_of(node) == group) members.push_back(node);
  }
  return members;
}

void DrilledJob::save(int index, std::int64_t iteration) {
  const SnapshotTier& tier = drill_.tiers[index];
  const bool interrupted = index == drill_.interrupted_tier && iteration == drill_.iterations;
  const bool full = drill_.full_disk_from > 0 && iteration >= drill_.full_disk_from &&
                    traits_of(tier).on_own_drives();
  std::vector<Bytes> states;
  bool written = true;
  for (int node = 0; node < drill_.nodes; ++node) {
    if (interrupted && node >= drill_.written_nodes) return;
    states.push_back(trainer(node).get(kDrilledState).value());
    if (full) {  // writing to it fails with ENOSPC
      std::error_code there;
      std::filesystem::create_symlink(
          "/dev/full", staged(folders_.file(tier, index, node)) + kPartOfFile, there);
    }
    written = write_copy(index, node, sealed(states.back(), iteration)) && written;
  }
  if (!written) {
    ++refused_copies_;  // the previous copy stays
    return;
  }
  if (in_host_memory(tier) && tier.code.parity > 0) stage_protection(index, iteration, states);
  commit(index);
  newest_[index] = iteration;
}

bool DrilledJob::write_copy(int index, int node, const Bytes& copy) {
  const SnapshotTier& tier = drill_.tiers[index];
  const std::string name = staged(own_copy(index, node));
  if (in_host_memory(tier)) return holder(tier, node).put(name, copy);
  return trainer(node).put(name, copy) &&
         trainer(node).write_file(name, staged(folders_.file(tier, index, node)));
}

void DrilledJob::stage_protection(int index, std::int64_t iteration,
                                  const std::vector<Bytes>& states) {
  const SnapshotTier& tier = drill_.tiers[index];
  const NodeGroups& groups = protections_[index].groups;
  for (int group = 0; group < groups.groups(); ++group) {
    const std::vector<int> members = members_of(groups, group);
    if (over_stripes(tier)) {
      std::vector<Bytes> own;
      for (const int member : members) own.push_back(states[member]);
      const std::vector<Bytes> parities = parity_of(tier.code, own);
      for (std::size_t m = 0; m < members.size(); ++m) {
        holder(tier, members[m]).put(staged(parity_copy(index)), sealed(parities[m], iteration));
      }
      continue;
    }
    for (std::size_t m = 0; m < members.size(); ++m) {
      for (int copy = 1; copy <= tier.code.parity; ++copy) {
        const int other = members[(m + static_cast<std::size_t>(copy)) % members.size()];
        holder(tier, other)
            .put(staged(own_copy(index, members[m])), sealed(states[members[m]], iteration));
      }
    }
  }
}

void DrilledJob::commit(int index) {
  const SnapshotTier& tier = drill_.tiers[index];
  for (int node = 0; node < drill_.nodes; ++node) {
    if (!in_host_memory(tier)) {
      const std::string file = folders_.file(tier, index, node);
      std::filesystem::rename(staged(file), file);
      continue;
    }
    for (int owner = 0; owner < drill_.nodes; ++owner) {
      holder(tier, node).rename(staged(own_copy(index, owner)), own_copy(index, owner));
    }
    holder(tier, node).rename(staged(parity_copy(index)), parity_copy(index));
  }
}

DrillOutcome run_drill(const Drill& drill) {
  DrilledJob job(drill);
  job.train();
  job.fail();
  const auto begin = std::chrono::steady_clock::now();
  DrillOutcome outcome = job.restore();
  outcome.restore_s =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  outcome.refused_copies = job.refused_copies();
  if (outcome.tier != kNoTier) outcome.intact = job.intact(outcome.iteration);
  return outcome;
}

}  // namespace windtunnel
