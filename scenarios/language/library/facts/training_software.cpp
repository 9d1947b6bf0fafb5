#include "scenarios/language/library/facts/training_software.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <ranges>

#include "models/base/find_named.hpp"
#include "models/cost/offload/offload.hpp"
#include "models/workload/training.hpp"
#include "scenarios/language/library/calibration_heads.hpp"
#include "scenarios/language/library/library.hpp"
#include "scenarios/language/library/library_reader.hpp"
#include "scenarios/language/text/choices.hpp"
#include "scenarios/language/text/document.hpp"
#include "scenarios/language/text/evidence.hpp"

namespace windtunnel {
namespace {

std::vector<SoftwareRule> read_rules(const DocumentNode& document) {
  std::vector<SoftwareRule> rules;
  for (const DocumentEntry& entry : document.entries) {
    const DocumentNode& map = entry.value;
    require_map(map, entry.key);
    check_keys(map, {"when", "any", "reason", "instead", "source"});
    rules.push_back({.name = entry.key,
                     .when = read_conditions(require(map, "when")),
                     .any = read_conditions(require(map, "any")),
                     .reason = require_text(map, "reason"),
                     .instead = require_text(map, "instead"),
                     .source = require_text(map, "source")});
  }
  return rules;
}

std::vector<Sharding> shardings_in(const DocumentNode& map, const std::string& key) {
  std::vector<Sharding> shardings;
  for (const DocumentNode& item : require(map, key).items) {
    shardings.push_back(choice_of<Sharding>(item, key));
  }
  return shardings;
}

// The part of a job that rows of the field table set; null if a software cannot choose it.
void* part_of(Job& job, const void* type) {
  const std::pair<const void*, void*> parts[] = {
      {&kTypeTag<Job>, &job},
      {&kTypeTag<Recompute>, &job.recompute},
      {&kTypeTag<TransformerSpec>, &job.model},
      {&kTypeTag<MixtureOfExperts>, &job.model.moe},
      {&kTypeTag<Layout>, &job.layout},
      {&kTypeTag<Software>, &job.software},
      {&kTypeTag<Communication>, &job.communication},
      {&kTypeTag<CompressorChoice>, &job.communication.compressors.dp}};
  for (const auto& [known, part] : parts) {
    if (known == type) return part;
  }
  return nullptr;
}

// These keys are not bound to a member: recompute.modules may be a list, and each module of a list
// is added to the modules that earlier choices set.
constexpr std::string_view kRecomputed = "recompute.modules";
constexpr std::string_view kRecomputedModule = "recompute.*";
// The only size of a model that a training software may choose, because modules that predict
// further tokens are optional, and weights are also published without them.
constexpr std::string_view kTokensAhead = "model.mtp_layers";

// Sets a member of a part that copies of the job share. The job gets a changed copy of the part.
template <class Part>
void set_shared(const Value& value, std::shared_ptr<const Part>& shared) {
  Part part = shared != nullptr ? *shared : Part{};
  value.field->binding.assign(&part, value);
  shared = std::make_shared<const Part>(std::move(part));
}

void set_key(const Value& value, Job& job) {
  const Binding& binding = value.field->binding;
  if (value.key == kRecomputed) {
    job.recompute.modules = recompute_of(value.text).modules;
  } else if (value.field->path == kRecomputedModule) {
    job.recompute = job.recompute.with(value_of<RecomputeModule>(value.text));
  } else if (binding.target == &kTypeTag<Training>) {
    set_shared(value, job.training);
  } else if (binding.target == &kTypeTag<Offload>) {
    set_shared(value, job.offload);
  } else {
    binding.assign(part_of(job, binding.target), value);
  }
}

bool can_set(const Value& value) {
  Job job;
  const void* type = value.field->binding.target;
  // Only the compressor of gradients can be chosen; those of other axes and islands have the same
  // type.
  if (type == &kTypeTag<CompressorChoice>) return value.key.starts_with("communication.compressor");
  const bool of_model = type == &kTypeTag<TransformerSpec> || type == &kTypeTag<MixtureOfExperts>;
  const bool size_of_model =
      of_model && value.field->scalar == ScalarType::integer && value.key != kTokensAhead;
  return value.key == kRecomputed || value.field->path == kRecomputedModule ||
         type == &kTypeTag<Training> || type == &kTypeTag<Offload> ||
         (part_of(job, type) != nullptr && !size_of_model);
}

// The checked values of a key: one, or several if the value is a map or a list.
std::vector<Value> checked_values(const DocumentEntry& entry) {
  if (find_field(entry.key) == nullptr) {
    throw Error(entry.where, fmt::format("a scenario has no key '{}'", entry.key));
  }
  std::vector<Value> checked;
  const Values values = check_values(entry.value, entry.key);
  for (const auto& [key, value] : values.all()) {
    if (!value.stated) continue;
    if (!can_set(value)) {
      throw Error(entry.where,
                  fmt::format("{} is not a key that a training software can set", key));
    }
    checked.push_back(value);
    if (value.field->path == kRecomputedModule) checked.back().key = "recompute";
  }
  return checked;
}

std::vector<SoftwareRule> rules_in(const DocumentNode& map,
                                   const std::vector<SoftwareRule>& known) {
  std::vector<SoftwareRule> rules;
  for (const DocumentNode& item : require(map, "rules").items) {
    rules.push_back(find_named(known, "rule", item.text, item.where));
  }
  return rules;
}

void put(const std::string& key, const std::string& value, Overrides& set) {
  const auto found = std::ranges::find(set, key, &std::pair<std::string, std::string>::first);
  if (found == set.end()) {
    set.emplace_back(key, value);
  } else {
    found->second = value;
  }
}

// The key's value if nothing sets it: its default, or that of a new job. Nothing for a key of the
// model, because the model has its own value.
std::optional<Value> unset_value(const Value& set) {
  const std::string& text = set.field->default_text;
  if (!text.empty()) {
    const DocumentNode node = document_node(DocumentNode::Kind::scalar, text, {});
    return *check_values(node, set.key).find(set.key);
  }
  Job job;
  Value value{.key = set.key, .field = set.field, .dimension = set.dimension};
  if (set.key == kRecomputed) {
    value.text = to_string(job.recompute);
    return value;
  }
  const Binding& binding = set.field->binding;
  const void* part = part_of(job, binding.target);
  const bool of_model = part == &job.model || part == &job.model.moe;
  const bool known = part != nullptr && !of_model && binding.read != nullptr;
  if (!known || !binding.read(part, value)) return std::nullopt;
  return value;
}

// The values that conditional keys have if no condition holds.
std::vector<Value> defaults_of(const std::vector<SoftwareChoice>& choices) {
  std::vector<Value> defaults;
  for (const SoftwareChoice& choice : choices) {
    if (!choice.conditional()) continue;
    for (const Value& value : choice.values) {
      if (std::ranges::count(defaults, value.key, &Value::key) > 0) continue;
      if (std::optional<Value> unset = unset_value(value)) defaults.push_back(*std::move(unset));
    }
  }
  return defaults;
}

// An entry inherits what it leaves out from its base.
Framework read_framework(const DocumentEntry& entry, const std::vector<Framework>& before,
                         const std::vector<SoftwareRule>& rules) {
  const DocumentNode& map = entry.value;
  require_map(map, entry.key);
  check_keys(map, {"help", "base", "gpus", "schedules", "sharding", "sharding_in_pipelines", "set",
                   "choices", "rules", "origin", "source"});
  Framework framework;
  const DocumentNode* base = map.value_of("base");
  if (base != nullptr) {
    framework = find_named(before, "software before it", base->text, base->where);
    framework.base = base->text;
  }
  const auto states = [&](const char* key) {
    return base == nullptr || map.value_of(key) != nullptr;
  };
  framework.name = entry.key;
  framework.help = require_text(map, "help");
  framework.source = require_text(map, "source");
  framework.origin = Origin::published;
  if (const DocumentNode* origin = map.value_of("origin")) {
    framework.origin = parse_origin(origin->text, origin->where);
  }
  if (states("gpus")) framework.gpus = texts_of(require(map, "gpus"));
  if (states("schedules")) framework.schedules = texts_of(require(map, "schedules"));
  if (states("sharding")) framework.sharding = shardings_in(map, "sharding");
  if (states("sharding_in_pipelines")) {
    framework.sharding_in_pipelines = shardings_in(map, "sharding_in_pipelines");
  }
  if (states("rules")) framework.rules = rules_in(map, rules);
  if (states("set")) {
    framework.choices.push_back(read_choice(require(map, "set"), entry.key, framework.source));
    for (const auto& [key, value] : framework.choices.back().set) put(key, value, framework.set);
  }
  if (const DocumentNode* choices = map.value_of("choices")) {
    for (SoftwareChoice& choice : read_choices(*choices, entry.key, framework.source)) {
      framework.choices.push_back(std::move(choice));
    }
  }
  framework.defaults = defaults_of(framework.choices);
  return framework;
}

std::vector<Framework> read_frameworks(const DocumentNode& document) {
  const std::vector<SoftwareRule> rules = read_rules(require(document, "rules"));
  std::vector<Framework> all;
  for (const DocumentEntry& entry : require(document, "software").entries) {
    all.push_back(read_framework(entry, all, rules));
  }
  return all;
}

bool breaks(const SoftwareRule& rule, const Job& job) {
  return holds(rule.when, {}, job) && !holds({}, rule.any, job);
}

// Features of the job that are missing in the entry's lists (schedules, sharding and others).
std::vector<BrokenRule> unlisted(const Framework& framework, const Job& job) {
  std::vector<BrokenRule> faults;
  const auto listed = [](const auto& list, const auto& item) {
    return list.empty() || std::ranges::find(list, item) != list.end();
  };
  const Layout& layout = job.layout;
  if (layout.pp > 1 && !listed(framework.schedules, job.schedule.name)) {
    faults.push_back({"schedules: " + job.schedule.name,
                      fmt::format("it does not run schedule {}; it runs {}", job.schedule.name,
                                  fmt::join(framework.schedules, ", "))});
  }
  const auto& shardings = layout.pp > 1 ? framework.sharding_in_pipelines : framework.sharding;
  if (layout.sharding != Sharding::none && !framework.rules.empty() &&
      !listed(shardings, layout.sharding)) {
    std::vector<std::string_view> names;
    for (const Sharding each : shardings) names.push_back(name_of(each));
    faults.push_back({fmt::format("sharding: {}", name_of(layout.sharding)),
                      fmt::format("it does not support sharding {} with pp {}; it supports {}",
                                  name_of(layout.sharding), layout.pp, fmt::join(names, ", "))});
  }
  if (!framework.runs_on(job.cluster.node.gpu.name)) {
    faults.push_back({"gpus", fmt::format("it does not run on '{}'", job.cluster.node.gpu.name)});
  }
  return faults;
}

}  // namespace

bool Framework::runs_on(std::string_view gpu) const {
  return gpus.empty() ||
         std::ranges::any_of(gpus, [&](const std::string& name) { return gpu.starts_with(name); });
}

const std::vector<Framework>& frameworks() {
  static const std::vector<Framework> all = read_frameworks(library_document("software.yaml"));
  return all;
}

const Framework& find_framework(std::string_view name) {
  return find_named(frameworks(), "framework", name);
}

const Framework& usual_framework(std::string_view gpu) {
  const auto found = std::ranges::find_if(
      frameworks(), [&](const Framework& each) { return !each.gpus.empty() && each.runs_on(gpu); });
  if (found != frameworks().end()) return *found;
  throw Error(Location{"--framework"},
              fmt::format("no known training software runs on '{}'; with --framework any a plan "
                          "uses every schedule and sharding, as if one software had them all",
                          gpu));
}

void check_runs_on(const Framework& framework, std::string_view gpu) {
  if (framework.runs_on(gpu)) return;
  std::vector<std::string> others;
  for (const Framework& each : frameworks()) {
    if (each.base.empty() && each.runs_on(gpu)) others.push_back(each.name);
  }
  throw Error(Location{"--framework"}, fmt::format("{} does not run on '{}'; take {}",
                                                   framework.name, gpu, fmt::join(others, " or ")));
}

SoftwareChoice read_choice(const DocumentNode& set, const std::string& entry,
                           const std::string& source) {
  SoftwareChoice choice;
  choice.entry = entry;
  choice.source = source;
  require_map(set, "set");
  for (const DocumentEntry& entry : set.entries) {
    choice.set.emplace_back(entry.key, entry.value.text);
    const std::vector<Value> values = checked_values(entry);
    choice.values.insert(choice.values.end(), values.begin(), values.end());
  }
  return choice;
}

std::vector<SoftwareChoice> read_choices(const DocumentNode& list, const std::string& entry,
                                         const std::string& source, const ConditionNames& names) {
  std::vector<SoftwareChoice> choices;
  const std::pair<const char*, std::vector<FittedOn> SoftwareChoice::*> fitted[] = {
      {"fitted_on", &SoftwareChoice::fitted_on},
      {"memory_fitted_on", &SoftwareChoice::memory_fitted_on}};
  std::vector<std::string> keys = {"when", "any", "set", "source"};
  for (const auto& [key, member] : fitted) keys.emplace_back(key);
  if (!names.columns.empty()) keys.emplace_back("calibration");
  for (const DocumentNode& item : list.items) {
    check_keys(item, keys);
    const bool own = item.value_of("source") != nullptr;
    SoftwareChoice choice =
        read_choice(require(item, "set"), entry, own ? require_text(item, "source") : source);
    for (const auto& [key, member] : fitted) {
      const DocumentNode* rows = item.value_of(key);
      if (rows == nullptr) continue;
      if (!own) throw Error(rows->where, fmt::format("{}: the number also needs a source", key));
      choice.*member = read_fitted_on(*rows);
    }
    if (const DocumentNode* when = item.value_of("when")) {
      choice.when = read_conditions(*when, names);
    }
    if (const DocumentNode* any = item.value_of("any")) {
      choice.any = read_conditions(*any, names);
    }
    if (const DocumentNode* calibration = item.value_of("calibration")) {
      choice.calibration = find_named(library_calibration_heads(), "calibration",
                                      require_text(item, "calibration"), calibration->where)
                               .name;
    }
    choices.push_back(std::move(choice));
  }
  return choices;
}

std::vector<ChosenKey> choose(const std::vector<SoftwareChoice>& choices, const StatedKeys& stated,
                              Job& job, const RowWords& row) {
  std::vector<ChosenKey> chosen;
  for (const SoftwareChoice& choice : choices) {
    if (!holds(choice.when, choice.any, job, row)) continue;
    for (const Value& value : choice.values) {
      if (!stated(value.key)) set_key(value, job);
    }
    for (const auto& [key, value] : choice.set) {
      if (stated(key)) continue;
      const auto found = std::ranges::find(chosen, key, &ChosenKey::key);
      ChosenKey& at = found == chosen.end() ? chosen.emplace_back() : *found;
      at = {key, value, &choice};
    }
  }
  return chosen;
}

const std::string& source_of(const Framework& framework, std::string_view key) {
  const auto last_first = std::views::reverse(framework.choices);
  const auto own = std::ranges::find_if(last_first, [&](const SoftwareChoice& choice) {
    return choice.entry == framework.name &&
           std::ranges::count(choice.set, key, &std::pair<std::string, std::string>::first) > 0;
  });
  return own == last_first.end() ? framework.source : own->source;
}

bool is_chosen(const Framework& framework, const ResolvedValue& value) {
  return std::ranges::any_of(framework.choices, [&](const SoftwareChoice& choice) {
    return choice.source == value.source &&
           std::ranges::count(choice.set, value.key, &std::pair<std::string, std::string>::first) >
               0;
  });
}

std::vector<ChosenKey> choose_again(const Framework& framework, const StatedKeys& stated,
                                    Job& job) {
  const auto& decided = framework.defaults;
  for (const Value& value : decided) {
    if (!stated(value.key)) set_key(value, job);
  }
  const auto stays = [&](std::string_view key) {
    return stated(key) || std::ranges::count(decided, key, &Value::key) == 0;
  };
  return choose(framework.choices, stays, job);
}

std::vector<BrokenRule> broken_rules(const Framework& framework, const Job& job) {
  std::vector<BrokenRule> broken = unlisted(framework, job);
  if (job.network) return broken;  // a table of layers has no heads, experts or stages
  for (const SoftwareRule& rule : framework.rules) {
    if (!breaks(rule, job)) continue;
    broken.push_back(
        {rule.name, fmt::format("{} ({}): {}", filled(rule.reason, job), rule.name, rule.instead)});
  }
  return broken;
}

bool takes_as_well(const Framework* software, const Job& changed, const Job& job) {
  if (software == nullptr) return true;
  const std::vector<BrokenRule> before = broken_rules(*software, job);
  return std::ranges::all_of(broken_rules(*software, changed), [&](const BrokenRule& rule) {
    return std::ranges::count(before, rule.what, &BrokenRule::what) > 0;
  });
}

std::vector<Note> broken_rule_notes(const Framework& framework, const Job& job) {
  std::vector<Note> notes;
  for (const BrokenRule& rule : broken_rules(framework, job)) {
    notes.push_back(
        {"software", fmt::format("{} would refuse this: {}", framework.name, rule.text)});
  }
  return notes;
}

}  // namespace windtunnel
