#include "policies/outer/outer_exchange.hpp"

#include "models/base/error.hpp"
#include "models/compression/recipe.hpp"
#include "models/cost/memory/memory.hpp"
#include "models/cost/op/op_cost.hpp"
#include "models/plan/job_collective.hpp"

namespace windtunnel {
namespace {

constexpr double kFp32Bytes = 4;

}  // namespace

ReplicaAxis sync_axis(int level) {
  CHECK(level == 0 || level == 1, "level {} of synchronisation", level);
  return level == 0 ? ReplicaAxis::island_peers : ReplicaAxis::region_peers;
}

// What of a fragment one rank exchanges of dense parameters or of experts.
struct OuterExchange::Part {
  std::vector<TensorShape> shapes;
  double elements = 0;
  int copies = 1;  // ranks of the island that divide the same parameters
  ReplicaAxis copies_axis = ReplicaAxis::dense_across;
};

OuterExchange::OuterExchange(const Job& job, const Schedule& schedule,
                             const std::vector<ChunkCost>& chunks, const ReplicaNetwork& network)
    : job_(job), network_(network) {
  const std::vector<int> layers = layers_per_stage(job.model, job.layout);
  for (const std::vector<int>& stages : held_stages(schedule)) {
    std::vector<StageTensor>& held = tensors_.emplace_back();
    for (const int stage : stages) {
      int first = 0;
      for (int before = 0; before < stage; ++before) first += layers[before];
      const std::vector<StageTensor> own =
          stage_tensors(job, stage, first, layers[stage], chunks[stage]);
      held.insert(held.end(), own.begin(), own.end());
    }
  }
}

std::vector<OuterExchange::Part> OuterExchange::parts(int level, int pp) const {
  std::vector<Part> parts;
  for (const bool expert : {false, true}) {
    Part part;
    part.copies_axis = expert ? ReplicaAxis::expert_across : ReplicaAxis::dense_across;
    const ReplicaAxis shard = expert ? ReplicaAxis::expert_shard : ReplicaAxis::dense_shard;
    part.copies = network_.groups(part.copies_axis).count;
    const double share =
        1.0 / (double(part.copies) * network_.groups(shard).count * job_.sync[level].fragments);
    for (const StageTensor& tensor : tensors_[pp]) {
      if (tensor.expert != expert) continue;
      part.shapes.push_back(tensor.shape);
      part.shapes.back().count *= share;
      part.elements += part.shapes.back().elements();
    }
    if (part.elements > 0) parts.push_back(std::move(part));
  }
  return parts;
}

std::vector<CostPart> OuterExchange::kernels(const char* name, double bytes) const {
  const OpCost cost = op_cost({.name = name, .bytes = bytes}, job_.cluster.node.gpu, job_.precision,
                              job_.calibration);
  return {{Category::sync, cost.origin, cost.seconds}};
}

void OuterExchange::append(const Part& part, int level, int pp, std::vector<Transfer>& row) const {
  const SyncLevel& of_level = job_.sync[level];
  const ReplicaAxis axis = sync_axis(level);
  const auto transfer = [&](ReplicaAxis along, CollectiveKind kind, double bytes) {
    const double seconds =
        collective_cost(job_, Category::dp, kind, network_.shape(pp, along), bytes).seconds;
    row.push_back(Transfer{.axis = along, .kind = kind, .bytes = bytes, .seconds = seconds});
  };
  const auto only_kernels = [&](std::vector<CostPart> kernels) {
    row.push_back({.axis = axis, .kernels = std::move(kernels)});
  };
  const double sent = of_level.element_bytes;
  if (of_level.pattern == SyncPattern::leader) {
    transfer(axis, CollectiveKind::broadcast, part.elements * sent);
  } else {
    // Weights less those of the last exchange.
    only_kernels(kernels("delta", part.elements * (2 * kFp32Bytes + sent)));
    const int groups = network_.groups(axis).count;
    const Recipe recipe =
        make_recipe(of_level.compressor, part.shapes, {.ranks = groups, .nodes = groups}, sent);
    for (const RecipeStep& step : recipe.steps) {
      double kernels_s = 0;
      auto origin = Origin::measured;
      for (const Op& op : step.kernels) {
        const OpCost cost = op_cost(op, job_.cluster.node.gpu, job_.precision, job_.calibration);
        kernels_s += cost.seconds;
        origin = weakest(origin, cost.origin);
      }
      if (kernels_s > 0) only_kernels({{Category::sync, origin, kernels_s}});
      // Hops inside a node are of methods that know one; here all members are alike.
      if (step.bytes > 0 && step.hop != ReduceHop::node) transfer(axis, step.kind, step.bytes);
    }
    only_kernels(kernels(
        "outer optimizer",
        part.elements * (sent + kFp32Bytes + 2 * outer_state_bytes_per_parameter(of_level))));
  }
  if (part.copies > 1) {
    transfer(part.copies_axis, CollectiveKind::all_gather,
             part.elements * part.copies * kFp32Bytes);
  }
}

std::vector<Transfer> OuterExchange::row(int level, int pp) const {
  std::vector<Transfer> row;
  for (const Part& part : parts(level, pp)) append(part, level, pp, row);
  return row;
}

Origin OuterExchange::origin(int level, int pp) const {
  return collective_cost(job_, Category::dp, CollectiveKind::all_reduce,
                         network_.shape(pp, sync_axis(level)), 1e6)
      .origin;
}

double OuterExchange::sent_bytes(int level, int pp) const {
  const int groups = network_.groups(sync_axis(level)).count;
  const SyncLevel& of_level = job_.sync[level];
  double bytes = 0;
  for (const Part& part : parts(level, pp)) {
    if (of_level.pattern == SyncPattern::leader) {
      bytes += part.elements * of_level.element_bytes;
      continue;
    }
    const ReducingGroup group{.ranks = groups, .nodes = groups};
    bytes += wire_bytes(
        make_recipe(of_level.compressor, part.shapes, group, of_level.element_bytes), group);
  }
  return bytes * of_level.fragments;
}

}  // namespace windtunnel
