#include "models/failure_process.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "models/base/error.hpp"

namespace windtunnel {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

bool is_duration(double seconds) {
  return std::isfinite(seconds) && seconds >= 0;
}

}  // namespace

void check_failure_class(const FailureClass& failure_class) {
  const auto fail = [&](const std::string& what) {
    throw Error(fmt::format("failure class '{}': {}", failure_class.name, what));
  };
  if (!is_duration(failure_class.rate_per_node_s)) fail("the rate must be 0 or more");
  if (!(failure_class.weibull_shape > 0)) fail("the Weibull shape must be more than 0");
  const std::vector<double>& trace = failure_class.trace_s;
  if (!std::is_sorted(trace.begin(), trace.end()) ||
      !std::all_of(trace.begin(), trace.end(), is_duration)) {
    fail("the times of a trace must be 0 or more and ascend");
  }
  const std::vector<double>& repairs = failure_class.repair.empirical_s;
  if (!is_duration(failure_class.repair.fixed_s) ||
      !std::all_of(repairs.begin(), repairs.end(), is_duration)) {
    fail("repair times must be 0 or more");
  }
}

double job_rate_per_s(const FailureClass& failure_class, int nodes) {
  const double growth = failure_class.growth == 0
                            ? 1
                            : std::pow(nodes / failure_class.growth_nodes, failure_class.growth);
  return failure_class.rate_per_node_s * nodes * growth + failure_class.rate_per_job_s;
}

double draw_repair_s(const RepairTime& repair, RandomStream& random) {
  if (repair.empirical_s.empty()) return repair.fixed_s;
  return repair.empirical_s[random.below(repair.empirical_s.size())];
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

ArrivalStream::ArrivalStream(const FailureClass& failure_class, int nodes, std::uint64_t seed,
                             std::uint64_t index)
    : class_(&failure_class),
      mean_gap_s_(1 / job_rate_per_s(failure_class, nodes)),
      random_(seed, RandomPurpose::failure_arrival, index) {
  switch (class_->arrivals) {
    case Arrivals::trace:
      next_s_ = traced_s();
      return;
    case Arrivals::exponential:
      next_s_ = gap_s();
      return;
    case Arrivals::empirical:
    case Arrivals::weibull:
      next_s_ = std::isfinite(mean_gap_s_)
                    ? random_.weibull_residual(class_->weibull_shape, mean_gap_s_)
                    : kNever;
  }
}

void ArrivalStream::advance() {
  if (class_->arrivals == Arrivals::trace) {
    ++trace_index_;
    next_s_ = traced_s();
  } else {
    next_s_ += gap_s() / speed_;
  }
}

void ArrivalStream::set_speed(double now_s, double speed) {
  if (class_->arrivals == Arrivals::trace || speed == speed_) return;
  next_s_ = now_s + (next_s_ - now_s) * speed_ / speed;
  speed_ = speed;
}

double ArrivalStream::traced_s() const {
  return trace_index_ < class_->trace_s.size() ? class_->trace_s[trace_index_] : kNever;
}

double ArrivalStream::gap_s() {
  if (class_->arrivals == Arrivals::exponential) return random_.exponential(mean_gap_s_);
  return random_.weibull(class_->weibull_shape, mean_gap_s_);
}

}  // namespace windtunnel
