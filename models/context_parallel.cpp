#include "models/context_parallel.hpp"

namespace windtunnel {

// Step by step a rank passes on the K and V that it has just used (backward: and their gradients),
// beside the attention over them; the last step passes nothing on.
void add_context_parallel(const BlockSetting& setting, const GroupShape& ring, const PassOps& ops,
                          BlockCost& cost) {
  const Job& job = setting.job;
  const TransformerSpec& model = job.model;
  const Layout& layout = job.layout;
  if (layout.cp == 1) return;
  const double width =
      model.latent.kv_rank > 0 ? model.q_width() + model.context_width() : 2.0 * model.kv_width();
  // Of the keys up to the slice's end.
  const double bytes = setting.activation_bytes(layout.cp * width / layout.tp) * setting.slice.end /
                       setting.slice.share();
  const auto add_exposed = [&](const std::vector<Op>& pass, double times,
                               std::vector<CostPart>& parts) {
    double attention_s = 0;
    for (const Op& op : pass) {
      if (op.kind == OpKind::attention_forward || op.kind == OpKind::attention_backward) {
        attention_s += setting.cost(op).seconds;
      }
    }
    const CollectiveCost passing =
        collective_cost(CollectiveKind::all_gather, CollectiveAlgorithm::ring, ring, times * bytes,
                        job.cluster, job.calibration);
    const double beside_s = attention_s * (layout.cp - 1) / layout.cp;
    add_cost(parts, Category::cp, passing.origin, passing.seconds - beside_s);
  };
  add_exposed(ops.forward, 1, cost.forward);
  add_exposed(ops.backward_input, 2, cost.backward_input);
}

}  // namespace windtunnel
