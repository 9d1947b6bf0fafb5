#include "policies/iteration_estimate.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "models/base/error.hpp"
#include "models/collective.hpp"
#include "policies/boundary.hpp"
#include "policies/data_parallel.hpp"
#include "policies/job_schedule.hpp"
#include "policies/replica_groups.hpp"
#include "policies/schedule_evaluator.hpp"
#include "policies/stage_cost.hpp"

namespace windtunnel {
namespace {

// The times inside an action as the maxima of sums that schedule_evaluator.hpp explains: run once
// with each of the times that go in at 0 and the others at "never".
class ActionTimes {
 public:
  // `early`: the gathers have been issued before, and hold back the end only.
  ActionTimes(const Pieces& pieces, double action_s, bool overlap, bool early) : overlap_(overlap) {
    for (const Piece& piece : pieces) {
      Step step;
      step.work_s = piece.share * piece.stretch * action_s;
      for (const Transfer& t : piece.gathers) step.gather_s += early ? 0 : t.seconds;
      for (const Transfer& t : piece.reductions) step.reduce_s += t.seconds;
      steps_.push_back(step);
    }
  }

  ActionMap map() const {
    ActionMap map;
    map.gather_s = steps_.front().gather_s;
    map.reduce_s = steps_.back().reduce_s;
    for (auto& row : map.later_s) row[ActionMap::kFixed] = ActionMap::kNever;
    for (int in = 0; in < 3; ++in) {
      std::array<double, 3> times;
      times.fill(ActionMap::kNever);
      times[in] = 0;
      run(times);
      for (int out = 0; out < 3; ++out) map.later_s[out][in] = times[out];
    }
    return map;
  }

 private:
  struct Step {
    double work_s = 0;
    double gather_s = 0;
    double reduce_s = 0;
  };

  void run(std::array<double, 3>& times) const {
    double& before_s = times[ActionMap::kBefore];
    double& compute_s = times[ActionMap::kCompute];
    double& channel_s = times[ActionMap::kChannel];
    compute_s += steps_.front().work_s;
    for (std::size_t i = 1; i < steps_.size(); ++i) {
      const Step& step = steps_[i];
      double start_s = compute_s;
      const auto reduce = [&] {
        const double last_s = steps_[i - 1].reduce_s;
        if (last_s > 0) channel_s = std::max(channel_s, compute_s) + last_s;
      };
      const auto gather = [&](double after_s) {
        if (step.gather_s <= 0) return;
        channel_s = std::max(channel_s, after_s) + step.gather_s;
        start_s = std::max(start_s, channel_s);
      };
      if (overlap_) {
        gather(before_s);
        reduce();
      } else {
        reduce();
        gather(compute_s);
        start_s = std::max(start_s, channel_s);
      }
      before_s = std::exchange(compute_s, start_s + step.work_s);
    }
  }

  bool overlap_;
  std::vector<Step> steps_;
};

class Estimator {
 public:
  Estimator(const Job& job, const PreparedIteration& prepared)
      : job_(job),
        layout_(job.layout),
        prepared_(prepared),
        data_(job, prepared.chunks, prepared.schedule.rank_of_stage, overlapped_slowdown(job)),
        costs_(stage_costs(prepared.chunks)) {
    const int members = layout_.ranks() / layout_.pp;
    slowdown_.assign(layout_.pp, 1);
    for (const SlowNode& slow : job.cluster.slow_nodes) {
      const int first = slow.node * job.cluster.node.gpus;
      const int last = std::min(first + job.cluster.node.gpus, layout_.ranks()) - 1;
      for (int pp = first / members; pp <= last / members; ++pp) {
        slowdown_[pp] = std::max(slowdown_[pp], job.cluster.slowdown_of(first));
      }
    }
    for (std::size_t s = 0; s < costs_.size(); ++s) {
      const double factor = slowdown_[rank_of(s)];
      costs_[s].forward_s *= factor;
      costs_[s].backward_input_s *= factor;
      costs_[s].backward_weight_s *= factor;
      costs_[s].recompute_s *= factor;
    }
  }

  IterationEstimate estimate() {
    Boundaries boundaries{std::vector<double>(layout_.pp), job_.software.sends == Sends::blocking};
    const double boundary_bytes = prepared_.chunks.front().boundary_bytes;
    for (int rank = 0; rank < layout_.pp && layout_.pp > 1; ++rank) {
      boundaries.message_s[rank] = boundary_s(job_, rank, boundary_bytes);
    }
    std::vector<double> ends_s;
    const ScheduleEvaluation pipeline =
        evaluate_schedule(prepared_.schedule, costs_, boundaries, nullptr, &ends_s);
    if (data_.active()) {
      const CollectivesBeside beside = collectives();
      evaluate_schedule(prepared_.schedule, costs_, boundaries, &beside, &ends_s);
      for (int s = 0; s < layout_.stages(); ++s) {
        for (const Transfer& t : data_.stage(s).at_end) ends_s[rank_of(s)] += t.seconds;
      }
    }
    const auto last = std::ranges::max_element(ends_s);
    const double synchronised_s =
        std::max(*last, std::max(ends_s.front(), ends_s.back()) + embedding_s()) + norm_s();
    const CostPart optimizer = slowest_optimizer();
    IterationEstimate estimate;
    estimate.step_s = synchronised_s + optimizer.seconds;
    attribute(estimate, pipeline, static_cast<int>(last - ends_s.begin()), optimizer);
    return estimate;
  }

 private:
  int rank_of(std::size_t stage) const { return prepared_.schedule.rank_of_stage[stage]; }

  CollectivesBeside collectives() {
    CollectivesBeside beside;
    beside.overlap = data_.overlaps();
    beside.channel_s.assign(layout_.pp, 0);
    maps_.reserve(layout_.stages());
    for (int s = 0; s < layout_.stages(); ++s) {
      maps_.push_back(maps_of(s));
      if (data_.gathers_early()) {
        const double ready_s = first_forward_end_s(s, beside.channel_s[rank_of(s)]);
        maps_.back().first_forward.later_s[ActionMap::kCompute][ActionMap::kFixed] = ready_s;
      }
    }
    for (const StageMaps& maps : maps_) beside.stages.push_back(&maps);
    return beside;
  }

  // Stages with equal traffic on equally slow ranks have equal maps.
  StageMaps maps_of(int stage) const {
    for (int other = 0; other < stage; ++other) {
      if (data_.traffic_number(other) == data_.traffic_number(stage) &&
          slowdown_[rank_of(other)] == slowdown_[rank_of(stage)]) {
        return maps_[other];
      }
    }
    const StageTraffic& traffic = data_.stage(stage);
    const StageCost& cost = costs_[stage];
    const double input_s = cost.recompute_s + cost.backward_input_s;
    const double backward_s = input_s + cost.backward_weight_s;
    const auto map = [&](const Pieces& pieces, double action_s, bool early = false) {
      return ActionTimes(pieces, action_s, data_.overlaps(), early).map();
    };
    return {.first_forward = map(traffic.first_forward, cost.forward_s, data_.gathers_early()),
            .forward = map(traffic.forward, cost.forward_s),
            .backward = map(traffic.backward, backward_s),
            .backward_input = map(traffic.backward_input, input_s),
            .backward_weight = map(traffic.backward_weight, cost.backward_weight_s),
            .last_backward = map(traffic.last_backward, backward_s),
            .last_backward_weight = map(traffic.last_backward_weight, cost.backward_weight_s)};
  }

  // The earliest end of the first forward whose gathers run from `channel_s` on; moves that to
  // their end.
  double first_forward_end_s(int stage, double& channel_s) const {
    double end_s = 0;
    for (const Piece& piece : data_.stage(stage).first_forward) {
      for (const Transfer& t : piece.gathers) channel_s += t.seconds;
      const double ready_s = piece.gathers.empty() ? 0 : channel_s;
      end_s = std::max(end_s, ready_s) + piece.share * piece.stretch * costs_[stage].forward_s;
    }
    return end_s;
  }

  double collective_s(CollectiveKind kind, const GroupShape& shape, double bytes) const {
    return collective_cost(kind, CollectiveAlgorithm::automatic, shape, bytes, job_.cluster,
                           job_.calibration)
        .seconds;
  }

  double embedding_s() const {
    if (!job_.model.tied_embeddings || layout_.pp == 1) return 0;
    const GroupShape shape = lattice_shape(embedding_groups(layout_), 0, job_.cluster);
    const double bytes = double(padded_vocabulary(job_.model.vocabulary, layout_.tp)) *
                         job_.model.hidden / layout_.tp * reduce_bytes_per_parameter(job_);
    return collective_s(CollectiveKind::all_reduce, shape, bytes);
  }

  // Clipping needs the norm over all gradients.
  double norm_s() const {
    if (layout_.ranks() == 1) return 0;
    return collective_s(CollectiveKind::all_reduce, world_shape(job_.cluster), 8);
  }

  CostPart slowest_optimizer() const {
    CostPart slowest{Category::optimizer, Origin::spec, -1};
    for (int rank = 0; rank < layout_.pp; ++rank) {
      const auto parts =
          optimizer_cost(data_.updated_parameters(rank), job_.cluster.node.gpu, job_.calibration);
      const double seconds = total_seconds(parts) * slowdown_[rank];
      if (seconds <= slowest.seconds) continue;
      slowest.seconds = seconds;
      slowest.origin = parts.front().origin;
    }
    return slowest;
  }

  // The rank that ends last: its own work, what the pipeline without data parallelism takes longer
  // than that, the optimizer, and as dp what data parallelism adds.
  void attribute(IterationEstimate& estimate, const ScheduleEvaluation& pipeline, int rank,
                 const CostPart& optimizer) const {
    const auto add = [&](Category category, Origin origin, double seconds) {
      estimate.seconds[static_cast<int>(category)] += seconds;
      estimate.origin_s[static_cast<int>(origin)] += seconds;
    };
    const double times = prepared_.schedule.microbatches * slowdown_[rank];
    for (int stage = 0; stage < layout_.stages(); ++stage) {
      if (rank_of(stage) != rank) continue;
      const ChunkCost& chunk = prepared_.chunks[stage];
      for (const auto* parts :
           {&chunk.forward, &chunk.recompute, &chunk.backward_input, &chunk.backward_weight}) {
        for (const CostPart& part : *parts) add(part.category, part.origin, times * part.seconds);
      }
    }
    // The bubble is made of the others' work, known as well as this rank's.
    const double bubble_s = pipeline.makespan_s - pipeline.busy_s[rank];
    estimate.seconds[static_cast<int>(Category::pp)] += bubble_s;
    if (pipeline.busy_s[rank] > 0) {
      for (double& seconds : estimate.origin_s) {
        seconds *= pipeline.makespan_s / pipeline.busy_s[rank];
      }
    }
    add(Category::optimizer, optimizer.origin, optimizer.seconds);
    const double exposed_s = estimate.step_s - pipeline.makespan_s - optimizer.seconds;
    add(Category::dp, data_.origin(rank), exposed_s);
  }

  const Job& job_;
  const Layout& layout_;
  const PreparedIteration& prepared_;
  const DataParallel data_;
  std::vector<StageCost> costs_;  // [stage], on its slowest GPU
  std::vector<double> slowdown_;  // [pipeline rank]
  std::vector<StageMaps> maps_;   // [stage]
};

}  // namespace

PreparedIteration prepare_iteration(const Job& job) {
  check_layout(job.model, job.layout, job.batch, job.cluster.gpus(), job.cluster.node.gpus);
  PreparedIteration prepared;
  prepared.chunks = chunk_costs(job);
  prepared.schedule = job_schedule(job, prepared.chunks);
  prepared.peak_activation_bytes =
      evaluate_schedule(prepared.schedule, stage_costs(prepared.chunks), 0).peak_activation;
  prepared.memory = gpu_memory(job, prepared.chunks, prepared.peak_activation_bytes,
                               held_stages(prepared.schedule));
  return prepared;
}

IterationEstimate estimate_iteration(const Job& job, const PreparedIteration& prepared) {
  return Estimator(job, prepared).estimate();
}

}  // namespace windtunnel
