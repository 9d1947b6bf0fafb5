// A Mamba-2 mixer as Megatron-LM trains it with the Triton kernels of mamba_ssm (Dao and Gu 2024,
// arXiv 2405.21060, section 6): the sequence in chunks of Q tokens, of each head P numbers and a
// state of N for each of them, B and C shared by the heads of a group. What crosses chunks is a
// state in fp32; within one C B^T takes the place of attention's scores. The backward pass has kept
// the projection's output alone and makes convolution, states and C B^T again. Kernels read
// what heads of a group share once, out of the L2 cache.
#include <algorithm>
#include <span>

#include "models/cost/op/element_wise.hpp"

namespace windtunnel {
namespace {

// Of one GPU; widths divided by tp, and under context parallelism tokens before and heads behind
// the exchange, so that their product stays.
struct Scan {
  double e = 0;       // bytes of an element
  double tokens = 0;  // T
  double inner = 0;   // heads x P
  double shared = 0;  // groups x N
  double heads = 0;
  double groups = 0;
  double chunk = 0;  // Q
  double width = 0;  // P
  double state = 0;  // N

  double convolved() const { return inner + 2 * shared; }
  double states() const { return tokens / chunk * inner * state; }  // numbers, of all chunks
  double scores() const { return tokens * chunk * groups; }         // of C B^T
  double rows_bytes() const { return e * tokens * inner; }          // input, output, a gradient
  double shared_bytes() const { return e * tokens * shared; }       // B or C
};
constexpr double kFp32 = 4;

Scan scan_of(const Job& job, const Shard& s) {
  const MambaMixer& mamba = job.model.mamba;
  const double tp = job.layout.tp;
  Scan scan;
  scan.e = s.e;
  scan.tokens = s.tokens * job.layout.cp;
  const double ranks = tp * job.layout.cp;
  scan.inner = mamba.inner() / ranks;
  scan.shared = std::max(mamba.shared() / ranks, double(mamba.state));
  scan.heads = mamba.heads / ranks;
  scan.groups = scan.shared / mamba.state;
  scan.chunk = std::min<double>(mamba.chunk, job.batch.sequence);
  scan.width = mamba.head_width;
  scan.state = mamba.state;
  return scan;
}

// Products of m x k by k x n, for each chunk and so many heads or groups.
Op scan_product(std::string_view name, double m, double n, double k, double each, const Scan& scan,
                double bytes) {
  Op op;
  op.name = name;
  op.kind = OpKind::attention_gemm;
  op.m = m;
  op.n = n;
  op.k = k;
  op.batch = scan.tokens / scan.chunk * each;
  op.flops = 2 * op.batch * m * n * k;
  op.bytes = bytes;
  return op;
}

// From the projection's output to the states before every chunk, and C B^T.
void append_states(const Scan& scan, std::vector<Op>& ops) {
  ops.push_back(memory_op("convolution", 2 * scan.e * scan.tokens * scan.convolved()));
  ops.push_back(memory_op("step sizes", (scan.e + 2 * kFp32) * scan.tokens * scan.heads));
  ops.push_back(scan_product("chunk states", scan.width, scan.state, scan.chunk, scan.heads, scan,
                             scan.rows_bytes() + scan.shared_bytes() + kFp32 * scan.states()));
  ops.push_back(memory_op("state passing", (kFp32 + scan.e) * scan.states()));
  ops.push_back(scan_product("chunk products", scan.chunk, scan.chunk, scan.state, scan.groups,
                             scan, 2 * scan.shared_bytes() + kFp32 * scan.scores()));
}

// What earlier chunks give to a token, and the earlier tokens of its own: half of them.
Op chunk_scan_op(std::string_view name, const Scan& scan, double rows_moved) {
  const double bytes = rows_moved * scan.rows_bytes() + scan.shared_bytes() +
                       scan.e * scan.states() + kFp32 * scan.scores();
  return scan_product(name, scan.chunk, scan.width, scan.state + scan.chunk / 2, scan.heads, scan,
                      bytes);
}

void append_forward_scan(const Scan& scan, std::vector<Op>& ops) {
  append_states(scan, ops);
  ops.push_back(chunk_scan_op("chunk scan", scan, 2));
  ops.push_back(memory_op("gated norm", 3 * scan.rows_bytes()));
}

// Gradients: of gate and scan's output; of the states, back through the chunks; of the input (with
// that of the step sizes); of B and C by the states and by C B^T; of the decays; of the
// convolution.
void append_backward_scan(const Scan& scan, std::vector<Op>& ops) {
  const double rows = scan.rows_bytes();
  const double shared = scan.shared_bytes();
  const double states = scan.e * scan.states();
  const double scores = kFp32 * scan.scores();
  const double half = scan.chunk / 2;
  ops.push_back(memory_op("gated norm", 5 * rows));
  append_states(scan, ops);
  ops.push_back(scan_product("state gradients", scan.width, scan.state, scan.chunk, scan.heads,
                             scan, rows + shared + kFp32 * scan.states()));
  ops.push_back(memory_op("state passing", 3 * kFp32 * scan.states()));
  ops.push_back(chunk_scan_op("input gradients", scan, 3));
  for (const char* name : {"B gradients", "C gradients"}) {
    ops.push_back(scan_product(name, scan.chunk, scan.state, scan.width, scan.heads, scan,
                               rows + states + shared + kFp32 / scan.e * shared));
  }
  for (const char* name : {"product gradients", "decay gradients"}) {
    ops.push_back(
        scan_product(name, scan.chunk, half, scan.width, scan.heads, scan, 2 * rows + scores));
  }
  for (const char* name : {"B gradients", "C gradients"}) {
    ops.push_back(scan_product(name, scan.chunk, scan.state, scan.chunk, scan.groups, scan,
                               scores + 2 * shared + kFp32 / scan.e * shared));
  }
  ops.push_back(memory_op("convolution", 3 * scan.e * scan.tokens * scan.convolved()));
}

// Between the two linear layers.
void append_scan(const Scan& scan, Pass pass, std::vector<Op>& ops) {
  const std::size_t first = ops.size();
  if (pass == Pass::forward) append_forward_scan(scan, ops);
  if (pass == Pass::backward_input) append_backward_scan(scan, ops);
  for (Op& op : std::span(ops).subspan(first)) op.scan = true;
}

}  // namespace

void append_mamba(const Job& job, const Shard& s, Pass pass, std::vector<Op>& ops) {
  const MambaMixer& mamba = job.model.mamba;
  const double tp = job.layout.tp;
  Linear in{"mamba in", OpRole::query_key_value, s.tokens,
            s.hidden,   mamba.projected() / tp,  s.norm_tokens};
  in.input_cast = true;
  const Linear out{"mamba out", OpRole::projection, s.tokens,     mamba.inner() / tp,
                   s.hidden,    s.tokens,           s.norm_tokens};
  const Scan scan = scan_of(job, s);
  switch (pass) {
    case Pass::forward:
      append_linear(in, pass, s, ops);
      append_scan(scan, pass, ops);
      append_linear(out, pass, s, ops);
      return;
    case Pass::backward_input:
      append_linear(out, pass, s, ops);
      append_scan(scan, pass, ops);
      append_linear(in, pass, s, ops);
      return;
    case Pass::backward_weight:
      append_linear(out, pass, s, ops);
      append_linear(in, pass, s, ops);
      return;
  }
}

double scan_convention(const Job& job) {
  constexpr double kCounted = 7;  // of a number of the state and token: layer_flops()
  const MambaMixer& mamba = job.model.mamba;
  const double chunk = std::min<double>(mamba.chunk, job.batch.sequence);
  // Forward work for a token: its share of the chunk's state, what earlier tokens add, and C B^T.
  const double executed =
      mamba.inner() * (4.0 * mamba.state + chunk) + 2.0 * mamba.shared() * chunk;
  return std::max(1.0, kCounted * mamba.inner() * mamba.state / executed);
}

double mamba_workspace_bytes(const Job& job, double rows) {
  const MambaMixer& mamba = job.model.mamba;
  const double tp = job.layout.tp;
  const double chunk = std::min<double>(mamba.chunk, job.batch.sequence);
  const double states = rows / chunk * mamba.inner() * mamba.state;
  return (2 * kFp32 * states + bytes_of(job.precision) * rows * mamba.convolved()) / tp;
}

}  // namespace windtunnel
