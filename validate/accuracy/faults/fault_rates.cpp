#include "validate/accuracy/faults/fault_rates.hpp"

#include <algorithm>
#include <cmath>

#include "models/base/error.hpp"
#include "models/base/units.hpp"
#include "models/reliability/fault_fit.hpp"

namespace windtunnel {
namespace {

double rate_per_node_s(const PublishedMean& mean) {
  return 1 / (mean.mtbf_h * kHour_s * mean.nodes);
}

// "arXiv:2602.00277" from "arXiv:2602.00277 Table 1".
std::string work_of(const std::string& source) {
  return source.substr(0, source.find(' '));
}

}  // namespace

std::vector<PublishedMean> published_means(const std::vector<FaultPoint>& points,
                                           const FaultPoint& like, const std::string& metric) {
  std::vector<PublishedMean> means;
  for (const FaultPoint& point : points) {
    if (work_of(point.source) != work_of(like.source)) continue;
    if (!metric.empty() && point.metric != metric) continue;
    if (!point.mtti_h.states() || !point.nodes.states()) continue;
    means.push_back(
        {point.name, static_cast<int>(point.nodes.value().low), point.mtti_h.value().low});
  }
  return means;
}

double fitted_rate_per_node_s(const std::vector<PublishedMean>& means) {
  CHECK(!means.empty(), "no mean time to fit a rate on");
  double sum = 0;
  for (const PublishedMean& mean : means) sum += std::log(rate_per_node_s(mean));
  return std::exp(sum / static_cast<double>(means.size()));
}

std::optional<double> fitted_growth(const std::vector<PublishedMean>& means) {
  if (means.empty()) return std::nullopt;
  const auto smaller = [](const PublishedMean& a, const PublishedMean& b) {
    return a.nodes < b.nodes;
  };
  const auto [least, most] = std::minmax_element(means.begin(), means.end(), smaller);
  if (least->nodes == most->nodes) return std::nullopt;
  return fit_growth(least->nodes, rate_per_node_s(*least), most->nodes, rate_per_node_s(*most));
}

}  // namespace windtunnel
