#include "validate/accuracy/schedules/schedule_accuracy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "models/base/error.hpp"
#include "policies/evaluation/schedule_evaluator.hpp"
#include "policies/evaluation/schedule_validator.hpp"
#include "policies/schedules/schedules.hpp"
#include "traces/text/csv.hpp"
#include "traces/text/text.hpp"
#include "validate/accuracy/rows/validation_report.hpp"
#include "validate/accuracy/schedules/printed_schedule.hpp"

namespace windtunnel {
namespace {

struct PipelineCase {
  std::string schedule;
  int ranks = 0;
  int microbatches = 0;
  int chunks = 1;
  // For a rank's whole share; a full backward takes input + weight.
  double forward_s = 0;
  double backward_input_s = 0;
  double backward_weight_s = 0;
  double message_s = 0;
  double weight_share = 0.5;  // M_W / M_B
  double hideable_share = 0;  // share of the times that the partner of an overlapped pair can hide

  double work_s() const { return forward_s + backward_input_s + backward_weight_s; }
};

// Bubble and activation peaks without messages, if only the order matters.
struct ClosedForm {
  double bubble_s = 0;         // makespan - busy, or longest stage - busy, whichever is published
  double first_rank_peak = 0;  // in shares of a rank
  double peak_per_rank = 0;    // increase for each following rank
};

// From the papers (see the table of kinds): gpipe and 1f1b from Narayanan et al. (SC'21, 2.2), zero
// bubble from Qi et al. (2.3, table 2), DualPipe from DeepSeek-V3 (table 2).
ClosedForm closed_form(const PipelineCase& at) {
  const double p = at.ranks;
  const double m = at.microbatches;
  const double v = at.chunks;
  const double held = at.weight_share;
  const double drain_s = at.forward_s + at.backward_input_s;
  const double pair_s =
      (1 - at.hideable_share) * at.work_s() + at.backward_input_s - 2 * at.backward_weight_s;
  const std::string& name = at.schedule;
  if (name == "gpipe") return {(p - 1) * at.work_s(), m, 0};
  if (name == "eager-1f1b") return {(p - 1) * at.work_s(), 2 * p - 1, -2};
  if (name == "looped-bfs") return {(p - 1) * at.work_s() / v, m, 0};
  if (name == "interleaved-1f1b") return {(p - 1) * at.work_s() / v, p + (p - 1) / v, -2 / v};
  if (name == "zb-h1" || name == "zb-1p") {
    return {(p - 1) * (drain_s - at.backward_weight_s), p, held - 1};
  }
  if (name == "zb-h2" || name == "zb-2p") {
    return {(p - 1) * std::max(0.0, drain_s - 2 * at.backward_weight_s), 2 * p - 1, 2 * held - 2};
  }
  if (name == "zb-v") return {0, p, 0};
  if (name == "dualpipe") return {(p / 2 - 1) * pair_s, p + 1, 0};
  if (name == "dualpipev") return {(p - 1) * pair_s / 2, p + 0.5, 0};
  return {(p - 1) * at.work_s(), p, -1};
}

std::string not_in_this_build(std::string_view schedule) {
  return fmt::format("schedule '{}' is not in this build", schedule);
}

// Throws Error if there is no such schedule or a time is negative.
ScheduleEvaluation replay(const PipelineCase& at) {
  if (std::min({at.forward_s, at.backward_input_s, at.backward_weight_s, at.message_s}) < 0) {
    throw Error("a time is negative");
  }
  const double share = 1.0 / at.chunks;
  const double backward_s = at.backward_input_s + at.backward_weight_s;
  const StageCost stage{.forward_s = at.forward_s * share,
                        .backward_input_s = at.backward_input_s * share,
                        .backward_weight_s = at.backward_weight_s * share,
                        .activation = share,
                        .weight_activation = at.weight_share * share,
                        .forward_hideable_s = at.hideable_share * at.forward_s * share,
                        .backward_hideable_s = at.hideable_share * backward_s * share};
  ScheduleRequest request{.ranks = at.ranks, .microbatches = at.microbatches, .chunks = at.chunks};
  check_request(request);
  request.costs.assign(static_cast<size_t>(at.ranks) * at.chunks, stage);
  request.message_s = at.message_s;
  const Schedule schedule = generate_schedule(at.schedule, request);
  validate_schedule(schedule);
  return evaluate_schedule(schedule, request.costs, at.message_s);
}

ValidationRow make_row(const CsvTable& table, size_t row, const std::string& family,
                       std::string metric, double measured, double predicted) {
  ValidationRow result;
  result.id = table.id(row);
  result.family = family;
  result.metric = std::move(metric);
  result.measured = measured;
  result.predicted = result.low = result.high = predicted;
  result.origin = Origin::published;  // the times come with the row; nothing is fitted
  return result;
}

// --- published bubble rates ------------------------------------------------------------------

constexpr std::string_view kBubblePrefix = "bubble_";
constexpr std::string_view kBubbleRate = "bubble_rate";
constexpr const char* kLessMessages = "replay, minus p message times";

// The paper's models (table 3).
struct PublishedModel {
  std::string_view name;
  int layers;  // first and last stage hold one less than the others
  double hidden;
  double heads;

  std::optional<int> chunks(int ranks) const {
    if (ranks < 1 || (layers + 2) % ranks != 0) return std::nullopt;
    return (layers + 2) / ranks;
  }
  // Gives M_W / M_B of a layer (section 3.3) for sequences of 1024 tokens.
  double weight_share() const { return 32 * hidden / (34 * hidden + 5 * heads * 1024); }
};

const PublishedModel* published_model(const std::string& name) {
  static constexpr std::array<PublishedModel, 4> kModels = {{{"1.5B", 22, 2304, 24},
                                                             {"6.2B", 30, 4096, 32},
                                                             {"14.6B", 46, 5120, 40},
                                                             {"28.3B", 62, 6144, 48}}};
  const auto found = std::ranges::find(kModels, name, &PublishedModel::name);
  return found != kModels.end() ? &*found : nullptr;
}

void validate_rate(const CsvTable& table, size_t row, size_t column, PipelineCase at,
                   ValidationReport& report) {
  const auto skip = [&](const std::string& reason) {
    report.skipped.push_back(
        {table.id(row), fmt::format("{}: {}", table.header()[column], reason)});
  };
  const std::optional<double> measured = table.optional_number(row, column);
  if (!measured) return skip("not stated");
  const std::string_view printed =
      std::string_view(table.header()[column]).substr(kBubblePrefix.size());
  const auto known = printed_schedule(printed);
  if (!known) return skip(not_in_this_build(printed));
  at.schedule = known->name;
  const std::string& name = table.text(row, table.column("model"));
  const PublishedModel* const model = published_model(name);
  if (model != nullptr) at.weight_share = model->weight_share();
  const bool interleaved = at.schedule == "interleaved-1f1b";
  if (interleaved) {
    const std::optional<int> chunks = table.has("v")
                                          ? std::optional(table.integer(row, table.column("v")))
                                      : model ? model->chunks(at.ranks)
                                              : std::nullopt;
    if (!chunks) return skip(fmt::format("the chunks per rank of model '{}' are unknown", name));
    at.chunks = *chunks;
  }
  ScheduleEvaluation evaluation;
  try {
    evaluation = replay(at);
  } catch (const Error& error) {
    return skip(error.what());
  }
  const double work_s = at.microbatches * at.work_s();
  ValidationRow result = make_row(table, row, at.schedule, std::string(kBubbleRate), *measured,
                                  evaluation.bubble_longest_stage_rate());
  const double bubble_s = closed_form(at).bubble_s;
  result.baselines["closed formula without messages"] = bubble_s / (work_s + bubble_s);
  if (interleaved) {
    result.baselines[kLessMessages] =
        1 - work_s / (evaluation.longest_stage_s - at.ranks * at.message_s);
  }
  report.rows.push_back(std::move(result));
}

// Returns the case of each row; nothing for a row that cannot be read.
std::vector<std::optional<PipelineCase>> rate_cases(const CsvTable& table,
                                                    ValidationReport& report) {
  constexpr double kMillisecond = 1e-3;
  const size_t ranks = table.column("p");
  const size_t microbatches = table.column("m");
  const size_t forward = table.column("T_F_ms");
  const size_t backward_input = table.column("T_B_ms");
  const size_t backward_weight = table.column("T_W_ms");
  const size_t message = table.column("T_comm_ms");
  std::vector<std::optional<PipelineCase>> cases(table.rows());
  for (size_t row = 0; row < table.rows(); ++row) {
    try {
      PipelineCase at;
      at.ranks = table.integer(row, ranks);
      at.microbatches = table.integer(row, microbatches);
      at.forward_s = table.number(row, forward) * kMillisecond;
      at.backward_input_s = table.number(row, backward_input) * kMillisecond;
      at.backward_weight_s = table.number(row, backward_weight) * kMillisecond;
      at.message_s = table.number(row, message) * kMillisecond;
      cases[row] = at;
    } catch (const Error& error) {
      report.skipped.push_back(skipped_row(table.id(row), error));
    }
  }
  return cases;
}

void validate_rates(const CsvTable& table, ValidationReport& report) {
  const std::vector<std::optional<PipelineCase>> cases = rate_cases(table, report);
  for (size_t column = 0; column < table.header().size(); ++column) {
    if (!table.header()[column].starts_with(kBubblePrefix)) continue;
    for (size_t row = 0; row < table.rows(); ++row) {
      if (!cases[row]) continue;
      try {
        validate_rate(table, row, column, *cases[row], report);
      } catch (const Error& error) {
        report.skipped.push_back(skipped_row(table.id(row), error));
      }
    }
  }
}

// --- rows of a reference executor ---------------------------------------------------------------

std::vector<double> numbers_of(const CsvTable& table, size_t row, size_t column, int expected) {
  std::vector<double> numbers;
  const std::string& text = table.text(row, column);
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at != end) {
    if (*at == ' ') {
      ++at;
      continue;
    }
    const auto [next, error] = std::from_chars(at, end, numbers.emplace_back());
    if (error != std::errc() || !std::isfinite(numbers.back())) break;
    at = next;
  }
  if (at != end || static_cast<int>(numbers.size()) != expected) {
    throw Error({table.file(), table.line(row), static_cast<int>(column) + 1},
                fmt::format("column '{}' must hold {} numbers", table.header()[column], expected));
  }
  return numbers;
}

void validate_peaks(const CsvTable& table, size_t row, const PipelineCase& at,
                    const std::string& family, const ScheduleEvaluation& evaluation,
                    ValidationReport& report) {
  const std::vector<double> measured =
      numbers_of(table, row, table.column("peak_act_per_rank"), at.ranks);
  int worst = 0;
  const auto difference = [&](int rank) {
    return std::abs(evaluation.peak_activation[rank] - measured[rank]);
  };
  for (int rank = 1; rank < at.ranks; ++rank) {
    if (difference(rank) > difference(worst)) worst = rank;
  }
  // The rank with the largest error stands for the whole case, so that every case counts once.
  ValidationRow result = make_row(table, row, family, "peak_act_per_rank", measured[worst],
                                  evaluation.peak_activation[worst]);
  const ClosedForm closed = closed_form(at);
  result.baselines["closed formula"] = closed.first_rank_peak + worst * closed.peak_per_rank;
  report.rows.push_back(std::move(result));
}

void validate_executor_row(const CsvTable& table, size_t row, const PipelineCase& at,
                           const std::string& family, ValidationReport& report) {
  ScheduleEvaluation evaluation;
  try {
    evaluation = replay(at);
  } catch (const Error& error) {
    report.skipped.push_back({table.id(row), error.what()});
    return;
  }
  const ClosedForm closed = closed_form(at);
  const double closed_s = at.microbatches * at.work_s() + closed.bubble_s;
  const auto add = [&](const char* metric, double predicted, double baseline) {
    ValidationRow result =
        make_row(table, row, family, metric, table.number(row, table.column(metric)), predicted);
    result.baselines["closed formula without messages"] = baseline;
    report.rows.push_back(std::move(result));
  };
  add("makespan", evaluation.makespan_s, closed_s);
  add("max_stage_span", evaluation.longest_stage_s, closed_s);
  add("makespan_minus_max_busy", evaluation.bubble_makespan_s(), closed.bubble_s);
  const auto& peaks = evaluation.peak_activation;
  add("peak_act_max", *std::max_element(peaks.begin(), peaks.end()), closed.first_rank_peak);
  validate_peaks(table, row, at, family, evaluation, report);
}

constexpr std::array<std::string_view, 13> kExecutorColumns = {"schedule",
                                                               "p",
                                                               "m",
                                                               "v",
                                                               "T_F",
                                                               "T_I",
                                                               "T_W",
                                                               "T_comm",
                                                               "makespan",
                                                               "max_stage_span",
                                                               "makespan_minus_max_busy",
                                                               "peak_act_max",
                                                               "peak_act_per_rank"};

// The executor counts dualpipe's two replicas as chunks.
PipelineCase executor_case(const CsvTable& table, size_t row, const std::string& schedule) {
  constexpr double kHiddenInPairs = 0.1;  // a pair lasts 0.9 (T_F + T_I + T_W)
  PipelineCase at;
  at.schedule = schedule;
  at.ranks = table.integer(row, table.column("p"));
  at.microbatches = table.integer(row, table.column("m"));
  at.chunks = schedule == "dualpipe" ? 1 : table.integer(row, table.column("v"));
  at.forward_s = table.number(row, table.column("T_F"));
  at.backward_input_s = table.number(row, table.column("T_I"));
  at.backward_weight_s = table.number(row, table.column("T_W"));
  at.message_s = table.number(row, table.column("T_comm"));
  at.hideable_share = kHiddenInPairs;
  return at;
}

void validate_executor_rows(const CsvTable& table, ValidationReport& report) {
  for (size_t row = 0; row < table.rows(); ++row) {
    const std::string& printed = table.text(row, table.column("schedule"));
    const auto known = printed_schedule(printed);
    if (!known) {
      report.skipped.push_back({table.id(row), not_in_this_build(printed)});
      continue;
    }
    ValidationReport of_row;
    try {
      const PipelineCase at = executor_case(table, row, known->name);
      validate_executor_row(table, row, at, at.schedule, of_row);
    } catch (const Error& error) {
      of_row = {};
      of_row.skipped.push_back(skipped_row(table.id(row), error));
    }
    report.rows.insert(report.rows.end(), of_row.rows.begin(), of_row.rows.end());
    report.skipped.insert(report.skipped.end(), of_row.skipped.begin(), of_row.skipped.end());
  }
}

void validate_file(const std::string& csv_path, ValidationReport& report) {
  std::vector<CsvFault> faults;
  const CsvTable table = CsvTable::parse(read_file(csv_path), csv_path, &faults);
  for (const CsvFault& fault : faults) {
    report.skipped.push_back({fmt::format("{}:{}", csv_path, fault.line), fault.what});
  }
  if (table.rows() == 0) throw Error(Location{csv_path}, "holds a header but no rows");
  const auto& header = table.header();
  if (table.has("makespan")) {
    for (const std::string_view column : kExecutorColumns) table.column(column);
    validate_executor_rows(table, report);
  } else if (std::ranges::any_of(
                 header, [](const std::string& name) { return name.starts_with(kBubblePrefix); })) {
    validate_rates(table, report);
  } else {
    throw Error({csv_path, 1, 1},
                "this is neither a table of bubble rates (columns bubble_<schedule>) nor one of "
                "schedule results (column makespan)");
  }
}

}  // namespace

ValidationReport validate_schedules(const std::vector<std::string>& csv_paths) {
  ValidationReport report;
  for (const std::string& path : csv_paths) validate_file(path, report);
  std::map<std::string, std::string> notes;
  if (std::ranges::any_of(report.rows, [](const ValidationRow& row) {
        return row.baselines.contains(kLessMessages);
      })) {
    notes["interleaved-1f1b"] = fmt::format(
        "the published rates contain p message times fewer than a replay of every message; see the "
        "baseline '{}'",
        kLessMessages);
  }
  add_left_out_intervals(report);
  summarise_families(report, notes);
  return report;
}

}  // namespace windtunnel
