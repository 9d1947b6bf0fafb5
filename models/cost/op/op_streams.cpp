// Blocks of diffusion transformers. Two streams (Stable Diffusion 3: arXiv 2403.03206, figure 2):
// text and image have norms, projections and MLPs of their own, and attention sees both. One stream
// (FLUX.1; the parallel layers of Dehghani et al. 2023, arXiv 2302.05442): one norm, one matrix for
// queries, keys, values and the MLP's first product, one for attention's and the MLP's last.
//
// The condition of a sequence modulates a layer (adaLN): a matrix over one row a sequence makes
// shifts, scales and gates. Compiled or fused kernels apply them on the way; PyTorch alone reads
// and writes the rows once more for each.
#include "models/cost/op/element_wise.hpp"

namespace windtunnel {
namespace {

// The part of the rows that a stream's weights work on.
Shard stream_of(const Shard& s, double share) {
  Shard stream = s;
  stream.tokens *= share;
  stream.norm_tokens *= share;
  return stream;
}

struct Stream {
  Shard shard;
  bool read = true;  // else only its keys and values are used
};

// The image's stream and, if there is text, the text's stream.
std::vector<Stream> streams_of(const Job& job, Block block, const Shard& s) {
  const double text = job.model.text_share(job.batch.sequence);
  std::vector<Stream> streams = {{stream_of(s, 1 - text)}};
  if (text > 0) streams.push_back({stream_of(s, text), block == Block::double_stream});
  return streams;
}

// Appends the ops between the first norm and the inputs of attention, in the direction of the pass.
void append_before(const Job& job, const Stream& stream, Pass pass, std::vector<Op>& ops) {
  const Shard& s = stream.shard;
  if (pass == Pass::forward) ops.push_back(norm_op("norm 1", pass, s));
  append_attention_inputs(job, s, pass, ops);
  if (pass == Pass::backward_input) ops.push_back(norm_op("norm 1", pass, s));
}

void append_behind(const Job& job, const Stream& stream, Pass pass, std::vector<Op>& ops) {
  if (!stream.read) return;
  const Shard& s = stream.shard;
  Op first = residual_op("residual 1", pass, job.model, s);
  first.role = OpRole::first_residual;
  const Op second = residual_op("residual 2", pass, job.model, s);
  switch (pass) {
    case Pass::forward:
      append_projection(job, s, pass, ops);
      ops.insert(ops.end(), {first, norm_op("norm 2", pass, s, NormPlace::joined)});
      append_mlp(job, s, pass, ops);
      ops.push_back(second);
      return;
    case Pass::backward_input:
      ops.push_back(second);
      append_mlp(job, s, pass, ops);
      ops.insert(ops.end(), {norm_op("norm 2", pass, s), first});
      append_projection(job, s, pass, ops);
      return;
    case Pass::backward_weight:
      append_mlp(job, s, pass, ops);
      append_projection(job, s, pass, ops);
      return;
  }
}

}  // namespace

void append_two_streams(const Job& job, Block block, const Shard& s, Pass pass,
                        std::vector<Op>& ops) {
  const std::vector<Stream> streams = streams_of(job, block, s);
  const auto before = [&] {
    for (const Stream& stream : streams) append_before(job, stream, pass, ops);
  };
  const auto behind = [&] {
    for (const Stream& stream : streams) append_behind(job, stream, pass, ops);
  };
  if (pass == Pass::forward) {
    before();
    append_attention_core(job, s, pass, ops);
    behind();
  } else {
    behind();
    append_attention_core(job, s, pass, ops);
    before();
  }
}

void append_single_stream(const Job& job, const Shard& s, Pass pass, std::vector<Op>& ops) {
  const Op norm = norm_op("norm 1", pass, s);
  Op residual = residual_op("residual 1", pass, job.model, s);
  residual.role = OpRole::first_residual;
  Linear in{"qkv, up", OpRole::query_key_value, s.tokens,
            s.hidden,  s.q + s.k + s.v + s.up,  s.norm_tokens};
  in.input_cast = true;
  const Linear out{"projection, down", OpRole::projection, s.tokens,     s.context + s.ffn,
                   s.hidden,           s.tokens,           s.norm_tokens};
  switch (pass) {
    case Pass::forward:
      ops.push_back(norm);
      append_linear(in, pass, s, ops);
      append_rotary(job, s, pass, ops);
      append_attention_core(job, s, pass, ops);
      append_activation(job, RecomputeModule::mlp_act, pass, s, ops);
      append_linear(out, pass, s, ops);
      ops.push_back(residual);
      return;
    case Pass::backward_input:
      ops.push_back(residual);
      append_linear(out, pass, s, ops);
      append_activation(job, RecomputeModule::mlp_act, pass, s, ops);
      append_attention_core(job, s, pass, ops);
      append_rotary(job, s, pass, ops);
      append_linear(in, pass, s, ops);
      ops.push_back(norm);
      return;
    case Pass::backward_weight:
      append_linear(out, pass, s, ops);
      append_linear(in, pass, s, ops);
      return;
  }
}

void append_modulation(const Job& job, Block block, const Shard& s, Pass pass,
                       std::vector<Op>& ops) {
  const double vectors = job.model.modulation_of(block);
  if (vectors == 0) return;
  const Linear linear{"modulation", OpRole::other, static_cast<double>(job.batch.micro), s.hidden,
                      vectors * s.hidden / job.layout.tp};
  ops.push_back(plain_linear_op(linear, pass, s.e, job, s));
  if (s.fusion != Fusion::none || pass == Pass::backward_weight) return;
  // Reads and writes the rows for each vector; the backward pass makes the gradients of the rows
  // and of the vector.
  const double per_stream = vectors / (has_two_streams(block) ? 2 : 1);
  const double passes = pass == Pass::forward ? 2 : 3;
  ops.push_back(memory_op("modulated rows", passes * per_stream * s.e * s.norm_tokens * s.hidden));
}

}  // namespace windtunnel
