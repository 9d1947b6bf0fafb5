#include "validate/accuracy/rows/validation_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>

#include "models/base/error.hpp"
#include "models/base/quantile.hpp"
#include "models/calibration/prediction_error.hpp"

namespace windtunnel {
namespace {

int sign(double value) {
  return (value > 0) - (value < 0);
}

// Kendall 1945 defines it as (concordant - discordant) / sqrt(pairs not tied in a * pairs not tied
// in b).
std::optional<double> kendall_tau_b(const std::vector<const ValidationRow*>& rows) {
  double balance = 0;
  double distinct_measured = 0;
  double distinct_predicted = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      const int measured = sign(rows[i]->measured - rows[j]->measured);
      const int predicted = sign(rows[i]->predicted - rows[j]->predicted);
      balance += measured * predicted;
      distinct_measured += measured != 0;
      distinct_predicted += predicted != 0;
    }
  }
  if (distinct_measured == 0 || distinct_predicted == 0) return std::nullopt;
  return balance / std::sqrt(distinct_measured * distinct_predicted);
}

double relative_error_of(double predicted, double measured) {
  const double difference = std::abs(predicted - measured);
  return measured == 0 ? difference : difference / std::abs(measured);
}

constexpr double kCovered = 0.9;
constexpr int kFewestFamilies = 2;

struct SquaredErrors {
  double sum = 0;
  int rows = 0;

  double mean() const { return sum / rows; }
};

using Family = std::pair<std::string, std::string>;  // name, metric

bool has_no_interval(const ValidationRow& row) {
  return row.low == row.high && row.measured > 0 && row.predicted > 0;
}

// Predicts a family's error factor from the other families of its metric; 1: unknown.
double left_out_factor(const std::map<Family, SquaredErrors>& errors, const Family& family) {
  double sum = 0;
  int others = 0;
  for (const auto& [other, squares] : errors) {
    if (other.second != family.second || other.first == family.first) continue;
    sum += squares.mean();
    ++others;
  }
  if (others < kFewestFamilies) return 1;
  const double deviation = std::sqrt(sum / others);
  return error_factor(error_told_by(deviation, others, "the other families"), kCovered);
}

}  // namespace

namespace {

struct Alternative {
  double measured = 0;
  double predicted = 0;
};

// Configurations by group; groups with a single one are left out.
std::vector<std::vector<Alternative>> alternatives_of(
    const std::vector<const ValidationRow*>& rows) {
  std::map<std::string, std::map<std::string, std::vector<const ValidationRow*>>> groups;
  for (const ValidationRow* row : rows) {
    if (!row->group.empty()) groups[row->group][row->configuration].push_back(row);
  }
  std::vector<std::vector<Alternative>> found;
  for (const auto& [group, configurations] : groups) {
    if (configurations.size() < 2) continue;
    std::vector<Alternative>& alternatives = found.emplace_back();
    for (const auto& [configuration, same] : configurations) {
      std::vector<double> measured;
      std::vector<double> predicted;
      for (const ValidationRow* row : same) {
        measured.push_back(row->measured);
        predicted.push_back(row->predicted);
      }
      alternatives.push_back({median(std::move(measured)), median(std::move(predicted))});
    }
  }
  return found;
}

// If several are predicted to be equally good, the worst of them counts.
double regret_of(const std::vector<Alternative>& alternatives) {
  const Alternative* chosen = &alternatives.front();
  double best = chosen->measured;
  for (const Alternative& at : alternatives) {
    best = std::min(best, at.measured);
    if (at.predicted < chosen->predicted ||
        (at.predicted == chosen->predicted && at.measured > chosen->measured)) {
      chosen = &at;
    }
  }
  return best > 0 ? chosen->measured / best - 1 : 0;
}

std::optional<GroupRanking> rank_groups(const std::vector<const ValidationRow*>& rows) {
  constexpr double kClearlyDifferent = 1.1;
  const auto groups = alternatives_of(rows);
  if (groups.empty()) return std::nullopt;
  GroupRanking ranking;
  ranking.groups = static_cast<int>(groups.size());
  int balance = 0;
  std::vector<double> regrets;
  for (const auto& alternatives : groups) {
    regrets.push_back(regret_of(alternatives));
    for (size_t i = 0; i < alternatives.size(); ++i) {
      for (size_t j = 0; j < i; ++j) {
        const auto [low, high] = std::minmax(alternatives[i].measured, alternatives[j].measured);
        if (high <= low * kClearlyDifferent) continue;
        ++ranking.pairs;
        balance += sign(alternatives[i].measured - alternatives[j].measured) *
                   sign(alternatives[i].predicted - alternatives[j].predicted);
      }
    }
  }
  if (ranking.pairs > 0) ranking.kendall_tau = static_cast<double>(balance) / ranking.pairs;
  ranking.worst_regret = *std::max_element(regrets.begin(), regrets.end());
  ranking.median_regret = median(std::move(regrets));
  return ranking;
}

ValidationFamily summarise(const std::vector<const ValidationRow*>& rows) {
  ValidationFamily family;
  family.name = rows.front()->family;
  family.metric = rows.front()->metric;
  family.rows = static_cast<int>(rows.size());
  family.worst = *rows.front();
  std::vector<double> errors;
  std::map<std::string, int> with_baseline;
  int with_interval = 0;
  int covered = 0;
  for (const ValidationRow* row : rows) {
    errors.push_back(row->relative_error());
    family.mape += errors.back() / static_cast<double>(rows.size());
    if (errors.back() > family.worst.relative_error()) family.worst = *row;
    family.worst_difference = std::max(family.worst_difference, row->difference());
    if (row->low < row->high) {
      ++with_interval;
      covered += row->low <= row->measured && row->measured <= row->high;
    }
    for (const auto& [name, predicted] : row->baselines) {
      const double error = relative_error_of(predicted, row->measured);
      if (!std::isfinite(error)) continue;
      // Updates the mean without a sum, which could overflow.
      double& mean = family.baselines[name];
      mean += (error - mean) / ++with_baseline[name];
    }
  }
  family.median_ape = quantile(errors, 0.5);
  family.p90_ape = quantile(errors, 0.9);
  family.kendall_tau = kendall_tau_b(rows);
  family.ranking = rank_groups(rows);
  if (with_interval > 0) family.coverage90 = static_cast<double>(covered) / with_interval;
  return family;
}

bool is_finite(const ValidationRow& row) {
  return std::isfinite(row.relative_error()) && std::isfinite(row.low) && std::isfinite(row.high);
}

ValidationFamily& family_of(ValidationReport& report, const std::string& name,
                            const std::string& metric) {
  for (ValidationFamily& family : report.families) {
    if (family.name == name && family.metric == metric) return family;
  }
  ValidationFamily& family = report.families.emplace_back();
  family.name = name;
  family.metric = metric;
  return family;
}

void count_labels(ValidationReport& report) {
  for (const MemoryLabel& label : report.labels) {
    auto& counts = family_of(report, label.family, "memory_bytes").out_of_memory;
    if (!counts) counts.emplace();
    counts->right += label.measured_out == label.predicted_out;
    counts->missed += label.measured_out && !label.predicted_out;
    counts->false_alarms += !label.measured_out && label.predicted_out;
  }
}

void skip_rows_not_finite(ValidationReport& report) {
  for (const ValidationRow& row : report.rows) {
    if (is_finite(row)) continue;
    report.skipped.push_back(
        {row.id, row.metric + ": the prediction, its interval or its error is not finite"});
  }
  std::erase_if(report.rows, [](const ValidationRow& row) { return !is_finite(row); });
}

}  // namespace

double ValidationRow::difference() const {
  return std::abs(predicted - measured);
}

double ValidationRow::relative_error() const {
  return relative_error_of(predicted, measured);
}

SkippedRow skipped_row(const std::string& id, const Error& error) {
  const Location& where = error.where();
  if (where.line == 0) return {id, error.what()};
  return {fmt::format("{}:{}:{}", where.file, where.line, where.column), std::string(error.text())};
}

void summarise_families(ValidationReport& report, const std::map<std::string, std::string>& notes) {
  skip_rows_not_finite(report);
  std::vector<std::vector<const ValidationRow*>> groups;
  std::map<std::pair<std::string, std::string>, size_t> group_of;
  for (const ValidationRow& row : report.rows) {
    const auto [at, is_new] = group_of.try_emplace({row.family, row.metric}, groups.size());
    if (is_new) groups.emplace_back();
    groups[at->second].push_back(&row);
  }
  report.families.clear();
  for (const auto& group : groups) report.families.push_back(summarise(group));
  for (const ValidationRow& row : report.fitted) {
    ValidationFamily& family = family_of(report, row.family, row.metric);
    ++family.fitted;
    family.fitted_mape += (row.relative_error() - family.fitted_mape) / family.fitted;
  }
  count_labels(report);
  for (ValidationFamily& family : report.families) {
    if (const auto note = notes.find(family.name); note != notes.end()) family.note = note->second;
  }
}

void add_left_out_intervals(ValidationReport& report) {
  std::map<Family, SquaredErrors> errors;
  for (const ValidationRow& row : report.rows) {
    if (!has_no_interval(row)) continue;
    SquaredErrors& squares = errors[{row.family, row.metric}];
    const double error = std::log(row.predicted / row.measured);
    squares.sum += error * error;
    ++squares.rows;
  }
  for (ValidationRow& row : report.rows) {
    if (!has_no_interval(row)) continue;
    const double factor = left_out_factor(errors, {row.family, row.metric});
    row.low = row.predicted / factor;
    row.high = row.predicted * factor;
  }
}

}  // namespace windtunnel
