#include "sim/campaign/account.hpp"

#include <algorithm>
#include <cmath>

#include "models/base/error.hpp"

namespace windtunnel {

void CompensatedSum::add(double value) {
  const double sum = sum_ + value;
  correction_ += std::abs(sum_) >= std::abs(value) ? (sum_ - sum) + value : (value - sum) + sum_;
  sum_ = sum;
}

Account::Account(const CampaignPlan& plan) : plan_(plan), executed_(plan.place_of_pace.size()) {}

void Account::spend(Loss loss, double duration_s) {
  spent_s_[static_cast<int>(loss)].add(duration_s);
}

void Account::cut(double duration_s) {
  cut_s_.add(duration_s);
}

void Account::execute(int pace, const Steps& done) {
  executed_[pace] += done;
}

void Account::begin(std::int64_t head, int pace) {
  while (!begun_.empty() && begun_.back().iteration >= head) begun_.pop_back();
  if (begun_.empty() || begun_.back().pace != pace) begun_.push_back({head, pace});
}

std::vector<std::int64_t> Account::surviving(std::int64_t head) const {
  std::vector<std::int64_t> result(executed_.size(), 0);
  for (std::size_t i = 0; i < begun_.size(); ++i) {
    const std::int64_t end = i + 1 < begun_.size() ? begun_[i + 1].iteration : head;
    result[begun_[i].pace] += std::max<std::int64_t>(0, std::min(end, head) - begun_[i].iteration);
  }
  return result;
}

void Account::close(std::int64_t head, double wall_s, TrialResult& result) const {
  const auto lost_s = [&](Loss loss) -> double& { return result.lost_s[static_cast<int>(loss)]; };
  for (int loss = 0; loss < kLosses; ++loss) result.lost_s[loss] = spent_s_[loss].value();
  lost_s(Loss::redo) += cut_s_.value();

  const std::vector<std::int64_t> survived = surviving(head);
  result.snapshots.assign(plan_.tiers.size(), 0);
  result.skipped_snapshots.assign(plan_.tiers.size(), 0);
  for (std::size_t index = 0; index < executed_.size(); ++index) {
    const Steps& executed = executed_[index];
    if (executed.total == 0) continue;
    const Pace& pace = plan_.pace(static_cast<int>(index));
    const auto counted = static_cast<double>(survived[index]);
    const int size = plan_.size_of_pace(static_cast<int>(index));
    const double useful_s = plan_.sizes[size].progress * plan_.inputs.table.iteration_s[0];
    result.at_size_s[size_class(plan_.sizes[size].progress)] += pace.elapsed_s(executed);
    result.useful_s += counted * useful_s;
    lost_s(Loss::degraded) += counted * (pace.iteration_s() - useful_s);
    lost_s(Loss::redo) +=
        static_cast<double>(executed.total - survived[index]) * pace.iteration_s();
    for (int kind = 0; kind < kPauses; ++kind) {
      lost_s(kLossOfPause[kind]) += static_cast<double>(executed.pauses[kind]) * pace.pause_s(kind);
    }
    for (int set = 1; set < pace.sets(); ++set) {
      lost_s(Loss::stall) += static_cast<double>(executed.by_set[set]) * pace.stall_s(set);
      for (int tier = 0; tier < pace.tiers(); ++tier) {
        if (!(set >> tier & 1)) continue;
        result.snapshots[tier] += executed.by_set[set];
        result.skipped_snapshots[tier] += executed.by_set[set] * (pace.cadence(tier).turns - 1);
      }
    }
  }
  result.wall_s = wall_s;
  result.iterations = head;
  CompensatedSum sum;
  sum.add(result.useful_s);
  for (const double loss : result.lost_s) sum.add(loss);
  CHECK(std::abs(sum.value() - wall_s) <= 1e-9 * wall_s,
        "the account of a trial sums to {} s of {} s", sum.value(), wall_s);
}

}  // namespace windtunnel
