#include "validate/accuracy/runs/run_source.hpp"

#include <algorithm>
#include <set>

#include "models/base/find_named.hpp"
#include "models/base/units.hpp"
#include "models/cost/chunk/step_work.hpp"
#include "scenarios/language/library/library.hpp"
#include "scenarios/language/library/library_reader.hpp"
#include "scenarios/language/resolve/resolve.hpp"
#include "scenarios/language/text/document.hpp"

namespace windtunnel {
namespace {

// Columns that conditions may name after "row.".
struct RowColumn {
  std::string_view name;
  std::string (*of)(const TrainingRun& run);
};
constexpr std::array kColumns{
    RowColumn{"source", [](const TrainingRun& run) { return run.source; }},
    RowColumn{"model", [](const TrainingRun& run) { return run.model; }},
    RowColumn{"params", [](const TrainingRun& run) { return run.parameters; }},
    RowColumn{"gpu_type", [](const TrainingRun& run) { return run.gpu_type; }},
    RowColumn{"recompute", [](const TrainingRun& run) { return run.recompute; }},
    RowColumn{"schedule", [](const TrainingRun& run) { return run.schedule; }},
    RowColumn{"precision", [](const TrainingRun& run) { return run.precision; }},
    RowColumn{"note", [](const TrainingRun& run) { return run.note; }},
    RowColumn{"sequence_parallel",
              [](const TrainingRun& run) {
                if (!run.sequence_parallel) return std::string();
                return std::string(*run.sequence_parallel ? "true" : "false");
              }},
    RowColumn{"adapters",
              [](const TrainingRun& run) {
                return std::string(trains_adapters(run) ? "true" : "false");
              }},
};

std::vector<std::string_view> column_names() {
  std::vector<std::string_view> names;
  for (const RowColumn& column : kColumns) names.push_back(column.name);
  return names;
}

RowWords words_of(const TrainingRun& run) {
  return [&run](std::string_view name) {
    return std::ranges::find(kColumns, name, &RowColumn::name)->of(run);
  };
}

std::vector<JobCondition> conditions_at(const DocumentNode& map, const char* key, bool of_job) {
  const DocumentNode* list = map.value_of(key);
  if (list == nullptr) return {};
  return read_conditions(*list, {.columns = column_names(), .of_job = of_job});
}

// Returns the name of an item in the library; empty if none is named.
template <class Items>
std::string name_at(const DocumentNode& map, const char* key, const Items& items) {
  const DocumentNode* node = map.value_of(key);
  return node == nullptr ? std::string() : find_named(items, key, node->text, node->where).name;
}

template <class Choice>
Choice choice_at(const DocumentNode& map, const char* key,
                 const std::vector<std::pair<std::string_view, Choice>>& choices) {
  const DocumentNode& node = require(map, key);
  std::vector<std::string> known;
  for (const auto& [name, choice] : choices) {
    if (node.text == name) return choice;
    known.emplace_back(name);
  }
  throw Error(node.where, unknown_name(key, node.text, known));
}

MemoryFigure read_memory(const DocumentNode& map) {
  using What = MemoryFigure::What;
  using Rank = MemoryFigure::Rank;
  check_keys(map, {"unit", "what", "rank"});
  MemoryFigure figure;
  if (const DocumentNode* unit = map.value_of("unit")) {
    figure.unit_bytes = quantity(*unit, Dimension::bytes, "unit");
  }
  figure.what = choice_at<What>(
      map, "what",
      {{"device", What::device}, {"reserved", What::reserved}, {"allocated", What::allocated}});
  figure.rank = choice_at<Rank>(
      map, "rank", {{"fullest", Rank::fullest}, {"first", Rank::first}, {"last", Rank::last}});
  return figure;
}

UsualAdapter read_adapter(const DocumentNode& map) {
  check_keys(map, {"rank", "on", "dropout", "large_from", "large_rank", "source"});
  UsualAdapter usual;
  usual.rank = whole(require(map, "rank"), "rank");
  usual.on = adapter_on(texts_of(require(map, "on")));
  if (map.value_of("dropout") != nullptr) usual.on.dropout = flag(map, "dropout");
  if (const DocumentNode* large = map.value_of("large_from")) {
    usual.large_from = quantity(*large, Dimension::number, "large_from");
    usual.large_rank = whole(require(map, "large_rank"), "large_rank");
  }
  return usual;
}

// The choices of an entry: those for every source, the common lists that it names, its own.
std::vector<SoftwareChoice> read_implied(const DocumentEntry& entry, const DocumentNode& document) {
  const DocumentNode& common = require(document, "common");
  std::vector<const DocumentNode*> lists = {&require(document, "every")};
  if (const DocumentNode* names = entry.value.value_of("common")) {
    std::vector<std::string> known;
    for (const DocumentEntry& each : common.entries) known.push_back(each.key);
    for (const DocumentNode& name : names->items) {
      lists.push_back(common.value_of(name.text));
      if (lists.back() == nullptr) {
        throw Error(name.where, unknown_name("list of choices", name.text, known));
      }
    }
  }
  if (const DocumentNode* implies = entry.value.value_of("implies")) lists.push_back(implies);
  std::vector<SoftwareChoice> implied;
  for (const DocumentNode* list : lists) {
    for (SoftwareChoice& choice : read_choices(
             *list, entry.key, require_text(entry.value, "source"), {.columns = column_names()})) {
      implied.push_back(std::move(choice));
    }
  }
  return implied;
}

RunSource read_source(const DocumentEntry& entry, const DocumentNode& document) {
  const DocumentNode& map = entry.value;
  require_map(map, entry.key);
  check_keys(
      map, {"when", "any", "software", "common", "implies", "node", "calibration", "gpu", "memory",
            "adapter", "samples", "stages", "chunks", "flops", "assumed", "source"});
  const DocumentNode& software = require(map, "software");
  RunSource source;
  source.name = entry.key;
  source.when = conditions_at(map, "when", false);
  source.any = conditions_at(map, "any", false);
  source.software = &find_named(frameworks(), "software", software.text, software.where);
  source.implies = read_implied(entry, document);
  source.node = name_at(map, "node", library_nodes());
  source.calibration = name_at(map, "calibration", library_calibrations());
  source.gpu = name_at(map, "gpu", library_gpus());
  source.assumed = text_or_empty(map, "assumed");
  if (const DocumentNode* memory = map.value_of("memory")) source.memory = read_memory(*memory);
  const DocumentNode* adapter = map.value_of("adapter");
  source.adapter = read_adapter(adapter != nullptr ? *adapter : require(document, "adapter"));
  if (const DocumentNode* samples = map.value_of("samples")) {
    source.packed = conditions_at(*samples, "when", true);
    source.sample_tokens = whole(require(*samples, "tokens"), "tokens");
  }
  if (map.value_of("stages") != nullptr) {
    source.stages_by_weights = choice_at<bool>(map, "stages", {{"even", false}, {"weights", true}});
  }
  if (map.value_of("chunks") != nullptr) {
    source.chunks_of_one_layer =
        choice_at<bool>(map, "chunks", {{"stage", false}, {"layer", true}});
  }
  if (map.value_of("flops") != nullptr) {
    source.flops = choice_at<AttentionCount>(
        map, "flops", {{"full", AttentionCount::full}, {"causal", AttentionCount::causal}});
  }
  source.evidence = require_text(map, "source");
  return source;
}

const std::vector<RunSource>& run_sources() {
  static const std::vector<RunSource> all = read_run_sources(library_document("sources.yaml"));
  return all;
}

// Returns the layers of each stage, with one chunk per rank: each stage takes layers until it has
// its share of the matrices' weights, counting the loss head and not the embedding.
std::vector<int> stages_by_weights(const TransformerSpec& model, int stages) {
  const double layer = model.attention_parameters() + model.mlp_parameters();
  const double head = static_cast<double>(model.vocabulary) * model.hidden;
  const double share = (model.layers * layer + head) / stages;
  std::vector<int> layers(stages);
  std::size_t stage = 0;
  for (int placed = 1; placed <= model.layers; ++placed) {
    ++layers[stage];
    const double reached = share * static_cast<double>(stage + 1) * (1 - 1e-12);
    if (placed * layer >= reached && stage + 1 < layers.size()) ++stage;
  }
  return layers;
}

void unpack_samples(int tokens, Job& job) {
  const int samples = job.batch.sequence / tokens;
  if (samples < 2 || job.layout.cp > 1) return;
  job.batch.sequence = job.model.sequence = tokens;
  job.batch.micro *= samples;
  job.batch.global *= samples;
}

// Whether the keys are equal, or one is below the other.
bool about_the_same(std::string_view one, std::string_view other) {
  const auto below = [](std::string_view key, std::string_view map) {
    return key.size() > map.size() && key.starts_with(map) && key[map.size()] == '.';
  };
  return one == other || below(one, other) || below(other, one);
}

}  // namespace

std::vector<RunSource> read_run_sources(const DocumentNode& document) {
  std::vector<RunSource> sources;
  for (const DocumentEntry& entry : require(document, "sources").entries) {
    sources.push_back(read_source(entry, document));
  }
  return sources;
}

const RunSource& source_of(const TrainingRun& run) {
  static const Job no_job;
  return *std::ranges::find_if(run_sources(), [&](const RunSource& source) {
    return holds(source.when, source.any, no_job, words_of(run));
  });
}

bool tells_step(const TrainingRun& run) {
  return run.step_s || (run.tflops_per_gpu && source_of(run).flops);
}

std::optional<double> measured_step_s(const TrainingRun& run, const Job& job) {
  if (run.step_s || !tells_step(run)) return run.step_s;
  const double flops = flops_per_step(job, *source_of(run).flops);
  return flops / (*run.tflops_per_gpu * 1e12 * job.layout.ranks());
}

namespace {

// If the software states how many layers fewer the first and last stage have, that replaces the
// stages assumed for a row whose layers do not divide. layers_per_stage() adds the layers of
// multi-token prediction to the last stage of a list, too, so the list leaves them out.
void list_shifted_stages(Job& job) {
  Layout& layout = job.layout;
  if (layout.first_stage_layers == 0 && layout.last_stage_layers == 0) return;
  layout.stage_layers.clear();
  TransformerSpec decoder = job.model;
  decoder.mtp_layers = 0;
  layout.stage_layers = layers_per_stage(decoder, layout);
  layout.first_stage_layers = layout.last_stage_layers = 0;
}

}  // namespace

std::vector<const SoftwareChoice*> apply_source(const RunSource& source, const TrainingRun& run,
                                                Job& job) {
  const RowWords words = words_of(run);
  std::set<std::string> stated;
  if (!run.recompute.empty()) stated.insert("recompute");
  if (run.sequence_parallel) stated.insert("layout.sequence_parallel");
  std::vector<const SoftwareChoice*> made;
  const auto take = [&](const std::vector<ChosenKey>& chosen) {
    for (const ChosenKey& each : chosen) {
      if (std::ranges::count(made, each.choice) == 0) made.push_back(each.choice);
    }
  };
  const auto nothing = [](std::string_view) { return false; };
  const std::vector<ChosenKey> implied = choose(source.implies, nothing, job, words);
  for (const ChosenKey& each : implied) stated.insert(each.key);
  take(implied);
  const auto is_stated = [&](std::string_view key) {
    return std::ranges::any_of(
        stated, [&](const std::string& other) { return about_the_same(key, other); });
  };
  take(choose(source.software->choices, is_stated, job));
  list_shifted_stages(job);
  if (source.stages_by_weights) {
    job.layout.stage_layers = stages_by_weights(job.model, job.layout.stages());
  }
  if (holds(source.packed, {}, job, words) && source.sample_tokens > 0) {
    unpack_samples(source.sample_tokens, job);
  }
  return made;
}

}  // namespace windtunnel
