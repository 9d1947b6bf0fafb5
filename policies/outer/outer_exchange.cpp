#include "policies/outer/outer_exchange.hpp"

#include <algorithm>
#include <iterator>

#include "models/base/error.hpp"
#include "models/compression/compressors.hpp"
#include "models/compression/recipe.hpp"
#include "models/cost/memory/memory.hpp"
#include "models/cost/op/op_cost.hpp"
#include "models/plan/job_collective.hpp"

namespace windtunnel {
namespace {

constexpr double kFp32Bytes = 4;
constexpr ReducingGroup kPair{.ranks = 2, .nodes = 2};

// Returns the number of blocks of layers with distinct modules.
int blocks_of(const Layout& layout) {
  return layout.path_modules.empty() ? 1 : static_cast<int>(layout.path_modules.size());
}

// Returns the block of a tensor. The embedding and a tower belong to the first block, the loss head
// to the last.
int block_of(const Job& job, const StageTensor& tensor, int stage) {
  const int blocks = blocks_of(job.layout);
  const bool end = tensor.layer < 0 || tensor.layer >= job.model.all_layers();
  if (end) return stage == 0 ? 0 : blocks - 1;
  return tensor.layer * blocks / job.model.all_layers();
}

ReplicaAxis axis_of_block(const Layout& layout, int level, int block) {
  if (layout.path_modules.empty()) return sync_axis(level);
  return block == 0 ? ReplicaAxis::path_near : ReplicaAxis::path_far;
}

}  // namespace

ReplicaAxis sync_axis(int level) {
  CHECK(level == 0 || level == 1, "level {} of synchronisation", level);
  return level == 0 ? ReplicaAxis::island_peers : ReplicaAxis::region_peers;
}

// The part of a fragment that one rank exchanges: dense parameters or experts of one block of
// layers.
struct OuterExchange::Part {
  std::vector<TensorShape> shapes;
  double elements = 0;
  ReplicaAxis axis = ReplicaAxis::island_peers;  // axis of the groups that exchange this part
  int copies = 1;  // ranks of the island that divide the same parameters
  ReplicaAxis copies_axis = ReplicaAxis::dense_across;
};

OuterExchange::OuterExchange(const Job& job, const Schedule& schedule,
                             const std::vector<ChunkCost>& chunks, const ReplicaNetwork& network)
    : job_(job), network_(network) {
  const std::vector<int> layers = layers_per_stage(job.model, job.layout);
  for (const std::vector<int>& stages : held_stages(schedule)) {
    std::vector<std::vector<StageTensor>>& held = tensors_.emplace_back(blocks_of(job.layout));
    for (const int stage : stages) {
      int first = 0;
      for (int before = 0; before < stage; ++before) first += layers[before];
      for (const StageTensor& tensor :
           stage_tensors(job, stage, first, layers[stage], chunks[stage])) {
        held[block_of(job, tensor, stage)].push_back(tensor);
      }
    }
  }
}

std::vector<OuterExchange::Part> OuterExchange::parts(int level, int pp) const {
  std::vector<Part> parts;
  const SyncLevel& of_level = job_.sync[level];
  if (of_level.pattern == SyncPattern::none) return parts;
  for (int block = 0; block < std::ssize(tensors_[pp]); ++block) {
    for (const bool expert : {false, true}) {
      if (expert && of_level.parameters == SyncParameters::dense) continue;
      Part part;
      part.axis = axis_of_block(job_.layout, level, block);
      part.copies_axis = expert ? ReplicaAxis::expert_across : ReplicaAxis::dense_across;
      const ReplicaAxis shard = expert ? ReplicaAxis::expert_shard : ReplicaAxis::dense_shard;
      part.copies = network_.groups(part.copies_axis).count;
      const double members =
          double(part.copies) * network_.groups(shard).count * of_level.fragments;
      for (const StageTensor& tensor : tensors_[pp][block]) {
        if (tensor.expert != expert) continue;
        part.shapes.push_back(tensor.shape);
        part.shapes.back().count *= 1 + of_level.optimizer_states;
      }
      part.shapes = divided(std::move(part.shapes), members,
                            compressor_kind(of_level.compressor).whole_tensors);
      for (const TensorShape& shape : part.shapes) part.elements += shape.elements();
      if (part.elements > 0) parts.push_back(std::move(part));
    }
  }
  return parts;
}

Transfer OuterExchange::collective(int pp, ReplicaAxis axis, CollectiveKind kind, double bytes,
                                   CollectiveAlgorithm algorithm) const {
  const GroupShape& shape = network_.shape(pp, axis);
  const double seconds = collective_cost(job_, Category::dp, kind, shape, bytes, algorithm).seconds;
  return {.axis = axis, .kind = kind, .bytes = bytes, .seconds = seconds, .algorithm = algorithm};
}

// Sends to the neighbours in a graph; each message goes to a single partner. In a ring neighbours
// are served one after the other. In an exponential graph they are those of recursive doubling. A
// random graph is drawn anew every time, so that all islands receive equally much on average.
std::vector<Transfer> OuterExchange::gossip(const Part& part, int level, int pp,
                                            double message_bytes) const {
  const SyncLevel& of_level = job_.sync[level];
  const int islands = network_.groups(part.axis).count;
  const int peers = gossip_peers(of_level, islands);
  const int degree = graph_degree(of_level.graph, islands);
  const double sent = message_bytes * peers / degree;  // bytes to each neighbour, on average
  switch (of_level.graph) {
    case SyncGraph::ring:
      return std::vector(degree, collective(pp, part.axis, CollectiveKind::send_recv, sent));
    case SyncGraph::exponential:
      return {collective(pp, part.axis, CollectiveKind::all_reduce, sent,
                         CollectiveAlgorithm::recursive_doubling)};
    case SyncGraph::random:
      return {collective(pp, part.axis, CollectiveKind::all_to_all, sent * islands,
                         CollectiveAlgorithm::pairwise)};
  }
  return {};
}

void OuterExchange::append(const Part& part, int level, int pp, std::vector<Transfer>& row) const {
  const SyncLevel& of_level = job_.sync[level];
  const auto kernels = [&](const std::vector<Op>& ops) {
    std::vector<CostPart> costs = kernel_costs(job_, ops, Category::sync);
    if (!costs.empty()) row.push_back({.axis = part.axis, .kernels = std::move(costs)});
  };
  const double sent = of_level.element_bytes;
  if (of_level.pattern == SyncPattern::leader) {
    row.push_back(collective(pp, part.axis, CollectiveKind::broadcast, part.elements * sent));
  } else {
    // Subtracts the weights at the last exchange.
    kernels({{.name = "delta", .bytes = part.elements * (2 * kFp32Bytes + sent)}});
    const bool gossips = of_level.pattern == SyncPattern::gossip;
    const Recipe recipe = recipe_of(part, level);
    for (const RecipeStep& step : recipe.steps) {
      kernels(step.kernels);
      // All members are equal here, so methods that distinguish nodes have no hops inside them.
      if (gossips || step.bytes <= 0 || step.hop == ReduceHop::node) continue;
      row.push_back(collective(pp, part.axis, step.kind, step.bytes));
    }
    if (gossips) {
      std::ranges::move(gossip(part, level, pp, wire_bytes(recipe, kPair)),
                        std::back_inserter(row));
    }
    kernels({{.name = "outer optimizer",
              .bytes = part.elements *
                       (sent + kFp32Bytes + 2 * outer_state_bytes_per_parameter(of_level))}});
  }
  if (part.copies > 1) {
    row.push_back(collective(pp, part.copies_axis, CollectiveKind::all_gather,
                             part.elements * part.copies * kFp32Bytes));
  }
}

// Returns the group in which the data is reduced; with gossip, each pair of neighbours.
ReducingGroup OuterExchange::group_of(const Part& part, int level) const {
  if (job_.sync[level].pattern == SyncPattern::gossip) return kPair;
  const int groups = network_.groups(part.axis).count;
  return {.ranks = groups, .nodes = groups};
}

Recipe OuterExchange::recipe_of(const Part& part, int level) const {
  const SyncLevel& of_level = job_.sync[level];
  return make_recipe(of_level.compressor, part.shapes, group_of(part, level),
                     of_level.element_bytes);
}

double OuterExchange::state_bytes(int level, int pp) const {
  if (job_.sync[level].pattern == SyncPattern::leader) return 0;
  double bytes = 0;
  for (const Part& part : parts(level, pp)) bytes += recipe_of(part, level).state_bytes;
  return bytes * job_.sync[level].fragments;
}

std::vector<Transfer> OuterExchange::row(int level, int pp) const {
  std::vector<Transfer> row;
  for (const Part& part : parts(level, pp)) append(part, level, pp, row);
  return row;
}

Origin OuterExchange::origin(int level, int pp) const {
  const ReplicaAxis axis = axis_of_block(job_.layout, level, 0);
  return collective_cost(job_, Category::dp, CollectiveKind::all_reduce, network_.shape(pp, axis),
                         1e6)
      .origin;
}

double OuterExchange::sent_bytes(int level, int pp) const {
  const SyncLevel& of_level = job_.sync[level];
  double bytes = 0;
  for (const Part& part : parts(level, pp)) {
    if (of_level.pattern == SyncPattern::leader) {
      bytes += part.elements * of_level.element_bytes;
      continue;
    }
    const double of_part = wire_bytes(recipe_of(part, level), group_of(part, level));
    const bool gossips = of_level.pattern == SyncPattern::gossip;
    bytes += of_part * (gossips ? gossip_peers(of_level, network_.groups(part.axis).count) : 1);
  }
  return bytes * of_level.fragments;
}

}  // namespace windtunnel
