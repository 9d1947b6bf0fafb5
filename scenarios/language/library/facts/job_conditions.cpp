#include "scenarios/language/library/facts/job_conditions.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <utility>

#include "models/base/error.hpp"
#include "models/base/find_named.hpp"
#include "models/workload/axes.hpp"
#include "scenarios/language/text/choices.hpp"
#include "traces/text/text.hpp"

namespace windtunnel {
namespace {

int micro_batches_of(const Job& job) {
  return microbatches(job.layout, job.batch);
}

// Micro-batches that pass through a chunk as one group.
int group_of(const Job& job) {
  return job.schedule.group > 0 ? job.schedule.group : job.layout.pp;
}

int even_layers_of(const Job& job) {
  return job.model.layers - job.layout.first_stage_layers - job.layout.last_stage_layers;
}

struct JobNumber {
  std::string_view name;
  double (*of)(const Job& job);
  bool of_schedule = false;  // may differ between schedules of one layout and micro-batch
};

// The size of each axis.
template <std::size_t... I>
constexpr auto axis_numbers(std::index_sequence<I...> /*all*/) {
  return std::array{JobNumber{kAxes[I].name,
                              [](const Job& job) -> double { return job.layout.*kAxes[I].size; },
                              kAxes[I].of_schedule}...};
}
constexpr auto kAxisNumbers = axis_numbers(std::make_index_sequence<kAxes.size()>());

constexpr std::array kOtherNumbers = {
    JobNumber{"replicas", [](const Job& job) -> double { return job.layout.island_replicas(); }},
    JobNumber{"stages", [](const Job& job) -> double { return job.layout.stages(); }, true},
    JobNumber{"stage_ranks",
              [](const Job& job) -> double {
                return double(job.layout.tp) * job.layout.cp * job.layout.dp;
              }},
    JobNumber{"listed_stages",
              [](const Job& job) -> double { return job.layout.stage_layers.empty() ? 0 : 1; }},
    JobNumber{"sequence_parallel",
              [](const Job& job) -> double { return job.layout.sequence_parallel ? 1 : 0; }},
    JobNumber{
        "compiled",
        [](const Job& job) -> double { return job.software.fusion == Fusion::compiled ? 1 : 0; }},
    JobNumber{"micro_batches", [](const Job& job) -> double { return micro_batches_of(job); }},
    JobNumber{"group", [](const Job& job) -> double { return group_of(job); }, true},
    JobNumber{"last_group",
              [](const Job& job) -> double { return micro_batches_of(job) % group_of(job); }, true},
    JobNumber{"rounds",
              [](const Job& job) -> double {
                return std::max(1, micro_batches_of(job) / job.layout.pp);
              }},
    JobNumber{"even_layers", [](const Job& job) -> double { return even_layers_of(job); }},
    JobNumber{"heads", [](const Job& job) -> double { return job.model.heads; }},
    // Latent attention has keys and values for each head.
    JobNumber{"kv_heads",
              [](const Job& job) -> double {
                return job.model.latent.kv_rank > 0 ? job.model.heads : job.model.kv_heads;
              }},
    JobNumber{"ffn", [](const Job& job) -> double { return job.model.ffn_hidden; }},
    JobNumber{"experts", [](const Job& job) -> double { return job.model.moe.experts; }},
    JobNumber{"moe_layers", [](const Job& job) -> double { return job.model.moe_layers(); }},
    JobNumber{"kv_rank", [](const Job& job) -> double { return job.model.latent.kv_rank; }},
    JobNumber{"window", [](const Job& job) -> double { return job.model.window; }},
    // These are the letters of model.hybrid_override_pattern: layers of several kinds.
    JobNumber{
        "pattern_layers",
        [](const Job& job) -> double { return static_cast<double>(job.model.pattern.size()); }},
    JobNumber{"micro", [](const Job& job) -> double { return job.batch.micro; }},
    JobNumber{"nodes", [](const Job& job) -> double { return job.cluster.nodes; }},
    JobNumber{"node_gpus", [](const Job& job) -> double { return job.cluster.node.gpus; }},
    JobNumber{"fp4_flops",
              [](const Job& job) -> double { return job.cluster.node.gpu.fp4_flops.value; }},
    JobNumber{"gradient_bytes",
              [](const Job& job) -> double { return job.software.gradient_bytes; }},
    JobNumber{"reduce_bytes", [](const Job& job) -> double { return job.software.reduce_bytes; }},
};
// All numbers that conditions may name.
constexpr auto kJobNumbers = [] {
  std::array<JobNumber, kAxisNumbers.size() + kOtherNumbers.size()> all{};
  std::ranges::copy(kOtherNumbers, std::ranges::copy(kAxisNumbers, all.begin()).out);
  return all;
}();

struct JobWord {
  std::string_view name;
  std::string (*of)(const Job& job);
  bool of_schedule = false;
};

constexpr std::array kJobWords = {
    JobWord{"schedule", [](const Job& job) { return job.schedule.name; }, true},
    JobWord{"sharding", [](const Job& job) { return std::string(name_of(job.layout.sharding)); }},
    JobWord{"recompute", [](const Job& job) { return to_string(job.recompute); }},
    JobWord{"precision", [](const Job& job) { return std::string(name_of(job.precision)); }},
    JobWord{"gpu", [](const Job& job) { return job.cluster.node.gpu.name; }},
};

constexpr std::array<std::pair<std::string_view, JobPredicate>, 9> kPredicates = {
    {{"divides", JobPredicate::divides},
     {"at_least", JobPredicate::at_least},
     {"at_most", JobPredicate::at_most},
     {"above", JobPredicate::above},
     {"equals", JobPredicate::equals},
     {"one_of", JobPredicate::one_of},
     {"starts_with", JobPredicate::starts_with},
     {"contains", JobPredicate::contains},
     {"lacks", JobPredicate::lacks}}};

constexpr std::string_view kRow = "row.";

const JobNumber* number_named(std::string_view name) {
  const auto* found = std::ranges::find(kJobNumbers, name, &JobNumber::name);
  return found == kJobNumbers.end() ? nullptr : found;
}

const JobWord* word_named(std::string_view name) {
  const auto* found = std::ranges::find(kJobWords, name, &JobWord::name);
  return found == kJobWords.end() ? nullptr : found;
}

std::optional<double> literal(std::string_view text) {
  double number = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (fault != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// Throws Error if conditions cannot name the quantity here.
void check_quantity(const DocumentNode& node, const ConditionNames& names) {
  std::vector<std::string> known;
  for (const std::string_view each : names.columns) known.push_back(std::string(kRow).append(each));
  const bool of_job = number_named(node.text) != nullptr || word_named(node.text) != nullptr;
  if (names.of_job) {
    for (const JobNumber& each : kJobNumbers) known.emplace_back(each.name);
    for (const JobWord& each : kJobWords) known.emplace_back(each.name);
  } else if (of_job) {
    throw Error(
        node.where,
        fmt::format("'{}' is a quantity of a job, but here only quantities of a row are known{}{}",
                    node.text, known.empty() ? "" : ": ", fmt::join(known, ", ")));
  }
  if (std::ranges::count(known, node.text) > 0) return;
  throw Error(node.where, unknown_name("quantity", node.text, known));
}

JobCondition read_condition(const DocumentNode& node, const ConditionNames& names) {
  if (node.items.size() < 3) {
    throw Error(node.where, "a condition must have the form [quantity, predicate, operand, ...]");
  }
  check_quantity(node.items[0], names);
  JobCondition condition;
  condition.quantity = node.items[0].text;
  const bool words =
      condition.quantity.starts_with(kRow) || word_named(condition.quantity) != nullptr;
  const auto* predicate = std::ranges::find(kPredicates, node.items[1].text,
                                            &std::pair<std::string_view, JobPredicate>::first);
  if (predicate == kPredicates.end()) {
    std::vector<std::string> known;
    for (const auto& [name, each] : kPredicates) known.emplace_back(name);
    throw Error(node.items[1].where, unknown_name("predicate", node.items[1].text, known));
  }
  condition.predicate = predicate->second;
  const bool of_words = condition.predicate == JobPredicate::one_of ||
                        condition.predicate == JobPredicate::starts_with ||
                        condition.predicate == JobPredicate::contains ||
                        condition.predicate == JobPredicate::lacks;
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

double operand_of(const std::string& operand, const Job& job) {
  const JobNumber* quantity = number_named(operand);
  return quantity != nullptr ? quantity->of(job) : *literal(operand);
}

bool divides(double divisor, double number) {
  return divisor > 0 && std::fmod(number, divisor) == 0;
}

}  // namespace

std::vector<JobCondition> read_conditions(const DocumentNode& list, const ConditionNames& names) {
  std::vector<JobCondition> conditions;
  for (const DocumentNode& item : list.items) conditions.push_back(read_condition(item, names));
  return conditions;
}

bool holds(const JobCondition& condition, const Job& job, const RowWords& row) {
  const auto any_operand = [&](auto predicate) {
    return std::ranges::any_of(condition.operands, predicate);
  };
  const bool of_row = condition.quantity.starts_with(kRow);
  const JobWord* word = of_row ? nullptr : word_named(condition.quantity);
  if (of_row || word != nullptr) {
    CHECK(!of_row || row, "'{}' is asked of a job without a row", condition.quantity);
    const std::string value =
        of_row ? row(std::string_view(condition.quantity).substr(kRow.size())) : word->of(job);
    const auto in_value = [&](const std::string& part) { return contains_text(value, part); };
    if (condition.predicate == JobPredicate::lacks) return !any_operand(in_value);
    return any_operand([&](const std::string& operand) {
      if (condition.predicate == JobPredicate::contains) return in_value(operand);
      return condition.predicate == JobPredicate::starts_with ? value.starts_with(operand)
                                                              : value == operand;
    });
  }
  const double value = number_named(condition.quantity)->of(job);
  return any_operand([&](const std::string& text) {
    const double operand = operand_of(text, job);
    switch (condition.predicate) {
      case JobPredicate::divides:
        return divides(value, operand);
      case JobPredicate::at_least:
        return value >= operand;
      case JobPredicate::at_most:
        return value <= operand;
      case JobPredicate::above:
        return value > operand;
      default:
        return value == operand;
    }
  });
}

bool asks_schedule(const JobCondition& condition) {
  const auto of_schedule = [](const std::string& name) {
    const JobNumber* number = number_named(name);
    const JobWord* word = word_named(name);
    return (number != nullptr && number->of_schedule) || (word != nullptr && word->of_schedule);
  };
  return of_schedule(condition.quantity) || std::ranges::any_of(condition.operands, of_schedule);
}

bool holds(const std::vector<JobCondition>& when, const std::vector<JobCondition>& any,
           const Job& job, const RowWords& row) {
  const auto true_of = [&](const JobCondition& condition) { return holds(condition, job, row); };
  return std::ranges::all_of(when, true_of) && (any.empty() || std::ranges::any_of(any, true_of));
}

std::string filled(std::string text, const Job& job) {
  const auto put = [&](std::string_view name, const std::string& value) {
    const std::string mark = fmt::format("{{{}}}", name);
    for (std::size_t at = text.find(mark); at != std::string::npos; at = text.find(mark)) {
      text.replace(at, mark.size(), value);
    }
  };
  for (const JobNumber& number : kJobNumbers) {
    put(number.name, fmt::format("{:g}", number.of(job)));
  }
  for (const JobWord& word : kJobWords) put(word.name, word.of(job));
  return text;
}

}  // namespace windtunnel
