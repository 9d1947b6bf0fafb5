#include "sim/engine/timeline_replay.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <queue>
#include <set>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "models/base/error.hpp"
#include "models/plan/class_template.hpp"
#include "models/plan/kernel_pace.hpp"
#include "models/reliability/stragglers/wait_rule.hpp"
#include "sim/engine/fold.hpp"

namespace windtunnel {
namespace {

// Lanes of a class: sets of ranks that remain alike, because they are in step with each other, on
// equally slow nodes, and represented by one rank in the steady timeline.
struct Lanes {
  std::vector<RankId> rank;          // [lane] its lowest rank
  std::vector<std::int32_t> member;  // [lane] position of this rank in the class
  std::vector<std::int32_t> size;    // [lane] number of ranks
};

// An event of a task. Events are processed in the order of the steady timeline.
struct Moment {
  double steady_s = 0;
  std::int32_t place = 0;  // index of the task among those of all classes
  bool ends = false;
  bool operator>(const Moment& other) const {
    if (steady_s != other.steady_s) return steady_s > other.steady_s;
    return std::pair(place, ends) > std::pair(other.place, other.ends);
  }
};

// One of several transfers of equal size, and the place to which its end is written.
struct Sharer {
  double start_s = 0;
  double* end_s = nullptr;
};

// Each transfer takes `alone_s` at full speed and `together_s` if all overlap. If no more run than
// fit, they run at full speed; if more run, they share the same bandwidth equally.
void share_links(std::vector<Sharer>& sharers, double alone_s, double together_s) {
  if (alone_s >= together_s * (1 - 1e-9)) {
    for (const Sharer& sharer : sharers) *sharer.end_s = sharer.start_s + together_s;
    return;
  }
  std::ranges::stable_sort(sharers, {}, &Sharer::start_s);
  const double fit = static_cast<double>(sharers.size()) * alone_s / together_s;
  std::vector<double> done_at;  // [sharer] the value of `done` at which it ends
  double now_s = 0, done = 0;
  std::size_t first = 0;  // the first sharer that still runs
  const auto speed = [&] {
    return std::min(1.0, fit / static_cast<double>(done_at.size() - first));
  };
  const auto advance = [&](double until_s) {
    for (; first < done_at.size(); ++first) {
      const double end_s = now_s + (done_at[first] - done) / speed();
      if (end_s > until_s) {
        done += (until_s - now_s) * speed();
        break;
      }
      *sharers[first].end_s = now_s = end_s;
      done = done_at[first];
    }
    now_s = until_s;
  };
  for (const Sharer& sharer : sharers) {
    advance(sharer.start_s);
    done_at.push_back(done + alone_s);
  }
  advance(std::numeric_limits<double>::infinity());
}

class Replay {
 public:
  Replay(const Plan& plan, const Cluster& cluster, const Timeline& steady, const Timeline& alone)
      : plan_(plan),
        cluster_(cluster),
        steady_(steady),
        alone_(alone),
        templates_(class_templates(plan)),
        of_rank_(class_of_rank(plan)),
        end_of_group_(plan.groups.size(), 0) {
    find_lanes();
    add_tasks();
    add_busy_shares();
    add_meetings();
    add_durations();
  }

  void run() {
    for (std::size_t c = 0; c < templates_.size(); ++c) {
      for (TaskIndex t = 0; t < std::ssize(templates_[c].tasks); ++t) {
        if (state(c, t).starts_after == 0) push(c, t, false);
      }
    }
    std::int64_t ended = 0;
    while (!moments_.empty()) {
      const Moment moment = moments_.top();
      moments_.pop();
      const std::int32_t c = class_of_[moment.place];
      const TaskIndex t = moment.place - first_[c];
      if (!moment.ends) {
        start(c, t);
      } else {
        end(c, t);
        ++ended;
      }
    }
    CHECK(ended == std::ssize(states_), "the plan deadlocks: {} of {} tasks end", ended,
          states_.size());
  }

  // Must be called only once, because it moves data into the result.
  Timeline timeline() {
    Timeline timeline;
    timeline.iteration_end_s.assign(plan_.iterations, 0);
    timeline.events = steady_.events;
    timeline.ranks_simulated = steady_.ranks_simulated;
    timeline.sampled_of = steady_.sampled_of;
    timeline.peak_rss_bytes = steady_.peak_rss_bytes;
    for (std::size_t c = 0; c < lanes_.size(); ++c) add_ranks(c, timeline);
    std::ranges::sort(timeline.ranks, {}, &RankTimeline::rank);
    std::vector<std::int32_t> number(plan_.ranks, -1);
    for (std::size_t r = 0; r < timeline.ranks.size(); ++r) {
      number[timeline.ranks[r].rank] = static_cast<std::int32_t>(r);
    }
    for (RankId rank = 0; rank < plan_.ranks; ++rank) {
      const RankId lowest = lanes_[of_rank_[rank].rank_class].rank[lane_of_[rank]];
      timeline.recorded_as.push_back(number[lowest]);
    }
    timeline.makespan_s = *std::ranges::max_element(timeline.iteration_end_s);
    return timeline;
  }

 private:
  static constexpr std::size_t kLanesAtATime = 16;

  struct State {
    std::int32_t starts_after = 0;  // number of moments that must come before its start
    std::int32_t ends_after = 1;    // its start; for a receive also the end of its send
    TaskIndex next = -1;            // the next task, if its stream runs in order
    std::int32_t meeting = -1;
    double busy = 0;  // share of the step in which transfers of its slot run
  };
  struct Stream {
    TaskIndex last = -1;  // the last task that has started
    bool busy = false;    // a task runs; used in streams by priority
    std::vector<TaskIndex> waiting;
  };
  // One Meeting stands for the collectives of all groups with the same shape.
  struct Meeting {
    std::vector<std::pair<std::int32_t, TaskIndex>> tasks;  // (class, task) of each participant
    std::size_t arrived = 0;
    std::int32_t rendezvous = 0;
  };

  // ---- setting up ----

  void find_lanes() {
    lanes_.resize(plan_.classes.size());
    lane_of_.resize(plan_.ranks);
    for (std::size_t c = 0; c < plan_.classes.size(); ++c) {
      std::map<std::tuple<std::int32_t, std::int32_t, double>, std::int32_t> seen;
      Lanes& lanes = lanes_[c];
      const std::vector<RankId>& members = plan_.classes[c].members;
      for (std::size_t m = 0; m < members.size(); ++m) {
        const RankId rank = members[m];
        const auto [at, fresh] = seen.try_emplace(
            {steady_.recorded_as[rank], rank / plan_.in_step, cluster_.slowdown_of(rank)},
            static_cast<std::int32_t>(lanes.rank.size()));
        lane_of_[rank] = at->second;
        if (fresh) {
          lanes.rank.push_back(rank);
          lanes.member.push_back(static_cast<std::int32_t>(m));
          lanes.size.push_back(0);
        }
        ++lanes.size[at->second];
      }
    }
  }

  void add_tasks() {
    for (std::size_t c = 0; c < templates_.size(); ++c) {
      const ClassTemplate& own = templates_[c];
      first_.push_back(static_cast<std::int32_t>(states_.size()));
      for (std::size_t t = 0; t < own.tasks.size(); ++t) {
        State added;
        added.starts_after = static_cast<std::int32_t>(plan_.classes[c].tasks[t].after.size());
        if (own.tasks[t].kind == TaskKind::recv) ++added.ends_after;
        if (is_synchronous(c, t)) ++added.starts_after;
        states_.push_back(added);
        class_of_.push_back(static_cast<std::int32_t>(c));
      }
      streams_.emplace_back(own.streams.size());
      for (const StreamTemplate& stream : own.streams) {
        if (stream.order != StreamOrder::in_order) continue;
        for (std::size_t i = 1; i < stream.tasks.size(); ++i) {
          state(c, stream.tasks[i - 1]).next = stream.tasks[i];
          ++state(c, stream.tasks[i]).starts_after;
        }
      }
      starts_.emplace_back(own.tasks.size() * lanes(c));
      ends_.emplace_back(own.tasks.size() * lanes(c));
    }
  }

  // Adds for each class the share of the steady timeline in which the transfers of each slot run.
  void add_busy_shares() {
    for (std::size_t c = 0; c < plan_.classes.size(); ++c) {
      const RankClass& owner = plan_.classes[c];
      std::map<std::pair<TaskKind, int>, double> busy_s;
      for (const bool adds : {true, false}) {
        for (std::size_t t = 0; t < owner.tasks.size(); ++t) {
          const Task& task = owner.tasks[t];
          if (task.kind != TaskKind::send && task.kind != TaskKind::collective) continue;
          double& sum_s = busy_s[{task.kind, task.peer_slot + task.group_slot}];
          const Span& span = span_of(steady_, lanes_[c].rank.front(), t);
          if (adds) sum_s += span.end_s - span.start_s;
          if (!adds) state(c, t).busy = std::min(1.0, sum_s / steady_.makespan_s);
        }
      }
    }
  }

  // Returns the time at full speed: with the bandwidth that others leave on average, but no longer
  // than in the steady timeline.
  static double alone_s(double alone_s, double together_s, double busy) {
    return busy < 1 ? std::min(together_s, alone_s / (1 - busy)) : together_s;
  }

  void add_meetings() {
    const std::vector<std::vector<std::int32_t>> rendezvous = rendezvous_of(plan_);
    // `known` has the Meeting of each {rendezvous, sequence}; `groups` has the lanes' groups by
    // rendezvous.
    std::map<std::pair<std::int32_t, std::int32_t>, std::int32_t> known;
    std::map<std::int32_t, std::set<std::int32_t>> groups;
    for (std::size_t c = 0; c < plan_.classes.size(); ++c) {
      const RankClass& owner = plan_.classes[c];
      for (std::size_t slot = 0; slot < owner.groups.size(); ++slot) {
        for (const std::int32_t member : lanes_[c].member) {
          groups[rendezvous[c][slot]].insert(owner.groups[slot][member]);
        }
      }
      for (std::size_t t = 0; t < owner.tasks.size(); ++t) {
        const Task& task = owner.tasks[t];
        if (task.kind != TaskKind::collective) continue;
        const std::int32_t number = rendezvous[c][task.group_slot];
        const auto [at, fresh] =
            known.try_emplace({number, task.sequence}, static_cast<std::int32_t>(meetings_.size()));
        if (fresh) meetings_.push_back({{}, 0, number});
        meetings_[at->second].tasks.emplace_back(c, t);
        state(c, t).meeting = at->second;
      }
    }
    for (const auto& [number, of_lanes] : groups) {
      groups_[number].assign(of_lanes.begin(), of_lanes.end());
    }
  }

  // Adds the task's duration to its start. Processes some lanes at a time, with their values next
  // to each other in memory.
  void add_durations() {
    KernelPace pace(plan_, cluster_);
    std::vector<std::vector<double>> drawn(kLanesAtATime);
    for (std::size_t c = 0; c < templates_.size(); ++c) {
      for (std::size_t first = 0; first < lanes(c); first += kLanesAtATime) {
        const std::size_t last = std::min(lanes(c), first + kLanesAtATime);
        for (std::size_t lane = first; lane < last; ++lane) {
          const std::span<const double> own = pace.slowdowns(lanes_[c].rank[lane]);
          drawn[lane - first].assign(own.begin(), own.end());
        }
        const auto tasks = static_cast<TaskIndex>(templates_[c].tasks.size());
        for (TaskIndex t = 0; t < tasks; ++t) {
          const std::size_t place = pace.place(t, templates_[c].tasks[t].iteration);
          const std::span<double> seconds = row(ends_, c, t);
          for (std::size_t lane = first; lane < last; ++lane) {
            seconds[lane] = duration_s(c, t, lanes_[c].rank[lane], drawn[lane - first], place);
          }
        }
      }
    }
  }

  double duration_s(std::size_t c, TaskIndex t, RankId rank, const std::vector<double>& drawn,
                    std::size_t place) const {
    const TaskTemplate& task = templates_[c].tasks[t];
    const Span& span = span_of(steady_, rank, t);
    const double steady_s = span.end_s - span.start_s;
    if (!slowed_by_node(task.kind)) return steady_s;
    const double slowdown = drawn[place];
    if (plan_.classes[c].tasks[t].flows.empty()) return task.seconds(slowdown);
    // The task has flows of kernels, and their amounts also grow with the slowdown.
    return task.seconds(slowdown) + std::max(0.0, steady_s - task.seconds(1)) * slowdown;
  }

  // ---- the order of moments ----

  void push(std::size_t c, TaskIndex t, bool ends) {
    const Span& span = span_of(steady_, lanes_[c].rank.front(), t);
    moments_.push({ends ? span.end_s : span.start_s, first_[c] + t, ends});
  }

  void before_start(std::size_t c, TaskIndex t) {
    if (--state(c, t).starts_after == 0) push(c, t, false);
  }
  void before_end(std::size_t c, TaskIndex t) {
    if (--state(c, t).ends_after == 0) push(c, t, true);
  }

  void start(std::size_t c, TaskIndex t) {
    const TaskTemplate& task = templates_[c].tasks[t];
    Stream& stream = streams_[c][task.stream];
    const StreamOrder order = templates_[c].streams[task.stream].order;
    if (order == StreamOrder::by_priority && std::exchange(stream.busy, true)) {
      stream.waiting.push_back(t);
      return;
    }
    set_starts(c, t, order == StreamOrder::unordered ? -1 : std::exchange(stream.last, t));
    const Counterpart& other = task.counterpart;
    if (task.kind == TaskKind::recv && is_synchronous(other.rank_class, other.task)) {
      before_start(other.rank_class, other.task);
    }
    if (task.kind != TaskKind::collective) {
      before_end(c, t);
      return;
    }
    Meeting& meeting = meetings_[state(c, t).meeting];
    if (++meeting.arrived < meeting.tasks.size()) return;
    meet(meeting);
    for (const auto& [rank_class, member] : meeting.tasks) before_end(rank_class, member);
  }

  void end(std::size_t c, TaskIndex t) {
    const TaskTemplate& task = templates_[c].tasks[t];
    set_ends(c, t);
    for (const TaskIndex next : templates_[c].successors_of(t)) before_start(c, next);
    if (state(c, t).next >= 0) before_start(c, state(c, t).next);
    if (task.kind == TaskKind::send) before_end(task.counterpart.rank_class, task.counterpart.task);
    Stream& stream = streams_[c][task.stream];
    if (!std::exchange(stream.busy, false)) return;
    for (const TaskIndex waiting : std::exchange(stream.waiting, {})) push(c, waiting, false);
  }

  // ---- times of all lanes ----

  void set_starts(std::size_t c, TaskIndex t, TaskIndex before) {
    const Task& task = plan_.classes[c].tasks[t];
    const std::span<double> starts = row(starts_, c, t);
    std::ranges::fill(starts, task.not_before_s);
    const auto wait_for = [&](TaskIndex other) {
      const std::span<const double> ends = row(ends_, c, other);
      for (std::size_t lane = 0; lane < starts.size(); ++lane) {
        starts[lane] = std::max(starts[lane], ends[lane]);
      }
    };
    if (task.join_first == 0) {
      for (const TaskIndex other : task.after) wait_for(other);
    } else {
      join_first(c, task, starts);
    }
    if (before >= 0) wait_for(before);
    if (!is_synchronous(c, t)) return;
    const Counterpart& receive = templates_[c].tasks[t].counterpart;
    for (std::size_t lane = 0; lane < starts.size(); ++lane) {
      starts[lane] = std::max(starts[lane], at_peer(starts_, c, task, lane, receive));
    }
  }

  void join_first(std::size_t c, const Task& task, std::span<double> starts) {
    std::vector<double> ends(task.after.size());
    const WaitRule first{.missing = static_cast<int>(ends.size()) - task.join_first};
    for (std::size_t lane = 0; lane < starts.size(); ++lane) {
      for (std::size_t i = 0; i < ends.size(); ++i) ends[i] = row(ends_, c, task.after[i])[lane];
      starts[lane] = std::max(starts[lane], end_of_wait(first, ends));
    }
  }

  void set_ends(std::size_t c, TaskIndex t) {
    const Task& task = plan_.classes[c].tasks[t];
    const std::span<const double> starts = row(starts_, c, t);
    const std::span<double> ends = row(ends_, c, t);
    if (task.kind == TaskKind::collective) return;  // meet()
    if (task.kind == TaskKind::send) {
      send_all(c, t);
      return;
    }
    for (std::size_t lane = 0; lane < ends.size(); ++lane) {
      if (task.kind == TaskKind::recv) {
        const Counterpart& send = templates_[c].tasks[t].counterpart;
        ends[lane] = std::max(starts[lane], at_peer(ends_, c, task, lane, send));
      } else {
        ends[lane] += starts[lane];
      }
    }
  }

  void send_all(std::size_t c, TaskIndex t) {
    const std::span<const double> starts = row(starts_, c, t);
    const std::span<double> ends = row(ends_, c, t);
    std::map<std::int32_t, std::vector<Sharer>> alike;  // by index of the recorded rank
    for (std::size_t lane = 0; lane < ends.size(); ++lane) {
      alike[steady_.recorded_as[lanes_[c].rank[lane]]].push_back({starts[lane], &ends[lane]});
    }
    for (auto& [recorded, sharers] : alike) {
      const RankId rank = steady_.ranks[recorded].rank;
      const Span& all = span_of(steady_, rank, t);
      const Span& own = span_of(alone_, rank, t);
      const double together_s = all.end_s - all.start_s;
      share_links(sharers, alone_s(own.end_s - own.start_s, together_s, state(c, t).busy),
                  together_s);
    }
  }

  // Returns when the group's last member arrives.
  double last_of(std::int32_t group, const std::vector<TaskIndex>& task_of_class) {
    double last_s = 0;
    for (const RankId rank : plan_.groups[group].members) {
      const std::int32_t c = of_rank_[rank].rank_class;
      last_s = std::max(last_s, row(starts_, c, task_of_class[c])[lane_of_[rank]]);
    }
    return last_s;
  }
  // Returns the time from the last arrival to the end of the collective.
  double seconds_of(const Timeline& timeline, std::int32_t group,
                    const std::vector<TaskIndex>& task_of_class) const {
    double last_s = 0, end_s = 0;
    for (const RankId rank : plan_.groups[group].members) {
      const Span& span = span_of(timeline, rank, task_of_class[of_rank_[rank].rank_class]);
      last_s = std::max(last_s, span.start_s);
      end_s = std::max(end_s, span.end_s);
    }
    return std::max(0.0, end_s - last_s);
  }

  void meet(const Meeting& meeting) {
    std::vector<TaskIndex> task_of_class(plan_.classes.size(), -1);
    for (const auto& [c, t] : meeting.tasks) task_of_class[c] = t;
    std::map<std::int32_t, std::vector<Sharer>> alike;  // by index of the recorded rank
    std::map<std::int32_t, std::int32_t> first_alike;   // by the same index
    for (const std::int32_t group : groups_.at(meeting.rendezvous)) {
      const Sharer sharer{last_of(group, task_of_class), &end_of_group_[group]};
      if (of_replicas(plan_.groups[group])) {
        *sharer.end_s = sharer.start_s + seconds_of(steady_, group, task_of_class);
        continue;
      }
      const std::int32_t recorded = steady_.recorded_as[plan_.groups[group].members.front()];
      alike[recorded].push_back(sharer);
      first_alike.try_emplace(recorded, group);
    }
    const auto& [some_class, some_task] = meeting.tasks.front();
    for (auto& [recorded, sharers] : alike) {
      const std::int32_t group = first_alike[recorded];
      const double together_s = seconds_of(steady_, group, task_of_class);
      const double own_s = seconds_of(alone_, group, task_of_class);
      share_links(sharers, alone_s(own_s, together_s, state(some_class, some_task).busy),
                  together_s);
    }
    for (const auto& [c, t] : meeting.tasks) {
      const RankClass& owner = plan_.classes[c];
      const std::vector<std::int32_t>& groups = owner.groups[owner.tasks[t].group_slot];
      const std::span<double> ends = row(ends_, c, t);
      for (std::size_t lane = 0; lane < ends.size(); ++lane) {
        ends[lane] = end_of_group_[groups[lanes_[c].member[lane]]];
      }
    }
  }

  void add_ranks(std::size_t c, Timeline& timeline) {
    const std::vector<TaskTemplate>& tasks = templates_[c].tasks;
    const std::size_t offset = timeline.ranks.size();
    for (std::size_t lane = 0; lane < lanes(c); ++lane) {
      timeline.ranks.push_back({lanes_[c].rank[lane], static_cast<std::int32_t>(c),
                                static_cast<double>(lanes_[c].size[lane]),
                                std::vector<Span>(tasks.size())});
    }
    for (std::size_t first = 0; first < lanes(c); first += kLanesAtATime) {
      const std::size_t last = std::min(lanes(c), first + kLanesAtATime);
      for (std::size_t t = 0; t < tasks.size(); ++t) {
        double& end_s = timeline.iteration_end_s[tasks[t].iteration];
        for (std::size_t lane = first; lane < last; ++lane) {
          const std::size_t at = t * lanes(c) + lane;
          timeline.ranks[offset + lane].spans[t] = {starts_[c][at], ends_[c][at]};
          end_s = std::max(end_s, ends_[c][at]);
        }
      }
    }
    starts_[c] = {};
    ends_[c] = {};
  }

  // ---- looking things up ----

  State& state(std::size_t c, TaskIndex t) { return states_[first_[c] + t]; }
  std::size_t lanes(std::size_t c) const { return lanes_[c].rank.size(); }
  bool is_synchronous(std::size_t c, TaskIndex t) const {
    const Task& task = plan_.classes[c].tasks[t];
    return task.kind == TaskKind::send && task.synchronous;
  }
  static const Span& span_of(const Timeline& timeline, RankId rank, TaskIndex t) {
    return timeline.ranks[timeline.recorded_as[rank]].spans[t];
  }
  std::span<double> row(std::vector<std::vector<double>>& of, std::size_t c, TaskIndex t) const {
    return std::span(of[c]).subspan(t * lanes(c), lanes(c));
  }
  double at_peer(const std::vector<std::vector<double>>& of, std::size_t c, const Task& task,
                 std::size_t lane, const Counterpart& other) const {
    const RankId peer = plan_.classes[c].peers[task.peer_slot][lanes_[c].member[lane]];
    return of[other.rank_class][other.task * lanes(other.rank_class) + lane_of_[peer]];
  }

  const Plan& plan_;
  const Cluster& cluster_;
  const Timeline& steady_;
  const Timeline& alone_;
  const std::vector<ClassTemplate> templates_;
  const std::vector<ClassMember> of_rank_;
  std::vector<Lanes> lanes_;                  // [class]
  std::vector<std::int32_t> lane_of_;         // [rank] index of its lane in its class
  std::vector<std::int32_t> first_;           // [class] place of its first task
  std::vector<std::int32_t> class_of_;        // [place]
  std::vector<State> states_;                 // [place]
  std::vector<std::vector<Stream>> streams_;  // [class][stream]
  std::vector<Meeting> meetings_;
  std::map<std::int32_t, std::vector<std::int32_t>> groups_;  // by rendezvous
  std::vector<double> end_of_group_;
  std::vector<std::vector<double>> starts_, ends_;  // [class][task * lanes + lane]
  std::priority_queue<Moment, std::vector<Moment>, std::greater<>> moments_;
};

}  // namespace

Timeline replay(const Plan& plan, const Cluster& cluster, const Timeline& steady,
                const Timeline& alone) {
  Replay replay(plan, cluster, steady, alone);
  replay.run();
  return replay.timeline();
}

Cluster in_step(Cluster cluster) {
  cluster.jitter = {};
  cluster.slow_nodes.clear();
  return cluster;
}

bool is_replayed(const Timeline& timeline) {
  return std::ssize(timeline.ranks) > timeline.ranks_simulated;
}

bool has_unlike_tasks(const Plan& plan, const Cluster& cluster, double most) {
  KernelPace pace(plan, cluster);
  double tasks = 0;
  for (const RankClass& owner : plan.classes) {
    std::set<std::vector<double>> paces;
    RankId last = -1;
    for (const RankId rank : owner.members) {
      if (std::exchange(last, rank / plan.in_step) == rank / plan.in_step) continue;
      const std::span<const double> own = pace.slowdowns(rank);
      if (!paces.emplace(own.begin(), own.end()).second) continue;
      tasks += static_cast<double>(owner.tasks.size());
      if (tasks > most) return true;
    }
  }
  return false;
}

}  // namespace windtunnel
