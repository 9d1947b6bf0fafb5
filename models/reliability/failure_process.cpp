#include "models/reliability/failure_process.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <numbers>
#include <numeric>

#include "models/base/error.hpp"
#include "models/base/units.hpp"

namespace windtunnel {
namespace {

bool is_share(double share) {
  return share >= 0 && share <= 1;
}

bool are_durations(const std::vector<double>& seconds) {
  return std::all_of(seconds.begin(), seconds.end(), is_duration);
}

double sum_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

// The first rule that the class breaks; empty: none.
std::string broken_rate(const FailureClass& c) {
  if (!is_duration(c.rate_per_node_s)) return "the rate must be 0 or more";
  if (!is_duration(c.rate_per_job_s)) return "the rate of the job must be 0 or more";
  if (!std::isfinite(c.growth)) return "the growth of the rate must be a number";
  if (!(c.growth_nodes > 0) || !std::isfinite(c.growth_nodes)) {
    return "the number of nodes to which the rate applies must be more than 0";
  }
  if (!(c.day_amplitude >= 0 && c.day_amplitude < 1)) {
    return "the daily amplitude must be 0 or more and below 1";
  }
  if (!is_duration(c.frailty_variance)) return "the variance of the frailty must be 0 or more";
  return "";
}

std::string broken_arrivals(const FailureClass& c) {
  if (!(c.weibull_shape > 0) || !std::isfinite(c.weibull_shape)) {
    return "the Weibull shape must be more than 0";
  }
  if (!std::is_sorted(c.trace_s.begin(), c.trace_s.end()) || !are_durations(c.trace_s)) {
    return "the times of a trace must be 0 or more, in ascending order";
  }
  if (!c.trace_nodes.empty() && c.trace_nodes.size() != c.trace_s.size()) {
    return fmt::format("the trace has {} times and {} nodes; there must be a node for each time",
                       c.trace_s.size(), c.trace_nodes.size());
  }
  if (std::any_of(c.trace_nodes.begin(), c.trace_nodes.end(), [](int node) { return node < 0; })) {
    return "the nodes of a trace must be 0 or more";
  }
  if (!are_durations(c.gaps_s)) return "recorded gaps must be 0 or more";
  if (c.arrivals == Arrivals::empirical && !(sum_of(c.gaps_s) > 0)) {
    return "empirical arrivals need recorded gaps, at least one of them above 0";
  }
  return "";
}

std::string broken_effect(const FailureClass& c) {
  if (!is_duration(c.repair.fixed_s) || !are_durations(c.repair.empirical_s)) {
    return "repair times must be 0 or more";
  }
  if (!is_duration(c.repair.lognormal_median_s) || !is_duration(c.repair.lognormal_sigma)) {
    return "median and sigma of a log-normal repair must be 0 or more";
  }
  if (!std::all_of(c.batch_shares.begin(), c.batch_shares.end(), is_share) ||
      (!c.batch_shares.empty() && std::abs(sum_of(c.batch_shares) - 1) > 1e-6)) {
    return fmt::format("the shares of batch sizes must be from 0 to 1 and sum to 1, not to {:.6g}",
                       sum_of(c.batch_shares));
  }
  if (!(c.slowdown >= 1) || !std::isfinite(c.slowdown)) return "the slowdown must be 1 or more";
  if (!is_duration(c.rollback_s)) return "the rollback must be 0 or more";
  if (c.corrupt_tier < 0) return "the corrupt tier must be one of the tiers";
  if (!is_share(c.manual_share)) return "the share that needs a human must be from 0 to 1";
  if (std::isnan(c.detect_s)) return "the time to detect must be a number";
  return "";
}

std::string broken_notice(const FailureClass& c) {
  if (!is_duration(c.notice_s)) return "the notice must be 0 or more";
  if (is_reclaimed(c) && c.kind != FailureKind::node)
    return "a provider takes away whole nodes, so the kind must be node";
  if (c.taken.empty()) return "";
  if (c.taken.size() != c.trace_s.size() || !c.batch_shares.empty()) {
    return "each loss of capacity must state which nodes it takes";
  }
  for (std::size_t i = 0; i < c.taken.size(); ++i) {
    const double from_s = c.taken[i].from_s;
    const auto is_later = [&](double at_s) { return at_s >= from_s; };
    if (!(from_s >= c.trace_s[i]) || !std::ranges::all_of(c.taken[i].until_s, is_later)) {
      return "nodes must leave after the notice, and come back after that";
    }
  }
  return "";
}

double nodes_rate_per_s(const FailureClass& failure_class, int nodes) {
  const double growth = failure_class.growth == 0
                            ? 1
                            : std::pow(nodes / failure_class.growth_nodes, failure_class.growth);
  return failure_class.rate_per_node_s * nodes * growth;
}

}  // namespace

bool is_duration(double seconds) {
  return std::isfinite(seconds) && seconds >= 0;
}

void check_failure_class(const FailureClass& failure_class) {
  for (const auto& broken : {broken_rate, broken_arrivals, broken_effect, broken_notice}) {
    const std::string what = broken(failure_class);
    if (!what.empty()) {
      throw Error(fmt::format("failure class '{}': {}", failure_class.name, what));
    }
  }
}

double job_rate_per_s(const FailureClass& failure_class, int nodes) {
  return nodes_rate_per_s(failure_class, nodes) + failure_class.rate_per_job_s;
}

double mean_rate_per_s(const FailureClass& failure_class, int nodes, double length_s) {
  if (failure_class.arrivals != Arrivals::trace) return job_rate_per_s(failure_class, nodes);
  const std::vector<double>& trace_s = failure_class.trace_s;
  const auto end = std::lower_bound(trace_s.begin(), trace_s.end(), length_s);
  return static_cast<double>(end - trace_s.begin()) / length_s;
}

double draw_repair_s(const RepairTime& repair, RandomStream& random) {
  if (!repair.empirical_s.empty()) {
    return repair.empirical_s[random.below(repair.empirical_s.size())];
  }
  if (repair.lognormal_median_s > 0) {
    return repair.lognormal_median_s * std::exp(repair.lognormal_sigma * random.normal());
  }
  return repair.fixed_s;
}

int draw_batch(const FailureClass& failure_class, RandomStream& random) {
  if (failure_class.batch_shares.empty()) return 1;
  double left = random.uniform();
  const auto sizes = static_cast<int>(failure_class.batch_shares.size());
  for (int size = 1; size < sizes; ++size) {
    left -= failure_class.batch_shares[size - 1];
    if (left < 0) return size;
  }
  return sizes;
}

double mean_batch(const FailureClass& failure_class) {
  double nodes = 0;
  if (!failure_class.taken.empty()) {
    for (const TakenNodes& taken : failure_class.taken) {
      nodes += static_cast<double>(taken.until_s.size());
    }
    return nodes / static_cast<double>(failure_class.taken.size());
  }
  if (failure_class.batch_shares.empty()) return 1;
  for (std::size_t i = 0; i < failure_class.batch_shares.size(); ++i) {
    nodes += failure_class.batch_shares[i] * static_cast<double>(i + 1);
  }
  return nodes;
}

void set_capacity(const std::vector<double>& at_s, const std::vector<int>& nodes_from, int nodes,
                  FailureClass& failure_class) {
  CHECK(at_s.size() == nodes_from.size(), "{} times of {} capacities", at_s.size(),
        nodes_from.size());
  failure_class.arrivals = Arrivals::trace;
  std::deque<std::pair<std::size_t, std::size_t>> away;  // index of the loss, and of its node
  double given_s = 0;
  for (std::size_t i = 0; i < at_s.size(); ++i) {
    const int given = std::min(nodes_from[i], nodes);
    for (; nodes - given < std::ssize(away); away.pop_front()) {
      failure_class.taken[away.front().first].until_s[away.front().second] = at_s[i];
      given_s = at_s[i];
    }
    const auto taken = static_cast<std::size_t>(nodes - given) - away.size();
    if (taken == 0) continue;
    for (std::size_t node = 0; node < taken; ++node) {
      away.emplace_back(failure_class.taken.size(), node);
    }
    failure_class.trace_s.push_back(std::max(given_s, at_s[i] - failure_class.notice_s));
    failure_class.taken.push_back({at_s[i], std::vector<double>(taken, kInfinity)});
  }
}

double operational_time_s(double at_s, double to_s, double day_amplitude) {
  if (day_amplitude == 0) return to_s - at_s;
  constexpr double kOmega = 2 * std::numbers::pi / kDay_s;
  // cos a - cos b as a product, to avoid cancellation if the times are close.
  return to_s - at_s +
         2 * day_amplitude / kOmega * std::sin(kOmega * std::fmod((at_s + to_s) / 2, kDay_s)) *
             std::sin(kOmega * (to_s - at_s) / 2);
}

double wall_time_s(double at_s, double operational_s, double day_amplitude) {
  if (day_amplitude == 0 || !std::isfinite(operational_s)) return at_s + operational_s;
  // The operational time leads or lags by at most amplitude * day / pi.
  const double reach_s = day_amplitude * kDay_s / std::numbers::pi;
  double low_s = at_s + std::max(0.0, operational_s - reach_s);
  double high_s = at_s + operational_s + reach_s;
  double guess_s = at_s + operational_s;
  // Newton's steps, or bisection if one would leave the bracket, which each step tightens. Both
  // stop at the resolution of a double.
  for (int i = 0; i < 200; ++i) {
    const double error_s = operational_time_s(at_s, guess_s, day_amplitude) - operational_s;
    (error_s > 0 ? high_s : low_s) = guess_s;
    const double speed =
        1 + day_amplitude * std::sin(2 * std::numbers::pi * std::fmod(guess_s, kDay_s) / kDay_s);
    double next_s = guess_s - error_s / speed;
    if (!(next_s >= low_s && next_s <= high_s)) next_s = low_s + (high_s - low_s) / 2;
    if (std::abs(next_s - guess_s) <= 1e-15 * guess_s) return next_s;
    guess_s = next_s;
  }
  return guess_s;
}

ArrivalStream::ArrivalStream(const FailureClass& failure_class, int nodes, std::uint64_t seed,
                             std::uint64_t index)
    : class_(&failure_class),
      mean_gap_s_(1 / job_rate_per_s(failure_class, nodes)),
      random_(seed, RandomPurpose::failure_arrival, index) {
  if (class_->arrivals == Arrivals::trace) {
    next_s_ = traced_s();
    return;
  }
  if (!std::isfinite(mean_gap_s_)) {
    next_s_ = kInfinity;
    return;
  }
  double first_s = 0;
  switch (class_->arrivals) {
    case Arrivals::trace:
    case Arrivals::exponential:
      first_s = gap_s();
      break;
    case Arrivals::weibull:
      first_s = random_.weibull_residual(class_->weibull_shape, mean_gap_s_);
      break;
    case Arrivals::empirical:
      first_s = empirical_residual_s();
      break;
  }
  next_s_ = wall_time_s(0, first_s, class_->day_amplitude);
}

void ArrivalStream::advance() {
  if (class_->arrivals == Arrivals::trace) {
    ++trace_index_;
    next_s_ = traced_s();
  } else {
    next_s_ = wall_time_s(next_s_, gap_s() / speed_, class_->day_amplitude);
  }
}

void ArrivalStream::set_speed(double now_s, double speed) {
  const bool never = class_->arrivals == Arrivals::trace || !std::isfinite(mean_gap_s_);
  if (never || speed == speed_) return;
  CHECK(speed >= 0, "hazards are 0 or more, not {}", speed);
  const double amplitude = class_->day_amplitude;
  if (speed_ > 0) halted_s_ = operational_time_s(now_s, next_s_, amplitude) * speed_;
  next_s_ = speed > 0 ? wall_time_s(now_s, halted_s_ / speed, amplitude) : kInfinity;
  speed_ = speed;
}

double ArrivalStream::traced_s() const {
  return trace_index_ < class_->trace_s.size() ? class_->trace_s[trace_index_] : kInfinity;
}

double ArrivalStream::gap_s() {
  const std::vector<double>& gaps_s = class_->gaps_s;
  switch (class_->arrivals) {
    case Arrivals::trace:
    case Arrivals::exponential:
      break;
    case Arrivals::weibull:
      return random_.weibull(class_->weibull_shape, mean_gap_s_);
    case Arrivals::empirical:
      return gaps_s[random_.below(gaps_s.size())] * empirical_scale_;
  }
  return random_.exponential(mean_gap_s_);
}

// A random moment is in a gap with probability proportional to the gap's length, uniformly
// distributed in it (Cox, Renewal Theory, 1962, section 5.1).
double ArrivalStream::empirical_residual_s() {
  const std::vector<double>& gaps_s = class_->gaps_s;
  const double total_s = sum_of(gaps_s);
  empirical_scale_ = mean_gap_s_ * static_cast<double>(gaps_s.size()) / total_s;
  double left_s = random_.uniform() * total_s;
  double longest_s = 0;
  for (const double gap_s : gaps_s) {
    left_s -= gap_s;
    if (left_s < 0) return gap_s * random_.uniform() * empirical_scale_;
    longest_s = std::max(longest_s, gap_s);
  }
  return longest_s * random_.uniform() * empirical_scale_;  // reached only by rounding
}

}  // namespace windtunnel
