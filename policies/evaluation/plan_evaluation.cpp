#include "policies/evaluation/plan_evaluation.hpp"

#include <algorithm>
#include <optional>
#include <queue>
#include <utility>

#include "models/base/error.hpp"
#include "models/machine/links/links.hpp"
#include "models/plan/kernel_pace.hpp"
#include "models/plan/task_board.hpp"

namespace windtunnel {
namespace {

// In 16 bytes, as the queue moves them more than anything else.
class Event {
 public:
  // The task ends, or its not_before_s has come.
  Event(double time_s, TaskRef task, bool ends)
      : time_s_(time_s),
        order_(std::uint64_t(task.rank) << 33U | std::uint64_t(task.task) << 1U |
               static_cast<std::uint64_t>(ends)) {}

  double time_s() const { return time_s_; }
  bool ends() const { return (order_ & 1U) != 0; }
  TaskRef task() const {
    return {static_cast<std::int32_t>(order_ >> 33U),
            static_cast<TaskIndex>(order_ >> 1U & 0xffffffffU)};
  }
  bool operator>(const Event& other) const {
    return time_s_ != other.time_s_ ? time_s_ > other.time_s_ : order_ > other.order_;
  }

 private:
  double time_s_;
  std::uint64_t order_;  // rank, task, whether it ends
};

// Seconds per byte on the port that a class's messages to a peer leave by.
double seconds_per_byte(const RankClass& from, int slot, const Cluster& cluster) {
  const NodeSpec& node = cluster.node;
  bool in_node = true;
  bool in_package = true;
  for (std::size_t m = 0; m < from.members.size(); ++m) {
    const RankId member = from.members[m];
    const RankId peer = from.peers[slot][m];
    in_node &= cluster.node_of(member) == cluster.node_of(peer);
    in_package &= in_one_package(cluster, member, peer);
  }
  if (in_node) return 1 / inner_port(node, in_package).value;
  const int gpus_per_nic = (node.gpus + node.nics - 1) / node.nics;
  const double on_nic = std::min<double>(from.members.size(), gpus_per_nic);
  return on_nic / node.nic_Bps.value;
}

// [class][place of KernelPace] Of the slowest member.
std::vector<std::vector<double>> slowdowns_by_class(const Plan& plan, const Cluster& cluster) {
  std::vector<std::vector<double>> slowdowns(plan.classes.size());
  if (cluster.slow_nodes.empty() && !cluster.jitter.active()) return slowdowns;
  KernelPace pace(plan, cluster);
  for (std::size_t c = 0; c < plan.classes.size(); ++c) {
    for (const RankId rank : plan.classes[c].members) {
      const std::span<const double> own = pace.slowdowns(rank);
      slowdowns[c].resize(own.size());
      for (std::size_t i = 0; i < own.size(); ++i) {
        slowdowns[c][i] = std::max(slowdowns[c][i], own[i]);
      }
    }
  }
  return slowdowns;
}

// The ranks of the board are the classes.
class PlanEvaluator {
 public:
  // `slowdowns`: [class], none, one, or one per place of KernelPace.
  PlanEvaluator(const Plan& plan, const Cluster& cluster,
                const std::vector<std::vector<double>>& slowdowns)
      : plan_(plan),
        templates_(class_templates(plan)),
        rendezvous_of_slot_(rendezvous_of(plan)),
        board_(*this) {
    const KernelPace pace(plan, cluster);
    for (std::size_t c = 0; c < plan.classes.size(); ++c) {
      for (const std::int32_t number : rendezvous_of_slot_[c]) {
        if (number >= std::ssize(rendezvous_)) rendezvous_.resize(number + 1);
        ++rendezvous_[number].classes;
      }
      seconds_.push_back(seconds_of(plan.classes[c], templates_[c], cluster, pace, slowdowns[c]));
      spans_.emplace_back(plan.classes[c].tasks.size());
      streams_.emplace_back(plan.classes[c].streams.size());
      board_.add_rank(templates_[c], plan.classes[c].tasks);
    }
  }

  Timeline run() {
    board_.begin();
    for (std::int32_t c = 0; c < std::ssize(templates_); ++c) {
      for (const TaskIndex t : templates_[c].timed) {
        events_.push({templates_[c].tasks[t].not_before_s, {c, t}, false});
      }
    }
    choose();
    while (!events_.empty()) {
      // All events at the same time are processed before a stream by priority chooses its next
      // task.
      now_s_ = events_.top().time_s();
      while (!events_.empty() && events_.top().time_s() <= now_s_) {
        const Event event = events_.top();
        events_.pop();
        happens(event);
      }
      choose();
    }
    return timeline();
  }

 private:
  struct StreamState {
    std::size_t next = 0;  // of a stream in order
    bool busy = false;
    bool listed = false;       // in choosing_
    TaskIndex held_send = -1;  // synchronous: it waits for its receiver
  };
  struct Rendezvous {
    int classes = 0;
    struct Round {
      double seconds = 0;
      std::vector<TaskRef> waiting;
    };
    std::vector<Round> rounds;  // by sequence
  };

  static std::vector<double> seconds_of(const RankClass& owner, const ClassTemplate& tasks_of,
                                        const Cluster& cluster, const KernelPace& pace,
                                        const std::vector<double>& slowdowns) {
    const auto slowdown = [&](std::size_t t) {
      if (slowdowns.size() < 2) return slowdowns.empty() ? 1 : slowdowns.front();
      return slowdowns[pace.place(static_cast<TaskIndex>(t), owner.tasks[t].iteration)];
    };
    std::vector<double> per_byte;
    for (std::size_t slot = 0; slot < owner.peers.size(); ++slot) {
      per_byte.push_back(seconds_per_byte(owner, static_cast<int>(slot), cluster));
    }
    std::vector<double> seconds;
    seconds.reserve(owner.tasks.size());
    for (std::size_t t = 0; t < owner.tasks.size(); ++t) {
      const Task& task = owner.tasks[t];
      CHECK(task.flows.empty() && !task.as_flows, "task '{}' shares resources", task.name);
      const double slower = slowdown(t);
      seconds.push_back(slower == 1 ? tasks_of.tasks[t].plain_s : plain_seconds(task, slower));
      if (task.kind == TaskKind::send) seconds.back() += task.bytes * per_byte[task.peer_slot];
    }
    return seconds;
  }

  const TaskTemplate& template_of(const TaskRef& task) const {
    return templates_[task.rank].tasks[task.task];
  }
  StreamState& stream_of(const TaskRef& task) {
    return streams_[task.rank][template_of(task).stream];
  }
  double seconds(const TaskRef& task) const { return seconds_[task.rank][task.task]; }

  TaskRef counterpart_of(const TaskRef& task) const {
    const Counterpart& other = template_of(task).counterpart;
    return {other.rank_class, other.task};
  }

  void happens(const Event& event) {
    const TaskRef happened = event.task();
    const TaskTemplate& task = template_of(happened);
    if (event.ends()) {
      stream_of(happened).busy = false;
      if (task.kind == TaskKind::send) board_.arrive(counterpart_of(happened));
      board_.end(happened);
    } else if (task.timed) {
      board_.time_has_come(happened);
    }
    board_.settle();
    go_on(happened);
  }

  // The active stream of this task may start its next one.
  void go_on(const TaskRef& task) {
    const std::int16_t s = template_of(task).stream;
    const StreamTemplate& planned = templates_[task.rank].streams[s];
    if (planned.passive) return;
    StreamState& stream = streams_[task.rank][s];
    if (planned.order == StreamOrder::by_priority) {
      if (!std::exchange(stream.listed, true)) choosing_.push_back({task.rank, s});
      return;
    }
    if (stream.busy || stream.next == planned.tasks.size()) return;
    const TaskRef next = {task.rank, planned.tasks[stream.next]};
    if (!board_.may_follow(next)) return;
    if (const double start_s = template_of(next).not_before_s; start_s > now_s_) {
      events_.push({start_s, next, false});
      return;
    }
    ++stream.next;
    stream.busy = true;
    start(next);
  }

  // Streams by priority start what is most urgent.
  void choose() {
    while (!choosing_.empty()) {
      const auto [c, s] = choosing_.back();
      choosing_.pop_back();
      StreamState& stream = streams_[c][s];
      stream.listed = false;
      if (stream.busy) continue;
      const std::optional<TaskIndex> next = board_.take_ready(c, s);
      if (!next) continue;
      stream.busy = true;
      start({c, *next});
    }
  }

  void start(const TaskRef& task) {
    on_start(task);
    switch (template_of(task).kind) {
      case TaskKind::recv:
        board_.post(task);
        if (board_.has_arrived(task)) ends_at(task, now_s_);
        break;
      case TaskKind::send:
        if (is_synchronous(task) && !board_.is_posted(counterpart_of(task))) {
          stream_of(task).held_send = task.task;
        } else {
          ends_at(task, now_s_ + seconds(task));
        }
        break;
      case TaskKind::collective:
        meet(task);
        break;
      default:
        ends_at(task, now_s_ + seconds(task));
    }
  }

  bool is_synchronous(const TaskRef& task) const {
    return plan_.classes[task.rank].tasks[task.task].synchronous;
  }

  void meet(const TaskRef& member) {
    const Task& task = plan_.classes[member.rank].tasks[member.task];
    Rendezvous& rendezvous = rendezvous_[rendezvous_of_slot_[member.rank][task.group_slot]];
    if (task.sequence >= std::ssize(rendezvous.rounds)) {
      rendezvous.rounds.resize(task.sequence + 1);
    }
    Rendezvous::Round& round = rendezvous.rounds[task.sequence];
    round.waiting.push_back(member);
    round.seconds = std::max(round.seconds, seconds(member));
    if (std::ssize(round.waiting) < rendezvous.classes) return;
    for (const TaskRef& each : round.waiting) ends_at(each, now_s_ + round.seconds);
  }

  void ends_at(const TaskRef& task, double time_s) { events_.push({time_s, task, true}); }

  // ---- what the board asks for ----

  friend class TaskBoard<PlanEvaluator>;
  void on_start(const TaskRef& task) { spans_[task.rank][task.task].start_s = now_s_; }
  void on_end(const TaskRef& task) { spans_[task.rank][task.task].end_s = now_s_; }
  void on_posted(const TaskRef& receive) {
    const TaskRef send = counterpart_of(receive);
    StreamState& stream = stream_of(send);
    if (stream.held_send != send.task) return;
    stream.held_send = -1;
    start(send);
  }
  void wake(const TaskRef& task) {
    if (board_.is_posted(task) && board_.has_arrived(task)) {
      ends_at(task, now_s_);
    } else {
      go_on(task);
    }
  }

  // ---- results ----

  Timeline timeline() {
    if (const std::optional<TaskRef> open = board_.first_open()) {
      const RankClass& owner = plan_.classes[open->rank];
      throw InternalError(fmt::format("the plan deadlocks: class '{}' never ends task {} '{}'",
                                      owner.name, open->task, owner.tasks[open->task].name));
    }
    Timeline timeline;
    timeline.recorded_as.resize(plan_.ranks);
    timeline.iteration_end_s.assign(plan_.iterations, 0);
    for (std::size_t c = 0; c < plan_.classes.size(); ++c) {
      const RankClass& owner = plan_.classes[c];
      for (std::size_t t = 0; t < owner.tasks.size(); ++t) {
        double& end_s = timeline.iteration_end_s[owner.tasks[t].iteration];
        end_s = std::max(end_s, spans_[c][t].end_s);
        timeline.makespan_s = std::max(timeline.makespan_s, spans_[c][t].end_s);
      }
      timeline.ranks.push_back({owner.members.front(), static_cast<std::int32_t>(c),
                                static_cast<double>(owner.members.size()), std::move(spans_[c])});
      timeline.events += owner.tasks.size();
    }
    std::ranges::sort(timeline.ranks, {}, &RankTimeline::rank);
    for (std::size_t r = 0; r < timeline.ranks.size(); ++r) {
      for (const RankId member : plan_.classes[timeline.ranks[r].rank_class].members) {
        timeline.recorded_as[member] = static_cast<std::int32_t>(r);
      }
    }
    timeline.ranks_simulated = std::ssize(timeline.ranks);
    return timeline;
  }

  const Plan& plan_;
  const std::vector<ClassTemplate> templates_;
  const std::vector<std::vector<std::int32_t>> rendezvous_of_slot_;  // [class][slot]
  std::vector<std::vector<double>> seconds_;                         // [class][task]
  std::vector<std::vector<Span>> spans_;                             // [class][task]
  std::vector<std::vector<StreamState>> streams_;                    // [class][stream]
  std::vector<Rendezvous> rendezvous_;
  std::vector<std::pair<std::int32_t, std::size_t>> choosing_;  // class and stream by priority
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  TaskBoard<PlanEvaluator> board_;
  double now_s_ = 0;
};

}  // namespace

Timeline evaluate_plan(const Plan& plan, const Cluster& cluster) {
  return PlanEvaluator(plan, cluster, slowdowns_by_class(plan, cluster)).run();
}

Timeline evaluate_plan(const Plan& plan, const Cluster& cluster,
                       std::span<const double> slowdowns) {
  CHECK(slowdowns.size() == plan.classes.size(), "{} slowdowns of {} classes", slowdowns.size(),
        plan.classes.size());
  std::vector<std::vector<double>> by_class;
  for (const double slowdown : slowdowns) by_class.push_back({slowdown});
  return PlanEvaluator(plan, cluster, by_class).run();
}

}  // namespace windtunnel
