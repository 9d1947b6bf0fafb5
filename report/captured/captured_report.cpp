#include "report/captured/captured_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <span>
#include <utility>
#include <vector>

#include "models/base/error.hpp"
#include "models/base/quantile.hpp"
#include "models/base/units.hpp"

namespace windtunnel {
namespace {

std::string seconds_and_share(double seconds, double of_s) {
  return fmt::format("{}  {}", format_seconds(seconds), format_percent(seconds / of_s));
}

std::string name_of_call(const CommunicationCall& call) {
  if (call.kind != CallKind::collective) {
    std::string name = call.kind == CallKind::send ? "send" : "receive";
    for (const CommunicationCall& other : call.beside) name += ", " + name_of_call(other);
    return name;
  }
  return call.bytes == 0 ? "barrier" : to_string(call.collective);
}

// Bytes of all messages of a kernel; negative if one is unknown.
double sum_of_bytes(const CommunicationCall& call) {
  double bytes = call.bytes;
  for (const CommunicationCall& other : call.beside) {
    bytes = bytes < 0 || other.bytes < 0 ? -1 : bytes + other.bytes;
  }
  return bytes;
}

std::string bytes_of_call(const CommunicationCall& call) {
  const double bytes = sum_of_bytes(call);
  return bytes < 0 ? "not told" : format_bytes(bytes);
}

// One line of "traced, predicted, difference".
struct Compared {
  std::string what;
  double traced_s = 0;
  double predicted_s = 0;
};

std::vector<Compared> compared_figures(const StepFigures& traced, const RankStep& predicted) {
  const KernelSeconds& kernels = predicted.kernels;
  std::vector<Compared> rows = {{"step", traced.step_s, predicted.step_s}};
  if (kernels.total_s() > 0) {
    rows.push_back({"products", kind_s(traced, WorkKind::product), kernels.products_s});
    rows.push_back({"attention", kind_s(traced, WorkKind::attention),
                    kernels.attention_forward_s + kernels.attention_backward_s});
    rows.push_back({"memory-bound kernels",
                    kind_s(traced, WorkKind::norm) + kind_s(traced, WorkKind::element_wise),
                    kernels.memory_s});
    rows.push_back({"optimizer", kind_s(traced, WorkKind::optimizer), predicted.optimizer_s});
  }
  rows.push_back({"some kernel computes", traced.compute_s, predicted.compute_s});
  rows.push_back(
      {"exposed communication", traced.exposed_s, predicted.inside_s + predicted.outside_s});
  rows.push_back({"hidden communication", traced.hidden_s, predicted.hidden_s});
  rows.push_back({"idle", traced.idle_s, predicted.idle_s + predicted.host_s});
  rows.push_back({"part of it waiting for the host", traced.host_bound_s, predicted.host_s});
  return rows;
}

SummarySection ranks_section(const CaptureAnswer& answer) {
  SummarySection section{"Captured steps", {}};
  section.table = titled_table(
      "rank > | steps > | step > | 5 to 95 % > | compute > | exposed > | hidden > | "
      "copies > | idle > | host-bound >");
  for (const CapturedFile& file : answer.files) {
    const StepFigures figures = figures_of(file.captured);
    const auto share = [&](double seconds) { return format_percent(seconds / figures.step_s); };
    section.table.rows.push_back(
        {fmt::format("{}", file.rank), fmt::format("{}", figures.steps),
         format_seconds(figures.step_s),
         fmt::format("{} to {}", format_seconds(figures.low_s), format_seconds(figures.high_s)),
         share(figures.compute_s), share(figures.exposed_s), share(figures.hidden_s),
         share(figures.copy_s), share(figures.idle_s), share(figures.host_bound_s)});
  }
  return section;
}

SummarySection kinds_section(const StepFigures& figures) {
  SummarySection section{"Kernels of a step", {}};
  const std::vector<std::string>& names = names_of(WorkKind::product);
  for (std::size_t kind = 0; kind < figures.kind_s.size(); ++kind) {
    if (figures.kind_s[kind] <= 0) continue;
    section.rows.push_back({names[kind], seconds_and_share(figures.kind_s[kind], figures.step_s)});
  }
  return section;
}

SummarySection calls_section(const CapturedStep& step) {
  SummarySection section{"Communication of a step", {}};
  section.table = titled_table("what | group | ranks > | size > | times > | mean >");
  for (const CapturedCall& call : step.calls) {
    section.table.rows.push_back(
        {name_of_call(call.call), call.call.group,
         call.call.group_size > 0 ? fmt::format("{}", call.call.group_size) : "",
         bytes_of_call(call.call), fmt::format("{}", call.count),
         format_seconds(call.seconds / call.count)});
  }
  return section;
}

SummarySection compared_section(const StepFigures& traced, const CaptureAnswer& answer) {
  SummarySection section{fmt::format("Traced and predicted ({})", answer.scenario), {}};
  section.table = titled_table(" | traced > | predicted > | difference >");
  for (const Compared& row : compared_figures(traced, *answer.predicted)) {
    const bool both = row.traced_s > 0 && row.predicted_s > 0;
    section.table.rows.push_back(
        {row.what, format_seconds(row.traced_s), format_seconds(row.predicted_s),
         both ? fmt::format("{:+.1f} %", 100 * (row.predicted_s / row.traced_s - 1)) : ""});
  }
  return section;
}

std::string replay_title(const std::string& scenario) {
  return fmt::format("The captured tasks on the machine of {}", scenario);
}

SummarySection replay_section(const Replay& replay) {
  SummarySection section{replay_title(replay.scenario), {}};
  const bool priced = replay.low_s < replay.high_s;
  const std::string range =
      priced ? fmt::format("  ({})", range_text(Unit::seconds, replay.low_s, replay.high_s)) : "";
  section.rows = {
      {"step", fmt::format("{}{}, captured {} ({:+.1f} %)", format_seconds(replay.step_s), range,
                           format_seconds(replay.captured_s),
                           100 * (replay.step_s / replay.captured_s - 1))},
      {"trace", fmt::format("{}, {} of {} ranks captured{}", replay.captured_step,
                            replay.captured_ranks, replay.ranks,
                            replay.captured_ranks == replay.ranks ? ""
                            : replay.copied ? "; the others are copies of these"
                                            : "; the others are assumed to run as the first")},
      {"communication of a rank",
       fmt::format(
           "{} predicted on this network, {} as measured (their size or peer is not in the trace)",
           replay.priced, replay.as_measured)}};
  if (priced) section.rows.push_back({"in brackets", std::string(kStepRangeText)});
  return section;
}

Json step_json(const StepFigures& figures) {
  Json json = MEMBERS_JSON(figures, steps, step_s, low_s, high_s, compute_s, exposed_s, hidden_s,
                           copy_s, idle_s, host_bound_s);
  const std::vector<std::string>& names = names_of(WorkKind::product);
  for (std::size_t kind = 0; kind < figures.kind_s.size(); ++kind) {
    json["kernels_s"][names[kind]] = figures.kind_s[kind];
  }
  return json;
}

Json calls_json(const CapturedStep& step) {
  return list_json(step.calls, [](const CapturedCall& call) -> Json {
    const double bytes = sum_of_bytes(call.call);
    return {{"what", name_of_call(call.call)},
            {"group", call.call.group},
            {"ranks", call.call.group_size},
            {"bytes", bytes < 0 ? Json() : Json(bytes)},
            {"count", call.count},
            {"seconds", call.seconds}};
  });
}

Json capture_document(const CaptureAnswer& answer) {
  Json document;
  document["captured"] = list_json(answer.files, [](const CapturedFile& file) {
    Json rank = step_json(figures_of(file.captured));
    PUT_MEMBERS(rank, file, rank, gpu);
    rank["annotated"] = file.captured.annotated;
    rank["calls"] = calls_json(replayed_step(file.captured));
    return rank;
  });
  document["ranks"] = answer.files.front().ranks;
  if (answer.predicted) {
    const StepFigures traced = figures_of(answer.files.front().captured);
    document["compared"] = list_json(
        compared_figures(traced, *answer.predicted),
        [](const Compared& row) { return MEMBERS_JSON(row, what, traced_s, predicted_s); });
    document["tasks"] = pass_document(answer.tasks);
  }
  if (answer.what_if) document["what_if"] = what_if_document(*answer.what_if);
  if (answer.replay) {
    Json& replay = document["replay"] = MEMBERS_JSON(*answer.replay, step_s, captured_s);
    replay["step_range_s"] = {{"low", answer.replay->low_s}, {"high", answer.replay->high_s}};
    PUT_MEMBERS(replay, *answer.replay, ranks, captured_ranks, priced, as_measured);
  }
  if (!answer.no_replay.empty()) document["no_replay"] = answer.no_replay;
  return document;
}

std::string change_of(double from_s, double to_s) {
  return fmt::format("{:+.1f} %", 100 * (to_s / from_s - 1));
}

std::vector<std::string> what_if_row(const WhatIfPoint& point, const std::string& change) {
  if (point.step_s <= 0) return {point.name, "", "", "", "", point.reason};
  return {point.name,
          format_seconds(point.step_s),
          change,
          format_percent(point.bubble),
          format_bytes(point.memory_bytes),
          point.reason};
}

Json point_document(const WhatIfPoint& point) {
  Json document = {{"point", point.name}};
  if (!point.reason.empty()) document["reason"] = point.reason;
  if (point.step_s <= 0) return document;
  PUT_MEMBERS(document, point, step_s, bubble, memory_bytes);
  return document;
}

// These are the steps, without the first of three or more.
std::span<const CapturedStep> settled_steps(const CapturedRank& rank) {
  return std::span(rank.steps).subspan(rank.steps.size() > 2 ? 1 : 0);
}

template <class Of>
double median_of(std::span<const CapturedStep> steps, const Of& of) {
  std::vector<double> values;
  for (const CapturedStep& step : steps) values.push_back(of(step));
  return median(std::move(values));
}

}  // namespace

Answer capture_answer(const CaptureAnswer& capture) {
  const CapturedFile& first = capture.files.front();
  const StepFigures figures = figures_of(first.captured);
  Answer answer;
  answer.kind = "trace-capture";
  answer.document = [&capture] { return capture_document(capture); };
  answer.title = std::filesystem::path(first.file).filename().string();
  answer.subtitle = fmt::format(
      "{} of {} ranks captured{}{}, steps {}", capture.files.size(),
      first.ranks > 0 ? fmt::format("{}", first.ranks) : "an unknown number of",
      first.gpu.empty() ? "" : ", ", first.gpu,
      first.captured.annotated ? "marked by the program"
                               : "guessed, because the program marks no steps (ProfilerStep#)");
  if (SummarySection passes = passes_chart(capture.tasks); passes.chart) {
    answer.sections.push_back(std::move(passes));
  }
  answer.sections.push_back(ranks_section(capture));
  answer.sections.push_back(kinds_section(figures));
  const CapturedStep& median = replayed_step(first.captured);
  if (!median.calls.empty()) answer.sections.push_back(calls_section(median));
  if (capture.predicted) answer.sections.push_back(compared_section(figures, capture));
  if (!capture.tasks.empty()) {
    std::ranges::move(pass_sections(capture.tasks), std::back_inserter(answer.sections));
  }
  if (capture.what_if) answer.sections.push_back(what_if_section(*capture.what_if));
  if (capture.replay) answer.sections.push_back(replay_section(*capture.replay));
  if (!capture.no_replay.empty()) {
    answer.sections.push_back(
        {replay_title(capture.scenario), {{"cannot run there", capture.no_replay}}});
  }
  return answer;
}

WhatIfPoint what_if_point(std::string name, const IterationReport& report, std::string excess) {
  WhatIfPoint point{.name = std::move(name), .reason = std::move(excess)};
  point.step_s = report.time_s;
  point.bubble = report.bubble.makespan_s / report.time_s;
  for (const GpuMemory& rank : report.memory) {
    point.memory_bytes = std::max(point.memory_bytes, rank.total());
  }
  return point;
}

SummarySection what_if_section(const ChosenSteps& what_if) {
  const WhatIfPoint& captured = what_if.captured;
  SummarySection section{"Other choices, with the calibration of this trace", {}};
  section.table = titled_table(" | step > | change > | bubble > | memory > | ");
  section.table.rows.push_back(what_if_row(captured, ""));
  for (const WhatIfPoint& point : what_if.others) {
    section.table.rows.push_back(
        what_if_row(point, point.step_s > 0 ? change_of(captured.step_s, point.step_s) : ""));
  }
  section.add("how far to trust it", "{} is predicted to take {}; it took {} in the trace ({})",
              captured.name, format_seconds(captured.step_s), format_seconds(what_if.traced_s),
              change_of(what_if.traced_s, captured.step_s));
  return section;
}

Json what_if_document(const ChosenSteps& what_if) {
  return {{"traced_s", what_if.traced_s},
          {"captured", point_document(what_if.captured)},
          {"others", list_json(what_if.others, point_document)}};
}

StepFigures figures_of(const CapturedRank& rank) {
  const std::span<const CapturedStep> steps = settled_steps(rank);
  std::vector<double> seconds;
  for (const CapturedStep& step : steps) seconds.push_back(step.seconds());
  StepFigures figures{.steps = steps.size(),
                      .step_s = median(seconds),
                      .low_s = quantile(seconds, 0.05),
                      .high_s = quantile(seconds, 0.95)};
  const auto of = [&](double CapturedStep::*member) {
    return median_of(steps, [&](const CapturedStep& step) { return step.*member; });
  };
  figures.compute_s = of(&CapturedStep::compute_s);
  figures.exposed_s = of(&CapturedStep::exposed_s);
  figures.hidden_s = of(&CapturedStep::hidden_s);
  figures.copy_s = of(&CapturedStep::copy_s);
  figures.idle_s = of(&CapturedStep::idle_s);
  figures.host_bound_s = of(&CapturedStep::host_bound_s);
  for (std::size_t kind = 0; kind < figures.kind_s.size(); ++kind) {
    figures.kind_s[kind] =
        median_of(steps, [&](const CapturedStep& step) { return step.kind_s[kind]; });
  }
  return figures;
}

double kind_s(const StepFigures& figures, WorkKind kind) {
  return figures.kind_s[static_cast<std::size_t>(kind)];
}

const CapturedStep& replayed_step(const CapturedRank& rank) {
  return median_step(settled_steps(rank));
}

namespace {

// The factor for a constant; 1 if a time is missing.
double factor(double grows_with_s, double falls_with_s) {
  return grows_with_s > 0 && falls_with_s > 0 ? grows_with_s / falls_with_s : 1;
}

// Scales the laws of the kernel `key` for warm and cold caches. Returns whether there is one.
bool scale_law(Calibration& calibration, const std::string& key, double times) {
  bool any = false;
  for (KernelLaw& law : calibration.kernel_laws.laws) {
    if (law.key != key && law.key != key + " cold") continue;
    any = true;
    for (double& seconds : law.curve.seconds) seconds *= times;
    law.fixed_s *= times;
    law.flop_s *= times;
    law.byte_s *= times;
  }
  return any;
}

}  // namespace

Calibration captured_calibration(const Job& job, const CaptureAnswer& answer) {
  CHECK(answer.predicted.has_value(), "a prediction");
  const Calibration& from = job.calibration;
  const CapturedFile& first = answer.files.front();
  const StepFigures traced = figures_of(first.captured);
  const KernelSeconds& predicted = answer.predicted->kernels;
  const std::string source =
      fmt::format("{}, {} steps, on {}", std::filesystem::path(first.file).filename().string(),
                  traced.steps, first.gpu.empty() ? "an unnamed GPU" : first.gpu);
  Calibration made = from;
  const auto scale = [&](Parameter Calibration::*member, double by, double most) {
    const double value = std::min((from.*member).value * by, most);
    if (by != 1) made.*member = {value, value, value, Origin::measured, source};
  };
  const double products = factor(predicted.products_s, kind_s(traced, WorkKind::product));
  const KernelWork product{.kernel = "gemm", .precision = job.precision};
  if (!scale_law(made, law_key(product), 1 / products)) {
    scale(&Calibration::gemm_efficiency, products, 1);
  }
  const double attention_s = predicted.attention_forward_s + predicted.attention_backward_s;
  const double attention = factor(attention_s, kind_s(traced, WorkKind::attention));
  scale(&Calibration::attention_forward_efficiency, attention, 1);
  scale(&Calibration::attention_backward_efficiency, attention, 1);
  const double memory = factor(
      predicted.memory_s, kind_s(traced, WorkKind::norm) + kind_s(traced, WorkKind::element_wise));
  const bool by_law = scale_law(made, "add", 1 / memory) || scale_law(made, "copy", 1 / memory);
  if (!by_law) scale(&Calibration::memory_efficiency, memory, 1);
  const double reached =
      by_law ? memory : made.memory_efficiency.value / std::max(from.memory_efficiency.value, 1e-9);
  const double update = factor(kind_s(traced, WorkKind::optimizer), answer.predicted->optimizer_s);
  // Momentum has no kernel law of its own.
  const bool momentum = job.software.optimizer == Optimizer::momentum;
  const char* kernel = job.software.optimizer == Optimizer::sgd ? "sgd" : "adam";
  if (momentum || !scale_law(made, kernel, update)) {
    // The optimizer's pass gets the new efficiency as well, so its bytes grow to match the time.
    // Moments have a part of them.
    scale(&Calibration::optimizer_bytes, update * reached, 1e6);
    if (momentum) scale(&Calibration::moment_bytes, update * reached, 1e6);
  }
  return made;
}

}  // namespace windtunnel
