#include "sim/study/diagnose/diagnose.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "models/base/quantile.hpp"
#include "models/results/step_range.hpp"
#include "scenarios/language/library/facts/training_software.hpp"
#include "sim/study/diagnose/measured_place.hpp"
#include "sim/study/simulate.hpp"

namespace windtunnel {
namespace {

// The model of an unknown cause: its prior is 1. It lengthens steps by a factor up to ten, uniform
// in the logarithm. Each timer is as likely as one that is two deviations off.
constexpr double kElsePrior = 1;
constexpr double kElseUpTo = 10;
constexpr double kElseOff = 2;
constexpr int kSimulated = 7;         // number of strengths of a cause that are simulated
constexpr int kRefined = 2;           // further ones, where the likelihood is largest
constexpr double kTooUnlikely = 7;    // below the largest log likelihood: others are left out
constexpr double kNever = -1e300;     // a log likelihood before anything is known
constexpr int kBetween = 24;          // interpolated points between two simulated strengths
constexpr double kNoEffect = 0.005;   // a smaller relative change of the step is no effect
constexpr double kRatioError = 0.03;  // error of the ratio of two steps of one run
constexpr double kMissed = -6;        // log likelihood of a pattern that the cause does not explain
// Timers are compared as shares of the step. The error of a share is a tenth of it, plus a floor
// for rounding and for the time between timers.
constexpr double kShareFloor = 0.02;
constexpr double kShareError = 0.1;
constexpr double kMostOff = 5;  // no larger deviation counts, so one timer cannot exclude a cause
constexpr double kUnusualOff = 3;
constexpr double kSnapshots = 50;  // length of a campaign, in periods of snapshots

constexpr LogQuantity kTimers[] = {LogQuantity::forward_s, LogQuantity::backward_s,
                                   LogQuantity::gradients_s, LogQuantity::optimizer_s,
                                   LogQuantity::input_s};

std::size_t index_of(LogQuantity quantity) {
  return static_cast<std::size_t>(quantity);
}

double log_normal_density(double off, double deviation) {
  const double scaled = off / deviation;
  return -0.5 * scaled * scaled - std::log(deviation * std::sqrt(2 * std::numbers::pi));
}

double tail_seconds(const LogShape& shape, const PredictedLog& healthy) {
  return kSnapshots * std::max(2.0, shape.longer.period) * healthy.step_s;
}

std::string filled_in(std::string text, double strength, const LogShape& shape,
                      const PredictedLog& healthy) {
  const std::pair<const char*, std::string> places[] = {
      {"{x}", fmt::format("{:.4g}", strength)},
      {"{rest}", fmt::format("{:.4g}", 1 - strength)},
      {"{period}", fmt::format("{}", std::max(2L, std::lround(shape.longer.period)))},
      {"{length}", fmt::format("{:.6g}", tail_seconds(shape, healthy))}};
  for (const auto& [place, value] : places) {
    for (std::size_t at = 0; (at = text.find(place, at)) != std::string::npos;) {
      text.replace(at, std::string_view(place).size(), value);
      at += value.size();
    }
  }
  return text;
}

// Drops the job's campaign, because it would only take time. A cause may add a campaign.
const Overrides kStepAlone = {{"campaign", "null"}, {"failures", "null"}, {"recovery", "null"}};

class Trials {
 public:
  Trials(const ScenarioText& job, const LogShape& shape) : job_(job), shape_(shape) {}

  Record record(const Overrides& set, StudyDepth depth = StudyDepth::step) const {
    Overrides all = kStepAlone;
    all.insert(all.end(), set.begin(), set.end());
    SimulateOptions options;
    options.allow_oom = true;
    options.others = OtherIterations::closed;
    options.depth = depth;
    return simulate(resolve_case(job_, all), options);
  }

  Overrides set_of(const Cause& cause, double strength, const PredictedLog& healthy) const {
    Overrides set = cause.set;
    for (auto& [key, value] : set) value = filled_in(value, strength, shape_, healthy);
    return set;
  }

  PredictedLog predicted(const Cause& cause, double strength, const PredictedLog& healthy) const {
    const bool saves = cause.makes(StepPattern::periodic);
    PredictedLog log = predicted_log(
        record(set_of(cause, strength, healthy), saves ? StudyDepth::campaign : StudyDepth::step));
    if (cause.shows_as_input) {
      const double added = std::max(0.0, log.step_s - healthy.step_s);
      log.parts[index_of(LogQuantity::input_s)] = {added, added};
    }
    return log;
  }

 private:
  const ScenarioText& job_;
  const LogShape& shape_;
};

double between(double a, double b, double share) {
  return a + (b - a) * share;
}

PredictedLog between(const PredictedLog& a, const PredictedLog& b, double share) {
  PredictedLog log = a;
  log.step_s = a.step_s * std::pow(b.step_s / a.step_s, share);
  log.stall_s = between(a.stall_s, b.stall_s, share);
  log.allocated_bytes = between(a.allocated_bytes, b.allocated_bytes, share);
  log.reserved_bytes = between(a.reserved_bytes, b.reserved_bytes, share);
  for (std::size_t i = 0; i < kLogQuantities; ++i) {
    if (!a.parts[i] || !b.parts[i]) continue;
    log.parts[i] = {between(a.parts[i]->low, b.parts[i]->low, share),
                    between(a.parts[i]->high, b.parts[i]->high, share)};
  }
  return log;
}

// Returns the difference between a measured and a predicted timer, both as shares of the step, in
// deviations.
double share_off(double measured, double predicted) {
  return (measured - predicted) / (kShareFloor + kShareError * std::max(measured, predicted));
}

struct TimerOff {
  LogQuantity quantity;
  bool largest;
  double off;  // in deviations
};

std::vector<TimerOff> timers_off(const LogShape& shape, const PredictedLog& predicted) {
  std::vector<TimerOff> all;
  const double step_s = shape.level_s();
  for (const LogQuantity each : kTimers) {
    const auto& measured = shape.parts[index_of(each)];
    const auto& expected = predicted.parts[index_of(each)];
    if (!measured || !expected) continue;
    const auto add = [&](bool largest, double a, double b) {
      all.push_back({each, largest, share_off(a / step_s, b / predicted.step_s)});
    };
    // Some logs have only the largest time over ranks (low == high). The wait for gradients is
    // judged by the smallest time, because the rank that waits least waits for no other rank.
    const bool both = measured->low != measured->high;
    if (each == LogQuantity::gradients_s) {
      if (both) add(false, measured->low, expected->low);
      continue;
    }
    add(true, measured->high, expected->high);
    if (both && each != LogQuantity::input_s) add(false, measured->low, expected->low);
  }
  return all;
}

class Ranking {
 public:
  Ranking(const LogShape& shape, const Record& healthy)
      : shape_(shape),
        healthy_(predicted_log(healthy)),
        step_(healthy.iteration.error,
              healthy.iteration.familiarity.not_contained(healthy.iteration.host_spread)),
        memory_(healthy.job.calibration.memory_error, {}) {}

  const PredictedLog& healthy() const { return healthy_; }
  double quantile() const { return step_.below(shape_.level_s() / healthy_.step_s); }
  double memory_below(const PredictedLog& log) const {
    const auto [measured, predicted] = memory(log);
    return measured > 0 ? memory_.below(measured / predicted) : 0.5;
  }
  // Returns measured and predicted bytes; 0: the log has none.
  std::pair<double, double> memory(const PredictedLog& log) const {
    if (shape_.allocated_bytes > 0) return {shape_.allocated_bytes, log.allocated_bytes};
    return {shape_.reserved_bytes, log.reserved_bytes};
  }

  // Returns the ratio of a run's mean step, which a few long steps raise, to the healthy step.
  double mean_ratio(const PredictedLog& log) const {
    const double saving = log.stall_s / (std::max(1.0, shape_.longer.period) * healthy_.step_s);
    return log.step_s / healthy_.step_s + saving;
  }

  double log_likelihood(const Cause& cause, const PredictedLog& log) const {
    double sum = time_likelihood(cause, log);
    for (const StepPattern seen : shape_.patterns) {
      if (!cause.makes(seen)) sum += kMissed;
    }
    const auto [measured, predicted] = memory(log);
    if (measured > 0 && predicted > 0) sum += memory_.log_density(measured / predicted);
    for (const TimerOff& timer : timers_off(shape_, log)) {
      const double off = std::min(std::abs(timer.off), kMostOff);
      sum -= 0.5 * off * off;
    }
    return sum;
  }

  // Returns the likelihood of the log under an unknown cause.
  double else_likelihood() const {
    const double timers = static_cast<double>(timers_off(shape_, healthy_).size());
    double sum = else_time_likelihood() - 0.5 * kElseOff * kElseOff * timers;
    const auto [measured, predicted] = memory(healthy_);
    if (measured > 0 && predicted > 0) {
      // An unknown cause changes the memory with probability one half.
      const double ratio = measured / predicted;
      sum += std::log(0.5 * std::exp(memory_.log_density(ratio)) + 0.5 / std::log(kElseUpTo));
    }
    return sum;
  }

 private:
  double else_time_likelihood() const {
    const bool few = shape_.shows(StepPattern::periodic) || shape_.shows(StepPattern::bursts);
    if (shape_.change || few) {
      const double calm_s = shape_.change ? shape_.calm_s() : shape_.median_s;
      return step_.log_density(calm_s / healthy_.step_s) - std::log(std::log(kElseUpTo));
    }
    // The factor is uniform in its logarithm, and the error of the models multiplies it.
    const double ratio = shape_.level_s() / healthy_.step_s;
    const double share = step_.below(ratio) - step_.below(ratio / kElseUpTo);
    return std::log(std::max(share, 1e-300) / std::log(kElseUpTo));
  }

  // A run shows its healthy step time before a change, or between long steps. This time has the
  // error of the models. The ratio of other steps to it does not.
  double time_likelihood(const Cause& cause, const PredictedLog& log) const {
    const double deviation = std::hypot(kRatioError, shape_.spread / 4);
    if (shape_.change && cause.makes(*shape_.change)) {
      const double ratio = shape_.level_s() / shape_.calm_s();
      return step_.log_density(shape_.calm_s() / healthy_.step_s) +
             log_normal_density(std::log(ratio / (log.step_s / healthy_.step_s)), deviation);
    }
    for (const StepPattern few : {StepPattern::periodic, StepPattern::bursts}) {
      if (!shape_.shows(few) || !cause.makes(few)) continue;
      const double ratio = shape_.mean_s / shape_.median_s;
      return step_.log_density(shape_.median_s / healthy_.step_s) +
             log_normal_density(std::log(ratio / mean_ratio(log)), deviation);
    }
    const bool mean = shape_.shows(StepPattern::jitter) && cause.makes(StepPattern::jitter);
    return step_.log_density((mean ? shape_.mean_s : shape_.level_s()) / log.step_s);
  }

  const LogShape& shape_;
  PredictedLog healthy_;
  MeasuredPlace step_;
  MeasuredPlace memory_;
};

bool has_effect(const PredictedLog& log, const Ranking& ranking) {
  const PredictedLog& healthy = ranking.healthy();
  return ranking.mean_ratio(log) > 1 + kNoEffect ||
         std::abs(log.allocated_bytes / healthy.allocated_bytes - 1) > 0.02;
}

// A strength of a cause and its simulation. `log` is empty if the simulation was refused or the
// strength changes nothing.
struct TriedStrength {
  double strength;
  std::optional<PredictedLog> log;
};

// The strengths of one cause, weakest first.
struct Tried {
  std::vector<TriedStrength> all;
  std::string why_not;  // reason of the last refusal

  bool has_logs() const {
    return std::ranges::any_of(all, [](const TriedStrength& each) { return each.log.has_value(); });
  }
  // Returns the entry of exactly this strength, or all.end().
  std::vector<TriedStrength>::const_iterator find(double strength) const {
    return std::ranges::find(all, strength, &TriedStrength::strength);
  }
};

// Simulates a strength and inserts it in order; after a refusal the entry has no log. Returns the
// log likelihood (if the strength changes nothing, that of the healthy job), or nothing after a
// refusal.
std::optional<double> try_strength(const Cause& cause, double strength, const Trials& trials,
                                   const Ranking& ranking, Tried& tried) {
  TriedStrength at{strength, {}};
  std::optional<double> likelihood;
  try {
    const PredictedLog log = trials.predicted(cause, strength, ranking.healthy());
    if (has_effect(log, ranking)) {
      at.log = log;
    } else if (tried.why_not.empty()) {
      tried.why_not = kChangesNothing;
    }
    likelihood = ranking.log_likelihood(cause, at.log ? log : ranking.healthy());
  } catch (const Error& error) {
    tried.why_not = error.text();
  }
  tried.all.insert(std::ranges::lower_bound(tried.all, strength, {}, &TriedStrength::strength),
                   std::move(at));
  return likelihood;
}

// Tries strengths from the middle to both ends. What a cause changes grows with its strength, so
// the likelihood usually has one peak. Once it falls and a strength is too unlikely, the strengths
// beyond are left out.
Tried try_strengths(const Cause& cause, const Trials& trials, const Ranking& ranking) {
  Tried tried;
  if (!cause.strength) {
    try_strength(cause, 0, trials, ranking, tried);
    return tried;
  }
  const auto likelihood = [&](int i) {
    const double share = static_cast<double>(i) / (kSimulated - 1);
    const double ratio = cause.strength->to / cause.strength->from;
    return try_strength(cause, cause.strength->from * std::pow(ratio, share), trials, ranking,
                        tried);
  };
  constexpr int kMiddle = kSimulated / 2;
  const std::optional<double> middle = likelihood(kMiddle);
  double most = middle.value_or(kNever);
  const auto walk = [&](int by) {
    std::optional<double> last = middle;
    for (int i = kMiddle + by; i >= 0 && i < kSimulated; i += by) {
      const std::optional<double> here = likelihood(i);
      most = std::max(most, here.value_or(kNever));
      if (here && last && *here < *last && *here < most - kTooUnlikely) return;
      last = here;
    }
  };
  walk(-1);
  if (!middle || *middle >= most - kTooUnlikely) walk(1);
  return tried;
}

struct Best {
  double log_likelihood = kNever;  // mean over strengths, equal weights on a logarithmic scale
  double strength = 0;
};

// Interpolates the likelihood between simulated strengths, but not across one without a log. A
// strength without simulated neighbours has the weight of one interval of the initial grid.
Best best_of(const Cause& cause, const Tried& tried, const Ranking& ranking) {
  const auto likelihood = [&](const PredictedLog& log) {
    return ranking.log_likelihood(cause, log);
  };
  if (!cause.strength) return {likelihood(*tried.all.front().log), tried.all.front().strength};
  const double whole = std::log(cause.strength->to / cause.strength->from);
  std::vector<std::pair<double, double>> values;  // {value, width that it stands for}
  Best best;
  double most = kNever;
  const auto add = [&](double value, double width, double strength) {
    values.emplace_back(value, width);
    if (value <= most) return;
    most = value;
    best.strength = strength;
  };
  for (std::size_t i = 0; i < tried.all.size(); ++i) {
    const TriedStrength& at = tried.all[i];
    if (!at.log) continue;
    if (i + 1 == tried.all.size() || !tried.all[i + 1].log) {
      const bool alone = i == 0 || !tried.all[i - 1].log;
      if (alone) add(likelihood(*at.log), whole / (kSimulated - 1), at.strength);
      continue;
    }
    const double width = std::log(tried.all[i + 1].strength / at.strength);
    for (int j = 0; j < kBetween; ++j) {
      const double share = static_cast<double>(j) / kBetween;
      add(likelihood(between(*at.log, *tried.all[i + 1].log, share)), width / kBetween,
          j == 0 ? at.strength : at.strength * std::exp(width * share));
    }
  }
  // A cause does not become more likely because it has an effect at only some of its strengths.
  double sum = 0;
  for (const auto& [value, width] : values) sum += std::exp(value - most) * width / whole;
  best.log_likelihood = most + std::log(sum);
  return best;
}

// Simulates the best strength between those tried, and evaluates again. Returns a strength that was
// simulated: if the last one is refused, the most likely of the others.
Best refined(const Cause& cause, const Trials& trials, const Ranking& ranking, Tried& tried) {
  Best best = best_of(cause, tried, ranking);
  for (int i = 0; i <= kRefined; ++i) {
    if (tried.find(best.strength) != tried.all.end()) break;
    try_strength(cause, best.strength, trials, ranking, tried);
    if (i < kRefined) best = best_of(cause, tried, ranking);
  }
  if (tried.find(best.strength)->log) return best;
  double most = kNever;
  for (const TriedStrength& each : tried.all) {
    if (!each.log) continue;
    const double value = ranking.log_likelihood(cause, *each.log);
    if (value <= most) continue;
    most = value;
    best.strength = each.strength;
  }
  return best;
}

bool comes_into_question(const Cause& cause, const LogShape& shape, bool level_is_off) {
  const bool seen =
      std::ranges::any_of(shape.patterns, [&](StepPattern each) { return cause.makes(each); });
  return seen || (level_is_off && cause.makes(StepPattern::steady));
}

double gain_of(const Cause& cause, const LogShape& shape, const PredictedLog& log,
               const Ranking& ranking) {
  const bool few = (shape.shows(StepPattern::periodic) && cause.makes(StepPattern::periodic)) ||
                   (shape.shows(StepPattern::bursts) && cause.makes(StepPattern::bursts));
  const double ratio = few ? ranking.mean_ratio(log) : log.step_s / ranking.healthy().step_s;
  return std::max(0.0, 1 - 1 / ratio);
}

void rank_causes(const Trials& trials, const Ranking& ranking, bool level_is_off,
                 const std::function<void(const std::string&)>& tell, Diagnosis& diagnosis) {
  std::vector<double> weights;
  for (const Cause& cause : causes()) {
    if (!comes_into_question(cause, diagnosis.shape, level_is_off)) continue;
    if (tell) tell("simulating " + cause.name);
    Tried tried = try_strengths(cause, trials, ranking);
    if (!tried.has_logs()) {
      diagnosis.not_tried.emplace_back(&cause, tried.why_not);
      continue;
    }
    const Best best = refined(cause, trials, ranking, tried);
    ExplainingCause found;
    found.cause = &cause;
    found.strength = best.strength;
    found.predicted = *tried.find(best.strength)->log;
    found.set = trials.set_of(cause, best.strength, ranking.healthy());
    found.gain = gain_of(cause, diagnosis.shape, found.predicted, ranking);
    found.chance = std::log(cause.prior) + best.log_likelihood;
    weights.push_back(found.chance);
    diagnosis.causes.push_back(std::move(found));
  }
  if (weights.empty()) {
    diagnosis.something_else = 1;
    return;
  }
  weights.push_back(std::log(kElsePrior) + ranking.else_likelihood());
  const double most = *std::ranges::max_element(weights);
  double sum = 0;
  for (const double weight : weights) sum += std::exp(weight - most);
  for (ExplainingCause& each : diagnosis.causes) each.chance = std::exp(each.chance - most) / sum;
  diagnosis.something_else = std::exp(weights.back() - most) / sum;
  std::ranges::stable_sort(diagnosis.causes, std::ranges::greater(), &ExplainingCause::chance);
  const double first = diagnosis.causes.front().chance;
  diagnosis.as_good =
      static_cast<int>(std::ranges::count_if(diagnosis.causes, [&](const ExplainingCause& each) {
        return each.chance >= kAsGood * first;
      }));
}

const char* timer_name(LogQuantity quantity) {
  switch (quantity) {
    case LogQuantity::forward_s:
      return "forward";
    case LogQuantity::backward_s:
      return "backward";
    case LogQuantity::gradients_s:
      return "waiting for gradients";
    case LogQuantity::optimizer_s:
      return "optimizer";
    default:
      return "waiting for samples";
  }
}

std::vector<Unusual> unusual_of(const LogShape& shape, const Ranking& ranking) {
  std::vector<Unusual> all;
  const PredictedLog& healthy = ranking.healthy();
  const double below = ranking.memory_below(healthy);
  if (below < 0.05 || below > 0.95) {
    const auto [measured, predicted] = ranking.memory(healthy);
    all.push_back({"peak memory", measured, predicted});
  }
  for (const TimerOff& timer : timers_off(shape, healthy)) {
    if (std::abs(timer.off) < kUnusualOff) continue;
    const LoggedValue& measured = *shape.parts[index_of(timer.quantity)];
    const LoggedValue& expected = *healthy.parts[index_of(timer.quantity)];
    all.push_back({fmt::format("{}{}", timer_name(timer.quantity),
                               measured.low == measured.high ? ""
                               : timer.largest               ? ", longest rank"
                                                             : ", shortest rank"),
                   timer.largest ? measured.high : measured.low,
                   timer.largest ? expected.high : expected.low});
  }
  return all;
}

Verdict verdict_of(const Diagnosis& diagnosis) {
  if (diagnosis.quantile > 0.95) return Verdict::slower;
  if (diagnosis.quantile < 0.05) return Verdict::faster;
  const bool calm = diagnosis.shape.patterns.empty() && diagnosis.unusual.empty();
  return calm ? Verdict::healthy : Verdict::unusual;
}

}  // namespace

Diagnosis diagnose(const TrainingLog& log, const ScenarioText* job,
                   const std::function<void(const std::string&)>& tell) {
  Diagnosis diagnosis;
  if (job == nullptr) {
    diagnosis.shape = shape_of(log, {});
    return diagnosis;
  }
  if (tell) tell("simulating the job");
  const Trials trials(*job, diagnosis.shape);
  const Record healthy = trials.record({});
  diagnosis.shape = shape_of(log, amounts_of(healthy.job));
  const Ranking ranking(diagnosis.shape, healthy);
  diagnosis.job = healthy.scenario;
  if (const Framework* software = software_of(resolve_case(*job, kStepAlone))) {
    diagnosis.software = software->name;
  }
  diagnosis.expected = ranking.healthy();
  diagnosis.interval = step_factors(healthy.iteration, 0.9);
  diagnosis.quantile = ranking.quantile();
  diagnosis.unusual = unusual_of(diagnosis.shape, ranking);
  diagnosis.verdict = verdict_of(diagnosis);
  if (diagnosis.verdict == Verdict::healthy) return diagnosis;
  const bool level_is_off = diagnosis.verdict == Verdict::slower ||
                            (diagnosis.verdict == Verdict::unusual && !diagnosis.unusual.empty());
  rank_causes(trials, ranking, level_is_off, tell, diagnosis);
  return diagnosis;
}

}  // namespace windtunnel
