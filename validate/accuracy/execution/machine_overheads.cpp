#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

#include "models/base/error.hpp"
#include "models/base/quantile.hpp"
#include "models/plan/class_template.hpp"
#include "validate/accuracy/execution/execution_judgement.hpp"
#include "validate/harness/execute/collective_work.hpp"
#include "validate/harness/execute/testbed.hpp"

namespace windtunnel {
namespace {

constexpr int kWaits = 12;
constexpr int kMessages = 12;  // half of them each way
constexpr int kSums = 4;
constexpr double kPauseMessages = 3;  // length of a pause, in times of a message
// Each wait, message and round lasts this many real seconds, similar to executed plans.
constexpr double kProbeS = 2e-3;

Task probe_task(TaskKind kind, int iteration) {
  Task task;
  task.kind = kind;
  task.name = "probe";
  task.iteration = static_cast<std::int16_t>(iteration);
  return task;
}

double idle_Bps(const LinkTable& links, RankId source, RankId destination) {
  std::vector<LinkId> route;
  links.append_route(source, destination, route);
  double least = std::numeric_limits<double>::infinity();
  for (const LinkId link : route) least = std::min(least, links.capacity(link));
  return std::isfinite(least) ? least : 0;
}

// The median size of the plan's messages; 0: it has none.
double usual_message_bytes(const Plan& plan) {
  std::vector<double> bytes;
  for (const RankClass& rank_class : plan.classes) {
    for (const Task& task : rank_class.tasks) {
      if (task.kind == TaskKind::send) bytes.push_back(task.bytes);
    }
  }
  return bytes.empty() ? 0 : median(bytes);
}

Task probe_wait(double seconds, int iteration) {
  Task task = probe_task(TaskKind::compute, iteration);
  task.cost = {{Category::forward, Origin::assumed, seconds}};
  return task;
}

// Adds messages between a rank and its peer, if it has one. On a testbed they are as long as the
// plan's and follow pauses, in which ports accumulate bursts (with_bursts()).
void add_messages(const ExecutedPlan& like, const LinkTable& links, RankClass& rank_class,
                  double seconds) {
  const RankId rank = rank_class.members.front();
  const RankId peer = rank_class.peers.front().front();
  if (peer == rank) return;
  const bool first = rank < peer;
  for (int m = 0; m < kMessages; ++m) {
    const bool sends = (m % 2 == 0) == first;
    if (like.testbed && sends) rank_class.tasks.push_back(probe_wait(kPauseMessages * seconds, 1));
    Task task = probe_task(sends ? TaskKind::send : TaskKind::recv, 1);
    task.peer_slot = 0;
    task.tag = m;
    task.bytes = seconds * idle_Bps(links, std::min(rank, peer), std::max(rank, peer));
    const double usual = usual_message_bytes(like.plan);
    if (like.testbed && usual > 0) task.bytes = usual;
    rank_class.tasks.push_back(task);
  }
}

// Returns the number of rounds that the executor runs for all sums of the probe.
double probe_rounds(const ExecutedPlan& probe, const ExecutionScale& scale) {
  const LinkTable links(probe.cluster, copies_over_pcie(probe.plan));
  const CollectiveWorks works(probe.plan, probe.cluster, probe.calibration, probe.pool_calibrations,
                              links);
  double rounds = 0;
  for (const Task& task : probe.plan.classes.front().tasks) {
    if (task.kind != TaskKind::collective) continue;
    rounds += executed_rounds(works.of(task, 0, 0), scale.times);
  }
  return rounds;
}

// Returns the duration of a part; each part of the probe is an iteration.
double part_s(const Timeline& timeline, int part) {
  const double begin_s = part == 0 ? 0 : timeline.iteration_end_s[part - 1];
  return timeline.iteration_end_s[part] - begin_s;
}

// Returns the mean duration of the sends of a timeline.
double send_span_s(const Plan& plan, const Timeline& timeline) {
  double sum_s = 0;
  int sends = 0;
  for (const RankTimeline& rank : timeline.ranks) {
    const std::vector<Task>& tasks = plan.classes[rank.rank_class].tasks;
    for (std::size_t t = 0; t < tasks.size(); ++t) {
      if (tasks[t].kind != TaskKind::send) continue;
      sum_s += rank.spans[t].end_s - rank.spans[t].start_s;
      ++sends;
    }
  }
  return sends > 0 ? sum_s / sends : 0;
}

bool waits_for_message(const RankClass& rank_class, const Task& task) {
  return std::ranges::any_of(task.after, [&](TaskIndex before) {
    return rank_class.tasks[before].kind == TaskKind::recv;
  });
}

bool crosses_nodes(const Plan& plan, const Cluster& cluster) {
  return std::ranges::any_of(plan.classes, [&](const RankClass& rank_class) {
    return std::ranges::any_of(rank_class.tasks, [&](const Task& task) {
      return task.kind == TaskKind::send &&
             cluster.node_of(rank_class.members[0]) !=
                 cluster.node_of(rank_class.peers[task.peer_slot][0]);
    });
  });
}

// Returns the peer of a rank of the probe; the rank itself if there is none.
RankId probe_peer(RankId rank, int apart, int ranks) {
  const RankId peer = rank / apart % 2 == 0 ? rank + apart : rank - apart;
  return peer < ranks ? peer : rank;
}

// The use of a port by a task that sends from its node.
struct PortUse {
  Span span;
  RankId rank = 0;
  std::int32_t rank_class = 0;
  TaskIndex task = 0;
  double bytes = 0;  // over the port
};

double bytes_over_port(const ExecutedPlan& executed, const CollectiveWorks& works,
                       const RankTimeline& recorded, const ClassMember& at, const Task& task) {
  const RankClass& rank_class = executed.plan.classes[at.rank_class];
  const int node = executed.cluster.node_of(recorded.rank);
  if (task.kind == TaskKind::send) {
    const RankId peer = rank_class.peers[task.peer_slot][at.member];
    return executed.cluster.node_of(peer) == node ? 0 : task.bytes;
  }
  if (task.kind != TaskKind::collective) return 0;
  const CollectiveWork work =
      works.of(task, rank_class.groups[task.group_slot][at.member], recorded.rank);
  double bytes = 0;
  for (const auto& [to, sent] : work.out) {
    if (executed.cluster.node_of(work.members[to]) != node) bytes += sent;
  }
  return bytes;
}

// Returns for each node the uses of its port, sorted by start.
std::vector<std::vector<PortUse>> port_uses(const ExecutedPlan& executed,
                                            const Timeline& predicted) {
  const LinkTable links(executed.cluster, copies_over_pcie(executed.plan));
  const CollectiveWorks works(executed.plan, executed.cluster, executed.calibration,
                              executed.pool_calibrations, links);
  const std::vector<ClassMember> of_rank = class_of_rank(executed.plan);
  std::vector<std::vector<PortUse>> uses(static_cast<std::size_t>(executed.cluster.nodes));
  for (const RankTimeline& recorded : predicted.ranks) {
    const ClassMember& at = of_rank[recorded.rank];
    const std::vector<Task>& tasks = executed.plan.classes[at.rank_class].tasks;
    for (TaskIndex t = 0; t < std::ssize(tasks); ++t) {
      const double bytes = bytes_over_port(executed, works, recorded, at, tasks[t]);
      if (bytes <= 0) continue;
      uses[executed.cluster.node_of(recorded.rank)].push_back(
          {recorded.spans[t], recorded.rank, at.rank_class, t, bytes});
    }
  }
  for (std::vector<PortUse>& of_node : uses) {
    std::ranges::sort(of_node, {}, [](const PortUse& use) { return use.span.start_s; });
  }
  return uses;
}

}  // namespace

ExecutedPlan overhead_probe(const ExecutedPlan& like, const ExecutionScale& scale) {
  ExecutedPlan probe = like;
  probe.scenario = "probe";
  probe.cluster.jitter = {};
  probe.cluster.slow_nodes.clear();
  probe.window = {};
  probe.kernels.reset();  // its waits must end on time
  probe.nccl = false;
  probe.plan = {};
  Plan& plan = probe.plan;
  plan.ranks = like.plan.ranks;
  plan.iterations = 3;
  Group all;
  all.members.resize(static_cast<std::size_t>(plan.ranks));
  std::iota(all.members.begin(), all.members.end(), 0);
  plan.groups = {all};
  const LinkTable links(probe.cluster);
  const double seconds = kProbeS * scale.times;
  const int apart = crosses_nodes(like.plan, like.cluster) ? like.cluster.node.gpus : 1;
  for (RankId rank = 0; rank < plan.ranks; ++rank) {
    RankClass rank_class;
    rank_class.name = fmt::format("probe {}", rank);
    rank_class.members = {rank};
    rank_class.streams = {{"probe"}};
    rank_class.groups = {{0}};
    rank_class.peers = {{probe_peer(rank, apart, plan.ranks)}};
    for (int w = 0; w < kWaits; ++w) {
      rank_class.tasks.push_back(probe_wait(seconds, 0));
    }
    add_messages(like, links, rank_class, seconds);
    for (int s = 0; s < kSums && plan.ranks > 1; ++s) {
      Task task = probe_task(TaskKind::collective, 2);
      task.group_slot = 0;
      task.sequence = s;
      task.algorithm = CollectiveAlgorithm::ring;
      task.as_flows = true;
      task.bytes = seconds * plan.ranks * idle_Bps(links, 0, plan.ranks - 1);
      rank_class.tasks.push_back(task);
    }
    plan.classes.push_back(std::move(rank_class));
  }
  return probe;
}

MachineOverheads measured_overheads(const ExecutedPlan& like, const ExecutionScale& scale,
                                    int runs) {
  CHECK(runs >= 1, "{} runs", runs);
  const ExecutedPlan probe = overhead_probe(like, scale);
  const Timeline predicted =
      predicted_timeline(with_bursts(probe, predicted_timeline(probe), scale));
  const double rounds = probe_rounds(probe, scale);
  std::vector<double> waits, sends, arrivals, sums;
  for (int run = 0; run < runs; ++run) {
    const Timeline measured = measured_execution(probe, scale).timeline;
    const auto excess_s = [&](int part, double count) {
      const double more_s = part_s(measured, part) - part_s(predicted, part);
      return count > 0 ? std::max(0.0, more_s / scale.times / count) : 0;
    };
    const double send_s =
        std::max(0.0, (send_span_s(probe.plan, measured) - send_span_s(probe.plan, predicted)) /
                          scale.times);
    waits.push_back(excess_s(0, kWaits));
    const double pauses_s = like.testbed ? waits.back() : 0;
    const double message_s =
        like.plan.ranks > 1 ? std::max(0.0, excess_s(1, kMessages) - pauses_s) : 0;
    sends.push_back(send_s);
    arrivals.push_back(std::max(0.0, message_s - send_s));
    sums.push_back(excess_s(2, rounds));
  }
  return {median(waits), median(sends), median(arrivals), median(sums)};
}

ExecutedPlan with_overheads(const ExecutedPlan& executed, const MachineOverheads& overheads,
                            const ExecutionScale& scale) {
  ExecutedPlan result = executed;
  const LinkTable links(executed.cluster, copies_over_pcie(executed.plan));
  const CollectiveWorks works(executed.plan, executed.cluster, executed.calibration,
                              executed.pool_calibrations, links);
  for (RankClass& rank_class : result.plan.classes) {
    for (Task& task : rank_class.tasks) {
      double more_s = 0;
      if (task.kind == TaskKind::collective) {
        const CollectiveWork work =
            works.of(task, rank_class.groups[task.group_slot][0], rank_class.members[0]);
        more_s = overheads.round_s * executed_rounds(work, scale.times);
      } else if (task.kind == TaskKind::send) {
        more_s = overheads.send_s;
      } else if (task.kind != TaskKind::recv) {
        more_s = overheads.wait_s;
      }
      if (waits_for_message(rank_class, task)) more_s += overheads.arrival_s;
      if (more_s <= 0) continue;
      task.cost.push_back({task.category, Origin::measured, more_s * scale.times});
    }
  }
  return result;
}

ExecutedPlan with_bursts(const ExecutedPlan& executed, const Timeline& predicted,
                         const ExecutionScale& scale) {
  ExecutedPlan result = executed;
  if (!executed.testbed) return result;
  // These are the shares of bytes that remain: of a message by class and task, of a collective by
  // group and sequence. If ranks differ, the largest remaining share counts.
  std::map<std::pair<std::int32_t, std::int32_t>, double> messages, collectives;
  const std::vector<ClassMember> of_rank = class_of_rank(executed.plan);
  const std::vector<std::vector<PortUse>> uses = port_uses(executed, predicted);
  for (int node = 0; node < executed.cluster.nodes; ++node) {
    const double burst = testbed_burst_bytes(executed.cluster, node, scale);
    const double port_Bps = testbed_port_Bps(executed.cluster, node);
    double busy_until_s = -std::numeric_limits<double>::infinity();
    for (const PortUse& use : uses[node]) {
      const double pause_s = std::max(0.0, use.span.start_s - busy_until_s);
      busy_until_s = std::max(busy_until_s, use.span.end_s);
      const double left = 1 - std::min({burst, pause_s * port_Bps, use.bytes}) / use.bytes;
      const RankClass& rank_class = executed.plan.classes[use.rank_class];
      const Task& task = rank_class.tasks[use.task];
      const bool sends = task.kind == TaskKind::send;
      const std::int32_t of =
          sends ? use.rank_class : rank_class.groups[task.group_slot][of_rank[use.rank].member];
      double& least = (sends ? messages : collectives)[{of, sends ? use.task : task.sequence}];
      least = std::max(least, left);
    }
  }
  for (std::int32_t c = 0; c < std::ssize(result.plan.classes); ++c) {
    RankClass& rank_class = result.plan.classes[c];
    for (TaskIndex t = 0; t < std::ssize(rank_class.tasks); ++t) {
      Task& task = rank_class.tasks[t];
      const bool sends = task.kind == TaskKind::send;
      if (!sends && task.kind != TaskKind::collective) continue;
      double left = 0;
      bool known = false;
      for (std::size_t m = 0; m < rank_class.members.size() && (!sends || !known); ++m) {
        const auto& shares = sends ? messages : collectives;
        const auto found =
            shares.find(sends ? std::pair(c, t)
                              : std::pair(rank_class.groups[task.group_slot][m], task.sequence));
        if (found == shares.end()) continue;
        known = true;
        left = std::max(left, found->second);
      }
      // Groups at different places of one class have the same number of bytes, so the largest
      // counts.
      if (known) task.bytes *= left;
    }
  }
  return result;
}

}  // namespace windtunnel
