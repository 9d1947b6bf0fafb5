#include "sim/study/decisive_numbers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "models/base/error.hpp"
#include "scenarios/language/resolve/schemes.hpp"
#include "sim/study/iterations/iteration_table.hpp"
#include "sim/study/paired_trials.hpp"

namespace windtunnel {
namespace {

constexpr int kTrialsBothWays = 16;  // as goodput_range(): trials in pairs differ by little noise

// The campaign with another number at `key`; nothing where that cannot be.
std::optional<double> goodput_with(const Case& the_case, const CampaignInputs& inputs,
                                   const CampaignReport& report, const std::string& key,
                                   const std::string& value, int threads) {
  const ScenarioText scenario = {
      .file = the_case.file, .text = the_case.text, .set = the_case.set, .files = the_case.files};
  try {
    const Case other = resolve_case(scenario, {{key, value}}, [&](const Job&, const std::string&) {
      return the_case.prepared;
    });
    const int trials = std::min(kTrialsBothWays, paired_trials(report));
    return paired_goodput(campaign_inputs(other.job, inputs.table), report, trials, threads).mean;
  } catch (const Error&) {  // beyond the key's range, or of a case that no text alone describes
    return std::nullopt;
  }
}

std::string with_text(const std::string& value, std::optional<double> goodput) {
  if (!goodput) return fmt::format("{} cannot be", value);
  return fmt::format("{:.1f} % with {}", 100 * *goodput, value);
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
      notes.push_back({each.key,
                       fmt::format("{} here, as {} is said to take, and {} as it was reported: {}",
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
    // Length and number of trials are what is asked, not what is assumed.
    const bool asked = value.scope != Scope::campaign || value.key.starts_with("campaign.");
    if (asked || !value.number || !(*value.number > 0) || !is_open(value)) continue;
    const std::string half = format_quantity(*value.number / 2, value.dimension);
    const std::string twice = format_quantity(*value.number * 2, value.dimension);
    const auto at = [&](const std::string& text) {
      return goodput_with(the_case, inputs, report, value.key, text, threads);
    };
    const std::optional<double> low = at(half);
    const std::optional<double> high = at(twice);
    const double moves = std::max(std::abs(low.value_or(goodput) - goodput),
                                  std::abs(high.value_or(goodput) - goodput));
    if (!(moves > kDecides * goodput)) continue;
    found.emplace_back(
        moves,
        Note{value.key, fmt::format("{} was not stated, and decides the goodput", value.value),
             fmt::format("{:.1f} % with it, {}, {}", 100 * goodput, with_text(half, low),
                         with_text(twice, high))});
  }
  std::ranges::stable_sort(found, std::greater<>(), [](const auto& each) { return each.first; });
  std::vector<Note> notes;
  for (auto& [moves, note] : found) notes.push_back(std::move(note));
  return notes;
}

}  // namespace windtunnel
