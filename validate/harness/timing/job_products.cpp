#include "validate/harness/timing/job_products.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "models/cost/op/op.hpp"
#include "models/workload/layer_table.hpp"

namespace windtunnel {
namespace {

std::vector<Op> ops_of(const Job& job, Pass pass) {
  if (job.network) return network_ops(*job.network, job.batch.micro, job.precision, pass);
  std::vector<Op> ops;
  for (const Block block : {Block::layer, Block::moe_layer, Block::head}) {
    if (block == Block::moe_layer && job.model.moe.experts == 0) continue;
    const std::vector<Op> more = block_ops(job, block, pass);
    ops.insert(ops.end(), more.begin(), more.end());
  }
  return ops;
}

}  // namespace

std::vector<KernelWork> job_products(const Job& job) {
  std::vector<KernelWork> products;
  std::vector<std::string> texts;
  for (const Pass pass : {Pass::forward, Pass::backward_input, Pass::backward_weight}) {
    for (const Op& op : ops_of(job, pass)) {
      if (op.kind != OpKind::gemm) continue;
      KernelWork work;
      work.kernel = "gemm";
      work.precision = op.precision.value_or(job.precision);
      work.m = std::max(1.0, std::round(op.m));
      work.n = std::max(1.0, std::round(op.n));
      work.k = std::max(1.0, std::round(op.k));
      const std::string text = to_text({{work}});
      if (std::ranges::find(texts, text) != texts.end()) continue;
      texts.push_back(text);
      products.push_back(work);
    }
  }
  return products;
}

}  // namespace windtunnel
