#include "models/cost/parallel/context_parallel.hpp"

#include <algorithm>
#include <utility>

namespace windtunnel {

ContextTensors context_tensors(const BlockSetting& setting) {
  const TransformerSpec& model = setting.job.model;
  const double tp = setting.job.layout.tp;
  const bool latent = model.latent.kv_rank > 0;
  const double e = bytes_of(setting.job.precision);
  ContextTensors tensors;
  tensors.tokens = setting.rows;
  tensors.earlier = setting.slice.end / setting.slice.share();
  tensors.q = e * model.q_width() / tp;
  tensors.k = latent ? tensors.q : e * model.kv_width() / tp;
  tensors.v = e * (latent ? model.context_width() : model.kv_width()) / tp;
  tensors.context = e * model.context_width() / tp;
  const Layout& layout = setting.job.layout;
  const bool mesh = layout.mesh_side() > 1;
  const bool divided = layout.sequence_parallel || mesh;
  tensors.between = e * model.hidden / (divided ? tp : 1);
  tensors.heads = model.heads / tp;
  tensors.kv_heads = (latent ? model.heads : model.kv_heads) / (mesh ? layout.mesh_side() : tp);
  tensors.state =
      e * setting.job.batch.micro * tensors.heads * model.query_dim() * model.value_dim();
  if (model.projected_keys > 0) {
    tensors.projected = (tensors.k + tensors.v) * setting.job.batch.micro *
                        model.keys_of(setting.job.batch.sequence);
  }
  return tensors;
}

namespace {

// Time of the ops that the ring may overlap.
double beside_ring_s(const BlockSetting& setting, const std::vector<Op>& pass) {
  // Ranks wait for RSA's rings of scores, and for sums of projected keys, so these overlap nothing.
  if (setting.job.layout.context == ContextForm::rsa) return 0;
  if (setting.job.model.projected_keys > 0) return 0;
  double attention_s = 0;
  double blocks_s = 0;
  for (const Op& op : pass) {
    const bool fused =
        op.kind == OpKind::attention_forward || op.kind == OpKind::attention_backward;
    attention_s += fused ? setting.cost(op).seconds : 0;
    blocks_s += op.role == OpRole::block_product ? setting.cost(op).seconds : 0;
  }
  const double ring = setting.job.layout.ring_ranks();
  return attention_s * (ring - 1) / ring + blocks_s;
}

// On a ring, keys and values are packed by their owner and unpacked at every step; the gradients
// that travel with them backward are growing sums, so they are packed again at every step.
InnerCollective ring_steps(const BlockSetting& setting, const GroupShape& shape,
                           const ContextTraffic& traffic, Pass pass) {
  const Job& job = setting.job;
  const double e = bytes_of(job.precision);
  const std::optional<ActivationCodec> packed = setting.codec(InnerGroup::context_ring, shape, e);
  const double ranks = job.layout.ring_ranks();
  const double step_bytes = traffic.step_bytes * (packed ? packed->bytes / e : 1);
  const CollectiveCost cost =
      collective_cost(CollectiveKind::all_gather, CollectiveAlgorithm::ring, shape,
                      ranks * step_bytes, job.cluster, job.calibration);
  // Counts one ring through all ranks, because each rank sends to its neighbour.
  InnerCollective steps = inner_collective(InnerGroup::context_ring, CollectiveKind::send_recv,
                                           shape, (ranks - 1) * step_bytes, cost);
  steps.choice = CollectiveAlgorithm::direct;
  if (packed) {
    const double n = traffic.step_bytes / e;
    const double encoded = pass == Pass::forward ? n : traffic.steps * n;
    setting.add_kernels({packed->encode(encoded, e), packed->decode(traffic.steps * n, e)}, steps);
  }
  return steps;
}

}  // namespace

ContextRounds context_rounds(const BlockSetting& setting, const ContextShapes& shapes, Pass pass) {
  const Job& job = setting.job;
  ContextRounds rounds;
  rounds.exchange.category = rounds.ring.category = Category::cp;
  const ContextTraffic traffic = context_traffic(job.layout, context_tensors(setting), pass);
  if (traffic.all_to_alls > 0) {
    const InnerCollective once =
        setting
            .exchanged(InnerGroup::context_exchange, CollectiveKind::all_to_all, shapes.exchange,
                       traffic.all_to_all_bytes / traffic.all_to_alls, bytes_of(job.precision))
            .front();
    rounds.exchange.origin = once.origin;
    rounds.exchange.collectives.assign(traffic.all_to_alls, once);
  }
  if (traffic.steps > 0) {
    const InnerCollective steps = ring_steps(setting, shapes.ring, traffic, pass);
    rounds.ring.origin = steps.origin;
    rounds.ring.collectives = {steps};
  }
  return rounds;
}

namespace {

// A Mamba layer has whole sequences and a share of the heads between two all-to-alls (Megatron-LM's
// MambaContextParallel), with any form of attention: first the projection's output is exchanged,
// then the scan's output and its gate, as the norm follows. B and C of a group go to all ranks that
// have heads of it.
InnerRound mamba_exchange(const BlockSetting& setting, const ContextShapes& shapes) {
  const Job& job = setting.job;
  const MambaMixer& mamba = job.model.mamba;
  const double tp = job.layout.tp;
  const double copies = std::max(1.0, job.layout.cp * tp / mamba.groups);
  // Gates of low rank are exchanged at the full width of the heads.
  const double low_rank = double(mamba.form().low_rank) * mamba.inner() - mamba.rank();
  const double there = mamba.projected() + low_rank + (copies - 1) * 2 * mamba.shared();
  const double back = 2.0 * mamba.inner();
  // If attention uses only a ring, the ring's group is the only one of the cp ranks.
  const bool exchanges = job.layout.exchange_ranks() > 1;
  const InnerGroup group = exchanges ? InnerGroup::context_exchange : InnerGroup::context_ring;
  const GroupShape& shape = exchanges ? shapes.exchange : shapes.ring;
  InnerRound round{.category = Category::cp};
  for (const double width : {there, back}) {
    for (const InnerCollective& sent :
         setting.exchanged(group, CollectiveKind::all_to_all, shape,
                           setting.activation_bytes(width) / tp, bytes_of(job.precision))) {
      round.origin = sent.origin;
      round.collectives.push_back(sent);
    }
  }
  return round;
}

}  // namespace

void add_context_parallel(const BlockSetting& setting, const ContextShapes& shapes, Block block,
                          const PassOps& ops, BlockCost& cost) {
  if (setting.job.layout.cp == 1 || !has_mixer(block)) return;
  if (has_mamba(block)) {
    cost.of_forward().add(mamba_exchange(setting, shapes));
    cost.of_backward_input().add(mamba_exchange(setting, shapes));
    return;
  }
  const auto add = [&](Pass pass, const std::vector<Op>& pass_ops, const BlockPass& to) {
    ContextRounds rounds = context_rounds(setting, shapes, pass);
    rounds.ring.beside_s = beside_ring_s(setting, pass_ops);
    to.add(std::move(rounds.exchange));
    to.add(std::move(rounds.ring));
  };
  add(Pass::forward, ops.forward, cost.of_forward());
  add(Pass::backward_input, ops.backward_input, cost.of_backward_input());
}

}  // namespace windtunnel
