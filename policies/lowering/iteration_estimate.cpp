#include "policies/lowering/iteration_estimate.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "models/cost/offload/offload.hpp"
#include "models/plan/job_collective.hpp"
#include "models/plan/state_shares.hpp"
#include "models/results/iteration_report.hpp"
#include "models/workload/filling.hpp"
#include "policies/evaluation/dispatch.hpp"
#include "policies/evaluation/schedule_evaluator.hpp"
#include "policies/evaluation/stage_cost.hpp"
#include "policies/exchange/data_parallel.hpp"
#include "policies/exchange/gradient_partners.hpp"
#include "policies/exchange/replica_groups.hpp"
#include "policies/exchange/stage_message.hpp"
#include "policies/filling/fill_plan.hpp"
#include "policies/lowering/action_cost.hpp"
#include "policies/lowering/action_times.hpp"
#include "policies/lowering/expected_pace.hpp"
#include "policies/lowering/iteration_plan.hpp"
#include "policies/tasks/rank_tasks.hpp"

namespace windtunnel {
namespace {

bool same_seconds(const StageCost& a, const StageCost& b) {
  return a.forward_s == b.forward_s && a.backward_input_s == b.backward_input_s &&
         a.backward_weight_s == b.backward_weight_s && a.recompute_s == b.recompute_s &&
         a.forward_apart_s == b.forward_apart_s &&
         a.backward_input_apart_s == b.backward_input_apart_s &&
         a.backward_weight_apart_s == b.backward_weight_apart_s &&
         a.recompute_apart_s == b.recompute_apart_s;
}

class Estimator {
 public:
  Estimator(const Job& job, const PreparedIteration& prepared)
      : job_(job),
        layout_(job.layout),
        prepared_(prepared),
        schedule_(prepared.schedule),
        data_(job, schedule_, prepared.units, overlapped_slowdown(job), prepared.geometry),
        costs_(stage_costs(prepared.units)),
        slowdown_(expected_slowdowns(job, schedule_, costs_, data_)),
        times_(stage_times(schedule_, costs_, {{0}, {0}}, slowdown_)) {}

  IterationEstimate estimate() {
    IterationEstimate estimate = undispatched();
    const double waited_s = dispatched_s(job_, schedule_, estimate.step_s) - estimate.step_s;
    estimate.step_s += waited_s;
    estimate.seconds[static_cast<int>(Category::host)] += waited_s;
    estimate.origin_s[static_cast<int>(Origin::assumed)] += waited_s;
    return estimate;
  }

  // Returns a lower bound of step_s(): passes and collectives, without what only a Plan expresses.
  // It is 0 if step_s() makes no Plan, or if gradients or steps reach the next iteration.
  double least_s() {
    if (!needs_plan()) return 0;
    if (data_.crosses() || schedule_.iterations > 1) return 0;
    return (1 - kRounding) * whole_s({.messages = messages(), .slowdown = slowdown_}, nullptr);
  }

  double step_s() {
    const double step_s = needs_plan()
                              ? of_plan().step_s
                              : whole_s({.messages = messages(), .slowdown = slowdown_}, nullptr);
    return dispatched_s(job_, schedule_, step_s);
  }

 private:
  static constexpr double kRounding = 1e-9;

  // Estimates the step without waits for dispatches between and during iterations.
  IterationEstimate undispatched() {
    if (needs_plan()) return of_plan();
    SideStreams beside{.messages = messages(), .slowdown = slowdown_};
    const ScheduleEvaluation pipeline = evaluate_schedule(schedule_, costs_, beside);
    std::vector<double> ends_s;
    IterationEstimate estimate;
    estimate.step_s = whole_s(std::move(beside), &ends_s);
    const int rank = static_cast<int>(std::ranges::max_element(ends_s) - ends_s.begin());
    attribute(estimate, pipeline, rank, {exposed_optimizer(rank)});
    return estimate;
  }

  bool needs_plan() const {
    return data_.has_kernels() || data_.has_second_channel() || data_.crosses() || job_.input ||
           offload_of(job_).any() || (job_.filling && is_needed(*job_.filling));
  }

  // Returns the step with data parallelism and the optimizer in parallel to the pipeline.
  double whole_s(SideStreams beside, std::vector<double>* ends_s) {
    CollectivesBeside collectives;
    if (data_.active() && !data_.has_second_channel()) {
      collectives = collectives_beside();
      beside.collectives = &collectives;
    }
    find_optimizers();
    const IterationEnd end = iteration_end();
    beside.end = &end;
    return evaluate_schedule(schedule_, costs_, beside, ends_s).makespan_s;
  }

  // Evaluates a Plan, for features that the maps cannot express.
  IterationEstimate of_plan() const {
    Job closed = job_;
    closed.communication.fidelity = Fidelity::closed;
    closed.software.dispatch_latency_s = 0;
    Plan plan = plan_iteration(closed, prepared_, {.input_alone = true});
    const Timeline timeline = evaluate_filled(job_, prepared_.memory, plan, slowdown_);
    const ScheduleEvaluation pipeline =
        evaluate_schedule(schedule_, costs_, {.messages = messages(), .slowdown = slowdown_});
    const int last = reported_window(job_, plan).last;
    int rank = 0;
    double latest_s = 0;
    for (const RankTimeline& recorded : timeline.ranks) {
      const std::vector<Task>& tasks = plan.classes[recorded.rank_class].tasks;
      for (std::size_t t = 0; t < tasks.size(); ++t) {
        if (tasks[t].iteration != last || recorded.spans[t].end_s <= latest_s) continue;
        latest_s = recorded.spans[t].end_s;
        rank = recorded.rank_class;
      }
    }
    IterationEstimate estimate;
    estimate.step_s = iteration_s(job_, plan, timeline);
    attribute(estimate, pipeline, rank, beside_passes(plan, rank));
    return estimate;
  }

  // Returns what the rank computes outside the passes of an iteration: updates, encoding, decoding.
  std::vector<CostPart> beside_passes(const Plan& plan, int rank) const {
    std::vector<CostPart> parts;
    for (const Task& task : plan.classes[rank].tasks) {
      if (task.category != Category::optimizer && task.category != Category::compression) continue;
      for (const CostPart& part : task.cost) {
        const double seconds = part.seconds * slowdown_[rank] / plan.iterations;
        const auto same = std::ranges::find_if(parts, [&](const CostPart& known) {
          return known.category == part.category && known.origin == part.origin;
        });
        if (same == parts.end()) {
          parts.push_back({part.category, part.origin, seconds});
        } else {
          same->seconds += seconds;
        }
      }
    }
    return parts;
  }

  int rank_of(int stage) const { return schedule_.rank_of_stage[stage]; }
  double slowdown_of(int stage) const { return slowdown_[rank_of(stage)]; }

  Messages messages() const {
    Messages messages{.times = {}, .sends = job_.software.sends};
    struct Known {
      int from;
      int to;
      double bytes;
      double seconds;
    };
    std::vector<Known> known;
    const auto message_s = [&](int from, int to, double bytes) {
      if (from == to) return 0.0;
      for (const Known& k : known) {
        if (k.from == from && k.to == to && k.bytes == bytes) return k.seconds;
      }
      known.push_back({from, to, bytes, boundary_s(job_, data_.geometry().way(from, to), bytes)});
      return known.back().seconds;
    };
    if (layout_.pp > 1) {
      messages.times.latency_s = boundary_latency_s(job_, data_.geometry().way(0, 1));
    }
    const int of_replica = schedule_.model_stages();
    for (int stage = 0; stage < schedule_.stages(); ++stage) {
      const int at = schedule_.model_stage(stage);
      for (int slice = 0; slice < schedule_.slices; ++slice) {
        // A boundary tensor has the size that the earlier of its two stages gives it.
        const auto bytes = [&](int producer) {
          return prepared_.units[std::size_t(producer) * schedule_.slices + slice].boundary_bytes;
        };
        const bool up = at + 1 < of_replica;
        messages.times.forward_s.push_back(
            up ? message_s(rank_of(stage), rank_of(stage + 1), bytes(at)) : 0);
        const bool down =
            at > 0 && prepared_.units[std::size_t(at) * schedule_.slices + slice].passes_gradient;
        messages.times.backward_s.push_back(
            down ? message_s(rank_of(stage), rank_of(stage - 1), bytes(at - 1)) : 0);
      }
    }
    return messages;
  }

  CollectivesBeside collectives_beside() {
    CollectivesBeside beside;
    beside.overlap = data_.overlaps();
    beside.one_queue = job_.software.one_queue;
    beside.gathers_s.assign(layout_.pp, 0);
    const int slices = schedule_.slices;
    maps_.reserve(times_.size());  // pointers to its elements must stay valid
    beside.first_forwards.reserve(times_.size());
    gathered_s_.resize(schedule_.stages());
    for (int s = 0; s < schedule_.stages(); ++s) {
      if (data_.gathers_early()) {
        double& channel_s = beside.gathers_s[rank_of(s)];
        for (const Segment& segment : data_.first_forward(s)) {
          for (const Transfer& t : segment.gathers) channel_s += t.seconds + t.longer_s;
          gathered_s_[s].push_back(segment.gathers.empty() ? 0 : channel_s);
        }
      }
      for (int slice = 0; slice < slices; ++slice) {
        const Segments& segments = data_.first_forward(s);
        const double forward_s = times_[cell(s, slice)].forward_s;
        ActionMap& first =
            beside.first_forwards.emplace_back(map_of(segments, forward_s, data_.gathers_early()));
        beside.stages.push_back(maps_of(s, slice, beside.stages));
        if (!data_.gathers_early()) continue;
        first.later_s[ActionMap::kCompute][ActionMap::kFixed] =
            gathered_end_s(segments, s, forward_s);
        first.whole = false;
      }
    }
    if (data_.by_schedule()) {
      for (int s = 0; s < schedule_.stages(); ++s) {
        beside.unshard_s.push_back(seconds_of(data_.stage(s).unshard));
        beside.reduce_grad_s.push_back(seconds_of(data_.stage(s).reduce_grad));
      }
    }
    add_pairs(beside);
    return beside;
  }

  std::size_t cell(int stage, int slice) const {
    return std::size_t(stage) * schedule_.slices + slice;
  }

  // Returns the maps of a stage. Stages with equal traffic, costs and slowdown share them.
  const StageMaps* maps_of(int stage, int slice, const std::vector<const StageMaps*>& known) {
    const StageTimes& times = times_[cell(stage, slice)];
    for (int other = 0; other < stage; ++other) {
      if (data_.traffic_number(other) == data_.traffic_number(stage) &&
          slowdown_of(other) == slowdown_of(stage) &&
          same_seconds(cost_of(other, slice), cost_of(stage, slice))) {
        return known[cell(other, slice)];
      }
    }
    const StageTraffic& traffic = data_.stage(stage);
    StageMaps& maps = maps_.emplace_back();
    maps.forward = map_of(traffic.forward, times.forward_s);
    maps.backward = map_of(traffic.backward, times.backward_s);
    maps.backward_input = map_of(traffic.backward_input, times.backward_input_s);
    maps.backward_weight = map_of(traffic.backward_weight, times.backward_weight_s);
    maps.last_backward = map_of(traffic.last_backward, times.backward_s);
    maps.last_backward_weight = map_of(traffic.last_backward_weight, times.backward_weight_s);
    if (schedule_.explicit_recompute) maps.recompute = map_of(traffic.forward, times.recompute_s);
    return &maps;
  }

  ActionMap map_of(const Segments& segments, double action_s, bool early = false) const {
    return ActionTimes(segments, action_s, data_.overlaps(), job_.software.one_queue, early).map();
  }

  const StageCost& cost_of(int stage, int slice) const {
    return costs_[std::size_t(schedule_.model_stage(stage)) * schedule_.slices + slice];
  }

  // Returns the end of a first forward that could start when the gathers are issued.
  double gathered_end_s(const Segments& segments, int stage, double action_s) const {
    double end_s = 0;
    for (std::size_t i = 0; i < segments.size(); ++i) {
      const double ready_s = i < gathered_s_[stage].size() ? gathered_s_[stage][i] : 0;
      end_s = std::max(end_s, ready_s) + segments[i].share * segments[i].slowdown * action_s;
    }
    return end_s;
  }

  void add_pairs(CollectivesBeside& beside) const {
    for (const auto& actions : schedule_.actions) {
      for (std::size_t i = 0; i < actions.size(); ++i) {
        if (!actions[i].with_next) continue;
        const int f = static_cast<int>(cell(actions[i].stage, actions[i].unit % schedule_.slices));
        const int b =
            static_cast<int>(cell(actions[i + 1].stage, actions[i + 1].unit % schedule_.slices));
        const auto [known, is_new] = beside.pairs.try_emplace({f, b});
        if (is_new) known->second = pair_maps(f, b);
      }
    }
  }

  // Returns the maps of a forward and a backward that run as one, by their indices in times_.
  PairMaps pair_maps(int f, int b) const {
    const int slices = schedule_.slices;
    const StageTraffic& forward = data_.stage(f / slices);
    const StageTraffic& backward = data_.stage(b / slices);
    const bool recomputes = !schedule_.explicit_recompute;
    const StageCost& forward_cost = cost_of(f / slices, f % slices);
    const StageCost& backward_cost = cost_of(b / slices, b % slices);
    const double forward_s = forward_cost.forward_s;
    const double backward_s =
        backward_cost.backward_s() + (recomputes ? backward_cost.recompute_s : 0);
    const double pair_s =
        overlapped_s(forward_cost, backward_cost, recomputes, slowdown_of(f / slices));
    PairMaps pair;
    for (const bool first : {false, true}) {
      for (const bool last : {false, true}) {
        const Segments segments =
            joined(first ? data_.first_forward(f / slices) : forward.forward, forward_s,
                   last ? backward.last_backward : backward.backward, backward_s);
        const bool early = first && data_.gathers_early();
        ActionMap& map = pair.maps[first][last];
        map = map_of(segments, pair_s, early);
        if (early) {
          map.later_s[ActionMap::kCompute][ActionMap::kFixed] =
              gathered_end_s(segments, f / slices, pair_s);
          map.whole = false;
        }
      }
    }
    return pair;
  }

  IterationEnd iteration_end() const {
    IterationEnd end;
    end.reductions_s.assign(layout_.pp, 0);
    for (int s = 0; s < schedule_.stages(); ++s) {
      // With two streams the reductions of a rank's stages may overlap, so least_s() takes the
      // longest.
      double& reductions_s = end.reductions_s[rank_of(s)];
      const double at_end_s = seconds_of(data_.stage(s).at_end);
      reductions_s =
          data_.has_second_channel() ? std::max(reductions_s, at_end_s) : reductions_s + at_end_s;
    }
    const std::vector<GradientPartner> partners = gradient_partners(job_, schedule_, data_);
    for (int rank = 0; rank < layout_.pp; ++rank) {
      const GradientPartner& partner = partners[rank];
      end.partner.push_back(partner.rank);
      end.partner_s.push_back(partner.rank == rank ? 0
                                                   : collective_s(CollectiveKind::all_reduce,
                                                                  partner.shape, partner.bytes));
      // The update may run on the host in parallel to other tasks, so least_s() omits it.
      const double updated_s = offload_of(job_).any() ? 0 : total_seconds(optimizers_[rank]);
      end.optimizer_s.push_back(slowdown_[rank] * updated_s);
    }
    // Gradient clipping needs the norm over all gradients.
    if (layout_.ranks() > 1) {
      end.norm_s = collective_s(CollectiveKind::all_reduce, data_.geometry().world(), 8);
    }
    return end;
  }

  double collective_s(CollectiveKind kind, const GroupShape& shape, double bytes) const {
    return data_.collective_costs().cost(Category::dp, kind, shape, bytes).seconds;
  }

  // Ranks that update the same number of parameters take the same time.
  void find_optimizers() {
    double known = -1;
    for (int rank = 0; rank < layout_.pp; ++rank) {
      const double parameters = data_.updated_parameters(rank);
      const bool same = parameters == known && job_.cluster.pools.empty();
      optimizers_.push_back(same ? optimizers_.back() : optimizer(rank, parameters));
      known = parameters;
    }
  }

  std::vector<CostPart> optimizer(int rank, double parameters) const {
    if (job_.cluster.pools.empty()) return optimizer_cost(parameters, job_);
    // Unlike nodes all start when the norm is known, so the slowest pool determines the time.
    const std::vector<int> ranks = ranks_by_pool(job_, rank);
    std::vector<CostPart> longest;
    for (int pool = 0; pool < std::ssize(ranks); ++pool) {
      if (ranks[pool] == 0) continue;
      const std::vector<CostPart> own =
          optimizer_cost(parameters * state_factor(job_, rank, pool), on_pool(job_, pool));
      if (total_seconds(own) > total_seconds(longest)) longest = own;
    }
    return longest;
  }

  // Returns the exposed optimizer step of the slowest rank; if ranks do not wait for each other,
  // that of this rank.
  CostPart exposed_optimizer(int own) const {
    CostPart slowest{Category::optimizer, Origin::spec, -1};
    for (int rank = 0; rank < layout_.pp; ++rank) {
      if (schedule_.iterations > 1 && rank != own) continue;
      const std::vector<CostPart>& parts = optimizers_[rank];
      const double seconds = total_seconds(parts) * slowdown_[rank];
      if (seconds <= slowest.seconds) continue;
      slowest.seconds = seconds;
      slowest.origin = parts.front().origin;
    }
    return slowest;
  }

  // Splits the step of the rank that ends last into four parts: its passes; the pipeline's bubble
  // (the pipeline alone minus these passes); what it computes `beside` them; as dp, the rest.
  void attribute(IterationEstimate& estimate, const ScheduleEvaluation& pipeline, int rank,
                 const std::vector<CostPart>& beside) const {
    const auto add = [&](Category category, Origin origin, double seconds) {
      estimate.seconds[static_cast<int>(category)] += seconds;
      estimate.origin_s[static_cast<int>(origin)] += seconds;
    };
    add_work(rank, add);
    // The bubble consists of other ranks' passes. It gets the origins of this rank's passes.
    const double bubble_s = pipeline.makespan_s - pipeline.busy_s[rank];
    estimate.seconds[static_cast<int>(Category::pp)] += bubble_s;
    if (pipeline.busy_s[rank] > 0) {
      for (double& seconds : estimate.origin_s) {
        seconds *= pipeline.makespan_s / pipeline.busy_s[rank];
      }
    }
    double exposed_s = estimate.step_s - pipeline.makespan_s;
    for (const CostPart& part : beside) {
      add(part.category, part.origin, part.seconds);
      exposed_s -= part.seconds;
    }
    add(Category::dp, data_.network().origin(job_, rank, data_.geometry().world()), exposed_s);
  }

  // Adds the passes in the rank's list, divided by the iterations of the schedule.
  template <class Add>
  void add_work(int rank, const Add& add) const {
    const ActionCosts costs(schedule_, prepared_.units);
    const double share = 1.0 / schedule_.iterations;
    const auto add_parts = [&](const std::vector<CostPart>& parts, double times) {
      for (const CostPart& part : parts) {
        const double slow = slowed_by_node(part.category) ? slowdown_[rank] : 1;
        add(part.category, part.origin, times * slow * part.seconds);
      }
    };
    std::map<std::tuple<int, int, ActionKind>, std::pair<Action, int>> counted;
    const auto& actions = schedule_.actions[rank];
    for (std::size_t i = 0; i < actions.size(); ++i) {
      const Action& action = actions[i];
      if (!is_compute(action.kind)) continue;
      if (action.with_next) {
        add_parts(costs.pair_parts(action, actions[++i]), share);
        continue;
      }
      auto& [example, times] = counted[{action.stage, action.unit % schedule_.slices, action.kind}];
      example = action;
      ++times;
    }
    for (const auto& [key, action] : counted) {
      add_parts(costs.parts(action.first), share * action.second);
    }
  }

  const Job& job_;
  const Layout& layout_;
  const PreparedIteration& prepared_;
  const Schedule& schedule_;
  const DataParallel data_;
  const std::vector<StageCost> costs_;             // [stage of the model * slices + slice]
  const std::vector<double> slowdown_;             // [pipeline rank]
  const std::vector<StageTimes> times_;            // [stage * slices + slice]
  std::vector<StageMaps> maps_;                    // distinct ones
  std::vector<std::vector<CostPart>> optimizers_;  // [pipeline rank] cost of its optimizer step
  // [stage][segment of its first forward] Time from the issue of its gathers until their end.
  std::vector<std::vector<double>> gathered_s_;
};

// Returns the iteration as if all replicas, and so all members of a group, were of this kind.
PreparedIteration alone(const Job& job, const ReplicaCosts& kind,
                        const PreparedIteration& prepared) {
  ReplicaCosts of_all = kind;  // keeps the pools, which determine copies to the host
  of_all.members = whole_pipeline_rank(job.layout);
  return {.schedule = kind.schedule,
          .chunks = kind.chunks,
          .units = kind.units,
          .memory = prepared.memory,
          .geometry = prepared.geometry,
          .kinds = {std::move(of_all)}};
}

IterationEstimate undisturbed(const Job& job, const PreparedIteration& prepared) {
  if (prepared.kinds.empty()) return Estimator(job, prepared).estimate();
  IterationEstimate longest;
  for (const ReplicaCosts& kind : prepared.kinds) {
    const PreparedIteration all = alone(job, kind, prepared);
    const IterationEstimate own = Estimator(job, all).estimate();
    if (own.step_s > longest.step_s) longest = own;
  }
  return longest;
}

// Moves the part of the optimizer's step that runs on the host from category optimizer to offload.
void take_off_gpu(const Job& job, IterationEstimate& estimate) {
  if (!offload_of(job).updates_on_host()) return;
  double& own_s = estimate.seconds[int(Category::optimizer)];
  const double moved_s = offload_of(job).optimizer_share * own_s;
  own_s -= moved_s;
  estimate.step_s -= moved_s;
  estimate.origin_s[int(optimizer_cost(1, job).front().origin)] -= moved_s;
}

}  // namespace

IterationEstimate estimate_with_rest(
    const Job& job, const std::function<IterationEstimate(const Job&)>& undisturbed,
    const std::function<double(const Job&)>& step_s) {
  if (!job.input && !job.filling && !offload_of(job).any()) return undisturbed(job);
  Job own = job;
  own.offload = nullptr;
  own.input = nullptr;
  own.filling = nullptr;
  IterationEstimate estimate = undisturbed(own);
  take_off_gpu(job, estimate);
  const auto lengthen = [&](Category category) {
    const double longer_s = step_s(own) - estimate.step_s;
    estimate.step_s += longer_s;
    estimate.seconds[static_cast<int>(category)] += longer_s;
    estimate.origin_s[static_cast<int>(Origin::assumed)] += longer_s;
  };
  own.offload = job.offload;
  if (offload_of(job).any()) lengthen(Category::offload);
  own.input = job.input;
  if (job.input) lengthen(Category::input);
  own.filling = job.filling;
  if (job.filling) lengthen(Category::filling);
  return estimate;
}

IterationEstimate estimate_microbatches(const Job& job, const PreparedIteration& prepared) {
  return estimate_with_rest(
      job, [&](const Job& own) { return undisturbed(own, prepared); },
      [&](const Job& own) { return microbatches_step_s(own, prepared); });
}

std::optional<double> microbatches_step_s_unless(const TooLong& too_long, const Job& job,
                                                 const PreparedIteration& prepared) {
  if (!prepared.kinds.empty()) return microbatches_step_s(job, prepared);
  Estimator estimator(job, prepared);
  if (too_long(estimator.least_s())) return std::nullopt;
  return estimator.step_s();
}

double microbatches_step_s(const Job& job, const PreparedIteration& prepared) {
  if (prepared.kinds.empty()) return Estimator(job, prepared).step_s();
  double longest_s = 0;
  for (const ReplicaCosts& kind : prepared.kinds) {
    const PreparedIteration all = alone(job, kind, prepared);
    longest_s = std::max(longest_s, Estimator(job, all).step_s());
  }
  return longest_s;
}

}  // namespace windtunnel
