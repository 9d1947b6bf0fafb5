// Attention of a decoder's layer to what the encoder made of the source (Vaswani et al. 2017, arXiv
// 1706.03762, section 3.2.3): queries of the decoder's tokens, keys and values of the source's,
// which every layer projects anew, so that each adds to the gradient of the encoder's output.
#include "models/cost/op/element_wise.hpp"

namespace windtunnel {
namespace {

void append_cross_inputs(const Job& job, const Shard& s, Pass pass, std::vector<Op>& ops) {
  const double sources = sources_per_token(job);
  Linear queries{"cross q", OpRole::query, s.tokens, s.hidden, s.q, s.norm_tokens};
  queries.input_cast = true;
  queries.site = LinearSite::query_key_value;
  Linear keys{"cross kv", OpRole::key_value_up,   s.tokens * sources, s.hidden,
              s.k + s.v,  s.norm_tokens * sources};
  keys.site = LinearSite::query_key_value;
  keys.products = 2;
  append_linear(queries, pass, s, ops);
  append_linear(keys, pass, s, ops);
  if (pass != Pass::backward_input) return;
  ops.push_back(memory_op("source gradient", 3 * s.e * s.norm_tokens * sources * s.hidden));
}

}  // namespace

double sources_per_token(const Job& job) {
  const double source = job.model.source_tokens;
  return source / (job.batch.sequence - source);
}

Shard cross_shard(const Job& job, const Shard& s) {
  Shard cross = s;
  cross.keys = cross.attended = job.model.source_tokens;
  return cross;
}

void append_cross_half(const Job& job, const Shard& s, Pass pass, std::vector<Op>& ops) {
  const Op residual = residual_op("cross residual", pass, job.model, s);
  const auto core = [&] { append_attention_core(job, cross_shard(job, s), pass, ops); };
  switch (pass) {
    case Pass::forward:
      ops.push_back(norm_op("cross norm", pass, s, NormPlace::joined));
      append_cross_inputs(job, s, pass, ops);
      core();
      append_projection(job, s, pass, ops);
      ops.push_back(residual);
      return;
    case Pass::backward_input:
      ops.push_back(residual);
      append_projection(job, s, pass, ops);
      core();
      append_cross_inputs(job, s, pass, ops);
      ops.push_back(norm_op("cross norm", pass, s));
      return;
    case Pass::backward_weight:
      append_projection(job, s, pass, ops);
      append_cross_inputs(job, s, pass, ops);
      return;
  }
}

}  // namespace windtunnel
