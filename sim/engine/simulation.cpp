#include "sim/engine/simulation.hpp"

#include <algorithm>
#include <exception>
#include <optional>
#include <utility>

#include "models/base/error.hpp"
#include "models/machine/fabrics/link_faults.hpp"
#include "models/plan/kernel_pace.hpp"
#include "models/plan/task_board.hpp"
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
        board_(*this),
        rendezvous_(folding.groups.size()),
        recorder_(plan, folding, std::move(recorded_by)) {
    add_ranks();
    platform_ = std::make_unique<Platform>(folding, count_actors(), longest_sleep_s_);
  }

  Timeline run() {
    board_.begin();
    for (std::int32_t r = 0; r < ranks(); ++r) start_actors(r);
    start_bursts();
    platform_->engine().run();
    if (failure_) std::rethrow_exception(failure_);
    check_all_done();
    return recorder_.take_timeline(events_);
  }

 private:
  std::int32_t ranks() const { return static_cast<std::int32_t>(ranks_.size()); }

  // ---- setting up ----

  void add_ranks() {
    std::size_t streams = 0;
    for (const FoldedRank& rank : folding_.ranks) {
      RankState state;
      state.tasks_of = &program_.classes[rank.rank_class];
      state.rank_class = &plan_.classes[rank.rank_class];
      state.first_slowdown = slowdowns_.size();
      const std::span<const double> slowdowns = pace_.slowdowns(rank.rank);
      slowdowns_.insert(slowdowns_.end(), slowdowns.begin(), slowdowns.end());
      state.first_stream = streams;
      streams += state.tasks_of->streams.size();
      ranks_.push_back(state);
      board_.add_rank(*state.tasks_of, state.rank_class->tasks);
    }
    streams_.resize(streams);
    for (std::int32_t r = 0; r < ranks(); ++r) {
      const std::vector<TaskTemplate>& list = ranks_[r].tasks_of->tasks;
      for (TaskIndex t = 0; t < std::ssize(list); ++t) {
        longest_sleep_s_ =
            std::max({longest_sleep_s_, list[t].seconds(slowdown(r, t)), list[t].not_before_s});
      }
    }
  }

  // Returns the factor by which the kernels of the task take longer.
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

  // Starts independent bursts on each link, which end with the last task.
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

  // An exception must not cross SimGrid's contexts, so it is kept and ends the simulation.
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
      while (!board_.may_follow({r, t})) sleep_until_woken(r, s, t);
      const double now = s4u::Engine::get_clock();
      if (tasks_of.tasks[t].not_before_s > now) {
        sleep_for(tasks_of.tasks[t].not_before_s - now);
      }
      execute(r, t);
    }
  }

  void run_by_priority(std::int32_t r, std::size_t s) {
    for (std::size_t left = ranks_[r].tasks_of->streams[s].tasks.size(); left > 0; --left) {
      while (!board_.any_ready(r, s)) sleep_until_woken(r, s, kAnyTask);
      // Another task that ends at this very time may make a more urgent task ready.
      s4u::this_actor::yield();
      execute(r, *board_.take_ready(r, s));
    }
  }

  void run_timer(std::int32_t r) {
    for (TaskIndex t : ranks_[r].tasks_of->timed) {
      const double wait_s = ranks_[r].tasks_of->tasks[t].not_before_s - s4u::Engine::get_clock();
      if (wait_s > 0) sleep_for(wait_s);
      board_.time_has_come({r, t});
      board_.settle();
    }
  }

  void execute(std::int32_t r, TaskIndex t) {
    const TaskTemplate& task = ranks_[r].tasks_of->tasks[t];
    switch (task.kind) {
      case TaskKind::recv:
        on_start({r, t});
        board_.post({r, t});
        while (!board_.has_arrived({r, t})) sleep_until_woken(r, task.stream, t);
        break;
      case TaskKind::send:
        send(r, t);
        break;
      case TaskKind::collective:
        on_start({r, t});
        meet(r, t);
        break;
      default:
        on_start({r, t});
        sleep_for(task.seconds(slowdown(r, t)));
        transfer(r, t, -1, 0);
    }
    board_.end({r, t});
    board_.settle();
  }

  void send(std::int32_t r, TaskIndex t) {
    const TaskTemplate& task = ranks_[r].tasks_of->tasks[t];
    const Task& planned = ranks_[r].rank_class->tasks[t];
    const TaskRef receive = counterpart_of({r, t});
    if (planned.synchronous) {
      while (!board_.is_posted(receive)) sleep_until_woken(r, task.stream, t);
    }
    on_start({r, t});
    sleep_for(task.plain_s);
    const FoldedRank& rank = folding_.ranks[r];
    FlowIndex flow = -1;
    if (planned.bytes > 0) {
      const FlowIndex first = flows_.classes[rank.rank_class].message[planned.peer_slot];
      flow = folding_.flow_of[first + rank.member];
    }
    transfer(r, t, flow, planned.bytes);
    board_.arrive(receive);
  }

  // Returns the other end of a message.
  TaskRef counterpart_of(const TaskRef& end) const {
    const RankState& rank = ranks_[end.rank];
    const std::int16_t slot = rank.rank_class->tasks[end.task].peer_slot;
    const RankId peer = rank.rank_class->peers[slot][folding_.ranks[end.rank].member];
    return {folding_.representative[peer], rank.tasks_of->tasks[end.task].counterpart.task};
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

  // Rendezvous never move in memory, because actors that sleep hold references to them.
  Rendezvous& rendezvous_at(std::int32_t group, std::int32_t sequence) {
    auto& rendezvous = rendezvous_[group];
    if (static_cast<std::size_t>(sequence) >= rendezvous.size()) rendezvous.resize(sequence + 1);
    if (!rendezvous[sequence]) rendezvous[sequence] = std::make_unique<Rendezvous>();
    return *rendezvous[sequence];
  }

  void wake_sleepers(Rendezvous& rendezvous) {
    std::vector<TaskRef> sleepers = std::move(rendezvous.sleepers);
    rendezvous.sleepers.clear();
    for (const TaskRef& sleeper : sleepers) wake(sleeper);
  }

  // ---- functions in which time passes ----

  void sleep_for(double seconds) {
    if (seconds <= 0) return;
    ++events_;
    s4u::this_actor::sleep_for(seconds);
  }

  // Sends all at once: the bytes of a message (flow -1: none), the task's demands, and for a
  // collective the edges that start here.
  void transfer(std::int32_t r, TaskIndex t, FlowIndex message, double bytes) {
    std::vector<LinkTransfer> transfers;
    s4u::Mailbox* mailbox = stream_of(r, ranks_[r].tasks_of->tasks[t].stream).mailbox;
    const auto start = [&](FlowIndex flow, double amount) {
      if (flow < 0 || amount <= 0 || !platform_->has_links(flow)) return;
      ++events_;
      if (!transfers.empty()) transfers.back().start();
      transfers.push_back(platform_->transfer(mailbox, flow, amount));
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
    if (transfers.size() > 1) transfers.back().start();
    for (LinkTransfer& transfer : transfers) transfer.wait();
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

  // ---- functions in which no time passes ----

  StreamState& stream_of(std::int32_t r, std::size_t s) {
    return streams_[ranks_[r].first_stream + s];
  }
  void sleep_until_woken(std::int32_t r, std::size_t s, TaskIndex reason) {
    stream_of(r, s).waiting_for = reason;
    s4u::this_actor::suspend();
  }

  // ---- functions that the board calls ----

  friend class TaskBoard<Simulation>;
  void on_start(const TaskRef& task) {
    recorder_.start(task.rank, task.task, s4u::Engine::get_clock());
  }
  void on_posted(const TaskRef& receive) { wake(counterpart_of(receive)); }
  void on_end(const TaskRef& task) {
    const int iteration = ranks_[task.rank].tasks_of->tasks[task.task].iteration;
    recorder_.end(task.rank, task.task, iteration, s4u::Engine::get_clock());
  }
  // Wakes the stream if it waits for this task.
  void wake(const TaskRef& task) {
    StreamState& stream = stream_of(task.rank, ranks_[task.rank].tasks_of->tasks[task.task].stream);
    if (stream.waiting_for != task.task && stream.waiting_for != kAnyTask) return;
    stream.waiting_for = kNothing;
    stream.actor->resume();
  }

  // ---- results ----

  void check_all_done() const {
    const std::optional<TaskRef> open = board_.first_open();
    if (!open) return;
    const RankClass& rank_class = *ranks_[open->rank].rank_class;
    const Task& task = rank_class.tasks[open->task];
    throw InternalError(
        fmt::format("the plan deadlocks: rank {}, class '{}', stream '{}' never ends task {} '{}'",
                    folding_.ranks[open->rank].rank, rank_class.name,
                    rank_class.streams[task.stream].name, open->task, task.name));
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
  TaskBoard<Simulation> board_;
  std::vector<std::vector<std::unique_ptr<Rendezvous>>> rendezvous_;  // [folded group][sequence]
  Recorder recorder_;
  std::uint64_t events_ = 0;
  std::exception_ptr failure_;
  std::unique_ptr<Platform> platform_;
};

}  // namespace

Timeline simulate_program(const Plan& plan, const Cluster& cluster, const FlowTable& flows,
                          const Folding& folding, const Program& program,
                          std::vector<RankId> recorded_by) {
  // Never destroyed: the process ends after this, and to take SimGrid apart would only cost time.
  auto* simulation = new Simulation(plan, cluster, flows, folding, program, std::move(recorded_by));
  return simulation->run();
}

}  // namespace windtunnel
