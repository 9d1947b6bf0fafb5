#include "policies/conflicts/exchange_conflicts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <string_view>

#include "models/base/error.hpp"
#include "models/base/units.hpp"
#include "models/compression/compressors.hpp"
#include "models/compression/recipe.hpp"
#include "models/cost/memory/memory.hpp"
#include "policies/exchange/replica_groups.hpp"

namespace windtunnel {
namespace {

bool has_hops(const CompressorChoice& choice) {
  const TensorShape matrix{.rows = 4096, .columns = 4096};
  const Recipe recipe = make_recipe(choice, {&matrix, 1}, {.ranks = 4, .nodes = 2}, 4);
  return std::ranges::any_of(recipe.steps,
                             [](const RecipeStep& step) { return step.hop != ReduceHop::all; });
}

constexpr std::string_view kCompressor = "communication.compressor";

// What the rules below ask of a job.
struct Exchange {
  const Job& job;
  const CompressorKind& kind;
  GradientOverlap overlap;
  bool sharded;
  bool served;

  explicit Exchange(const Job& the_job)
      : job(the_job),
        kind(compressor_kind(the_job.communication.compressors.dp)),
        overlap(the_job.communication.overlap),
        sharded(the_job.layout.sharding != Sharding::none),
        served(the_job.communication.aggregation == Aggregation::parameter_server) {}

  bool dear() const { return overlap == GradientOverlap::dear; }
  bool priority() const { return overlap == GradientOverlap::priority; }
  bool rows() const { return job.communication.embeddings != EmbeddingExchange::dense; }
  bool experts() const { return job.model.moe_layers() > 0; }
  // Shards have copies, between which alone gradients are compressed.
  bool copies() const {
    return compresses_across(job) &&
           replica_groups(job.layout, ReplicaAxis::dense_across).count > 1;
  }
  int expert_copies() const { return replica_groups(job.layout, ReplicaAxis::expert_shard).count; }
};

// What does not go together, and what is said of it; the first that holds is told.
struct Conflict {
  std::string_view key;  // the one at fault; the text is what is said of it
  bool (*holds)(const Exchange& of);
  std::string_view text;
};

constexpr std::array kConflicts{
    Conflict{"communication.overlap",
             [](const Exchange& of) { return (of.dear() || of.priority()) && of.sharded; },
             ": {overlap} does not go with layout.sharding: {sharding}: it "
             "reduces whole gradients; bucketed scatters them under the backward pass and gathers "
             "weights under the next forward pass"},
    Conflict{"communication.aggregation",
             [](const Exchange& of) { return of.served && of.sharded; },
             ": parameter-server does not go with layout.sharding: "
             "{sharding}: servers return whole sums"},
    Conflict{"communication.overlap", [](const Exchange& of) { return of.served && of.dear(); },
             ": dear splits an all-reduce into its halves, and "
             "communication.aggregation: parameter-server has none; take "
             "communication.aggregation: all-reduce"},
    Conflict{"communication.overlap",
             [](const Exchange& of) {
               return of.job.layout.sharding == Sharding::zero3 &&
                      of.overlap != GradientOverlap::none &&
                      of.overlap != GradientOverlap::bucketed;
             },
             "does not go with layout.sharding: {sharding}: FSDP's units are "
             "the layers; take none or bucketed"},
    Conflict{"communication.embeddings", [](const Exchange& of) { return of.rows() && of.sharded; },
             "does not go with layout.sharding: {sharding}: rows of "
             "embeddings are no sum that can be cut in parts"},
    Conflict{"communication.embeddings", [](const Exchange& of) { return of.rows() && of.served; },
             "does not go with communication.aggregation: "
             "parameter-server: rows of embeddings are no sum that can be cut in parts"},
    Conflict{"communication.embeddings", [](const Exchange& of) { return of.rows() && of.dear(); },
             "does not go with communication.overlap: dear: rows of "
             "embeddings are no sum that can be cut in parts"},
    Conflict{"communication.embeddings",
             [](const Exchange& of) {
               return of.rows() && !of.job.network && of.job.model.tied_embeddings;
             },
             ": with model.tied_embeddings the loss head fills all rows of "
             "the gradient; leave it at dense"},
};

// Likewise, of a compressor.
constexpr std::array kCompressorConflicts{
    Conflict{kCompressor,
             [](const Exchange& of) {
               return of.kind.of_moments && of.job.software.optimizer != Optimizer::adam;
             },
             "compresses Adam's moments, which software.optimizer has not; set software.optimizer: "
             "adam, or take onebit-sgd"},
    Conflict{kCompressor, [](const Exchange& of) { return of.served; },
             "needs communication.aggregation: all-reduce, because servers sum dense gradients"},
    Conflict{kCompressor,
             [](const Exchange& of) { return of.sharded && !of.kind.summable && !of.copies(); },
             "cannot be reduce-scattered, because what it sends is no sum, and layout.sharding: "
             "{sharding} scatters gradients; take layout.sharding: none{room}, or "
             "layout.shard_ranks with communication.compressor.hop: across, which compresses "
             "between the copies of shards"},
    Conflict{kCompressor, [](const Exchange& of) { return of.sharded && of.kind.whole_tensors; },
             "needs whole matrices on every rank, and layout.sharding: {sharding} leaves each a "
             "part of them; take layout.sharding: none{room}"},
    Conflict{kCompressor, [](const Exchange& of) { return of.job.layout.gradient_bits > 0; },
             "is one way of exchanging gradients and layout.gradient_bits another; leave one of "
             "them out"},
    Conflict{kCompressor, [](const Exchange& of) { return of.job.layout.gradient_ranks > 0; },
             "is one way of exchanging gradients and layout.gradient_ranks another; leave one of "
             "them out"},
    Conflict{kCompressor,
             [](const Exchange& of) {
               return of.experts() && of.expert_copies() > 1 &&
                      (!of.kind.summable || of.kind.whole_tensors);
             },
             "cannot be reduce-scattered, and layout.ep: {ep} leaves {copies} copies of an expert "
             "among the ranks that hold one copy of the other weights"},
    Conflict{kCompressor,
             [](const Exchange& of) {
               return of.experts() && !of.sharded &&
                      (has_hops(of.job.communication.compressors.dp) || compresses_across(of.job));
             },
             "reduces inside the nodes first, and replicas of experts have no groups for that"},
    Conflict{kCompressor,
             [](const Exchange& of) {
               return (of.dear() || of.priority()) && compresses_across(of.job);
             },
             "with hop: across is a reduce-scatter, an exchange and a gather, and "
             "communication.overlap: {overlap} takes one all-reduce; take communication.overlap: "
             "bucketed"},
    Conflict{kCompressor, [](const Exchange& of) { return of.dear() && !of.kind.fusible; },
             "is more than one all-reduce, and communication.overlap: dear splits one all-reduce "
             "into its halves; take communication.overlap: bucketed"},
    Conflict{kCompressor, [](const Exchange& of) { return of.priority() && of.kind.whole_tensors; },
             "needs whole matrices, and communication.overlap: priority cuts tensors into "
             "partitions that are reduced one by one; take communication.overlap: bucketed"},
    Conflict{kCompressor, [](const Exchange& of) { return of.priority() && !of.kind.fusible; },
             "is more than one all-reduce, and communication.overlap: priority cuts tensors into "
             "partitions that are reduced one by one; take communication.overlap: bucketed"},
};

constexpr std::string_view kRobust = "communication.robust";

// Likewise, of a robust rule, which is no sum.
constexpr std::array kRobustConflicts{
    Conflict{kRobust,
             [](const Exchange& of) { return compresses(of.job.communication.compressors.dp); },
             "takes gradients as they are; leave out communication.compressor and compress with "
             "axis: dp"},
    Conflict{kRobust, [](const Exchange& of) { return of.served; },
             "needs communication.aggregation: all-reduce, because servers sum gradients"},
    Conflict{kRobust, [](const Exchange& of) { return of.sharded; },
             "is no sum that can be reduce-scattered, and layout.sharding: {sharding} scatters "
             "gradients; take layout.sharding: none"},
    Conflict{kRobust, [](const Exchange& of) { return of.rows(); },
             "takes dense gradients; leave out communication.embeddings"},
    Conflict{kRobust, [](const Exchange& of) { return of.dear() || of.priority(); },
             "is more than one all-reduce, which communication.overlap: {overlap} takes; take "
             "communication.overlap: none or bucketed"},
    Conflict{kRobust, [](const Exchange& of) { return of.experts(); },
             "of experts is not modelled, whose copies are fewer than the replicas"},
    Conflict{kRobust, [](const Exchange& of) { return of.job.layout.cp > 1; },
             "is of replicas, and layout.cp leaves each rank a part of one's gradient; take "
             "layout.cp: 1"},
};

// What a GPU would have to hold without sharding, where that is more than it has; else nothing.
// Experts are divided otherwise, and tables of layers have parameters of their own.
std::string room_without_sharding(const Job& job) {
  if (job.network || job.model.moe_layers() > 0) return "";
  Job whole = job;
  whole.layout.sharding = Sharding::none;
  const double parameters = job.model.parameters() / job.layout.tp / job.layout.pp;
  const double bytes = parameters * state_share_on_gpu(whole) *
                       (weight_bytes_per_parameter(whole) + gradient_bytes_per_parameter(whole) +
                        optimizer_bytes_per_parameter(whole));
  const double usable = usable_bytes(job.cluster.node.gpu);
  if (bytes <= usable) return "";
  const double divided = std::ceil(bytes / usable * job.layout.tp * job.layout.pp);
  return fmt::format(
      " (for which there is no room: weights, gradients and optimizer state alone are {} of a "
      "GPU's {} then, and less than that where tp x pp is {:.0f} or more)",
      format_memory(bytes), format_memory(usable), divided);
}

// Throws the first that holds. `subject`: what stands between the key and the text.
void refuse_conflicts(std::span<const Conflict> conflicts, const Exchange& of,
                      std::string_view subject) {
  for (const Conflict& conflict : conflicts) {
    if (!conflict.holds(of)) continue;
    const bool counted = conflict.text.find("{copies}") != std::string_view::npos;
    const std::string text = fmt::format(
        fmt::runtime(conflict.text), fmt::arg("sharding", name_of(of.job.layout.sharding)),
        fmt::arg("overlap", name_of(of.overlap)), fmt::arg("ep", of.job.layout.ep),
        fmt::arg("copies", counted ? of.expert_copies() : 0),
        fmt::arg("room", room_without_sharding(of.job)));
    if (conflict.key == kCompressor) {
      throw Error::about({kCompressor, "compress"}, "{}{}{}", kCompressor, subject, text);
    }
    throw Error::of_key(conflict.key, "{}{}", subject, text);
  }
}

}  // namespace

void check_gradient_exchange(const Job& job) {
  const Exchange of(job);
  refuse_conflicts(kConflicts, of, "");
  if (job.communication.robust) refuse_conflicts(kRobustConflicts, of, "");
  if (compresses(job.communication.compressors.dp)) {
    refuse_conflicts(kCompressorConflicts, of, fmt::format(": {} ", of.kind.name));
  }
}

}  // namespace windtunnel
