#include "models/cost/chunk/activations.hpp"

#include <algorithm>

#include "models/base/error.hpp"
#include "models/compression/compressors.hpp"
#include "models/cost/op/op.hpp"
#include "models/workload/adapter.hpp"
#include "models/workload/context_traffic.hpp"
#include "models/workload/expert_routing.hpp"

namespace windtunnel {
namespace {

// Rows of the GEMMs on one GPU, and rows of tensors that sequence parallelism divides.
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

// Bytes of one element of a GEMM's input that is kept for the weight gradient. Transformer Engine
// keeps it in the precision of the GEMM, with the scales of its blocks.
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

// What attention keeps in addition to its input and output: the saved softmax, its dropout mask and
// dropped-out copy (2 + 1 + 2 B per score), or the fp32 log-sum-exp of the fused kernel.
// For `rows` rows, each of which attends to the `share` of `keys` keys.
double score_bytes(const Job& job, double rows, double share, double keys) {
  const double e = bytes_of(job.precision);
  const double heads = static_cast<double>(job.model.heads) / job.layout.tp;
  if (job.model.attention == AttentionKernel::flash) return 4 * heads * rows;
  if (job.model.attention == AttentionKernel::linear) {
    return e * heads * job.batch.micro * job.model.query_dim() * job.model.value_dim();
  }
  return (job.model.dropout ? 2 * e + 1 : e) * heads * rows * share * keys;
}

// Width of keys, and of values, as attention reads them without latent attention.
double kept_kv_width(const Job& job) {
  return job.software.repeated_keys ? job.model.q_width() : job.model.kv_width();
}

// Bytes of keys and values as attention reads them.
double key_value_bytes(const Job& job, double rows) {
  const TransformerSpec& model = job.model;
  const double width =
      model.latent.kv_rank > 0 ? model.q_width() + model.context_width() : 2 * kept_kv_width(job);
  return bytes_of(job.precision) * rows * width / job.layout.tp;
}

// Queries, keys and values; under latent attention also the compressed ones, before and after
// their norms, which are not divided by tp.
double qkv_bytes(const Job& job, const Rows& rows) {
  const TransformerSpec& model = job.model;
  const double e = bytes_of(job.precision);
  const double tp = job.layout.tp;
  if (model.latent.kv_rank == 0) {
    return e * rows.full * (model.q_width() + 2 * kept_kv_width(job)) / tp;
  }
  const double compressed =
      2.0 * (model.latent.query_rank + model.latent.kv_rank) + model.latent.rotary_width;
  return e * (rows.divided * compressed +
              rows.full * (2.0 * model.q_width() + model.context_width()) / tp);
}

// What Ulysses keeps in addition: copied key heads, and attention's output before it is exchanged.
double exchanged_bytes(const Job& job, const Rows& rows) {
  const TransformerSpec& model = job.model;
  const int ulysses = job.layout.ulysses_ranks();
  if (ulysses == 1) return 0;
  const double tp = job.layout.tp;
  const double copies = model.latent.kv_rank > 0 ? 0 : key_copies(model.kv_heads / tp, ulysses) - 1;
  return bytes_of(job.precision) * rows.full *
         (copies * 2 * model.kv_width() + model.context_width()) / tp;
}

// Bytes per activation tensor of a dense MLP, or of the local experts, that hold `width` columns on
// this GPU.
struct Mlp {
  double up = 0;            // output of the first matrix
  double product = 0;       // input of the second one
  double kept = 0;          // up, product, and further tensors that the software keeps
  double kept_product = 0;  // part of it for the second matrix's gradient
};

// Whether tensors stay allocated until the host frees them, because the host runs ahead of the GPU.
// In a pipeline of two stages the host waits for the peer after each forward, and runs ahead only
// if kernels (here the MLP's activation with `kernel_bytes`) take longer than their launch.
bool holds_tensors(const Job& job, double kernel_bytes) {
  if (!job.software.held_tensors || job.layout.tp == 1) return false;
  const double kernel_s = kernel_bytes / job.cluster.node.gpu.memory_Bps.value;
  return job.layout.pp != 2 || kernel_s > job.calibration.host_kernel_s.value;
}

// `fused`: one kernel does the products and the activation between them.
Mlp mlp_bytes(const Job& job, double rows, double width, bool fused = false) {
  const double e = bytes_of(job.precision);
  const bool gated = job.model.activation == Activation::swiglu;
  Mlp mlp;
  mlp.up = e * rows * width * (gated ? 2 : 1);
  mlp.product = e * rows * width;
  mlp.kept_product = kept_input_bytes(job) * rows * width;
  const double kept_element = gated && job.software.fp8_activation_inputs ? 1 : e;
  mlp.kept = mlp.up / e * kept_element + mlp.kept_product;
  // Kernels that clamp keep their input and write another tensor, which the activation keeps.
  const bool joined = job.software.fusion == Fusion::compiled || fused;
  if (gated && job.model.clamped_activation && !joined) mlp.kept += mlp.up;
  // The gate's activation is a separate tensor unless it is fused with the product.
  if (gated && job.software.fusion == Fusion::none) mlp.kept += e * rows * width;
  if (holds_tensors(job, mlp.up + mlp.product)) mlp.kept += mlp.up;
  return mlp;
}

// What a mixture of experts keeps, in addition to the norm's output: the router's scores in fp32,
// before and after the softmax; every expert's input and output, once per routed token; the shared
// experts.
struct Experts {
  Mlp mlp;
  Mlp shared;
  double inputs = 0;
  double kept_outputs = 0;
  double outputs = 0;
  double router = 0;
  double rows = 0;  // rows that the experts of a rank get
};

Experts expert_bytes(const Job& job, const Rows& rows) {
  const MixtureOfExperts& moe = job.model.moe;
  // Experts are not divided by tp: the ranks of a tp group share the tokens.
  const double own = rows.full / job.layout.tp;
  const double busiest = moe.zipf > 0 ? expert_load(moe, job.layout.ep).busiest() : moe.imbalance;
  const double sent = own * moe.per_token * busiest;
  Experts experts;
  experts.rows = sent;
  experts.mlp = mlp_bytes(job, sent, moe.ffn_hidden, job.software.fused_experts);
  experts.shared = mlp_bytes(job, rows.full, moe.shared_ffn / static_cast<double>(job.layout.tp));
  experts.inputs = kept_input_bytes(job) * sent * job.model.expert_width();
  experts.outputs = bytes_of(job.precision) * sent * job.model.expert_width();
  if (job.software.kept_expert_outputs) experts.kept_outputs = experts.outputs;
  // The copies of rows made for the experts, and the sum of their outputs.
  experts.inputs += bytes_of(job.precision) * own * moe.latent_width;
  const double summed = kept_input_bytes(job) * own * moe.latent_width;
  experts.outputs += summed;
  experts.kept_outputs += summed;
  experts.router = 2 * 4 * own * moe.experts;
  return experts;
}

// Tensors written by a layer's passes, each kept for the backward pass unless it is recomputed or
// spared.
struct LayerTensors {
  Rows rows;
  double input = 0;        // of the layer, and of each of its norms
  double norm_output = 0;  // of one norm, as it is kept
  double masks = 0;
  double copies = 0;  // copies for eager norms and rotary embeddings
  double qkv = 0;
  double latent_up = 0;  // part of it that up projections from latents use
  double context = 0;
  double exchanged = 0;
  double scores = 0;
  bool fused = false;
  double halves = 2;     // number of halves, each with a norm
  double workspace = 0;  // of the backward pass of a Mamba layer
  Mlp mlp;
  bool tiled = false;  // the MLP's tensors are those of one tile, and none is kept
  Experts experts;

  double routed() const { return experts.inputs + experts.outputs + experts.router; }
  // The sum includes the inputs of the two norms, their outputs (inputs of QKV and up projection),
  // q, k, v and attention's context.
  double everything() const {
    return halves * (input + norm_output) + masks + copies + qkv + context + exchanged + mlp.kept +
           kept_routed() + scores;
  }
  double kept_routed() const { return experts.inputs + experts.kept_outputs + experts.router; }
};

// Tensors of a Mamba layer: the projection's output; the input of its gate; the norm's output,
// which the output matrix reads; and those that its form keeps.
void set_mamba(const Job& job, LayerTensors& at) {
  const MambaMixer& mamba = job.model.mamba;
  const double rows = bytes_of(job.precision) * at.rows.full / job.layout.tp;
  at.qkv = rows * mamba.projected();
  at.context = (bytes_of(job.precision) + kept_input_bytes(job)) / bytes_of(job.precision) * rows *
               mamba.inner();
  at.workspace = at.qkv + mamba_workspace_bytes(job, at.rows.full);
  const ScanForm& form = mamba.form();
  at.qkv +=
      rows * (form.kept_convolved * mamba.convolved() + form.kept_keys * mamba.heads * mamba.state +
              form.kept_triangles * mamba.heads * mamba.chunk_tokens());
  if (job.layout.cp > 1) at.exchanged = rows * (mamba.projected() + mamba.inner());
}

void set_attention(const Job& job, const SequenceSlice& slice, LayerTensors& at) {
  const TransformerSpec& model = job.model;
  const double e = bytes_of(job.precision);
  if (job.software.whole_qkv) {
    at.copies += e * at.rows.full * (model.q_width() + model.kv_width()) / job.layout.tp;
  }
  at.qkv = qkv_bytes(job, at.rows);
  if (model.latent.kv_rank > 0) {
    at.latent_up =
        e * (at.rows.divided * (model.latent.query_rank + model.latent.kv_rank) +
             at.rows.full * (2.0 * model.q_width() + model.context_width()) / job.layout.tp);
  }
  at.context = e * at.rows.full * model.context_width() / job.layout.tp;
  if (model.attention_gate) {  // keeps the gate and what it multiplies
    at.copies += 2 * at.context;
  }
  if (const SparseAttention& sparse = model.sparse; model.chooses_keys(job.batch.sequence)) {
    constexpr double kIndexAndScore = 4 + 4;
    at.copies += at.rows.full * (e * (sparse.heads * (sparse.width + 1.0) + sparse.width) +
                                 kIndexAndScore * sparse.top_k);
  }
  at.exchanged = exchanged_bytes(job, at.rows);
  at.scores = score_bytes(job, at.rows.full, slice.end, attended_keys(model, job.batch.sequence));
  if (model.projected_keys > 0) {
    const double few = double(job.batch.micro) * model.keys_of(job.batch.sequence);
    at.qkv += e * few * 2 * kept_kv_width(job) / job.layout.tp;
  }
}

// Adds a decoder's attention to the encoder's output: queries, keys, values and context. The
// encoder's output itself is kept once for all layers (head_activations).
void set_cross(const Job& job, LayerTensors& at) {
  const TransformerSpec& model = job.model;
  const double row = bytes_of(job.precision) * at.rows.full / job.layout.tp;
  at.qkv += row * (model.q_width() + sources_per_token(job) * 2 * kept_kv_width(job));
  at.context += row * model.context_width();
  at.scores += score_bytes(job, at.rows.full, 1, model.source_tokens);
}

LayerTensors layer_tensors(const Job& job, Block block, const SequenceSlice& slice) {
  const TransformerSpec& model = job.model;
  LayerTensors at;
  const SequenceSlice own = part_of(job, block, slice);
  at.rows = rows_of(job, own);
  const double e = bytes_of(job.precision);
  const double h = model.hidden;
  at.input = e * at.rows.divided * h;
  at.norm_output = kept_input_bytes(job) * at.rows.divided * h;
  at.halves = halves(block);
  at.masks = model.dropout ? at.halves * at.rows.divided * h : 0;
  at.copies = at.halves * job.software.norm_copy_bytes * at.rows.divided * h;
  at.fused = model.attention != AttentionKernel::unfused;
  if (has_attention(block)) set_attention(job, own, at);
  if (reads_source(block)) set_cross(job, at);
  if (has_mamba(block)) set_mamba(job, at);
  if (has_experts(block)) {
    at.experts = expert_bytes(job, at.rows);
    at.mlp = at.experts.mlp;
    at.mlp.up += at.experts.shared.up;
    at.mlp.product += at.experts.shared.product;
    at.mlp.kept += at.experts.shared.kept;
    at.mlp.kept_product += at.experts.shared.kept_product;
  }
  if (has_mlp(block)) {
    const double tiles = job.software.mlp_tiles;
    at.tiled = tiles > 1;
    at.mlp =
        mlp_bytes(job, at.rows.full / tiles, model.ffn_hidden / static_cast<double>(job.layout.tp));
    if (at.tiled) at.mlp.kept = at.mlp.kept_product = 0;
  }
  return at;
}

// Inputs of products with frozen weights, which need not be kept. Norms, attention, activations and
// the router's weights need their inputs to pass gradients on.
struct Spared {
  double norms = 0;    // outputs of norms
  double context = 0;  // fused attention's own backward pass reads it
  double product = 0;
  double experts = 0;  // inputs of experts
  double sum() const { return norms + context + product + experts; }
};

Spared spared_inputs(const Job& job, Block block, const LayerTensors& at) {
  const PartTraining part = part_training(job.training.get());
  if (part.weights) return {};
  const Adapter& adapter = job.training->adapter;
  if (job.software.quantised_inputs && adapter.kind == AdapterKind::qlora) return {};
  const auto spares = [&](LinearSite site) {
    return !(part.adapter && adapter.trains_first() && !adapter.dropout && adapter.on(site));
  };
  const bool moe = has_experts(block);
  Spared spared;
  // Experts have copies of their rows; a shared expert reads the norm's output itself.
  const bool routed_only = moe && job.model.moe.shared_ffn == 0;
  const bool mixer = has_mixer(block) && spares(LinearSite::query_key_value);
  const bool feed_forward = has_feed_forward(block) && (spares(LinearSite::up) || routed_only);
  const int norms = shares_norm(block) ? int(mixer && feed_forward) : int(mixer) + feed_forward;
  spared.norms = norms * at.norm_output;
  if (spares(LinearSite::up)) spared.experts = at.experts.inputs;
  if (spares(LinearSite::projection) && !at.fused) spared.context = at.context;
  if (spares(LinearSite::down)) spared.product = at.mlp.kept_product;
  return spared;
}

// Bytes that adapters keep: x A, which the gradient of B needs; with dropout its mask and, if A is
// trained, x after dropout; with DoRA the outputs, which the gradient of magnitudes needs.
double adapter_bytes(const Job& job, Block block, const LayerTensors& at) {
  if (!part_training(job.training.get()).adapter) return 0;
  const Adapter& adapter = job.training->adapter;
  const bool dora = adapter.kind == AdapterKind::dora;
  double bytes = 0;
  for (const AdaptedMatrix& matrix : adapted_matrices(job.model, job.layout, adapter, block)) {
    const bool mesh = job.layout.mesh_side() > 1;  // each rank has a block of it
    const double own_rows = mesh ? at.rows.divided : at.rows.full;
    const double rows = matrix.expert ? at.experts.rows : own_rows;
    const double e = bytes_of(job.precision);
    bytes += e * rows * (adapter.rank + (dora ? matrix.out : 0));
    if (adapter.dropout) bytes += rows * matrix.in * (adapter.trains_first() ? 1 + e : 1);
  }
  return bytes;
}

// Bytes kept from I to W: inputs and output gradients of the four GEMMs, in the GEMMs' precision.
double for_weights(const Job& job, const LayerTensors& at, const Spared& spared, double adapters) {
  const double scale = kept_input_bytes(job) / bytes_of(job.precision);
  const double context = scale * at.context;
  const double inputs = scale * (at.halves * at.input + at.mlp.product) + context;
  const double gradients = scale * (at.qkv + at.mlp.up + at.halves * at.input);
  const PartTraining part = part_training(job.training.get());
  if (part.weights) {
    return inputs + gradients + at.experts.inputs + scale * at.experts.outputs + at.experts.router;
  }
  if (!part.adapter) return 0;
  const Adapter& on = job.training->adapter;
  double bytes = adapters;
  if (on.on(LinearSite::query_key_value)) bytes += at.qkv;
  if (on.on(LinearSite::projection)) bytes += at.input;
  if (on.on(LinearSite::up)) bytes += at.mlp.up + at.experts.inputs;
  if (on.on(LinearSite::down)) bytes += at.input + at.experts.outputs;
  return bytes + std::max(0.0, inputs - spared.sum() - (at.fused ? context : 0));
}

// Bytes of a layer's kept tensors that the modules of Job::recompute drop.
double dropped_bytes(const Job& job, Block block, const LayerTensors& at, const Spared& spared) {
  using enum RecomputeModule;
  const Recompute& again = job.recompute;
  double dropped = 0;
  if (again.has(layernorm)) dropped += at.halves * at.norm_output - spared.norms;
  if (again.has(mla_up_proj)) dropped += at.latent_up;
  if (again.has(core_attn) || (again.has(scores) && !at.fused)) dropped += at.scores;
  if (has_attention(block) && again.has(attention)) {  // with the sums that later norms read
    dropped += at.context - spared.context + (at.halves - 1) * at.input;
  }
  const bool routed = has_experts(block);
  const Mlp& shared = at.experts.shared;
  if (routed && again.has(moe)) return dropped + at.mlp.kept + at.kept_routed() - spared.experts;
  if (!routed && again.has(mlp)) return dropped + at.mlp.kept - spared.product;
  const double act = routed ? at.experts.mlp.kept_product : at.mlp.kept_product;
  if (again.has(routed ? moe_act : mlp_act)) dropped += act - spared.product;
  if (again.has(shared_experts)) return dropped + shared.kept;
  return dropped + (routed && again.has(mlp_act) ? shared.kept_product : 0);
}

// torchtitan's "op" policy keeps the first of each pair of consecutive products: q k v projection,
// the same of a decoder's attention to the encoder's output, gate up down.
double kept_of_every_other(const Job& job, Block block, const LayerTensors& at) {
  const TransformerSpec& model = job.model;
  const double row = bytes_of(job.precision) * at.rows.full / job.layout.tp;
  double columns = model.q_width() + model.kv_width();
  if (reads_source(block)) columns += model.q_width() + sources_per_token(job) * model.kv_width();
  const bool attends_again = job.recompute.has(RecomputeModule::core_attn);
  return at.input + row * columns + (attends_again ? 0 : at.context + at.scores) +
         (at.tiled ? 0 : at.mlp.product) + at.input;
}

// Without a backward pass a tensor is freed after the last kernel that reads it.
LayerActivations forward_alone(const LayerTensors& at, double buffers) {
  const double attention = at.norm_output + at.qkv + at.context + at.exchanged + at.scores;
  const double tile = at.tiled ? at.mlp.up + at.mlp.product : 0;
  const double mlp = at.norm_output + at.mlp.kept + tile + at.routed();
  return {.transient = buffers + at.input + std::max(attention, mlp)};
}

}  // namespace

LayerActivations layer_activations(const Job& job, Block block, const SequenceSlice& slice) {
  const TransformerSpec& model = job.model;
  const Layout& layout = job.layout;
  const double e = bytes_of(job.precision);
  const double h = model.hidden;
  const LayerTensors at = layer_tensors(job, block, slice);
  const Rows& rows = at.rows;
  const Spared spared = spared_inputs(job, block, at);
  const double adapters = adapter_bytes(job, block, at);
  const double everything = at.everything() - spared.sum() + adapters;

  LayerActivations bytes;
  bytes.for_weights = for_weights(job, at, spared, adapters);
  // A column-parallel layer gathers all rows of its input. On a mesh, a step of SUMMA gathers a
  // block of the input and one of the widest weights.
  const double gathered =
      layout.mesh_side() > 1 ? at.input + e * h * model.up_width() / layout.tp : e * rows.full * h;
  // The buffers of gathers and scatters, one in each direction, stay allocated.
  const double through = job.software.held_tensors && layout.tp > 1 ? 2 * gathered : 0;
  if (!part_training(job.training.get()).backward) return forward_alone(at, through + gathered);
  bytes.transient =
      through + 2 * gathered +
      std::max(at.workspace, at.mlp.up + at.mlp.product + at.experts.inputs + at.experts.outputs);
  CHECK(!job.recompute.searched, "what is recomputed is not chosen yet");
  if (slice.share() < 1 && has_attention(block)) {
    bytes.read_by_slices = key_value_bytes(job, rows.full);
  }
  if (job.recompute.has(RecomputeModule::layer)) {
    const bool together = job.recompute.method == RecomputeMethod::uniform;
    const double layers = together ? job.recompute.layers : 1;
    bytes.kept = at.input / layers + bytes.read_by_slices;
    bytes.transient += layers * everything;
  } else {
    bytes.kept = job.recompute.has(RecomputeModule::matmuls)
                     ? std::min(everything, kept_of_every_other(job, block, at))
                     : everything - dropped_bytes(job, block, at, spared);
    bytes.transient += everything - bytes.kept;
  }
  bytes.recomputed = everything - bytes.kept;
  return bytes;
}

double pending_gradient_bytes(const Job& job, const SequenceSlice& slice) {
  return key_value_bytes(job, rows_of(job, {0, slice.begin}).full);
}

namespace {

// The loss over all of a rank's sequences, apart from what a micro-batch keeps. It keeps the rank's
// own embeddings of both sides and their gradients, in fp32. Whole: also all other embeddings, and
// for each direction the similarities and their softmax. Tiled: also all other embeddings with
// gradients, and tiles. Ring: also, for each direction, the current and the arriving embeddings
// with gradients, and tiles. One micro-batch is embedded at a time, and once more for its backward
// pass (GradCache: Gao et al. 2021, arXiv 2101.06983).
LayerActivations contrastive_activations(const Job& job, const Rows& rows) {
  const TrainingLoss& loss = job.training->loss;
  const double width = 4.0 * (loss.width > 0 ? loss.width : job.model.hidden);
  const double batch = job.batch.global;
  const double own = batch / job.layout.dp;
  const double tile = std::min<double>(loss.tile, own);
  const double tiles = 2 * 4 * tile * tile;
  double beside = 0;
  switch (loss.form) {
    case ContrastiveForm::whole:
      beside = 2 * batch * width + 2 * 2 * 4 * own * batch;
      break;
    case ContrastiveForm::tiled:
      beside = 2 * 2 * batch * width + tiles;
      break;
    case ContrastiveForm::ring:
      beside = 2 * 2 * 2 * own * width + tiles;
      break;
  }
  LayerActivations bytes;
  const double e = bytes_of(job.precision);
  if (part_training(job.training.get()).backward) {
    bytes.kept = e * rows.full * job.model.hidden;
    bytes.for_weights = e * job.batch.micro * (job.model.hidden + width / 4);
  }
  bytes.transient = 2 * 2 * own * width + beside;
  return bytes;
}

double logits_of(const Job& job, const SequenceSlice& slice) {
  const double rows = rows_of(job, part_of(job, Block::head, slice)).full;
  return rows * padded_vocabulary(job.model.vocabulary, job.layout.tp) / job.layout.tp;
}

}  // namespace

double joining_bytes(const Job& job, const SequenceSlice& slice) {
  const Rows rows = rows_of(job, slice);
  return bytes_of(job.precision) * job.model.hidden * (2 * rows.divided + 2 * rows.full);
}

double loss_bytes(const Job& job, const SequenceSlice& slice) {
  const Training* training = job.training.get();
  const bool whole = training == nullptr || training->loss.chunks == 1;
  if (!whole || is_contrastive(training) || !part_training(training).backward) return 0;
  constexpr double kSoftmax = 4;  // in fp32
  return (job.software.fused_loss ? bytes_of(job.precision) : kSoftmax) * logits_of(job, slice);
}

LayerActivations head_activations(const Job& job, const SequenceSlice& slice) {
  const double e = bytes_of(job.precision);
  const Rows all = rows_of(job, slice);
  const Rows rows = rows_of(job, part_of(job, Block::head, slice));
  const double logits = logits_of(job, slice);
  // Copies of the logits that the backward pass does not need exist only while the loss is
  // computed.
  const double at_peak = (job.software.fused_loss ? 2 * e : job.software.logit_bytes) * logits;
  const Training* training = job.training.get();
  if (is_contrastive(training)) return contrastive_activations(job, rows);
  const PartTraining part = part_training(training);
  const double chunks = training == nullptr ? 1 : training->loss.chunks;
  const double vectors = e * all.divided * job.model.hidden;
  LayerActivations bytes;
  bytes.transient = 2 * e * rows.full * job.model.hidden;
  if (!part.backward || chunks > 1) {
    // The gradient of a chunked loss takes the place of the norm's output.
    if (part.backward) bytes.kept = 2 * vectors;
    bytes.transient += at_peak / chunks;
    return bytes;
  }
  const double of_loss = loss_bytes(job, slice);
  bytes.kept = (part.weights ? 2 : 1) * vectors + of_loss;
  if (part.weights) bytes.for_weights = vectors + e * logits;
  bytes.transient += at_peak - of_loss;
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
  if (rank > job.model.hidden) {
    throw Error::of_key(kKey, ": {:g} is above the width {} of the activations of model '{}'", rank,
                        job.model.hidden, job.model.name);
  }
}

}  // namespace windtunnel
