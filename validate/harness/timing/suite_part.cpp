#include "validate/harness/timing/suite_part.hpp"

#include <algorithm>
#include <map>
#include <string>

#include "models/calibration/kernel_law.hpp"
#include "models/calibration/kernel_law_fit.hpp"
#include "validate/harness/timing/kernel_runner.hpp"

namespace windtunnel {
namespace {

// Works of one kind differ only in size: a law's works, or compositions of the same kernels.
std::string kind_of(const TimedWork& work) {
  const bool single = work.steps.size() == 1 && work.steps[0].size() == 1;
  std::string kind = work.role == SampleRole::fit ? "fit" : "judge";
  if (single) return kind.append(" ").append(law_key(work.steps[0][0], work.cache));
  for (const std::vector<KernelWork>& step : work.steps) {
    for (const KernelWork& one : step) kind.append(" ").append(one.kernel);
  }
  return kind;
}

// Tiers for `count` sizes in order: as many as a law needs, evenly spaced with both ends; the
// others alternate.
std::vector<int> tiers_of_law(std::size_t count) {
  std::vector<int> tiers(count, -1);
  for (std::size_t i = 0; i < kLeastSizes; ++i) tiers[i * (count - 1) / (kLeastSizes - 1)] = 0;
  bool second = false;
  for (int& tier : tiers) {
    if (tier == 0) continue;
    tier = second ? 2 : 1;
    second = !second;
  }
  return tiers;
}

std::vector<int> tiers_of_judges(std::size_t count) {
  std::vector<int> tiers;
  for (std::size_t i = 0; i < count; ++i) tiers.push_back(i % 2 == 0 ? 1 : 2);
  return tiers;
}

}  // namespace

std::vector<int> tiers_of(std::span<const TimedWork> works) {
  std::map<std::string, std::vector<std::size_t>> kinds;
  for (std::size_t i = 0; i < works.size(); ++i) kinds[kind_of(works[i])].push_back(i);
  std::vector<int> tiers(works.size());
  for (auto& [kind, members] : kinds) {
    std::ranges::stable_sort(members, {},
                             [&](std::size_t i) { return bytes_moved(works[i].steps); });
    const bool fitted = works[members[0]].role == SampleRole::fit;
    const std::vector<int> own =
        fitted ? tiers_of_law(members.size()) : tiers_of_judges(members.size());
    for (std::size_t i = 0; i < members.size(); ++i) tiers[members[i]] = own[i];
  }
  return tiers;
}

double effort_of(const TimedWork& work, DeviceKind kind) {
  constexpr double kCold = 2;  // factor for cold series, which need buffers larger than the caches
  // Work that takes as long as the smallest one. A GPU's buffers are filled over PCIe.
  const double kBytes = kind == DeviceKind::cpu ? 20e6 : 50e6;
  const double kFlops = kind == DeviceKind::cpu ? 30e6 : 50e9;
  double flops = 0;
  for (const std::vector<KernelWork>& step : work.steps) {
    for (const KernelWork& one : step) flops += kernel_kind(one.kernel).flops(one);
  }
  return 1 + (work.cache == CacheState::cold ? kCold : 0) + memory_bytes(work.steps) / kBytes +
         flops / kFlops;
}

std::vector<bool> affordable(std::span<const PricedWork> works, double time_s) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < works.size(); ++i) order.push_back(i);
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return works[i].tier; });
  std::vector<bool> taken(works.size());
  for (const std::size_t i : order) {
    taken[i] = works[i].tier == 0 || works[i].seconds <= time_s;
    if (taken[i]) time_s -= works[i].seconds;
  }
  return taken;
}

}  // namespace windtunnel
