#include "policies/lowering/pipeline_rank.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <tuple>
#include <utility>

#include "models/base/error.hpp"
#include "models/cost/memory/memory.hpp"
#include "models/plan/state_shares.hpp"
#include "policies/evaluation/dispatch.hpp"
#include "policies/lowering/step_tasks.hpp"
#include "policies/protection/snapshot_tasks.hpp"
#include "policies/tasks/offload_tasks.hpp"
#include "policies/tasks/sample_loads.hpp"
#include "policies/tasks/stage_messages.hpp"

namespace windtunnel {
namespace {

std::vector<CostPart> scaled(std::vector<CostPart> cost, double share) {
  for (CostPart& item : cost) item.seconds *= share;
  return cost;
}

Category category_of(ActionKind kind) {
  if (kind == ActionKind::forward) return Category::forward;
  return kind == ActionKind::recompute ? Category::recompute : Category::backward;
}

// Builds the task list of one pipeline rank.
class Builder {
 public:
  Builder(const IterationContext& context, int rank, PipelineRankGroups groups, GroupsAlone& alone,
          const CollectiveCosts& costs)
      : ctx_(context),
        job_(context.job),
        own_(own_job(context, rank)),
        rank_(rank),
        tasks_(costs, rank, context.members, std::move(groups), alone),
        messages_(context.schedule, rank, context.costs.passes_gradient(), tasks_),
        offload_(own(), tasks_),
        samples_(job_, context.schedule, context.input, rank, context.options.input_alone, tasks_) {
    for (int s = 0; s < ctx_.schedule.stages(); ++s) {
      if (ctx_.schedule.rank_of_stage[s] == rank) stages_.push_back(s);
    }
    if (ctx_.data_parallel.has_kernels()) tasks_.put_kernels_first();
    if (ctx_.data_parallel.has_second_channel()) tasks_.add_second_channel();
    if (!ctx_.rendezvous.empty() || ctx_.gang) tasks_.add_rendezvous();
  }

  RankClass build(std::size_t about) {
    tasks_.reserve(about);
    for (round_ = 0; round_ < ctx_.options.iterations; ++round_) {
      messages_.set_round(round_);
      run_schedule();
    }
    return tasks_.take();
  }

 private:
  // Returns the job as the rank's nodes see it; nullptr: all nodes are alike.
  static std::unique_ptr<const Job> own_job(const IterationContext& context, int rank) {
    if (context.pools.empty()) return nullptr;
    return std::make_unique<const Job>(on_pool(context.job, context.pools[rank]));
  }

  // ---- iterations ----

  int iterations() const { return ctx_.schedule.iterations; }

  // Iterations without a flush between them follow one another inside the schedule's list.
  void run_schedule() {
    const auto& actions = ctx_.schedule.actions[rank_];
    int iteration = 0;
    begin_iteration(iteration);
    for (int i = 0; i < std::ssize(actions); ++i) {
      while (i > ctx_.marks[iteration].end[rank_]) {
        end_iteration(iteration);
        begin_iteration(++iteration);
      }
      const Action* second = actions[i].with_next ? &actions[i + 1] : nullptr;
      tasks_.set_iteration(round_ * iterations() + iteration_of(actions[i]));
      if (is_compute(actions[i].kind)) {
        add_action(i, iteration, second);
      } else {
        transfer_weights(actions[i]);
      }
      if (second != nullptr) ++i;
    }
    for (; iteration + 1 < iterations(); ++iteration) {
      end_iteration(iteration);
      begin_iteration(iteration + 1);
    }
    end_iteration(iteration);
  }

  int iteration_of(const Action& action) const {
    return action.unit / (ctx_.schedule.microbatches * ctx_.schedule.slices);
  }

  void begin_iteration(int iteration) {
    tasks_.set_iteration(round_ * iterations() + iteration);
    tasks_.forget_transfers();
    copies_.clear();
    pending_ = nullptr;
    before_last_compute_ = last_compute_ = optimizer_;
    offload_.begin_iteration(updated_at_end(), optimizer_);
    if (ctx_.data_parallel.gathers_early()) gather_parameters();
    samples_.begin(round_ * iterations() + iteration, optimizer_);
    const int due = iterations() > 1 ? steady_window(ctx_.schedule).last : 0;
    if (round_ > 0 || iteration != due) return;
    for (const int tier : ctx_.options.due_snapshots) add_due_snapshot(tier);
  }

  void add_due_snapshot(int index) {
    const SnapshotTier& tier = job_.snapshots[index];
    const double largest = *std::ranges::max_element(ctx_.snapshot_bytes);
    const double own_bytes =
        ctx_.snapshot_bytes[rank_] * state_share() / largest_state_factor(job_, rank_);
    const auto [staged, complete] =
        add_snapshot(own(), tier, own_bytes, largest, tasks_.code_slot(index), optimizer_, tasks_);
    if (complete < 0) return;
    switch (tier.mode) {
      case SnapshotMode::sync:
        before_compute_.push_back(complete);
        break;
      case SnapshotMode::async:
        before_compute_.push_back(staged);
        break;
      case SnapshotMode::lazy:
        copies_.push_back(staged);
        break;
    }
    if (tier.coordination_s > 0) add_coordination(tier, optimizer_, tasks_);
  }

  // Gathers the whole weights, after every rank has updated its shard and before the forwards that
  // need them.
  void gather_parameters() {
    gathered_.assign(ctx_.schedule.stages(), {});
    for (const int stage : stages_) {
      const Segments& segments = ctx_.data_parallel.first_forward(stage);
      for (std::size_t i = 0; i < segments.size(); ++i) {
        const std::string where =
            segments.size() > 1 ? fmt::format("{}/{}", stage, i) : fmt::format("{}", stage);
        const TaskIndex gathered =
            tasks_.transfers(segments[i].gathers, "gather", where, stage, {optimizer_});
        const TaskIndex arrived = gathered >= 0 ? gathered : optimizer_;
        std::vector<TaskIndex>& awaited = gathered_[stage].emplace_back(
            offload_.update_arrived(segments[i].on_host_parameters, where, stage, arrived));
        if (gathered >= 0) awaited.push_back(gathered);
      }
    }
  }

  void end_iteration(int iteration) {
    tasks_.set_iteration(round_ * iterations() + iteration);
    for (const int stage : stages_) {
      const StageTraffic& traffic = ctx_.data_parallel.stage(stage);
      const std::string where = fmt::format("{}", stage);
      tasks_.transfers(traffic.at_end, "reduce", where, stage, {last_compute_});
      const std::vector<TaskIndex> reduced = tasks_.last_transfers();
      offload_.evict_gradients(traffic.evicted_at_end, where, stage,
                               reduced.empty() ? last_compute_ : reduced.back());
    }
    reduce_pending();
    std::vector<TaskIndex> ready = {last_compute_};
    for (const TaskIndex transfer : tasks_.last_transfers()) ready.push_back(transfer);
    for (const TaskIndex collective : std::exchange(later_, {})) ready.push_back(collective);
    if (tasks_.has_partner()) {
      const GradientPartner& partner = ctx_.partners[rank_];
      ready.push_back(tasks_.reduce_with_partner(
          partner.embedding ? "reduce embedding" : "reduce with partner", partner.bytes, ready));
    }
    // If iterations follow one another without a flush, no rank waits for all others.
    if (tasks_.has_world()) ready = {tasks_.norm(std::move(ready))};
    ready.insert(ready.end(), copies_.begin(), copies_.end());
    const bool last_of_all = round_ + 1 == ctx_.options.iterations && iteration + 1 == iterations();
    optimizer_ = offload_.step(updated_at_end(), std::move(ready));
    if (outer_ >= 0 && last_of_all) {
      Task take_in;
      take_in.name = "take in exchange";
      take_in.stream = kCompute;
      take_in.after = {optimizer_, outer_};
      take_in.category = Category::sync;
      optimizer_ = tasks_.append(std::move(take_in));
    }
    if (ctx_.options.outer && outer_ < 0) {
      outer_ = tasks_.background(ctx_.outer[rank_], "exchange between islands",
                                 ctx_.options.outer->share, optimizer_);
    }
    const double ahead_s = dispatch_ahead_s(job_, ctx_.schedule, rank_);
    const double between_s = dispatch_between_s(job_);
    // The next program is dispatched when all that ranks wait for has ended.
    const bool awaited = outer_ >= 0 && ctx_.options.iterations == 1;
    const TaskIndex ended = awaited ? outer_ : optimizer_;
    if (ahead_s + between_s > 0) optimizer_ = tasks_.dispatch(ahead_s, between_s, ended);
  }

  // Returns how many parameters are updated at the end of the step; none if gradients arrive in the
  // next iteration.
  double updated_at_end() const {
    const DataParallel& data = ctx_.data_parallel;
    return data.crosses() ? 0 : data.updated_parameters(rank_) * state_share();
  }

  // Returns the training state of this rank divided by the mean over ranks.
  double state_share() const {
    return ctx_.pools.empty() ? 1 : state_factor(job_, rank_, ctx_.pools[rank_]);
  }

  // Returns the job as the rank's nodes see it.
  const Job& own() const { return own_ == nullptr ? job_ : *own_; }

  // ---- actions ----

  void add_action(int index, int iteration, const Action* second) {
    const Action& action = ctx_.schedule.actions[rank_][index];
    const bool synchronous = job_.software.sends == Sends::synchronous;
    const TaskIndex before = synchronous ? last_compute_ : -1;
    Task task;
    task.kind = TaskKind::compute;
    task.stream = kCompute;
    task.stage = action.stage;
    task.microbatch = action.unit;
    task.action = action.kind;
    task.paired = second != nullptr;
    task.name = name_of(action);
    task.category = category_of(action.kind);
    task.allocate_bytes = ctx_.costs.allocated_bytes(action);
    task.free_bytes = ctx_.costs.freed_bytes(action);
    task.after = std::exchange(before_compute_, {});
    meet_others(action, task);
    samples_.await(action, task);
    if (second != nullptr) samples_.await(*second, task);
    receive_for(action, before, task);
    const IterationMarks& marks = ctx_.marks[iteration];
    const bool first = index == marks.first_forward[action.stage];
    if (second == nullptr) {
      if (ctx_.gang) await_gang(task);
      task.cost = ctx_.costs.parts(action);
      const bool last = index == ctx_.marks[iteration_of(action)].last_backward[action.stage];
      const Segments& pieces = pieces_of(action, first, last);
      stepped_ = stepped(action, nullptr, pieces.size() > 1);
      append_pieces(task, pieces, action);
    } else {
      task.name += "+" + name_of(*second);
      task.free_bytes += ctx_.costs.freed_bytes(*second);
      task.cost = ctx_.costs.pair_parts(action, *second);
      stepped_ = stepped(action, second, true);
      receive_for(*second, before, task);
      if (ctx_.gang) await_gang(task);
      const bool last = index + 1 == ctx_.marks[iteration_of(*second)].last_backward[second->stage];
      kept_pieces_.push_back(std::make_unique<Segments>(
          joined(pieces_of(action, first, false), total_seconds(ctx_.costs.parts(action)),
                 pieces_of(*second, false, last), total_seconds(ctx_.costs.parts(*second)))));
      append_pieces(task, *kept_pieces_.back(), *second);
    }
    send_from(action, kSend);
    // The two messages of a pair wait for their receivers at the same time.
    if (second != nullptr) send_from(*second, synchronous ? kSendBack : kSend);
  }

  // Ranks that share sequences begin their passes together. With a single stage a backward pass
  // directly follows its forward, so only the forward has to wait for the other ranks.
  void meet_others(const Action& action, Task& task) {
    if (ctx_.rendezvous.empty()) return;
    const bool meets = action.kind == ActionKind::forward ||
                       (ctx_.schedule.stages() > 1 && makes_input_gradient(action.kind));
    if (!meets) return;
    for (const int rendezvous : ctx_.rendezvous[action.unit]) {
      task.after.push_back(
          tasks_.meet(rendezvous, "meet " + task.name, Category::cp, behind({}, last_compute_)));
    }
  }

  static std::vector<TaskIndex> behind(std::vector<TaskIndex> tasks, TaskIndex last) {
    if (last >= 0) tasks.push_back(last);
    return tasks;
  }

  // The pass begins when every rank of the gang is ready.
  void await_gang(Task& task) {
    task.after = {tasks_.meet(0, "gang " + task.name, Category::wait,
                              behind(std::move(task.after), last_compute_))};
  }

  // Returns the steps of an action, or of a pair, before it is cut into segments; nullptr: it is
  // not divided into steps.
  const SteppedAction* stepped(const Action& action, const Action* second, bool cut) {
    if (!ctx_.steps) return nullptr;
    const int other = second != nullptr ? ctx_.costs.cell_of(*second) : -1;
    const auto [known, is_new] =
        known_steps_.try_emplace({ctx_.costs.cell_of(action), action.kind, other, cut});
    if (is_new) {
      known->second =
          second != nullptr ? ctx_.steps->of_pair(action, *second) : ctx_.steps->of(action, cut);
    }
    return &known->second;
  }

  std::string name_of(const Action& action) const {
    return fmt::format("{}{}.{}", letters_of(action.kind), action.stage, action.unit);
  }

  const Segments& pieces_of(const Action& action, bool first, bool last) const {
    return ctx_.data_parallel.segments(action.stage, action.kind, first, last);
  }

  // Layers allocate their activations one after the other, and free them one after the other. In a
  // pair one pass allocates while the other frees; in this case, and if activations are evicted
  // during the pass, the whole amount is allocated at the beginning and freed at the end.
  void take_memory(const Task& whole, std::size_t i, std::size_t segments, double share,
                   Task& segment) const {
    if (!whole.paired && !offload_of(job_).any()) {
      segment.allocate_bytes = share * whole.allocate_bytes;
      segment.free_bytes = share * whole.free_bytes;
      return;
    }
    if (i > 0) segment.allocate_bytes = 0;
    if (i + 1 < segments) segment.free_bytes = 0;
  }

  // Appends an action cut into segments, with gathers before each segment and reductions after it.
  // `reducing`: the action whose gradients are reduced.
  void append_pieces(const Task& whole, const Segments& segments, const Action& reducing) {
    const bool early = ctx_.data_parallel.gathers_early();
    const std::vector<TaskIndex> awaited = std::exchange(later_, {});
    double done = 0;  // share of the action that has been appended
    for (std::size_t i = 0; i < segments.size(); ++i) {
      const std::string suffix = segments.size() > 1 ? fmt::format("/{}", i) : "";
      Task segment = whole;
      segment.name += suffix;
      segment.cost = scaled(whole.cost, segments[i].share * segments[i].slowdown);
      const bool last = i + 1 == segments.size();
      const double from = std::exchange(done, last ? 1 : done + segments[i].share);
      take_memory(whole, i, segments.size(), done - from, segment);
      if (i == 0) {
        await_unshard(whole.stage, segment);
        if (reducing.stage != whole.stage) await_unshard(reducing.stage, segment);
      } else {
        segment.after.clear();
      }
      // Fetches run ahead of the passes and do not wait for collectives. They bring shards before
      // these are gathered.
      const HostCopies in = of_unit(segments[i].fetched, reducing.stage, reducing.unit);
      const HostCopies out = of_unit(segments[i].evicted, whole.stage, whole.microbatch);
      const TaskIndex fetched = offload_.fetch(in, segment.name, reducing.stage, reducing.unit);
      if (fetched >= 0) segment.after.push_back(fetched);
      for (const TaskIndex room : offload_.take_room(out)) {
        segment.after.push_back(room);
      }
      const auto gather = [&](TaskIndex after) {
        const TaskIndex shards = in.weights > 0 ? fetched : -1;
        return early ? early_gather(whole, i)
                     : behind({}, tasks_.transfers(segments[i].gathers, "gather", segment.name,
                                                   whole.stage, {after, shards}));
      };
      if (ctx_.data_parallel.overlaps()) {
        for (const TaskIndex gathered : gather(before_last_compute_)) {
          segment.after.push_back(gathered);
        }
        if (job_.software.one_queue && pending_ != nullptr && !pending_->reductions.empty()) {
          for (const TaskIndex issued : tasks_.last_transfers()) segment.after.push_back(issued);
        }
        reduce_pending();
      } else {
        reduce_pending();
        gather(last_compute_);
        for (const TaskIndex transfer : tasks_.last_transfers()) segment.after.push_back(transfer);
      }
      if (tasks_.kernels_first() && last_compute_ >= 0) segment.after.push_back(last_compute_);
      before_last_compute_ =
          std::exchange(last_compute_, append_segment(std::move(segment), segments[i], from, done));
      offload_.used(in, last_compute_);
      offload_.evict_activations(out, whole.name + suffix, whole.stage, whole.microbatch,
                                 last_compute_);
      offload_.evict_weights(out, whole.name + suffix, whole.stage, last_compute_);
      if (!segments[i].reductions.empty() || segments[i].evicted.gradients > 0) {
        pending_ = &segments[i];
        pending_stage_ = reducing.stage;
        pending_where_ = pieces_where(reducing, i, segments.size());
      }
    }
    if (!awaited.empty()) await(awaited, whole);
  }

  // The copies of a segment are those of one unit, for which data parallelism was built. The
  // activations of other units are scaled in proportion.
  HostCopies of_unit(HostCopies copies, int stage, int unit) const {
    if (copies.activations <= 0) return copies;
    const double known = ctx_.data_parallel.offloaded_bytes(stage);
    const double own = ctx_.costs.unit({ActionKind::forward, stage, unit}).offloaded_bytes;
    if (known > 0) copies.activations *= own / known;
    return copies;
  }

  // Appends the part of the action between two shares of its time.
  TaskIndex append_segment(Task task, const Segment& segment, double from, double to) {
    if (stepped_ == nullptr) return tasks_.append(std::move(task));
    const std::vector<ActionStep> part = part_of(stepped_->steps, from, to);
    const double longer_s = (segment.slowdown - 1) * seconds_of(part);
    return append_steps(task, stepped_->compute, longer_s, part, tasks_, later_);
  }

  // Waits for collectives that the previous pass started and that this pass has hidden.
  void await(const std::vector<TaskIndex>& issued, const Task& action) {
    Task join = action;
    join.name += " end";
    join.cost.clear();
    join.after = issued;
    join.allocate_bytes = join.free_bytes = 0;
    last_compute_ = tasks_.append(std::move(join));
  }

  // Returns the gathers that a segment of a stage's first forward waits for.
  std::vector<TaskIndex> early_gather(const Task& whole, std::size_t segment) {
    auto& gathered = gathered_[whole.stage];
    if (whole.category != Category::forward || segment >= gathered.size()) return {};
    std::vector<TaskIndex> gather = std::move(gathered[segment]);
    if (segment + 1 == gathered.size()) gathered.clear();
    return gather;
  }

  // "0/3" (stage, segment) if the stage reduces once an iteration; else with micro-batch: "0.5/3".
  std::string pieces_where(const Action& action, std::size_t segment, std::size_t segments) const {
    std::string where = fmt::format("{}", action.stage);
    if (job_.layout.sharding >= Sharding::zero2) where += fmt::format(".{}", action.unit);
    return segments > 1 || job_.layout.sharding < Sharding::zero2
               ? fmt::format("{}/{}", where, segment)
               : where;
  }

  void reduce_pending() {
    if (pending_ == nullptr) return;
    const Segment& segment = *std::exchange(pending_, nullptr);
    const TaskIndex reduced = tasks_.transfers(segment.reductions, "reduce", pending_where_,
                                               pending_stage_, {last_compute_});
    offload_.evict_gradients(segment.evicted, pending_where_, pending_stage_,
                             reduced >= 0 ? reduced : last_compute_);
  }

  // ---- actions of sharded weights ----

  void transfer_weights(const Action& action) {
    if (!ctx_.data_parallel.by_schedule()) return;
    const StageTraffic& traffic = ctx_.data_parallel.stage(action.stage);
    const std::string where = fmt::format("{}", action.stage);
    if (action.kind == ActionKind::unshard) {
      unsharded_.resize(ctx_.schedule.stages(), -1);
      unsharded_[action.stage] =
          tasks_.transfers(traffic.unshard, "gather", where, action.stage, {last_compute_});
    } else if (action.kind == ActionKind::reduce_grad) {
      tasks_.transfers(traffic.reduce_grad, "reduce", where, action.stage, {last_compute_});
    }
  }

  void await_unshard(int stage, Task& task) const {
    if (!unsharded_.empty() && unsharded_[stage] >= 0) task.after.push_back(unsharded_[stage]);
  }

  // ---- messages ----

  void receive_for(const Action& action, TaskIndex before, Task& consumer) {
    const TaskIndex received = messages_.receive(action, before);
    if (received >= 0) consumer.after.push_back(received);
  }

  void send_from(const Action& action, StreamIndex stream) {
    const int target = messages_.other_stage(action, 1);
    if (target < 0) return;
    // The boundary tensor has the size that the stage before the boundary gives it, in both
    // directions.
    Action producer = action;
    producer.stage = std::min(action.stage, target);
    const TaskIndex sent = messages_.send(action, target, ctx_.costs.unit(producer).boundary_bytes,
                                          stream, last_compute_);
    if (job_.software.sends != Sends::asynchronous) before_compute_.push_back(sent);
  }

  const IterationContext& ctx_;
  const Job& job_;
  const std::unique_ptr<const Job> own_;  // the job as the rank's nodes see it; null: job_
  const int rank_;
  RankTasks tasks_;
  StageMessages messages_;
  OffloadTasks offload_;
  SampleLoads samples_;
  std::vector<int> stages_;
  std::vector<std::unique_ptr<Segments>> kept_pieces_;  // segments of pairs

  // State of the iteration that is being built.
  int round_ = 0;
  TaskIndex optimizer_ = -1;  // of the previous iteration
  TaskIndex before_last_compute_ = -1;
  TaskIndex last_compute_ = -1;
  // the segment whose reductions and copies of gradients come next
  const Segment* pending_ = nullptr;
  int pending_stage_ = -1;
  std::string pending_where_;
  // [stage][segment] The gathers that each segment of a stage's first forward waits for.
  std::vector<std::vector<std::vector<TaskIndex>>> gathered_;
  std::vector<TaskIndex> unsharded_;       // [stage] its last gather; empty: no stage is gathered
  std::vector<TaskIndex> copies_;          // copies that the optimizer waits for
  TaskIndex outer_ = -1;                   // last task of options.outer
  std::vector<TaskIndex> before_compute_;  // tasks that the next compute task waits for

  // [cell, kind, cell of a pair's second action or -1, whether segments cut it] has steps.
  std::map<std::tuple<int, ActionKind, int, bool>, SteppedAction> known_steps_;
  const SteppedAction* stepped_ = nullptr;  // the steps of the action that is being added
  std::vector<TaskIndex> later_;            // collectives that the next action awaits at its end
};

}  // namespace

IterationContext::IterationContext(const Job& the_job, const Schedule& the_schedule,
                                   const std::vector<ChunkCost>& chunks,
                                   const std::vector<ChunkCost>& units,
                                   const IterationPlanOptions& the_options,
                                   const DataParallel& the_data_parallel,
                                   const Members& the_members)
    : job(the_job),
      schedule(the_schedule),
      options(the_options),
      costs(schedule, units),
      data_parallel(the_data_parallel),
      partners(gradient_partners(job, schedule, data_parallel)),
      marks(iteration_marks(schedule)),
      snapshot_bytes(snapshot_bytes_per_gpu(job, chunks, held_stages(schedule))),
      input(job.input ? std::optional(input_load(job, schedule)) : std::nullopt),
      members(the_members) {}

RankClass pipeline_rank(const IterationContext& context, int rank, PipelineRankGroups groups,
                        GroupsAlone& alone, const CollectiveCosts& costs, std::size_t about) {
  return Builder(context, rank, std::move(groups), alone, costs).build(about);
}

}  // namespace windtunnel
