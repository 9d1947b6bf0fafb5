#include "sim/study/deciding_numbers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "models/base/error.hpp"
#include "models/base/units.hpp"
#include "policies/iteration.hpp"
#include "policies/lowering/for_each_index.hpp"
#include "sim/study/iterations/iteration_table.hpp"
#include "sim/study/paired_trials.hpp"

namespace windtunnel {
namespace {

constexpr int kReplayedTrials = 8;  // played again for each value
constexpr double kSureSigmas = 2;   // a smaller change may be chance
constexpr double kNudge = 0.9;      // times a constant of the calibration; a share stays one
constexpr double kLeastMoved = 1e-3;
constexpr std::size_t kMostConstants = 3;

// A default at another value, as --set has it.
struct Variant {
  const ResolvedValue* value = nullptr;
  std::string text;  // "12.0 h"
};

bool is_open(const ResolvedValue& value, Scope scope) {
  return value.is_default && !value.is_found && value.scope == scope && value.number &&
         *value.number > 0 && value.source == "default";
}

// Half and double each default. Counts are left out: half of one replica is none.
std::vector<Variant> variants_of(const std::vector<ResolvedValue>& values, Scope scope) {
  std::vector<Variant> variants;
  for (const ResolvedValue& value : values) {
    if (!is_open(value, scope) || value.dimension == Dimension::count ||
        value.dimension == Dimension::iterations || value.key.starts_with("campaign.")) {
      continue;
    }
    // A plain 1 is a factor that changes nothing, or a chance that stands for always.
    const bool is_plain = value.dimension == Dimension::number;
    if (is_plain && (*value.number == 1 || scope == Scope::iteration)) continue;
    for (const double times : {0.5, 2.0}) {
      variants.push_back({&value, format_quantity(times * *value.number, value.dimension)});
    }
  }
  return variants;
}

// The case with the default at another value; nothing where the key does not take it.
std::optional<Case> varied(const Case& the_case, const Variant& variant, const Prepare& prepare) {
  try {
    return resolve_case({.file = the_case.file,
                         .text = the_case.text,
                         .set = the_case.set,
                         .files = the_case.files},
                        {{variant.value->key, variant.text}}, prepare);
  } catch (const Error&) {
    return std::nullopt;
  }
}

// A figure at each variant; nothing where it is not to be had or chance may be all.
using Moved = std::vector<std::optional<double>>;

// One note for each value of which a variant moves the figure. `text` writes the figure.
template <typename Text>
std::vector<Note> notes_of(const std::vector<Variant>& variants, const Moved& moved, double now,
                           const std::string& figure, const Text& text) {
  std::vector<Note> notes;
  for (std::size_t i = 0; i < variants.size(); i += 2) {
    std::string others;
    double most = 0;
    for (std::size_t at : {i, i + 1}) {
      if (!moved[at]) continue;
      most = std::max(most, std::abs(*moved[at] / now - 1));
      others += fmt::format("{}{} with {}", others.empty() ? "" : ", ", text(*moved[at]),
                            variants[at].text);
    }
    if (most <= kDecidingShare) continue;
    const ResolvedValue& value = *variants[i].value;
    notes.push_back({value.key,
                     fmt::format("is a default that nobody stated, and it decides more than {:.0f} "
                                 "% of the {}; state what holds on your machines",
                                 100 * kDecidingShare, figure),
                     fmt::format("{} with {}; {}", text(now), value.value, others)});
  }
  return notes;
}

// The goodput that the whole campaign would have with these inputs; nothing where the trials do not
// tell it from the goodput as it is.
std::optional<double> moved_goodput(CampaignInputs other, const CampaignReport& report,
                                    int trials) {
  other.campaign.trials = trials;
  const std::vector<double> again = run_campaign(other, 1).trial_goodput;
  std::vector<double> differences(again.size());
  for (std::size_t i = 0; i < again.size(); ++i)
    differences[i] = again[i] - report.trial_goodput[i];
  const Estimate change = estimate(differences);
  const double sure = kSureSigmas / 1.96 * (change.high - change.mean);
  if (std::abs(change.mean) <= sure) return std::nullopt;
  return report.goodput.mean + change.mean;
}

}  // namespace

std::vector<Note> deciding_campaign_defaults(const Case& the_case, const CampaignInputs& inputs,
                                             const CampaignReport& report, int threads) {
  const std::vector<Variant> variants = variants_of(the_case.values, Scope::campaign);
  const int trials =
      std::min({kReplayedTrials, paired_trials(report), int(std::ssize(report.trial_goodput))});
  const Prepare same = [&](const Job&, const std::string&) { return the_case.prepared; };
  Moved moved(variants.size());
  for_each_index(variants.size(), threads, [&](std::size_t i) {
    const std::optional<Case> other = varied(the_case, variants[i], same);
    if (!other || other->table != the_case.table) return;
    CampaignInputs varied_inputs = campaign_inputs(other->job, inputs.table);
    varied_inputs.stop = inputs.stop;
    moved[i] = moved_goodput(std::move(varied_inputs), report, trials);
  });
  return notes_of(variants, moved, report.goodput.mean, "goodput", format_percent);
}

std::vector<Note> deciding_step_defaults(const Case& the_case, const PreparedIteration& prepared,
                                         int threads) {
  const std::vector<Variant> variants = variants_of(the_case.values, Scope::iteration);
  const double now_s = iteration_step_s(the_case.job, prepared);
  Moved moved(variants.size());
  for_each_index(variants.size(), threads, [&](std::size_t i) {
    if (const std::optional<Case> other = varied(the_case, variants[i], {})) {
      moved[i] = iteration_step_s(other->job, *other->prepared);
    }
  });
  return notes_of(variants, moved, now_s, "step time", format_seconds);
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
