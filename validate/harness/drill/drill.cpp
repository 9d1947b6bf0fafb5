#include "validate/harness/drill/drill.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

#include "models/base/error.hpp"
#include "validate/harness/drill/coded_group.hpp"
#include "validate/harness/drill/kept_process.hpp"

namespace windtunnel {
namespace {

constexpr const char* kState = "state";
constexpr std::size_t kSealBytes = 2 * sizeof(std::uint64_t);

bool in_memory(const SnapshotTier& tier) {
  return tier.place == SnapshotPlace::host_memory || tier.place == SnapshotPlace::peers;
}

bool over_stripes(const SnapshotTier& tier) {
  return tier.code.name == CodeName::xor_parity || tier.code.name == CodeName::reed_solomon;
}

// FNV-1a (Fowler, Noll, Vo).
std::uint64_t checksum(std::span<const std::byte> bytes) {
  std::uint64_t sum = 14695981039346656037ULL;
  for (const std::byte value : bytes) {
    sum = (sum ^ static_cast<std::uint64_t>(value)) * 1099511628211ULL;
  }
  return sum;
}

// A copy says which iteration it is of, and whether it is whole.
Bytes sealed(Bytes bytes, std::int64_t iteration) {
  const std::array<std::uint64_t, 2> seal = {static_cast<std::uint64_t>(iteration),
                                             checksum(bytes)};
  const auto* at = reinterpret_cast<const std::byte*>(seal.data());
  bytes.insert(bytes.end(), at, at + kSealBytes);
  return bytes;
}

std::optional<Bytes> unsealed(std::optional<Bytes> bytes, std::int64_t iteration) {
  if (!bytes || bytes->size() < kSealBytes) return {};
  std::array<std::uint64_t, 2> seal = {};
  std::memcpy(seal.data(), bytes->data() + bytes->size() - kSealBytes, kSealBytes);
  bytes->resize(bytes->size() - kSealBytes);
  const bool whole =
      seal[0] == static_cast<std::uint64_t>(iteration) && seal[1] == checksum(*bytes);
  return whole ? std::move(bytes) : std::nullopt;
}

// Disks of nodes and the storage of all, as folders.
class Folders {
 public:
  explicit Folders(int nodes) {
    std::string path = std::filesystem::temp_directory_path() / "windtunnel-drill-XXXXXX";
    if (mkdtemp(path.data()) == nullptr) {
      throw Error(fmt::format("no folder {}: {}", path, std::strerror(errno)), ExitCode::failed);
    }
    root_ = path;
    std::filesystem::create_directory(root_ / "storage");
    for (int node = 0; node < nodes; ++node) std::filesystem::create_directory(disk(node));
  }
  ~Folders() {
    std::error_code ignored;
    std::filesystem::remove_all(root_, ignored);
  }
  Folders(const Folders&) = delete;
  Folders& operator=(const Folders&) = delete;

  std::filesystem::path disk(int node) const { return root_ / fmt::format("node-{}", node); }
  std::string file(SnapshotPlace place, int tier, int node) const {
    const std::filesystem::path folder =
        place == SnapshotPlace::storage ? root_ / "storage" : disk(node);
    return folder / fmt::format("tier-{}-of-{}", tier, node);
  }
  void replace_disk(int node) const {
    std::filesystem::remove_all(disk(node));
    std::filesystem::create_directory(disk(node));
  }

 private:
  std::filesystem::path root_;
};

class DrilledJob {
 public:
  explicit DrilledJob(const Drill& drill)
      : drill_(drill),
        folders_(drill.nodes),
        trainers_(static_cast<std::size_t>(drill.nodes)),
        keepers_(static_cast<std::size_t>(drill.nodes)),
        newest_(drill.tiers.size(), -1) {
    for (const SnapshotTier& tier : drill.tiers) {
      protections_.push_back(protection_of(tier, drill.nodes, {drill.nodes, 1, 1}));
    }
    const Bytes empty(drill.state_bytes);
    for (KeptProcess& trainer : trainers_) trainer.put(kState, empty);
  }

  void train() {
    for (std::int64_t done = 1; done <= drill_.iterations; ++done) {
      for (int node = 0; node < drill_.nodes; ++node)
        trainer(node).train(kState, node, done - 1, done);
      for (std::size_t tier = 0; tier < drill_.tiers.size(); ++tier) {
        if (done % drill_.tiers[tier].every_iterations == 0) save(static_cast<int>(tier), done);
      }
    }
  }

  void fail() {
    if (drill_.flipped_tier >= 0) {
      holder(drill_.tiers[drill_.flipped_tier], drill_.flipped_node)
          .flip_byte(own_name(drill_.flipped_tier, drill_.flipped_node));
    }
    for (const int node : drill_.lost_trainers) trainer(node).kill_now();
    for (const int node : drill_.lost_keepers) lose_processes(node);
    for (const int node : drill_.lost_nodes) {
      lose_processes(node);
      folders_.replace_disk(node);
    }
    // The job begins anew: with it end the trainers that were left.
    for (KeptProcess& trainer : trainers_) trainer = KeptProcess();
    for (const auto* lost : {&drill_.lost_nodes, &drill_.lost_keepers}) {
      for (const int node : *lost) keeper(node) = KeptProcess();
    }
  }

  DrillOutcome restore() {
    DrillOutcome outcome;
    std::vector<int> order(drill_.tiers.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, std::greater(), [&](int tier) { return newest_[tier]; });
    for (const int tier : order) {
      if (newest_[tier] < 0) continue;
      const std::optional<std::vector<Bytes>> states = load(tier, newest_[tier]);
      if (!states) continue;
      outcome.tier = tier;
      outcome.iteration = newest_[tier];
      for (int node = 0; node < drill_.nodes; ++node) trainer(node).put(kState, (*states)[node]);
      break;
    }
    return outcome;
  }

  // Now, and after a further step.
  bool intact(std::int64_t iteration) {
    for (int node = 0; node < drill_.nodes; ++node) {
      for (const std::int64_t more : {0, 1}) {
        trainer(node).train(kState, node, iteration, iteration + more);
        const Bytes expected = trained_state(node, iteration + more, drill_.state_bytes);
        if (trainer(node).get(kState) != expected) return false;
      }
    }
    return true;
  }

 private:
  KeptProcess& trainer(int node) { return trainers_[static_cast<std::size_t>(node)]; }
  KeptProcess& keeper(int node) { return keepers_[static_cast<std::size_t>(node)]; }
  KeptProcess& holder(const SnapshotTier& tier, int node) {
    return tier.keeper_process ? keeper(node) : trainer(node);
  }
  static std::string own_name(int tier, int owner) { return fmt::format("{}-of-{}", tier, owner); }
  static std::string parity_name(int tier) { return fmt::format("{}-parity", tier); }

  void lose_processes(int node) {
    trainer(node).kill_now();
    keeper(node).kill_now();
  }

  std::vector<int> members_of(const NodeGroups& groups, int group) const {
    std::vector<int> members;
    for (int node = 0; node < drill_.nodes; ++node) {
      if (groups.group_of(node) == group) members.push_back(node);
    }
    return members;
  }

  void save(int index, std::int64_t iteration) {
    const SnapshotTier& tier = drill_.tiers[index];
    std::vector<Bytes> states;
    for (int node = 0; node < drill_.nodes; ++node) {
      states.push_back(trainer(node).get(kState).value());
      const Bytes copy = sealed(states.back(), iteration);
      if (in_memory(tier)) {
        holder(tier, node).put(own_name(index, node), copy);
      } else {
        trainer(node).put(own_name(index, node), copy);
        const std::string file = folders_.file(tier.place, index, node);
        if (!trainer(node).write_file(own_name(index, node), file)) {
          throw Error(fmt::format("{} cannot be written", file), ExitCode::failed);
        }
      }
    }
    if (in_memory(tier) && tier.code.parity > 0) protect(index, iteration, states);
    newest_[index] = iteration;
  }

  void protect(int index, std::int64_t iteration, const std::vector<Bytes>& states) {
    const SnapshotTier& tier = drill_.tiers[index];
    const NodeGroups& groups = protections_[index].groups;
    for (int group = 0; group < groups.groups(); ++group) {
      const std::vector<int> members = members_of(groups, group);
      if (over_stripes(tier)) {
        std::vector<Bytes> own;
        for (const int member : members) own.push_back(states[member]);
        const std::vector<Bytes> parities = parity_of(tier.code, own);
        for (std::size_t m = 0; m < members.size(); ++m) {
          holder(tier, members[m]).put(parity_name(index), sealed(parities[m], iteration));
        }
        continue;
      }
      for (std::size_t m = 0; m < members.size(); ++m) {
        for (int copy = 1; copy <= tier.code.parity; ++copy) {
          const int other = members[(m + static_cast<std::size_t>(copy)) % members.size()];
          holder(tier, other)
              .put(own_name(index, members[m]), sealed(states[members[m]], iteration));
        }
      }
    }
  }

  // [node] Nothing: the tier has lost too much.
  std::optional<std::vector<Bytes>> load(int index, std::int64_t iteration) {
    const SnapshotTier& tier = drill_.tiers[index];
    std::vector<Bytes> states(static_cast<std::size_t>(drill_.nodes));
    const NodeGroups& groups = protections_[index].groups;
    for (int group = 0; in_memory(tier) && group < groups.groups(); ++group) {
      const std::vector<int> members = members_of(groups, group);
      const auto loaded = load_group(index, iteration, members);
      if (!loaded) return {};
      for (std::size_t m = 0; m < members.size(); ++m) states[members[m]] = (*loaded)[m];
    }
    for (int node = 0; !in_memory(tier) && node < drill_.nodes; ++node) {
      const std::string name = own_name(index, node);
      if (!trainer(node).read_file(name, folders_.file(tier.place, index, node))) return {};
      std::optional<Bytes> state = unsealed(trainer(node).get(name), iteration);
      if (!state) return {};
      states[node] = std::move(*state);
    }
    return states;
  }

  std::optional<std::vector<Bytes>> load_group(int index, std::int64_t iteration,
                                               const std::vector<int>& members) {
    const SnapshotTier& tier = drill_.tiers[index];
    std::vector<std::optional<Bytes>> states, parities;
    for (std::size_t m = 0; m < members.size(); ++m) {
      const std::string name = own_name(index, members[m]);
      const int copies = over_stripes(tier) ? 0 : tier.code.parity;
      std::optional<Bytes> state;
      for (int copy = 0; copy <= copies && !state; ++copy) {
        const int at = members[(m + static_cast<std::size_t>(copy)) % members.size()];
        state = unsealed(holder(tier, at).get(name), iteration);
      }
      states.push_back(std::move(state));
      parities.push_back(unsealed(holder(tier, members[m]).get(parity_name(index)), iteration));
    }
    if (over_stripes(tier)) {
      return rebuilt(tier.code, std::move(states), parities, drill_.state_bytes);
    }
    std::vector<Bytes> whole;
    for (std::optional<Bytes>& state : states) {
      if (!state) return {};
      whole.push_back(std::move(*state));
    }
    return whole;
  }

  const Drill& drill_;
  Folders folders_;
  std::vector<KeptProcess> trainers_, keepers_;
  std::vector<TierProtection> protections_;
  std::vector<std::int64_t> newest_;  // [tier] that is complete; -1: none
};

}  // namespace

DrillOutcome foreseen(const Drill& drill) {
  std::vector<RestorableCopy> copies;
  for (std::size_t index = 0; index < drill.tiers.size(); ++index) {
    const SnapshotTier& tier = drill.tiers[index];
    const TierProtection protection = protection_of(tier, drill.nodes, {drill.nodes, 1, 1});
    std::vector<int> lost;
    const auto lose = [&](int node) {
      if (std::ranges::find(lost, node) == lost.end()) lost.push_back(node);
    };
    if (protection.node) std::ranges::for_each(drill.lost_nodes, lose);
    if (in_memory(tier)) std::ranges::for_each(drill.lost_keepers, lose);
    if (drill.flipped_tier == static_cast<int>(index)) lose(drill.flipped_node);
    const bool there = protection.trainer && survives_nodes(protection, lost);
    const std::int64_t newest = drill.iterations / tier.every_iterations * tier.every_iterations;
    // Of equally new ones the nearest.
    copies.push_back({there && newest > 0 ? newest : -1, static_cast<double>(index)});
  }
  DrillOutcome outcome;
  outcome.tier = tier_to_restore_from(copies);
  if (outcome.tier != kNoTier) outcome.iteration = copies[outcome.tier].iteration;
  return outcome;
}

DrillOutcome run_drill(const Drill& drill) {
  DrilledJob job(drill);
  job.train();
  job.fail();
  const auto begin = std::chrono::steady_clock::now();
  DrillOutcome outcome = job.restore();
  outcome.restore_s =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (outcome.tier != kNoTier) outcome.intact = job.intact(outcome.iteration);
  return outcome;
}

}  // namespace windtunnel
