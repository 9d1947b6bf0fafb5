#include "sim/study/notes/host_bound.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "models/base/units.hpp"

namespace windtunnel {
namespace {

constexpr double kNoteworthyShare = 0.1;

}  // namespace

std::vector<Note> host_bound_notes(const Job& job, const IterationReport& iteration) {
  if (job.software.cuda_graphs) return {};
  // What is waited for between steps is stated, and launches nothing.
  const double host_s = iteration.critical_path_s[static_cast<int>(Category::host)];
  const double share = std::max(0.0, host_s - job.software.host_step_s) / iteration.time_s;
  const double slower_s = iteration.time_s * std::exp(iteration.host_spread.longer);
  const bool waits = share >= kNoteworthyShare;
  if (!waits && slower_s < (1 + kNoteworthyShare) * iteration.time_s) return {};
  const double faster_s = iteration.time_s * std::exp(-iteration.host_spread.shorter);
  return {{"software.cuda_graphs",
           std::string(waits ? "GPUs wait for the host that launches their kernels"
                             : "GPUs would wait for the host that launches their kernels, were it "
                               "as slow as it may be") +
               ": each does too little work",
           fmt::format("{:.0f} % of the step; {} to {} a step by the ranges of host.launch "
                       "and host.kernel",
                       100 * share, format_seconds(faster_s), format_seconds(slower_s))}};
}

}  // namespace windtunnel
