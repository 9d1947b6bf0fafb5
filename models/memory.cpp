#include "models/memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "models/base/error.hpp"
#include "models/base/units.hpp"

namespace windtunnel {
namespace {

double layer_parameters_per_gpu(const TransformerSpec& model, int tp) {
  const double row_parallel_biases = model.biases ? 2.0 * model.hidden : 0;
  const double repeated = 2 * norm_parameters(model) + row_parallel_biases;
  return (model.layer_parameters() - repeated) / tp + repeated;
}

// Rows of the GEMMs on one GPU, and of what sequence parallelism divides.
struct Rows {
  double full = 0;
  double divided = 0;
};

Rows rows_of(const Job& job) {
  Rows rows;
  rows.full = static_cast<double>(job.batch.micro) * job.batch.sequence / job.layout.cp;
  rows.divided = job.layout.sequence_parallel ? rows.full / job.layout.tp : rows.full;
  return rows;
}

// What attention keeps beside its input and output: the saved softmax, its dropout mask and
// dropped-out copy (2 + 1 + 2 B per score), or the fp32 log-sum-exp of the fused kernel.
double score_bytes(const Job& job) {
  const double e = bytes_of(job.precision);
  const double heads = static_cast<double>(job.model.heads) / job.layout.tp;
  const double rows = rows_of(job).full;
  if (job.model.attention == AttentionKernel::flash) return 4 * heads * rows;
  return (job.model.dropout ? 2 * e + 1 : e) * heads * rows * job.batch.sequence;
}

struct TensorClass {
  const char* name;
  double GpuMemory::*bytes;
  const char* remedy;
};

constexpr std::array<TensorClass, 6> kClasses = {{
    {"weights", &GpuMemory::weights, "raise tp or pp"},
    {"gradients", &GpuMemory::gradients, "raise tp or pp"},
    {"optimizer state", &GpuMemory::optimizer, "set sharding: zero1, or raise dp, tp or pp"},
    {"activations", &GpuMemory::activations,
     "set recompute: selective or full, or lower batch.micro, or raise tp or cp"},
    {"buffers", &GpuMemory::buffers, "lower batch.micro or communication.bucket, or raise tp"},
    {"framework and fragmentation", &GpuMemory::framework, "raise tp or pp"},
}};

}  // namespace

double weight_bytes_per_parameter(const Job& job) {
  return is_mixed(job.precision) ? 2 : 4;
}

double gradient_bytes_per_parameter(const Job& job) {
  return is_mixed(job.precision) ? job.software.gradient_bytes : 4;
}

double optimizer_bytes_per_parameter(const Job& job) {
  return is_mixed(job.precision) ? 12 : 8;
}

std::vector<double> stage_parameters(const TransformerSpec& model, const Layout& layout) {
  const std::vector<int> layers = layers_per_stage(model, layout);
  std::vector<double> parameters;
  for (const int count : layers) {
    parameters.push_back(count * layer_parameters_per_gpu(model, layout.tp));
  }
  const double h = model.hidden;
  const double matrix = padded_vocabulary(model.vocabulary, layout.tp) * h / layout.tp;
  const double positions =
      model.position == PositionEncoding::learned ? static_cast<double>(model.sequence) * h : 0;
  parameters.front() += matrix + positions;
  parameters.back() += norm_parameters(model);
  if (!model.tied_embeddings || layout.pp > 1) parameters.back() += matrix;
  return parameters;
}

LayerActivations layer_activations(const Job& job, Block) {
  const TransformerSpec& model = job.model;
  const Layout& layout = job.layout;
  const double e = bytes_of(job.precision);
  const Rows rows = rows_of(job);
  const double h = model.hidden;
  const double input = e * rows.divided * h;  // of the layer; each norm's output is as large
  const double masks = model.dropout ? 2 * rows.divided * h : 0;
  const double qkv = e * rows.full * (h + 2.0 * model.kv_width()) / layout.tp;
  const double context = e * rows.full * h / layout.tp;
  const double up = e * rows.full * model.up_width() / layout.tp;
  const double product = e * rows.full * model.ffn_hidden / layout.tp;
  const double scores = score_bytes(job);
  const bool fused = model.attention == AttentionKernel::flash;

  // Inputs of the two norms, the norms' outputs (inputs of QKV and up projection), q k v, context.
  const double everything = 2 * input + 2 * input + masks + qkv + context + up + product + scores;
  const double dropped = 2 * input + product + (fused ? 0 : scores);  // by selective

  LayerActivations bytes;
  // Output gradients of QKV, projection, up and down; inputs of the same.
  bytes.for_weights = (2 * input + context + product) + (qkv + input + up + input);
  const double gathered = e * rows.full * h;  // input of a column-parallel layer, all of its rows
  bytes.transient = 2 * gathered + up + product;
  switch (job.recompute) {
    case Recompute::none:
      bytes.kept = everything;
      break;
    case Recompute::selective:
      bytes.kept = everything - dropped;
      bytes.transient += dropped;
      break;
    case Recompute::full:
      bytes.kept = input;
      bytes.transient += everything;
      break;
  }
  return bytes;
}

LayerActivations head_activations(const Job& job) {
  const TransformerSpec& model = job.model;
  const Layout& layout = job.layout;
  const double e = bytes_of(job.precision);
  const Rows rows = rows_of(job);
  const double logits = rows.full * padded_vocabulary(model.vocabulary, layout.tp) / layout.tp;
  LayerActivations bytes;
  bytes.kept = 2 * e * rows.divided * model.hidden + 4 * logits;
  bytes.for_weights = e * rows.divided * model.hidden + e * logits;
  bytes.transient = 2 * e * rows.full * model.hidden + e * logits;
  return bytes;
}

double boundary_bytes(const Job& job) {
  return bytes_of(job.precision) * rows_of(job).divided * job.model.hidden;
}

std::vector<GpuMemory> gpu_memory(const Job& job, const std::vector<ChunkCost>& chunks,
                                  const std::vector<double>& peak_activation_bytes) {
  const Layout& layout = job.layout;
  const Calibration& calibration = job.calibration;
  const auto ranks = static_cast<std::size_t>(layout.pp);
  CHECK(chunks.size() == static_cast<std::size_t>(layout.stages()), "{} chunks", chunks.size());
  CHECK(peak_activation_bytes.size() == ranks, "{} peaks", peak_activation_bytes.size());
  const double replicas = static_cast<double>(layout.dp) * layout.cp;
  const double shards = layout.sharding != Sharding::none ? replicas : 1;
  const double boundary = boundary_bytes(job);
  std::vector<GpuMemory> memory(ranks);
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    double parameters = 0;
    double transient = 0;
    for (std::size_t stage = rank; stage < chunks.size(); stage += ranks) {
      parameters += chunks[stage].parameters;
      transient = std::max(transient, chunks[stage].transient_bytes);
    }
    GpuMemory& at = memory[rank];
    at.weights = weight_bytes_per_parameter(job) * parameters;
    at.gradients = gradient_bytes_per_parameter(job) * parameters;
    at.optimizer = optimizer_bytes_per_parameter(job) * parameters / shards;
    at.activations = peak_activation_bytes[rank];
    // One activation and one gradient in flight each way.
    const double pipeline = layout.pp > 1 ? 4 * boundary : 0;
    const double bucket = replicas > 1 ? std::min(job.communication.bucket_bytes, at.gradients) : 0;
    at.buffers = transient + pipeline + bucket;
    at.framework = calibration.framework_bytes.value + calibration.fragmentation.value * at.total();
  }
  return memory;
}

std::vector<double> snapshot_bytes_per_gpu(const Job& job, const std::vector<ChunkCost>& chunks) {
  const double per_parameter = weight_bytes_per_parameter(job) + optimizer_bytes_per_parameter(job);
  const double replicas = static_cast<double>(job.layout.dp) * job.layout.cp;
  std::vector<double> bytes(static_cast<std::size_t>(job.layout.pp));
  for (std::size_t stage = 0; stage < chunks.size(); ++stage) {
    bytes[stage % bytes.size()] += per_parameter * chunks[stage].parameters / replicas;
  }
  return bytes;
}

std::string gpu_memory_excess(const std::vector<GpuMemory>& memory, const GpuSpec& gpu) {
  const auto worst = std::max_element(
      memory.begin(), memory.end(),
      [](const GpuMemory& a, const GpuMemory& b) { return a.total() < b.total(); });
  if (worst == memory.end() || worst->total() <= gpu.memory_bytes.value) return {};
  const auto largest = std::max_element(kClasses.begin(), kClasses.end(),
                                        [&](const TensorClass& a, const TensorClass& b) {
                                          return (*worst).*a.bytes < (*worst).*b.bytes;
                                        });
  return fmt::format(
      "pipeline rank {} needs {}, {} more than the {} of gpu '{}'; the largest part is {} with {}; "
      "{}",
      worst - memory.begin(), format_bytes(worst->total()),
      format_bytes(worst->total() - gpu.memory_bytes.value), format_bytes(gpu.memory_bytes.value),
      gpu.name, largest->name, format_bytes((*worst).*largest->bytes), largest->remedy);
}

std::string host_memory_excess(double bytes_per_node, const NodeSpec& node) {
  if (bytes_per_node <= node.host_memory_bytes.value) return {};
  return fmt::format(
      "snapshots in host memory need {} per node, {} more than the {} of node '{}'; shard "
      "them over more nodes or keep fewer copies",
      format_bytes(bytes_per_node), format_bytes(bytes_per_node - node.host_memory_bytes.value),
      format_bytes(node.host_memory_bytes.value), node.name);
}

}  // namespace windtunnel
