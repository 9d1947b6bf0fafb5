#include "validate/accuracy/runs/runs.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <mutex>
#include <optional>
#include <set>
#include <utility>

#include "models/base/error.hpp"
#include "models/base/quantile.hpp"
#include "policies/lowering/for_each_index.hpp"
#include "scenarios/language/library/facts/measured_runs.hpp"
#include "scenarios/language/library/facts/training_software.hpp"
#include "scenarios/language/library/interconnect_laws.hpp"
#include "validate/accuracy/rows/baselines.hpp"
#include "validate/accuracy/rows/row_filter.hpp"
#include "validate/accuracy/rows/row_selection.hpp"
#include "validate/accuracy/runs/fit_rows.hpp"
#include "validate/accuracy/runs/run_pairs.hpp"
#include "validate/accuracy/runs/run_source.hpp"

namespace windtunnel {
namespace {

constexpr const char* kStep = "step_s";
constexpr const char* kMemory = "memory_bytes";

struct Subject {
  const TrainingRun* run = nullptr;
  const CsvTable* table = nullptr;
  std::string family;
  bool fit = false;
  bool judged = false;
  RunJob what;
  std::optional<double> step_s;  // measured
  RunPrediction predicted;
  std::string failure;  // why there is no job or prediction; empty: there is
};

bool says_whether_it_fitted(const TrainingRun& run) {
  const std::string status = run.noted("status");
  return status == "OOM" || status == "Success";
}

std::vector<Subject> subjects_of(const std::vector<TrainingRuns>& files, const RunsOptions& options,
                                 std::vector<SkippedRow>& skipped) {
  std::vector<Subject> subjects;
  for (const auto& row : select_rows(files,
                                     {.where = options.where,
                                     .fit_where = options.fit_where,
                                     .calibrate_on = options.calibrate_on},
                                     skipped)) {
    Subject& subject = subjects.emplace_back();
    subject.run = row.run;
    subject.table = &row.file->table;
    subject.family = family_of(*row.run);
    subject.fit = row.fit;
    subject.judged = row.judged && !row.fit;
  }
  return subjects;
}

// Applies `step` to each subject; an Error becomes the subject's failure.
template <class Step>
void for_each_subject(std::vector<Subject>& subjects, const RunsOptions& options,
                      const Step& step) {
  std::mutex mutex;
  size_t done = 0;
  for_each_index(subjects.size(), options.threads, [&](size_t i) {
    Subject& subject = subjects[i];
    try {
      if (subject.failure.empty()) step(subject);
    } catch (const Error& error) {
      subject.failure = error.what();
    }
    if (!options.progress) return;
    const std::scoped_lock lock(mutex);
    options.progress(++done, subjects.size());
  });
}

FitRow fit_row_of(const Subject& subject) {
  FitRow row = fit_row_of(*subject.run, subject.what.job);
  row.group = subject.family;
  return row;
}

// Uses the fitted constants; the law of collectives stays that of the row's machine.
void take(const Calibration& fitted, Job& job) {
  Calibration own = std::exchange(job.calibration, fitted);
  job.calibration.network = std::move(own.network);
  job.calibration.node_network = std::move(own.node_network);
}

// Makes one fit for each calibration from which rows start, usually one per kind of GPU.
void fit_calibrations(std::vector<Subject>& subjects, const RunPredictor& predictor) {
  std::map<std::string, std::vector<FitRow>> rows;
  std::map<std::string, Calibration> calibrations;
  for (Subject& subject : subjects) {
    if (!subject.fit || !subject.failure.empty()) continue;
    if (!subject.run->step_s) {  // nothing to fit on: only its memory or label is judged
      subject.fit = false;
      continue;
    }
    const Calibration& prior = subject.what.job.calibration;
    rows[prior.name].push_back(fit_row_of(subject));
    calibrations.emplace(prior.name, prior);
  }
  if (rows.empty()) throw Error("none of the rows to fit on states a time and can be predicted");
  for (const auto& [name, of_one] : rows) {
    calibrations[name] = predictor.fit(of_one, calibrations[name]);
  }
  for (Subject& subject : subjects) {
    const auto fitted = calibrations.find(subject.what.job.calibration.name);
    if (fitted != calibrations.end()) take(fitted->second, subject.what.job);
  }
}

// Requires that all subjects are predicted; gives each family the calibration fitted on its middle
// row.
void fit_one_point_each(std::vector<Subject>& subjects, const RunPredictor& predictor) {
  std::map<std::string, std::vector<Subject*>> families;
  for (Subject& subject : subjects) {
    if (subject.failure.empty() && subject.run->step_s) {
      families[subject.family].push_back(&subject);
    }
  }
  std::map<std::string, Calibration> calibrations;
  for (const auto& [family, members] : families) {
    if (members.size() < 2) continue;  // nothing would be left to judge
    Subject& middle = *members[members.size() / 2];
    middle.fit = true;
    middle.judged = false;
    calibrations[family] = predictor.fit_one_point(fit_row_of(middle), middle.what.job.calibration);
  }
  for (Subject& subject : subjects) {
    const auto fitted = calibrations.find(subject.family);
    if (fitted != calibrations.end()) take(fitted->second, subject.what.job);
  }
}

std::string optional_text(std::optional<int> value) {
  return value ? std::to_string(*value) : "-";
}

// Identifies a job: what is trained, on how many GPUs, with which batch.
std::string group_of(const TrainingRun& run) {
  return fmt::format("{}|{}|{}|{}|{}|{}|{}", run.model, optional_text(run.layers),
                     optional_text(run.hidden), optional_text(run.sequence),
                     optional_text(run.gpus), optional_text(run.global_batch),
                     run.noted("after_pp_fix"));
}

// Identifies how the job is run.
std::string configuration_of(const TrainingRun& run) {
  std::vector<std::string> parts;
  for (const std::optional<int>& value : {run.heads, run.kv_heads, run.micro_batch}) {
    parts.push_back(optional_text(value));
  }
  for (const RunAxis& axis : kRunAxes) parts.push_back(optional_text(run.*axis.size));
  parts.push_back(run.sequence_parallel ? (*run.sequence_parallel ? "1" : "0") : "-");
  parts.insert(parts.end(), {run.recompute, run.schedule, run.precision, run.noted("zero_stage")});
  return fmt::format("{}", fmt::join(parts, "|"));
}

std::string label_of(const TrainingRun& run) {
  std::string text = fmt::format("{}, {} GPUs,", run.model, optional_text(run.gpus));
  for (const RunAxis& axis : kRunAxes) {
    const std::optional<int>& size = run.*axis.size;
    if (axis.always || size.value_or(1) > 1) {
      text += fmt::format(" {} {}", axis.name, optional_text(size));
    }
  }
  return text + fmt::format(", batch {} of {}, seq {}", optional_text(run.micro_batch),
                            optional_text(run.global_batch), optional_text(run.sequence));
}

ValidationRow row_of(const Subject& subject, const char* metric) {
  ValidationRow row;
  row.id = subject.run->id;
  row.family = subject.family;
  row.metric = metric;
  row.origin = subject.predicted.origin;
  row.label = label_of(*subject.run);
  row.note = subject.run->note;
  return row;
}

// The keys that a choice sets: "software.host_step".
std::string keys_of(const SoftwareChoice& choice) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : choice.set) keys.push_back(key);
  return fmt::format("{}", fmt::join(keys, ", "));
}

std::vector<std::string> fitted_by(const Subject& subject, bool of_memory) {
  std::vector<std::string> names;
  for (const FittedNumber& each : fitted_numbers(subject.what.job.calibration)) {
    if (each.of_memory != of_memory) continue;
    if (is_among(each.number->fitted_on, *subject.table, subject.run->table_row)) {
      names.push_back(each.name);
    }
  }
  for (const SoftwareChoice* choice : subject.what.choices) {
    const std::vector<FittedOn>& rows = of_memory ? choice->memory_fitted_on : choice->fitted_on;
    if (is_among(rows, *subject.table, subject.run->table_row)) names.push_back(keys_of(*choice));
  }
  return names;
}

void add_rows(const Subject& subject, const RunPredictor& predictor, bool fits,
              std::map<std::string, double> baselines, ValidationReport& report) {
  const TrainingRun& run = *subject.run;
  Calibration calibration = subject.what.job.calibration;
  RunPrediction predicted = subject.predicted;
  // Without a fit, the interval is the one that a user's job would get, which belongs to no family.
  if (!fits) {
    StepError error = step_error(subject.what.job, software_root(subject.what.software),
                                 predicted.hfu_causal, subject.family);
    calibration.step_error = std::move(error.error);
    predicted.spread = error.familiarity.not_contained(predicted.spread);
  }
  const PredictionInterval range = predictor.interval(predicted, calibration);
  const auto add = [&](ValidationRow row, bool of_memory) {
    row.fitted_by = fitted_by(subject, of_memory);
    const bool blind = row.fitted_by.empty() && !subject.fit;
    (blind ? report.rows : report.fitted).push_back(std::move(row));
  };
  if (subject.step_s) {
    ValidationRow row = row_of(subject, kStep);
    row.measured = *subject.step_s;
    row.predicted = subject.predicted.step_s;
    row.low = range.step_low_s;
    row.high = range.step_high_s;
    row.baselines = std::move(baselines);
    row.group = group_of(run);
    row.configuration = configuration_of(run);
    add(std::move(row), false);
  }
  if (subject.fit) return;
  if (run.memory_gib) {
    ValidationRow row = row_of(subject, kMemory);
    const MemoryFigure figure = memory_figure_of(run);
    row.measured = *run.memory_gib * figure.unit_bytes;
    row.predicted = bytes_of(figure, subject.predicted.memory);
    const double share = row.predicted / subject.predicted.memory_bytes;
    row.low = share * range.memory_low_bytes;
    row.high = share * range.memory_high_bytes;
    add(std::move(row), true);
  }
  if (says_whether_it_fitted(run) && fitted_by(subject, true).empty()) {
    report.labels.push_back(
        {run.id, subject.family, run.noted("status") == "OOM", !subject.predicted.fits});
  }
}

std::vector<std::map<std::string, double>> baselines_of(const std::vector<Subject>& subjects) {
  std::vector<BaselineRow> rows;
  std::vector<size_t> subject_of;
  for (size_t i = 0; i < subjects.size(); ++i) {
    const Subject& subject = subjects[i];
    if (!subject.failure.empty() || !subject.step_s) continue;
    rows.push_back({&subject.what.job, *subject.step_s, subject.family, subject.fit});
    subject_of.push_back(i);
  }
  std::vector<std::map<std::string, double>> found(subjects.size());
  std::vector<std::map<std::string, double>> of_rows = step_baselines(rows);
  for (size_t i = 0; i < rows.size(); ++i) found[subject_of[i]] = std::move(of_rows[i]);
  return found;
}

// Groups the runs by family and traits, in the order of their first row.
std::vector<MeasuredRuns> measured_of(const std::vector<Subject>& subjects) {
  std::vector<MeasuredRuns> all;
  for (const Subject& subject : subjects) {
    if (!subject.failure.empty() || !subject.step_s) continue;
    const RunTraits traits = traits_of(subject.what.job, software_root(subject.what.software),
                                       subject.predicted.hfu_causal);
    auto runs = std::ranges::find_if(all, [&](const MeasuredRuns& known) {
      return known.family == subject.family && known.traits.gpu == traits.gpu &&
             is_like(known.traits, traits);
    });
    if (runs == all.end()) runs = all.insert(all.end(), {subject.family, traits});
    for (int RunTraits::*size : {&RunTraits::gpus, &RunTraits::sequence, &RunTraits::experts_a_rank,
                                 &RunTraits::micro_tokens}) {
      runs->traits.*size = std::max(runs->traits.*size, traits.*size);
    }
    if (subject.fit || !fitted_by(subject, false).empty()) continue;
    runs->errors.push_back(std::abs(std::log(subject.predicted.step_s / *subject.step_s)));
    ++runs->rows;
  }
  for (MeasuredRuns& runs : all) runs.errors = kept_errors(std::move(runs.errors));
  return all;
}

// The blind rows with a step time whose job a scenario can express.
std::vector<PairedRun> paired_runs(const std::vector<Subject>& subjects) {
  std::vector<PairedRun> runs;
  for (const Subject& subject : subjects) {
    if (!subject.failure.empty() || !subject.run->step_s || subject.fit) continue;
    if (!fitted_by(subject, false).empty()) continue;
    try {
      runs.push_back({subject.run->source, row_keys(*subject.run, subject.what),
                      subject.predicted.step_s, *subject.run->step_s});
    } catch (const Error&) {
      continue;  // its calibration has no name in the library
    }
  }
  return runs;
}

// Counts for each family the rows with each assumption.
void count_assumptions(const std::vector<Subject>& subjects, ValidationReport& report) {
  std::map<std::string, std::map<std::string, int>> counts;
  for (const Subject& subject : subjects) {
    if (!subject.judged || !subject.failure.empty()) continue;
    for (const std::string& assumed : subject.what.assumed) ++counts[subject.family][assumed];
  }
  for (ValidationFamily& family : report.families) family.assumed = counts[family.name];
}

}  // namespace

RunPredictor closed_predictor(int threads) {
  FitOptions fit_options;
  fit_options.threads = threads;
  return {.job_of = job_of,
          .predict = predict,
          .interval = interval,
          .fit =
              [fit_options](const std::vector<FitRow>& rows, const Calibration& prior) {
                return fit_runs(rows, prior, fit_options).calibration;
              },
          .fit_one_point =
              [fit_options](const FitRow& row, const Calibration& prior) {
                return fit_one_point(row, prior, fit_options).calibration;
              }};
}

std::string family_of(const TrainingRun& run) {
  return run.source + " / " + run.gpu_type;
}

namespace {

// Lists the fits behind the calibrations used, by the text of their source up to the semicolon.
std::vector<FittedBefore> fitted_before(const std::vector<Subject>& subjects) {
  struct Fit {
    std::set<std::string> numbers, calibrations, rows;
  };
  std::map<std::string, Fit> fits;
  for (const Subject& subject : subjects) {
    if (!subject.failure.empty()) continue;
    const Calibration& calibration = subject.what.job.calibration;
    for (const FittedNumber& each : fitted_numbers(calibration)) {
      const std::string& source = each.number->source;
      Fit& fit = fits[source.substr(0, source.find(';'))];
      fit.numbers.insert(each.name);
      fit.calibrations.insert(calibration.name);
      if (is_among(each.number->fitted_on, *subject.table, subject.run->table_row)) {
        fit.rows.insert(subject.run->id);
      }
    }
    for (const SoftwareChoice* choice : subject.what.choices) {
      for (const auto* rows : {&choice->fitted_on, &choice->memory_fitted_on}) {
        if (rows->empty()) continue;
        Fit& fit = fits[choice->source.substr(0, choice->source.find(';'))];
        fit.numbers.insert(keys_of(*choice));
        if (is_among(*rows, *subject.table, subject.run->table_row)) {
          fit.rows.insert(subject.run->id);
        }
      }
    }
  }
  std::vector<FittedBefore> all;
  for (const auto& [source, fit] : fits) {
    all.push_back({source,
                   {fit.numbers.begin(), fit.numbers.end()},
                   {fit.calibrations.begin(), fit.calibrations.end()},
                   static_cast<int>(fit.rows.size())});
  }
  return all;
}

}  // namespace

ValidationReport validate_runs(const std::vector<TrainingRuns>& files,
                               const RunPredictor& predictor, const RunsOptions& options) {
  ValidationReport report;
  std::vector<Subject> subjects = subjects_of(files, options, report.skipped);
  for_each_subject(subjects, options, [&](Subject& subject) {
    const TrainingRun& run = *subject.run;
    if (!tells_step(run) && !run.memory_gib && !says_whether_it_fitted(run)) {
      throw Error("states neither a time nor memory nor whether it fitted");
    }
    subject.what = predictor.job_of(run);
    subject.step_s = measured_step_s(run, subject.what.job);
    if (!options.calibration) return;
    subject.what.job.calibration = *options.calibration;
    Job& job = subject.what.job;
    state_network_law(job.cluster.node, job.cluster.fabric.transport, job.calibration);
  });
  const auto predict_all = [&] {
    for_each_subject(subjects, options, [&](Subject& subject) {
      subject.predicted = predictor.predict(subject.what.job);
    });
  };
  report.fitted_before = fitted_before(subjects);
  const bool fits = options.one_point || options.fit_where || !options.calibrate_on.empty();
  if (fits) predict_all();  // rows that cannot be predicted cannot be fitted on
  if (options.one_point) {
    fit_one_point_each(subjects, predictor);
  } else if (fits) {
    fit_calibrations(subjects, predictor);
  }
  predict_all();
  std::vector<std::map<std::string, double>> baselines = baselines_of(subjects);
  for (size_t i = 0; i < subjects.size(); ++i) {
    if (subjects[i].failure.empty()) {
      add_rows(subjects[i], predictor, fits, std::move(baselines[i]), report);
    } else {
      report.skipped.push_back({subjects[i].run->id, subjects[i].failure});
    }
  }
  summarise_families(report, {});
  count_assumptions(subjects, report);
  report.measured = measured_of(subjects);
  report.pairs = judge_pairs(paired_runs(subjects));
  return report;
}

}  // namespace windtunnel
