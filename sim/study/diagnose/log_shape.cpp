#include "sim/study/diagnose/log_shape.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include "models/base/error.hpp"
#include "models/base/quantile.hpp"
#include "models/cost/chunk/step_work.hpp"

namespace windtunnel {
namespace {

constexpr int kWarmUp = 5;
constexpr double kLong = 1.15;        // a long step takes at least this times the level around it,
constexpr double kLongSpreads = 6;    // and is this many deviations above it
constexpr double kChange = 0.05;      // smallest relative change of the level that is reported,
constexpr double kChangeSpreads = 4;  // and smallest in deviations of the two means
constexpr double kJitter = 0.03;      // smallest log standard deviation that is reported
constexpr int kFewest = 20;           // a change is looked for in at least this many steps
constexpr double kRegular = 0.12;     // tolerance of their distance, as a share of the period
constexpr double kBursts = 0.01;      // smallest share of long steps that is reported

struct PacedStep {
  int iteration;
  double seconds;
};

double seconds_of(const LoggedStep& step, LogQuantity from, const StepAmounts& amounts) {
  const double value = step.of(from)->high;
  switch (from) {
    case LogQuantity::step_s:
      return value;
    case LogQuantity::steps_per_s:
      return 1 / value;
    case LogQuantity::tokens_per_s:
      return amounts.tokens / value;
    case LogQuantity::tokens_per_s_per_gpu:
      return amounts.tokens / amounts.gpus / value;
    case LogQuantity::samples_per_s:
      return amounts.samples / value;
    case LogQuantity::tflops_per_gpu:
      return amounts.flops_per_gpu / 1e12 / value;
    default:
      throw InternalError("a quantity that does not give the pace");
  }
}

bool is_known(LogQuantity from, const StepAmounts& amounts) {
  switch (from) {
    case LogQuantity::tokens_per_s:
      return amounts.tokens > 0;
    case LogQuantity::tokens_per_s_per_gpu:
      return amounts.tokens > 0 && amounts.gpus > 0;
    case LogQuantity::samples_per_s:
      return amounts.samples > 0;
    case LogQuantity::tflops_per_gpu:
      return amounts.flops_per_gpu > 0;
    default:
      return true;
  }
}

// Returns the most reliable quantity with a time that at least half of the steps have.
LogQuantity best_quantity(const TrainingLog& log, const StepAmounts& amounts) {
  using enum LogQuantity;
  bool rate = false;
  for (const LogQuantity each : {step_s, steps_per_s, tokens_per_s, tokens_per_s_per_gpu,
                                 samples_per_s, tflops_per_gpu, wall_s}) {
    const auto count = std::ranges::count_if(
        log.steps, [&](const LoggedStep& step) { return step.of(each).has_value(); });
    if (count * 2 < std::ssize(log.steps)) continue;
    if (is_known(each, amounts)) return each;
    rate = true;
  }
  throw Error(Location{log.file}, rate ? "it states work per second, not the time of a step; name "
                                         "the job after the log, so that the time of a step follows"
                                       : "no quantity is in at least half of its lines");
}

// Makes steps of the differences between times of a clock.
std::vector<LoggedStep> by_clock(const TrainingLog& log) {
  std::vector<LoggedStep> steps;
  const LoggedStep* last = nullptr;
  for (const LoggedStep& step : log.steps) {
    if (!step.of(LogQuantity::wall_s)) continue;
    if (last != nullptr) {
      const double passed =
          step.of(LogQuantity::wall_s)->high - last->of(LogQuantity::wall_s)->high;
      const int over = step.iteration > last->iteration ? step.iteration - last->iteration : 1;
      if (passed > 0) {
        steps.push_back(step);
        steps.back().values[static_cast<std::size_t>(LogQuantity::step_s)] = {passed / over,
                                                                              passed / over};
      }
    }
    last = &step;
  }
  return steps;
}

// Returns the steps that count, in order. Records restarts, gaps and steps that are left out.
std::vector<PacedStep> samples_of(const TrainingLog& log, const StepAmounts& amounts,
                                  LogShape& shape) {
  std::vector<LoggedStep> steps = log.steps;
  if (shape.from == LogQuantity::wall_s) {
    steps = by_clock(log);
    shape.from = LogQuantity::step_s;
  }
  std::erase_if(steps, [&](const LoggedStep& step) { return !step.of(shape.from); });
  std::vector<double> jumps;
  for (std::size_t i = 1; i < steps.size(); ++i) {
    const int jump = steps[i].iteration - steps[i - 1].iteration;
    if (steps[i].iteration >= 0 && jump > 0) jumps.push_back(jump);
  }
  shape.every = jumps.empty() ? 1 : static_cast<int>(std::lround(median(jumps)));
  const int few = static_cast<int>((steps.size() + 9) / 10);
  const int warm_up = shape.every > 1 ? 1 : std::clamp(few, 1, kWarmUp);
  std::vector<PacedStep> samples;
  int warm = steps.size() > 1 ? warm_up : 0;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (i > 0 && steps[i].iteration >= 0) {
      const int jump = steps[i].iteration - steps[i - 1].iteration;
      if (jump < 0) {
        ++shape.restarts;
        warm = warm_up;
      } else if (jump > shape.every) {
        shape.missing += jump - shape.every;
      }
    }
    if (warm > 0) {
      --warm;
      ++shape.left_out;
      continue;
    }
    samples.push_back({steps[i].iteration, seconds_of(steps[i], shape.from, amounts)});
  }
  if (steps.size() == 1 && (steps.front().iteration == 0 || steps.front().iteration == 1)) {
    throw Error(Location{log.file, steps.front().line, 1},
                "it contains only the first step, which takes longer than later ones");
  }
  if (samples.empty()) {
    throw Error(Location{log.file},
                steps.empty()
                    ? "its clock does not advance from line to line"
                    : fmt::format("has only {} steps, and the first steps of a run are ignored",
                                  steps.size()));
  }
  return samples;
}

std::vector<double> seconds_in(const std::vector<PacedStep>& samples) {
  std::vector<double> seconds;
  for (const PacedStep& sample : samples) seconds.push_back(sample.seconds);
  return seconds;
}

double log_spread(std::span<const double> logs) {
  std::vector<double> away(logs.begin(), logs.end());
  const double middle = median(away);
  for (double& each : away) each = std::abs(each - middle);
  return normal_spread(away);
}

// Differences between neighbours measure the noise, even if something changes slowly.
double noise_of(const std::vector<double>& seconds) {
  std::vector<double> apart;
  for (std::size_t i = 1; i < seconds.size(); ++i) {
    apart.push_back(std::abs(std::log(seconds[i] / seconds[i - 1])) / std::sqrt(2.0));
  }
  return apart.empty() ? 0 : normal_spread(apart);
}

// A fit by a mean or by a line, with the sum of squares about it.
struct Fit {
  double squares = 0;
  double at_begin = 0, at_end = 0;
};

Fit about_mean(std::span<const double> values) {
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / values.size();
  Fit fit{0, mean, mean};
  for (const double value : values) fit.squares += (value - mean) * (value - mean);
  return fit;
}

Fit about_line(std::span<const double> values) {
  const double n = static_cast<double>(values.size());
  const double middle = (n - 1) / 2;
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  double cross = 0;
  double square = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double x = static_cast<double>(i) - middle;
    cross += x * (values[i] - mean);
    square += x * x;
  }
  const double slope = square > 0 ? cross / square : 0;
  Fit fit{0, mean - slope * middle, mean + slope * middle};
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double off = values[i] - mean - slope * (static_cast<double>(i) - middle);
    fit.squares += off * off;
  }
  return fit;
}

// Returns the split into two levels with the smallest residual, from prefix sums.
std::size_t best_split(std::span<const double> values, std::size_t fewest, Fit& left, Fit& right) {
  double all = 0;
  for (const double value : values) all += value;
  std::size_t best = 0;
  double most = -1;
  double before = 0;
  for (std::size_t k = 1; k < values.size(); ++k) {
    before += values[k - 1];
    if (k < fewest || values.size() - k < fewest) continue;
    const double a = before / static_cast<double>(k);
    const double b = (all - before) / static_cast<double>(values.size() - k);
    const double share = static_cast<double>(k) * static_cast<double>(values.size() - k);
    if (const double between = share * (a - b) * (a - b); between > most) {
      most = between;
      best = k;
    }
  }
  if (best > 0) {
    left = about_mean(values.first(best));
    right = about_mean(values.subspan(best));
  }
  return best;
}

void find_change(const std::vector<PacedStep>& calm, LogShape& shape) {
  if (std::ssize(calm) < kFewest) return;
  std::vector<double> logs;
  for (const PacedStep& sample : calm) logs.push_back(std::log(sample.seconds));
  const double told = std::max(
      kChange, kChangeSpreads * shape.spread / std::sqrt(static_cast<double>(logs.size()) / 4));
  const Fit whole = about_mean(logs);
  const Fit line = about_line(logs);
  Fit left;
  Fit right;
  const std::size_t fewest = std::max<std::size_t>(5, logs.size() / 20);
  const std::size_t split = best_split(logs, fewest, left, right);
  const double stepped = split > 0 ? left.squares + right.squares : whole.squares;
  const double drift = std::abs(line.at_end - line.at_begin);
  const double jump = std::abs(right.at_begin - left.at_begin);
  if (split > 0 && jump > told && stepped < 0.6 * whole.squares && stepped <= line.squares) {
    shape.change = StepPattern::phase;
    shape.before_s = std::exp(left.at_begin);
    shape.after_s = std::exp(right.at_begin);
    shape.change_iteration = calm[split].iteration;
  } else if (drift > told && line.squares < 0.6 * whole.squares) {
    shape.change = StepPattern::trend;
    shape.before_s = std::exp(line.at_begin);
    shape.after_s = std::exp(line.at_end);
  }
}

// Describes the long steps among the samples; `at`: their positions.
LongSteps long_steps(const std::vector<std::size_t>& at, const std::vector<PacedStep>& samples,
                     double usual_s) {
  LongSteps longer{.count = static_cast<int>(at.size())};
  if (at.empty()) return longer;
  std::vector<double> extra;
  for (const std::size_t i : at) extra.push_back(samples[i].seconds - usual_s);
  longer.extra_s = median(extra);
  if (at.size() < 3) return longer;
  std::vector<double> gaps;
  for (std::size_t i = 1; i < at.size(); ++i)
    gaps.push_back(static_cast<double>(at[i] - at[i - 1]));
  const double period = median(gaps);
  if (period < 2) return longer;
  const bool regular = std::ranges::all_of(gaps, [&](double gap) {
    const double times = std::max(1.0, std::round(gap / period));
    return std::abs(gap - times * period) <= std::max(kRegular * period, 0.5);
  });
  if (regular) longer.period = period;
  return longer;
}

void note_parts(const TrainingLog& log, LogShape& shape) {
  for (std::size_t i = 0; i < kLogQuantities; ++i) {
    std::vector<double> low;
    std::vector<double> high;
    for (const LoggedStep& step : log.steps) {
      if (!step.values[i]) continue;
      low.push_back(step.values[i]->low);
      high.push_back(step.values[i]->high);
    }
    if (!low.empty()) shape.parts[i] = {median(low), median(high)};
    const double most = high.empty() ? 0 : *std::ranges::max_element(high);
    if (i == static_cast<std::size_t>(LogQuantity::allocated_bytes)) shape.allocated_bytes = most;
    if (i == static_cast<std::size_t>(LogQuantity::reserved_bytes)) shape.reserved_bytes = most;
  }
}

}  // namespace

bool LogShape::shows(StepPattern pattern) const {
  return std::ranges::find(patterns, pattern) != patterns.end();
}

double LogShape::level_s() const {
  return change ? std::max(before_s, after_s) : median_s;
}

double LogShape::calm_s() const {
  return change ? std::min(before_s, after_s) : median_s;
}

StepAmounts amounts_of(const Job& job) {
  const double gpus = job.layout.ranks();
  return {.tokens = tokens_per_step(job),
          .samples = static_cast<double>(job.batch.global),
          .gpus = gpus,
          .flops_per_gpu = flops_per_step(job) / gpus};
}

LogShape shape_of(const TrainingLog& log, const StepAmounts& amounts) {
  LogShape shape;
  shape.from = best_quantity(log, amounts);
  const std::vector<PacedStep> samples = samples_of(log, amounts, shape);
  const std::vector<double> seconds = seconds_in(samples);
  shape.steps = static_cast<int>(samples.size());
  shape.median_s = median(seconds);
  shape.mean_s = std::accumulate(seconds.begin(), seconds.end(), 0.0) / shape.steps;
  shape.fast_s = quantile(seconds, 0.05);
  shape.slow_s = quantile(seconds, 0.95);
  shape.spread = noise_of(seconds);
  note_parts(log, shape);

  // A step is long compared with the level around it, which may change during the run.
  const auto split = [&](double before, double after, int from) {
    std::vector<std::size_t> at;
    std::vector<PacedStep> calm;
    for (std::size_t i = 0; i < samples.size(); ++i) {
      const double share = static_cast<double>(i) / static_cast<double>(samples.size());
      double level = from >= 0 && samples[i].iteration >= from ? after : before;
      if (from < 0) level = before + (after - before) * share;
      const bool is_long =
          seconds[i] > level * std::max(kLong, std::exp(kLongSpreads * shape.spread));
      if (is_long)
        at.push_back(i);
      else
        calm.push_back(samples[i]);
    }
    return std::pair(at, calm);
  };
  auto [at, calm] = split(shape.median_s, shape.median_s, -1);
  find_change(at.size() * 3 < samples.size() ? calm : samples, shape);
  if (!shape.change && std::ssize(samples) >= kFewest) find_change(samples, shape);
  if (shape.change) {
    std::tie(at, calm) = split(shape.before_s, shape.after_s, shape.change_iteration);
    shape.patterns.push_back(*shape.change);
  }
  shape.longer = long_steps(at, samples, shape.median_s);
  std::vector<double> logs;
  for (const PacedStep& sample : calm) logs.push_back(std::log(sample.seconds));
  if (!logs.empty() && !shape.change) shape.spread = std::max(shape.spread, log_spread(logs));
  if (shape.longer.period > 0) {
    shape.patterns.push_back(StepPattern::periodic);
  } else if (shape.longer.count >= 3 && shape.longer.count > kBursts * shape.steps) {
    shape.patterns.push_back(StepPattern::bursts);
  }
  if (shape.spread > kJitter && shape.steps >= kFewest) {
    shape.patterns.push_back(StepPattern::jitter);
  }
  return shape;
}

}  // namespace windtunnel
