#include "sim/study/decisive_numbers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

#include "models/base/error.hpp"
#include "policies/iteration.hpp"
#include "policies/lowering/for_each_index.hpp"
#include "scenarios/language/resolve/schemes.hpp"
#include "sim/study/iterations/iteration_table.hpp"
#include "sim/study/paired_trials.hpp"

namespace windtunnel {
namespace {

constexpr double kNudge = 0.9;  // factor on a constant of the calibration; a share remains below 1
constexpr double kLeastMoved = 1e-3;
constexpr std::size_t kMostConstants = 3;
constexpr int kTrialsBothWays = 16;  // few suffice, because paired trials have the same failures

// Returns the campaign's goodput with the settings of failures and recovery of `other`.
double goodput_of(const Job& other, const CampaignInputs& inputs, const CampaignReport& report,
                  int threads) {
  const int trials = std::min(kTrialsBothWays, paired_trials(report));
  return paired_goodput(campaign_inputs(other, inputs.table), report, trials, threads).mean;
}

// Returns the campaign's goodput with another number at `key`; empty if the number is invalid.
std::optional<double> goodput_with(const Case& the_case, const CampaignInputs& inputs,
                                   const CampaignReport& report, const std::string& key,
                                   const std::string& value, int threads) {
  const ScenarioText scenario = {
      .file = the_case.file, .text = the_case.text, .set = the_case.set, .files = the_case.files};
  try {
    const Case other = resolve_case(scenario, {{key, value}}, [&](const Job&, const std::string&) {
      return the_case.prepared;
    });
    return goodput_of(other.job, inputs, report, threads);
  } catch (const Error&) {  // beyond the key's range, or the text alone does not describe the case
    return std::nullopt;
  }
}

std::string with_text(const std::string& value, std::optional<double> goodput) {
  if (!goodput) return fmt::format("{} is not possible", value);
  return fmt::format("{:.1f} % with {}", 100 * *goodput, value);
}

// Half and twice a number, or the same for a distribution from which times are drawn.
struct BothWays {
  std::string now, half, twice;
  std::optional<double> at_half = {}, at_twice = {};
};

// If times of repair are recorded, there is no single number: all take half as long, or twice as
// long. Empty: the key is another one.
std::optional<BothWays> drawn_repairs(const Job& job, const std::string& key,
                                      const CampaignInputs& inputs, const CampaignReport& report,
                                      int threads) {
  for (std::size_t i = 0; i < job.failures.size(); ++i) {
    const std::vector<double>& recorded_s = job.failures[i].repair.empirical_s;
    if (recorded_s.empty() || key != fmt::format("failures.{}.repair.empirical", i)) continue;
    const auto scaled = [&](double factor) {
      Job other = job;
      for (double& each_s : other.failures[i].repair.empirical_s) each_s *= factor;
      return goodput_of(other, inputs, report, threads);
    };
    const double sum_s = std::accumulate(recorded_s.begin(), recorded_s.end(), 0.0);
    return BothWays{.now = fmt::format("a mean of {}", format_seconds(sum_s / recorded_s.size())),
                    .half = "half of it",
                    .twice = "twice",
                    .at_half = scaled(0.5),
                    .at_twice = scaled(2)};
  }
  return std::nullopt;
}

}  // namespace

std::vector<Note> reported_numbers(const Case& the_case, const CampaignInputs& inputs,
                                   const CampaignReport& report, int threads) {
  const auto value_of = [&](const std::string& key) {
    return std::ranges::find(the_case.values, key, &ResolvedValue::key);
  };
  std::vector<Note> notes;
  const auto base = value_of("recovery.base");
  if (base == the_case.values.end()) return notes;
  for (const Scheme& scheme : recovery_schemes()) {
    if (scheme.name != base->value) continue;
    for (const SchemeReport& each : scheme.reports) {
      const auto own = value_of(each.key);
      const bool taken = own == the_case.values.end() || own->value == each.value;
      if (taken) continue;
      const std::optional<double> goodput =
          goodput_with(the_case, inputs, report, each.key, each.value, threads);
      notes.push_back(
          {each.key,
           fmt::format("{} here, as published by the authors of {}; users reported {}: {}",
                       own->value, scheme.name, each.value, each.source),
           fmt::format("goodput {:.1f} %, {} as reported", 100 * report.goodput.mean,
                       with_text(each.value, goodput))});
    }
  }
  return notes;
}

bool is_plain_default(const ResolvedValue& value) {
  return value.is_default && value.source == "default";
}

std::vector<Note> decisive_numbers(const Case& the_case, const CampaignInputs& inputs,
                                   const CampaignReport& report,
                                   const std::function<bool(const ResolvedValue&)>& is_open,
                                   int threads) {
  std::vector<std::pair<double, Note>> found;
  const double goodput = report.goodput.mean;
  for (const ResolvedValue& value : the_case.values) {
    // Length and number of trials are what the user asks for, not what is assumed.
    const bool asked = value.scope != Scope::campaign || value.key.starts_with("campaign.");
    if (asked || !is_open(value)) continue;
    std::optional<BothWays> both = drawn_repairs(the_case.job, value.key, inputs, report, threads);
    if (!both && value.number && *value.number > 0) {
      both = BothWays{.now = value.value,
                      .half = format_quantity(*value.number / 2, value.dimension),
                      .twice = format_quantity(*value.number * 2, value.dimension)};
      const auto at = [&](const std::string& text) {
        return goodput_with(the_case, inputs, report, value.key, text, threads);
      };
      both->at_half = at(both->half);
      both->at_twice = at(both->twice);
    }
    if (!both) continue;
    const double moves = std::max(std::abs(both->at_half.value_or(goodput) - goodput),
                                  std::abs(both->at_twice.value_or(goodput) - goodput));
    if (!(moves > kDecides * goodput)) continue;
    found.emplace_back(
        moves, Note{value.key, fmt::format("{} was assumed, and it decides the goodput", both->now),
                    fmt::format("{:.1f} % with it, {}, {}", 100 * goodput,
                                with_text(both->half, both->at_half),
                                with_text(both->twice, both->at_twice))});
  }
  std::ranges::stable_sort(found, std::greater<>(), [](const auto& each) { return each.first; });
  std::vector<Note> notes;
  for (auto& [moves, note] : found) notes.push_back(std::move(note));
  return notes;
}

std::vector<Note> decisive_step_numbers(const Case& the_case, const PreparedIteration& prepared,
                                        int threads) {
  std::vector<const ResolvedValue*> open;
  for (const ResolvedValue& value : the_case.values) {
    // Numbers without a unit are counts, or factors whose half means nothing.
    const bool counted = value.dimension == Dimension::number ||
                         value.dimension == Dimension::count ||
                         value.dimension == Dimension::iterations;
    if (value.scope == Scope::iteration && is_plain_default(value) && !counted && value.number &&
        *value.number > 0) {
      open.push_back(&value);
    }
  }
  const ScenarioText scenario = {
      .file = the_case.file, .text = the_case.text, .set = the_case.set, .files = the_case.files};
  const auto text_of = [&](std::size_t i) {  // first of half, then of twice
    const ResolvedValue& value = *open[i / 2];
    return format_quantity(*value.number * (i % 2 == 0 ? 0.5 : 2), value.dimension);
  };
  std::vector<std::optional<double>> step_s(2 * open.size());
  for_each_index(step_s.size(), threads, [&](std::size_t i) {
    try {
      const Case other = resolve_case(scenario, {{open[i / 2]->key, text_of(i)}});
      step_s[i] = iteration_step_s(other.job, *other.prepared);
    } catch (const Error&) {  // beyond the key's range, or not of a case that its text describes
    }
  });
  const double now_s = iteration_step_s(the_case.job, prepared);
  const auto with = [&](std::size_t i) {
    return step_s[i] ? fmt::format("{} with {}", format_seconds(*step_s[i]), text_of(i))
                     : fmt::format("{} is not possible", text_of(i));
  };
  std::vector<Note> notes;
  for (std::size_t i = 0; i < step_s.size(); i += 2) {
    const double moves = std::max(std::abs(step_s[i].value_or(now_s) - now_s),
                                  std::abs(step_s[i + 1].value_or(now_s) - now_s));
    if (moves <= kDecides * now_s) continue;
    const ResolvedValue& value = *open[i / 2];
    notes.push_back(
        {value.key, fmt::format("{} was assumed, and it decides the step time", value.value),
         fmt::format("{} with it, {}, {}", format_seconds(now_s), with(i), with(i + 1))});
  }
  return notes;
}

std::string assumed_constants(const Job& job, const PreparedIteration& prepared) {
  Job other = job;
  PreparedIteration repriced = prepared;
  const double now_s = repriced_step_s(other, repriced);
  std::vector<std::pair<double, std::string>> moved;
  for (const CalibrationField& field : calibration_fields()) {
    Parameter& constant = other.calibration.*field.member;
    if (constant.origin != Origin::assumed || constant.value <= 0) continue;
    const double value = constant.value;
    constant.value = kNudge * value;
    const double change = repriced_step_s(other, repriced) / now_s - 1;
    constant.value = value;
    if (std::abs(change) < kLeastMoved) continue;
    moved.emplace_back(change,
                       fmt::format("{} {:.3g}{}{} (10 % less: {:+.1f} %)", field.name, value,
                                   field.unit.empty() ? "" : " ", field.unit, 100 * change));
  }
  std::ranges::sort(
      moved, [](const auto& a, const auto& b) { return std::abs(a.first) > std::abs(b.first); });
  std::vector<std::string> texts;
  for (const auto& [change, text] : moved) texts.push_back(text);
  texts.resize(std::min(texts.size(), kMostConstants));
  return fmt::format("{}", fmt::join(texts, ", "));
}

}  // namespace windtunnel
