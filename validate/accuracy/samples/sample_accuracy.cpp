#include "validate/accuracy/samples/sample_accuracy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <map>
#include <optional>

#include "models/base/error.hpp"
#include "models/base/fit/nonnegative_fit.hpp"
#include "models/base/quantile.hpp"
#include "models/network/groups/collective_steps.hpp"
#include "models/network/groups/pattern.hpp"

namespace windtunnel {
namespace {

constexpr const char* kCompositions = "compositions";
constexpr const char* kSingle = "single kernels";

// Returns bytes per second at the law's largest size.
double rate_of(const KernelLaw& law) {
  return law.curve.sizes.empty() ? 0 : law.most / law.curve.at(law.most);
}

double copy_rate(const KernelLaws& laws) {
  const KernelLaw* copy = find_law(laws, "copy");
  return copy == nullptr ? 0 : rate_of(*copy);
}

bool is_single(const Sample& sample) {
  return sample.work.size() == 1 && sample.work[0].size() == 1;
}

ValidationRow row_of(const Sample& sample, const KernelLaws& laws) {
  const PredictedTime time = predicted_time(sample.work, laws, sample.cache, sample.disturbed);
  ValidationRow row;
  row.id = sample.id;
  row.family = is_single(sample) ? kSingle : kCompositions;
  row.metric = "time_s";
  row.measured = sample.median_s;
  row.predicted = time.seconds;
  row.low = time.low_s;
  row.high = time.high_s;
  row.origin = Origin::measured;
  row.label = to_text(sample.work);
  const double rate = copy_rate(laws);
  if (rate > 0) row.baselines["bytes at the rate of a copy"] = bytes_moved(sample.work) / rate;
  return row;
}

// Constants of collectives inside a node, in the form of
// models/network/collectives/collective_law.hpp.
struct PortLaw {
  double launch_s = 0;
  double step_s = 0;
  double byte_s = 0;  // of the busiest port
  double spread = 0;  // of log(curve / law)
};

struct MeasuredPattern {
  std::string_view kernel;
  CollectiveKind kind;
  CollectiveAlgorithm algorithm;
};
constexpr std::array<MeasuredPattern, 9> kPatterns = {{
    {"all-reduce-ring", CollectiveKind::all_reduce, CollectiveAlgorithm::ring},
    {"all-reduce-tree", CollectiveKind::all_reduce, CollectiveAlgorithm::tree},
    {"reduce-scatter-ring", CollectiveKind::reduce_scatter, CollectiveAlgorithm::ring},
    {"all-gather-ring", CollectiveKind::all_gather, CollectiveAlgorithm::ring},
    {"all-to-all-pairwise", CollectiveKind::all_to_all, CollectiveAlgorithm::pairwise},
    // A library chooses the algorithm; it is counted as a ring.
    {"all-reduce", CollectiveKind::all_reduce, CollectiveAlgorithm::ring},
    {"reduce-scatter", CollectiveKind::reduce_scatter, CollectiveAlgorithm::ring},
    {"all-gather", CollectiveKind::all_gather, CollectiveAlgorithm::ring},
    {"all-to-all", CollectiveKind::all_to_all, CollectiveAlgorithm::pairwise},
}};

int ranks_of(const KernelLaw& law) {
  constexpr std::string_view kRanks = " ranks=";
  const size_t at = law.key.find(kRanks);
  return at == std::string::npos ? 0 : std::atoi(law.key.c_str() + at + kRanks.size());
}

// Fits the law to all measured curves, at sizes a factor of kApart apart. Returns nothing if there
// are none.
std::optional<PortLaw> fit_port_law(const KernelLaws& laws) {
  constexpr double kApart = 2;
  std::vector<std::vector<double>> columns(3);
  std::vector<double> y;
  std::vector<double> weights;
  for (const MeasuredPattern& pattern : kPatterns) {
    for (const KernelLaw& law : laws.laws) {
      const int ranks = ranks_of(law);
      if (ranks < 2 || law.key.substr(0, law.key.find(' ')) != pattern.kernel) continue;
      // These constants are of the network, not of memory.
      if (law.key.ends_with(" cold")) continue;
      GroupShape shape;
      shape.members = shape.members_per_node = ranks;
      for (double bytes = law.least; bytes <= law.most; bytes *= kApart) {
        const CollectiveSteps steps = steps_of(pattern.kind, pattern.algorithm, shape, bytes);
        columns[0].push_back(1);
        columns[1].push_back(steps.node_steps);
        columns[2].push_back(port_share(steps.node, ranks) * steps.node_bytes);
        y.push_back(law.curve.at(bytes));
        weights.push_back(1 / (y.back() * y.back()));
      }
    }
  }
  if (y.empty()) return {};
  const std::vector<double> x = nonnegative_fit(columns, y, weights);
  double sum = 0;
  for (size_t i = 0; i < y.size(); ++i) {
    const double seconds = x[0] + x[1] * columns[1][i] + x[2] * columns[2][i];
    sum += std::pow(std::log(seconds / y[i]), 2);
  }
  return PortLaw{x[0], x[1], x[2], std::sqrt(sum / static_cast<double>(y.size()))};
}

// A share of a peak, with its 90 % interval.
Parameter measured(double share, double spread, const std::string& source) {
  const double value = std::min(1.0, share);
  return {value, value * std::exp(-kNormal95 * spread),
          std::min(1.0, value * std::exp(kNormal95 * spread)), Origin::measured, source};
}

Parameter measured_time(double seconds, double spread, const std::string& source) {
  return {seconds, seconds * std::exp(-kNormal95 * spread), seconds * std::exp(kNormal95 * spread),
          Origin::measured, source};
}

// Groups laws by the compressors' kernel that they measure.
std::map<std::string, std::vector<const KernelLaw*>> by_share(const KernelLaws& laws) {
  std::map<std::string, std::vector<const KernelLaw*>> shares;
  for (const KernelLaw& law : laws.laws) {
    const KernelKind& kind = kernel_kind(law.key.substr(0, law.key.find(' ')));
    const KernelLaw* cold = find_law(laws, law.key);
    const bool other = cold != nullptr && cold != &law;
    if (!kind.share.empty() && !other && rate_of(law) > 0)
      shares[std::string(kind.share)].push_back(&law);
  }
  return shares;
}

void add_collectives(const KernelLaws& laws, const MeasuredDevice& device,
                     Calibration& calibration) {
  const std::optional<PortLaw> port = fit_port_law(laws);
  if (port) {
    const double spread = std::hypot(port->spread, laws.run_spread);
    calibration.collective_launch_s = measured_time(port->launch_s, spread, device.source);
    calibration.nvlink_latency_s = measured_time(port->step_s, spread, device.source);
    const bool known = device.port_Bps > 0 && port->byte_s > 0;
    calibration.nvlink_efficiency =
        measured(known ? 1 / (port->byte_s * device.port_Bps) : 1, spread, device.source);
  }
  const KernelLaw* send = find_law(laws, "send");
  if (send == nullptr) return;
  const double waited_s = send->curve.seconds.front() - calibration.nvlink_latency_s.value;
  calibration.p2p_launch_s = measured_time(
      std::max(0.0, waited_s), std::hypot(send->spread, laws.run_spread), device.source);
}

Parameter by_nature(double value, const char* reason) {
  return {value, value, value, Origin::spec, reason};
}

void add_cpu(Calibration& calibration) {
  const char* const whole = "on a CPU the overhead of a call is part of its measured law";
  calibration.kernel_launch_s = by_nature(0, whole);
  calibration.memory_half_bytes = by_nature(0, whole);
  calibration.host_launch_s = by_nature(0, "the host is the device");
  calibration.host_contention = by_nature(0, "the host is the device");
  calibration.kernel_alone = calibration.kernel_sustained =
      by_nature(1, "measured over the length of a step");
  calibration.overlap_slowdown = by_nature(1, "a core computes nothing while it sends");
  calibration.optimizer_bytes =
      by_nature(28, "Adam in fp32: gradient read, weight and two moments read and written");
  calibration.moment_bytes = by_nature(8, "read and written once in fp32");
  calibration.framework_bytes = by_nature(0, "no context, no buffers of a library");
}

}  // namespace

ValidationReport validate_samples(const SampleFile& file, const KernelLaws& laws) {
  ValidationReport report;
  for (const UnusableRow& row : file.unusable) report.skipped.push_back({row.id, row.reason});
  for (const Sample& sample : file.runs) {
    if (sample.role == SampleRole::again) continue;
    try {
      (sample.role == SampleRole::judge ? report.rows : report.fitted)
          .push_back(row_of(sample, laws));
    } catch (const Error& error) {
      report.skipped.push_back({sample.id, error.what()});
    }
  }
  summarise_families(report, {});
  return report;
}

DeviceRates device_rates(const KernelLaws& laws) {
  DeviceRates rates;
  rates.memory_Bps = copy_rate(laws);
  const KernelLaw* product = find_law(laws, "gemm type=fp32");
  if (product != nullptr && product->flop_s > 0) rates.flops = 1 / product->flop_s;
  const std::optional<PortLaw> port = fit_port_law(laws);
  if (port && port->byte_s > 0) rates.port_Bps = 1 / port->byte_s;
  return rates;
}

Calibration calibration_of(const KernelLaws& laws, const Calibration& base,
                           const MeasuredDevice& device) {
  Calibration calibration = base;
  calibration.kernel_laws = laws;
  const GpuSpec* spec = device.spec;
  const std::string& source = device.source;
  const DeviceRates rates = device_rates(laws);
  const double memory = rates.memory_Bps;
  if (memory > 0) {
    const double peak = spec != nullptr ? spec->memory_Bps.value : memory;
    calibration.memory_efficiency = measured(memory / peak, laws.run_spread, source);
  }
  if (rates.flops > 0) {
    const double peak = spec != nullptr ? spec->fp32_flops.value : rates.flops;
    calibration.gemm_efficiency = measured(rates.flops / peak, laws.run_spread, source);
  }
  add_collectives(laws, device, calibration);
  if (device.kind == DeviceKind::cpu) add_cpu(calibration);
  for (const auto& [name, forms] : by_share(laws)) {
    std::vector<double> shares;
    double spread = laws.run_spread;
    for (const KernelLaw* form : forms) {
      shares.push_back(rate_of(*form) / memory);
      spread = std::max(spread, form->spread);
    }
    std::erase_if(calibration.kernels,
                  [&name = name](const KernelShare& share) { return share.name == name; });
    calibration.kernels.push_back({name, measured(median(shares), spread, source)});
  }
  return calibration;
}

}  // namespace windtunnel
