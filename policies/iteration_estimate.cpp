#include "policies/iteration_estimate.hpp"

#include <algorithm>
#include <numeric>

#include "models/base/error.hpp"
#include "models/collective.hpp"
#include "models/links.hpp"
#include "policies/gradient_overlap.hpp"
#include "policies/schedule_evaluator.hpp"
#include "policies/schedules.hpp"

namespace windtunnel {
namespace {

std::vector<StageCost> stage_costs(const std::vector<ChunkCost>& chunks) {
  std::vector<StageCost> stages;
  for (const ChunkCost& chunk : chunks) {
    stages.push_back({total_seconds(chunk.forward),
                      total_seconds(chunk.recompute) + total_seconds(chunk.backward_input),
                      total_seconds(chunk.backward_weight), chunk.activation_bytes,
                      chunk.weight_activation_bytes});
  }
  return stages;
}

// A message between neighbouring pipeline ranks, mean over the boundaries.
double message_s(const Job& job, double bytes) {
  const Layout& layout = job.layout;
  if (layout.pp == 1) return 0;
  const LinkTable links(job.cluster);
  const int members = layout.ranks() / layout.pp;
  const Calibration& c = job.calibration;
  const NodeSpec& node = job.cluster.node;
  double sum = 0;
  for (int pp = 0; pp + 1 < layout.pp; ++pp) {
    const int from = pp * members;
    const int to = from + members;
    if (job.cluster.node_of(from) == job.cluster.node_of(to)) {
      sum += c.nvlink_latency_s.value + bytes / (node.nvlink_Bps.value * c.nvlink_efficiency.value);
    } else {
      const double hops_s = links.switch_hops(from, to) * job.cluster.fabric.hop_latency_s.value;
      const double nic_Bps = node.nic_Bps.value * node.nics / node.gpus;
      sum += c.nic_latency_s.value + hops_s + bytes / (nic_Bps * c.nic_efficiency.value);
    }
  }
  return c.p2p_launch_s.value + sum / (layout.pp - 1);
}

class Estimator {
 public:
  Estimator(const Job& job, const PreparedIteration& prepared)
      : job_(job), layout_(job.layout), prepared_(prepared) {
    replicas_ = layout_.dp * layout_.cp;
    members_ = layout_.ranks() / layout_.pp;
    if (replicas_ > 1) replica_shape_ = replica_shape();
  }

  IterationEstimate estimate() {
    ScheduleSpans spans;
    const double boundary = prepared_.chunks.front().boundary_bytes;
    const ScheduleEvaluation pipeline = evaluate_schedule(
        prepared_.schedule, stage_costs(prepared_.chunks), message_s(job_, boundary), &spans);
    double end_s = 0;
    int last_rank = 0;
    for (int rank = 0; rank < layout_.pp; ++rank) {
      const double ready_s = gather_s(rank) + reductions_end_s(rank, spans[rank]);
      if (ready_s > end_s) {
        end_s = ready_s;
        last_rank = rank;
      }
    }
    for (int rank = 0; rank < layout_.pp; ++rank) optimizer_s_.push_back(optimizer(rank));
    const double optimizer_s = *std::ranges::max_element(optimizer_s_);
    IterationEstimate estimate;
    estimate.step_s = end_s + embedding_s() + norm_s() + optimizer_s;
    attribute(estimate, pipeline, last_rank, optimizer_s);
    return estimate;
  }

 private:
  GroupShape replica_shape() const {
    WorstShape worst(job_.cluster);
    std::vector<std::int32_t> group(replicas_);
    for (int pp = 0; pp < layout_.pp; ++pp) {
      for (int i = 0; i < replicas_; ++i) group[i] = pp * members_ + i * layout_.tp;
      worst.add(group);
    }
    return among_concurrent(worst.shape(), job_.cluster.node);
  }

  bool sharded() const { return layout_.sharding != Sharding::none && replicas_ > 1; }
  bool overlaps() const { return job_.communication.overlap == GradientOverlap::bucketed; }

  double collective_s(CollectiveKind kind, const GroupShape& shape, double bytes) const {
    return collective_cost(kind, CollectiveAlgorithm::automatic, shape, bytes, job_.cluster,
                           job_.calibration)
        .seconds;
  }

  // Parameters gathered before the first forward can start.
  double gather_s(int rank) const {
    if (!sharded()) return 0;
    double seconds = 0;
    for (int stage = rank; stage < layout_.stages(); stage += layout_.pp) {
      const double bytes = prepared_.chunks[stage].parameters * weight_bytes_per_parameter(job_);
      if (bytes > 0) seconds += collective_s(CollectiveKind::all_gather, replica_shape_, bytes);
      if (overlaps()) break;
    }
    return seconds;
  }

  // When the last gradient of the rank is reduced.
  double reductions_end_s(int rank, const std::vector<ActionSpan>& spans) const {
    const double computed_s = spans.empty() ? 0 : spans.back().end_s;
    if (replicas_ == 1) return computed_s;
    const CollectiveKind kind =
        sharded() ? CollectiveKind::reduce_scatter : CollectiveKind::all_reduce;
    const double bytes = job_.software.reduce_bytes;
    double channel_s = 0;
    if (!overlaps()) {
      channel_s = computed_s;
      for (int stage = rank; stage < layout_.stages(); stage += layout_.pp) {
        channel_s += collective_s(kind, replica_shape_, prepared_.chunks[stage].parameters * bytes);
      }
      return channel_s;
    }
    const std::vector<int> layers = layers_per_stage(job_.model, layout_);
    for (const auto& [stage, span] : last_backwards(rank, spans)) {
      for (const GradientBucket& bucket :
           gradient_buckets(job_, stage, layers[stage], prepared_.chunks[stage].parameters)) {
        const double ready_s = span.start_s + bucket.ready_share * (span.end_s - span.start_s);
        channel_s = std::max(channel_s, ready_s) +
                    collective_s(kind, replica_shape_, bucket.parameters * bytes);
      }
    }
    return std::max(channel_s, computed_s);
  }

  struct StageSpan {
    int stage;
    ActionSpan span;
  };
  // The last backward of each stage of the rank, in order of time.
  std::vector<StageSpan> last_backwards(int rank, const std::vector<ActionSpan>& spans) const {
    std::vector<StageSpan> last;
    std::vector<bool> seen(layout_.stages());
    const auto& actions = prepared_.schedule.actions[rank];
    for (std::size_t i = actions.size(); i-- > 0;) {
      const Action& action = actions[i];
      const bool completes =
          action.kind == ActionKind::backward || action.kind == ActionKind::backward_weight;
      if (!completes || seen[action.stage]) continue;
      seen[action.stage] = true;
      last.push_back({action.stage, spans[i]});
    }
    std::ranges::reverse(last);
    return last;
  }

  double embedding_s() const {
    if (!job_.model.tied_embeddings || layout_.pp == 1) return 0;
    const std::vector<std::int32_t> ends = {0, (layout_.pp - 1) * members_};
    const GroupShape shape = among_concurrent(group_shape(ends, job_.cluster), job_.cluster.node);
    const double bytes = double(padded_vocabulary(job_.model.vocabulary, layout_.tp)) *
                         job_.model.hidden / layout_.tp * gradient_bytes_per_parameter(job_);
    return collective_s(CollectiveKind::all_reduce, shape, bytes);
  }

  // Clipping needs the norm over all gradients.
  double norm_s() const {
    if (layout_.ranks() == 1) return 0;
    std::vector<std::int32_t> world(layout_.ranks());
    std::iota(world.begin(), world.end(), 0);
    return collective_s(CollectiveKind::all_reduce, group_shape(world, job_.cluster), 8);
  }

  double optimizer(int rank) const {
    double parameters = 0;
    for (int stage = rank; stage < layout_.stages(); stage += layout_.pp) {
      parameters += prepared_.chunks[stage].parameters;
    }
    if (sharded()) parameters /= replicas_;
    return total_seconds(optimizer_cost(parameters, job_.cluster.node.gpu, job_.calibration));
  }

  void attribute(IterationEstimate& estimate, const ScheduleEvaluation& pipeline, int rank,
                 double optimizer_s) const {
    const int m = prepared_.schedule.microbatches;
    const auto add = [&](Category category, Origin origin, double seconds) {
      estimate.seconds[static_cast<int>(category)] += seconds;
      estimate.origin_s[static_cast<int>(origin)] += seconds;
    };
    for (int stage = rank; stage < layout_.stages(); stage += layout_.pp) {
      const ChunkCost& chunk = prepared_.chunks[stage];
      for (const auto* parts :
           {&chunk.forward, &chunk.recompute, &chunk.backward_input, &chunk.backward_weight}) {
        for (const CostPart& part : *parts) add(part.category, part.origin, m * part.seconds);
      }
    }
    const double bubble_s = pipeline.makespan_s - pipeline.busy_s[rank];
    const Origin weak = Origin::assumed;
    add(Category::pp, weak, bubble_s);
    add(Category::optimizer, weak, optimizer_s);
    const double counted = std::accumulate(estimate.seconds.begin(), estimate.seconds.end(), 0.0);
    add(Category::dp, weak, estimate.step_s - counted);
  }

  const Job& job_;
  const Layout& layout_;
  const PreparedIteration& prepared_;
  int replicas_ = 1;
  int members_ = 1;
  GroupShape replica_shape_;
  std::vector<double> optimizer_s_;
};

}  // namespace

PreparedIteration prepare_iteration(const Job& job) {
  check_layout(job.model, job.layout, job.batch, job.cluster.gpus(), job.cluster.node.gpus);
  PreparedIteration prepared;
  prepared.schedule = generate_schedule(job.schedule, job.layout.pp,
                                        microbatches(job.layout, job.batch), job.layout.vpp);
  prepared.chunks = chunk_costs(job);
  prepared.peak_activation_bytes =
      evaluate_schedule(prepared.schedule, stage_costs(prepared.chunks), 0).peak_activation;
  prepared.memory = gpu_memory(job, prepared.chunks, prepared.peak_activation_bytes);
  return prepared;
}

IterationEstimate estimate_iteration(const Job& job, const PreparedIteration& prepared) {
  return Estimator(job, prepared).estimate();
}

}  // namespace windtunnel
