#include "scenarios/language/library/facts/training_software.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>

#include "models/base/find_named.hpp"
#include "scenarios/language/library/library.hpp"
#include "scenarios/language/library/library_reader.hpp"
#include "scenarios/language/text/document_reader.hpp"

namespace windtunnel {
namespace {

int micro_batches_of(const Job& job) {
  return microbatches(job.layout, job.batch);
}

// Micro-batches that pass through a chunk together.
int group_of(const Job& job) {
  return job.schedule.group > 0 ? job.schedule.group : job.layout.pp;
}

int even_layers_of(const Job& job) {
  return job.model.layers - job.layout.first_stage_layers - job.layout.last_stage_layers;
}

struct RuleNumber {
  std::string_view name;
  double (*of)(const Job& job);
};

// Numbers that rules may name.
constexpr std::array kRuleNumbers = {
    RuleNumber{"tp", [](const Job& job) -> double { return job.layout.tp; }},
    RuleNumber{"cp", [](const Job& job) -> double { return job.layout.cp; }},
    RuleNumber{"pp", [](const Job& job) -> double { return job.layout.pp; }},
    RuleNumber{"vpp", [](const Job& job) -> double { return job.layout.vpp; }},
    RuleNumber{"dp", [](const Job& job) -> double { return job.layout.dp; }},
    RuleNumber{"ep", [](const Job& job) -> double { return job.layout.ep; }},
    RuleNumber{"replicas", [](const Job& job) -> double { return job.layout.island_replicas(); }},
    RuleNumber{"stages", [](const Job& job) -> double { return job.layout.stages(); }},
    RuleNumber{"stage_ranks",
               [](const Job& job) -> double {
                 return double(job.layout.tp) * job.layout.cp * job.layout.dp;
               }},
    RuleNumber{"listed_stages",
               [](const Job& job) -> double { return job.layout.stage_layers.empty() ? 0 : 1; }},
    RuleNumber{"sequence_parallel",
               [](const Job& job) -> double { return job.layout.sequence_parallel ? 1 : 0; }},
    RuleNumber{
        "compiled",
        [](const Job& job) -> double { return job.software.fusion == Fusion::compiled ? 1 : 0; }},
    RuleNumber{"micro_batches", [](const Job& job) -> double { return micro_batches_of(job); }},
    RuleNumber{"group", [](const Job& job) -> double { return group_of(job); }},
    RuleNumber{"last_group",
               [](const Job& job) -> double { return micro_batches_of(job) % group_of(job); }},
    RuleNumber{"rounds",
               [](const Job& job) -> double {
                 return std::max(1, micro_batches_of(job) / job.layout.pp);
               }},
    RuleNumber{"even_layers", [](const Job& job) -> double { return even_layers_of(job); }},
    RuleNumber{"heads", [](const Job& job) -> double { return job.model.heads; }},
    // Latent attention makes keys and values for each head.
    RuleNumber{"kv_heads",
               [](const Job& job) -> double {
                 return job.model.latent.kv_rank > 0 ? job.model.heads : job.model.kv_heads;
               }},
    RuleNumber{"ffn", [](const Job& job) -> double { return job.model.ffn_hidden; }},
    RuleNumber{"experts", [](const Job& job) -> double { return job.model.moe.experts; }},
    RuleNumber{"gradient_bytes",
               [](const Job& job) -> double { return job.software.gradient_bytes; }},
    RuleNumber{"reduce_bytes", [](const Job& job) -> double { return job.software.reduce_bytes; }},
};

struct RuleWord {
  std::string_view name;
  std::string (*of)(const Job& job);
};

constexpr std::array kRuleWords = {
    RuleWord{"schedule", [](const Job& job) { return job.schedule.name; }},
    RuleWord{"sharding", [](const Job& job) { return std::string(name_of(job.layout.sharding)); }},
    RuleWord{"precision", [](const Job& job) { return std::string(name_of(job.precision)); }},
    RuleWord{"gpu", [](const Job& job) { return job.cluster.node.gpu.name; }},
};

constexpr std::array<std::pair<std::string_view, RulePredicate>, 6> kPredicates = {
    {{"divides", RulePredicate::divides},
     {"at_least", RulePredicate::at_least},
     {"at_most", RulePredicate::at_most},
     {"equals", RulePredicate::equals},
     {"one_of", RulePredicate::one_of},
     {"starts_with", RulePredicate::starts_with}}};

const RuleNumber* number_named(std::string_view name) {
  const auto* found = std::ranges::find(kRuleNumbers, name, &RuleNumber::name);
  return found == kRuleNumbers.end() ? nullptr : found;
}

const RuleWord* word_named(std::string_view name) {
  const auto* found = std::ranges::find(kRuleWords, name, &RuleWord::name);
  return found == kRuleWords.end() ? nullptr : found;
}

std::optional<double> literal(std::string_view text) {
  double number = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (fault != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

RuleCondition read_condition(const DocumentNode& node) {
  if (node.items.size() < 3) {
    throw Error(node.where, "a condition is [quantity, predicate, operand, ...]");
  }
  RuleCondition condition;
  condition.quantity = node.items[0].text;
  const bool words = word_named(condition.quantity) != nullptr;
  if (!words && number_named(condition.quantity) == nullptr) {
    std::vector<std::string> known;
    for (const RuleNumber& each : kRuleNumbers) known.emplace_back(each.name);
    for (const RuleWord& each : kRuleWords) known.emplace_back(each.name);
    throw Error(node.items[0].where, unknown_name("quantity", condition.quantity, known));
  }
  const auto* predicate = std::ranges::find(kPredicates, node.items[1].text,
                                            &std::pair<std::string_view, RulePredicate>::first);
  if (predicate == kPredicates.end()) {
    std::vector<std::string> known;
    for (const auto& [name, each] : kPredicates) known.emplace_back(name);
    throw Error(node.items[1].where, unknown_name("predicate", node.items[1].text, known));
  }
  condition.predicate = predicate->second;
  const bool of_words = condition.predicate == RulePredicate::one_of ||
                        condition.predicate == RulePredicate::starts_with;
  if (words != of_words) {
    throw Error(node.items[1].where,
                fmt::format("{} does not compare '{}'", predicate->first, condition.quantity));
  }
  for (std::size_t i = 2; i < node.items.size(); ++i) {
    const std::string& operand = node.items[i].text;
    if (!words && !literal(operand) && number_named(operand) == nullptr) {
      throw Error(node.items[i].where,
                  fmt::format("'{}' is neither a number nor a quantity", operand));
    }
    condition.operands.push_back(operand);
  }
  return condition;
}

std::vector<RuleCondition> read_conditions(const DocumentNode& map, const std::string& key) {
  std::vector<RuleCondition> conditions;
  for (const DocumentNode& item : require(map, key).items) {
    conditions.push_back(read_condition(item));
  }
  return conditions;
}

std::vector<SoftwareRule> read_rules(const DocumentNode& document) {
  std::vector<SoftwareRule> rules;
  for (const DocumentEntry& entry : document.entries) {
    const DocumentNode& map = entry.value;
    require_map(map, entry.key);
    check_keys(map, {"when", "any", "reason", "instead", "source"});
    rules.push_back({.name = entry.key,
                     .when = read_conditions(map, "when"),
                     .any = read_conditions(map, "any"),
                     .reason = require_text(map, "reason"),
                     .instead = require_text(map, "instead"),
                     .source = require_text(map, "source")});
  }
  return rules;
}

std::vector<std::string> texts_in(const DocumentNode& map, const std::string& key) {
  std::vector<std::string> texts;
  for (const DocumentNode& item : require(map, key).items) texts.push_back(item.text);
  return texts;
}

std::vector<Sharding> shardings_in(const DocumentNode& map, const std::string& key) {
  std::vector<Sharding> shardings;
  for (const DocumentNode& item : require(map, key).items) {
    if (!has_choice<Sharding>(item.text)) {
      const std::vector<std::string_view> known = names_of<Sharding>();
      throw Error(item.where, unknown_name(key, item.text, {known.begin(), known.end()}));
    }
    shardings.push_back(value_of<Sharding>(item.text));
  }
  return shardings;
}

std::vector<Framework> read_frameworks(const DocumentNode& document) {
  const std::vector<SoftwareRule> rules = read_rules(require(document, "rules"));
  std::vector<Framework> all;
  for (const DocumentEntry& entry : require(document, "software").entries) {
    const DocumentNode& map = entry.value;
    require_map(map, entry.key);
    check_keys(map, {"help", "gpus", "schedules", "sharding", "sharding_in_pipelines", "set",
                     "rules", "source"});
    Framework framework = {.name = entry.key,
                           .help = require_text(map, "help"),
                           .gpus = texts_in(map, "gpus"),
                           .schedules = texts_in(map, "schedules"),
                           .sharding = shardings_in(map, "sharding"),
                           .sharding_in_pipelines = shardings_in(map, "sharding_in_pipelines"),
                           .set = {},
                           .rules = {},
                           .source = require_text(map, "source")};
    for (const DocumentEntry& set : require(map, "set").entries) {
      framework.set.emplace_back(set.key, set.value.text);
    }
    for (const DocumentNode& item : require(map, "rules").items) {
      framework.rules.push_back(find_named(rules, "rule", item.text, item.where));
    }
    all.push_back(std::move(framework));
  }
  return all;
}

double operand_of(const std::string& operand, const Job& job) {
  const RuleNumber* quantity = number_named(operand);
  return quantity != nullptr ? quantity->of(job) : *literal(operand);
}

bool divides(double divisor, double number) {
  return divisor > 0 && std::fmod(number, divisor) == 0;
}

bool holds(const RuleCondition& condition, const Job& job) {
  const auto any_operand = [&](auto predicate) {
    return std::ranges::any_of(condition.operands, predicate);
  };
  if (const RuleWord* word = word_named(condition.quantity)) {
    const std::string value = word->of(job);
    const bool start = condition.predicate == RulePredicate::starts_with;
    return any_operand([&](const std::string& operand) {
      return start ? value.starts_with(operand) : value == operand;
    });
  }
  const double value = number_named(condition.quantity)->of(job);
  return any_operand([&](const std::string& text) {
    const double operand = operand_of(text, job);
    switch (condition.predicate) {
      case RulePredicate::divides:
        return divides(value, operand);
      case RulePredicate::at_least:
        return value >= operand;
      case RulePredicate::at_most:
        return value <= operand;
      default:
        return value == operand;
    }
  });
}

// The sentence with the job's values in the place of "{quantity}".
std::string filled(std::string text, const Job& job) {
  const auto put = [&](std::string_view name, const std::string& value) {
    const std::string mark = fmt::format("{{{}}}", name);
    for (std::size_t at = text.find(mark); at != std::string::npos; at = text.find(mark)) {
      text.replace(at, mark.size(), value);
    }
  };
  for (const RuleNumber& number : kRuleNumbers) {
    put(number.name, fmt::format("{:g}", number.of(job)));
  }
  for (const RuleWord& word : kRuleWords) put(word.name, word.of(job));
  return text;
}

bool breaks(const SoftwareRule& rule, const Job& job) {
  const auto true_of = [&](const RuleCondition& condition) { return holds(condition, job); };
  return std::ranges::all_of(rule.when, true_of) && std::ranges::none_of(rule.any, true_of);
}

// What is not in the lists of the entry.
std::vector<std::string> unlisted(const Framework& framework, const Job& job) {
  std::vector<std::string> faults;
  const auto listed = [](const auto& list, const auto& item) {
    return list.empty() || std::ranges::find(list, item) != list.end();
  };
  const Layout& layout = job.layout;
  if (layout.pp > 1 && !listed(framework.schedules, job.schedule.name)) {
    faults.push_back(fmt::format("it does not run schedule {}; it runs {}", job.schedule.name,
                                 fmt::join(framework.schedules, ", ")));
  }
  const auto& shardings = layout.pp > 1 ? framework.sharding_in_pipelines : framework.sharding;
  if (layout.sharding != Sharding::none && !framework.rules.empty() &&
      !listed(shardings, layout.sharding)) {
    std::vector<std::string_view> names;
    for (const Sharding each : shardings) names.push_back(name_of(each));
    faults.push_back(fmt::format("it does not shard as {} with pp {}; it takes {}",
                                 name_of(layout.sharding), layout.pp, fmt::join(names, ", ")));
  }
  if (!framework.runs_on(job.cluster.node.gpu.name)) {
    faults.push_back(fmt::format("it does not run on '{}'", job.cluster.node.gpu.name));
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
              fmt::format("no training software is known that runs on '{}'; any plans with every "
                          "schedule and sharding, as if some software had them all",
                          gpu));
}

void check_runs_on(const Framework& framework, std::string_view gpu) {
  if (framework.runs_on(gpu)) return;
  std::vector<std::string> others;
  for (const Framework& each : frameworks()) {
    if (each.runs_on(gpu)) others.push_back(each.name);
  }
  throw Error(Location{"--framework"}, fmt::format("{} does not run on '{}'; take {}",
                                                   framework.name, gpu, fmt::join(others, " or ")));
}

std::vector<std::string> broken_rules(const Framework& framework, const Job& job) {
  std::vector<std::string> broken = unlisted(framework, job);
  if (job.network) return broken;  // a table of layers has no heads, experts or stages
  for (const SoftwareRule& rule : framework.rules) {
    if (!breaks(rule, job)) continue;
    broken.push_back(fmt::format("{} ({}): {}", filled(rule.reason, job), rule.name, rule.instead));
  }
  return broken;
}

bool takes_as_well(const Framework* software, const Job& changed, const Job& job) {
  if (software == nullptr) return true;
  const std::vector<std::string> before = broken_rules(*software, job);
  return std::ranges::all_of(broken_rules(*software, changed), [&](const std::string& fault) {
    return std::ranges::find(before, fault) != before.end();
  });
}

std::vector<Note> broken_rule_notes(const Framework& framework, const Job& job) {
  std::vector<Note> notes;
  for (const std::string& fault : broken_rules(framework, job)) {
    notes.push_back({"software", fmt::format("{} would refuse this: {}", framework.name, fault)});
  }
  return notes;
}

}  // namespace windtunnel
