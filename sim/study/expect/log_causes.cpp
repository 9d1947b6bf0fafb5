#include "sim/study/expect/log_causes.hpp"

#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "models/base/error.hpp"
#include "models/base/quantile.hpp"
#include "models/network/collectives/collective_interval.hpp"
#include "scenarios/language/library/interconnect_laws.hpp"

namespace windtunnel {
namespace {

// Returns log(measured / expected) at each size.
Eigen::VectorXd residuals_of(const std::vector<MeasuredSize>& measured,
                             const ExpectedCurve& curve) {
  Eigen::VectorXd residuals(static_cast<Eigen::Index>(measured.size()));
  for (std::size_t i = 0; i < measured.size(); ++i) {
    residuals[static_cast<Eigen::Index>(i)] =
        std::log(measured[i].seconds / curve.sizes[i].seconds);
  }
  return residuals;
}

// Tells how a log scatters around a curve.
class Scatter {
 public:
  explicit Scatter(const ExpectedCurve& healthy) {
    const auto count = static_cast<Eigen::Index>(healthy.sizes.size());
    Eigen::MatrixXd covariance(count, count);
    for (Eigen::Index i = 0; i < count; ++i) {
      for (Eigen::Index j = 0; j < count; ++j) {
        const ExpectedSize& a = healthy.sizes[static_cast<std::size_t>(i)];
        const ExpectedSize& b = healthy.sizes[static_cast<std::size_t>(j)];
        const double octaves = std::abs(std::log2(a.bytes / b.bytes));
        const double own = i == j ? 1 - kTogether - kNear : 0;
        covariance(i, j) =
            a.log_sd * b.log_sd * (kTogether + kNear * std::exp(-octaves / kReach) + own);
      }
    }
    factor_.compute(covariance);
  }

  // Returns the logarithm of the likelihood, without terms that are the same for every curve.
  double log_likelihood(const Eigen::VectorXd& residuals) const {
    return -0.5 * residuals.dot(factor_.solve(residuals));
  }

 private:
  Eigen::LLT<Eigen::MatrixXd> factor_;
};

// Returns log(mean(exp(logs))), even if the exponentials overflow.
double log_of_mean(const std::vector<double>& logs) {
  const double most = *std::ranges::max_element(logs);
  double sum = 0;
  for (const double each : logs) sum += std::exp(each - most);
  return most + std::log(sum / static_cast<double>(logs.size()));
}

double rms(const Eigen::VectorXd& values) {
  return std::sqrt(values.squaredNorm() / static_cast<double>(values.size()));
}

// Returns the median speed-up over the healthy curve at large sizes; at all if all are small.
double times_as_fast(const ExpectedCurve& healthy, const ExpectedCurve& other) {
  std::vector<double> all, large;
  for (std::size_t i = 0; i < healthy.sizes.size(); ++i) {
    const double ratio = other.sizes[i].seconds / healthy.sizes[i].seconds;
    all.push_back(ratio);
    if (healthy.sizes[i].bytes >= kLargeCollective_bytes) large.push_back(ratio);
  }
  return median(large.empty() ? all : large);
}

bool same_curve(const ExpectedCurve& one, const ExpectedCurve& other) {
  constexpr double kSame = 1e-3;
  return std::ranges::equal(one.sizes, other.sizes, [](const auto& a, const auto& b) {
    return std::abs(a.seconds / b.seconds - 1) < kSame;
  });
}

std::string strength_text(const CollectiveCause& cause, double strength) {
  if (cause.strength.find("{}") == std::string::npos) return cause.strength;
  return fmt::format(fmt::runtime(cause.strength), fmt::format("{:.3g}", strength));
}

// Returns nothing if the cause does not apply to this machine, or changes nothing.
std::optional<TriedCause> tried(const ExpectRequest& request, const LogReading& reading,
                                const Scatter& scatter, const CollectiveCause& cause) {
  const double healthy = scatter.log_likelihood(residuals_of(reading.measured, reading.expected));
  TriedCause found{.cause = &cause, .strength_text = {}};
  double best = -std::numeric_limits<double>::infinity();
  std::vector<double> gains;
  for (const double strength : strengths_of(cause, request.cluster.node.nics)) {
    const std::optional<ExpectRequest> changed = with_cause(request, cause, strength);
    if (!changed) return {};
    const ExpectedCurve curve = expect_collective(*changed);
    if (same_curve(curve, reading.expected)) continue;
    const Eigen::VectorXd residuals = residuals_of(reading.measured, curve);
    const double gain = scatter.log_likelihood(residuals) - healthy;
    gains.push_back(gain);
    if (gain <= best) continue;
    best = gain;
    found.strength = strength;
    found.strength_text = strength_text(cause, strength);
    found.rms_log = rms(residuals);
    found.mended = times_as_fast(reading.expected, curve);
  }
  if (gains.empty()) return {};
  found.log_evidence = log_of_mean(gains);
  return found;
}

}  // namespace

bool LogReading::healthy() const {
  return inside >= kHealthyShare * static_cast<double>(measured.size());
}

const TriedCause* LogReading::explained_by() const {
  if (healthy() || causes.empty() || causes.front().log_evidence < std::log(kStrongEvidence)) {
    return nullptr;
  }
  return &causes.front();
}

std::vector<const TriedCause*> LogReading::as_likely() const {
  std::vector<const TriedCause*> others;
  const TriedCause* best = explained_by();
  if (best == nullptr) return others;
  const double least = best->log_evidence - std::log(kSomeEvidence);
  for (const TriedCause& each : causes) {
    if (&each != best && each.log_evidence >= least) others.push_back(&each);
  }
  return others;
}

std::optional<ExpectRequest> with_cause(const ExpectRequest& request, const CollectiveCause& cause,
                                        double strength) {
  const Cluster& cluster = request.cluster;
  std::set<int> nodes;
  for (const std::int32_t gpu : request.gpus) nodes.insert(gpu / cluster.node.gpus);
  if (cause.across && *cause.across != (nodes.size() > 1)) return {};
  ExpectRequest changed = request;
  changed.calibration =
      with_one_network_law(request.calibration, cluster.node, cluster.fabric.transport);
  for (const auto& [member, power] : cause.law) {
    (changed.calibration.network.*member).value *= std::pow(strength, power);
  }
  for (const auto& [member, power] : cause.node) {
    (changed.cluster.node.*member).value *= std::pow(strength, power);
  }
  const CollectiveChoice& forced = cause.choice;
  const bool taken =
      (forced.algorithm != CollectiveAlgorithm::automatic &&
       request.choice.algorithm != CollectiveAlgorithm::automatic) ||
      (forced.protocol != Protocol::automatic && request.choice.protocol != Protocol::automatic);
  if (taken) return {};
  if (forced.algorithm != CollectiveAlgorithm::automatic) {
    changed.choice.algorithm = forced.algorithm;
  }
  if (forced.protocol != Protocol::automatic) changed.choice.protocol = forced.protocol;
  if (cause.without_nvls) changed.nvls = false;
  return changed;
}

LogReading read_log(ExpectRequest request, std::vector<MeasuredSize> measured) {
  if (measured.empty()) throw Error("the log contains no measured size");
  std::ranges::sort(measured, {}, &MeasuredSize::bytes);
  request.sizes.clear();
  for (const MeasuredSize& size : measured) request.sizes.push_back(size.bytes);
  LogReading reading;
  reading.expected = expect_collective(request);
  reading.measured = std::move(measured);
  for (std::size_t i = 0; i < reading.measured.size(); ++i) {
    const double seconds = reading.measured[i].seconds;
    const ExpectedSize& expected = reading.expected.sizes[i];
    if (seconds >= expected.low_s && seconds <= expected.high_s) ++reading.inside;
  }
  reading.rms_log = rms(residuals_of(reading.measured, reading.expected));
  if (!reading.expected.why_no_law.empty()) return reading;  // causes act only on the law
  const Scatter scatter(reading.expected);
  for (const CollectiveCause& cause : collective_causes()) {
    if (auto found = tried(request, reading, scatter, cause)) {
      reading.causes.push_back(*std::move(found));
    }
  }
  std::ranges::stable_sort(reading.causes, std::ranges::greater(), &TriedCause::log_evidence);
  return reading;
}

}  // namespace windtunnel
