#include "models/kernel_law.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "models/base/error.hpp"
#include "models/nonnegative_fit.hpp"

namespace windtunnel {
namespace {

constexpr double kNormal90 = 1.6448536269514722;  // of a normal law, 5 % beyond on either side
constexpr double kLeastSpread = 0.01;             // between two runs of a program

double bytes_of(const KernelWork& work) {
  return kernel_kind(work.kernel).bytes(work);
}

bool has_line(const KernelWork& work) {
  return kernel_kind(work.kernel).flops(work) > 0;
}

double line_at(const KernelLaw& law, const KernelWork& work) {
  return law.fixed_s + law.flop_s * kernel_kind(work.kernel).flops(work) +
         law.byte_s * bytes_of(work);
}

double law_at(const KernelLaw& law, const KernelWork& work) {
  return law.curve.sizes.empty() ? line_at(law, work) : law.curve.at(bytes_of(work));
}

using Points = std::vector<const Sample*>;

const KernelWork& work_of(const Sample& sample) {
  return sample.work[0][0];
}

KernelLaw fit_line(const Points& points) {
  std::vector<std::vector<double>> columns(3);
  std::vector<double> y;
  std::vector<double> weights;
  for (const Sample* sample : points) {
    columns[0].push_back(1);
    columns[1].push_back(kernel_kind(work_of(*sample).kernel).flops(work_of(*sample)));
    columns[2].push_back(bytes_of(work_of(*sample)));
    y.push_back(sample->median_s);
    weights.push_back(1 / (sample->median_s * sample->median_s));
  }
  const std::vector<double> x = nonnegative_fit(columns, y, weights);
  KernelLaw law;
  law.fixed_s = x[0];
  law.flop_s = x[1];
  law.byte_s = x[2];
  return law;
}

double left_out_spread(const Points& points) {
  double sum = 0;
  for (size_t i = 0; i < points.size(); ++i) {
    Points others = points;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
    const double error =
        std::log(line_at(fit_line(others), work_of(*points[i])) / points[i]->median_s);
    sum += error * error;
  }
  return std::sqrt(sum / static_cast<double>(points.size()));
}

KernelLaw fit_law(const std::string& key, const Points& points) {
  constexpr size_t kLeast = 4;
  if (points.size() < kLeast) {
    throw Error(
        fmt::format("{}: {} sizes were measured; a law needs {}", key, points.size(), kLeast));
  }
  KernelLaw law;
  if (has_line(work_of(*points[0]))) {
    law = fit_line(points);
    law.spread = left_out_spread(points);
  } else {
    std::vector<TimedSize> sizes;
    for (const Sample* sample : points) {
      sizes.push_back({bytes_of(work_of(*sample)), sample->median_s,
                       (sample->high_s - sample->low_s) / (4 * sample->median_s)});
    }
    law.curve = fit_time_curve(std::move(sizes));
    law.spread = law.curve.spread;
  }
  law.key = key;
  law.least = law.most = bytes_of(work_of(*points[0]));
  for (const Sample* sample : points) {
    law.least = std::min(law.least, bytes_of(work_of(*sample)));
    law.most = std::max(law.most, bytes_of(work_of(*sample)));
  }
  return law;
}

// From works that were measured twice.
double run_spread(std::span<const Sample> samples) {
  double sum = 0;
  int pairs = 0;
  for (const Sample& again : samples) {
    if (again.role != SampleRole::again) continue;
    for (const Sample& first : samples) {
      if (first.role == SampleRole::again || first.cache != again.cache ||
          to_text(first.work) != to_text(again.work)) {
        continue;
      }
      const double change = std::log(again.median_s / first.median_s);
      sum += change * change / 2;  // both vary
      ++pairs;
    }
  }
  return pairs > 0 ? std::max(kLeastSpread, std::sqrt(sum / pairs)) : kLeastSpread;
}

const KernelLaw& law_of(const KernelWork& work, const KernelLaws& laws) {
  const std::string key = law_key(work);
  const auto found = std::ranges::find(laws.laws, key, &KernelLaw::key);
  if (found == laws.laws.end()) throw Error(fmt::format("no law of '{}' was fitted", key));
  return *found;
}

}  // namespace

std::string law_key(const KernelWork& work) {
  const KernelKind& kind = kernel_kind(work.kernel);
  const auto text = to_text({{work}});
  std::string key = work.kernel;
  for (const std::string_view size : kind.sizes) {
    const bool scales = size == "elements" || size == "bytes" ||
                        (kind.family != KernelFamily::code && size != "type" && size != "ranks");
    // What a requantised sum has of parts is no size: it moves with the bytes.
    if (scales) continue;
    const size_t at = text.find(fmt::format(" {}=", size));
    key += text.substr(at, text.find(' ', at + 1) - at);
  }
  return key;
}

KernelLaws fit_kernel_laws(std::span<const Sample> samples) {
  std::map<std::string, Points> by_key;
  for (const Sample& sample : samples) {
    if (sample.role == SampleRole::fit && sample.work.size() == 1 && sample.work[0].size() == 1) {
      by_key[law_key(work_of(sample))].push_back(&sample);
    }
  }
  KernelLaws fitted;
  for (const auto& [key, points] : by_key) fitted.laws.push_back(fit_law(key, points));
  fitted.run_spread = run_spread(samples);
  return fitted;
}

PredictedTime predicted_time(const KernelSteps& steps, const KernelLaws& laws) {
  double seconds = 0;
  double variance = 0;  // of the sum; laws err apart from each other, but each alike in all steps
  std::map<std::string, double> error_s;
  for (const std::vector<KernelWork>& step : steps) {
    double longest = 0;
    const KernelLaw* decides = nullptr;
    for (const KernelWork& work : step) {
      const KernelLaw& law = law_of(work, laws);
      const double time = law_at(law, work);
      if (decides == nullptr || time > longest) {
        longest = time;
        decides = &law;
      }
    }
    seconds += longest;
    error_s[decides->key] += longest * decides->spread;
  }
  for (const auto& [key, error] : error_s) variance += error * error;
  const double spread = std::hypot(std::sqrt(variance) / seconds, laws.run_spread);
  return {seconds, seconds * std::exp(-kNormal90 * spread), seconds * std::exp(kNormal90 * spread)};
}

}  // namespace windtunnel
