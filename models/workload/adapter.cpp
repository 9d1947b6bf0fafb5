#include "models/workload/adapter.hpp"

namespace windtunnel {
namespace {

class Matrices {
 public:
  Matrices(const TransformerSpec& model, const Layout& layout, const Adapter& adapter)
      : model_(model), layout_(layout), adapter_(adapter) {}

  void attention() {
    const double h = model_.hidden;
    const double tp = layout_.tp;
    if (model_.latent.kv_rank > 0) {
      latent();
    } else {
      const double q = model_.q_width() / tp;
      const double kv = model_.kv_width() / tp;
      const LinearSite site = LinearSite::query_key_value;
      if (adapter_.joins(site)) {
        add({site, h, q + 2 * kv});
      } else {
        if (adapter_.queries) add({site, h, q});
        if (adapter_.keys) add({site, h, kv});
        if (adapter_.values) add({site, h, kv});
      }
    }
    if (adapter_.projection) add({LinearSite::projection, model_.context_width() / tp, h});
  }

  void mlp(double width) {
    add_mlp({.in = static_cast<double>(model_.hidden), .out = width / layout_.tp});
  }

  void experts() {
    const double count = static_cast<double>(model_.moe.experts) / layout_.ep;
    add_mlp({.in = static_cast<double>(model_.expert_width()),
             .out = static_cast<double>(model_.moe.ffn_hidden),
             .count = count,
             .expert = true});
    if (model_.moe.shared_ffn > 0) mlp(model_.moe.shared_ffn);
  }

  std::vector<AdaptedMatrix> take() { return std::move(matrices_); }

 private:
  void add(const AdaptedMatrix& matrix) { matrices_.push_back(matrix); }

  // Adds the matrices of an MLP; SwiGLU's gate is a separate matrix.
  void add_mlp(AdaptedMatrix up) {
    AdaptedMatrix down = up;
    up.site = LinearSite::up;
    down.site = LinearSite::down;
    std::swap(down.in, down.out);
    const int inputs = model_.activation == Activation::swiglu ? 2 : 1;
    const bool joined = adapter_.joins(LinearSite::up);
    if (joined) up.out *= inputs;
    for (int i = 0; adapter_.up && i < (joined ? 1 : inputs); ++i) add(up);
    if (adapter_.down) add(down);
  }

  void latent() {
    if (!adapter_.on(LinearSite::query_key_value)) return;
    const LatentAttention& latent = model_.latent;
    const double h = model_.hidden;
    const double tp = layout_.tp;
    const double rank = latent.query_rank;
    const LinearSite site = LinearSite::query_key_value;
    if (rank > 0) add({site, h, rank});
    add({site, rank > 0 ? rank : h, model_.q_width() / tp});
    add({site, h, double(latent.kv_rank + latent.rotary_width)});
    add({site, double(latent.kv_rank),
         double(model_.heads) * (model_.head_dim() + latent.value_width) / tp});
  }

  const TransformerSpec& model_;
  const Layout& layout_;
  const Adapter& adapter_;
  std::vector<AdaptedMatrix> matrices_;
};

}  // namespace

std::vector<AdaptedMatrix> adapted_matrices(const TransformerSpec& model, const Layout& layout,
                                            const Adapter& adapter, Block block) {
  Layout cut = layout;
  const bool mesh = layout.mesh_side() > 1;
  if (mesh) cut.tp = 1;
  Matrices matrices(model, cut, adapter);
  if (has_attention(block)) matrices.attention();
  if (has_experts(block)) matrices.experts();
  if (has_mlp(block)) matrices.mlp(model.ffn_hidden);
  std::vector<AdaptedMatrix> list = matrices.take();
  for (AdaptedMatrix& matrix : list) {
    if (mesh) matrix.count /= layout.tp;
  }
  return list;
}

AdapterParameters adapter_parameters(const TransformerSpec& model, const Layout& layout,
                                     const Adapter& adapter, Block block) {
  AdapterParameters sum;
  for (const AdaptedMatrix& matrix : adapted_matrices(model, layout, adapter, block)) {
    const double first = matrix.first_parameters(adapter.rank);
    double trained = matrix.second_parameters(adapter.rank);
    (adapter.trains_first() ? trained : sum.frozen) += first;
    if (!adapter.trains_first() && matrix.expert) sum.frozen_experts += first;
    if (adapter.kind == AdapterKind::dora) trained += matrix.count * matrix.out;
    sum.trained += trained;
    if (matrix.expert) sum.trained_experts += trained;
  }
  return sum;
}

}  // namespace windtunnel
