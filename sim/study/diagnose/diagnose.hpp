// Diagnoses whether a run is as fast as its job should be, and if not, why. Compares the steps of a
// log with the job's simulated step, and simulates possible causes (scenarios/library/causes.yaml)
// to see how well each explains the log.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "models/results/iteration_report.hpp"
#include "scenarios/language/case.hpp"
#include "scenarios/language/library/facts/causes.hpp"
#include "sim/study/diagnose/log_shape.hpp"
#include "traces/logs/training_log.hpp"

namespace windtunnel {

struct Record;  // models/results/record.hpp

// Predictions of the quantities that logs contain.
struct PredictedLog {
  double step_s = 0;
  double stall_s = 0;  // additional time of a step with a snapshot; 0: no snapshots
  double allocated_bytes = 0, reserved_bytes = 0;
  // What the timers of a step say: forward, backward, gradients, optimizer, input.
  std::array<std::optional<LoggedValue>, kLogQuantities> parts;
};

// Predicts timers as Megatron logs them in the reported iteration: the smallest and largest time
// that a recorded rank spends in forward and in backward passes, including collectives inside them.
// The wait for gradients is taken from the critical path, because the last rank waits for no other.
PredictedLog predicted_log(const Record& record);

enum class Verdict {
  measured,  // no job was given, so nothing is expected
  healthy,   // the step is inside the 90 % interval, and nothing else is unusual
  unusual,   // the step is inside it, but step times change, or timers or memory are unusual
  slower,    // slower than the interval
  faster,
};

// A quantity that differs from that of the healthy job.
struct Unusual {
  std::string what;  // "peak memory"
  double measured = 0, expected = 0;
};

struct ExplainingCause {
  const Cause* cause = nullptr;
  double strength = 0;     // the strength that fits best; 0: the cause has no strength
  PredictedLog predicted;  // with that strength
  double chance = 0;       // probability of this cause, by prior and likelihood
  double gain = 0;         // share of the time that is saved if the cause is fixed
  Overrides set;           // overrides that simulate it
};

struct Diagnosis {
  LogShape shape;
  Verdict verdict = Verdict::measured;
  std::string job;       // name of the job; empty: none was given
  std::string software;  // of the job, as in software.yaml; may be empty
  PredictedLog expected;
  ErrorFactors interval;  // 90 % interval of the expected step
  double quantile = 0;    // share of healthy runs that are faster than this one
  std::vector<Unusual> unusual;
  std::vector<ExplainingCause> causes;  // most likely first
  double something_else = 0;            // probability that none of them is the cause
  int as_good = 0;                      // how many of the first causes the log cannot distinguish
  std::vector<std::pair<const Cause*, std::string>> not_tried;  // with the reason
};

// The reason that is given for a simulated cause without effect.
inline constexpr char kChangesNothing[] = "it changes nothing of this job";

// Two causes explain a log equally well if the less likely has at least this share of the other's
// chance.
inline constexpr double kAsGood = 0.5;

// `job` null: only describes the log. Throws Error as resolve_case() and shape_of() do.
Diagnosis diagnose(const TrainingLog& log, const ScenarioText* job,
                   const std::function<void(const std::string&)>& tell = {});

}  // namespace windtunnel
