#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "models/base/units.hpp"
#include "report/answer/command_answers.hpp"
#include "report/figures/figure_text.hpp"
#include "report/json/json.hpp"
#include "sim/study/diagnose/diagnose.hpp"

namespace windtunnel {
namespace {

constexpr std::size_t kMostCauses = 5;
constexpr double kLeastChance = 0.01;

const char* word_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::measured:
      return "measured";
    case Verdict::healthy:
      return "healthy";
    case Verdict::unusual:
      return "unusual";
    case Verdict::slower:
      return "slower";
    case Verdict::faster:
      return "faster";
  }
  return "";
}

std::string from_iteration(const LogShape& shape) {
  return shape.change_iteration >= 0 ? fmt::format("from iteration {} on", shape.change_iteration)
                                     : std::string("later");
}

// Names what is unusual about the steps or other data of the log.
std::string what_is_unusual(const Diagnosis& diagnosis) {
  const LogShape& shape = diagnosis.shape;
  if (shape.change) {
    const bool slower = shape.after_s > shape.before_s;
    const double share = std::abs(shape.after_s / shape.before_s - 1);
    return fmt::format(
        "{:.0f} % {} {}", 100 * share, slower ? "slower" : "faster",
        shape.change == StepPattern::phase ? from_iteration(shape) : std::string("at the end"));
  }
  if (shape.shows(StepPattern::periodic)) {
    return fmt::format("one step in {:.0f} is long", shape.longer.period);
  }
  if (shape.shows(StepPattern::bursts)) return fmt::format("{} steps are long", shape.longer.count);
  if (shape.shows(StepPattern::jitter)) return "its steps vary in length";
  if (diagnosis.unusual.empty()) return "something is unusual";
  const Unusual& first = diagnosis.unusual.front();
  return fmt::format("{} is {} than expected", first.what,
                     first.measured > first.expected ? "more" : "less");
}

std::string title_of(const Diagnosis& diagnosis) {
  switch (diagnosis.verdict) {
    case Verdict::measured:
      return "Measured";
    case Verdict::healthy:
      return "Healthy";
    case Verdict::unusual:
      return "Inside the expected interval, but " + what_is_unusual(diagnosis);
    case Verdict::slower:
      return "Slower than expected";
    case Verdict::faster:
      return "Faster than expected";
  }
  return "";
}

// The share of healthy runs that are as slow, or as fast.
std::string place_text(const Diagnosis& diagnosis) {
  const double slower = 1 - diagnosis.quantile;
  const double least = std::min(slower, diagnosis.quantile);
  const auto share = least < 0.0005 ? std::string("fewer than 1 in 2000")
                                    : fmt::format("{}", format_percent(least));
  return fmt::format("{} of healthy runs of this job would be {}", share,
                     slower < 0.5 ? "as slow or slower" : "as fast or faster");
}

std::string strength_text(const ExplainingCause& found) {
  if (!found.cause->strength) return "";
  std::string text = found.cause->strength->meaning;
  if (const std::size_t at = text.find("{x}"); at != std::string::npos) {
    text.replace(at, 3, fmt::format("{:.3g}", found.strength));
  }
  return text;
}

std::string pattern_text(const LogShape& shape) {
  std::vector<std::string> seen;
  if (shape.change == StepPattern::phase) {
    seen.push_back(fmt::format("{}, {} {}", format_seconds(shape.before_s),
                               format_seconds(shape.after_s), from_iteration(shape)));
  } else if (shape.change == StepPattern::trend) {
    seen.push_back(fmt::format("from {} at the beginning to {} at the end",
                               format_seconds(shape.before_s), format_seconds(shape.after_s)));
  }
  if (shape.longer.count > 0) {
    seen.push_back(fmt::format(
        "{} long steps, by {}{}", shape.longer.count, format_seconds(shape.longer.extra_s),
        shape.longer.period > 0 ? fmt::format(", one in {:.0f}", shape.longer.period)
                                : std::string(shape.longer.count > 2 ? ", irregular" : "")));
  }
  return seen.empty() ? "none" : fmt::format("{}", fmt::join(seen, "; "));
}

std::string steps_text(const LogShape& shape) {
  std::string text = fmt::format("{}", shape.steps);
  if (shape.left_out > 0) text += fmt::format(", not counting the first {}", shape.left_out);
  if (shape.every > 1) text += fmt::format("; each line is the mean of {}", shape.every);
  if (shape.restarts > 0) text += fmt::format("; {} restarts", shape.restarts);
  if (shape.missing > 0) text += fmt::format("; {} iterations are missing", shape.missing);
  return text;
}

std::string memory_text(const LogShape& shape) {
  if (shape.allocated_bytes > 0) return format_memory(shape.allocated_bytes) + " allocated";
  return format_memory(shape.reserved_bytes) + " reserved";
}

SummarySection measured_section(const Diagnosis& diagnosis) {
  const LogShape& shape = diagnosis.shape;
  SummarySection section{"Measured", {}};
  section.with_figures = true;
  section.rows.push_back({"steps", steps_text(shape)});
  section.rows.push_back({"spread", format_percent(shape.spread), "one standard deviation"});
  section.rows.push_back({"changes", pattern_text(shape)});
  if (shape.allocated_bytes > 0 || shape.reserved_bytes > 0) {
    section.rows.push_back({"peak memory", memory_text(shape)});
  }
  return section;
}

std::string unusual_value(const Unusual& each, double value) {
  return each.what == "peak memory" ? format_memory(value) : format_seconds(value);
}

SummarySection expected_section(const Diagnosis& diagnosis) {
  const double step_s = diagnosis.expected.step_s;
  SummarySection section{"Expected", {}};
  section.rows.push_back(
      {"step time", format_seconds(step_s),
       fmt::format("90 % interval: {} .. {}", format_seconds(step_s / diagnosis.interval.shorter),
                   format_seconds(step_s * diagnosis.interval.longer))});
  section.rows.push_back({"how unusual", place_text(diagnosis)});
  for (const Unusual& each : diagnosis.unusual) {
    section.add("unusual", "{}: {} instead of {}", each.what, unusual_value(each, each.measured),
                unusual_value(each, each.expected));
  }
  return section;
}

std::size_t shown_causes(const Diagnosis& diagnosis) {
  std::size_t shown = 0;
  while (shown < std::min(kMostCauses, diagnosis.causes.size()) &&
         diagnosis.causes[shown].chance >= kLeastChance) {
    ++shown;
  }
  return shown;
}

std::string predicted_text(const ExplainingCause& found) {
  std::string step = format_seconds(found.predicted.step_s);
  if (found.predicted.stall_s <= 0) return step;
  return fmt::format("{}, saving {}", step, format_seconds(found.predicted.stall_s));
}

SummarySection causes_section(const Diagnosis& diagnosis) {
  SummarySection section{"Causes that would explain it", {}};
  section.table =
      titled_table("cause | chance > | step with it > | a fix saves > | how strong | what it is");
  for (std::size_t i = 0; i < shown_causes(diagnosis); ++i) {
    const ExplainingCause& found = diagnosis.causes[i];
    section.table.rows.push_back({found.cause->name, format_percent(found.chance),
                                  predicted_text(found), format_percent(found.gain),
                                  strength_text(found), found.cause->help});
  }
  double others = 0;
  for (std::size_t i = shown_causes(diagnosis); i < diagnosis.causes.size(); ++i) {
    others += diagnosis.causes[i].chance;
  }
  if (const auto count = diagnosis.causes.size() - shown_causes(diagnosis); count > 0) {
    section.table.rows.push_back(
        {"others", format_percent(others), "", "", "",
         counted(static_cast<double>(count), "further cause") + " together (--json has each)"});
  }
  section.table.rows.push_back({"something else", format_percent(diagnosis.something_else), "", "",
                                "", "none of the causes that Windtunnel knows"});
  return section;
}

// Causes that were not tried: one row for those that do not affect the job, and a row with the
// reason for each that the job refuses.
SummarySection untried_section(const Diagnosis& diagnosis) {
  SummarySection section{"Causes left out", {}};
  std::vector<std::string> idle;
  for (const auto& [cause, why] : diagnosis.not_tried) {
    if (why == kChangesNothing) {
      idle.push_back(cause->name);
    } else {
      section.rows.push_back({cause->name, why});
    }
  }
  if (!idle.empty()) {
    section.add("no effect", "{}", fmt::join(idle, ", "));
  }
  return section;
}

SummarySection look_section(const Diagnosis& diagnosis) {
  SummarySection section{"What to look at", {}};
  const std::size_t told = std::clamp<std::size_t>(diagnosis.as_good, 1, 3);
  for (std::size_t i = 0; i < std::min(told, shown_causes(diagnosis)); ++i) {
    const Cause& cause = *diagnosis.causes[i].cause;
    section.rows.push_back({cause.name, setting_of(cause, diagnosis.software)});
    section.rows.push_back({"shown by", cause.tells});
  }
  return section;
}

// Whether something else is more likely than all known causes together.
bool explains_none(const Diagnosis& diagnosis) {
  return diagnosis.verdict != Verdict::faster && diagnosis.something_else > 0.5;
}

std::vector<std::string> warnings_of(const TrainingLog& log, const Diagnosis& diagnosis) {
  std::vector<std::string> warnings;
  if (log.unreadable > 0) {
    const LogFault& first = log.faults.front();
    warnings.push_back(
        fmt::format("{} numbers of the log cannot be read and are ignored, the first at {}:{}:{}",
                    log.unreadable, first.where.file, first.where.line, first.where.column));
  }
  if (diagnosis.shape.steps == 1) {
    warnings.emplace_back(
        "only one step was read, and the first steps of a run take longer than later ones");
  }
  // A plain number of a log is read as seconds. Real causes do not slow a step a hundredfold, and
  // a prediction is rarely off by a factor of three.
  constexpr double kMilliseconds = 1000, kOff = 3;
  const double times = diagnosis.shape.median_s / diagnosis.expected.step_s;
  if (times > kMilliseconds / kOff && times < kMilliseconds * kOff) {
    warnings.push_back(
        fmt::format("the steps are {:.0f} times as long as expected: if the log states them in "
                    "milliseconds, call the column step_time_ms, or divide them by 1000",
                    times));
  }
  if (explains_none(diagnosis)) {
    warnings.push_back(fmt::format(
        "no cause that Windtunnel knows explains the log well: something else has a chance of {}",
        format_percent(diagnosis.something_else)));
  }
  if (diagnosis.as_good > 1) {
    std::vector<std::string> names;
    for (int i = 0; i < diagnosis.as_good; ++i) {
      names.push_back(diagnosis.causes[static_cast<std::size_t>(i)].cause->name);
    }
    warnings.push_back(fmt::format("the log does not show which of these is the cause: {}",
                                   fmt::join(names, ", ")));
  }
  if (diagnosis.verdict == Verdict::faster) {
    warnings.push_back(
        "no known cause makes a run faster than predicted: check that the "
        "scenario describes the job that ran");
  }
  return warnings;
}

Json value_json(const std::optional<LoggedValue>& value) {
  return value ? Json{{"least", value->low}, {"most", value->high}} : Json();
}

Json timers_json(const std::array<std::optional<LoggedValue>, kLogQuantities>& parts) {
  const auto of = [&](LogQuantity quantity) {
    return value_json(parts[static_cast<std::size_t>(quantity)]);
  };
  return {{"forward_s", of(LogQuantity::forward_s)},
          {"backward_s", of(LogQuantity::backward_s)},
          {"gradients_s", of(LogQuantity::gradients_s)},
          {"optimizer_s", of(LogQuantity::optimizer_s)},
          {"input_s", of(LogQuantity::input_s)}};
}

Json shape_json(const LogShape& shape) {
  Json json = MEMBERS_JSON(shape, steps, left_out, every, restarts, missing);
  json["step_s"] = shape.median_s;
  PUT_MEMBERS(json, shape, mean_s, fast_s, slow_s, spread);
  json["patterns"] = list_json(shape.patterns, [](StepPattern each) { return name_of(each); });
  PUT_MEMBERS(json, shape, before_s, after_s, change_iteration);
  json["long_steps"] = MEMBERS_JSON(shape.longer, count, extra_s, period);
  PUT_MEMBERS(json, shape, allocated_bytes, reserved_bytes);
  json["timers"] = timers_json(shape.parts);
  return json;
}

Json expected_json(const Diagnosis& diagnosis) {
  const PredictedLog& expected = diagnosis.expected;
  return {{"step_s", expected.step_s},
          {"low_s", expected.step_s / diagnosis.interval.shorter},
          {"high_s", expected.step_s * diagnosis.interval.longer},
          {"quantile", diagnosis.quantile},
          {"allocated_bytes", expected.allocated_bytes},
          {"reserved_bytes", expected.reserved_bytes},
          {"timers", timers_json(expected.parts)}};
}

Json cause_json(const ExplainingCause& found, const std::string& software) {
  Json json = {{"cause", found.cause->name},
               {"help", found.cause->help},
               {"chance", found.chance},
               {"strength", found.cause->strength ? Json(found.strength) : Json()}};
  PUT_MEMBERS(json, found.predicted, step_s, stall_s);
  json["gain"] = found.gain;
  json["set"] = set_json(found.set);
  json["look_at"] = setting_of(*found.cause, software);
  json["told_by"] = found.cause->tells;
  return json;
}

Json diagnose_document(const TrainingLog& log, const Diagnosis& diagnosis) {
  Json document = {{"log", log.file},
                   {"read_as", log.software},
                   {"unreadable", log.unreadable},
                   {"job", diagnosis.job},
                   {"software", diagnosis.software},
                   {"verdict", word_of(diagnosis.verdict)},
                   {"measured", shape_json(diagnosis.shape)}};
  if (diagnosis.verdict == Verdict::measured) return document;
  document["expected"] = expected_json(diagnosis);
  document["unusual"] = list_json(diagnosis.unusual, [](const Unusual& each) {
    return MEMBERS_JSON(each, what, measured, expected);
  });
  document["causes"] = list_json(diagnosis.causes, [&](const ExplainingCause& found) {
    return cause_json(found, diagnosis.software);
  });
  PUT_MEMBERS(document, diagnosis, something_else, as_good);
  document["not_tried"] = list_json(diagnosis.not_tried, [](const auto& each) -> Json {
    return {{"cause", each.first->name}, {"why", each.second}};
  });
  return document;
}

}  // namespace

Answer diagnose_answer(const TrainingLog& log, const Diagnosis& diagnosis,
                       const std::string& job_file) {
  Answer answer;
  answer.kind = "diagnose";
  answer.title = title_of(diagnosis);
  answer.subtitle = fmt::format("{}, read as a log of {}", log.file, fmt::join(log.software, ", "));
  if (!diagnosis.job.empty())
    answer.subtitle += fmt::format(", compared with the job {}", diagnosis.job);
  const LogShape& shape = diagnosis.shape;
  answer.figures.push_back(
      {"step time", format_seconds(shape.median_s),
       fmt::format("median; nine in ten: {} .. {}", format_seconds(shape.fast_s),
                   format_seconds(shape.slow_s))});
  answer.sections.push_back(measured_section(diagnosis));
  if (diagnosis.verdict != Verdict::measured) {
    answer.sections.push_back(expected_section(diagnosis));
  }
  if (shown_causes(diagnosis) > 0) {
    answer.sections.push_back(causes_section(diagnosis));
    answer.sections.push_back(look_section(diagnosis));
  }
  if (!diagnosis.not_tried.empty()) answer.sections.push_back(untried_section(diagnosis));
  answer.warnings = warnings_of(log, diagnosis);
  if (job_file.empty()) {
    answer.warnings.emplace_back(
        "without a job there is no prediction to compare with: name its scenario, or the "
        "configuration that it was started with, after the log");
  }
  answer.document = [&log, &diagnosis] { return diagnose_document(log, diagnosis); };
  return answer;
}

}  // namespace windtunnel
