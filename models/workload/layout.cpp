#include "models/workload/layout.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <initializer_list>
#include <numeric>
#include <string_view>
#include <utility>

#include "models/base/error.hpp"
#include "models/workload/axes.hpp"
#include "models/workload/transformer.hpp"

namespace windtunnel {
namespace {

void check_positive(std::string_view key, int value) {
  if (value < 1) throw Error::of_key(key, "is {}; it must be at least 1", value);
}

// Throws unless the divisor divides the value of each key. `divisor_text`: the divisor's name in
// messages, if its key alone is not clear.
void check_divides(std::initializer_list<std::string_view> keys, int divisor, const char* what,
                   int value, std::string_view divisor_text = "") {
  if (value % divisor == 0) return;
  throw Error::about(keys, "{} {} does not divide {} {}",
                     divisor_text.empty() ? *keys.begin() : divisor_text, divisor, what, value);
}

std::vector<int> listed_layers(const TransformerSpec& model, const Layout& layout) {
  const std::vector<int>& list = layout.stage_layers;
  if (static_cast<int>(list.size()) != layout.stages()) {
    throw Error::about({"layout.stages", "layout.pp", "layout.vpp"},
                       "layout.stages lists {} stages, but pp {} x vpp {} makes {}", list.size(),
                       layout.pp, layout.vpp, layout.stages());
  }
  const int sum = std::accumulate(list.begin(), list.end(), 0);
  if (sum != model.layers) {
    throw Error::of_key("layout.stages", "lists {} layers in all, but model '{}' has {}", sum,
                        model.name, model.layers);
  }
  return list;
}

void check_heads(const TransformerSpec& model, const Layout& layout) {
  check_positive("model.heads", model.heads);
  check_positive("model.kv_heads", model.kv_heads);
  if (model.head_width == 0)
    check_divides({"model.heads", "model.hidden"}, model.heads, "hidden", model.hidden, "heads");
  check_divides({"model.kv_heads", "model.heads"}, model.kv_heads, "heads", model.heads,
                "kv_heads");
  if (layout.mesh_side() > 1) return;
  if (model.layers_with(has_attention) > 0) {
    check_divides({"layout.tp", "model.heads"}, layout.tp, "heads", model.heads);
    check_divides({"layout.tp", "model.kv_heads"}, layout.tp, "kv_heads", model.kv_heads);
  }
}

// Optimus cuts every tensor along two dimensions: activations by sequences and width.
void check_mesh(const TransformerSpec& model, const Layout& layout, const Batch& batch) {
  const int q = layout.mesh_side();
  if (q % layout.mesh_block != 0) {
    throw Error::of_key("layout.mesh_block",
                        "{} does not divide the side of the mesh, which is {} (with layout.tp_form "
                        "2d the square root of layout.tp, otherwise 1)",
                        layout.mesh_block, q);
  }
  if (layout.tensor == TensorForm::one_d || layout.tp == 1) return;
  if (q * q != layout.tp) {
    throw Error::of_key("layout.tp",
                        "{} is not a square; with layout.tp_form 2d take {} or {}, or tp_form 1d",
                        layout.tp, q * q, (q + 1) * (q + 1));
  }
  if (layout.sequence_parallel) {
    throw Error::of_key(
        "layout.sequence_parallel",
        ": with layout.tp_form 2d every activation is already divided; set it to false");
  }
  if (batch.micro % q != 0) {
    throw Error::about({"batch.micro", "layout.tp", "layout.tp_form"},
                       "batch.micro {} is not a multiple of the {} rows of the mesh "
                       "(layout.tp_form 2d, layout.tp {})",
                       batch.micro, q, layout.tp);
  }
  for (const auto& [what, size] :
       {std::pair{"heads", model.heads}, std::pair{"kv_heads", model.kv_heads},
        std::pair{"hidden", model.hidden}, std::pair{"ffn_hidden", model.ffn_hidden}}) {
    check_divides({"layout.tp_form", "layout.tp", fmt::format("model.{}", what)}, q, what, size,
                  "layout.tp_form 2d: the mesh's side");
  }
}

void check_signatures(const TransformerSpec& model, const Layout& layout) {
  const ProductSignatures& of = layout.signatures;
  if (of == ProductSignatures{}) return;
  if (layout.tensor == TensorForm::two_d) {
    throw Error::about({"layout.signatures", "layout.tp_form"},
                       "layout.signatures: with layout.tp_form 2d every matrix is divided into "
                       "blocks; take tp_form 1d");
  }
  if (of.qkv != ProductSignatures{}.qkv && model.latent.kv_rank > 0) {
    throw Error::of_key(
        "layout.signatures.qkv",
        ": the products after the latents of model '{}' are split by heads; take S(1)", model.name);
  }
  if (of.embedding == MatrixSplit::columns && model.tied_embeddings) {
    throw Error::of_key("layout.signatures.embedding",
                        ": the loss head of model '{}' shares the embedding table, which it reads "
                        "in parts of the vocabulary; take S(0), or model.tied_embeddings: false",
                        model.name);
  }
}

void check_ulysses(const Layout& layout) {
  if (layout.context != ContextForm::usp) {
    if (layout.ulysses == 0) return;
    throw Error::of_key("layout.ulysses",
                        "is {} but layout.context is {}; only usp joins Ulysses with a ring",
                        layout.ulysses, name_of(layout.context));
  }
  if (layout.ulysses < 1) {
    throw Error::of_key("layout.context",
                        "is usp without layout.ulysses; state there how many of the cp ranks "
                        "divide the heads, best the ranks of a node");
  }
  check_divides({"layout.ulysses", "layout.cp"}, layout.ulysses, "layout.cp", layout.cp);
}

// Checks a model with frames: what its layers attend to, and which dimension cp divides.
void check_frames(const TransformerSpec& model, const Layout& layout, const Batch& batch) {
  if (model.frames == 0) {
    if (layout.context != ContextForm::dsp) return;
    throw Error::of_key("layout.context",
                        "dsp switches between two dimensions of a sequence, but model '{}' has "
                        "one; set model.frames, or take ulysses or ring",
                        model.name);
  }
  check_divides({"model.frames", "batch.sequence"}, model.frames, "batch.sequence", batch.sequence);
  if (model.layers % 2 != 0) {
    throw Error::of_key("model.frames",
                        ": layers attend within frames and across frames in turn, so the number of "
                        "layers must be even, not {}",
                        model.layers);
  }
  const bool whole = layout.context == ContextForm::dsp;
  const int divided = whole ? layout.cp : layout.ring_ranks();
  const std::string_view form = name_of(layout.context);
  for (const auto& [what, length] :
       {std::pair{"frames", model.frames},
        std::pair{"places of a frame", batch.sequence / model.frames}}) {
    if (length % divided == 0) continue;
    throw Error::of_key("layout.context",
                        "{}: its {} ranks do not divide the {} {} (model.frames {})", form, divided,
                        length, what, model.frames);
  }
}

// Checks that the form of context parallelism suits the attention kernel, and that ranks can divide
// it.
void check_context(const TransformerSpec& model, const Layout& layout, const Batch& batch) {
  check_ulysses(layout);
  if (layout.cp == 1) return;
  const int ulysses = layout.ulysses_ranks();
  if (ulysses > 1) {
    const bool mesh = layout.mesh_side() > 1;
    const int ways = mesh ? layout.mesh_side() : layout.tp;
    check_divides({"layout.context", "layout.tp", "layout.cp", "model.heads"}, ways * ulysses,
                  "heads", model.heads,
                  mesh ? "layout.context: the mesh's side x Ulysses ranks ="
                       : "layout.context: tp x Ulysses ranks =");
    const int key_heads = (model.latent.kv_rank > 0 ? model.heads : model.kv_heads) / ways;
    if (mesh && key_heads % ulysses != 0) {
      throw Error::about(
          {"layout.context", "layout.tp_form"},
          "layout.context {}: with layout.tp_form 2d a row of the mesh has {} key heads, which {} "
          "Ulysses ranks cannot divide; copies of key heads are modelled with tp_form 1d only",
          name_of(layout.context), key_heads, ulysses);
    }
    if (key_heads % ulysses != 0 && ulysses % key_heads != 0) {
      throw Error::of_key("layout.context",
                          "{}: the {} key heads of a rank can be neither divided nor copied evenly "
                          "among {} Ulysses ranks",
                          name_of(layout.context), key_heads, ulysses);
    }
  }
  // Under a causal mask each rank of a ring gets an early and a late piece, so that all have equal
  // work.
  const bool balanced =
      layout.ring_ranks() > 1 && layout.context != ContextForm::lasp && model.masked();
  if (balanced) {
    check_divides({"layout.cp", "batch.sequence"}, 2 * layout.cp, "batch.sequence", batch.sequence,
                  "2 x layout.cp =");
  } else {
    check_divides({"layout.cp", "batch.sequence"}, layout.cp, "batch.sequence", batch.sequence);
  }
}

// Checks what divides experts and MLPs. Experts are whole on a rank, so tp divides only other MLPs.
void check_experts(const TransformerSpec& model, const Layout& layout) {
  if (model.layers_with(has_mlp) > 0 && layout.mesh_side() == 1) {
    check_divides({"layout.tp", "model.ffn_hidden"}, layout.tp, "ffn_hidden", model.ffn_hidden);
  }
  if (model.moe_layers() > 0) {
    check_divides({"layout.tp", "model.moe.shared_ffn"}, layout.tp, "moe.shared_ffn",
                  model.moe.shared_ffn);
  }
  if (layout.ep == 1) return;
  if (model.moe_layers() == 0) {
    throw Error::of_key("layout.ep", "is {} but model '{}' has no experts", layout.ep, model.name);
  }
  check_divides({"layout.ep", "layout.tp", "layout.cp", "layout.dp"}, layout.ep,
                layout.islands() > 1 ? "tp x cp x dp of an island =" : "tp x cp x dp =",
                layout.tp * layout.island_replicas());
  check_divides({"layout.ep", "model.moe.experts"}, layout.ep, "moe.experts", model.moe.experts);
  // Without sequence parallelism all ranks of a tp group hold the same tokens, so each would send
  // all of them.
  const bool gathered = layout.ep_tokens == ExpertTokens::gathered;
  const bool divided = gathered || layout.ep_tokens == ExpertTokens::divided;
  if (gathered) {
    check_divides({"layout.ep", "layout.dp", "layout.ep_tokens"}, layout.ep,
                  layout.islands() > 1 ? "replicas of an island =" : "dp =", layout.island_dp());
  }
  if (!divided && layout.sequence_parallel) {
    throw Error::of_key("layout.ep_tokens",
                        ": with layout.sequence_parallel each tensor-parallel rank has its own "
                        "tokens; leave it at divided, or gathered");
  }
  if (layout.tp > 1 && divided && !layout.sequence_parallel) {
    throw Error::about(
        {"layout.ep", "layout.tp", "layout.sequence_parallel"},
        "layout.ep {} with layout.tp {} needs sequence parallelism, as in Megatron-LM; set "
        "layout.sequence_parallel: true",
        layout.ep, layout.tp);
  }
}

// `master`: weights are gathered from the fp32 copy, unless something reduces their bits first.
void check_bits(const char* key, int bits, bool master) {
  if (bits == 4 || bits == 6 || bits == 8 || bits == 16 || (master && bits == 32)) return;
  throw Error::of_key(key, "is {}; an element can be sent with 4, 6, 8{}", bits,
                      master ? ", 16 or 32 bits" : " or 16 bits");
}

// Keys that only ZeRO-3 has.
struct ShardKey {
  const char* name;
  int Layout::*value;
  bool bits;
};
constexpr std::array<ShardKey, 5> kShardKeys = {
    {{"layout.weight_ranks", &Layout::weight_ranks, false},
     {"layout.gradient_ranks", &Layout::gradient_ranks, false},
     {"layout.secondary_ranks", &Layout::secondary_ranks, false},
     {"layout.weight_bits", &Layout::weight_bits, true},
     {"layout.gradient_bits", &Layout::gradient_bits, true}}};

void check_shards(const Layout& layout, int gpus_per_node) {
  const int shard = shard_ranks(layout).optimizer;
  for (const ShardKey& key : kShardKeys) {
    const int value = layout.*key.value;
    if (value == 0) continue;
    if (layout.sharding != Sharding::zero3) {
      throw Error::of_key(
          key.name, "is {}, but only layout.sharding: zero3 gathers weights and scatters gradients",
          value);
    }
    if (key.bits) {
      check_bits(key.name, value, key.value == &Layout::weight_bits);
    } else {
      check_positive(key.name, value);
      check_divides({key.name, "layout.shard_ranks", "layout.dp", "layout.cp"}, value,
                    "the ranks that share a copy,", shard);
    }
  }
  const bool copies = layout.weight_ranks > 0 || layout.secondary_ranks > 0;
  if (layout.weight_bits == 32 && copies) {
    throw Error::of_key(
        "layout.weight_bits",
        "is 32, which gathers the fp32 copy that all ranks share, but weight_ranks and "
        "secondary_ranks gather copies in the training precision; leave one of them out");
  }
  if (layout.secondary_ranks == 0) return;
  if (gpus_per_node % (layout.tp * layout.secondary_ranks) != 0) {
    throw Error::of_key("layout.secondary_ranks",
                        "{} x tp {} = {} ranks do not divide the {} GPUs of a node, within which a "
                        "second copy of the weights must be",
                        layout.secondary_ranks, layout.tp, layout.secondary_ranks * layout.tp,
                        gpus_per_node);
  }
  const int weights = shard_ranks(layout).weights;
  if (layout.secondary_ranks >= weights) {
    throw Error::of_key("layout.secondary_ranks",
                        "is {}, but {} ranks share the first copy; the second copy must be shared "
                        "by fewer, within a node",
                        layout.secondary_ranks, weights);
  }
}

void check_sharding(const TransformerSpec& model, const Layout& layout, int gpus_per_node) {
  if (layout.shard_ranks != 0) {
    check_positive("layout.shard_ranks", layout.shard_ranks);
    if (layout.sharding == Sharding::none) {
      throw Error::of_key("layout.shard_ranks", "is {} but layout.sharding is none",
                          layout.shard_ranks);
    }
    check_divides(
        {"layout.shard_ranks", "layout.dp", "layout.cp"}, layout.shard_ranks,
        layout.islands() > 1 ? "dp x cp of an island =" : "dp x cp =", layout.island_replicas());
  }
  if (layout.expert_shard_ranks != 0) {
    check_positive("layout.expert_shard_ranks", layout.expert_shard_ranks);
    if (layout.sharding == Sharding::none) {
      throw Error::of_key("layout.expert_shard_ranks", "is {} but layout.sharding is none",
                          layout.expert_shard_ranks);
    }
    if (model.moe_layers() == 0) {
      throw Error::of_key("layout.expert_shard_ranks", "is {}, but model '{}' has no experts",
                          layout.expert_shard_ranks, model.name);
    }
    check_divides({"layout.expert_shard_ranks", "layout.ep", "layout.tp", "layout.dp", "layout.cp"},
                  layout.expert_shard_ranks, "the ranks with the same experts,",
                  layout.tp * layout.island_replicas() / layout.ep);
  }
  check_shards(layout, gpus_per_node);
}

}  // namespace

ShardRanks shard_ranks(const Layout& layout) {
  ShardRanks shards;
  if (layout.sharding == Sharding::none) return shards;
  shards.optimizer = layout.shard_ranks > 0 ? layout.shard_ranks : layout.island_replicas();
  if (layout.sharding >= Sharding::zero2) shards.gradients = shards.optimizer;
  if (layout.sharding == Sharding::zero3) {
    shards.weights = layout.weight_ranks > 0 ? layout.weight_ranks : shards.optimizer;
    if (layout.gradient_ranks > 0) shards.gradients = layout.gradient_ranks;
  }
  return shards;
}

bool has_shard_keys(const Layout& layout) {
  return std::ranges::any_of(kShardKeys,
                             [&](const ShardKey& key) { return layout.*key.value != 0; });
}

int Layout::islands() const {
  return std::accumulate(sync_groups.begin(), sync_groups.end(), 1, std::multiplies());
}

int Layout::mesh_side() const {
  if (tensor == TensorForm::one_d) return 1;
  return static_cast<int>(std::floor(std::sqrt(tp)));
}

RankCoordinates coordinates_of(const Layout& layout, int rank) {
  CHECK(rank >= 0 && rank < layout.ranks(), "rank {} of {}", rank, layout.ranks());
  RankCoordinates at;
  at.tp = rank % layout.tp;
  rank /= layout.tp;
  at.cp = rank % layout.cp;
  rank /= layout.cp;
  at.dp = rank % layout.dp;
  at.pp = rank / layout.dp;
  return at;
}

int rank_of(const Layout& layout, const RankCoordinates& at) {
  return at.tp + layout.tp * (at.cp + layout.cp * (at.dp + layout.dp * at.pp));
}

int ranks_along(const Layout& layout, RankAxis axis) {
  switch (axis) {
    case RankAxis::tp:
      return layout.tp;
    case RankAxis::cp:
      return layout.cp;
    case RankAxis::dp:
      return layout.dp;
    case RankAxis::pp:
    case RankAxis::pp_pairs:
      return layout.pp;
  }
  return 1;
}

namespace {

int& along(RankCoordinates& at, RankAxis axis) {
  switch (axis) {
    case RankAxis::tp:
      return at.tp;
    case RankAxis::cp:
      return at.cp;
    case RankAxis::dp:
      return at.dp;
    case RankAxis::pp:
    case RankAxis::pp_pairs:
      break;
  }
  return at.pp;
}

}  // namespace

std::vector<RankAxis> all_axes(const Layout& layout) {
  std::vector<RankAxis> order = layout.order;
  const bool pairs = std::ranges::find(order, RankAxis::pp_pairs) != order.end();
  for (const RankAxis axis : {RankAxis::tp, RankAxis::cp, RankAxis::dp, RankAxis::pp}) {
    if (axis == RankAxis::pp && pairs) continue;
    if (std::ranges::find(order, axis) == order.end()) order.push_back(axis);
  }
  return order;
}

RankMap rank_map(const Layout& layout) {
  if (layout.order.empty()) return {};
  const std::vector<RankAxis> order = all_axes(layout);
  const bool pairs =
      layout.pp % 2 == 0 && std::ranges::find(order, RankAxis::pp_pairs) != order.end();
  std::vector<int> gpus(layout.ranks());
  RankCoordinates next;
  for (int gpu = 0; gpu < layout.ranks(); ++gpu) {
    RankCoordinates at = next;
    // Pairs of pipeline ranks: every second position counts from the end: 0, pp - 1, 2, pp - 3, ...
    if (pairs && at.pp % 2 == 1) at.pp = layout.pp - at.pp;
    gpus[rank_of(layout, at)] = gpu;
    for (const RankAxis axis : order) {
      int& place = along(next, axis);
      if (++place < ranks_along(layout, axis)) break;
      place = 0;
    }
  }
  return RankMap(std::move(gpus));
}

int ranks_in_step(const Layout& layout) {
  return std::lcm(layout.tp * layout.cp, layout.ep * layout.expert_stride());
}

std::vector<int> layers_per_stage(const TransformerSpec& model, const Layout& layout) {
  std::vector<int> layers;
  if (layout.stage_layers.empty()) {
    const int first = layout.first_stage_layers;
    const int last = layout.last_stage_layers;
    const int even = model.layers - first - last;
    if (even % layout.stages() != 0 && model.layers + 2 < layout.stages()) {
      throw Error::about({"layout.pp", "layout.vpp", "layout.stages", "model.layers"},
                         "{} stages (pp {} x vpp {}) are too many for the {} layers of model '{}'; "
                         "each stage except the first and the last needs at least one",
                         layout.stages(), layout.pp, layout.vpp, model.layers, model.name);
    }
    if (even % layout.stages() != 0) {
      throw Error::about({"layout.stages", "layout.pp", "layout.vpp", "model.layers"},
                         "{} layers of model '{}' (first {:+}, last {:+}) do not divide into {} "
                         "stages (pp {} x vpp {}); set layout.stages",
                         model.layers, model.name, first, last, layout.stages(), layout.pp,
                         layout.vpp);
    }
    layers.assign(static_cast<std::size_t>(layout.stages()), even / layout.stages());
    layers.front() += first;
    layers.back() += last;
  } else {
    layers = listed_layers(model, layout);
  }
  for (std::size_t stage = 0; stage < layers.size(); ++stage) {
    if (layers[stage] < 0) {
      throw Error::about({"layout.stages"},
                         "stage {} of {} would hold {} layers; change layout.stages", stage,
                         layers.size(), layers[stage]);
    }
  }
  layers.back() += model.mtp_layers;
  return layers;
}

double microbatch_share(const Layout& layout, const Batch& batch) {
  return std::min(1.0, static_cast<double>(batch.micro) * layout.dp / batch.global);
}

int microbatches(const Layout& layout, const Batch& batch) {
  check_positive("batch.micro", batch.micro);
  check_positive("batch.global", batch.global);
  const bool even = batch.shares == BatchShares::even;
  const int per_step = batch.micro * (even ? layout.dp : 1);
  if (!even && batch.global % per_step == 0) {
    return std::max(1,
                    static_cast<int>(std::lround(double(batch.global) / batch.micro / layout.dp)));
  }
  if (batch.global % per_step != 0) {
    // The message names other keys, too, because dp follows from them if it is not stated.
    throw Error::about({"batch.global", "batch.micro", "layout.dp", "layout.tp", "layout.pp",
                        "layout.cp", "cluster.nodes"},
                       "batch.global {} is not a multiple of batch.micro {}{}", batch.global,
                       batch.micro, even ? fmt::format(" x dp {} = {}", layout.dp, per_step) : "");
  }
  return batch.global / per_step;
}

void check_layout(const TransformerSpec& model, const Layout& layout, const Batch& batch, int gpus,
                  int gpus_per_node) {
  for (const Axis& axis : kAxes) check_positive(axis.key, layout.*axis.size);
  check_positive("batch.sequence", batch.sequence);
  check_mesh(model, layout, batch);
  check_signatures(model, layout);
  check_heads(model, layout);
  check_context(model, layout, batch);
  check_frames(model, layout, batch);
  if (layout.sequence_parallel) {
    check_divides({"layout.tp", "layout.cp", "batch.sequence"}, layout.tp * layout.cp,
                  "batch.sequence", batch.sequence, "layout.tp x cp =");
    // With the check above, tp and cp then also divide the decoder's tokens, which are the rest.
    check_divides({"layout.tp", "model.source_tokens"}, layout.tp, "model.source_tokens",
                  model.source_tokens);
  }
  if (layout.vpp > 1 && layout.pp == 1) {
    throw Error::about({"layout.vpp", "layout.pp"},
                       "layout.vpp is {} but layout.pp is 1; chunks need a pipeline", layout.vpp);
  }
  if (gpus_per_node % layout.tp != 0 && layout.tp % gpus_per_node != 0) {
    throw Error::about({"layout.tp", "cluster.node"},
                       "layout.tp {} neither divides the {} GPUs of a node nor is a multiple "
                       "of them",
                       layout.tp, gpus_per_node);
  }
  if (layout.ranks() != gpus) {
    throw Error::about(
        {"layout", "cluster.nodes", "cluster.node"},
        "layout tp {} x cp {} x pp {} x dp {} = {} ranks, but the cluster has {} GPUs; without "
        "layout.dp, or with layout.dp=auto, dp follows from the others",
        layout.tp, layout.cp, layout.pp, layout.dp, layout.ranks(), gpus);
  }
  check_experts(model, layout);
  check_sharding(model, layout, gpus_per_node);
  layers_per_stage(model, layout);
  microbatches(layout, batch);
}

int padded_vocabulary(int vocabulary, int tp) {
  const int multiple = 128 * tp;
  return (vocabulary + multiple - 1) / multiple * multiple;
}

}  // namespace windtunnel
