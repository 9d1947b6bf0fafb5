#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include "models/base/error.hpp"
#include "validate/accuracy/compression/exchange_steps.hpp"

namespace windtunnel {
namespace {

// Returns the expected largest of `count` standard normal values (Blom 1958): the quantile at (n -
// 3/8) / (n + 1/4), by bisection of the distribution function.
double largest_of(int count) {
  const double share = (count - 0.375) / (count + 0.25);
  double low = 0;
  double high = 10;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (0.5 * std::erfc(-middle / std::sqrt(2.0)) < share ? low : high) = middle;
  }
  return low;
}

// kConnection sets no constant; step_s() limits the share of the NIC by it.
void set_number(const FittedLawNumber& number, double value, StepRow& row) {
  if (number.what->member != nullptr) {
    (row.job.calibration.*number.what->member).value = value;
  } else if (number.what->name == kGpuSpread) {
    row.job.cluster.slow_nodes = {{0, 1 + value * largest_of(row.run->gpus)}};
  }
}

double step_s(StepRow& row, const std::vector<FittedLawNumber>& numbers, std::size_t stage) {
  double bound = std::numeric_limits<double>::infinity();
  for (const FittedLawNumber& number : numbers) {
    const bool holds = number.network.empty() || number.network == row.network;
    if (number.stage > stage || !holds) continue;
    const double value = std::min(number.value, number.what->most);
    set_number(number, value, row);
    if (number.what->name == kConnection && row.tcp) {
      bound = row.job.communication.servers * value / row.job.cluster.node.nic_Bps.value;
    }
  }
  // The limit applies only to this step; the next one may have a higher limit.
  double& share = row.job.calibration.nic_efficiency.value;
  const double unbounded = std::exchange(share, std::min(share, bound));
  const double predicted_s = estimate_iteration(row.job, row.prepared).step_s;
  share = unbounded;
  return predicted_s;
}

// Returns the residual of the logarithm of a step, or of its growth over the step on one GPU.
double residual(StepRow& row, double predicted_s, bool growth) {
  const double measured_s = *row.run->step_s;
  if (growth) return predicted_s / row.alone_s - measured_s / row.alone_s;
  return std::log(predicted_s / measured_s);
}

// Returns the numbers of a stage with their first guesses: common ones, then those of each network.
std::vector<FittedLawNumber> numbers_of(const LawStage& stage, std::size_t at,
                                        const std::vector<std::string>& networks) {
  std::vector<FittedLawNumber> numbers;
  const auto add = [&](bool each_network, const std::string& network) {
    for (const LawNumber& number : stage.numbers) {
      if (number.each_network != each_network) continue;
      numbers.push_back({&number, at, network, number.prior.guess});
    }
  };
  add(false, "");
  for (const std::string& network : networks) add(true, network);
  return numbers;
}

void fit_stage(std::size_t at, const std::vector<StepRow*>& rows,
               const std::vector<std::string>& networks, int threads, FittedLaw& law) {
  const ExchangeLaw& rules = *law.rules;
  std::vector<FittedLawNumber> numbers = numbers_of(rules.stages[at], at, networks);
  if (rows.empty()) {
    for (FittedLawNumber& number : numbers) {
      if (!number.what->unfitted) continue;
      number.value = *number.what->unfitted;
      law.numbers.push_back(number);
    }
    law.unseen.emplace_back();
    return;
  }
  std::vector<FittedConstant> constants;
  for (const FittedLawNumber& number : numbers) constants.push_back(number.what->prior);
  std::vector<int> clusters;
  std::vector<int> models;  // also left out in turn: judged rows may have another model
  std::map<std::string_view, int> known;
  for (const StepRow* row : rows) {
    clusters.push_back(row->run->gpus);
    models.push_back(known.emplace(row->run->model, known.size()).first->second);
  }
  std::vector<std::vector<int>> folds;
  if (rules.fold_models) folds.push_back(models);
  const auto with = [&](const std::vector<double>& values) {
    std::vector<FittedLawNumber> all = law.numbers;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      all.push_back(numbers[i]);
      all.back().value = values[i];
    }
    return all;
  };
  const FittedConstants found = fitted_constants(
      constants, clusters, rules.noise,
      [&](const std::vector<double>& values, std::size_t i) {
        return residual(*rows[i], step_s(*rows[i], with(values), at), rules.growth);
      },
      threads, folds);
  law.numbers = with(found.values);
  law.unseen.emplace_back(found.unseen);
}

// Returns the mean time per layer by which fitted rows with hooks exceed the prediction without
// hooks.
std::optional<double> fitted_hook_s(std::vector<StepRow>& rows, const FittedLaw& law) {
  double sum = 0;
  int count = 0;
  for (StepRow& row : rows) {
    if (!row.fit || !row.method->hooks) continue;
    sum += (*row.run->step_s - predicted_s(row, law)) / weighted_layers(row.job);
    ++count;
  }
  if (count == 0) return {};
  return std::max(0.0, sum / count);
}

// Replaces placeholders by numbers; the reader has checked them (law_placeholder()).
std::string filled(std::string_view text, const FittedLaw& law, std::size_t stage,
                   std::string_view network) {
  std::string result;
  while (true) {
    const std::size_t open = text.find('{');
    result += text.substr(0, open);
    if (open == std::string_view::npos) return result;
    const std::size_t close = text.find('}', open);
    const std::string_view inside = text.substr(open + 1, close - open - 1);
    text.remove_prefix(close + 1);
    if (inside == "network") {
      result += network;
      continue;
    }
    const std::optional<LawPlaceholder> placeholder = law_placeholder(inside);
    CHECK(placeholder.has_value(), "placeholder '{}' in the text of a law", inside);
    const std::string_view name = placeholder->name;
    const FittedLawNumber* number = law.find(name, network, stage);
    CHECK(number != nullptr || (name == kHooks && law.hook_s), "no number '{}' in a law", name);
    const double value = number != nullptr ? number->value : *law.hook_s;
    result += fmt::format("{:.{}f}", placeholder->scale * value, placeholder->digits);
  }
}

}  // namespace

const FittedLawNumber* FittedLaw::find(std::string_view name, std::string_view network,
                                       std::size_t stage) const {
  const FittedLawNumber* found = nullptr;
  for (const FittedLawNumber& number : numbers) {
    const bool holds = number.network.empty() || number.network == network;
    if (number.what->name == name && number.stage <= stage && holds) found = &number;
  }
  return found;
}

const std::string* FittedLaw::network_named(std::string_view begins) const {
  const auto found = std::ranges::find_if(numbers, [&](const FittedLawNumber& number) {
    return !number.network.empty() && number.network.starts_with(begins);
  });
  return found == numbers.end() ? nullptr : &found->network;
}

double FittedLaw::unseen_at(std::size_t stage) const {
  while (stage > 0 && !unseen[stage]) --stage;
  return unseen[stage].value();
}

std::string FittedLaw::text() const {
  std::set<std::string> networks;
  for (const FittedLawNumber& number : numbers) {
    if (!number.network.empty()) networks.insert(number.network);
  }
  std::string text;
  for (std::size_t at = 0; at < rules->stages.size(); ++at) {
    const LawStage& stage = rules->stages[at];
    if (!unseen[at]) continue;
    text += filled(stage.text, *this, at, "");
    if (!stage.network_text.empty()) {
      for (const std::string& network : networks) {
        text += filled(stage.network_text, *this, at, network);
      }
    }
    if (hook_s) text += filled(stage.hooks_text, *this, at, "");
  }
  return text;
}

std::string alone_key(const CompressionRun& run) {
  const double bucket_bytes = named_bucket_bytes(run);
  if (bucket_bytes == 0) return run.model;
  return fmt::format("{} {} {}", run.gpu_type, run.model, bucket_bytes);
}

std::size_t stage_of(const ExchangeLaw& rules, const Job& job) {
  const auto found = std::ranges::find(rules.stages, job.communication.aggregation, &LawStage::of);
  CHECK(found != rules.stages.end(), "a law without a stage for a job's aggregation");
  return static_cast<std::size_t>(found - rules.stages.begin());
}

double predicted_s(StepRow& row, const FittedLaw& law) {
  return step_s(row, law.numbers, stage_of(*law.rules, row.job));
}

FittedLaw fitted_law(const ExchangeLaw& rules, std::vector<StepRow>& rows, int threads) {
  FittedLaw law;
  law.rules = &rules;
  std::vector<std::string> networks;
  for (const StepRow& row : rows) {
    if (std::ranges::find(networks, row.network) == networks.end()) {
      networks.push_back(row.network);
    }
  }
  for (std::size_t at = 0; at < rules.stages.size(); ++at) {
    std::vector<StepRow*> fitted;
    for (StepRow& row : rows) {
      if (row.fit && !row.method->hooks && stage_of(rules, row.job) == at) fitted.push_back(&row);
    }
    fit_stage(at, fitted, networks, threads, law);
  }
  law.hook_s = fitted_hook_s(rows, law);
  for (StepRow& row : rows) {
    if (!law.hook_s || !row.method->hooks) continue;
    set_alone_s(row.job, row.alone_s + *law.hook_s * weighted_layers(row.job));
    row.prepared = prepare_iteration(row.job);
  }
  return law;
}

}  // namespace windtunnel
