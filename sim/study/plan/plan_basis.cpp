#include "sim/study/plan/plan_basis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

#include "models/base/units.hpp"
#include "models/calibration/prediction_error.hpp"
#include "models/cost/parallel/tensor_rules.hpp"
#include "scenarios/language/library/library.hpp"
#include "scenarios/language/overrides.hpp"
#include "scenarios/language/text/document.hpp"
#include "scenarios/language/text/fields.hpp"

namespace windtunnel {
namespace {

std::string origin_text(const Parameter& parameter) {
  return fmt::format("{}: {}", to_string(parameter.origin), parameter.source);
}

// Keys that the plan decides must not be set, because they would be overwritten.
void check_open(const Overrides& set) {
  struct Decided {
    const char* key;
    const char* instead;
  };
  constexpr std::array<Decided, 12> kDecided = {
      {{"layout", "the plan searches layouts; simulate your own layout with windtunnel run"},
       {"schedule",
        "the plan searches the schedules of --framework; change the schedule in the scenario that "
        "it writes"},
       {"snapshots", "the plan tries stacks of tiers; change them in the scenario that it writes"},
       {"batch", "give --batch TOKENS and --sequence TOKENS"},
       {"recompute", "the plan searches recomputation; change it in the scenario that it writes"},
       {"model", "give --model"},
       {"cluster.nodes", "give --cluster"},
       {"cluster.node.base", "give --cluster"},
       {"recovery.spares", "the plan searches the number of spares"},
       {"recovery.when_no_spare", "the plan tries both ways (wait and shrink)"},
       {"job", "give --tokens and --price"},
       {"campaign", "the campaign is always as long as the training, from 1 to 180 days"}}};
  for (const auto& [key, value] : set) {
    const bool node = key == "cluster.node" || key == "cluster";
    if (key == "recovery") {
      throw Error(Location{override_place(key, value)},
                  "would replace what the plan decides; set single keys below it, e.g. "
                  "recovery.detect=30 s");
    }
    for (const Decided& each : kDecided) {
      const std::string own = each.key;
      if (!node && key != own && !key.starts_with(own + ".")) continue;
      throw Error(Location{override_place(key, value)},
                  node
                      ? "state it with --cluster; to change one number, set keys below cluster.node"
                      : each.instead);
    }
  }
}

// No GPU of NVIDIA's before Ampere has bf16.
Precision usual_precision(const GpuSpec& gpu) {
  return gpu.bf16_flops.value > 0   ? Precision::bf16
         : gpu.fp16_flops.value > 0 ? Precision::fp16
                                    : Precision::fp32;
}

// Returns a second precision of the GPU, which is named beside the usual one.
Precision other_precision(const GpuSpec& gpu) {
  if (gpu.fp8_flops.value > 0) return Precision::fp8;
  const bool has_both = gpu.bf16_flops.value > 0 && gpu.fp16_flops.value > 0;
  return has_both ? Precision::fp16 : Precision::fp32;
}

// Returns a scenario on all nodes without a layout, which is read but never simulated. Its sequence
// is arbitrary, because a model from a file may not state one.
std::string first_text(const PlanRequest& request, const NodeSpec& node,
                       const std::string& software) {
  constexpr int kMostGpus = 1024;  // a wrong value is refused when the text is read
  int gpus = node.gpus;            // unless only a part of the node is planned
  for (const auto& [key, value] : request.set) {
    if (key == "cluster.node.gpus") gpus = std::clamp(std::atoi(value.c_str()), 1, kMostGpus);
  }
  return fmt::format(
      "name: plan\nmodel: {}\ncluster: {{nodes: {}, node: {}}}\nlayout: {{tp: 1, pp: 1}}\n"
      "batch: {{global: {}, micro: 1, sequence: 4096}}\nprecision: {}\n{}",
      request.model, request.nodes, request.node, std::int64_t{request.nodes} * gpus,
      name_of(usual_precision(node.gpu)), software);
}

// Reads model and node, with what the user sets. `software`: a line that names it, or nothing.
Case first_case(const PlanRequest& request, const NodeSpec& node,
                const std::string& software = {}) {
  const ScenarioText scenario = {.file = kPlanFile, .text = first_text(request, node, software)};
  Overrides set;  // keys of the node; others may need the rest of a scenario
  for (const auto& [key, value] : request.set) {
    if (key.starts_with("cluster.node.")) set.emplace_back(key, value);
  }
  try {
    return resolve_unprepared(scenario, set);
  } catch (const Error& error) {
    if (error.where().file != kPlanFile) throw;
    throw Error(Location{"--model"}, std::string(error.text()));
  }
}

// Returns the classes that `set` does not change: "node 3.24, process 0.55 per 1000 node-days";
// empty if it changes all.
std::string failures_text(const std::string& failures, const Overrides& set) {
  const std::string unit = " per 1000 node-days";
  const std::vector<DocumentNode> items = parse_document(failures, kPlanFile).items;
  std::string text;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const std::string key = fmt::format("failures.{}", i);
    const bool is_set = std::ranges::any_of(set, [&](const auto& at) {
      return at.first == key || at.first.starts_with(key + ".") ||
             at.first.starts_with("failures.*");
    });
    if (is_set) continue;
    const std::string& rate = items[i].value_of("rate")->text;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", items[i].value_of("class")->text,
                        rate.substr(0, rate.find(unit)));
  }
  return text.empty() ? "" : text + unit;
}

// Also says by which factor the rates of other clusters differ.
TakenDefault taken_failures(const PlanBasis& basis, const Overrides& set) {
  std::string value = failures_text(basis.failures.text, set);
  if (basis.node.gpus != 8) {
    value +=
        fmt::format(", of nodes of {} GPU{}", basis.node.gpus, basis.node.gpus == 1 ? "" : "s");
  }
  const Parameter& error = failure_rate_error();
  if (!value.empty()) {
    value += fmt::format(", elsewhere within a factor of {:.1f}", error_factor(error, 0.9));
  }
  return {
      "failures", value,
      fmt::format(
          "{}; the range covers 90 % of the differences among {}. Your own rate is more certain, "
          "nodes lost / (nodes x days): windtunnel trace import LOG fits a log of faults",
          basis.failures.source, error.source),
      "--set 'failures.0.rate=RATE per 1000 node-days'", true};
}

void add_default(PlanBasis& basis, bool open, TakenDefault taken) {
  if (open) basis.defaults.push_back(std::move(taken));
}

// Returns the part of a map in flow style whose keys the user does not set below `key`; empty if
// nothing is left.
std::string left_open(const Overrides& set, const std::string& key, const std::string& part) {
  const auto is_set = [&](const std::string& path) {
    return std::ranges::any_of(
        set, [&](const auto& at) { return at.first == path || at.first.starts_with(path + "."); });
  };
  DocumentNode map = parse_document(part, kPlanFile);
  std::erase_if(map.entries,
                [&](const DocumentEntry& entry) { return is_set(key + "." + entry.key); });
  const bool whole = std::ranges::any_of(set, [&](const auto& at) { return at.first == key; });
  return whole || map.entries.empty() ? "" : flow_text(map);
}

// Whether the key, or a key below it, is set.
bool states(const Overrides& set, const std::string& key) {
  return std::ranges::any_of(
      set, [&](const auto& at) { return at.first == key || at.first.starts_with(key + "."); });
}

// Returns the scenario as a tree whose parts are texts in flow style.
DocumentNode scenario_tree(const PlanBasis& basis, const PlanPoint& point) {
  const PlanRequest& request = basis.request;
  std::string text = fmt::format("name: {}\nmodel: {}\n", plan_name(basis), request.model);
  text += fmt::format("cluster: {{nodes: {}, node: {}, storage: {}}}\n", point.nodes, request.node,
                      basis.storage.text);
  text += "layout: {}\n";
  text +=
      fmt::format("batch: {{global: {}, micro: 1, sequence: {}}}\n", point.batch, basis.sequence);
  text += fmt::format("precision: {}\nrecompute: none\nschedule: 1f1b\n",
                      name_of(usual_precision(basis.node.gpu)));
  if (point.campaign_s > 0) {
    text += fmt::format("snapshots: {}\nfailures: {}\n", point.snapshots.text, basis.failures.text);
    text += fmt::format("recovery: {}\n", basis.recovery.text);
  }
  text += fmt::format("job: {{tokens: {}, price: {:g} USD per gpu-hour}}\n",
                      format_quantity(request.tokens, Dimension::count), basis.price_usd_per_gpu_h);
  if (point.campaign_s > 0) {
    text += fmt::format("campaign: {{length: {}, replicas: {}, seed: 1}}\n",
                        format_quantity(point.campaign_s, Dimension::seconds), point.trials);
  }
  DocumentNode tree = parse_document(text, kPlanFile);
  for (const auto& [key, value] : point.found) {
    // dp follows from the other degrees, so that users who vary one of these need not change two.
    if (key != "layout.dp") apply_override(tree, key, value);
  }
  apply_override(tree, "software", basis.framework.name);
  if (point.campaign_s > 0) {
    apply_override(tree, "recovery.spares", std::to_string(point.spares));
    apply_override(tree, "recovery.when_no_spare", point.when_no_spare);
  }
  return tree;
}

// Returns pairs of tp and pp that divide the layers evenly, with replicas that share the batch.
std::vector<std::pair<int, int>> layouts_that_share(const PlanBasis& basis, int gpus, int batch,
                                                    int layers) {
  std::vector<std::pair<int, int>> layouts;
  for (int tp = 1; tp <= basis.node.gpus; ++tp) {
    if (basis.node.gpus % tp != 0 || most_tensor_ranks(basis.model) % tp != 0) continue;
    for (int pp = 1; pp <= layers; ++pp) {
      if (layers % pp != 0 || gpus / tp % pp != 0) continue;
      if (batch % (gpus / tp / pp) == 0) layouts.emplace_back(tp, pp);
    }
  }
  return layouts;
}

// Returns the values of the case that its framework chose, in the order in which it chooses them.
std::vector<ResolvedValue> chosen_values(const Framework& framework, const Case& found) {
  std::vector<ResolvedValue> chosen;
  for (const SoftwareChoice& choice : framework.choices) {
    for (const auto& [key, text] : choice.set) {
      const auto value = std::ranges::find(found.values, key, &ResolvedValue::key);
      const bool is_new = std::ranges::count(chosen, key, &ResolvedValue::key) == 0;
      if (value == found.values.end() || !is_new || !is_chosen(framework, *value)) continue;
      chosen.push_back(*value);
    }
  }
  return chosen;
}

// Returns the value that the framework chooses for the key; empty if it chooses none.
std::string chosen_value(const std::vector<ResolvedValue>& chosen, std::string_view key) {
  const auto found = std::ranges::find(chosen, key, &ResolvedValue::key);
  return found == chosen.end() ? "" : found->value;
}

std::string as_run(const PlanBasis& basis) {
  return "assumed: as " + basis.framework.name + " is mostly run";
}

// A choice of the framework, and the default that describes it; empty: the framework has none.
struct TakenOfFramework {
  const char* what;
  TakenDefault (*of)(const PlanBasis& basis, const std::vector<ResolvedValue>& chosen);
};

TakenDefault taken_gradients(const PlanBasis& basis, const std::vector<ResolvedValue>& chosen) {
  const std::string reductions = chosen_value(chosen, "software.reductions");
  if (reductions.empty() || states(basis.request.set, "software.reductions")) return {};
  const bool kept_too = chosen_value(chosen, "software.gradients") == reductions;
  return {"", (kept_too ? "kept and reduced in " : "reduced in ") + reductions, as_run(basis),
          kept_too ? "--set software.gradients=... --set software.reductions=..."
                   : "--set software.reductions=...",
          true};
}

// Returns the default of a key about experts if neither the user nor the framework sets the key.
// `hint` is appended to the advice on how to change it.
TakenDefault taken_of_experts(const PlanBasis& basis, const std::vector<ResolvedValue>& chosen,
                              const std::string& key, const char* value, const char* hint = "") {
  const bool open = basis.model.moe_layers() > 0 && !states(basis.request.set, key) &&
                    chosen_value(chosen, key).empty();
  if (!open) return {};
  return {"", value, "assumed: " + basis.framework.name + " does not state it",
          "--set " + key + "=true" + hint, true};
}

TakenDefault taken_dispatch(const PlanBasis& basis, const std::vector<ResolvedValue>& chosen) {
  return taken_of_experts(basis, chosen, "software.ep_merged",
                          "a token goes to each of its experts, also in one node", " (DeepEP)");
}

TakenDefault taken_overlap(const PlanBasis& basis, const std::vector<ResolvedValue>& chosen) {
  return taken_of_experts(basis, chosen, "software.ep_overlap",
                          "nothing is computed during the all-to-alls");
}

TakenDefault taken_software(const PlanBasis& basis, const std::vector<ResolvedValue>& chosen) {
  std::string text;
  for (const ResolvedValue& each : chosen) {
    if (states(basis.request.set, each.key)) continue;
    text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", each.key, each.value);
  }
  return {"", text, as_run(basis), "--set KEY=..."};
}

constexpr std::array kTakenOfFramework = {TakenOfFramework{"gradients", taken_gradients},
                                          TakenOfFramework{"dispatch to experts", taken_dispatch},
                                          TakenOfFramework{"overlap of experts", taken_overlap},
                                          TakenOfFramework{"software", taken_software}};

// Adds the parts of the scenario that the user may set.
void take_parts(PlanBasis& basis) {
  const Overrides& set = basis.request.set;
  const auto is_stated = [&](const std::string& key) { return states(set, key); };
  basis.storage = usual_storage(basis.request.nodes * basis.node.gpus);
  const std::string storage = left_open(set, "cluster.storage", basis.storage.text);
  add_default(basis, !storage.empty(),
              {"storage", storage, basis.storage.source, "--set cluster.storage.KEY=...", true});
  basis.failures = usual_failures(basis.node);
  const bool own_failures =
      std::ranges::any_of(set, [](const auto& at) { return at.first == "failures"; });
  add_default(basis, !own_failures, taken_failures(basis, set));
  basis.recovery = usual_recovery();
  const std::string recovery = left_open(set, "recovery", basis.recovery.text);
  add_default(basis, !recovery.empty(),
              {"recovery", recovery, basis.recovery.source, "--set recovery.KEY=..."});
  add_default(basis, !is_stated("cluster.fabric"),
              {"fabric", "every NIC reaches every other one at full rate",
               "assumed: full bisection", "--set cluster.fabric=..."});
  const MixtureOfExperts& moe = basis.model.moe;
  add_default(basis, basis.model.moe_layers() > 0 && moe.imbalance == 1 && moe.zipf == 0,
              {"balance of experts", "every expert gets the same number of tokens", "assumed",
               "--model '{base: ..., moe: {imbalance: 1.2}}'", true});
  add_default(
      basis, !own_failures,
      {"repair", "time of a node in repair, as in InfiniteHBD's trace",
       "published: the trace github.com/stepfun-ai/InfiniteHBD-Trace", "--set failures=..."});
  add_default(basis, true,
              {"copies", usual_snapshots().back().text + ", or fewer tiers", "assumed",
               "snapshots, in the scenario that --out writes"});
  add_default(basis, true,
              {"trials",
               fmt::format("{} campaigns, or more until they meet {:g} failures; seed 1",
                           kPlanTrials, kPlanFailures),
               "assumed", "campaign.replicas, in the scenario that --out writes"});
  const GpuSpec& gpu = basis.node.gpu;
  const Precision precision = usual_precision(gpu);
  const bool older = precision != Precision::bf16;
  add_default(basis, !is_stated("precision"),
              {"precision", std::string(name_of(precision)),
               older ? fmt::format("assumed: {} has no bf16", gpu.name) : "assumed",
               fmt::format("--set precision={}", name_of(other_precision(gpu))), true});
}

// Returns fewer tokens than usual for models of this size if the training would have few steps, but
// at least one sequence per node, so that every cluster can divide them.
Parameter batch_for(const PlanRequest& request, const Parameter& usual, int sequence) {
  const FewSteps& few = few_steps();
  const double fewest = std::max<double>(few.fewest.value, request.nodes) * sequence;
  const double tokens = std::max(request.tokens / few.steps.value, fewest);
  if (tokens >= usual.value) return usual;
  const Parameter& why = tokens > fewest ? few.steps : few.fewest;
  Parameter batch = why;
  batch.value = batch.low = batch.high = tokens;
  batch.source = fmt::format("smaller than the {} of pre-training, because {} tokens are few; {}",
                             format_count(usual.value), format_count(request.tokens), why.source);
  return batch;
}

}  // namespace

std::string few_steps_text(const PlanBasis& basis, double batch_tokens) {
  const double steps = std::ceil(basis.request.tokens / batch_tokens);
  if (steps >= few_steps().told_below.value) return "";
  return fmt::format(
      "the training has only {:.0f} steps, and {}; give a smaller --batch, or more tokens "
      "(--tokens counts all epochs)",
      steps, few_steps().told_below.source);
}

PlanBasis plan_basis(const PlanRequest& request) {
  check_open(request.set);
  PlanBasis basis;
  basis.request = request;
  basis.node = find_node(request.node);
  const Case first = first_case(request, basis.node);
  const Job& job = first.job;
  basis.model = job.model;
  for (const Note& note : first.notes) {
    if (note.key == "model") basis.model_note = note.text;
  }
  basis.node = job.cluster.node;
  const std::string& gpu = basis.node.gpu.name;
  basis.framework = request.framework ? find_framework(*request.framework) : usual_framework(gpu);
  check_runs_on(basis.framework, gpu);
  const double parameters = basis.model.parameters();
  add_default(
      basis, !request.framework,
      {"framework", basis.framework.name, "assumed: " + basis.framework.help, "--framework", true});

  const Parameter& usual_tokens = usual_sequence();
  const int usual = static_cast<int>(usual_tokens.value);
  const int longest = basis.model.sequence > 0 ? basis.model.sequence : usual;
  basis.sequence = request.sequence.value_or(std::min(longest, usual));
  const bool as_made = basis.sequence == basis.model.sequence;
  add_default(basis, !request.sequence,
              {"sequence", fmt::format("{} tokens", basis.sequence),
               as_made ? "the sequence for which the model was made" : origin_text(usual_tokens),
               "--sequence", !as_made});

  const Parameter usual_batch = batch_for(request, usual_batch_tokens(parameters), basis.sequence);
  basis.batch_tokens = request.batch_tokens.value_or(usual_batch.value);
  add_default(basis, !request.batch_tokens,
              {"batch", fmt::format("about {} tokens", format_count(basis.batch_tokens)),
               origin_text(usual_batch), "--batch", true});

  const Parameter& price = usual_price_usd_per_gpu_h(gpu);
  basis.price_usd_per_gpu_h = request.price_usd_per_gpu_h.value_or(price.value);
  add_default(
      basis, !request.price_usd_per_gpu_h,
      {"price",
       fmt::format("{:g} USD per GPU-hour ({:g} .. {:g})", price.value, price.low, price.high),
       origin_text(price), "--price", true});

  const Parameter& headroom = usual_headroom();
  basis.headroom = request.headroom.value_or(headroom.value);
  add_default(basis, !request.headroom,
              {"head-room", format_percent(basis.headroom) + " of a GPU's memory stay free",
               origin_text(headroom), "--headroom"});

  take_parts(basis);
  const Case named = first_case(request, find_node(request.node),
                                fmt::format("software: {}\n", basis.framework.name));
  take_framework(basis, named);
  return basis;
}

void take_framework(PlanBasis& basis, const Case& found) {
  const std::vector<ResolvedValue> chosen = chosen_values(basis.framework, found);
  for (const TakenOfFramework& each : kTakenOfFramework) {
    const auto before = std::ranges::find(basis.defaults, each.what, &TakenDefault::what);
    TakenDefault taken = each.of(basis, chosen);
    taken.what = each.what;
    if (before != basis.defaults.end()) {
      *before = std::move(taken);
    } else {
      basis.defaults.push_back(std::move(taken));
    }
  }
  std::erase_if(basis.defaults, [](const TakenDefault& each) { return each.value.empty(); });
}

std::string PlanPoint::found_at(std::string_view key) const {
  const auto at = std::ranges::find(found, key, &std::pair<std::string, std::string>::first);
  return at == found.end() ? "" : at->second;
}

int batch_on(const PlanBasis& basis, int nodes) {
  const double asked = basis.batch_tokens / basis.sequence;
  if (asked < 1) {
    throw Error(Location{"--batch"}, fmt::format("{:.0f} tokens are fewer than one sequence of {}; "
                                                 "--batch counts the tokens of a step, as in '4 M'",
                                                 basis.batch_tokens, basis.sequence));
  }
  constexpr double kMostSequences = 1e6;
  if (asked > kMostSequences) {
    throw Error(Location{"--batch"},
                fmt::format("{} tokens are {} sequences of {} per step, but a plan supports at "
                            "most a million; give fewer tokens, or longer sequences (--sequence)",
                            format_count(basis.batch_tokens), format_count(asked), basis.sequence));
  }
  const int gpus = nodes * basis.node.gpus;
  for (double near = 0.05; near < 1; near *= 2) {
    const auto first = static_cast<int>(std::ceil((1 - near) * asked));
    const auto last = std::max(first, static_cast<int>((1 + near) * asked));
    int best = 0;
    size_t most = 0;
    for (int batch = std::max(1, first); batch <= last; ++batch) {
      const size_t layouts = layouts_that_share(basis, gpus, batch, basis.model.layers).size();
      const bool nearer = std::abs(batch - asked) < std::abs(best - asked);
      if (layouts > most || (layouts == most && layouts > 0 && nearer)) {
        most = layouts;
        best = batch;
      }
    }
    if (best > 0) return best;
  }
  throw Error(
      fmt::format("no layout of {} GPUs divides about {:.0f} sequences evenly", gpus, asked),
      ExitCode::failed);
}

std::vector<Overrides> layer_splits(const PlanBasis& basis, const PlanPoint& point) {
  constexpr int kDividesWell = 8;
  const int gpus = point.nodes * basis.node.gpus;
  std::vector<Overrides> splits;
  bool divides_well = false;
  for (const auto& [first, last] :
       {std::pair(0, 0), std::pair(0, -1), std::pair(-1, -1), std::pair(-1, -2)}) {
    if (divides_well) break;
    divides_well = (basis.model.layers - first - last) % kDividesWell == 0;
    // A split with three layers less, such as 61 layers that count as 64, must divide well.
    if (last == -2 && !divides_well) break;
    const std::vector<std::pair<int, int>> layouts =
        layouts_that_share(basis, gpus, point.batch, basis.model.layers - first - last);
    if (layouts.empty()) continue;
    const auto& [tp, pp] = layouts.front();
    Overrides& split = splits.emplace_back();
    split = {{"layout.tp", std::to_string(tp)}, {"layout.pp", std::to_string(pp)}};
    if (first + last == 0) continue;
    split.emplace_back("layout.stages.first", std::to_string(first));
    split.emplace_back("layout.stages.last", std::to_string(last));
  }
  return splits;
}

PartComments comments_of(const PlanBasis& basis) {
  PartComments comments;
  const auto note = [&](const char* key, const std::string& text) { comments[key] = text; };
  for (const TakenDefault& each : basis.defaults) {
    if (each.what == "batch") note("batch", each.source);
    if (each.what == "price") note("job", "price: " + each.source);
    if (each.what == "failures") note("failures", each.source);
    if (each.what == "recovery") note("recovery", each.source);
    if (each.what == "storage") note("cluster", "storage: " + each.source);
  }
  if (!basis.model_note.empty()) note("model", basis.model_note);
  note("layout", fmt::format("searched: the fastest layout that leaves {} of a GPU's memory free; "
                             "dp is GPUs / (tp x cp x pp)",
                             format_percent(basis.headroom)));
  note("software", basis.framework.help);
  note("campaign", "as long as the estimated training, from 1 to 180 days");
  return comments;
}

PartComments guide_of(const PlanBasis& basis) {
  PartComments comments = comments_of(basis);
  for (const std::string& key : child_keys("")) {
    std::string& comment = comments[key];
    const std::string help(find_field(key)->help);
    comment = comment.empty() ? help : fmt::format("{}. Here {}", help, comment);
  }
  return comments;
}

std::string scenario_text(const PlanBasis& basis, const PlanPoint& point,
                          const PartComments& comments) {
  return scenario_text_of(scenario_tree(basis, point), comments);
}

std::string complete_scenario_text(const PlanBasis& basis, const PlanPoint& point,
                                   const PartComments& comments) {
  DocumentNode tree = scenario_tree(basis, point);
  if (!basis.request.written_model.empty()) {
    apply_override(tree, "model", basis.request.written_model);
  }
  for (const auto& [key, value] : basis.request.set) apply_override(tree, key, value);
  return scenario_text_of(tree, comments);
}

std::string plan_name(const PlanBasis& basis) {
  const std::vector<TransformerSpec>& models = library_models();
  const bool known =
      std::ranges::find(models, basis.request.model, &TransformerSpec::name) != models.end();
  const std::string model = known ? basis.request.model : "model";
  return fmt::format("plan-{}-{}-{}", model, basis.request.nodes, basis.request.node);
}

}  // namespace windtunnel
