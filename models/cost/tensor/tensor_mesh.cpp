#include "models/cost/tensor/tensor_mesh.hpp"

namespace windtunnel {
namespace {

class TensorMesh {
 public:
  TensorMesh(const BlockSetting& setting, const MeshShapes& shapes)
      : setting_(setting), shapes_(shapes), q_(setting.job.layout.mesh_side()) {}

  void add_products(const PassOps& ops, BlockCost& cost) const {
    const Precision precision = setting_.job.precision;
    const double operand = gemm_bytes_of(precision);
    const double element = bytes_of(precision);
    const double gradient =
        is_mixed(precision) ? setting_.job.software.gradient_bytes : bytes_of(precision);
    for (const Op& op : ops.forward) {
      if (op.kind != OpKind::gemm) continue;
      add(CollectiveKind::broadcast, shapes_.row, operand * op.m * op.k, cost.forward);
      add(CollectiveKind::broadcast, shapes_.column, operand * op.k * op.n, cost.forward);
    }
    for (const Op& op : ops.backward_input) {
      if (op.kind != OpKind::gemm) continue;
      add(CollectiveKind::broadcast, shapes_.column, operand * op.k * op.n, cost.backward_input);
      add(CollectiveKind::reduce, shapes_.row, element * op.m * op.n, cost.backward_input);
    }
    for (const Op& op : ops.backward_weight) {
      if (op.kind != OpKind::gemm) continue;
      add(CollectiveKind::broadcast, shapes_.row, operand * op.k * op.n, cost.backward_weight);
      add(CollectiveKind::reduce, shapes_.column, gradient * op.m * op.n, cost.backward_weight);
    }
  }

  // Two fp32 sums per token of a row, forward and backward.
  void add_norms(int norms, BlockCost& cost) const {
    for (auto* parts : {&cost.forward, &cost.backward_input}) {
      add(CollectiveKind::all_reduce, shapes_.row, 2 * 4 * setting_.rows / q_, *parts, norms);
    }
  }

  void add_lookup(BlockCost& cost) const {
    const Job& job = setting_.job;
    const double block = bytes_of(job.precision) * job.model.hidden / q_ *
                         padded_vocabulary(job.model.vocabulary, job.layout.tp) / q_;
    add(CollectiveKind::broadcast, shapes_.column, block, cost.forward, q_);
    add(CollectiveKind::reduce, shapes_.column, block, cost.backward_weight, q_);
  }

  // Maximum, predicted logit and sum of exponentials.
  void add_loss(BlockCost& cost) const {
    add(CollectiveKind::all_reduce, shapes_.row, 4 * setting_.rows / q_, cost.forward, 3);
  }

 private:
  void add(CollectiveKind kind, const GroupShape& shape, double bytes, std::vector<CostPart>& parts,
           double times = 1) const {
    const CollectiveCost once = setting_.collective(kind, shape, bytes);
    add_cost(parts, Category::tp, once.origin, times * once.seconds);
  }

  const BlockSetting& setting_;
  const MeshShapes& shapes_;
  double q_ = 1;
};

}  // namespace

void add_tensor_mesh(const BlockSetting& setting, const MeshShapes& shapes, Block block,
                     const PassOps& ops, BlockCost& cost) {
  const TensorMesh mesh(setting, shapes);
  mesh.add_products(ops, cost);
  switch (block) {
    case Block::embedding:
      return mesh.add_lookup(cost);
    case Block::head:
      mesh.add_norms(1, cost);
      return mesh.add_loss(cost);
    case Block::layer:
    case Block::moe_layer:
      return mesh.add_norms(2, cost);
  }
}

}  // namespace windtunnel
