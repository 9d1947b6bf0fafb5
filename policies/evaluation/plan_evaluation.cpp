#include "policies/evaluation/plan_evaluation.hpp"

#include <algorithm>
#include <queue>
#include <utility>

#include "models/base/error.hpp"
#include "models/machine/links/links.hpp"
#include "models/plan/kernel_pace.hpp"

namespace windtunnel {
namespace {

// A task among those of all classes.
using Place = std::int32_t;

struct Event {
  double time_s;
  Place task;
  bool ends;  // or its not_before_s has come
  bool operator>(const Event& other) const {
    return time_s != other.time_s ? time_s > other.time_s : task > other.task;
  }
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

class PlanEvaluator {
 public:
  // `slowdowns`: [class], none, one, or one per place of KernelPace.
  PlanEvaluator(const Plan& plan, const Cluster& cluster,
                const std::vector<std::vector<double>>& slowdowns)
      : plan_(plan), pace_(plan, cluster) {
    const auto counterparts = match_messages(plan);
    const auto rendezvous = rendezvous_of(plan);
    for (const RankClass& owner : plan.classes) {
      first_.push_back(static_cast<Place>(states_.size()));
      states_.resize(states_.size() + owner.tasks.size());
      first_stream_.push_back(static_cast<std::int32_t>(streams_.size()));
      for (const Stream& stream : owner.streams) streams_.push_back({stream.order, {}, {}, 0});
    }
    for (std::size_t c = 0; c < plan.classes.size(); ++c) {
      for (const std::int32_t number : rendezvous[c]) {
        if (number >= std::ssize(rendezvous_)) rendezvous_.resize(number + 1);
        ++rendezvous_[number].classes;
      }
      add_class(c, counterparts[c], rendezvous[c], cluster, slowdowns[c]);
    }
    link_successors();
  }

  void run() {
    for (Place place = 0; place < std::ssize(states_); ++place) {
      if (states_[place].pending > 0) continue;
      is_ready(place);
    }
    for (std::size_t s = 0; s < streams_.size(); ++s) offer(static_cast<std::int32_t>(s));
    pick();
    while (!events_.empty()) {
      // What happens at the same time comes before a stream by priority chooses.
      now_s_ = events_.top().time_s;
      while (!events_.empty() && events_.top().time_s <= now_s_) {
        const Event event = events_.top();
        events_.pop();
        if (event.ends) {
          end(event.task);
        } else {
          becomes_ready(event.task);
        }
      }
      pick();
    }
  }

  Timeline timeline() const {
    Timeline timeline;
    timeline.recorded_as.resize(plan_.ranks);
    timeline.iteration_end_s.assign(plan_.iterations, 0);
    for (std::size_t c = 0; c < plan_.classes.size(); ++c) {
      const RankClass& owner = plan_.classes[c];
      RankTimeline rank{owner.members.front(),
                        static_cast<std::int32_t>(c),
                        static_cast<double>(owner.members.size()),
                        {}};
      rank.spans.reserve(owner.tasks.size());
      for (std::size_t t = 0; t < owner.tasks.size(); ++t) {
        const State& state = states_[first_[c] + t];
        CHECK(state.done, "the plan deadlocks: class '{}' never ends task {} '{}'", owner.name, t,
              owner.tasks[t].name);
        rank.spans.push_back(state.span);
        double& end_s = timeline.iteration_end_s[owner.tasks[t].iteration];
        end_s = std::max(end_s, state.span.end_s);
        timeline.makespan_s = std::max(timeline.makespan_s, state.span.end_s);
      }
      timeline.ranks.push_back(std::move(rank));
    }
    std::ranges::sort(timeline.ranks, {}, &RankTimeline::rank);
    for (std::size_t r = 0; r < timeline.ranks.size(); ++r) {
      for (const RankId member : plan_.classes[timeline.ranks[r].rank_class].members) {
        timeline.recorded_as[member] = static_cast<std::int32_t>(r);
      }
    }
    timeline.ranks_simulated = std::ssize(timeline.ranks);
    timeline.events = states_.size();
    return timeline;
  }

 private:
  struct State {
    double seconds = 0;
    double not_before_s = 0;
    Span span;
    std::int32_t pending = 0;
    std::int32_t stream = 0;
    std::int32_t priority = 0;
    std::int32_t first_successor = 0;
    Place counterpart = -1;
    std::int32_t rendezvous = -1;
    std::int32_t sequence = 0;
    TaskKind kind = TaskKind::compute;
    bool synchronous = false;
    bool ready = false;
    bool posted = false;
    bool arrived = false;
    bool done = false;
  };
  struct StreamState {
    StreamOrder order;
    std::vector<Place> tasks;  // in order
    std::vector<Place> ready;  // by priority: a heap
    std::size_t next = 0;      // in order
    bool busy = false;
    bool listed = false;  // in choosing_
  };
  struct Rendezvous {
    int classes = 0;
    struct Round {
      double seconds = 0;
      std::vector<Place> waiting;
    };
    std::vector<Round> rounds;  // by sequence
  };

  void add_class(std::size_t c, const std::vector<Counterpart>& counterparts,
                 const std::vector<std::int32_t>& rendezvous, const Cluster& cluster,
                 const std::vector<double>& slowdowns) {
    const RankClass& owner = plan_.classes[c];
    const auto slowdown = [&](std::size_t t) {
      if (slowdowns.size() < 2) return slowdowns.empty() ? 1 : slowdowns.front();
      return slowdowns[pace_.place(static_cast<TaskIndex>(t), owner.tasks[t].iteration)];
    };
    std::vector<double> per_byte;
    for (std::size_t slot = 0; slot < owner.peers.size(); ++slot) {
      per_byte.push_back(seconds_per_byte(owner, static_cast<int>(slot), cluster));
    }
    for (std::size_t t = 0; t < owner.tasks.size(); ++t) {
      const Task& task = owner.tasks[t];
      CHECK(task.flows.empty() && !task.as_flows, "task '{}' shares resources", task.name);
      State& state = states_[first_[c] + t];
      state.seconds = plain_seconds(task, slowdown(t));
      state.not_before_s = task.not_before_s;
      state.pending =
          task.join_first > 0 ? task.join_first : static_cast<std::int32_t>(task.after.size());
      state.stream = first_stream_[c] + task.stream;
      state.priority = task.priority;
      state.kind = task.kind;
      state.synchronous = task.synchronous;
      if (task.kind == TaskKind::send) state.seconds += task.bytes * per_byte[task.peer_slot];
      if (counterparts[t].task >= 0) {
        state.counterpart = first_[counterparts[t].rank_class] + counterparts[t].task;
      }
      if (task.kind == TaskKind::collective) {
        state.rendezvous = rendezvous[task.group_slot];
        state.sequence = task.sequence;
      }
      StreamState& stream = streams_[state.stream];
      if (stream.order == StreamOrder::in_order) {
        stream.tasks.push_back(static_cast<Place>(first_[c] + t));
      }
    }
  }

  void link_successors() {
    for (std::size_t c = 0; c < plan_.classes.size(); ++c) {
      for (const Task& task : plan_.classes[c].tasks) {
        for (const TaskIndex before : task.after) ++states_[first_[c] + before].first_successor;
      }
    }
    std::int32_t next = 0;
    for (State& state : states_) next = state.first_successor += next;
    successors_.resize(next);
    for (std::size_t c = plan_.classes.size(); c-- > 0;) {
      const auto& tasks = plan_.classes[c].tasks;
      for (std::size_t t = tasks.size(); t-- > 0;) {
        for (const TaskIndex before : tasks[t].after) {
          successors_[--states_[first_[c] + before].first_successor] =
              static_cast<Place>(first_[c] + t);
        }
      }
    }
  }

  // Its predecessors have ended.
  void is_ready(Place place) {
    if (states_[place].not_before_s > now_s_) {
      events_.push({states_[place].not_before_s, place, false});
    } else {
      becomes_ready(place);
    }
  }

  void becomes_ready(Place place) {
    State& state = states_[place];
    state.ready = true;
    StreamState& stream = streams_[state.stream];
    switch (stream.order) {
      case StreamOrder::unordered:
        start(place);
        break;
      case StreamOrder::in_order:
        offer(state.stream);
        break;
      case StreamOrder::by_priority:
        stream.ready.push_back(place);
        std::ranges::push_heap(stream.ready, later_);
        choose_later(state.stream);
        break;
    }
  }

  // Starts the next task of a stream in order if it can.
  void offer(std::int32_t s) {
    StreamState& stream = streams_[s];
    if (stream.order != StreamOrder::in_order || stream.busy) return;
    if (stream.next == stream.tasks.size() || !states_[stream.tasks[stream.next]].ready) return;
    stream.busy = true;
    start(stream.tasks[stream.next++]);
  }

  void choose_later(std::int32_t s) {
    if (std::exchange(streams_[s].listed, true)) return;
    choosing_.push_back(s);
  }

  void pick() {
    while (!choosing_.empty()) {
      const std::int32_t s = choosing_.back();
      choosing_.pop_back();
      StreamState& stream = streams_[s];
      stream.listed = false;
      if (stream.busy || stream.ready.empty()) continue;
      std::ranges::pop_heap(stream.ready, later_);
      const Place place = stream.ready.back();
      stream.ready.pop_back();
      stream.busy = true;
      start(place);
    }
  }

  void start(Place place) {
    State& state = states_[place];
    state.span.start_s = now_s_;
    switch (state.kind) {
      case TaskKind::recv:
        state.posted = true;
        if (state.arrived) ends_at(place, now_s_);
        // A send that waits for its receiver.
        if (State& send = states_[state.counterpart]; send.posted && !send.arrived) {
          start(state.counterpart);
        }
        break;
      case TaskKind::send:
        state.posted = true;
        if (state.synchronous && !states_[state.counterpart].posted) break;
        state.arrived = true;  // at its turn
        ends_at(place, now_s_ + state.seconds);
        break;
      case TaskKind::collective:
        meet(place);
        break;
      default:
        ends_at(place, now_s_ + state.seconds);
    }
  }

  void meet(Place place) {
    const State& state = states_[place];
    Rendezvous& rendezvous = rendezvous_[state.rendezvous];
    if (state.sequence >= std::ssize(rendezvous.rounds))
      rendezvous.rounds.resize(state.sequence + 1);
    Rendezvous::Round& round = rendezvous.rounds[state.sequence];
    round.waiting.push_back(place);
    round.seconds = std::max(round.seconds, state.seconds);
    if (std::ssize(round.waiting) < rendezvous.classes) return;
    for (const Place member : round.waiting) ends_at(member, now_s_ + round.seconds);
  }

  void ends_at(Place place, double time_s) { events_.push({time_s, place, true}); }

  void end(Place place) {
    State& state = states_[place];
    state.span.end_s = now_s_;
    state.done = true;
    if (state.kind == TaskKind::send) {
      State& receive = states_[state.counterpart];
      receive.arrived = true;
      if (receive.posted) ends_at(state.counterpart, now_s_);
    }
    StreamState& stream = streams_[state.stream];
    stream.busy = false;
    const std::int32_t end = place + 1 < std::ssize(states_) ? states_[place + 1].first_successor
                                                             : std::ssize(successors_);
    for (std::int32_t i = state.first_successor; i < end; ++i) {
      if (--states_[successors_[i]].pending == 0) is_ready(successors_[i]);
    }
    if (stream.order == StreamOrder::by_priority) {
      choose_later(state.stream);
    } else {
      offer(state.stream);
    }
  }

  struct Later {
    const std::vector<State>* states;
    bool operator()(Place a, Place b) const {
      const std::int32_t first = (*states)[a].priority;
      const std::int32_t second = (*states)[b].priority;
      return first != second ? first < second : a > b;
    }
  };

  const Plan& plan_;
  const KernelPace pace_;
  std::vector<Place> first_;                // [class]
  std::vector<std::int32_t> first_stream_;  // [class]
  std::vector<State> states_;
  std::vector<Place> successors_;
  std::vector<StreamState> streams_;
  std::vector<Rendezvous> rendezvous_;
  std::vector<std::int32_t> choosing_;  // streams by priority that may start a task
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  const Later later_{&states_};
  double now_s_ = 0;
};

}  // namespace

Timeline evaluate_plan(const Plan& plan, const Cluster& cluster) {
  PlanEvaluator evaluation(plan, cluster, slowdowns_by_class(plan, cluster));
  evaluation.run();
  return evaluation.timeline();
}

Timeline evaluate_plan(const Plan& plan, const Cluster& cluster,
                       std::span<const double> slowdowns) {
  CHECK(slowdowns.size() == plan.classes.size(), "{} slowdowns of {} classes", slowdowns.size(),
        plan.classes.size());
  std::vector<std::vector<double>> by_class;
  for (const double slowdown : slowdowns) by_class.push_back({slowdown});
  PlanEvaluator evaluation(plan, cluster, by_class);
  evaluation.run();
  return evaluation.timeline();
}

}  // namespace windtunnel
