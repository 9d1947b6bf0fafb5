#include "models/reliability/fault_fit.hpp"

#include <algorithm>
#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <boost/math/special_functions/gamma.hpp>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include "models/base/error.hpp"
#include "models/base/units.hpp"

namespace windtunnel {
namespace {

constexpr double kTail = 0.025;               // of 95 %, on each side
constexpr double kNormalQuantile = 1.959964;  // of 1 - kTail
// At the ends of the interval the logarithm of a profile likelihood is this much below its maximum:
// half the 95 % quantile of chi-square with 1 degree of freedom.
constexpr double kProfileDrop = 1.920729;

using Function = std::function<double(double)>;

// Where the function, negative at `low` and positive at `high`, crosses zero; found by bisection of
// the logarithm.
double crossing(const Function& function, double low, double high) {
  for (int i = 0; i < 100 && high > low * (1 + 1e-10); ++i) {
    const double middle = std::sqrt(low * high);
    (function(middle) < 0 ? low : high) = middle;
  }
  return std::sqrt(low * high);
}

// The interval around the maximum `best` of a likelihood with one maximum, within the limits.
FittedValue profile_interval(const Function& log_likelihood, double best, double low, double high) {
  const double floor = log_likelihood(best) - kProfileDrop;
  const Function above = [&](double x) { return log_likelihood(x) - floor; };
  const Function below = [&](double x) { return floor - log_likelihood(x); };
  return {best, above(low) > 0 ? low : crossing(above, low, best),
          below(high) < 0 ? high : crossing(below, best, high)};
}

struct SampleMoments {
  double mean = 0;
  double sd = 0;  // of the sample
};

SampleMoments moments_of(const std::vector<double>& values) {
  SampleMoments result;
  const auto count = static_cast<double>(values.size());
  for (const double value : values) result.mean += value / count;
  double squares = 0;
  for (const double value : values) squares += (value - result.mean) * (value - result.mean);
  if (values.size() > 1) result.sd = std::sqrt(squares / (count - 1));
  return result;
}

// The exact interval of a Poisson count (Garwood 1936), stretched by sqrt(dispersion).
FittedValue poisson_interval(int count, double dispersion) {
  const double stretch = std::sqrt(dispersion);
  const double low = boost::math::gamma_p_inv(count, kTail);
  const double high = boost::math::gamma_p_inv(count + 1.0, 1 - kTail);
  return {double(count), std::max(0.0, count - (count - low) * stretch),
          count + (high - count) * stretch};
}

FittedValue scaled(const FittedValue& fitted, double factor) {
  return {fitted.value * factor, fitted.low * factor, fitted.high * factor};
}

// Dispersion of the counts in sqrt(n) windows of time: bursts of faults vary more than a Poisson
// process.
double dispersion_of(const FaultLog& log, double from_s, double span_s) {
  const auto faults = static_cast<double>(log.faults.size());
  const int windows = std::clamp(static_cast<int>(std::lround(std::sqrt(faults))), 3, 30);
  std::vector<double> counts(windows, 0);
  for (const NodeFault& fault : log.faults) {
    const int window = static_cast<int>((fault.start_s - from_s) / span_s * windows);
    ++counts[std::clamp(window, 0, windows - 1)];
  }
  const SampleMoments moments = moments_of(counts);
  return std::max(1.0, moments.sd * moments.sd / moments.mean);
}

// Weibull by maximum likelihood, the scale profiled out:
// l(k) = n ln k - n ln sum(x^k) + k sum(ln x) + const.
FittedValue weibull_shape(const std::vector<double>& gaps_s) {
  std::vector<double> logs;
  for (const double gap_s : gaps_s) logs.push_back(std::log(gap_s));
  const auto count = static_cast<double>(logs.size());
  if (logs.size() < 2) return {};
  const double mean_log = moments_of(logs).mean;
  for (double& log : logs) log -= mean_log;
  // Sums of x^k and x^k ln x, with the mean logarithm 0.
  const auto sums = [&](double shape) {
    std::pair<double, double> result{0, 0};
    for (const double log : logs) {
      const double power = std::exp(shape * log);
      result.first += power;
      result.second += power * log;
    }
    return result;
  };
  const Function score = [&](double shape) {
    const auto powers = sums(shape);
    return powers.second / powers.first - 1 / shape;
  };
  constexpr double kLeast = 0.01;
  constexpr double kMost = 50;
  if (score(kMost) < 0 || score(kLeast) > 0) return {};  // all gaps are equal, nearly
  const Function log_likelihood = [&](double shape) {
    return count * (std::log(shape) - std::log(sums(shape).first));
  };
  return profile_interval(log_likelihood, crossing(score, kLeast, kMost), kLeast, kMost);
}

// Nodes that have the same number of faults and the same time up.
struct NodeGroup {
  double faults = 0;
  double up_s = 0;
  double nodes = 0;
};

// Faults of a node as Poisson with mean h * rate * up_s, the hazard h from a gamma distribution of
// mean 1 and variance v: negative binomial (Greenwood, Yule 1920),
// l = sum over nodes of sum_{j < c} ln(1 + v j) + c ln(rate) - (c + 1/v) ln(1 + v rate up_s) +
// const.
class FrailtyLikelihood {
 public:
  explicit FrailtyLikelihood(std::vector<NodeGroup> groups) : groups_(std::move(groups)) {
    double up_s = 0;
    for (const NodeGroup& group : groups_) {
      faults_ += group.nodes * group.faults;
      up_s += group.nodes * group.up_s;
      for (std::size_t j = 0; double(j) < group.faults; ++j) {
        if (at_least_.size() <= j) at_least_.push_back(0);
        at_least_[j] += group.nodes;
      }
    }
    common_rate_ = faults_ / up_s;
  }

  // The rate per node and time up that fits best with this variance: Newton on its logarithm.
  double rate(double variance) const {
    double log_rate = std::log(common_rate_);
    for (int i = 0; variance > 0 && i < 50; ++i) {
      double expected = 0;
      double slope = 0;
      for (const NodeGroup& group : groups_) {
        const double x = variance * std::exp(log_rate) * group.up_s;
        const double term = group.nodes * (group.faults + 1 / variance) * x / (1 + x);
        expected += term;
        slope += term / (1 + x);
      }
      const double step = std::clamp((faults_ - expected) / slope, -1.0, 1.0);
      log_rate += step;
      if (std::abs(step) < 1e-12) break;
    }
    return std::exp(log_rate);
  }

  double value(double variance) const {
    const double best = rate(variance);
    double result = faults_ * std::log(best);
    for (std::size_t j = 0; j < at_least_.size(); ++j) {
      result += at_least_[j] * std::log1p(variance * static_cast<double>(j));
    }
    for (const NodeGroup& group : groups_) {
      result -=
          group.nodes * (group.faults + 1 / variance) * std::log1p(variance * best * group.up_s);
    }
    return result;
  }

  // Derivative of value() by the variance; at variance 0 it is the limit.
  double slope(double variance) const {
    const double best = rate(variance);
    double result = 0;
    for (std::size_t j = 0; j < at_least_.size(); ++j) {
      result += at_least_[j] * static_cast<double>(j) / (1 + variance * static_cast<double>(j));
    }
    for (const NodeGroup& group : groups_) {
      const double mean = best * group.up_s;
      const double x = variance * mean;
      const double spread = variance == 0 ? mean * (mean / 2 - group.faults)
                                          : std::log1p(x) / (variance * variance) -
                                                (group.faults + 1 / variance) * mean / (1 + x);
      result += group.nodes * spread;
    }
    return result;
  }

 private:
  std::vector<NodeGroup> groups_;
  std::vector<double> at_least_;  // [j]: nodes with more than j faults
  double faults_ = 0;
  double common_rate_ = 0;
};

FittedValue frailty_of(const FrailtyLikelihood& likelihood) {
  constexpr double kLeast = 1e-3;
  constexpr double kMost = 100;  // two nodes with three faults cannot show more
  const auto log_likelihood = [&](double variance) { return likelihood.value(variance); };
  const auto falling = [&](double variance) { return -likelihood.slope(variance); };
  const bool alike = likelihood.slope(0) <= 0 || falling(kLeast) > 0;
  const double best = alike ? kLeast : crossing(falling, kLeast, kMost);
  FittedValue result = profile_interval(log_likelihood, best, kLeast, kMost);
  if (alike) result.value = 0;
  if (result.low <= kLeast) result.low = 0;
  return result;
}

// The share of faults that are in batches, events being drawn, not faults: a ratio of two sums,
// its variance to first order (Cochran, Sampling Techniques, 1977, section 2.11).
FittedValue batched_share(const std::vector<FaultEvent>& events, int faults) {
  const auto count = static_cast<double>(events.size());
  double batched = 0;
  for (const FaultEvent& event : events) {
    if (event.nodes > 1) batched += event.faults;
  }
  const double share = batched / faults;
  // If none of n events is a batch, the upper limit is exact.
  if (batched == 0) return {0, 0, 1 - std::pow(kTail, 1 / count)};
  double squares = 0;
  for (const FaultEvent& event : events) {
    const double excess = (event.nodes > 1 ? event.faults : 0) - share * event.faults;
    squares += excess * excess;
  }
  const double half = kNormalQuantile * std::sqrt(squares) / faults;
  return {share, std::max(0.0, share - half), std::min(1.0, share + half)};
}

std::vector<double> shares_by_size(const std::vector<FaultEvent>& events) {
  std::vector<double> shares;
  for (const FaultEvent& event : events) {
    shares.resize(std::max(shares.size(), static_cast<std::size_t>(event.nodes)), 0);
    shares[event.nodes - 1] += 1.0 / static_cast<double>(events.size());
  }
  return shares;
}

// The sample's median; its interval follows from order statistics, whose ranks are binomial.
FittedValue median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const auto count = static_cast<double>(values.size());
  const auto at = [&](double rank) {
    return values[static_cast<std::size_t>(std::clamp(rank, 0.0, count - 1))];
  };
  const double reach = kNormalQuantile * std::sqrt(count) / 2;
  const double median = (at((count - 1) / 2) + at(count / 2)) / 2;
  return {median, at(std::floor(count / 2 - reach)), at(std::ceil(count / 2 + reach) - 1)};
}

void fit_repairs(const FaultLog& log, FaultFit& fit) {
  std::vector<double> known_s;
  std::vector<double> logs;
  for (const NodeFault& fault : log.faults) {
    fit.repair_mean_s += fault.repair_s / fit.faults;
    if (fault.repair_s <= 0) continue;
    known_s.push_back(fault.repair_s);
    logs.push_back(std::log(fault.repair_s));
  }
  if (known_s.size() < 3) return;
  fit.repair_median_s = median_of(known_s);
  // Normal logarithms: Student's t for their mean, chi-square for their deviation.
  const auto count = static_cast<double>(logs.size());
  const SampleMoments moments = moments_of(logs);
  const boost::math::students_t student(count - 1);
  const double half = boost::math::quantile(student, 1 - kTail) * moments.sd / std::sqrt(count);
  fit.repair_lognormal_median_s = {std::exp(moments.mean), std::exp(moments.mean - half),
                                   std::exp(moments.mean + half)};
  const boost::math::chi_squared squares(count - 1);
  const double sum_root = moments.sd * std::sqrt(count - 1);
  fit.repair_lognormal_sigma = {moments.sd,
                                sum_root / std::sqrt(boost::math::quantile(squares, 1 - kTail)),
                                sum_root / std::sqrt(boost::math::quantile(squares, kTail))};
}

double first_s(const FaultLog& log) {
  return log.span_s > 0 ? 0 : log.faults.front().start_s;
}

struct DownTime {
  double all_s = 0;  // total over nodes
  int most = 0;
  std::map<int, double> of_node_s;  // by number
};

// Time in repair: the union of each node's repairs, cut at the end of the observed time.
DownTime down_time(const FaultLog& log, double until_s) {
  DownTime result;
  std::map<int, double> back_s;  // when each node is back from its repairs so far
  std::vector<std::pair<double, int>> changes;
  int unknown = -1;
  for (const NodeFault& fault : log.faults) {
    // unknown nodes count as separate ones
    const int node = fault.node >= 0 ? fault.node : unknown--;
    const double end_s = std::min(fault.start_s + fault.repair_s, until_s);
    const auto [last, first_fault] = back_s.try_emplace(node, -1);
    const double start_s = std::max(fault.start_s, last->second);
    if (end_s <= start_s) continue;
    last->second = end_s;
    result.all_s += end_s - start_s;
    result.of_node_s[node] += end_s - start_s;
    changes.emplace_back(start_s, 1);
    changes.emplace_back(end_s, -1);
  }
  std::sort(changes.begin(), changes.end());  // at equal times, nodes return before others leave
  int down = 0;
  for (const auto& change : changes) result.most = std::max(result.most, down += change.second);
  return result;
}

// Each group has nodes with equal faults and time up; faults of unknown nodes are not counted.
std::vector<NodeGroup> node_groups(const FaultLog& log, const FaultFit& fit, const DownTime& down) {
  std::map<int, double> faults;
  for (const NodeFault& fault : log.faults) {
    if (fault.node >= 0) ++faults[fault.node];
  }
  std::vector<NodeGroup> groups{{0, fit.span_s, double(fit.nodes) - double(faults.size())}};
  for (const auto& [node, count] : faults) {
    const auto repaired = down.of_node_s.find(node);
    const double down_s = repaired == down.of_node_s.end() ? 0 : repaired->second;
    groups.push_back({count, std::max(fit.span_s - down_s, 1e-9 * fit.span_s), 1});
  }
  return groups;
}

void fit_nodes(const FaultLog& log, FaultFit& fit) {
  const DownTime down = down_time(log, first_s(log) + fit.span_s);
  fit.mean_nodes_down = down.all_s / fit.span_s;
  fit.most_nodes_down = down.most;
  fit.rate_per_node_up_s = fit.faults / std::max(fit.span_s * fit.nodes - down.all_s, fit.span_s);
  const std::vector<NodeGroup> groups = node_groups(log, fit, down);
  double known = 0;
  for (const NodeGroup& group : groups) {
    fit.nodes_with_five += group.faults >= 5;
    known += group.nodes * group.faults;
  }
  fit.nodes_with_fault = static_cast<int>(groups.size()) - 1;
  if (known == 0 || fit.nodes < 2) return;
  const FrailtyLikelihood likelihood(groups);
  fit.frailty_variance = frailty_of(likelihood);
  fit.rate_per_node_up_s = likelihood.rate(fit.frailty_variance.value) * fit.faults / known;
}

// Takes nodes and span from the log or, if it does not state them, from its faults.
void set_watch(const FaultLog& log, FaultFit& fit) {
  const std::size_t fewest = log.span_s > 0 ? 1 : 3;  // without a span only the gaps tell the rate
  if (log.faults.size() < fewest) {
    throw Error(fmt::format("a fit needs {} fault{} or more; the log '{}' has {}", fewest,
                            fewest == 1 ? "" : "s", log.name, log.faults.size()));
  }
  int highest = 0;
  for (const NodeFault& fault : log.faults) highest = std::max(highest, fault.node);
  fit.faults = static_cast<int>(log.faults.size());
  fit.nodes = log.nodes > 0 ? log.nodes : highest + 1;
  if (fit.nodes <= highest) {
    throw Error(
        fmt::format("the log '{}' has a fault of node {}, but with {} nodes, counted from 0, there "
                    "is no such node",
                    log.name, highest, fit.nodes));
  }
  const double last_s = log.faults.back().start_s;
  if (log.span_s > 0 && last_s >= log.span_s + kDay_s) {
    throw Error(
        fmt::format("the log '{}' has a fault {:.1f} days after its start, but its stated length "
                    "is {:.1f} days; give its length as --days",
                    log.name, last_s / kDay_s, log.span_s / kDay_s));
  }
  fit.span_s = std::max(log.span_s, last_s - first_s(log));
  if (!(fit.span_s > 0)) {
    throw Error(fmt::format(
        "all faults of the log '{}' begin at the same time; give the length of the log as --days",
        log.name));
  }
}

void fit_gaps(const FaultLog& log, FaultFit& fit) {
  std::vector<double> gaps_s;
  std::vector<double> positive_s;
  for (std::size_t i = 1; i < log.faults.size(); ++i) {
    gaps_s.push_back(log.faults[i].start_s - log.faults[i - 1].start_s);
    CHECK(gaps_s.back() >= 0, "the faults of '{}' are not by start", log.name);
    if (gaps_s.back() > 0) positive_s.push_back(gaps_s.back());
  }
  if (gaps_s.size() < 2) return;
  const auto count = static_cast<double>(gaps_s.size());
  fit.zero_gap_share = 1 - static_cast<double>(positive_s.size()) / count;
  fit.gap_shape = weibull_shape(positive_s);
  // The interval holds to first order on the logarithm, which keeps its limits positive.
  const SampleMoments moments = moments_of(gaps_s);
  const double reach = std::exp(kNormalQuantile * moments.sd / moments.mean / std::sqrt(count));
  fit.gap_mean_s = {moments.mean, moments.mean / reach, moments.mean * reach};
}

}  // namespace

std::vector<FaultEvent> fault_events(const FaultLog& log) {
  std::vector<FaultEvent> events;
  std::set<int> hit;
  double last_s = 0;
  for (const NodeFault& fault : log.faults) {
    if (events.empty() || fault.start_s - last_s > log.batch_window_s) {
      events.push_back({fault.start_s, 0, 0});
      hit.clear();
    }
    last_s = fault.start_s;
    ++events.back().faults;
    events.back().nodes += fault.node < 0 || hit.insert(fault.node).second;
  }
  return events;
}

FaultFit fit_faults(const FaultLog& log) {
  FaultFit fit;
  set_watch(log, fit);
  fit.dispersion = dispersion_of(log, first_s(log), fit.span_s);
  const double all_s = fit.span_s * fit.nodes;
  const double watched_s = log.watched_node_s > 0 ? log.watched_node_s : all_s;
  fit.rate_per_node_s = scaled(poisson_interval(fit.faults, fit.dispersion), 1 / watched_s);
  fit_gaps(log, fit);
  const std::vector<FaultEvent> events = fault_events(log);
  fit.batch_shares = shares_by_size(events);
  fit.faults_in_batches = batched_share(events, fit.faults);
  fit_repairs(log, fit);
  fit_nodes(log, fit);
  fit.rate_per_node_up_s *= all_s / watched_s;
  return fit;
}

FailureClass fitted_class(const FaultLog& log, const FaultFit& fit) {
  FailureClass result;
  const bool of_nodes = log.kind == FailureKind::node;
  result.name = of_nodes ? "node" : "process";
  result.kind = log.kind;
  if (fit.gap_shape.value > 0) {
    result.arrivals = Arrivals::weibull;
    result.weibull_shape = fit.gap_shape.value;
  }
  result.frailty_variance = fit.frailty_variance.value;
  result.batch_adjacent = false;  // numbers in a log need not be places in a room
  double nodes_per_event = 1;
  if (fit.batch_shares.size() > 1) {
    if (of_nodes) result.batch_shares = fit.batch_shares;
    nodes_per_event = 0;
    for (std::size_t i = 0; i < fit.batch_shares.size(); ++i) {
      nodes_per_event += fit.batch_shares[i] * static_cast<double>(i + 1);
    }
  }
  result.rate_per_node_s = fit.rate_per_node_up_s / nodes_per_event;
  if (!of_nodes) return result;
  for (const NodeFault& fault : log.faults) result.repair.empirical_s.push_back(fault.repair_s);
  return result;
}

double fit_growth(double nodes_a, double rate_a_per_node_s, double nodes_b,
                  double rate_b_per_node_s) {
  return std::log(rate_b_per_node_s / rate_a_per_node_s) / std::log(nodes_b / nodes_a);
}

}  // namespace windtunnel
