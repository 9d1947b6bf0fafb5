#include "report/summary/comparison_columns.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "models/cost/chunk/step_work.hpp"
#include "models/results/paired_gain.hpp"
#include "report/figures/shown_studies.hpp"
#include "report/summary/summary.hpp"
#include "scenarios/language/library/facts/measured_pairs.hpp"

namespace windtunnel {
namespace {

constexpr std::string_view kStepParts = "iteration.critical_path_s";

// These are the values as in the first columns of the table: "dgx-h100", "2, zero1".
std::string values_text(const Overrides& set) {
  std::vector<std::string> values;
  for (const auto& [key, value] : set) values.push_back(value);
  return fmt::format("{}", fmt::join(values, ", "));
}

bool is_protection(std::string_view key) {
  const std::string_view part = key.substr(0, key.find('.'));
  return part == "snapshots" || part == "failures" || part == "recovery";
}

bool protects(const std::pair<std::string, std::string>& assignment) {
  return is_protection(assignment.first);
}

std::vector<std::string> differing_keys(const Overrides& one, const Overrides& other) {
  std::vector<std::string> keys;
  for (std::size_t i = 0; i < one.size(); ++i) {
    if (one[i] != other[i]) keys.push_back(one[i].first);
  }
  return keys;
}

template <class Has>
bool any_record(const Comparison& comparison, Has has) {
  return std::ranges::any_of(
      comparison.points, [&](const ComparedPoint& point) { return point.record && has(point); });
}

bool has_study(const Comparison& comparison, const ShownStudy& study) {
  return any_record(comparison,
                    [&](const ComparedPoint& point) { return study.is_in(*point.record); });
}

// Adds the columns of studies that at least one record has.
void add_study_columns(const Comparison& comparison, StudyRole role,
                       std::vector<const Figure*>& columns) {
  // Columns that the study does not fix; those with a value at some point are used.
  std::vector<const Figure*> open;
  for (const ShownStudy& study : shown_studies(role)) {
    if (!has_study(comparison, study)) continue;
    for (const std::string_view key : study.columns) columns.push_back(&figure(key));
    if (!study.columns.empty()) continue;
    for (const Figure& each : figures()) {
      if (each.key.starts_with(fmt::format("{}.", study.key)) &&
          any_record(comparison, [&](const ComparedPoint& point) {
            return !each.text(*point.record).empty();
          })) {
        open.push_back(&each);
      }
    }
  }
  std::ranges::copy(open, std::back_inserter(columns));
}

bool has_campaign(const Comparison& comparison) {
  return any_record(comparison,
                    [](const ComparedPoint& point) { return !!point.record->campaign; });
}

// Whether the number of steps is given. If it is not, a larger batch counts as more progress per
// step.
bool has_steps(const Record& record) {
  return record.job.steps > 0;
}

bool varies_batch(const Comparison& comparison) {
  const auto counts_steps = [](const ComparedPoint& point) { return has_steps(*point.record); };
  if (any_record(comparison, counts_steps)) return false;
  std::set<double> batches;
  return any_record(comparison, [&](const ComparedPoint& point) {
    batches.insert(tokens_per_step(point.record->job));
    return batches.size() > 1;
  });
}

// This is the figure of a step's output per second.
const Figure& throughput_figure(const Comparison& comparison) {
  const bool samples = any_record(
      comparison, [](const ComparedPoint& point) { return point.record->job.network != nullptr; });
  return figure(samples ? "iteration.samples_per_s" : "iteration.tokens_per_s");
}

std::vector<const Figure*> figures_of(std::initializer_list<std::string_view> keys) {
  std::vector<const Figure*> columns;
  for (const std::string_view key : keys) columns.push_back(&figure(key));
  return columns;
}

}  // namespace

std::vector<const Figure*> mfu_columns(const std::vector<const Record*>& records) {
  const bool differ = std::ranges::any_of(
      records, [](const Record* record) { return counts_differ(record->iteration); });
  std::vector<const Figure*> columns = figures_of({"iteration.mfu"});
  if (differ) columns.push_back(&figure("iteration.mfu_causal"));
  return columns;
}

std::vector<const Figure*> iteration_columns(const Comparison& comparison) {
  std::vector<const Figure*> columns = figures_of({"iteration.time_s", "iteration.tflops_per_gpu"});
  std::vector<const Record*> records;
  for (const ComparedPoint& point : comparison.points) {
    if (point.record) records.push_back(&*point.record);
  }
  std::ranges::copy(mfu_columns(records), std::back_inserter(columns));
  std::ranges::copy(figures_of({"iteration.bubble.makespan_share",
                                "iteration.bubble.longest_stage_share", "iteration.bubble.idle",
                                "iteration.memory_bytes.peak", "iteration.memory_bytes.fits"}),
                    std::back_inserter(columns));
  return columns;
}

std::optional<SummarySection> step_parts(const Comparison& comparison) {
  if (varies_protection_only(comparison)) return std::nullopt;
  std::vector<const Figure*> parts = figures_below(kStepParts);
  std::erase_if(parts, [&](const Figure* part) {
    return !any_record(comparison, [&](const ComparedPoint& point) {
      return number_of(part->of(*point.record)) > 0;
    });
  });
  SummarySection section{group_title(kStepParts), {}, {}};
  section.table.columns = {{"point"}};
  for (const Figure* part : parts) section.table.columns.push_back({part->title, Align::right});
  section.table.columns.push_back({figure("iteration.time_s").title, Align::right});
  for (const ComparedPoint& point : comparison.points) {
    if (!point.record) continue;
    std::vector<std::string> row = {values_text(point.set)};
    for (const Figure* part : parts) {
      const double seconds = number_of(part->of(*point.record));
      row.push_back(seconds > 0 ? part->text(*point.record) : "");
    }
    row.push_back(figure("iteration.time_s").text(*point.record));
    section.table.rows.push_back(std::move(row));
  }
  if (section.table.rows.empty()) return std::nullopt;
  return section;
}

std::vector<const Figure*> further_columns(const Comparison& comparison) {
  std::vector<const Figure*> columns;
  if (any_record(comparison, [](const ComparedPoint& point) {
        return best_copy(*point.record) && std::ranges::any_of(point.set, protects);
      })) {
    columns = figures_of({"campaign.copy.name", "campaign.copy.every_s", "campaign.copy.saving_s",
                          "campaign.copy.restore_s", "campaign.snapshots.overhead",
                          "campaign.copy.survival_7d", "campaign.snapshots.host_bytes"});
  }
  if (any_record(comparison,
                 [](const ComparedPoint& point) { return !point.record->job.sync.empty(); })) {
    columns.push_back(&figure("iteration.sync_utilization"));
  }
  if (any_record(comparison,
                 [](const ComparedPoint& point) { return point.record->job.steps > 0; })) {
    columns.push_back(&figure("job.days"));
  }
  add_study_columns(comparison, StudyRole::beside, columns);
  if (varies_batch(comparison)) columns.push_back(&throughput_figure(comparison));
  for (const char* key : {"campaign.job.days", "campaign.job.cost_usd"}) {
    const Figure& each = figure(key);
    const bool known = any_record(
        comparison, [&](const ComparedPoint& point) { return !each.text(*point.record).empty(); });
    if (known) columns.push_back(&each);
  }
  if (has_campaign(comparison)) columns.push_back(&figure("campaign.goodput"));
  add_study_columns(comparison, StudyRole::leading, columns);
  return columns;
}

const Figure& ranking_figure(const Comparison& comparison) {
  for (const ShownStudy& study : shown_studies(StudyRole::leading)) {
    if (has_study(comparison, study)) return figure(study.ranking);
  }
  if (varies_protection_only(comparison)) return figure("campaign.goodput");
  return varies_batch(comparison) ? throughput_figure(comparison) : figure("iteration.time_s");
}

double speed_up(const Record& reference, const Record& record) {
  const ShownStudy* leads = leading_study(record);
  if (leads != nullptr && leads->is_in(reference)) {
    const Figure& rate = figure(leads->ranking);
    return number_of(rate.of(record)) / number_of(rate.of(reference));
  }
  const double shorter = reference.iteration.time_s / record.iteration.time_s;
  if (has_steps(reference) || has_steps(record)) return shorter;
  return shorter * tokens_per_step(record.job) / tokens_per_step(reference.job);
}

const ComparedPoint* reference_point(const Comparison& comparison) {
  const auto first = std::ranges::find_if(
      comparison.points, [](const ComparedPoint& point) { return !!point.record; });
  return first == comparison.points.end() ? nullptr : &*first;
}

std::optional<SpeedUp> judged_speed_up(const Comparison& comparison, const ComparedPoint& point) {
  const ComparedPoint* reference = reference_point(comparison);
  if (&point == reference || leading_study(*point.record) != nullptr) return std::nullopt;
  return speed_up_of(speed_up(*reference->record, *point.record),
                     pairs_of(measured_pairs(), differing_keys(reference->set, point.set)));
}

std::string speed_up_title(const Comparison& comparison) {
  const Figure& ranking = ranking_figure(comparison);
  const bool of_step = ranking.key == "iteration.time_s" || varies_protection_only(comparison);
  return of_step ? "speed-up" : fmt::format("speed-up in {}", ranking.title);
}

bool varies_protection_only(const Comparison& comparison) {
  return has_campaign(comparison) &&
         std::ranges::all_of(comparison.points, [](const ComparedPoint& point) {
           return std::ranges::all_of(point.set, protects);
         });
}

namespace {

// Trials with different step times meet different failures, so a better mean may be due to chance.
// Names the points whose goodput is lower than the best one's, but not significantly.
std::optional<SummaryRow> level_row(const Comparison& comparison) {
  const ComparedPoint* best = nullptr;
  const auto mean = [](const ComparedPoint& point) { return point.record->campaign->goodput.mean; };
  for (const ComparedPoint& point : comparison.points) {
    if (!point.record || !point.record->campaign) continue;
    if (best == nullptr || mean(point) > mean(*best)) best = &point;
  }
  if (best == nullptr) return std::nullopt;
  std::vector<std::string> level;
  for (const ComparedPoint& point : comparison.points) {
    if (!point.record || !point.record->campaign || &point == best) continue;
    if (mean(*best) - mean(point) < kLeastGain) continue;
    const Estimate gain =
        paired_gain(best->record->campaign->trial_goodput, point.record->campaign->trial_goodput);
    if (is_gain(gain)) continue;
    level.push_back(fmt::format("{} ({:.2f} points less, {:.2f} .. {:.2f})", values_text(point.set),
                                100 * gain.mean, 100 * gain.low, 100 * gain.high));
  }
  if (level.empty()) return std::nullopt;
  return SummaryRow{"chance", fmt::format("these trials do not separate {}, which has the most "
                                          "goodput, from {}; more trials may (campaign.replicas)",
                                          values_text(best->set), fmt::join(level, "; "))};
}

// Whether the fastest point that fits is faster than the next, and where the intervals of speed-ups
// are from.
std::optional<SummaryRow> speed_up_row(const Comparison& comparison) {
  if (varies_protection_only(comparison)) return std::nullopt;
  std::vector<const ComparedPoint*> points;
  for (const ComparedPoint& point : comparison.points) {
    if (!point.record || !point.record->memory_excess.empty()) continue;
    if (leading_study(*point.record) == nullptr) points.push_back(&point);
  }
  if (points.size() < 2) return std::nullopt;
  const Record& any = *points.front()->record;
  std::ranges::stable_sort(points, std::greater<>(), [&](const ComparedPoint* point) {
    return speed_up(any, *point->record);
  });
  const ComparedPoint& best = *points[0];
  const ComparedPoint& next = *points[1];
  const MeasuredPairs& pairs = pairs_of(measured_pairs(), differing_keys(best.set, next.set));
  const SpeedUp ahead = speed_up_of(speed_up(*next.record, *best.record), pairs);
  return SummaryRow{
      "speed-ups",
      fmt::format("{} is faster than {} with a chance of {}, as {} pairs of measured runs of {} "
                  "publishers that differ in {} say, and they make the 90 % intervals of speed-ups "
                  "(docs/results/accuracy.md)",
                  values_text(best.set), values_text(next.set), format_percent(ahead.faster),
                  pairs.pairs, pairs.sources,
                  pairs.keys.front().empty() ? "several keys" : pairs.differs)};
}

// Points that may not fit, with the chance. None: all surely fit, or plainly do not.
std::optional<SummaryRow> room_row(const Comparison& comparison) {
  std::vector<std::string> chances;
  for (const ComparedPoint& point : comparison.points) {
    if (!point.record || !point.record->memory_excess.empty()) continue;
    const std::string chance = may_not_fit_text(*point.record);
    if (!chance.empty()) chances.push_back(fmt::format("{} {}", values_text(point.set), chance));
  }
  if (chances.empty()) return std::nullopt;
  return SummaryRow{"memory", fmt::format("may not fit: {}", fmt::join(chances, "; "))};
}

}  // namespace

std::vector<SummaryRow> certainty_rows(const Comparison& comparison, const std::string& label) {
  // [error of a cost model] names of the points with it.
  std::map<std::string, std::vector<std::string>> models;
  std::set<int> trials;
  for (const ComparedPoint& point : comparison.points) {
    if (!point.record) continue;
    if (point.record->iteration.error.value > 0) {
      models[cost_models_text(*point.record)].push_back(values_text(point.set));
    }
    if (point.record->campaign) trials.insert(point.record->campaign->trials);
  }
  std::vector<SummaryRow> rows;
  if (!trials.empty()) {
    rows.push_back({label, fmt::format("{} of the mean over {} trials", kIntervalTitle,
                                       fmt::join(trials, " or "))});
  }
  for (const auto& [model, points] : models) {
    const std::string of =
        models.size() > 1 ? fmt::format("{}: ", fmt::join(points, "; ")) : std::string();
    rows.push_back({"cost models", of + model});
  }
  if (auto row = level_row(comparison)) rows.push_back(*std::move(row));
  if (auto row = room_row(comparison)) rows.push_back(*std::move(row));
  if (auto row = speed_up_row(comparison)) rows.push_back(*std::move(row));
  return rows;
}

}  // namespace windtunnel
