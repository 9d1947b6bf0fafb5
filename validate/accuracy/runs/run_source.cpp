#include "validate/accuracy/runs/run_source.hpp"

#include <algorithm>
#include <set>

#include "models/base/find_named.hpp"
#include "models/base/units.hpp"
#include "scenarios/language/library/library_reader.hpp"
#include "scenarios/language/resolve/resolve.hpp"
#include "scenarios/language/text/document_reader.hpp"

namespace windtunnel {
namespace {

// What conditions may name behind "row.".
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

std::vector<JobCondition> conditions_at(const DocumentNode& map, const char* key) {
  const DocumentNode* list = map.value_of(key);
  return list == nullptr ? std::vector<JobCondition>{} : read_conditions(*list, column_names());
}

std::string text_at(const DocumentNode& map, const char* key) {
  return map.value_of(key) == nullptr ? std::string() : require_text(map, key);
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
  check_keys(map, {"rank", "on", "dropout", "large_from", "large_rank"});
  UsualAdapter usual;
  usual.rank = whole(require(map, "rank"), "rank");
  std::vector<std::string> matrices;
  for (const DocumentNode& item : require(map, "on").items) matrices.push_back(item.text);
  usual.on = adapter_on(matrices);
  if (map.value_of("dropout") != nullptr) usual.on.dropout = flag(map, "dropout");
  if (const DocumentNode* large = map.value_of("large_from")) {
    usual.large_from = quantity(*large, Dimension::number, "large_from");
    usual.large_rank = whole(require(map, "large_rank"), "large_rank");
  }
  return usual;
}

RunSource read_source(const DocumentEntry& entry, const DocumentNode& every,
                      const DocumentNode& common) {
  const DocumentNode& map = entry.value;
  require_map(map, entry.key);
  check_keys(map, {"when", "any", "software", "common", "implies", "node", "calibration", "gpu",
                   "memory", "adapter", "samples", "stages", "source"});
  const DocumentNode& software = require(map, "software");
  RunSource source;
  source.name = entry.key;
  source.when = conditions_at(map, "when");
  source.any = conditions_at(map, "any");
  source.software = &find_named(frameworks(), "software", software.text, software.where);
  const auto take = [&](const DocumentNode& list) {
    for (SoftwareChoice& choice : read_choices(list, column_names())) {
      source.implies.push_back(std::move(choice));
    }
  };
  take(every);
  if (const DocumentNode* names = map.value_of("common")) {
    for (const DocumentNode& name : names->items) take(require(common, name.text));
  }
  if (const DocumentNode* implies = map.value_of("implies")) take(*implies);
  source.node = text_at(map, "node");
  source.calibration = text_at(map, "calibration");
  source.gpu = text_at(map, "gpu");
  if (const DocumentNode* memory = map.value_of("memory")) source.memory = read_memory(*memory);
  source.adapter.on = adapter_on({"qkv"});  // NeMo's performance scripts tune linear_qkv
  if (const DocumentNode* adapter = map.value_of("adapter"))
    source.adapter = read_adapter(*adapter);
  if (const DocumentNode* samples = map.value_of("samples")) {
    source.packed = conditions_at(*samples, "when");
    source.sample_tokens = whole(require(*samples, "tokens"), "tokens");
  }
  if (map.value_of("stages") != nullptr) {
    source.stages_by_weights = choice_at<bool>(map, "stages", {{"even", false}, {"weights", true}});
  }
  source.evidence = require_text(map, "source");
  return source;
}

const std::vector<RunSource>& run_sources() {
  static const std::vector<RunSource> all = [] {
    const DocumentNode document = library_document("sources.yaml");
    std::vector<RunSource> sources;
    for (const DocumentEntry& entry : require(document, "sources").entries) {
      sources.push_back(
          read_source(entry, require(document, "every"), require(document, "common")));
    }
    return sources;
  }();
  return all;
}

// [stage] of one chunk a rank: each takes layers until its share of the matrices' weights is
// reached, the loss head's counted and the embedding's not.
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

// Keys of which one is the other or lies below it.
bool about_the_same(std::string_view one, std::string_view other) {
  const auto below = [](std::string_view key, std::string_view map) {
    return key.size() > map.size() && key.starts_with(map) && key[map.size()] == '.';
  };
  return one == other || below(one, other) || below(other, one);
}

}  // namespace

const RunSource& source_of(const TrainingRun& run) {
  static const Job no_job;
  return *std::ranges::find_if(run_sources(), [&](const RunSource& source) {
    return holds(source.when, source.any, no_job, words_of(run));
  });
}

void apply_source(const RunSource& source, const TrainingRun& run, Job& job) {
  const RowWords words = words_of(run);
  std::set<std::string> stated;
  if (!run.recompute.empty()) stated.insert("recompute");
  if (run.sequence_parallel) stated.insert("layout.sequence_parallel");
  const auto nothing = [](std::string_view) { return false; };
  for (const auto& [key, value] : choose(source.implies, nothing, job, words)) stated.insert(key);
  const auto is_stated = [&](std::string_view key) {
    return std::ranges::any_of(
        stated, [&](const std::string& other) { return about_the_same(key, other); });
  };
  choose(source.software->choices, is_stated, job);
  if (source.stages_by_weights) {
    job.layout.stage_layers = stages_by_weights(job.model, job.layout.stages());
  }
  if (holds(source.packed, {}, job, words) && source.sample_tokens > 0) {
    unpack_samples(source.sample_tokens, job);
  }
}

}  // namespace windtunnel
