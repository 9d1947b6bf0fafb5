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

// An event has 16 bytes, because the queue moves events more often than anything else.
class Event {
 public:
  // `ends`: the event is the task's end; otherwise the task's not_before_s has come.
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
  std::uint64_t order_;  // rank, task and `ends`, to order events of the same time
};

// Returns the seconds per byte on the port by which a class's messages to a peer leave.
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

// [class][place of KernelPace] Slowdown of the class's slowest rank.
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

// The board has one entry for each class, where other executors have one for each rank.
class PlanEvaluator {
 public:
  // `slowdowns`: [class] a list that is empty, has one factor, or one per place of KernelPace.
  PlanEvaluator(const Plan& plan, const Cluster& cluster,
                const std::vector<std::vector<double>>& slowdowns)
      : plan_(plan), templates_(class_templates(plan)), board_(*this) {
    const std::vector<std::vector<std::int32_t>> rendezvous = rendezvous_of(plan);
    const KernelPace pace(plan, cluster);
    classes_.reserve(plan.classes.size());
    for (std::size_t c = 0; c < plan.classes.size(); ++c) {
      const RankClass& owner = plan.classes[c];
      ClassState& own = classes_.emplace_back(ClassState{templates_[c], owner.tasks});
      own.rendezvous_of_slot = rendezvous[c];
      for (const std::int32_t number : rendezvous[c]) {
        if (number >= std::ssize(rendezvous_)) rendezvous_.resize(number + 1);
        ++rendezvous_[number].classes;
      }
      own.seconds = seconds_of(owner, templates_[c], cluster, pace, slowdowns[c]);
      own.spans.resize(owner.tasks.size());
      own.streams.resize(owner.streams.size());
      board_.add_rank(templates_[c], owner.tasks);
    }
  }

  Timeline run() {
    board_.begin();
    for (std::int32_t c = 0; c < std::ssize(classes_); ++c) {
      for (const TaskIndex t : templates_[c].timed) {
        events_.push({templates_[c].tasks[t].not_before_s, {c, t}, false});
      }
    }
    choose();
    while (!events_.empty()) {
      // All events of one time are processed before a stream chooses its next task by priority.
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
    std::size_t next = 0;  // next task, if the stream runs in order
    bool busy = false;
    bool listed = false;       // in choosing_
    TaskIndex held_send = -1;  // a synchronous send that waits for its receiver; -1: none
  };
  struct ClassState {
    const ClassTemplate& tasks_of;
    const std::vector<Task>& tasks;
    std::vector<std::int32_t> rendezvous_of_slot = {};
    std::vector<double> seconds = {};  // [task]
    std::vector<Span> spans = {};      // [task]
    std::vector<StreamState> streams = {};
  };
  struct Rendezvous {
    struct Round {
      double seconds = 0;
      int waiting = 0;
    };
    int classes = 0;
    std::vector<Round> rounds = {};     // by sequence
    std::vector<TaskRef> waiting = {};  // for each round, one place for every class
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
    return classes_[task.rank].tasks_of.tasks[task.task];
  }
  StreamState& stream_of(const TaskRef& task) {
    return classes_[task.rank].streams[template_of(task).stream];
  }
  double seconds(const TaskRef& task) const { return classes_[task.rank].seconds[task.task]; }

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

  // Lets the stream of an ended task start its next one, if it is an active stream.
  void go_on(const TaskRef& task) {
    ClassState& own = classes_[task.rank];
    const std::int16_t s = own.tasks_of.tasks[task.task].stream;
    const StreamTemplate& planned = own.tasks_of.streams[s];
    if (planned.passive) return;
    StreamState& stream = own.streams[s];
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

  // Lets each listed stream start its most urgent task.
  void choose() {
    while (!choosing_.empty()) {
      const auto [c, s] = choosing_.back();
      choosing_.pop_back();
      StreamState& stream = classes_[c].streams[s];
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
        if (template_of(task).synchronous && !board_.is_posted(counterpart_of(task))) {
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

  void meet(const TaskRef& member) {
    const ClassState& own = classes_[member.rank];
    const Task& task = own.tasks[member.task];
    Rendezvous& rendezvous = rendezvous_[own.rendezvous_of_slot[task.group_slot]];
    if (task.sequence >= std::ssize(rendezvous.rounds)) {
      rendezvous.rounds.resize(2 * std::size_t(task.sequence) + 2);
      rendezvous.waiting.resize(rendezvous.rounds.size() * rendezvous.classes);
    }
    Rendezvous::Round& round = rendezvous.rounds[task.sequence];
    TaskRef* const waiting = &rendezvous.waiting[std::size_t(task.sequence) * rendezvous.classes];
    waiting[round.waiting++] = member;
    round.seconds = std::max(round.seconds, seconds(member));
    if (round.waiting < rendezvous.classes) return;
    for (int i = 0; i < round.waiting; ++i) ends_at(waiting[i], now_s_ + round.seconds);
  }

  void ends_at(const TaskRef& task, double time_s) { events_.push({time_s, task, true}); }

  // ---- functions that the board calls ----

  friend class TaskBoard<PlanEvaluator>;
  void on_start(const TaskRef& task) { classes_[task.rank].spans[task.task].start_s = now_s_; }
  void on_end(const TaskRef& task) { classes_[task.rank].spans[task.task].end_s = now_s_; }
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
      std::vector<Span>& spans = classes_[c].spans;
      for (std::size_t t = 0; t < spans.size(); ++t) {
        double& end_s = timeline.iteration_end_s[templates_[c].tasks[t].iteration];
        end_s = std::max(end_s, spans[t].end_s);
        timeline.makespan_s = std::max(timeline.makespan_s, spans[t].end_s);
      }
      timeline.ranks.push_back({owner.members.front(), static_cast<std::int32_t>(c),
                                static_cast<double>(owner.members.size()), std::move(spans)});
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
  std::vector<ClassState> classes_;
  std::vector<Rendezvous> rendezvous_;
  std::vector<std::pair<std::int32_t, std::size_t>> choosing_;  // {class, stream} to choose a task
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
