#include "validate/accuracy/samples.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "models/base/error.hpp"
#include "models/base/quantile.hpp"

namespace windtunnel {
namespace {

constexpr const char* kCompositions = "compositions";
constexpr const char* kSingle = "single kernels";

// Bytes a second at the largest size.
double rate_of(const KernelLaw& law) {
  return law.curve.sizes.empty() ? 0 : law.most / law.curve.at(law.most);
}

double copy_rate(const KernelLaws& laws) {
  const auto copy = std::ranges::find(laws.laws, "copy", &KernelLaw::key);
  return copy == laws.laws.end() ? 0 : rate_of(*copy);
}

double bytes_of(const KernelSteps& steps) {
  double bytes = 0;
  for (const std::vector<KernelWork>& step : steps) {
    for (const KernelWork& work : step) bytes += kernel_kind(work.kernel).bytes(work);
  }
  return bytes;
}

bool is_single(const Sample& sample) {
  return sample.work.size() == 1 && sample.work[0].size() == 1;
}

ValidationRow row_of(const Sample& sample, const KernelLaws& laws) {
  const PredictedTime time = predicted_time(sample.work, laws);
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
  if (rate > 0) row.baselines["bytes at a copy's rate"] = bytes_of(sample.work) / rate;
  return row;
}

// A share of a peak, with its 90 % interval.
Parameter measured(double share, double spread, const std::string& source) {
  const double value = std::min(1.0, share);
  return {value, value * std::exp(-1.645 * spread), std::min(1.0, value * std::exp(1.645 * spread)),
          Origin::measured, source};
}

// By the kernel of compressors that they measure: middle of the rates of its forms.
std::map<std::string, std::vector<const KernelLaw*>> by_share(const KernelLaws& laws) {
  std::map<std::string, std::vector<const KernelLaw*>> shares;
  for (const KernelLaw& law : laws.laws) {
    const KernelKind& kind = kernel_kind(law.key.substr(0, law.key.find(' ')));
    if (!kind.share.empty() && rate_of(law) > 0) shares[std::string(kind.share)].push_back(&law);
  }
  return shares;
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
  const auto product = std::ranges::find(laws.laws, "gemm type=fp32", &KernelLaw::key);
  if (product != laws.laws.end() && product->flop_s > 0) rates.flops = 1 / product->flop_s;
  return rates;
}

Calibration calibration_of(const KernelLaws& laws, const Calibration& base, const GpuSpec* spec,
                           const std::string& source) {
  Calibration calibration = base;
  calibration.kernel_laws = laws;
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
