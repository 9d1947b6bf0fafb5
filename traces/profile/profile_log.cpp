#include "traces/profile/profile_log.hpp"

#include "traces/profile/captured_steps.hpp"
#include "traces/profile/profile_reader.hpp"

namespace windtunnel {

TrainingLog profile_log(const std::string& path) {
  const CapturedRank captured = captured_steps(read_profile(path));
  if (!captured.annotated && captured.steps.size() < 2) {
    throw Error(Location{path},
                "marks no steps, and no optimizer's kernels stand between two of them: call step() "
                "of the profiler after each step");
  }
  TrainingLog log;
  log.file = path;
  log.software = {"a profiler"};
  for (const CapturedStep& captured_step : captured.steps) {
    LoggedStep step;
    step.iteration = static_cast<int>(log.steps.size()) + 1;
    const double seconds = captured_step.seconds();
    step.values[static_cast<std::size_t>(LogQuantity::step_s)] = {seconds, seconds};
    log.steps.push_back(step);
  }
  return log;
}

}  // namespace windtunnel
