#include "models/cost/context/context_parallel.hpp"

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
  tensors.between = e * model.hidden / (setting.job.layout.sequence_parallel ? tp : 1);
  tensors.heads = model.heads / tp;
  tensors.kv_heads = latent ? tensors.heads : model.kv_heads / tp;
  tensors.state =
      e * setting.job.batch.micro * tensors.heads * model.query_dim() * model.value_dim();
  return tensors;
}

namespace {

// Of the ops beside which the ring may run.
double beside_ring_s(const BlockSetting& setting, const std::vector<Op>& pass) {
  if (setting.job.layout.context == ContextForm::rsa) return 0;
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

}  // namespace

ContextSeconds context_seconds(const BlockSetting& setting, const ContextShapes& shapes,
                               Pass pass) {
  const Job& job = setting.job;
  ContextSeconds result;
  const ContextTraffic traffic = context_traffic(job.layout, context_tensors(setting), pass);
  if (traffic.all_to_alls > 0) {
    const CollectiveCost exchange =
        setting.collective(CollectiveKind::all_to_all, shapes.exchange,
                           traffic.all_to_all_bytes / traffic.all_to_alls);
    result.exchange_s = traffic.all_to_alls * exchange.seconds;
    result.exchange_origin = exchange.origin;
  }
  if (traffic.steps > 0) {
    const CollectiveCost ring =
        collective_cost(CollectiveKind::all_gather, CollectiveAlgorithm::ring, shapes.ring,
                        job.layout.ring_ranks() * traffic.step_bytes, job.cluster, job.calibration);
    result.ring_s = ring.seconds;
    result.ring_origin = ring.origin;
  }
  return result;
}

void add_context_parallel(const BlockSetting& setting, const ContextShapes& shapes,
                          const PassOps& ops, BlockCost& cost) {
  if (setting.job.layout.cp == 1) return;
  const auto add = [&](Pass pass, const std::vector<Op>& pass_ops, std::vector<CostPart>& parts) {
    const ContextSeconds seconds = context_seconds(setting, shapes, pass);
    add_cost(parts, Category::cp, seconds.exchange_origin, seconds.exchange_s);
    add_cost(parts, Category::cp, seconds.ring_origin,
             seconds.ring_s - beside_ring_s(setting, pass_ops));
  };
  add(Pass::forward, ops.forward, cost.forward);
  add(Pass::backward_input, ops.backward_input, cost.backward_input);
}

}  // namespace windtunnel
