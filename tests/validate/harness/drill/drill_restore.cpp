// Implements how a DrilledJob restores its state.
#include <algorithm>
#include <exception>
#include <new>
#include <thread>
#include <tuple>

#include "models/base/error.hpp"
#include "models/reliability/snapshot_place.hpp"
#include "tests/validate/harness/drill/coded_group.hpp"
#include "tests/validate/harness/drill/drill_names.hpp"
#include "tests/validate/harness/drill/drilled_job.hpp"
#include "validate/harness/execute/forked_run.hpp"

namespace windtunnel {

// A node's own copy counts if another member holds a further copy of it.
bool DrilledJob::holds_own(int index, int node, int at) {
  return holder(drill_.tiers[index], at).holds(own_copy(index, node), newest_[index]);
}

DrilledJob::Left DrilledJob::left_of(int index) {
  const SnapshotTier& tier = drill_.tiers[index];
  Left left;
  if (newest_[index] < 0) return left;
  if (!in_host_memory(tier)) {
    for (int node = 0; node < drill_.nodes; ++node) {
      const std::string name = own_copy(index, node);
      const bool there = trainer(node).read_file(name, folders_.file(tier, index, node)) &&
                         trainer(node).holds(name, newest_[index]);
      if (!there) return left;
    }
    left.serves = true;
    return left;
  }
  const NodeGroups& groups = protections_[index].groups;
  for (int group = 0; group < groups.groups(); ++group) {
    const std::vector<int> members = members_of(groups, group);
    int lost = 0;
    for (std::size_t m = 0; m < members.size(); ++m) {
      const bool own = holds_own(index, members[m], members[m]);
      left.whole = left.whole && own;
      if (over_stripes(tier)) {
        const bool parity = holder(tier, members[m]).holds(parity_copy(index), newest_[index]);
        lost += own && parity ? 0 : 1;
        continue;
      }
      bool there = own;
      for (int copy = 1; copy <= tier.code.parity && !there; ++copy) {
        there = holds_own(index, members[m],
                          members[(m + static_cast<std::size_t>(copy)) % members.size()]);
      }
      if (!there) return left;
    }
    if (over_stripes(tier) && lost > tier.code.parity) return left;
  }
  left.serves = true;
  return left;
}

DrillOutcome DrilledJob::restore() {
  DrillOutcome outcome;
  using Choice = std::tuple<std::int64_t, double, int>;  // newest first, then the fastest to load
  std::vector<Choice> choices;
  for (int index = 0; index < std::ssize(drill_.tiers); ++index) {
    const Left left = left_of(index);
    if (!left.serves) continue;
    const LoadTime time = load_time(drill_, drill_.tiers[index]);
    choices.emplace_back(-newest_[index], left.whole ? time.whole_s : time.rebuilt_s, index);
  }
  if (choices.empty()) return outcome;
  outcome.tier = std::get<int>(std::ranges::min(choices));
  outcome.iteration = newest_[outcome.tier];
  const Cluster cluster = drill_cluster(drill_);
  const LinkTable table(cluster);
  const SharedMemory memory(static_cast<std::size_t>(table.count()) * sizeof(LinkClocks::Bucket));
  auto* const buckets = reinterpret_cast<LinkClocks::Bucket*>(memory.data());
  for (LinkId link = 0; link < table.count(); ++link) new (buckets + link) LinkClocks::Bucket(0);
  const LinkClocks links(table, buckets);
  const RunClock clock(RunClock::monotonic_ns(), 1, false);
  std::vector<std::exception_ptr> faults(static_cast<std::size_t>(drill_.nodes));
  std::vector<std::thread> threads;
  for (int node = 0; node < drill_.nodes; ++node) {
    threads.emplace_back([&, node] {
      try {
        load(outcome.tier, node, clock, links);
      } catch (...) {
        faults[static_cast<std::size_t>(node)] = std::current_exception();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::exception_ptr& fault : faults) {
    if (fault) std::rethrow_exception(fault);
  }
  return outcome;
}

// Sends the bytes in pieces, in turns over the paths, each piece after the previous one, as fast as
// links become free.
void DrilledJob::pass(const std::vector<std::vector<LinkId>>& ways, double bytes,
                      const RunClock& clock, const LinkClocks& links) const {
  constexpr int kPieces = 16;
  double at_s = clock.now_s();
  for (int piece = 0; piece < kPieces; ++piece) {
    for (const std::vector<LinkId>& way : ways) {
      at_s = links.send(way, bytes / static_cast<double>(ways.size()) / kPieces, at_s);
    }
    clock.sleep_until(at_s);
  }
}

void DrilledJob::load(int index, int node, const RunClock& clock, const LinkClocks& links) {
  const SnapshotTier& tier = drill_.tiers[index];
  const auto bytes = static_cast<double>(drill_.state_bytes);
  std::optional<Bytes> state;
  if (in_host_memory(tier)) {
    state = unsealed(get(tier, node, own_copy(index, node)), newest_[index]);
    if (!state) state = from_group(index, node, clock, links);
  } else {
    const PlaceTraits& place = traits_of(tier);
    if (!place.on_own_drives()) clock.sleep_until(clock.now_s() + drill_.pace.storage_latency_s);
    pass({links.resource(node, place.way->read, 1)}, bytes, clock, links);
    const std::lock_guard lock(speaks_[static_cast<std::size_t>(node)]);
    state = unsealed(trainer(node).get(own_copy(index, node)), newest_[index]);
  }
  CHECK(state.has_value(), "tier {} lost the copy of node {} after it was looked at", index, node);
  std::vector<LinkId> to_gpu = links.resource(node, Resource::pcie_in, 1);
  const std::vector<LinkId> of_host = links.resource(node, Resource::host_memory, 1);
  to_gpu.insert(to_gpu.end(), of_host.begin(), of_host.end());
  pass({to_gpu}, bytes, clock, links);
  const std::lock_guard lock(speaks_[static_cast<std::size_t>(node)]);
  trainer(node).put(kDrilledState, *state);
}

// The state comes from a further copy, or from as many other members as the code needs.
Bytes DrilledJob::from_group(int index, int node, const RunClock& clock, const LinkClocks& links) {
  const SnapshotTier& tier = drill_.tiers[index];
  const NodeGroups& groups = protections_[index].groups;
  const std::vector<int> members = members_of(groups, groups.group_of(node));
  const auto bytes = static_cast<double>(drill_.state_bytes);
  if (!over_stripes(tier)) {
    const auto own = static_cast<std::size_t>(std::ranges::find(members, node) - members.begin());
    for (int copy = 1; copy <= tier.code.parity; ++copy) {
      const int at = members[(own + static_cast<std::size_t>(copy)) % members.size()];
      std::optional<Bytes> state = unsealed(get(tier, at, own_copy(index, node)), newest_[index]);
      if (!state) continue;
      pass({links.route(at, node)}, bytes, clock, links);
      return *state;
    }
    throw Error(fmt::format("no further copy of node {} is left", node), ExitCode::failed);
  }
  std::vector<std::vector<LinkId>> ways;
  for (const int member : members) {
    const bool gives =
        member != node &&
        unsealed(get(tier, member, own_copy(index, member)), newest_[index]).has_value();
    if (gives) ways.push_back(links.route(member, node));
  }
  const auto data = static_cast<double>(std::ssize(members) - tier.code.parity);
  pass(ways, data * bytes, clock, links);
  return rebuilt_of(index, node, members);
}

Bytes DrilledJob::rebuilt_of(int index, int node, const std::vector<int>& members) {
  const SnapshotTier& tier = drill_.tiers[index];
  std::vector<std::optional<Bytes>> states, parities;
  std::size_t own = 0;
  for (std::size_t m = 0; m < members.size(); ++m) {
    if (members[m] == node) own = m;
    states.push_back(unsealed(get(tier, members[m], own_copy(index, members[m])), newest_[index]));
    parities.push_back(unsealed(get(tier, members[m], parity_copy(index)), newest_[index]));
  }
  auto all = rebuilt(tier.code, std::move(states), parities, drill_.state_bytes);
  CHECK(all.has_value(), "tier {} cannot rebuild node {}", index, node);
  return std::move((*all)[own]);
}

std::optional<Bytes> DrilledJob::get(const SnapshotTier& tier, int node, const std::string& name) {
  const std::lock_guard lock(speaks_[static_cast<std::size_t>(node)]);
  return holder(tier, node).get(name);
}

}  // namespace windtunnel
