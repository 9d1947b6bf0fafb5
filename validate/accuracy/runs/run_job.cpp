#include "validate/accuracy/runs/run_job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <sstream>
#include <string>
#include <system_error>

#include "models/base/error.hpp"
#include "models/base/units.hpp"
#include "models/cost/chunk/step_work.hpp"
#include "models/cost/memory/memory.hpp"
#include "models/cost/offload/offload.hpp"
#include "policies/iteration.hpp"
#include "scenarios/language/library/facts/gpu_names.hpp"
#include "scenarios/language/library/facts/model_names.hpp"
#include "scenarios/language/library/interconnect_laws.hpp"
#include "scenarios/language/library/library.hpp"
#include "scenarios/language/resolve/resolve.hpp"
#include "traces/text/text.hpp"
#include "validate/accuracy/collectives/collective_machine.hpp"
#include "validate/accuracy/runs/run_source.hpp"
#include "validate/accuracy/schedules/printed_schedule.hpp"

namespace windtunnel {
namespace {

class Mapper {
 public:
  explicit Mapper(const TrainingRun& run) : run_(run), source_(source_of(run)) {}

  RunJob map() {
    refuse_what_rows_do_not_describe();
    set_layout();
    set_batch();
    set_model();
    set_machine();
    set_stages();
    set_precision();
    set_recompute();
    set_schedule();
    set_offload();
    std::vector<const SoftwareChoice*> choices = apply_source(source_, run_, job_);
    if (!source_.assumed.empty()) assumed_.push_back(source_.assumed);
    train_adapters(run_, source_.adapter, job_, assumed_);
    assume_that_it_fitted();
    if (source_.gpu == job_.cluster.node.gpu.name) set_calibration(choices);
    state_network_law(job_.cluster.node, job_.cluster.fabric.transport, job_.calibration);
    limit_clocks(job_.cluster.node, job_.calibration);
    return {std::move(job_), std::move(assumed_), std::move(choices), source_.software};
  }

 private:
  void refuse_what_rows_do_not_describe() const {
    if (contains_text(run_.model, "grpo")) {
      throw Error("a step of GRPO first generates samples, which the row does not describe");
    }
    if (contains_text(run_.note, "unpacked samples")) {
      throw Error("its samples are not packed, but the row does not state their lengths");
    }
    for (const char* words : {"multimodal", "mimo_vlm", "llava"}) {
      if (contains_text(run_.model, words)) {
        throw Error("the row states the language model, but not its image encoder");
      }
    }
  }

  // Uses the source's calibration, or that of the last choice that names one.
  void set_calibration(const std::vector<const SoftwareChoice*>& choices) {
    std::string name = source_.calibration;
    for (const SoftwareChoice* choice : choices) {
      if (!choice->calibration.empty()) name = choice->calibration;
    }
    if (!name.empty()) job_.calibration = find_calibration(name);
  }

  int assume(const std::optional<int>& stated, const char* name, int otherwise) {
    if (stated) return *stated;
    assumed_.push_back(fmt::format("{} {}", name, otherwise));
    return otherwise;
  }

  static int require(const std::optional<int>& stated, const char* name) {
    if (stated) return *stated;
    throw Error(fmt::format("the row does not state {}", name));
  }

  void set_layout() {
    Layout& layout = job_.layout;
    layout.tp = require(run_.tp, "tp");
    layout.pp = require(run_.pp, "pp");
    layout.cp = run_.cp.value_or(1);
    layout.ep = run_.ep.value_or(1);
    layout.dp = require(run_.dp, "dp");
    layout.sequence_parallel = run_.sequence_parallel.value_or(false);
  }

  void set_batch() {
    job_.batch.global = require(run_.global_batch, "global_batch");
    // A batch of one sequence for each replica cannot be divided otherwise.
    const bool single = run_.dp && job_.batch.global == *run_.dp;
    const bool open = single && !run_.micro_batch;
    job_.batch.micro = open ? 1 : require(run_.micro_batch, "micro_batch");
    job_.batch.sequence = require(run_.sequence, "seq");
  }

  // Finds the library's model of the same name, for properties without a column.
  const TransformerSpec* library_model() const {
    const std::string name = plain_name(run_.model);
    const TransformerSpec* best = nullptr;
    for (const TransformerSpec& model : library_models()) {
      const std::string known = plain_name(model.name);
      if (name != known && !name.starts_with(known)) continue;
      if (run_.hidden && *run_.hidden != model.hidden) continue;  // another model of this size
      if (best == nullptr || known.size() > plain_name(best->name).size()) best = &model;
    }
    if (best != nullptr) return best;
    const TransformerSpec* called = model_called(run_.model);
    const bool same = called != nullptr && run_.hidden.value_or(called->hidden) == called->hidden;
    return same ? called : nullptr;
  }

  void set_model() {
    const TransformerSpec* known = library_model();
    TransformerSpec& model = job_.model;
    if (known != nullptr) model = *known;
    model.name = run_.model;
    if (known == nullptr && !run_.hidden) {
      throw Error(
          fmt::format("the row does not state the dimensions of '{}', which is not in the library",
                      run_.model));
    }
    model.hidden = run_.hidden.value_or(model.hidden);
    model.heads = run_.heads.value_or(model.heads);
    if (known == nullptr || !model.latent.kv_rank) {
      model.kv_heads = run_.kv_heads.value_or(model.kv_heads > 0 ? model.kv_heads : model.heads);
    }
    if (model.heads == 0) throw Error("the row does not state heads");
    if (run_.vocabulary) {
      model.vocabulary = *run_.vocabulary;
    } else if (model.vocabulary == 0) {
      model.vocabulary = assume({}, "vocab", 50257);
    }
    model.sequence = job_.batch.sequence;
    if (known == nullptr) guess_architecture();
    if (known == nullptr) set_experts();
    if (run_.ffn_hidden) {
      model.ffn_hidden = *run_.ffn_hidden;
    } else if (model.ffn_hidden == 0) {
      model.ffn_hidden = ffn_from_parameters();
    }
    model.layers = run_.layers.value_or(model.layers);
    if (model.layers == 0) model.layers = layers_from_parameters();
  }

  // Llama's architecture, common since 2023: SwiGLU shows in an MLP whose width is not four times
  // the model's, or in the name.
  void guess_architecture() {
    TransformerSpec& model = job_.model;
    const std::string name = plain_name(run_.model);
    const bool named = contains_text(name, "llama") || contains_text(name, "qwen") ||
                       contains_text(name, "mistral") || contains_text(name, "mixtral");
    const bool wide = run_.ffn_hidden && *run_.ffn_hidden != 4 * model.hidden;
    if (!named && !wide) return;
    model.activation = Activation::swiglu;
    model.normalisation = Normalisation::rms_norm;
    model.position = PositionEncoding::rotary;
    model.biases = false;
    model.tied_embeddings = false;
  }

  // Parses "(8 experts, top-2)" in the model's name.
  void set_experts() {
    int experts = 0;
    int per_token = 0;
    const std::size_t at = run_.model.find('(');
    if (at == std::string::npos) return;
    const char* text = run_.model.c_str() + at;
    if (std::sscanf(text, "(%d experts, top-%d)", &experts, &per_token) != 2) return;
    if (!run_.ffn_hidden) throw Error("the row does not state the width of an expert (ffn_hidden)");
    job_.model.moe = {.experts = experts, .per_token = per_token, .ffn_hidden = *run_.ffn_hidden};
  }

  // Parses "1.34B", "760M" or a plain count.
  double stated_parameters() const {
    const std::string& text = run_.parameters;
    if (text.empty()) throw Error("the row states neither dimensions nor params");
    double number = 0;
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
    const std::string unit(end, text.data() + text.size());
    const double times = unit == "M" ? 1e6 : unit == "B" ? 1e9 : unit == "T" ? 1e12 : 1;
    const bool known = times > 1 || (unit.empty() && number > 1e5);
    if (fault != std::errc() || !known || !(number > 0) || !std::isfinite(number)) {
      throw Error(fmt::format("params is '{}'; write it as 1.34B, 760M or a count", text));
    }
    return number * times;
  }

  // Returns the width of the MLP that gives the stated parameters.
  double exact_ffn(bool tied) const {
    TransformerSpec probe = job_.model;
    probe.layers = require(run_.layers, "layers and ffn_hidden");
    probe.ffn_hidden = 0;
    probe.tied_embeddings = tied;
    return (stated_parameters() - probe.parameters()) / (3.0 * probe.layers * probe.hidden);
  }

  // MLPs of this kind have widths that are multiples of 1024. If the row does not state whether
  // embeddings are tied, uses whichever comes closest to such a width.
  int ffn_from_parameters() {
    TransformerSpec& model = job_.model;
    if (model.activation == Activation::gelu) return assume({}, "ffn_hidden", 4 * model.hidden);
    constexpr double kUnit = 1024;
    const auto off = [&](bool tied) { return std::abs(std::remainder(exact_ffn(tied), kUnit)); };
    const std::string stated = run_.noted("tie_embeddings");
    model.tied_embeddings = stated.empty() ? off(true) < off(false) : stated == "True";
    if (stated.empty()) {
      assumed_.push_back(model.tied_embeddings ? "embeddings tied" : "embeddings untied");
    }
    const double units = std::round(exact_ffn(model.tied_embeddings) / kUnit);
    return assume({}, "ffn_hidden", static_cast<int>(kUnit * std::max(1.0, units)));
  }

  int layers_from_parameters() {
    TransformerSpec probe = job_.model;
    probe.layers = 0;
    const double per_layer = probe.layer_parameters();
    const double layers = (stated_parameters() - probe.parameters()) / per_layer;
    return assume({}, "layers", std::max(1, int(std::lround(layers))));
  }

  void set_machine() {
    const GpuName& gpu = gpu_named(run_.gpu_type, false);
    job_.cluster.node = find_node(source_.node.empty() ? gpu.node : source_.node);
    job_.calibration = find_calibration(gpu.calibration);
    job_.cluster.fabric = find_fabric("full-bisection").fabric;
    set_stated_network(run_.interconnect, job_.cluster);
    if (run_.power_limit_W) job_.cluster.node.power_limit_W = *run_.power_limit_W;
    // Part of a node is modelled as a smaller node; an NVLink domain is limited to a number of GPUs
    // that divides the job.
    NodeSpec& node = job_.cluster.node;
    const int gpus = job_.layout.ranks();
    int per_node = std::min(node.gpus, gpus);
    while (gpus % per_node != 0) --per_node;
    node.nics = std::max(1, node.nics * per_node / node.gpus);
    node.gpus = per_node;
    job_.cluster.nodes = gpus / per_node;
    set_measured_bus();
  }

  // Parses "AR/AG/RS GB/s=183.34/74.17/75.62" from the run's own bandwidth test.
  void set_measured_bus() {
    const std::string text = run_.noted("AR/AG/RS GB/s");
    MeasuredBus& measured = job_.cluster.fabric.measured;
    double values[3] = {};
    if (std::sscanf(text.c_str(), "%lf/%lf/%lf", &values[0], &values[1], &values[2]) != 3) return;
    measured = {values[0] * 1e9, values[1] * 1e9, values[2] * 1e9};
  }

  // If layers do not divide evenly, there is one fewer on the last stage, then on the first, then
  // on the others from the end.
  void set_stages() {
    Layout& layout = job_.layout;
    if (layout.pp > 1) {
      const bool of_one_layer = source_.chunks_of_one_layer && job_.model.layers % layout.pp == 0;
      layout.vpp = assume(run_.vpp, "vpp", of_one_layer ? job_.model.layers / layout.pp : 1);
    }
    const int stages = layout.stages();
    if (job_.model.layers % stages == 0) return;
    std::vector<int> layers(stages, (job_.model.layers + stages - 1) / stages);
    int surplus = layers[0] * stages - job_.model.layers;
    for (int i = 0; i < surplus; ++i) {
      const int stage = i == 0 ? stages - 1 : i == 1 ? 0 : stages - i;
      --layers[stage];
    }
    layout.stage_layers = layers;
    assumed_.push_back(fmt::format("{} layers on {} stages", job_.model.layers, stages));
  }

  void set_precision() {
    const std::string& text = run_.precision;
    if (text.empty()) assumed_.push_back("precision bf16");
    job_.precision = contains_text(text, "nvfp4")                  ? Precision::nvfp4
                     : contains_text(text, "mxfp8")                ? Precision::mxfp8
                     : contains_text(text, "fp8")                  ? Precision::fp8
                     : contains_text(text, "fp16")                 ? Precision::fp16
                     : contains_text(text, "tf32")                 ? Precision::tf32
                     : contains_text(text, "bf16") || text.empty() ? Precision::bf16
                     : contains_text(text, "fp32")
                         ? Precision::fp32
                         : throw Error(fmt::format("unknown precision '{}'", text));
  }

  void set_recompute() {
    // "full (uniform)", "selective", or modules: "moe_act mla_up_proj", "selective (mlp)", "norm,
    // act", with Megatron-Core's names before 0.12.
    std::string text = run_.recompute;
    for (const char mark : {'(', ')', ',', ':'}) std::ranges::replace(text, mark, ' ');
    std::istringstream words(text);
    for (std::string word; words >> word;) {
      if (word == "norm") word = "layernorm";
      if (word == "act") word = "moe_act";
      if (word == "attention") word = "core_attn";
      if (!has_choice<RecomputeModule>(word)) continue;
      job_.recompute = job_.recompute.with(value_of<RecomputeModule>(word));
    }
    if (job_.recompute == Recompute::none) {
      for (const auto& [name, set] : kChoices<Recompute>) {
        if (!set.searched && contains_text(run_.recompute, name)) job_.recompute = set;
      }
    }
    if (run_.recompute.empty()) assumed_.push_back("recompute none");
  }

  // Parses "offload_share=0.3": the share of a stage's activations that is in host memory until it
  // is read.
  void set_offload() {
    const std::string share = run_.noted("offload_share");
    if (share.empty()) return;
    double number = 0;
    const auto [end, fault] = std::from_chars(share.data(), share.data() + share.size(), number);
    const bool whole = fault == std::errc() && end == share.data() + share.size();
    if (!whole || !(number >= 0 && number <= 1)) {
      throw Error(fmt::format("offload_share is '{}'; it must be from 0 to 1", share));
    }
    if (number == 0) return;
    auto offload = std::make_shared<Offload>();
    offload->activations = MemoryTier::host;
    offload->activation_share = number;
    job_.offload = std::move(offload);
  }

  void set_schedule() {
    const std::string& text = run_.schedule;
    job_.schedule.name = job_.layout.vpp > 1 ? "interleaved-1f1b" : "1f1b";
    const bool plain =
        text.empty() || text == "none" || text == "DP" || contains_text(text, "FSDP") ||
        contains_text(text, "HSDP") || text.starts_with("ZeRO-") || text.starts_with("1F1B") ||
        contains_text(text, "interleaved") || (job_.layout.pp == 1 && contains_text(text, "1F1B"));
    if (plain) return;
    const std::optional<PrintedSchedule> printed = printed_schedule(text);
    if (!printed) throw Error(fmt::format("schedule '{}' is unknown in this build", text));
    job_.schedule.name = printed->name;
    job_.software.post_validation = printed->post_validation;
    job_.schedule.slices = printed->slices;
  }

  // Predictions of memory with known inputs were never off by this factor.
  static bool may_fit(const Job& job) {
    constexpr double kMost = 2;
    return fullest_bytes(prepare_iteration(job).memory) <=
           kMost * job.cluster.node.gpu.memory_bytes.value;
  }

  // A run with a measured time did fit. If the prediction says otherwise, changes assumptions about
  // what the row does not state, one after the other. Changes nothing if that does not help, or if
  // the row's label says whether it fitted, because the label is judged.
  void assume_that_it_fitted() {
    if (!run_.step_s || !run_.noted("status").empty() || may_fit(job_)) return;
    struct Otherwise {
      const char* text;
      bool (*applies)(const Job&);
      void (*apply)(Job&);
    };
    constexpr std::array kOtherwise{
        Otherwise{"fused attention",
                  [](const Job& job) { return job.model.attention == AttentionKernel::unfused; },
                  [](Job& job) { job.model.attention = AttentionKernel::flash; }},
        Otherwise{"optimizer states sharded",
                  [](const Job& job) {
                    return job.layout.sharding == Sharding::none && job.layout.dp > 1;
                  },
                  [](Job& job) { job.layout.sharding = Sharding::zero1; }}};
    Job other = job_;
    std::vector<std::string> changed;
    for (const Otherwise& otherwise : kOtherwise) {
      if (!otherwise.applies(other)) continue;
      otherwise.apply(other);
      changed.push_back(fmt::format("{}, as it fitted", otherwise.text));
      if (!may_fit(other)) continue;
      job_ = std::move(other);
      assumed_.insert(assumed_.end(), changed.begin(), changed.end());
      return;
    }
  }

  const TrainingRun& run_;
  const RunSource& source_;
  Job job_;
  std::vector<std::string> assumed_;
};

}  // namespace

RunJob job_of(const TrainingRun& run) {
  return Mapper(run).map();
}

MemoryFigure memory_figure_of(const TrainingRun& run) {
  return source_of(run).memory;
}

double bytes_of(const MemoryFigure& figure, const std::vector<GpuMemory>& memory) {
  CHECK(!memory.empty(), "memory of {} ranks", memory.size());
  const auto bytes = [&](const GpuMemory& at) {
    if (figure.what == MemoryFigure::What::device) return at.total();
    const bool reserved = figure.what == MemoryFigure::What::reserved;
    return at.allocated() + (reserved ? at.fragmentation : 0);
  };
  if (figure.rank == MemoryFigure::Rank::first) return bytes(memory.front());
  if (figure.rank == MemoryFigure::Rank::last) return bytes(memory.back());
  double most = 0;
  for (const GpuMemory& at : memory) most = std::max(most, bytes(at));
  return most;
}

RunPrediction predict(const Job& job) {
  const PreparedIteration prepared = prepare_iteration(job);
  const IterationEstimate estimate = estimate_iteration(job, prepared);
  RunPrediction prediction;
  prediction.step_s = estimate.step_s;
  prediction.spread = host_spread(job, prepared);
  prediction.hfu_causal = hardware_flops(job, prepared).causal / estimate.step_s /
                          job.layout.ranks() / mean_peak_flops(job);
  prediction.memory_bytes = fullest_bytes(prepared.memory);
  prediction.memory = prepared.memory;
  prediction.fits = gpu_memory_excess(prepared.memory, job).empty();
  for (int i = 0; i < kOrigins; ++i) {
    if (estimate.origin_s[i] > 0) prediction.origin = static_cast<Origin>(i);
  }
  return prediction;
}

namespace {

// Parses "delay 5 ms" or "0.1 ms"; 0: not stated.
double stated_delay_s(const std::string& text) {
  const std::size_t unit = text.find(" ms");
  if (unit == std::string::npos) return 0;
  std::size_t first = unit;
  while (first > 0 && std::strchr("0123456789.", text[first - 1]) != nullptr) --first;
  double milliseconds = 0;
  std::sscanf(text.c_str() + first, "%lf", &milliseconds);
  return milliseconds * 1e-3;
}

// Counts hosts in the operators' sense: a node of the library, or each tray of four GPUs in a rack
// that is one NVLink domain (NVIDIA DGX GB200 and GB300 user guides).
int hosts_of(const NodeSpec& node) {
  constexpr int kLargestHost = 16;
  constexpr int kTray = 4;
  return node.gpus > kLargestHost ? node.gpus / kTray : 1;
}

}  // namespace

void set_stated_network(const std::string& text, Cluster& cluster) {
  const double delay_s = stated_delay_s(text);
  if (delay_s == 0 && !contains_text(text, "per node")) return;
  const NetworkText stated = read_network(text);
  if (stated.nic_Bps == 0) return;
  const auto measured = [&](double value) {
    return Parameter{value, value, value, Origin::published, "the row's network"};
  };
  NodeSpec& node = cluster.node;
  if (stated.nics > 0) node.nics = stated.nics * hosts_of(node);
  node.nic_Bps = measured(stated.nic_Bps);
  if (stated.names_transport) cluster.fabric.transport = stated.transport;
  if (delay_s > 0) cluster.fabric.hop_latency_s = measured(delay_s);
}

}  // namespace windtunnel
