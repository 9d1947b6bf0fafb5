#include "traces/profile/profile_tasks.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <span>
#include <utility>

#include "models/base/error.hpp"
#include "traces/chakra/rank_trace.hpp"
#include "traces/profile/program_names.hpp"

namespace windtunnel {
namespace {

constexpr double kClock_s = 1e-6;  // agreement of the clocks of launches and kernels

std::string beyond(const ProcessGroup& group, RankId rank, int ranks) {
  return fmt::format("process group '{}' contains rank {}, but there are only {}", group.name, rank,
                     ranks);
}

std::vector<RankId> all_ranks(int ranks) {
  std::vector<RankId> all(static_cast<std::size_t>(ranks));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

// Returns for each communication the kernel that it waits for, as an index into `work`; -1 if there
// is none.
std::vector<std::ptrdiff_t> awaited_kernels(const std::vector<GpuWork>& work) {
  constexpr std::ptrdiff_t kFarthest = 10'000;
  std::vector<std::ptrdiff_t> awaited(work.size(), -1);
  for (std::ptrdiff_t i = 0; i < std::ssize(work); ++i) {
    if (work[i].kind != WorkKind::communication) continue;
    const bool launch_known = std::isfinite(work[i].launched_s);
    for (std::ptrdiff_t k = i - 1; k >= 0 && i - k < kFarthest; --k) {
      if (work[k].kind == WorkKind::communication) continue;
      const bool later = launch_known && std::isfinite(work[k].launched_s) &&
                         work[k].launched_s > work[i].launched_s;
      if (later || work[k].end_s > work[i].start_s + kClock_s) continue;
      awaited[i] = k;
      break;
    }
  }
  return awaited;
}

// Names groups by their axis and members: ranks may call one group by different names, or different
// groups by one name.
std::vector<ProcessGroup> plainly_named(const std::vector<ProcessGroup>& groups) {
  constexpr std::size_t kMostListed = 32;
  std::vector<ProcessGroup> named = groups;
  std::map<std::string, int> seen;
  for (ProcessGroup& group : named) {
    if (group.ranks.empty()) continue;
    double sum = 0;
    for (const RankId rank : group.ranks) sum += double(rank) * rank;
    const std::span<const RankId> listed(group.ranks.data(),
                                         std::min(group.ranks.size(), kMostListed));
    group.name =
        fmt::format("{}{}{}", group.axis, group.axis.empty() ? "" : " ", fmt::join(listed, ","));
    if (group.ranks.size() > kMostListed) {
      group.name += fmt::format(" ... of {} ({:.0f})", group.ranks.size(), sum);
    }
    if (const int before = seen[group.name]++; before > 0) {
      group.name += fmt::format(" #{}", before + 1);
    }
  }
  return named;
}

// Says which groups the additional copies of the job join. With data parallelism these are the
// groups between replicas of sharded weights, or all data-parallel groups if there are none, and
// groups of the whole job without an axis. Without data parallelism they are all groups of the
// whole job.
class Growth {
 public:
  explicit Growth(const std::vector<ProcessGroup>& groups)
      : any_data_(std::ranges::any_of(groups, is_data)),
        any_replicas_(std::ranges::any_of(groups, is_replicas)) {}

  bool joins(const ProcessGroup& group, bool whole) const {
    if (!any_data_) return whole;
    if (whole && !axis_of_group(group.axis)) return true;
    return any_replicas_ ? is_replicas(group) : is_data(group);
  }

 private:
  static bool is_data(const ProcessGroup& group) {
    return axis_of_group(group.axis) == Category::dp;
  }
  // A group of a single rank is not used: gradients are reduced in the group of shards.
  static bool is_replicas(const ProcessGroup& group) {
    return is_data(group) && joins_replicas(group.axis) && group.ranks.size() != 1;
  }

  bool any_data_;
  bool any_replicas_;
};

class TaskMaker {
 public:
  TaskMaker(const RankProfile& profile, const CapturedStep& step, ProfileTasks& made)
      : profile_(profile), made_(made), tasks_(made.trace), busy_until_s_(step.begin_s) {}

  void add(const std::vector<GpuWork>& work) {
    const std::vector<std::ptrdiff_t> awaited = awaited_kernels(work);
    task_behind_.assign(work.size(), -1);
    std::vector<bool> cut(work.size());
    for (const std::ptrdiff_t kernel : awaited) {
      if (kernel >= 0) cut[kernel] = true;
    }
    for (std::size_t i = 0; i < work.size(); ++i) {
      if (work[i].kind == WorkKind::communication) {
        add_communication(work[i], awaited[i] < 0 ? -1 : task_behind_[awaited[i]]);
      } else {
        add_compute(work[i]);
        if (!cut[i]) continue;
        close();
        task_behind_[i] = last_compute_;
      }
    }
    close();
  }

 private:
  // Computation between two waits: kernels and the gaps between them.
  struct Segment {
    double busy_s = 0;
    double gaps_s = 0;
    std::vector<TaskIndex> after = {};
  };
  struct Call {
    double end_s = 0;
    TaskIndex task = -1;
  };

  void add_compute(const GpuWork& work) {
    const double gap_s = work.start_s - busy_until_s_;
    double explained_s = 0;
    std::vector<TaskIndex> waits;
    for (const Call& call : open_calls_) {
      if (call.end_s > work.start_s + kClock_s) continue;
      const bool late = std::isfinite(work.launched_s) && work.launched_s > call.end_s + kClock_s;
      const bool in_gap = gap_s > 0 && call.end_s > busy_until_s_ && !late;
      if (!in_gap && work.kind != WorkKind::optimizer) continue;
      waits.push_back(call.task);
      if (in_gap) {
        explained_s = std::max(explained_s, std::min(call.end_s, work.start_s) - busy_until_s_);
      }
    }
    if (!waits.empty()) {
      close();
      segment_.after = waits;
      std::erase_if(open_calls_, [&](const Call& call) {
        return std::ranges::find(waits, call.task) != waits.end();
      });
    }
    segment_.gaps_s += std::max(0.0, gap_s - explained_s);
    segment_.busy_s += std::max(0.0, work.end_s - std::max(work.start_s, busy_until_s_));
    busy_until_s_ = std::max(busy_until_s_, work.end_s);
    is_open_ = true;
  }

  // Turns the kernels so far into a task that others can wait for.
  void close() {
    if (!is_open_) return;
    StandardNode node;
    node.task.name = fmt::format("kernels {}", next_++);
    node.task.kind = TaskKind::compute;
    if (segment_.busy_s > 0) {
      node.task.cost.push_back({Category::forward, Origin::measured, segment_.busy_s});
    }
    if (segment_.gaps_s > 0) {
      node.task.cost.push_back({Category::host, Origin::measured, segment_.gaps_s});
    }
    std::vector<TaskIndex> after = std::move(segment_.after);
    if (last_compute_ >= 0) after.push_back(last_compute_);
    last_compute_ = append(std::move(node), std::move(after));
    segment_ = {};
    is_open_ = false;
  }

  void add_communication(const GpuWork& work, TaskIndex behind) {
    for (StandardNode& node : nodes_of(work)) {
      (node.task.cost.empty() ? made_.priced : made_.as_measured) += 1;
      std::vector<TaskIndex> after;
      if (behind >= 0) after.push_back(behind);
      open_calls_.push_back({work.end_s, append(std::move(node), std::move(after))});
    }
  }

  // Returns several nodes if a kernel carries parallel messages.
  std::vector<StandardNode> nodes_of(const GpuWork& work) const {
    const CommunicationCall* call =
        work.call < 0 ? nullptr : &profile_.calls[static_cast<std::size_t>(work.call)];
    std::vector<StandardNode> nodes = {node_of(work, call)};
    if (call == nullptr || !nodes.front().task.cost.empty()) return nodes;
    for (const CommunicationCall& other : call->beside) nodes.push_back(node_of(work, &other));
    const bool all_priced =
        std::ranges::all_of(nodes, [](const StandardNode& node) { return node.task.cost.empty(); });
    return all_priced ? nodes : std::vector<StandardNode>{node_of(work, nullptr)};
  }

  StandardNode node_of(const GpuWork& work, const CommunicationCall* call) const {
    StandardNode node;
    Task& task = node.task;
    task.name = profile_.names[static_cast<std::size_t>(work.name)];
    const bool message = call != nullptr && call->kind != CallKind::collective;
    if (call == nullptr || call->bytes < 0 || (message && call->peer < 0)) {
      task.kind = TaskKind::store;  // takes only time, in parallel with other streams
      node.storage = fmt::format("calls of stream {}", work.stream);
      task.category = Category::dp;
      task.cost = {{Category::dp, Origin::measured, work.end_s - work.start_s}};
      return node;
    }
    task.bytes = call->bytes;
    if (message) {
      task.kind = call->kind == CallKind::send ? TaskKind::send : TaskKind::recv;
      task.category = Category::pp;
      node.peer = peer_of(*call);
      return node;
    }
    task.kind = TaskKind::collective;
    task.collective = call->collective;
    task.as_flows = true;
    const ProcessGroup* group = group_of(*call);
    node.group = group == nullptr ? call->group : group->name;
    const std::string_view axis = group == nullptr ? std::string_view() : group->axis;
    task.category = axis_of_group(axis).value_or(Category::dp);
    return node;
  }

  // Finds the trace's group for a name in the profile.
  const ProcessGroup* declared(const std::string& name) const {
    const auto found = std::ranges::find(profile_.groups, name, &ProcessGroup::name);
    return found == profile_.groups.end() ? nullptr
                                          : &made_.trace.declared[found - profile_.groups.begin()];
  }

  // Returns the peer's number in the job; PyTorch counts within the group.
  RankId peer_of(const CommunicationCall& call) const {
    const ProcessGroup* group = group_of(call);
    if (group == nullptr || group->ranks.empty()) return call.peer;
    const auto place = static_cast<std::size_t>(call.peer);
    if (place >= group->ranks.size()) {
      throw Error(
          Location{profile_.file},
          fmt::format(
              "there is a message to or from rank {} of process group '{}', which has only {}",
              call.peer, call.group, group->ranks.size()));
    }
    return group->ranks[place];
  }

  // Returns the group if its ranks are known; null if it contains all ranks.
  const ProcessGroup* group_of(const CommunicationCall& call) const {
    const ProcessGroup* group = declared(call.group);
    const bool of_all = call.group_size == 0 || call.group_size == profile_.ranks;
    if ((group == nullptr || group->ranks.empty()) && !of_all) {
      throw Error(Location{profile_.file},
                  fmt::format("does not say which {} ranks form process group '{}'",
                              call.group_size, call.group));
    }
    return group;
  }

  TaskIndex append(StandardNode node, std::vector<TaskIndex> after) {
    std::ranges::sort(after);
    after.erase(std::unique(after.begin(), after.end()), after.end());
    tasks_.append(std::move(node), std::move(after));
    return static_cast<TaskIndex>(made_.trace.rank_class.tasks.size()) - 1;
  }

  const RankProfile& profile_;
  ProfileTasks& made_;
  ForeignTasks tasks_;
  double busy_until_s_;
  bool is_open_ = false;
  Segment segment_;
  TaskIndex last_compute_ = -1;
  std::vector<TaskIndex> task_behind_;  // [index in `work`] for kernels that others wait for
  std::vector<Call> open_calls_;        // no kernel has waited for them yet
  int next_ = 0;
};

}  // namespace

ProfileTasks tasks_of(const RankProfile& profile, const CapturedRank& rank,
                      const CapturedStep& step) {
  if (profile.rank < 0)
    throw Error(Location{profile.file}, "does not say to which rank it belongs");
  ProfileTasks made;
  RankTrace& trace = made.trace;
  trace.file = profile.file;
  trace.ranks = profile.ranks;
  trace.first_member = profile.rank;
  trace.rank_class.name = fmt::format("rank {}", profile.rank);
  trace.rank_class.members = {profile.rank};
  trace.declared = plainly_named(profile.groups);
  std::vector<std::size_t> all = work_of(profile, rank, step);
  leave_out_side_copies(profile, all);  // they are part of the gaps before kernels
  std::vector<GpuWork> own;
  for (const std::size_t i : all) own.push_back(profile.work[i]);
  TaskMaker(profile, step, made).add(own);
  return made;
}

void replicate(RankTrace& trace, int times) {
  CHECK(trace.ranks > 0, "a job of a known size");
  if (times == 1) return;
  const int ranks = trace.ranks;
  if (std::int64_t{ranks} * times > kMostRanks) {
    throw Error(Location{trace.file}, fmt::format("{} copies of {} ranks are more than {} ranks",
                                                  times, ranks, kMostRanks));
  }
  const Growth growth(trace.declared);
  bool grown = false;
  for (ProcessGroup& group : trace.declared) {
    const std::vector<RankId> before = group.ranks.empty() ? all_ranks(ranks) : group.ranks;
    const bool whole = static_cast<int>(before.size()) == ranks;
    if (!growth.joins(group, whole)) continue;
    group.ranks.clear();
    for (int copy = 0; copy < times; ++copy) {
      for (const RankId rank : before) {
        if (rank >= ranks) throw Error(Location{trace.file}, beyond(group, rank, ranks));
        group.ranks.push_back(rank + copy * ranks);
      }
    }
    grown = true;
  }
  if (!grown) {
    throw Error(Location{trace.file},
                "has neither a process group of data parallelism (with dp, data or fsdp in its "
                "description) nor one of all ranks that further ranks could join");
  }
  trace.ranks = ranks * times;
}

RankTrace copy_of(const RankTrace& trace, int copy, int times) {
  const int ranks = trace.ranks / times;
  const RankId shift = copy * ranks;
  RankTrace made = trace;
  if (copy == 0) return made;
  made.first_member += shift;
  for (RankId& member : made.rank_class.members) member += shift;
  made.rank_class.name = fmt::format("rank {}", made.first_member);
  for (auto& slot : made.rank_class.peers) {
    for (RankId& peer : slot) peer += shift;
  }
  for (ProcessGroup& group : made.declared) {
    const bool across = group.ranks.empty() ||
                        std::ranges::any_of(group.ranks, [&](RankId r) { return r >= ranks; });
    if (across) continue;
    for (RankId& rank : group.ranks) rank += shift;
    const std::string name = fmt::format("{} of copy {}", group.name, copy);
    std::ranges::replace(made.group_names, group.name, name);
    group.name = name;
  }
  return made;
}

}  // namespace windtunnel
