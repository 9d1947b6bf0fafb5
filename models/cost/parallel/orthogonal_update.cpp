#include "models/cost/parallel/orthogonal_update.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "models/cost/op/op_cost.hpp"
#include "models/cost/parallel/tensor_rules.hpp"

namespace windtunnel {
namespace {

constexpr int kNewtonSchulzSteps = 5;

// Excludes the tensors at the ends of a model, and convolutions, in which each channel is a vector.
bool is_orthogonalised(const TensorRule& rule) {
  constexpr std::array<std::string_view, 8> kOthers = {
      "embedding", "positions", "segments",    "conditions",
      "head",      "norms",     "mamba.heads", "mamba.convolution"};
  return rule.rows > 1 && rule.columns > 1 &&
         std::ranges::find(kOthers, rule.tensor) == kOthers.end();
}

bool is_of_expert(const TensorRule& rule) {
  return rule.split == "by expert";
}

double share_in_matrices(const TransformerSpec& model, const auto& counts) {
  double matrices = 0;
  double all = 0;
  for (const TensorRule& rule : tensor_rules(model)) {
    if (!counts(rule)) continue;
    all += rule.parameters();
    matrices += is_orthogonalised(rule) ? rule.parameters() : 0;
  }
  return all > 0 ? matrices / all : 0;
}

Op product(double m, double n, double k) {
  constexpr double kBytes = 2;
  Op op;
  op.name = "newton-schulz";
  op.kind = OpKind::gemm;
  op.m = m;
  op.n = n;
  op.k = k;
  op.flops = 2 * m * n * k;
  op.bytes = kBytes * (m * k + k * n + m * n);
  return op;
}

OrthogonalCost cost_of_matrix(double rows, double columns, const Job& job) {
  const double shorter = std::min(rows, columns);
  const double longer = std::max(rows, columns);
  OrthogonalCost cost{0, Origin::spec};
  for (const Op& op : {product(shorter, shorter, longer), product(shorter, shorter, shorter),
                       product(shorter, longer, shorter)}) {
    const OpCost one = op_cost(op, job.cluster.node.gpu, Precision::bf16, job.calibration);
    cost.seconds += kNewtonSchulzSteps * one.seconds;
    cost.origin = weakest(cost.origin, one.origin);
  }
  return cost;
}

}  // namespace

double muon_share(const TransformerSpec& model) {
  return share_in_matrices(model, [](const TensorRule&) { return true; });
}

double muon_share(const TransformerSpec& model, bool experts) {
  return share_in_matrices(model,
                           [&](const TensorRule& rule) { return is_of_expert(rule) == experts; });
}

OrthogonalCost orthogonal_cost(double parameters, const Job& job) {
  const double tp = job.layout.tp;
  OrthogonalCost cost{0, Origin::spec};
  double held = 0;  // parameters that a rank of one tp group holds
  double longest_s = 0;
  for (const TensorRule& rule : tensor_rules(job.model)) {
    const double rows = rule.split == "rows" ? rule.rows / tp : rule.rows;
    const double columns = rule.split == "columns" ? rule.columns / tp : rule.columns;
    const double count = is_of_expert(rule) ? rule.count / job.layout.ep : rule.count;
    held += count * rows * columns;
    if (!is_orthogonalised(rule)) continue;
    const OrthogonalCost one = cost_of_matrix(rows, columns, job);
    cost.seconds += count * one.seconds;
    cost.origin = weakest(cost.origin, one.origin);
    longest_s = std::max(longest_s, one.seconds);
  }
  if (held <= 0 || parameters <= 0) return {0, cost.origin};
  cost.seconds *= parameters / held;
  if (job.layout.sharding != Sharding::none) cost.seconds = std::max(cost.seconds, longest_s);
  return cost;
}

}  // namespace windtunnel
