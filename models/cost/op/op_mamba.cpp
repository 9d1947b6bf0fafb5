// Mixers that carry a state (Mamba-2, delta rules, Lightning Attention): the kernels of their table
// (scan_form.cpp) on one GPU.
#include <algorithm>
#include <span>

#include "models/cost/op/element_wise.hpp"
#include "models/workload/scan_form.hpp"

namespace windtunnel {
namespace {

// The share of one GPU: widths are divided by tp; context parallelism divides tokens before and
// heads after the exchange, so their product is the same.
struct Scan {
  double e = 0;       // bytes of an element
  double tokens = 0;  // T
  double inner = 0;   // heads x P
  double shared = 0;  // groups x N
  double heads = 0;
  double groups = 0;
  double chunk = 0;     // Q
  double width = 0;     // P
  double state = 0;     // N
  bool mamba2 = false;  // scan.share was fitted on kernels of Mamba-2 alone

  double convolved() const { return inner + 2 * shared; }
  // States are stored once per chunk, so this counts their elements over all chunks.
  double states() const { return tokens / chunk * inner * state; }
  double scores() const { return tokens * chunk * groups; }  // of C B^T
};
constexpr double kFp32 = 4;

// Describes the scan of `tokens` tokens on one of `ranks` ranks that divide the heads.
Scan scan_of(const Job& job, double tokens, double ranks) {
  const MambaMixer& mamba = job.model.mamba;
  Scan scan;
  scan.e = bytes_of(job.precision);
  scan.tokens = tokens;
  scan.inner = mamba.inner() / ranks;
  scan.shared = std::max(mamba.shared() / ranks, double(mamba.state));
  scan.heads = mamba.heads / ranks;
  scan.groups = scan.shared / mamba.state;
  scan.chunk = std::min<double>(mamba.chunk_tokens(), job.batch.sequence);
  scan.width = mamba.head_width;
  scan.state = mamba.state;
  scan.mamba2 = mamba.kind == ScanKind::mamba2;
  return scan;
}

double side_of(ScanSide side, const Scan& scan) {
  switch (side) {
    case ScanSide::none:
      return 0;
    case ScanSide::chunk:
      return scan.chunk;
    case ScanSide::half_chunk:
      return scan.chunk / 2;
    case ScanSide::width:
      return scan.width;
    case ScanSide::state:
      return scan.state;
    case ScanSide::state_and_half:
      return scan.state + scan.chunk / 2;
  }
  return 0;
}

double bytes_of_kernel(const ScanKernel& kernel, const Scan& scan) {
  const double keys = scan.tokens * scan.heads * scan.state;
  const double triangles = scan.tokens * scan.chunk * scan.heads;
  const double elements =
      scan.tokens * (kernel.rows * scan.inner + kernel.shared * scan.shared +
                     kernel.convolved * scan.convolved() + kernel.heads * scan.heads) +
      kernel.keys * keys + kernel.states * scan.states() + kernel.triangles * triangles;
  const double wide = scan.tokens * (kernel.shared32 * scan.shared + kernel.heads32 * scan.heads) +
                      kernel.keys32 * keys + kernel.states32 * scan.states() +
                      kernel.triangles32 * triangles + kernel.scores32 * scan.scores();
  return scan.e * elements + kFp32 * wide;
}

Op scan_op(const ScanKernel& kernel, const Scan& scan) {
  Op op = memory_op(kernel.name, bytes_of_kernel(kernel, scan));
  op.scan = scan.mamba2;
  if (kernel.m == ScanSide::none) return op;
  op.kind = OpKind::attention_gemm;
  op.m = side_of(kernel.m, scan);
  op.n = side_of(kernel.n, scan);
  op.k = side_of(kernel.k, scan);
  op.batch =
      kernel.times * scan.tokens / scan.chunk * (kernel.of_groups ? scan.groups : scan.heads);
  op.flops = 2 * op.batch * op.m * op.n * op.k;
  return op;
}

void append_scan(std::span<const ScanKernel> kernels, const Scan& scan, std::vector<Op>& ops) {
  for (const ScanKernel& kernel : kernels) ops.push_back(scan_op(kernel, scan));
}

// Decays and gates of low rank have a second matrix; these run as one product.
void append_low_rank(const Job& job, const Shard& s, Pass pass, std::vector<Op>& ops) {
  const MambaMixer& mamba = job.model.mamba;
  if (mamba.rank() == 0) return;
  const Linear up{"gates up", OpRole::other, s.tokens, double(mamba.head_width),
                  double(mamba.form().low_rank) * mamba.inner() / job.layout.tp};
  append_linear(up, pass, s, ops);
}

}  // namespace

void append_mamba(const Job& job, const Shard& s, Pass pass, std::vector<Op>& ops) {
  const MambaMixer& mamba = job.model.mamba;
  const double tp = job.layout.tp;
  // The projections to low rank are not divided by tp.
  const double projected = (mamba.projected() - mamba.rank()) / tp + mamba.rank();
  Linear in{"mamba in", OpRole::query_key_value, s.tokens, s.hidden, projected, s.norm_tokens};
  in.input_cast = true;
  const Linear out{"mamba out", OpRole::projection, s.tokens,     mamba.inner() / tp,
                   s.hidden,    s.tokens,           s.norm_tokens};
  const Scan scan = scan_of(job, s.tokens * job.layout.cp, tp * job.layout.cp);
  switch (pass) {
    case Pass::forward:
      append_linear(in, pass, s, ops);
      append_low_rank(job, s, pass, ops);
      append_scan(mamba.form().forward, scan, ops);
      append_linear(out, pass, s, ops);
      return;
    case Pass::backward_input:
      append_linear(out, pass, s, ops);
      append_scan(mamba.form().backward, scan, ops);
      append_low_rank(job, s, pass, ops);
      append_linear(in, pass, s, ops);
      return;
    case Pass::backward_weight:
      append_linear(out, pass, s, ops);
      append_low_rank(job, s, pass, ops);
      append_linear(in, pass, s, ops);
      return;
  }
}

double scan_convention(const Job& job) {
  const MambaMixer& mamba = job.model.mamba;
  double executed = 0;  // FLOPs per token
  const Scan scan = scan_of(job, 1, 1);
  for (const ScanKernel& kernel : mamba.form().forward) executed += scan_op(kernel, scan).flops;
  return std::max(1.0, mamba.counted_flops(job.batch.sequence) / executed);
}

double mamba_workspace_bytes(const Job& job, double rows) {
  const MambaMixer& mamba = job.model.mamba;
  const double tp = job.layout.tp;
  const double chunk = std::min<double>(mamba.chunk_tokens(), job.batch.sequence);
  const double states = rows / chunk * mamba.inner() * mamba.state;
  const double convolved = mamba.form().convolution ? rows * mamba.convolved() : 0;
  return (2 * kFp32 * states + bytes_of(job.precision) * convolved) / tp;
}

}  // namespace windtunnel
