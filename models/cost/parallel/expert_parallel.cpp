#include "models/cost/parallel/expert_parallel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "models/base/error.hpp"
#include "models/workload/expert_routing.hpp"

namespace windtunnel {
namespace {

// Number of copies of a token that are sent, or would be if no expert were local. Merged dispatch
// sends one to each node (in a single node: to each rank) that has one of the token's experts.
double copies(const Job& job, const GroupShape& shape) {
  if (!job.software.ep_merged) return job.model.moe.per_token;
  return places_met(job.model.moe, shape.nodes > 1 ? shape.nodes : shape.members);
}

double seconds_of(const BlockSetting& setting, const std::vector<Op>& pass, const auto& chosen) {
  double seconds = 0;
  for (const Op& op : pass) seconds += chosen(op) ? setting.cost(op).seconds : 0;
  return seconds;
}

// What ranks send to experts, or receive back from them.
struct Sending {
  double bytes = 0;     // over all copies of a rank's tokens, including hot ones
  double distinct = 1;  // share of them that are distinct: packed once
  ExchangeWay way = ExchangeWay::there;
};

// With merged dispatch, a node's single copy of a token is forwarded over NVLink to each of its
// ranks with an expert of it, while other tokens arrive: the slower of the two determines the time.
// `bytes`: of a node's copies for the fullest rank.
void forward_in_nodes(const BlockSetting& setting, const GroupShape& shape, double bytes,
                      InnerCollective& sent) {
  const MixtureOfExperts& moe = setting.job.model.moe;
  if (!setting.job.software.ep_merged || shape.nodes == 1 || shape.members_per_node == 1) return;
  GroupShape node = shape;
  node.members = shape.members_per_node;
  node.nodes = 1;
  const double forwarded = bytes * places_met(moe, shape.members) / places_met(moe, shape.nodes);
  const InnerCollective inside =
      setting.collective(InnerGroup::expert, CollectiveKind::all_to_all, node, forwarded);
  if (inside.seconds <= sent.seconds) return;
  sent.seconds = inside.seconds;
  sent.origin = weakest(sent.origin, inside.origin);
}

// The time of an all-to-all follows from the busiest rank's bytes on its port and, between nodes,
// on its NIC.
InnerCollective exchange(const BlockSetting& setting, const GroupShape& shape,
                         const ExpertLoad& load, const Sending& sending) {
  const Job& job = setting.job;
  const double e = bytes_of(job.precision);
  const bool packs = sending.way == ExchangeWay::there ||
                     job.communication.compressors.ep.passes != CompressedPasses::dispatch;
  const std::optional<ActivationCodec> codec =
      packs ? setting.codec(InnerGroup::expert, shape, e) : std::nullopt;
  const double on_wire = codec ? codec->bytes / e : 1;
  const auto all_to_all = [&](const ExchangePhase& phase) {
    return setting.collective(InnerGroup::expert, CollectiveKind::all_to_all, phase.shape,
                              phase.bytes);
  };
  const bool local = job.model.moe.locality && shape.nodes > 1;
  const bool uneven = local || !load.by_rank.empty();
  // If it is not known which ranks receive more than others, any rank may be the busiest.
  const double own = load.by_rank.empty() ? load.received : 1 - load.hot;
  const double mean = own * sending.bytes * on_wire;
  InnerCollective sent;
  if (uneven) {
    const ExchangePhases phases =
        exchange_phases({load.by_rank, job.model.moe.locality}, shape, mean);
    sent = all_to_all(phases.inside);
    if (phases.across.bytes > 0) {
      const InnerCollective away = all_to_all(phases.across);
      if (away.seconds > sent.seconds) sent = away;
      sent.in_node = false;
    }
    sent.way = sending.way;
    sent.exchange = job.model.moe.layer;
  } else {
    sent = all_to_all({shape, mean});
  }
  const double fullest = UnevenExchange{load.by_rank, {}}.most();
  forward_in_nodes(setting, shape, fullest * mean, sent);
  sent.bytes = mean;
  if (codec) {
    setting.add_kernels({codec->encode(sending.distinct * (1 - load.hot) * sending.bytes / e, e),
                         codec->decode(load.received * sending.bytes / e, e)},
                        sent);
  }
  return sent;
}

// The collectives of one direction.
struct Exchange {
  InnerRound sent;      // to the experts and back
  InnerRound gathered;  // over tp, of what was not sent twice
};

Exchange both_ways(const BlockSetting& setting, const GroupShape& shape, const GroupShape& tp_shape,
                   const ExpertLoad& load) {
  const Job& job = setting.job;
  const double width = copies(job, shape) * job.model.expert_width();
  const bool all = job.layout.ep_tokens == ExpertTokens::all;
  const double bytes = setting.activation_bytes(width / (all ? 1 : job.layout.tp));
  // A token is packed once, regardless of the number of its experts; each of them returns a
  // separate vector.
  const double distinct = 1 / copies(job, shape);
  Exchange both;
  both.sent.category = both.gathered.category = Category::ep;
  both.sent.collectives = {exchange(setting, shape, load, {bytes, distinct, ExchangeWay::there}),
                           exchange(setting, shape, load, {bytes, 1, ExchangeWay::back})};
  both.sent.origin = both.gathered.origin = both.sent.collectives.front().origin;
  if (job.layout.tp == 1) return both;
  const auto over_tp = [&](CollectiveKind kind, double per_token) {
    std::ranges::move(
        setting.exchanged(InnerGroup::tensor, kind, tp_shape, setting.activation_bytes(per_token),
                          bytes_of(job.precision)),
        std::back_inserter(both.gathered.collectives));
  };
  if (job.layout.ep_tokens == ExpertTokens::dropped) {
    over_tp(CollectiveKind::all_gather, width);
    over_tp(CollectiveKind::all_gather, job.model.expert_width());
  } else if (job.layout.ep_tokens == ExpertTokens::gathered) {
    over_tp(CollectiveKind::all_gather, width);
    over_tp(CollectiveKind::reduce_scatter, width);
  }
  return both;
}

// Compute that hides all-to-alls.
struct Beside {
  double forward_s = 0;
  double backward_s = 0;
};

// Counts micro-batches whose forward pass has no backward pass to overlap with, as a mean over
// ranks; equally many backward passes run alone.
//
// Interleaved 1F1B: rank r of p, with v chunks, runs 2 (p - 1 - r) + (v - 1) p + 1 of its m v
// forward passes before it pairs them (github.com/NVIDIA/Megatron-LM d98e8a64, megatron/core/
// pipeline_parallel/schedules.py, get_pp_rank_microbatches): p of m micro-batches on average.
// DualPipe and DualPipeV have d ranks from an end to the middle, or to the bottom of the V. Rank h
// of these pairs all but 4 d - 2 (h + 1) - (d - h - 1) forward passes in steps 4 and 5, and one
// less where h is d - 1 (github.com/deepseek-ai/DualPipe 3da1bbea, dualpipe/dualpipe.py,
// dualpipev.py); the V runs two for each micro-batch. Other schedules count as 1F1B.
double alone_microbatches(const Job& job) {
  const double ranks = job.layout.pp;
  const bool folded = job.schedule.name == "dualpipev";
  if (!folded && job.schedule.name != "dualpipe") return ranks;
  const double depth = folded ? ranks : ranks / 2;
  const double passes = 2.5 * depth - 0.5 + 1 / depth;
  return folded ? passes / 2 : passes;
}

double alone_share(const Job& job) {
  return std::min(1.0, alone_microbatches(job) * microbatch_share(job.layout, job.batch));
}

// Compute that overlaps communication of a pass, averaged over a step's micro-batches. A forward
// pass communicates during the backward compute of another micro-batch, and vice versa. Both
// communicate equally much, so a pair takes as long as if each pass overlapped its own compute,
// which is how it is counted: each pass is then charged for what it hides.
Beside paired_compute(const BlockSetting& setting, const BlockCost& cost, double sent_s) {
  const double paired = 1 - alone_share(setting.job);
  const double most_s = sent_s / (1 + setting.slowdown());
  const double back_s = total_seconds(cost.backward_input) + total_seconds(cost.backward_weight);
  return {paired * std::min(most_s, total_seconds(cost.forward)),
          paired * std::min(most_s, back_s)};
}

Beside compute_beside(const BlockSetting& setting, const PassOps& ops, const BlockCost& cost,
                      double sent_s) {
  if (setting.job.software.ep_overlap) return paired_compute(setting, cost, sent_s);
  const auto shared = [](const Op& op) {
    return op.role == OpRole::shared_up || op.role == OpRole::shared_down ||
           op.role == OpRole::shared_other;
  };
  const auto others = [](const Op& op) { return !op.routed; };
  if (setting.job.model.moe.shortcut) {
    return {seconds_of(setting, ops.forward, others),
            seconds_of(setting, ops.backward_input, others) +
                seconds_of(setting, ops.backward_weight, others)};
  }
  if (setting.job.software.tp_overlap != TensorOverlap::pipelined) return {};
  return {seconds_of(setting, ops.forward, shared),
          seconds_of(setting, ops.backward_input, shared)};
}

double hot_weight_bytes(const Job& job) {
  const MixtureOfExperts& moe = job.model.moe;
  if (moe.zipf == 0 || job.layout.ep == 1) return 0;
  return bytes_of(job.precision) * std::min(moe.hot_experts, moe.experts) *
         job.model.expert_parameters();
}

// Adds the exchange of hot experts. It hides behind the compute of the layer except its experts,
// less the part that all-to-alls use.
void add_hot_experts(const BlockSetting& setting, const GroupShape& shape, const PassOps& ops,
                     const Beside& taken, BlockCost& cost) {
  const double bytes = hot_weight_bytes(setting.job);
  if (bytes == 0) return;
  const auto collective = [&](CollectiveKind kind) {
    return setting.collective(InnerGroup::expert, kind, shape, bytes);
  };
  const InnerCollective gather = collective(CollectiveKind::all_gather);
  const auto left_s = [&](const std::vector<Op>& pass, double taken_s) {
    const auto others = [](const Op& op) { return !op.routed; };
    return std::max(0.0, seconds_of(setting, pass, others) - taken_s);
  };
  InnerRound round{.category = Category::ep,
                   .origin = gather.origin,
                   .collectives = {gather},
                   .beside_s = left_s(ops.forward, taken.forward_s),
                   .slowdown = setting.slowdown()};
  cost.of_forward().add(round);
  round.collectives.push_back(collective(CollectiveKind::reduce_scatter));
  round.beside_s = left_s(ops.backward_input, taken.backward_s);
  cost.of_backward_input().add(std::move(round));
}

}  // namespace

void add_expert_parallel(const BlockSetting& setting, const GroupShape& shape,
                         const GroupShape& tp_shape, const PassOps& ops, BlockCost& cost) {
  const Job& job = setting.job;
  if (job.layout.ep == 1) return;
  const ExpertLoad load = expert_load(job.model.moe, job.layout.ep);
  const Exchange both = both_ways(setting, shape, tp_shape, load);
  const double sent_s = collectives_s(both.sent);
  const Beside beside = compute_beside(setting, ops, cost, sent_s);
  const Beside taken = {std::min(beside.forward_s, sent_s), std::min(beside.backward_s, sent_s)};
  add_hot_experts(setting, shape, ops, taken, cost);
  const auto add = [&](double beside_s, const BlockPass& pass) {
    InnerRound round = both.sent;
    round.beside_s = beside_s;
    round.slowdown = setting.slowdown();
    pass.add(std::move(round));
    pass.add(both.gathered);
  };
  add(beside.forward_s, cost.of_forward());
  add(beside.backward_s, cost.of_backward_input());
}

std::vector<UnevenExchange> expert_exchanges(const Job& job) {
  MixtureOfExperts moe = job.model.moe;
  if (job.layout.ep == 1 || (moe.zipf == 0 && !moe.locality)) return {};
  std::vector<UnevenExchange> exchanges;
  const int count = job.model.draws_by_layer() ? job.model.moe_layers() : 1;
  for (moe.layer = 0; moe.layer < count; ++moe.layer) {
    exchanges.push_back({expert_load(moe, job.layout.ep).by_rank, moe.locality});
  }
  return exchanges;
}

double hot_expert_bytes(const Job& job) {
  return 2 * hot_weight_bytes(job);
}

void check_expert_routing(const Job& job) {
  const MixtureOfExperts& moe = job.model.moe;
  if (moe.experts % moe.groups != 0 || moe.groups_per_token > moe.groups) {
    throw Error::of_key(
        "model.moe.groups",
        "is {}; it must divide the {} experts and be at least model.moe.groups_per_token, {}",
        moe.groups, moe.experts, moe.groups_per_token);
  }
  if (const int open = moe.groups_per_token * (moe.experts / moe.groups);
      moe.groups > 1 && open < moe.per_token) {
    throw Error::of_key("model.moe.groups_per_token",
                        "is {}: groups of {} experts then offer {} experts to a token, but a token "
                        "needs {} (model.moe.per_token)",
                        moe.groups_per_token, moe.experts / moe.groups, open, moe.per_token);
  }
  if (moe.zipf > 0 && moe.imbalance > 1) {
    throw Error::of_key(
        "model.moe.zipf",
        "and model.moe.imbalance both state the load of the busiest rank; leave one of them out");
  }
  if (moe.hot_experts > 0 && moe.zipf == 0) {
    throw Error::of_key(
        "model.moe.hot_experts",
        "needs model.moe.zipf, which says what share of the tokens hot experts get");
  }
  if (moe.orders == PopularityOrder::by_layer && moe.zipf == 0) {
    throw Error::of_key("model.moe.orders",
                        ": by-layer draws an order of popularity for each layer, but without "
                        "model.moe.zipf all experts are equally popular");
  }
  if (moe.hot_experts > moe.experts) {
    throw Error::of_key("model.moe.hot_experts", "is {}; a layer has {} experts", moe.hot_experts,
                        moe.experts);
  }
  if (moe.shortcut && !job.model.pattern.empty()) {
    throw Error::of_key("model.moe.shortcut",
                        ": experts run in parallel with the attention of their layer, which is not "
                        "modelled for layers of a pattern; leave it out");
  }
  if (moe.shortcut && job.software.ep_overlap) {
    throw Error::of_key("model.moe.shortcut",
                        "and software.ep_overlap hide the same all-to-alls; leave one "
                        "of them out");
  }
}

}  // namespace windtunnel
