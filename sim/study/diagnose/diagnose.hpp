// Is this run as fast as its job should be, and if not, why: the steps of a log beside the job's
// simulated step, and causes (scenarios/library/causes.yaml), each simulated, by how well it
// explains what was measured.
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

// What a job's simulation says of the quantities that logs have.
struct PredictedLog {
  double step_s = 0;
  double stall_s = 0;  // that a step with a snapshot takes longer; 0: it takes none
  double allocated_bytes = 0, reserved_bytes = 0;
  // What timers of a step say: of forward, backward, gradients, optimizer, input.
  std::array<std::optional<LoggedValue>, kLogQuantities> parts;
};

// Timers are as Megatron would log them in the reported iteration: the least and the largest time
// that a recorded rank spends in forward and in backward passes, with the collectives inside of
// them. The wait for gradients is taken from the critical path, because the rank that comes last
// waits for no other.
PredictedLog predicted_log(const Record& record);

enum class Verdict {
  measured,  // no job was named: nothing is expected
  healthy,   // the step is inside of the 90 % interval, and nothing else is unusual
  unusual,   // the step is inside, but its steps change, or timers or memory are not as expected
  slower,    // than the interval
  faster,
};

// A quantity that is not as the healthy job has it.
struct Unusual {
  std::string what;  // "peak memory"
  double measured = 0, expected = 0;
};

struct ExplainingCause {
  const Cause* cause = nullptr;
  double strength = 0;     // that explains best; 0: it has none
  PredictedLog predicted;  // with it
  double chance = 0;       // of this cause, by prior and likelihood
  double gain = 0;         // share of the time that is saved where it is mended
  Overrides set;           // that simulates it
};

struct Diagnosis {
  LogShape shape;
  Verdict verdict = Verdict::measured;
  std::string job;       // its name; empty: none was named
  std::string software;  // of the job, as software.yaml has it; may be empty
  PredictedLog expected;
  ErrorFactors interval;  // 90 %, of the expected step
  double quantile = 0;    // share of healthy runs that are faster than this one
  std::vector<Unusual> unusual;
  std::vector<ExplainingCause> causes;  // the likeliest first
  double something_else = 0;            // the chance that none of them is the cause
  int as_good = 0;                      // of the first, that the log does not tell apart
  std::vector<std::pair<const Cause*, std::string>> not_tried;  // with the reason
};

// Why a cause was not tried that was simulated.
inline constexpr char kChangesNothing[] = "it changes nothing of this job";

// Two causes explain a log equally well whose chances differ by less:
inline constexpr double kAsGood = 0.5;  // of the likelier one's chance

// `job` null: what was measured alone. Throws Error as resolve_case() and shape_of() do.
Diagnosis diagnose(const TrainingLog& log, const ScenarioText* job,
                   const std::function<void(const std::string&)>& tell = {});

}  // namespace windtunnel
