#include "validate/harness/execute/plan_kernels.hpp"

#include <unistd.h>

#include <algorithm>

#include "models/base/error.hpp"
#include "models/base/quantile.hpp"
#include "validate/harness/execute/forked_run.hpp"
#include "validate/harness/execute/run_clock.hpp"
#include "validate/harness/ranks/group_devices.hpp"
#include "validate/harness/ranks/own_core.hpp"
#include "validate/harness/timing/kernel_runner.hpp"

namespace windtunnel {
namespace {

constexpr int kTimings = 15;
constexpr double kTimedS = 10e-3;    // least time of each
constexpr double kStandstillS = 60;  // without a timing: the device hangs

std::size_t place_of(KernelRole role) {
  return static_cast<std::size_t>(role);
}

double seconds_since(std::int64_t begin_ns) {
  return static_cast<double>(RunClock::monotonic_ns() - begin_ns) * 1e-9;
}

// The time of one run, from a number of runs long enough for the clock.
double timed_once(const std::function<void()>& work, const Device& device) {
  int runs = 0;
  const std::int64_t begin_ns = RunClock::monotonic_ns();
  do {
    work();
    device.synchronize();
    ++runs;
  } while (seconds_since(begin_ns) < kTimedS);
  return seconds_since(begin_ns) / runs;
}

void check_room(DeviceKind kind, int ranks) {
  if (kind == DeviceKind::cpu) {
    if (ranks <= usable_cores()) return;
    throw Error(
        fmt::format("{} ranks would compute at once on the {} cores that this process may use; "
                    "make the scenario smaller (--set cluster.nodes=..., layout.dp), or leave "
                    "--kernels out, so that waits replace computations",
                    ranks, usable_cores()));
  }
  const UsableDevices usable = usable_devices(kind);
  if (usable.count == 0) throw Error(fmt::format("--kernels cuda: {}", usable.why_none));
  if (ranks <= usable.count) return;
  throw Error(
      fmt::format("{} ranks would compute at once on {} devices; make the scenario smaller "
                  "(--set cluster.nodes=..., layout.dp)",
                  ranks, usable.count));
}

}  // namespace

std::optional<KernelRole> kernel_role(Category category) {
  switch (category) {
    case Category::forward:
    case Category::backward:
    case Category::recompute:
    case Category::filling:
      return KernelRole::product;
    case Category::optimizer:
      return KernelRole::update;
    case Category::compression:
      return KernelRole::compression;
    default:
      return std::nullopt;
  }
}

PlanKernels::Share PlanKernels::share(std::span<const CostPart> cost, double real_per_s) const {
  Share share;
  std::array<double, kKernelRoles> left_s = {};
  for (const CostPart& part : cost) {
    const std::optional<KernelRole> role = kernel_role(part.category);
    (role ? left_s[place_of(*role)] : share.waits_s) += part.seconds * real_per_s;
  }
  for (std::size_t role = 0; role < kKernelRoles; ++role) {
    share.runs[role] = static_cast<int>(left_s[role] / run_s[role]);
    share.waits_s += left_s[role] - share.runs[role] * run_s[role];
  }
  return share;
}

std::array<KernelSteps, kKernelRoles> kernels_for(const std::string& compressor) {
  std::string code = "quantise-int8 elements=65536";
  if (compressor.find("top") != std::string::npos) code = "top-k elements=65536 k=655";
  if (compressor.find("power") != std::string::npos ||
      compressor.find("acp") != std::string::npos) {
    code = "low-rank m=256 n=256 k=4";
  }
  if (compressor.find("sign") != std::string::npos) code = "sign-pack elements=65536";
  return {parse_kernel_steps("gemm type=fp32 m=128 n=128 k=128"),
          parse_kernel_steps("adam elements=32768"), parse_kernel_steps(code)};
}

PlanKernels measured_kernels(DeviceKind kind, int ranks, const std::string& compressor) {
  check_room(kind, ranks);
  PlanKernels kernels;
  kernels.device = kind;
  kernels.works = kernels_for(compressor);
  const auto measured = static_cast<std::size_t>(ranks * kKernelRoles);
  const SharedMemory memory(measured * sizeof(double));
  auto* const seconds = reinterpret_cast<double*>(memory.data());
  const auto measure = [&](int rank, const ForkedProcess& process) {
    const SignsOfLife signs(process);
    take_device(kernels, rank);
    process.wait_for_start();
    const Device& used = device(kind);
    for (std::size_t role = 0; role < kKernelRoles; ++role) {
      const auto work =
          timed_work(kernels.works[role], SampleRole::fit, CacheState::warm, used).prepare();
      std::vector<double> timings;
      for (int i = 0; i < kTimings; ++i) {
        timings.push_back(timed_once(work, used));
        process.step();
      }
      seconds[static_cast<std::size_t>(rank) * kKernelRoles + role] = median(timings);
    }
    while (!process.all_through(true)) usleep(1000);
  };
  run_forked(ranks, "rank", measure,
             {.standstill_s = kStandstillS, .where = [] { return "kernels are being timed"; }});
  for (std::size_t role = 0; role < kKernelRoles; ++role) {
    std::vector<double> of_ranks;
    for (std::size_t at = role; at < measured; at += kKernelRoles) of_ranks.push_back(seconds[at]);
    kernels.run_s[role] = median(of_ranks);
  }
  return kernels;
}

void take_device(const PlanKernels& kernels, int rank) {
  const Device& used = device(kernels.device);
  const std::string fault = used.why_unusable();
  if (!fault.empty()) throw Error(fault, ExitCode::failed);
  if (kernels.device == DeviceKind::cuda) used.select(rank % std::max(1, used.count()));
}

StreamKernels::StreamKernels(const PlanKernels& kernels) : kernels_(kernels) {
  for (std::size_t role = 0; role < kKernelRoles; ++role) {
    runs_[role] =
        timed_work(kernels.works[role], SampleRole::fit, CacheState::warm, device(kernels.device))
            .prepare();
    runs_[role]();  // allocations are made at the first call
  }
  device(kernels.device).synchronize();
}

double StreamKernels::run(std::span<const CostPart> cost, double real_per_s,
                          const std::function<void()>& step) const {
  const PlanKernels::Share share = kernels_.share(cost, real_per_s);
  for (std::size_t role = 0; role < kKernelRoles; ++role) {
    for (int left = share.runs[role]; left > 0; --left) {
      runs_[role]();
      device(kernels_.device).synchronize();
      step();
    }
  }
  return share.waits_s;
}

}  // namespace windtunnel
