#include "validate/accuracy/compression/exchange_source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <memory>

#include "models/base/error.hpp"
#include "models/base/find_named.hpp"
#include "models/cost/chunk/layer_table_cost.hpp"
#include "models/workload/layer_table.hpp"
#include "policies/iteration.hpp"
#include "scenarios/language/library/library.hpp"
#include "scenarios/language/library/library_reader.hpp"
#include "scenarios/language/text/choices.hpp"
#include "scenarios/language/text/document.hpp"
#include "scenarios/language/text/evidence.hpp"
#include "traces/text/text.hpp"

namespace windtunnel {
namespace {

int whole_in(const DocumentNode& map, const char* key, int usual) {
  const DocumentNode* node = map.value_of(key);
  return node == nullptr ? usual : whole(*node, key);
}
// Returns whether the key has the second of two words; a missing key means the first.
bool is_second(const DocumentNode& map, const char* key, std::string_view first,
               std::string_view second) {
  const DocumentNode* node = map.value_of(key);
  if (node == nullptr || node->text == first) return false;
  if (node->text == second) return true;
  throw Error(node->where,
              unknown_name(key, node->text, {std::string(first), std::string(second)}));
}

ExchangeCluster read_cluster(const DocumentNode& map) {
  check_keys(map, {"gpu", "network", "node", "gpus", "nic", "nics", "tcp"});
  const DocumentNode& node = require(map, "node");
  return {.gpu = text_or_empty(map, "gpu"),
          .network = text_or_empty(map, "network"),
          .machine = {.node = find_named(library_nodes(), "node", node.text, node.where).name,
                      .gpus_per_node = whole(require(map, "gpus"), "gpus"),
                      .nic_Bps = quantity(require(map, "nic"), Dimension::bytes_per_s, "nic"),
                      .nics = whole_in(map, "nics", 1)},
          .tcp = flag_or_false(map, "tcp")};
}

ExchangeMethod read_method(const DocumentNode& map, const std::string& entry,
                           const std::string& source) {
  check_keys(map, {"begins", "name", "set", "hooks", "refused"});
  ExchangeMethod method{.begins = text_or_empty(map, "begins"),
                        .name = require_text(map, "name"),
                        .hooks = flag_or_false(map, "hooks"),
                        .refused = text_or_empty(map, "refused")};
  if (method.refused.empty()) {
    method.sets = {read_choice(require(map, "set"), entry, source)};
  }
  return method;
}

LawNumber read_law_number(const DocumentEntry& entry) {
  const DocumentNode& map = entry.value;
  check_keys(map, {"guess", "factor", "each", "most", "unfitted"});
  LawNumber number;
  number.name = entry.key;
  Dimension dimension = Dimension::number;
  if (entry.key == kConnection) {
    dimension = Dimension::bytes_per_s;
  } else if (entry.key != kGpuSpread) {
    const CalibrationField& field =
        find_named(calibration_fields(), "number", entry.key, entry.where);
    number.member = field.member;
    if (field.unit == "s") dimension = Dimension::seconds;
  }
  const auto bound = [&](const char* key) {
    const DocumentNode* node = map.value_of(key);
    return node == nullptr ? std::optional<double>() : quantity(*node, dimension, key);
  };
  number.prior = {quantity(require(map, "guess"), dimension, "guess"),
                  quantity(require(map, "factor"), Dimension::number, "factor")};
  if (const DocumentNode* each = map.value_of("each")) {
    if (each->text != "network") {
      throw Error(each->where, unknown_name("each", each->text, {"network"}));
    }
    number.each_network = true;
  }
  number.most = bound("most").value_or(number.most);
  number.unfitted = bound("unfitted");
  return number;
}

// Checks each {placeholder} of a text: it must name a number for all networks, or one of a network
// if `each_network`, or hooks if `hooks`.
void check_law_text(const DocumentNode& map, const char* key,
                    const std::vector<const LawNumber*>& numbers, bool each_network, bool hooks) {
  const DocumentNode* node = map.value_of(key);
  std::string_view text = node == nullptr ? std::string_view() : std::string_view(node->text);
  while (true) {
    const std::size_t open = text.find('{');
    if (open == std::string_view::npos) return;
    const std::size_t close = text.find('}', open);
    if (close == std::string_view::npos) {
      throw Error(node->where, fmt::format("{}: a '{{' without its '}}'", key));
    }
    const std::string_view inside = text.substr(open + 1, close - open - 1);
    text.remove_prefix(close + 1);
    if (each_network && inside == "network") continue;
    const std::optional<LawPlaceholder> placeholder = law_placeholder(inside);
    if (!placeholder) {
      throw Error(node->where, fmt::format("{}: '{{{}}}' is not {{NAME UNIT DIGITS}} with a unit "
                                           "of us, ms, %, GB/s and one digit",
                                           key, inside));
    }
    const auto is_named = [&](const LawNumber* number) {
      return number->name == placeholder->name && (each_network || !number->each_network);
    };
    if (hooks && placeholder->name == kHooks) continue;
    if (std::ranges::any_of(numbers, is_named)) continue;
    throw Error(node->where,
                fmt::format("{}: this stage and those before it have no number '{}' that holds "
                            "{}",
                            key, placeholder->name, each_network ? "here" : "on all networks"));
  }
}

LawStage read_stage(const DocumentNode& map, const std::vector<LawStage>& before) {
  check_keys(map, {"of", "numbers", "text", "network_text", "hooks_text"});
  LawStage stage{.of = choice_of<Aggregation>(require(map, "of"), "of"),
                 .text = require_text(map, "text"),
                 .network_text = text_or_empty(map, "network_text"),
                 .hooks_text = text_or_empty(map, "hooks_text")};
  for (const DocumentEntry& entry : require(map, "numbers").entries) {
    stage.numbers.push_back(read_law_number(entry));
  }
  std::vector<const LawNumber*> numbers;
  for (const LawStage& earlier : before) {
    for (const LawNumber& number : earlier.numbers) numbers.push_back(&number);
  }
  for (const LawNumber& number : stage.numbers) numbers.push_back(&number);
  check_law_text(map, "text", numbers, false, false);
  check_law_text(map, "network_text", numbers, true, false);
  check_law_text(map, "hooks_text", numbers, false, true);
  return stage;
}

ExchangeLaw read_law(const DocumentNode& map) {
  check_keys(map, {"fit_on", "chosen", "judges", "noise", "fold_models", "stages", "priors"});
  const DocumentNode& priors = require(map, "priors");
  parse_evidence(priors.text, priors.where);
  ExchangeLaw law{.fit_on = read_fitted_on(require(map, "fit_on")),
                  .chosen = flag_or_false(map, "chosen"),
                  .growth = is_second(map, "judges", "step", "growth"),
                  .fold_models = flag_or_false(map, "fold_models"),
                  .noise = quantity(require(map, "noise"), Dimension::number, "noise")};
  for (const DocumentNode& stage : require(map, "stages").items) {
    law.stages.push_back(read_stage(stage, law.stages));
  }
  return law;
}

// Throws Error if the law has no stage for the aggregation of a method.
void check_stages(const std::vector<ExchangeMethod>& methods, const ExchangeLaw& law,
                  const Location& where) {
  for (const ExchangeMethod& method : methods) {
    Job job;
    choose(
        method.sets, [](std::string_view) { return false; }, job);
    const Aggregation aggregation = job.communication.aggregation;
    if (std::ranges::count(law.stages, aggregation, &LawStage::of) > 0) continue;
    throw Error(where, fmt::format("no stage has {}, which method {} sets", name_of(aggregation),
                                   method.name));
  }
}

BorrowedLaw read_borrowed(const DocumentNode& map, const std::vector<ExchangeSource>& before) {
  const DocumentNode& of = require(map, "of");
  const ExchangeSource& source = find_named(before, "source before it", of.text, of.where);
  if (!source.law) throw Error(of.where, fmt::format("{} has no law of its own", source.name));
  return {source.name, require_text(map, "network")};
}

// Throws Error unless the first method is the only one that exchanges whole gradients.
void check_dense(const DocumentNode& map, const std::vector<ExchangeMethod>& methods) {
  if (methods.empty()) throw Error(map.where, "needs methods, the first of them dense");
  for (const ExchangeMethod& method : methods) {
    Job job;
    choose(
        method.sets, [](std::string_view) { return false; }, job);
    const bool is_dense = job.communication.compressors.dp.name == CompressorChoice().name;
    if (is_dense == (&method == &methods.front())) continue;
    throw Error(map.where, fmt::format("method {} {}: the first method is dense, the others sparse",
                                       method.name, is_dense ? "is dense" : "compresses"));
  }
}

// Throws Error if the first stage of the borrowed law, which describes its links, has no latency.
void check_latency(const DocumentNode& latency, const ExchangeLaw& law) {
  if (!law.stages.empty() &&
      std::ranges::count(law.stages.front().numbers, kNicLatency, &LawNumber::name) > 0) {
    return;
  }
  throw Error(latency.where, fmt::format("the first stage of that law has no {}", kNicLatency));
}

SparseExchange read_sparse(const DocumentNode& map, const std::vector<ExchangeMethod>& methods,
                           const std::vector<ExchangeSource>& before) {
  check_keys(map, {"parts", "parts_of", "fitted", "fitted_for_itself", "latency"});
  const DocumentNode& parts_of = require(map, "parts_of");
  const DocumentNode& latency = require(map, "latency");
  check_keys(latency, {"of", "network", "unfitted"});
  check_dense(map, methods);
  const BorrowedLaw borrowed = read_borrowed(latency, before);
  check_latency(latency, *find_named(before, "source", borrowed.of).law);
  return {
      .parts = require_text(map, "parts"),
      .parts_of = find_named(methods, "method", parts_of.text, parts_of.where).name,
      .fitted = require_text(map, "fitted"),
      .fitted_for_itself = require_text(map, "fitted_for_itself"),
      .latency = borrowed,
      .usual_latency_s = quantity(require(latency, "unfitted"), Dimension::seconds, "unfitted")};
}

ExchangeSource read_source(const DocumentEntry& entry, const std::vector<ExchangeSource>& before) {
  const DocumentNode& map = entry.value;
  require_map(map, entry.key);
  check_keys(map, {"begins", "refused", "family", "alone", "clusters", "methods", "batch", "tokens",
                   "servers", "collectives", "compared", "suspect", "law", "sparse", "source"});
  const std::string& evidence = require_text(map, "source");
  ExchangeSource source{.name = entry.key,
                        .begins = require_text(map, "begins"),
                        .refused = text_or_empty(map, "refused"),
                        .alone = text_or_empty(map, "alone"),
                        .batch = whole_in(map, "batch", 0),
                        .tokens = whole_in(map, "tokens", 0),
                        .servers = flag_or_false(map, "servers"),
                        .chosen_collectives = is_second(map, "collectives", "rings", "chosen"),
                        .compared = flag_or_false(map, "compared")};
  if (!source.refused.empty()) {
    check_keys(map, {"begins", "refused", "source"});
    return source;
  }
  source.family = require_text(map, "family");
  for (const DocumentNode& item : require(map, "clusters").items) {
    source.clusters.push_back(read_cluster(item));
  }
  for (const DocumentNode& item : require(map, "methods").items) {
    source.methods.push_back(read_method(item, entry.key, evidence));
  }
  if (const DocumentNode* suspect = map.value_of("suspect")) {
    check_keys(*suspect, {"network", "methods"});
    source.suspect_network = require_text(*suspect, "network");
    for (const DocumentNode& item : require(*suspect, "methods").items) {
      source.suspect_methods.push_back(
          find_named(source.methods, "method", item.text, item.where).name);
    }
  }
  if (const DocumentNode* sparse = map.value_of("sparse")) {
    if (const DocumentNode* law = map.value_of("law")) {
      throw Error(law->where, "a source with 'sparse' has no law of its own");
    }
    source.sparse = read_sparse(*sparse, source.methods, before);
    return source;
  }
  const DocumentNode& law = require(map, "law");
  if (law.value_of("of") == nullptr) {
    source.law = read_law(law);
    check_stages(source.methods, *source.law, law.where);
  } else {
    check_keys(law, {"of", "network"});
    source.borrowed = read_borrowed(law, before);
    check_stages(source.methods, *find_named(before, "source", source.borrowed->of).law, law.where);
  }
  return source;
}

}  // namespace

std::vector<ExchangeSource> read_exchange_sources(const DocumentNode& document) {
  std::vector<ExchangeSource> sources;
  for (const DocumentEntry& entry : require(document, "sources").entries) {
    sources.push_back(read_source(entry, sources));
  }
  return sources;
}

const std::vector<ExchangeSource>& exchange_sources() {
  static const std::vector<ExchangeSource> all =
      read_exchange_sources(library_document("exchange_sources.yaml"));
  return all;
}

std::optional<LawPlaceholder> law_placeholder(std::string_view inside) {
  struct Unit {
    std::string_view name;
    double scale;
  };
  constexpr Unit kUnits[] = {{"us", 1e6}, {"ms", 1e3}, {"%", 100}, {"GB/s", 1e-9}};
  const std::size_t unit_at = inside.find(' ');
  const std::size_t digits_at = inside.rfind(' ');
  if (unit_at == std::string_view::npos || digits_at <= unit_at) return {};
  const std::string_view digits = inside.substr(digits_at + 1);
  if (digits.size() != 1 || digits[0] < '0' || digits[0] > '9') return {};
  const std::string_view unit = inside.substr(unit_at + 1, digits_at - unit_at - 1);
  const auto* const found = std::ranges::find(kUnits, unit, &Unit::name);
  if (found == std::end(kUnits)) return {};
  return LawPlaceholder{inside.substr(0, unit_at), found->scale, digits[0] - '0'};
}

const ExchangeSource* source_of(const std::vector<ExchangeSource>& sources,
                                const CompressionRun& run) {
  const auto found = std::ranges::find_if(
      sources, [&](const ExchangeSource& source) { return run.source.starts_with(source.begins); });
  return found == sources.end() ? nullptr : &*found;
}

const ExchangeMethod* method_of(const ExchangeSource& source, const CompressionRun& run) {
  const auto found = std::ranges::find_if(source.methods, [&](const ExchangeMethod& method) {
    return run.method.starts_with(method.begins);
  });
  return found == source.methods.end() ? nullptr : &*found;
}

const ExchangeCluster& cluster_of(const ExchangeSource& source, const CompressionRun& run) {
  for (const ExchangeCluster& cluster : source.clusters) {
    if (run.gpu_type.starts_with(cluster.gpu) && run.network.starts_with(cluster.network)) {
      return cluster;
    }
  }
  throw Error(fmt::format("no machine of source {} with '{}' and '{}' is known", source.name,
                          run.gpu_type, run.network));
}

Job job_of(const ExchangeSource& source, const ExchangeMethod& method, const CompressionRun& run) {
  if (!run.batch && source.batch == 0) throw Error("states no batch");
  Job job = exchange_job(run.model, run.parameters.value_or(0), run.gpus,
                         run.batch.value_or(source.batch), cluster_of(source, run).machine);
  if (job.network == nullptr && source.tokens > 0) job.batch.sequence = source.tokens;
  choose(
      method.sets, [](std::string_view) { return false; }, job);
  Communication& communication = job.communication;
  if (source.chosen_collectives) communication.collectives.clear();
  if (source.servers) communication.servers = job.cluster.nodes;
  if (const double bucket_bytes = named_bucket_bytes(run); bucket_bytes > 0) {
    communication.bucket_bytes = bucket_bytes;
  }
  return job;
}

double named_bucket_bytes(const CompressionRun& run) {
  constexpr std::string_view kWord = "bucket ";
  constexpr double kMegabyte = 1024 * 1024;
  const size_t at = run.method.find(kWord);
  double megabytes = 0;
  if (at != std::string::npos) {
    std::from_chars(run.method.data() + at + kWord.size(), run.method.data() + run.method.size(),
                    megabytes);
  }
  return megabytes * kMegabyte;
}

namespace {

// Returns the model with the longest name that is a prefix of `wanted`; null if there is none.
template <typename Model>
const Model* best_named(const std::vector<Model>& models, const std::string& wanted) {
  const Model* best = nullptr;
  for (const Model& model : models) {
    const std::string known = plain_name(model.name);
    if (!wanted.starts_with(known)) continue;
    if (best == nullptr || known.size() > plain_name(best->name).size()) best = &model;
  }
  return best;
}

void set_model(const std::string& name, Job& job) {
  const std::string wanted = plain_name(name);
  const LayerTable* network = best_named(library_networks(), wanted);
  const TransformerSpec* transformer = best_named(library_models(), wanted);
  if (network != nullptr) {
    job.network = std::make_shared<const LayerTable>(*network);
    job.model = network_model(*network);
  } else if (transformer != nullptr) {
    job.model = *transformer;
  } else {
    throw Error(fmt::format("the library has no model '{}'", name));
  }
}

// Constants that are part of the measured speed have no effect here; a fit sets the constants of
// the network.
Calibration measured_kernels() {
  Calibration calibration = find_calibration("generic");
  const auto set = [](Parameter& parameter, double value, const char* source) {
    parameter = {value, value, value, Origin::published, source};
  };
  constexpr const char* kInTheSpeed = "part of the measured speed of one GPU";
  for (Parameter* parameter :
       {&calibration.kernel_launch_s, &calibration.host_launch_s, &calibration.memory_half_bytes}) {
    set(*parameter, 0, kInTheSpeed);
  }
  set(calibration.overlap_slowdown, 0, "see the fit");
  set(calibration.optimizer_bytes, 28, "Adam in fp32: 4 reads, 3 writes");
  return calibration;
}

}  // namespace

Job exchange_job(const std::string& model, double parameters, int gpus, int batch,
                 const ExchangeMachine& machine) {
  Job job;
  set_model(model, job);
  constexpr double kTolerance = 0.05;  // sources round, and may or may not count heads
  const double known = exchange_parameters(job);
  if (parameters > 0 && std::abs(known / parameters - 1) > kTolerance) {
    throw Error(fmt::format("'{}' has {:.4g} parameters, but the library's {} has {:.4g}", model,
                            parameters, job.model.name, known));
  }
  if (double(batch) * gpus > std::numeric_limits<int>::max()) {
    throw Error(fmt::format("{} samples on each of {} GPUs are too many for a step", batch, gpus));
  }
  job.cluster.node = find_node(machine.node);
  NodeSpec& node = job.cluster.node;
  node.gpus = std::min(gpus, machine.gpus_per_node);
  if (gpus % node.gpus != 0) {
    throw Error(fmt::format("{} GPUs do not fill whole nodes of {}", gpus, node.gpus));
  }
  job.cluster.nodes = gpus / node.gpus;
  node.nics = std::min(machine.nics, node.gpus);
  node.nic_Bps.value = machine.nic_Bps * machine.nics / node.nics;
  job.cluster.fabric = find_fabric("full-bisection").fabric;
  job.layout.dp = gpus;
  job.batch = {.global = batch * gpus, .micro = batch, .sequence = job.model.sequence};
  job.precision = Precision::fp32;
  job.software.optimizer = Optimizer::momentum;
  job.calibration = measured_kernels();
  job.communication.collectives = {
      {.kind = CollectiveKind::all_reduce, .algorithm = CollectiveAlgorithm::ring, .where = {}},
      {.kind = CollectiveKind::all_to_all, .algorithm = CollectiveAlgorithm::direct, .where = {}}};
  return job;
}

void set_alone_s(Job& job, double seconds) {
  Job alone = job;
  alone.cluster.nodes = 1;
  alone.cluster.node.gpus = 1;
  alone.batch.global = job.batch.global / job.layout.dp;
  alone.layout.dp = 1;
  alone.communication = {};
  GpuSpec& gpu = job.cluster.node.gpu;
  // All times are work divided by a rate, so the first step is exact except for rounding.
  for (int step = 0; step < 2; ++step) {
    alone.cluster.node.gpu = gpu;
    const double speed = exchange_step_s(alone) / seconds;
    CHECK(std::isfinite(speed) && speed > 0, "{} s on one GPU", seconds);
    gpu.fp32_flops.value *= speed;
    gpu.memory_Bps.value *= speed;
  }
}

double exchange_step_s(const Job& job) {
  return estimate_iteration(job, prepare_iteration(job)).step_s;
}

double exchange_parameters(const Job& job) {
  return job.network != nullptr ? job.network->parameters() : job.model.parameters();
}

int weighted_layers(const Job& job) {
  if (job.network == nullptr) {
    // A layer has queries, keys, values, output, two matrices of the MLP and two norms; the rest
    // are embeddings, pooler and head.
    return 8 * job.model.layers + 6;
  }
  return static_cast<int>(std::ranges::count_if(
      job.network->layers, [](const NetworkLayer& layer) { return layer.parameters > 0; }));
}

int weight_tensors(const Job& job) {
  if (job.network == nullptr) return 2 * weighted_layers(job);
  int tensors = 0;
  for (const NetworkLayer& layer : job.network->layers) {
    if (layer.parameters > 0) tensors += layer.parameters == layer.n * layer.k ? 1 : 2;
  }
  return tensors;
}

}  // namespace windtunnel
