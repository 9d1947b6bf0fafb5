#include "models/results/company_report.hpp"

#include <algorithm>
#include <limits>

#include "models/base/error.hpp"

namespace windtunnel {

CommonWindow common_window(const StepEnds& ends) {
  CommonWindow window{0, std::numeric_limits<double>::infinity()};
  for (const std::vector<double>& of_job : ends) {
    CHECK(!of_job.empty(), "a job without steps");
    window.begin_s = std::max(window.begin_s, of_job.front());
    window.end_s = std::min(window.end_s, of_job.back());
  }
  return window;
}

StepsInWindow steps_in(const CommonWindow& window, const std::vector<double>& ends) {
  const auto first = std::ranges::lower_bound(ends, window.begin_s);
  const auto behind = std::ranges::upper_bound(ends, window.end_s);
  if (behind - first < 2) return {};
  const auto steps = static_cast<int>(behind - first) - 1;
  return {steps, (*(behind - 1) - *first) / steps};
}

}  // namespace windtunnel
