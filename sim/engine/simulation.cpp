#include "sim/engine/simulation.hpp"

#include <algorithm>
#include <exception>
#include <utility>

#include "models/base/error.hpp"
#include "models/machine/fabrics/link_faults.hpp"
#include "models/plan/kernel_pace.hpp"
#include "sim/engine/platform.hpp"
#include "sim/engine/recorder.hpp"
#include "sim/engine/simulation_state.hpp"

namespace windtunnel {
namespace {

namespace s4u = simgrid::s4u;

class Simulation {
 public:
  Simulation(const Plan& plan, const Cluster& cluster, const FlowTable& flows,
             const Folding& folding, const Program& program, std::vector<RankId> recorded_by)
      : plan_(plan),
        fabric_(cluster.fabric),
        flows_(flows),
        folding_(folding),
        program_(program),
        pace_(plan, cluster),
        rendezvous_(folding.groups.size()),
        recorder_(plan, folding, std::move(recorded_by)) {
    add_ranks();
    platform_ = std::make_unique<Platform>(folding, count_actors(), longest_sleep_s_);
  }

  Timeline run() {
    post_initial_receives();
    for (std::int32_t r = 0; r < ranks(); ++r) start_actors(r);
    start_bursts();
    platform_->engine().run();
    if (failure_) std::rethrow_exception(failure_);
    check_all_done();
    return recorder_.timeline(events_);
  }

 private:
  std::int32_t ranks() const { return static_cast<std::int32_t>(ranks_.size()); }

  // ---- setting up ----

  void add_ranks() {
    std::size_t tasks = 0, streams = 0;
    for (const FoldedRank& rank : folding_.ranks) {
      RankState state;
      state.tasks_of = &program_.classes[rank.rank_class];
      state.rank_class = &plan_.classes[rank.rank_class];
      state.first_slowdown = slowdowns_.size();
      const std::span<const double> slowdowns = pace_.slowdowns(rank.rank);
      slowdowns_.insert(slowdowns_.end(), slowdowns.begin(), slowdowns.end());
      state.first_task = tasks;
      state.first_stream = streams;
      tasks += state.tasks_of->tasks.size();
      streams += state.tasks_of->streams.size();
      ranks_.push_back(state);
    }
    streams_.resize(streams);
    pending_.reserve(tasks);
    flags_.reserve(tasks);
    for (std::int32_t r = 0; r < ranks(); ++r) {
      const std::vector<TaskTemplate>& list = ranks_[r].tasks_of->tasks;
      for (TaskIndex t = 0; t < std::ssize(list); ++t) {
        pending_.push_back(list[t].pending);
        flags_.push_back(list[t].timed ? 0 : kTimeOk);
        longest_sleep_s_ =
            std::max({longest_sleep_s_, list[t].seconds(slowdown(r, t)), list[t].not_before_s});
      }
    }
  }

  // Of a task's kernels.
  double slowdown(std::int32_t r, TaskIndex t) const {
    const RankState& rank = ranks_[r];
    return slowdowns_[rank.first_slowdown + pace_.place(t, rank.tasks_of->tasks[t].iteration)];
  }

  std::size_t count_actors() const {
    std::size_t actors = 0;
    for (const RankState& rank : ranks_) {
      for (const StreamTemplate& stream : rank.tasks_of->streams) actors += !stream.passive;
      actors += !rank.tasks_of->timed.empty();
    }
    return actors + folding_.bursts.size();
  }

  void start_actors(std::int32_t r) {
    const ClassTemplate& tasks_of = *ranks_[r].tasks_of;
    for (std::size_t s = 0; s < tasks_of.streams.size(); ++s) {
      const StreamTemplate& stream = tasks_of.streams[s];
      if (stream.passive) continue;
      const bool in_order = stream.order == StreamOrder::in_order;
      stream_of(r, s).mailbox = platform_->mailbox(ranks_[r].first_stream + s);
      stream_of(r, s).actor = platform_->start_actor("s", [this, r, s, in_order] {
        guarded([&] { in_order ? run_in_order(r, s) : run_by_priority(r, s); });
      });
    }
    if (!tasks_of.timed.empty()) {
      platform_->start_actor("t", [this, r] { guarded([&] { run_timer(r); }); });
    }
  }

  // Of each link on its own, until the last of the tasks has ended.
  void start_bursts() {
    for (std::size_t l = 0; l < folding_.bursts.size(); ++l) {
      const LinkBurst& burst = folding_.bursts[l];
      if (burst.load < 0) continue;
      platform_
          ->start_actor("b",
                        [this, l, burst] {
                          const BackgroundLoad& load = fabric_.background[burst.load];
                          BurstTimes times(load, fabric_.background_seed, burst.link, plan_.draw);
                          for (bool on = true;; on = !on) {
                            sleep_for(times.next_s());
                            platform_->set_share(l, on ? 1 - burst.most : 1);
                          }
                        })
          ->daemonize();
    }
  }

  // What is ready before anything has run.
  void post_initial_receives() {
    for (std::int32_t r = 0; r < ranks(); ++r) {
      const ClassTemplate& tasks_of = *ranks_[r].tasks_of;
      for (TaskIndex t = 0; t < std::ssize(tasks_of.tasks); ++t) {
        if (is_ready(r, t)) got_ready_.push_back({r, t});
      }
    }
    settle();
  }

  // An exception must not cross SimGrid's contexts: it is kept, and ends the simulation.
  template <class Body>
  void guarded(Body body) {
    try {
      body();
    } catch (const simgrid::ForcefulKillException&) {
      throw;
    } catch (...) {
      failure_ = std::current_exception();
      s4u::Actor::kill_all();
    }
  }

  // ---- actors ----

  void run_in_order(std::int32_t r, std::size_t s) {
    const ClassTemplate& tasks_of = *ranks_[r].tasks_of;
    for (TaskIndex t : tasks_of.streams[s].tasks) {
      while (pending_[ranks_[r].first_task + t] > 0) sleep_until_woken(r, s, t);
      const double now = s4u::Engine::get_clock();
      if (tasks_of.tasks[t].not_before_s > now) {
        sleep_for(tasks_of.tasks[t].not_before_s - now);
      }
      execute(r, t);
    }
  }

  void run_by_priority(std::int32_t r, std::size_t s) {
    const std::vector<Task>& tasks = ranks_[r].rank_class->tasks;
    const auto later = [&tasks](TaskIndex a, TaskIndex b) { return runs_later(tasks, a, b); };
    std::vector<TaskIndex>& ready = stream_of(r, s).ready;
    for (std::size_t left = ranks_[r].tasks_of->streams[s].tasks.size(); left > 0; --left) {
      while (ready.empty()) sleep_until_woken(r, s, kAnyTask);
      // Whatever ends at this very time may make a more urgent task ready.
      s4u::this_actor::yield();
      std::pop_heap(ready.begin(), ready.end(), later);
      const TaskIndex task = ready.back();
      ready.pop_back();
      execute(r, task);
    }
  }

  void run_timer(std::int32_t r) {
    for (TaskIndex t : ranks_[r].tasks_of->timed) {
      const double wait_s = ranks_[r].tasks_of->tasks[t].not_before_s - s4u::Engine::get_clock();
      if (wait_s > 0) sleep_for(wait_s);
      flags(r, t) |= kTimeOk;
      if (pending_[ranks_[r].first_task + t] <= 0) got_ready_.push_back({r, t});
      settle();
    }
  }

  void execute(std::int32_t r, TaskIndex t) {
    const TaskTemplate& task = ranks_[r].tasks_of->tasks[t];
    switch (task.kind) {
      case TaskKind::recv:
        record_start(r, t);
        post(r, t);
        while (!(flags(r, t) & kArrived)) sleep_until_woken(r, task.stream, t);
        break;
      case TaskKind::send:
        send(r, t);
        break;
      case TaskKind::collective:
        record_start(r, t);
        meet(r, t);
        break;
      default:
        record_start(r, t);
        sleep_for(task.seconds(slowdown(r, t)));
        transfer(r, t, -1, 0);
    }
    finish(r, t);
    settle();
  }

  void send(std::int32_t r, TaskIndex t) {
    const TaskTemplate& task = ranks_[r].tasks_of->tasks[t];
    const Task& planned = ranks_[r].rank_class->tasks[t];
    const TaskRef receive = receive_of(r, t);
    if (planned.synchronous) {
      while (!(flags(receive.rank, receive.task) & kPosted)) sleep_until_woken(r, task.stream, t);
    }
    record_start(r, t);
    sleep_for(task.plain_s);
    const FoldedRank& rank = folding_.ranks[r];
    FlowIndex flow = -1;
    if (planned.bytes > 0) {
      const FlowIndex first = flows_.classes[rank.rank_class].message[planned.peer_slot];
      flow = folding_.flow_of[first + rank.member];
    }
    transfer(r, t, flow, planned.bytes);
    arrive(receive);
  }

  TaskRef receive_of(std::int32_t r, TaskIndex t) const {
    const RankClass& rank_class = *ranks_[r].rank_class;
    const RankId peer = rank_class.peers[rank_class.tasks[t].peer_slot][folding_.ranks[r].member];
    return {folding_.representative[peer], ranks_[r].tasks_of->tasks[t].counterpart.task};
  }

  void meet(std::int32_t r, TaskIndex t) {
    const TaskTemplate& task = ranks_[r].tasks_of->tasks[t];
    const Task& planned = ranks_[r].rank_class->tasks[t];
    const std::int32_t slot = planned.group_slot;
    const std::int32_t group =
        folding_.group_of[ranks_[r].rank_class->groups[slot][folding_.ranks[r].member]];
    Rendezvous& rendezvous = rendezvous_at(group, planned.sequence);
    rendezvous.cost_s = std::max(rendezvous.cost_s, task.plain_s);
    rendezvous.fluid |= planned.as_flows || !planned.flows.empty();
    if (++rendezvous.arrived < program_.groups[group].arrivals) {
      rendezvous.sleepers.push_back({r, t});
      while (!rendezvous.started && !rendezvous.ended) sleep_until_woken(r, task.stream, t);
    } else if (rendezvous.fluid) {
      rendezvous.started = true;
      rendezvous.working = rendezvous.arrived;
      wake_sleepers(rendezvous);
    } else {
      sleep_for(rendezvous.cost_s);
      rendezvous.ended = true;
      wake_sleepers(rendezvous);
    }
    if (rendezvous.ended) return;
    sleep_for(rendezvous.cost_s);
    transfer(r, t, -1, 0);
    if (--rendezvous.working > 0) {
      rendezvous.sleepers.push_back({r, t});
      while (!rendezvous.ended) sleep_until_woken(r, task.stream, t);
    } else {
      rendezvous.ended = true;
      wake_sleepers(rendezvous);
    }
  }

  // Meetings stay where they are while actors sleep on them.
  Rendezvous& rendezvous_at(std::int32_t group, std::int32_t sequence) {
    auto& rendezvous = rendezvous_[group];
    if (static_cast<std::size_t>(sequence) >= rendezvous.size()) rendezvous.resize(sequence + 1);
    if (!rendezvous[sequence]) rendezvous[sequence] = std::make_unique<Rendezvous>();
    return *rendezvous[sequence];
  }

  void wake_sleepers(Rendezvous& rendezvous) {
    std::vector<TaskRef> sleepers = std::move(rendezvous.sleepers);
    rendezvous.sleepers.clear();
    for (const TaskRef& sleeper : sleepers) wake(sleeper.rank, sleeper.task);
  }

  // ---- time passing ----

  void sleep_for(double seconds) {
    if (seconds <= 0) return;
    ++events_;
    s4u::this_actor::sleep_for(seconds);
  }

  // The bytes of a message (flow -1: none), the task's demands, and of a collective the edges that
  // start here, all at once.
  void transfer(std::int32_t r, TaskIndex t, FlowIndex message, double bytes) {
    std::vector<RunningTransfer> running;
    s4u::Mailbox* mailbox = stream_of(r, ranks_[r].tasks_of->tasks[t].stream).mailbox;
    const auto start = [&](FlowIndex flow, double amount) {
      if (flow < 0 || amount <= 0 || !platform_->has_links(flow)) return;
      ++events_;
      running.push_back(platform_->start_transfer(mailbox, flow, amount));
    };
    start(message, bytes);
    const FoldedRank& rank = folding_.ranks[r];
    const Task& planned = ranks_[r].rank_class->tasks[t];
    const double slower = slowed_by_node(planned.kind) ? slowdown(r, t) : 1;
    for (std::size_t f = 0; f < planned.flows.size(); ++f) {
      const FlowIndex first = flows_.classes[rank.rank_class].demand[t][f];
      start(folding_.flow_of[first + rank.member], planned.flows[f].amount * slower);
    }
    const std::int32_t collective = flows_.collective_of[rank.rank_class][t];
    if (collective >= 0) {
      for (const GroupEdge& edge : edges_from(r, planned, collective)) {
        start(edge.flow, edge.bytes * planned.bytes);
      }
    }
    for (RunningTransfer& transfer : running) transfer.wait();
  }

  std::span<const GroupEdge> edges_from(std::int32_t r, const Task& planned,
                                        std::int32_t collective) const {
    const std::int32_t slot = planned.group_slot;
    const std::int32_t group = ranks_[r].rank_class->groups[slot][folding_.ranks[r].member];
    const std::int32_t pattern = flows_.groups[group].pattern_of_collective[collective];
    const auto& edges = program_.groups[folding_.group_of[group]].patterns[pattern];
    const auto owned = std::equal_range(
        edges.begin(), edges.end(), GroupEdge{r, slot, 0, 0},
        [](const GroupEdge& a, const GroupEdge& b) { return a.owner() < b.owner(); });
    return {owned.first, owned.second};
  }

  // ---- bookkeeping, without any time passing ----

  StreamState& stream_of(std::int32_t r, std::size_t s) {
    return streams_[ranks_[r].first_stream + s];
  }
  std::uint8_t& flags(std::int32_t r, TaskIndex t) { return flags_[ranks_[r].first_task + t]; }

  bool is_ready(std::int32_t r, TaskIndex t) {
    return pending_[ranks_[r].first_task + t] <= 0 && (flags(r, t) & kTimeOk);
  }

  void sleep_until_woken(std::int32_t r, std::size_t s, TaskIndex reason) {
    stream_of(r, s).waiting_for = reason;
    s4u::this_actor::suspend();
  }

  // Wakes the task's stream if that is what it waits for.
  void wake(std::int32_t r, TaskIndex t) {
    StreamState& stream = stream_of(r, ranks_[r].tasks_of->tasks[t].stream);
    if (stream.waiting_for != t && stream.waiting_for != kAnyTask) return;
    stream.waiting_for = kNothing;
    stream.actor->resume();
  }

  void record_start(std::int32_t r, TaskIndex t) {
    recorder_.start(r, t, s4u::Engine::get_clock());
  }

  // The caller settles afterwards what has become ready.
  void finish(std::int32_t r, TaskIndex t) {
    const RankState& rank = ranks_[r];
    recorder_.end(r, t, rank.tasks_of->tasks[t].iteration, s4u::Engine::get_clock());
    flags(r, t) |= kDone;
    for (TaskIndex next : rank.tasks_of->successors_of(t)) {
      if (--pending_[rank.first_task + next] == 0 && (flags(r, next) & kTimeOk)) {
        got_ready_.push_back({r, next});
      }
    }
  }

  // A work list instead of recursion: stacks are small, chains of receives are not.
  void settle() {
    while (!got_ready_.empty()) {
      const TaskRef ready = got_ready_.back();
      got_ready_.pop_back();
      const std::int16_t s = ranks_[ready.rank].tasks_of->tasks[ready.task].stream;
      const StreamTemplate& stream = ranks_[ready.rank].tasks_of->streams[s];
      if (stream.passive) {
        advance_passive(ready, s);
      } else {
        if (stream.order == StreamOrder::by_priority) push_ready(ready, s);
        wake(ready.rank, ready.task);
      }
    }
  }

  void push_ready(const TaskRef& ready, std::size_t s) {
    std::vector<TaskIndex>& heap = stream_of(ready.rank, s).ready;
    const std::vector<Task>& tasks = ranks_[ready.rank].rank_class->tasks;
    heap.push_back(ready.task);
    std::push_heap(heap.begin(), heap.end(),
                   [&tasks](TaskIndex a, TaskIndex b) { return runs_later(tasks, a, b); });
  }

  // A receive of a stream without an actor has become ready, or its bytes have arrived.
  void advance_passive(const TaskRef& receive, std::size_t s) {
    const std::int32_t r = receive.rank;
    const StreamTemplate& stream = ranks_[r].tasks_of->streams[s];
    if (stream.order == StreamOrder::unordered) {
      complete_if_arrived(r, receive.task);
      return;
    }
    std::int32_t& cursor = stream_of(r, s).cursor;
    while (cursor < std::ssize(stream.tasks) && is_ready(r, stream.tasks[cursor])) {
      if (!complete_if_arrived(r, stream.tasks[cursor])) return;
      ++cursor;
    }
  }

  // Posts a ready receive whose turn it is.
  bool complete_if_arrived(std::int32_t r, TaskIndex t) {
    if (!(flags(r, t) & kPosted)) {
      record_start(r, t);
      post(r, t);
    }
    if (!(flags(r, t) & kArrived)) return false;
    if (!(flags(r, t) & kDone)) finish(r, t);
    return true;
  }

  void post(std::int32_t r, TaskIndex t) {
    flags(r, t) |= kPosted;
    const RankClass& rank_class = *ranks_[r].rank_class;
    const RankId peer = rank_class.peers[rank_class.tasks[t].peer_slot][folding_.ranks[r].member];
    wake(folding_.representative[peer], ranks_[r].tasks_of->tasks[t].counterpart.task);
  }

  void arrive(const TaskRef& receive) {
    flags(receive.rank, receive.task) |= kArrived;
    const std::int16_t s = ranks_[receive.rank].tasks_of->tasks[receive.task].stream;
    if (!ranks_[receive.rank].tasks_of->streams[s].passive) {
      wake(receive.rank, receive.task);
    } else if (flags(receive.rank, receive.task) & kPosted) {
      advance_passive(receive, s);
    }
  }

  // ---- results ----

  void check_all_done() {
    for (std::int32_t r = 0; r < ranks(); ++r) {
      for (const StreamTemplate& stream : ranks_[r].tasks_of->streams) {
        for (TaskIndex t : stream.tasks) {
          if (flags(r, t) & kDone) continue;
          const RankClass& rank_class = *ranks_[r].rank_class;
          const Task& task = rank_class.tasks[t];
          throw InternalError(fmt::format(
              "the plan deadlocks: rank {}, class '{}', stream '{}' never ends task {} '{}'",
              folding_.ranks[r].rank, rank_class.name, rank_class.streams[task.stream].name, t,
              task.name));
        }
      }
    }
  }

  const Plan& plan_;
  const FabricSpec& fabric_;
  const FlowTable& flows_;
  const Folding& folding_;
  const Program& program_;
  KernelPace pace_;
  std::vector<double> slowdowns_;
  std::vector<RankState> ranks_;
  std::vector<StreamState> streams_;
  double longest_sleep_s_ = 0;
  std::vector<std::int32_t> pending_;
  std::vector<std::uint8_t> flags_;
  std::vector<std::vector<std::unique_ptr<Rendezvous>>> rendezvous_;  // [folded group][sequence]
  std::vector<TaskRef> got_ready_;
  Recorder recorder_;
  std::uint64_t events_ = 0;
  std::exception_ptr failure_;
  std::unique_ptr<Platform> platform_;
};

}  // namespace

Timeline simulate_program(const Plan& plan, const Cluster& cluster, const FlowTable& flows,
                          const Folding& folding, const Program& program,
                          std::vector<RankId> recorded_by) {
  // Never destroyed: the process ends after this, and taking SimGrid apart would only cost time.
  auto* simulation = new Simulation(plan, cluster, flows, folding, program, std::move(recorded_by));
  return simulation->run();
}

}  // namespace windtunnel
