#include "models/cost/chunk/activations.hpp"

#include "models/base/error.hpp"
#include "models/compression/compressors.hpp"
#include "models/workload/context_traffic.hpp"
#include "models/workload/expert_routing.hpp"

namespace windtunnel {
namespace {

// Rows of the GEMMs on one GPU, and of what sequence parallelism divides.
struct Rows {
  double full = 0;
  double divided = 0;
};

Rows rows_of(const Job& job, const SequenceSlice& slice) {
  Rows rows;
  rows.full =
      slice.share() * static_cast<double>(job.batch.micro) * job.batch.sequence / job.layout.cp;
  const bool divided = job.layout.sequence_parallel || job.layout.mesh_side() > 1;
  rows.divided = divided ? rows.full / job.layout.tp : rows.full;
  return rows;
}

// Of one element of a GEMM's input that is kept for the weight gradient. Transformer Engine keeps
// it in the precision of the GEMM, with the scales of its blocks.
double kept_input_bytes(const Job& job) {
  if (!job.software.scaled_copies) return bytes_of(job.precision);
  switch (job.precision) {
    case Precision::fp8:
      return 1;
    case Precision::mxfp8:
      return 1 + 1.0 / 32;
    case Precision::nvfp4:
      return 0.5 + 1.0 / 16;
    default:
      return bytes_of(job.precision);
  }
}

// What attention keeps beside its input and output: the saved softmax, its dropout mask and
// dropped-out copy (2 + 1 + 2 B per score), or the fp32 log-sum-exp of the fused kernel.
double score_bytes(const Job& job, const SequenceSlice& slice) {
  const double e = bytes_of(job.precision);
  const double heads = static_cast<double>(job.model.heads) / job.layout.tp;
  const double rows = rows_of(job, slice).full;
  if (job.model.attention == AttentionKernel::flash) return 4 * heads * rows;
  if (job.model.attention == AttentionKernel::linear) {
    return e * heads * job.batch.micro * job.model.query_dim() * job.model.value_dim();
  }
  return (job.model.dropout ? 2 * e + 1 : e) * heads * rows * slice.end *
         attended_keys(job.model, job.batch.sequence);
}

// Of keys and values as attention reads them.
double key_value_bytes(const Job& job, double rows) {
  const TransformerSpec& model = job.model;
  const double width =
      model.latent.kv_rank > 0 ? model.q_width() + model.context_width() : 2.0 * model.kv_width();
  return bytes_of(job.precision) * rows * width / job.layout.tp;
}

// Queries, keys and values; under latent attention also the compressed ones, before and after
// their norms, which are not divided by tp.
double qkv_bytes(const Job& job, const Rows& rows) {
  const TransformerSpec& model = job.model;
  const double e = bytes_of(job.precision);
  const double tp = job.layout.tp;
  if (model.latent.kv_rank == 0) {
    return e * rows.full * (model.q_width() + 2.0 * model.kv_width()) / tp;
  }
  const double compressed =
      2.0 * (model.latent.query_rank + model.latent.kv_rank) + model.latent.rotary_width;
  return e * (rows.divided * compressed +
              rows.full * (2.0 * model.q_width() + model.context_width()) / tp);
}

// What Ulysses keeps beside that: copied key heads, and attention's output before it is exchanged.
double exchanged_bytes(const Job& job, const Rows& rows) {
  const TransformerSpec& model = job.model;
  const int ulysses = job.layout.ulysses_ranks();
  if (ulysses == 1) return 0;
  const double tp = job.layout.tp;
  const double copies = model.latent.kv_rank > 0 ? 0 : key_copies(model.kv_heads / tp, ulysses) - 1;
  return bytes_of(job.precision) * rows.full *
         (copies * 2 * model.kv_width() + model.context_width()) / tp;
}

// An MLP, or the experts of a rank, over rows of `width` columns on this GPU.
struct Mlp {
  double up = 0;       // output of the first matrix
  double product = 0;  // input of the second one
  double kept = 0;     // both, and what the software keeps beside them
};

Mlp mlp_bytes(const Job& job, double rows, double width) {
  const double e = bytes_of(job.precision);
  const bool gated = job.model.activation == Activation::swiglu;
  Mlp mlp;
  mlp.up = e * rows * width * (gated ? 2 : 1);
  mlp.product = e * rows * width;
  mlp.kept = mlp.up + kept_input_bytes(job) * rows * width;
  // The gate's activation is a tensor of its own unless it is fused with the product.
  if (gated && job.software.fusion == Fusion::none) mlp.kept += e * rows * width;
  if (job.software.held_tensors && job.layout.tp > 1) mlp.kept += mlp.up;
  return mlp;
}

// Of a mixture of experts, beside the norm's output: the router's scores in fp32, before and after
// the softmax; every expert's input and output, as often as tokens are sent; the shared experts.
struct Experts {
  Mlp mlp;
  double inputs = 0;
  double outputs = 0;
  double router = 0;
};

Experts expert_bytes(const Job& job, const Rows& rows) {
  const MixtureOfExperts& moe = job.model.moe;
  // Experts are not divided by tp: the ranks of a tp group share the tokens.
  const double own = rows.full / job.layout.tp;
  const double busiest = moe.zipf > 0 ? expert_load(moe, job.layout.ep).busiest() : moe.imbalance;
  const double sent = own * moe.per_token * busiest;
  Experts experts;
  experts.mlp = mlp_bytes(job, sent, moe.ffn_hidden);
  const Mlp shared = mlp_bytes(job, rows.full, moe.shared_ffn / static_cast<double>(job.layout.tp));
  experts.mlp.up += shared.up;
  experts.mlp.product += shared.product;
  experts.mlp.kept += shared.kept;
  experts.inputs = kept_input_bytes(job) * sent * job.model.hidden;
  experts.outputs = bytes_of(job.precision) * sent * job.model.hidden;
  experts.router = 2 * 4 * own * moe.experts;
  return experts;
}

}  // namespace

LayerActivations layer_activations(const Job& job, Block block, const SequenceSlice& slice) {
  const TransformerSpec& model = job.model;
  const Layout& layout = job.layout;
  const double e = bytes_of(job.precision);
  const Rows rows = rows_of(job, slice);
  const double h = model.hidden;
  const double input = e * rows.divided * h;  // of the layer; each norm's output is as large
  const double norm_output = kept_input_bytes(job) * rows.divided * h;
  const double masks = model.dropout ? 2 * rows.divided * h : 0;
  const double qkv = qkv_bytes(job, rows);
  const double context = e * rows.full * model.context_width() / layout.tp;
  const double scores = score_bytes(job, slice);
  const bool fused = model.attention != AttentionKernel::unfused;
  const bool moe = block == Block::moe_layer;
  const Experts experts = moe ? expert_bytes(job, rows) : Experts{};
  const Mlp mlp =
      moe ? experts.mlp
          : mlp_bytes(job, rows.full, model.ffn_hidden / static_cast<double>(layout.tp));
  const double routed = experts.inputs + experts.outputs + experts.router;

  // Inputs of the two norms, the norms' outputs (inputs of QKV and up projection), q k v, context.
  const double everything = 2 * input + 2 * norm_output + masks + qkv + context +
                            exchanged_bytes(job, rows) + mlp.kept + routed + scores;
  const double dropped = 2 * norm_output + mlp.product + (fused ? 0 : scores);  // by selective

  LayerActivations bytes;
  // Output gradients of QKV, projection, up and down; inputs of the same.
  bytes.for_weights = (2 * input + context + mlp.product) + (qkv + input + mlp.up + input) + routed;
  // Input of a column-parallel layer, all of its rows; on a mesh, of a step of SUMMA a block of
  // that and one of the widest weights.
  const double gathered =
      layout.mesh_side() > 1 ? input + e * h * model.up_width() / layout.tp : e * rows.full * h;
  // The buffers that gathers and scatters go through, one each way, stay.
  const double through = job.software.held_tensors && layout.tp > 1 ? 2 * gathered : 0;
  bytes.transient =
      through + 2 * gathered + mlp.up + mlp.product + experts.inputs + experts.outputs;
  switch (job.recompute) {
    case Recompute::none:
      bytes.kept = everything;
      break;
    case Recompute::selective:
      if (job.software.every_other_gemm) {
        // Products in order: q k v projection, gate up down: the first of each pair is kept.
        const double values = e * rows.full * model.kv_width() / layout.tp;
        const double queries = e * rows.full * model.q_width() / layout.tp;
        bytes.kept = input + queries + values + context + scores + mlp.product + input;
        bytes.transient += everything - bytes.kept;
        break;
      }
      bytes.kept = everything - dropped;
      bytes.transient += dropped;
      break;
    case Recompute::full:
      bytes.kept = input + (slice.share() < 1 ? key_value_bytes(job, rows.full) : 0);
      bytes.transient += everything;
      break;
    case Recompute::automatic:
      CHECK(false, "what is recomputed is not chosen yet");
  }
  bytes.recomputed = everything - bytes.kept;
  return bytes;
}

double pending_gradient_bytes(const Job& job, const SequenceSlice& slice) {
  return key_value_bytes(job, rows_of(job, {0, slice.begin}).full);
}

LayerActivations head_activations(const Job& job, const SequenceSlice& slice) {
  const TransformerSpec& model = job.model;
  const Layout& layout = job.layout;
  const double e = bytes_of(job.precision);
  const Rows rows = rows_of(job, slice);
  const double logits = rows.full * padded_vocabulary(model.vocabulary, layout.tp) / layout.tp;
  // The softmax is kept in fp32; what is left of the copies lives while the loss is computed. One
  // kernel for the loss writes the gradient over the logits.
  const double softmax = job.software.fused_loss ? e : 4;
  const double at_peak = job.software.fused_loss ? 2 * e : job.software.logit_bytes;
  LayerActivations bytes;
  bytes.kept = 2 * e * rows.divided * model.hidden + softmax * logits;
  bytes.for_weights = e * rows.divided * model.hidden + e * logits;
  bytes.transient = 2 * e * rows.full * model.hidden + (at_peak - softmax) * logits;
  return bytes;
}

BoundaryRecipe stage_boundary(const Job& job, const SequenceSlice& slice) {
  const double e = bytes_of(job.precision);
  const double rows = rows_of(job, slice).divided;
  const double rank = job.communication.boundary_rank;
  if (rank == 0) {
    const double elements = rows * job.model.hidden;
    const auto codec = activation_codec(job.communication.compressors.pp);
    return codec ? packed_boundary(elements, e, *codec) : BoundaryRecipe{.bytes = e * elements};
  }
  BoundaryRecipe cut = low_rank_boundary(rows, job.model.hidden, rank, e);
  if (!is_scaled(job.precision)) return cut;
  for (auto* ops : {&cut.before, &cut.behind}) {
    for (Op& op : *ops) op.precision = Precision::bf16;
  }
  return cut;
}

int boundary_parts(const Job& job) {
  const Layout& layout = job.layout;
  const bool equal = !layout.sequence_parallel && layout.mesh_side() == 1;
  return job.software.scatter_sends && equal && layout.pp > 1 ? layout.tp : 1;
}

void check_boundary(const Job& job) {
  const double rank = job.communication.boundary_rank;
  if (rank == 0) return;
  constexpr const char* kKey = "communication.boundary_rank";
  if (compresses(job.communication.compressors.pp)) {
    throw Error::about({kKey, "compress"},
                       "{} and compress with axis: pp both say how activations cross a pipeline "
                       "cut; state one of them",
                       kKey);
  }
  if (job.layout.pp == 1) {
    throw Error::of_key(kKey, ": layout.pp is 1, so that no activations are sent on; leave it out");
  }
  if (job.layout.mesh_side() > 1) {
    throw Error::of_key(kKey,
                        ": with layout.tp_form 2d no rank has whole rows to multiply; take 1d");
  }
  if (rank > job.model.hidden) {
    throw Error::of_key(kKey, ": {:g} is above the width {} of the activations of model '{}'", rank,
                        job.model.hidden, job.model.name);
  }
}

}  // namespace windtunnel
