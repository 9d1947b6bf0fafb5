#include "policies/exchange/shard_transfers.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "models/compression/compressors.hpp"
#include "models/cost/memory/memory.hpp"
#include "models/cost/op/op_cost.hpp"
#include "models/cost/parallel/orthogonal_update.hpp"
#include "models/plan/job_collective.hpp"
#include "models/plan/state_shares.hpp"
#include "policies/exchange/compressed_reductions.hpp"

namespace windtunnel {
namespace {

// A step of a gather or reduction, for one parameter: kernels that read and write `kernel_bytes` of
// HBM, then a collective over `bytes`. Without bytes it has only kernels.
struct Step {
  ReplicaAxis axis = ReplicaAxis::dense_shard;
  CollectiveKind kind = CollectiveKind::all_reduce;
  double bytes = 0;
  double kernel_bytes = 0;
};

// PyTorch's all_gather and reduce_scatter can take a tensor as a list of slices, one per rank. For
// each slice the host makes a view and starts a copy out of (or into) the flat buffer. Both
// operations together take 10 us of CPU time, the least for PyTorch's operations (assumed). The
// collectives' stream waits for them, because DeepSpeed synchronised before each slice
// (github.com/deepspeedai/DeepSpeed pull request 1188; partition_parameters.py of 2021,
// _allgather_param, _reduce_scatter_gradient).
constexpr double kSlice_s = 2 * 5e-6;

constexpr double kUpdateBytes = 2;  // per element of a momentum that is sent, and of an update

class Steps {
 public:
  Steps(const Job& job, const ReplicaNetwork& network)
      : layout_(job.layout),
        network_(network),
        shards_(shard_ranks(layout_)),
        weight_bytes_(weight_bytes_per_parameter(job)),
        gradient_bytes_(reduce_bytes_per_parameter(job)),
        model_(job.model),
        moves_matrices_(job.software.optimizer == Optimizer::muon &&
                        layout_.sharding == Sharding::zero3) {}

  std::vector<Step> gathers(bool experts, StageAction action) {
    const bool levels = layout_.weight_ranks > 0;
    const bool back = action == StageAction::backward || action == StageAction::last_backward;
    if (experts) {
      gather(ReplicaAxis::expert_shard);
    } else if (back && layout_.secondary_ranks > 0) {
      gather(ReplicaAxis::secondary_part);
    } else if (levels) {
      if (action == StageAction::first_forward) {
        add(ReplicaAxis::weight_peers, CollectiveKind::all_gather, weight_bytes_ / shards_.weights);
      }
      gather(ReplicaAxis::weight_part);
    } else {
      gather(ReplicaAxis::dense_shard);
    }
    return std::move(steps_);
  }

  std::vector<Step> reductions(bool experts, StageAction action) {
    const bool levels = layout_.gradient_ranks > 0;
    const bool through = !levels || action == StageAction::last_backward;
    const double sent = layout_.gradient_bits / 8.0;
    if (experts) {
      scatter(ReplicaAxis::expert_shard);
      if (sums_copies(layout_, action)) {
        add(ReplicaAxis::expert_across, CollectiveKind::all_reduce,
            gradient_bytes_ / ranks(ReplicaAxis::expert_shard));
      }
      move_matrices(ReplicaAxis::expert_shard, action);
      return std::move(steps_);
    }
    if (sent > 0 && sent < gradient_bytes_) {
      hops(sent, levels ? ReplicaAxis::gradient_part : ReplicaAxis::node_part,
           levels ? ReplicaAxis::gradient_peers : ReplicaAxis::node_peers, through);
    } else if (levels) {
      scatter(ReplicaAxis::gradient_part);
      if (through) scatter(ReplicaAxis::gradient_peers, shards_.gradients);
    } else {
      scatter(ReplicaAxis::dense_shard);
    }
    if (through && sums_copies(layout_, action)) {
      add(ReplicaAxis::dense_across, CollectiveKind::all_reduce,
          gradient_bytes_ / shards_.optimizer);
    }
    move_matrices(ReplicaAxis::dense_shard, action);
    return std::move(steps_);
  }

 private:
  int ranks(ReplicaAxis axis) const { return network_.groups(axis).count; }

  void add(ReplicaAxis axis, CollectiveKind kind, double bytes, double kernel_bytes = 0) {
    if (ranks(axis) > 1) steps_.push_back({axis, kind, bytes, kernel_bytes});
  }

  void gather(ReplicaAxis axis) {
    const double sent = layout_.weight_bits > 0 ? layout_.weight_bits / 8.0 : weight_bytes_;
    const bool quantised = sent < weight_bytes_;
    add(axis, CollectiveKind::all_gather, sent,
        quantised ? (weight_bytes_ + sent) / ranks(axis) : 0);
    if (sent != weight_bytes_) add(axis, CollectiveKind::all_gather, 0, sent + weight_bytes_);
  }

  void scatter(ReplicaAxis axis, int divided_by = 1) {
    add(axis, CollectiveKind::reduce_scatter, gradient_bytes_ / divided_by);
  }

  // Muon updates whole matrices. Under zero1 and zero2 each matrix belongs to one replica, which
  // has its momentum. Under zero3 every replica has a part of each matrix: it sends its part of the
  // momentum in 16 bit to the replica that updates the matrix, and that replica sends updates back
  // (github.com/microsoft/dion, dion/muon.py).
  void move_matrices(ReplicaAxis axis, StageAction action) {
    if (!moves_matrices_ || action != StageAction::last_backward) return;
    const double share = muon_share(model_, is_of_experts(axis));
    for (int way = 0; way < 2; ++way) {
      add(axis, CollectiveKind::all_to_all, kUpdateBytes * share / ranks(axis));
    }
  }

  void hops(double sent, ReplicaAxis inner, ReplicaAxis outer, bool through) {
    double quantised = sent;
    double kernel_bytes = gradient_bytes_ + sent;
    ReplicaAxis last = inner;
    for (const ReplicaAxis axis : {inner, outer}) {
      if (ranks(axis) == 1 || (axis == outer && !through)) continue;
      add(axis, CollectiveKind::all_to_all, quantised, kernel_bytes);
      kernel_bytes = quantised + quantised / ranks(axis);
      quantised /= ranks(axis);
      last = axis;
    }
    // The last sums are in full precision.
    add(last, CollectiveKind::all_to_all, 0,
        kernel_bytes + quantised * (gradient_bytes_ / sent - 1));
  }

  const Layout& layout_;
  const ReplicaNetwork& network_;
  const ShardRanks shards_;
  const double weight_bytes_;
  const double gradient_bytes_;
  const TransformerSpec& model_;
  const bool moves_matrices_;
  std::vector<Step> steps_;
};

void append_steps(const std::vector<Step>& steps, const CollectiveCosts& costs,
                  const ReplicaNetwork& network, int pp, double parameters,
                  std::vector<Transfer>& to) {
  if (parameters <= 0) return;
  for (const Step& step : steps) {
    const double factor = step.axis == ReplicaAxis::dense_shard ? network.ring_factor(pp) : 1;
    Transfer transfer{step.axis, step.kind, step.bytes * parameters * factor, 0};
    transfer.starts_row = &step == &steps.front();
    if (step.bytes > 0) {
      const GroupShape& shape = network.shape(pp, step.axis);
      transfer.seconds = costs.cost(Category::dp, step.kind, shape, transfer.bytes).seconds;
    }
    if (step.kernel_bytes > 0) {
      const Op kernel{.name = "quantise", .bytes = step.kernel_bytes * parameters};
      const OpCost cost = op_cost(kernel, costs.job());
      transfer.kernels = {{Category::compression, cost.origin, cost.seconds}};
      transfer.kernels_beside = true;
    }
    to.push_back(std::move(transfer));
  }
}

}  // namespace

std::vector<CostPart> kernel_costs(const Job& job, const std::vector<Op>& kernels,
                                   Category category) {
  std::vector<CostPart> parts;
  for (const Op& op : kernels) {
    const OpCost cost = op_cost(op, job);
    const auto same = std::ranges::find(parts, cost.origin, &CostPart::origin);
    if (same == parts.end()) {
      parts.push_back({category, cost.origin, cost.seconds});
    } else {
      same->seconds += cost.seconds;
    }
  }
  return parts;
}

double seconds_of(const std::vector<Transfer>& transfers) {
  std::array<double, 2> seconds{};
  for (const Transfer& transfer : transfers) {
    seconds[transfer.second_channel] += transfer.seconds + transfer.longer_s;
  }
  return std::max(seconds[0], seconds[1]);
}

ReplicaNetwork::ReplicaNetwork(const Job& job)
    : ReplicaNetwork(job, LinkTable::keeping_reference(job.cluster)) {}

ReplicaNetwork::ReplicaNetwork(const Job& job, const LinkTable& links) : traffic_(traffic_of(job)) {
  const int members = job.layout.ranks() / job.layout.pp;
  Layout whole = job.layout;
  whole.shard_ranks = 0;
  for (int a = 0; a < kReplicaAxes; ++a) {
    const auto axis = static_cast<ReplicaAxis>(a);
    const bool experts = is_of_experts(axis);
    if (experts && !traffic_.experts) continue;
    const bool of_nodes = axis == ReplicaAxis::node_part || axis == ReplicaAxis::node_peers;
    const Layout& layout = of_nodes && traffic_.unscattered ? whole : job.layout;
    groups_[a] = replica_groups(layout, axis, traffic_.gpus_per_place);
    if (groups_[a].count == 1) continue;
    active_ |= axis <= ReplicaAxis::expert_across;
  }
  mark_used(job);
  StridedShapes shapes(links);
  for (int pp = 0; pp < job.layout.pp; ++pp) {
    std::array<GroupShape, kReplicaAxes> own;
    for (int a = 0; a < kReplicaAxes; ++a) {
      if (uses_[a]) own[a] = shapes.worst(groups_[a], pp * members);
    }
    const auto known = std::ranges::find(shapes_, own);
    of_rank_.push_back(static_cast<int>(known - shapes_.begin()));
    if (uneven_state(job)) ring_factors_.push_back(uneven_ring_factor(job, pp));
    if (known == shapes_.end()) shapes_.push_back(own);
  }
}

// Compressors may reduce inside nodes first; traffic to servers always does.
ReplicaNetwork::Traffic ReplicaNetwork::traffic_of(const Job& job) {
  const Communication& communication = job.communication;
  const bool served = communication.aggregation == Aggregation::parameter_server;
  const bool rows = communication.embeddings != EmbeddingExchange::dense;
  const bool unscattered = is_unscattered(job) && !compresses_across(job);
  return {job.model.moe_layers() > 0,
          has_recipe(job) || served,
          unscattered,
          unscattered || rows,
          gpus_per_place(job),
          weight_bytes_per_parameter(job),
          reduce_bytes_per_parameter(job)};
}

void ReplicaNetwork::mark_used(const Job& job) {
  const auto mark = [&](const std::vector<Step>& steps) {
    for (const Step& step : steps) uses_[int(step.axis)] = true;
  };
  for (const bool experts : {false, true}) {
    for (const StageAction action : {StageAction::first_forward, StageAction::forward,
                                     StageAction::backward, StageAction::last_backward}) {
      mark(Steps(job, *this).gathers(experts, action));
      mark(Steps(job, *this).reductions(experts, action));
    }
  }
  for (const ReplicaAxis axis : {ReplicaAxis::island_peers, ReplicaAxis::region_peers,
                                 ReplicaAxis::path_near, ReplicaAxis::path_far}) {
    uses_[int(axis)] = groups(axis).count > 1;
  }
  if (!job.sync.empty()) {  // after these exchanges an island's copies gather its parts
    for (const ReplicaAxis axis : {ReplicaAxis::dense_across, ReplicaAxis::expert_across}) {
      uses_[int(axis)] |= groups(axis).count > 1;
    }
  }
  using enum ReplicaAxis;
  for (const auto [shard, across, both] :
       {std::array{dense_shard, dense_across, dense_replicas},
        std::array{expert_shard, expert_across, expert_replicas}}) {
    const bool copies = groups(shard).count > 1 && groups(across).count > 1;
    uses_[int(both)] = traffic_.whole && copies;
  }
  if (!traffic_.in_nodes) return;
  for (const ReplicaAxis axis : {ReplicaAxis::node_part, ReplicaAxis::node_peers}) {
    uses_[int(axis)] |= groups(axis).count > 1;
  }
}

Origin ReplicaNetwork::origin(const Job& job, int pp, const GroupShape& world) const {
  const auto origin_of = [&](const GroupShape& shape) {
    return collective_cost(CollectiveKind::all_gather, {}, shape, 1e6, job.cluster, job.calibration)
        .origin;
  };
  if (!active_) return origin_of(world);
  auto weak = Origin::measured;
  for (int a = 0; a < kReplicaAxes; ++a) {
    if (uses_[a]) weak = weakest(weak, origin_of(shapes_[of_rank_[pp]][a]));
  }
  return weak;
}

void append_gathers(const CollectiveCosts& costs, const ReplicaNetwork& network, int pp,
                    const Amount& amount, std::vector<Transfer>& to, StageAction action) {
  append_steps(Steps(costs.job(), network).gathers(false, action), costs, network, pp, amount.dense,
               to);
  append_steps(Steps(costs.job(), network).gathers(true, action), costs, network, pp,
               amount.experts, to);
}

void split_transfers(const CollectiveCosts& costs, const ReplicaNetwork& network, int pp,
                     const std::vector<double>& shares, std::vector<Transfer>& transfers) {
  if (shares.empty()) return;
  for (Transfer& transfer : transfers) {
    if (transfer.bytes <= 0) continue;
    const GroupShape& group = network.shape(pp, transfer.axis);
    double seconds = kSlice_s * group.members * static_cast<double>(shares.size());
    for (const double share : shares) {
      seconds += costs.cost(Category::dp, transfer.kind, group, share * transfer.bytes).seconds;
    }
    transfer.longer_s += std::max(0.0, seconds - transfer.seconds);
  }
}

bool sums_copies(const Layout& layout, StageAction action) {
  return action == StageAction::last_backward || layout.copies_summed == CopiesSummed::micro_batch;
}

void append_reductions(const CollectiveCosts& costs, const ReplicaNetwork& network, int pp,
                       const Amount& amount, std::vector<Transfer>& to, StageAction action) {
  append_steps(Steps(costs.job(), network).reductions(false, action), costs, network, pp,
               amount.dense, to);
  append_steps(Steps(costs.job(), network).reductions(true, action), costs, network, pp,
               amount.experts, to);
}

}  // namespace windtunnel
