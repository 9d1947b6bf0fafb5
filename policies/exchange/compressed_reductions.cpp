#include "policies/exchange/compressed_reductions.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "models/base/error.hpp"
#include "models/compression/compressors.hpp"
#include "models/compression/recipe_parts.hpp"
#include "models/compression/robust.hpp"
#include "models/cost/chunk/embedding_exchange.hpp"
#include "models/cost/memory/memory.hpp"
#include "models/cost/op/op_cost.hpp"
#include "models/machine/fabrics/torus.hpp"
#include "models/plan/job_collective.hpp"
#include "models/workload/training.hpp"

namespace windtunnel {
bool crosses_iterations(GradientOverlap overlap) {
  return overlap == GradientOverlap::priority || overlap == GradientOverlap::dear;
}

bool has_recipe(const Job& job) {
  return compresses(job.communication.compressors.dp) || job.communication.robust;
}

// The axes along which a bucket is reduced, and the group that reduces it.
struct GradientExchange::Axes {
  ReplicaAxis shard;
  ReplicaAxis across;
  int shards = 1;
  ReducingGroup group;

  // The axes inside and between places. They are used only if gradients are compressed between
  // places.
  ReplicaAxis inner_axis = ReplicaAxis::node_part;
  ReplicaAxis outer_axis = ReplicaAxis::node_peers;
  int inner = 1;  // members in each place

  // For gradients that are not scattered: how many ranks divide the decoding of the result, and
  // whether each rank keeps only the part that it has reduced.
  int kept = 1;
  bool own_parts = false;

  ReplicaAxis whole() const { return shards > 1 ? shard : across; }
  // The axes between places only. Each member counts as if on a separate node, so that methods with
  // hops inside nodes make none, although copies of small shards may share a node.
  Axes across_only() const {
    const int places = group.ranks / inner;
    return {outer_axis, outer_axis, 1, {.ranks = places, .nodes = places}};
  }
};

namespace {

// Returns the number of torus slices in which the ranks of a group along the axis lie.
int slices_met(const Job& job, ReplicaAxis axis) {
  if (slices_of(job.cluster.fabric) == 1) return 1;
  const StridedGroups replicas = replica_groups(job.layout, axis);
  std::set<int> met;
  for (const std::int32_t rank : replicas.members(0, 0)) {
    met.insert(slice_of(job.cluster.fabric, job.cluster.place_of(job.cluster.node_of(rank))));
  }
  return static_cast<int>(met.size());
}

}  // namespace

GradientExchange::GradientExchange(const Job& job, const ReplicaNetwork& network)
    : job_(job),
      network_(network),
      costs_(job),
      compresses_(has_recipe(job)),
      across_(compresses_across(job)),
      whole_(is_unscattered(job) && !across_),
      copies_(job.software.bucket_copies &&
              job.communication.overlap == GradientOverlap::bucketed &&
              job.layout.sharding == Sharding::none),
      element_bytes_(reduce_bytes_per_parameter(job)),
      slices_(slices_met(job, ReplicaAxis::dense_replicas)),
      shard_slices_(slices_met(job, ReplicaAxis::dense_shard)) {}

GradientExchange::Axes GradientExchange::axes(int pp, bool expert, bool whole) const {
  Axes axes{expert ? ReplicaAxis::expert_shard : ReplicaAxis::dense_shard,
            expert ? ReplicaAxis::expert_across : ReplicaAxis::dense_across,
            1,
            {}};
  axes.shards = network_.groups(axes.shard).count;
  const int others = network_.groups(axes.across).count;
  axes.group.ranks = axes.shards * others;
  axes.group.nodes = axes.group.ranks;
  if (whole && axes.shards > 1) {
    const ReplicaAxis all = expert ? ReplicaAxis::expert_replicas : ReplicaAxis::dense_replicas;
    axes.own_parts = others == 1;
    axes.kept = axes.shards;
    axes.across = axes.own_parts ? axes.shard : all;
    axes.shards = 1;
  } else if (axes.shards > 1 && others > 1) {
    axes.inner_axis = axes.shard;
    axes.outer_axis = axes.across;
    axes.inner = axes.shards;
  } else if (!expert) {
    axes.inner = network_.groups(ReplicaAxis::node_part).count;
  } else {
    axes.outer_axis = axes.whole();
  }
  if (!expert) {
    axes.group.nodes = axes.group.ranks / network_.groups(ReplicaAxis::node_part).count;
  } else if (axes.group.ranks > 1 && axes.shards == 1) {
    const GroupShape& shape = network_.shape(pp, axes.across);
    if (shape.regular()) axes.group.nodes = shape.nodes;
  }
  return axes;
}

Transfer GradientExchange::transfer(int pp, ReplicaAxis axis, CollectiveKind kind, double bytes,
                                    CollectiveAlgorithm algorithm) const {
  const GroupShape& shape = network_.shape(pp, axis);
  const double seconds = costs_.cost(Category::dp, kind, shape, bytes, algorithm).seconds;
  Transfer transfer{axis, kind, bytes, seconds};
  transfer.algorithm = algorithm;
  return transfer;
}

Recipe GradientExchange::recipe_of(const std::vector<TensorShape>& shapes,
                                   const ReducingGroup& group) const {
  if (job_.communication.robust) {
    return robust_recipe(*job_.communication.robust, elements_of(shapes), group, element_bytes_);
  }
  return make_recipe(job_.communication.compressors.dp, shapes, group, element_bytes_);
}

std::vector<Transfer> GradientExchange::compressed(const std::vector<TensorShape>& shapes, int pp,
                                                   bool expert, StageAction action) const {
  const Axes axes = this->axes(pp, expert, whole_);
  if (axes.group.ranks == 1 || shapes.empty()) return {};
  if (across_) return compressed_across(shapes, axes, pp, expert, action);
  return of_recipe(recipe_of(shapes, axes.group), axes, pp, expert);
}

// The members of a place scatter dense sums among themselves. Each compresses its part of the sum
// and exchanges it with its peers in other places. Then the members gather the whole sum, unless it
// stays sharded.
std::vector<Transfer> GradientExchange::compressed_across(const std::vector<TensorShape>& shapes,
                                                          const Axes& axes, int pp, bool expert,
                                                          StageAction action) const {
  const Axes outer = axes.across_only();
  const double bytes = elements_of(shapes) * element_bytes_;
  const bool inside = axes.inner > 1;
  std::vector<Transfer> row;
  if (inside) row.push_back(transfer(pp, axes.inner_axis, CollectiveKind::reduce_scatter, bytes));
  const bool of_copies = axes.inner_axis == axes.shard;
  const bool joins = !of_copies || sums_copies(job_.layout, action);
  if (outer.group.ranks > 1 && joins) {
    const std::vector<TensorShape> parts = parts_of(shapes, axes.inner);
    const std::vector<Transfer> exchanged =
        of_recipe(recipe_of(parts, outer.group), outer, pp, expert);
    row.insert(row.end(), exchanged.begin(), exchanged.end());
  }
  if (inside && axes.shards == 1) {
    row.push_back(transfer(pp, axes.inner_axis, CollectiveKind::all_gather, bytes));
  }
  return row;
}

std::vector<TensorShape> GradientExchange::parts_of(const std::vector<TensorShape>& shapes,
                                                    int members) const {
  return divided(shapes, members, compressor_kind(job_.communication.compressors.dp).whole_tensors);
}

CompressorMemory GradientExchange::memory(const std::vector<StageTensor>& tensors, int pp) const {
  CompressorMemory memory;
  if (!compresses_) return memory;
  for (const bool expert : {false, true}) {
    std::vector<TensorShape> shapes;
    for (const StageTensor& tensor : tensors) {
      if (tensor.expert == expert && !goes_as_rows(tensor)) shapes.push_back(tensor.shape);
    }
    const Axes axes = this->axes(pp, expert, whole_);
    if (axes.group.ranks == 1 || shapes.empty()) continue;
    const ReplicaAxis shard = expert ? ReplicaAxis::expert_shard : ReplicaAxis::dense_shard;
    const double updated = elements_of(shapes) / network_.groups(shard).count;
    if (across_) shapes = parts_of(shapes, axes.inner);
    const Recipe recipe = recipe_of(shapes, across_ ? axes.across_only().group : axes.group);
    memory.state += recipe.state_bytes + momentum_bytes(elements_of(shapes) - updated);
    memory.buffers += recipe.buffer_bytes;
  }
  return memory;
}

// Returns the bytes of the momentum that a rank keeps only for the compressor. `elements`: how many
// more elements the rank compresses than it updates; the others' is part of its optimizer state.
double GradientExchange::momentum_bytes(double elements) const {
  const bool keeps = !job_.communication.robust &&
                     compressor_kind(job_.communication.compressors.dp).whole_momentum &&
                     moments(job_.software.optimizer) > 0;
  return keeps ? moment_bytes_per_parameter(job_) * std::max(0.0, elements) : 0;
}

double GradientExchange::gathered_parameters(const StageTensor& tensor) const {
  const bool looked_up = job_.communication.embeddings == EmbeddingExchange::all_to_all &&
                         job_.layout.sharding != Sharding::none;
  return looked_up && goes_as_rows(tensor) ? 0 : tensor.parameters + tensor.frozen;
}

double GradientExchange::gathered_parameters(const std::vector<StageTensor>& tensors,
                                             const std::vector<int>& of_them) const {
  double parameters = 0;
  for (const int tensor : of_them) parameters += gathered_parameters(tensors[tensor]);
  return parameters;
}

bool GradientExchange::goes_as_rows(const StageTensor& tensor) const {
  return job_.communication.embeddings != EmbeddingExchange::dense && tensor.shape.filled < 1;
}

// Returns the collectives that one step of a recipe makes, with axis, kind and bytes.
std::vector<GradientExchange::Hop> GradientExchange::hops_of(const RecipeStep& step,
                                                             const Axes& axes, bool expert) const {
  if (axes.shards > 1) {
    const bool sums = step.kind == CollectiveKind::all_reduce && step.hop == ReduceHop::all;
    CHECK(sums || step.bytes <= 0, "{} is not summable", job_.communication.compressors.dp.name);
    return {{axes.shard, CollectiveKind::reduce_scatter, step.bytes},
            {axes.across, CollectiveKind::all_reduce, step.bytes / axes.shards}};
  }
  if (axes.own_parts && step.gathers_parts) return {};
  const bool nodes = axes.group.nodes > 1;
  const bool members = axes.group.per_node() > 1;
  if (step.hop == ReduceHop::all) return {{axes.across, step.kind, step.bytes}};
  if (!nodes || !members) {
    const bool alone = step.hop == ReduceHop::node ? !members : !nodes;
    if (alone) return {};
    return {{axes.across, step.kind, step.bytes}};
  }
  if (expert) {  // only a compressor of the calling program gets here
    const CompressorChoice& choice = job_.communication.compressors.dp;
    throw Error(choice.where, fmt::format("compressor '{}' reduces the gradients of experts node "
                                          "by node, but the ranks of an expert are not on one node",
                                          choice.name));
  }
  const bool inside = step.hop == ReduceHop::node;
  return {{inside ? ReplicaAxis::node_part : ReplicaAxis::node_peers, step.kind, step.bytes}};
}

std::vector<Transfer> GradientExchange::of_recipe(const Recipe& recipe, const Axes& axes, int pp,
                                                  bool expert) const {
  std::vector<Transfer> row;
  for (const RecipeStep& step : recipe.steps) {
    std::vector<CostPart> kernels = kernel_costs(job_, step.kernels, Category::compression);
    if (step.by_part) {
      for (CostPart& part : kernels) part.seconds /= axes.kept;
    }
    for (const auto& [axis, kind, bytes] : hops_of(step, axes, expert)) {
      if (bytes <= 0 || network_.groups(axis).count == 1) continue;
      row.push_back(transfer(pp, axis, kind, bytes, step.algorithm));
      Transfer& added = row.back();
      added.kernels = std::exchange(kernels, {});
      if (step.every > 1) {
        const double whole_s = transfer(pp, axis, kind, bytes * step.every, step.algorithm).seconds;
        added.longer_s = whole_s / step.every - added.seconds;
      }
    }
    if (kernels.empty()) continue;
    for (CostPart& part : kernels) part.seconds /= axes.shards;  // each rank decodes its own shard
    row.push_back({axes.whole(), step.kind, 0, 0});
    row.back().kernels = std::move(kernels);
  }
  return row;
}

// Data is pushed to servers and pulled back, so it crosses the network twice.
void GradientExchange::append_served(int pp, ReplicaAxis axis, double bytes, int times,
                                     std::vector<Transfer>& row) const {
  const double members = network_.groups(axis).count;
  const int servers = job_.communication.servers;
  if (servers == 0 || network_.shape(pp, axis).nodes == 1) {
    row.insert(row.end(), times, transfer(pp, axis, CollectiveKind::all_to_all, bytes));
    return;
  }
  // A NIC pulls while it pushes. A member does not exchange its own part. The nodes of all stages
  // share the servers.
  const double crowd = std::max(1.0, double(job_.cluster.nodes) / servers);
  const double each = bytes * members / (members - 1) * crowd;
  row.push_back(transfer(pp, axis, CollectiveKind::all_to_all, each));
}

std::vector<Transfer> GradientExchange::served(double parameters, int pp, bool expert,
                                               StageAction action) const {
  const Axes axes = this->axes(pp, expert, false);
  const bool scattered = axes.shards > 1 && job_.layout.sharding != Sharding::none;
  const ReplicaAxis all = scattered ? axes.whole() : axes.across;
  if (network_.groups(all).count == 1) return {};
  const double bytes = parameters * element_bytes_;
  if (scattered && network_.groups(axes.across).count > 1) {
    // Ranks of a shard group scatter gradients; then servers sum the copies of a shard.
    std::vector<Transfer> row = {transfer(pp, axes.shard, CollectiveKind::reduce_scatter, bytes)};
    const double part = bytes / axes.shards;
    if (sums_copies(job_.layout, action)) append_served(pp, axes.across, part, 2, row);
    return row;
  }
  const int part = expert ? 1 : network_.groups(ReplicaAxis::node_part).count;
  const int nodes = axes.group.nodes;
  const bool by_node = part > 1 && nodes > 1;
  const ReplicaAxis across = by_node ? ReplicaAxis::node_peers : all;
  const double sent = by_node ? bytes / part : bytes;
  std::vector<Transfer> row;
  // With scattered gradients each host serves the shards of its own GPUs and sends nothing back.
  append_served(pp, across, sent, scattered ? 1 : 2, row);
  if (!by_node) return row;
  const NodeSpec& node = job_.cluster.node;
  for (const auto kind : {CollectiveKind::reduce_scatter, CollectiveKind::all_gather}) {
    if (kind == CollectiveKind::all_gather && scattered) continue;
    row.push_back(transfer(pp, ReplicaAxis::node_part, kind, bytes));
    row.back().second_channel = true;
    if (node.gpu_path == GpuPath::pcie || node.nvlink_Bps.value <= node.pcie_Bps.value) {
      row.back().longer_s =
          sent / (node.pcie_both_ways_Bps() * job_.calibration.pcie_efficiency.value);
    }
  }
  return row;
}

// Copies into the bucket and back read and write each element.
void GradientExchange::add_copies(double parameters, std::vector<Transfer>& row) const {
  std::vector<CostPart> copy =
      kernel_costs(job_, {{.name = "bucket copy", .bytes = 2 * element_bytes_ * parameters}},
                   Category::compression);
  for (CostPart& part : copy) part.category = Category::dp;
  std::vector<CostPart>& first = row.front().kernels;
  first.insert(first.begin(), copy.begin(), copy.end());
  row.push_back({row.front().axis, row.front().kind, 0, 0, std::move(copy)});
}

std::vector<Transfer> GradientExchange::row(const std::vector<StageTensor>& tensors,
                                            const GradientBucket& bucket, int pp, double share,
                                            StageAction action) const {
  std::vector<Transfer> row;
  double parameters = bucket.parameters * share;
  std::vector<TensorShape> shapes;
  std::vector<TensorShape> tables;
  for (const int tensor : bucket.tensors) {
    const bool table = goes_as_rows(tensors[tensor]);
    if (!table && !compresses_) continue;  // only compressors and tables read shapes
    std::vector<TensorShape>& to = table ? tables : shapes;
    to.push_back(tensors[tensor].shape);
    to.back().columns *= share;
    if (table) parameters -= to.back().elements();
  }
  if (!tables.empty() && tables.size() == bucket.tensors.size()) parameters = 0;
  if (compresses_) {
    row = compressed(shapes, pp, bucket.expert, action);
  } else if (job_.communication.aggregation == Aggregation::parameter_server) {
    row = served(parameters, pp, bucket.expert, action);
  } else {
    const Amount amount{bucket.expert ? 0 : parameters, bucket.expert ? parameters : 0};
    append_reductions(costs_, network_, pp, amount, row, action);
  }
  if (!row.empty() && copies_) add_copies(parameters, row);
  if (!row.empty() && slices_ > 1) add_slice_rounds(tensors, bucket, share, action, row);
  if (!row.empty()) row.front().starts_row = true;
  if (tables.empty()) return row;
  const Axes axes = this->axes(pp, bucket.expert, true);
  if (axes.group.ranks == 1) return row;
  for (const TensorShape& table : tables) {
    std::vector<Transfer> own = of_recipe(
        embedding_recipe(job_.communication.embeddings, table, axes.group, element_bytes_), axes,
        pp, bucket.expert);
    own.front().starts_row = true;
    row.insert(row.end(), own.begin(), own.end());
  }
  return row;
}

// XLA sums layers one by one between slices, and computes nothing meanwhile. A bucket with a share
// of a layer's parameters takes this share of the layer's rounds. A step without gradients sums one
// number. Depending on the layout, copies of shards are summed only in the last micro-batch.
void GradientExchange::add_slice_rounds(const std::vector<StageTensor>& tensors,
                                        const GradientBucket& bucket, double share,
                                        StageAction action, std::vector<Transfer>& row) const {
  const bool joins = (compresses_ && !across_) || sums_copies(job_.layout, action);
  std::map<int, double> of_layer;
  for (const StageTensor& tensor : tensors) of_layer[tensor.layer] += tensor.parameters;
  double layers = 0;
  for (const int i : bucket.tensors) {
    const StageTensor& tensor = tensors[i];
    if (tensor.layer < 0 || tensor.parameters <= 0) continue;
    layers += share * tensor.parameters / of_layer[tensor.layer];
  }
  if (is_zeroth_order(job_.training.get())) layers = share;
  const FabricSpec& fabric = job_.cluster.fabric;
  const double seconds = layers * slice_rounds_s(fabric, joins ? slices_ : shard_slices_);
  if (seconds == 0) return;
  row.front().kernels.push_back({Category::dp, fabric.wan_latency_s.origin, seconds});
}

void GradientExchange::append(const std::vector<StageTensor>& tensors, const GradientBucket& bucket,
                              int pp, std::vector<Transfer>& to, double share,
                              StageAction action) const {
  std::ranges::move(row(tensors, bucket, pp, share, action), std::back_inserter(to));
}

bool GradientExchange::is_halved(const Transfer& first) const {
  const bool sharded = job_.layout.sharding != Sharding::none && !whole_;
  return first.kind == CollectiveKind::all_reduce && !sharded;
}

void GradientExchange::append_scatter(const std::vector<StageTensor>& tensors,
                                      const GradientBucket& bucket, int pp,
                                      std::vector<Transfer>& to) const {
  bool halved = false;
  for (Transfer& whole : row(tensors, bucket, pp, 1)) {
    if (whole.starts_row) halved = is_halved(whole);
    if (halved && whole.bytes <= 0) continue;
    if (!halved) {
      to.push_back(std::move(whole));
      continue;
    }
    to.push_back(transfer(pp, whole.axis, CollectiveKind::reduce_scatter, whole.bytes));
    to.back().kernels = whole.kernels;
    to.back().starts_row = whole.starts_row;
  }
}

void GradientExchange::append_gather(const std::vector<StageTensor>& tensors,
                                     const GradientBucket& bucket, int pp,
                                     std::vector<Transfer>& to) const {
  bool first = true;
  bool halved = false;
  for (Transfer& whole : row(tensors, bucket, pp, 1)) {
    if (whole.starts_row) halved = is_halved(whole);
    if (!halved) continue;
    if (whole.bytes > 0) {
      to.push_back(transfer(pp, whole.axis, CollectiveKind::all_gather, whole.bytes));
    } else {
      to.push_back(std::move(whole));
    }
    to.back().starts_row = std::exchange(first, false);
  }
}

std::vector<double> GradientExchange::sizes(const std::vector<StageTensor>& tensors, int pp) const {
  std::vector<double> sizes;
  sizes.reserve(tensors.size());
  const bool fused = compresses(job_.communication.compressors.dp) &&
                     compressor_kind(job_.communication.compressors.dp).fusible;
  for (const StageTensor& tensor : tensors) {
    sizes.push_back(tensor.parameters * element_bytes_);
    if (goes_as_rows(tensor)) {
      sizes.back() *= tensor.shape.filled;
      continue;
    }
    if (!fused) continue;
    const Axes axes = this->axes(pp, tensor.expert, whole_);
    if (axes.group.ranks == 1) continue;
    sizes.back() = 0;
    const Recipe recipe = make_recipe(job_.communication.compressors.dp, {&tensor.shape, 1},
                                      axes.group, element_bytes_);
    for (const RecipeStep& step : recipe.steps) sizes.back() += step.bytes;
  }
  return sizes;
}

std::vector<GradientBucket> GradientExchange::buckets(const std::vector<StageTensor>& tensors,
                                                      int pp) const {
  const std::vector<double> sizes = this->sizes(tensors, pp);
  double dense = 0;
  double sent = 0;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    // Tables that are sent as rows are left out, because other tensors do not shrink like them.
    if (goes_as_rows(tensors[i])) continue;
    dense += tensors[i].parameters * element_bytes_;
    sent += sizes[i];
  }
  const double share = dense > 0 ? sent / dense : 1;
  return gradient_buckets(tensors, sizes, bucket_bytes(job_) * share,
                          job_.communication.first_bucket_bytes * share);
}

ReductionLaw GradientExchange::law(int pp, bool expert) const {
  const auto seconds = [&](double bytes) {
    const double parameters = bytes / element_bytes_;
    if (job_.communication.aggregation == Aggregation::parameter_server) {
      return seconds_of(served(parameters, pp, expert));
    }
    std::vector<Transfer> row;
    append_reductions(costs_, network_, pp, {expert ? 0 : parameters, expert ? parameters : 0},
                      row);
    return seconds_of(row);
  };
  constexpr double kFew = 1e3;
  constexpr double kMany = 100e6;
  const double alpha_s = seconds(kFew);
  return {alpha_s, (seconds(kMany) - alpha_s) / (kMany - kFew)};
}

}  // namespace windtunnel
