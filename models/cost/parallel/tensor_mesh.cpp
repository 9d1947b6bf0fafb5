#include "models/cost/parallel/tensor_mesh.hpp"

#include <utility>

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
      add(CollectiveKind::broadcast, kRow, operand * op.m * op.k, cost.of_forward());
      add(CollectiveKind::broadcast, kColumn, operand * op.k * op.n, cost.of_forward());
    }
    for (const Op& op : ops.backward_input) {
      if (op.kind != OpKind::gemm) continue;
      add(CollectiveKind::broadcast, kColumn, operand * op.k * op.n, cost.of_backward_input());
      add(CollectiveKind::reduce, kRow, element * op.m * op.n, cost.of_backward_input());
    }
    for (const Op& op : ops.backward_weight) {
      if (op.kind != OpKind::gemm) continue;
      add(CollectiveKind::broadcast, kRow, operand * op.k * op.n, cost.of_backward_weight());
      add(CollectiveKind::reduce, kColumn, gradient * op.m * op.n, cost.of_backward_weight());
    }
  }

  // Norms sum two fp32 numbers per token over a mesh row, forward and backward.
  void add_norms(int norms, BlockCost& cost) const {
    for (const BlockPass& pass : {cost.of_forward(), cost.of_backward_input()}) {
      add(CollectiveKind::all_reduce, kRow, 2 * 4 * setting_.rows / q_, pass, norms);
    }
  }

  void add_lookup(BlockCost& cost) const {
    const Job& job = setting_.job;
    const double block = bytes_of(job.precision) * job.model.hidden / q_ *
                         padded_vocabulary(job.model.vocabulary, job.layout.tp) / q_;
    add(CollectiveKind::broadcast, kColumn, block, cost.of_forward(), side());
    add(CollectiveKind::reduce, kColumn, block, cost.of_backward_weight(), side());
  }

  // The loss reduces three numbers per token: maximum, predicted logit and sum of exponentials.
  void add_loss(BlockCost& cost) const {
    add(CollectiveKind::all_reduce, kRow, 4 * setting_.rows / q_, cost.of_forward(), 3);
  }

 private:
  static constexpr InnerGroup kRow = InnerGroup::mesh_row;
  static constexpr InnerGroup kColumn = InnerGroup::mesh_column;

  int side() const { return static_cast<int>(q_); }

  void add(CollectiveKind kind, InnerGroup group, double bytes, const BlockPass& pass,
           int times = 1) const {
    const GroupShape& shape = group == kRow ? shapes_.row : shapes_.column;
    const InnerCollective once = setting_.collective(group, kind, shape, bytes);
    InnerRound round{.category = Category::tp, .origin = once.origin};
    round.collectives.assign(times, once);
    pass.add(std::move(round));
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
    default:
      return mesh.add_norms(2, cost);
  }
}

}  // namespace windtunnel
