// Accounts for the wall time of one trial: books each second as useful or as a Loss, and checks at
// the end that all seconds add up. docs/physics/campaign.md has the table.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/campaign/campaign_plan.hpp"

namespace windtunnel {

// Neumaier's compensated sum.
class CompensatedSum {
 public:
  void add(double value);
  double value() const { return sum_ + correction_; }

 private:
  double sum_ = 0;
  double correction_ = 0;
};

class Account {
 public:
  // `plan` must outlive the account.
  explicit Account(const CampaignPlan& plan);

  void spend(Loss loss, double duration_s);
  void cut(double duration_s);                // of an iteration that a failure interrupts
  void execute(int pace, const Steps& done);  // whole iterations
  // Iterations from `head` on run at this pace. What was computed of them earlier is lost.
  void begin(std::int64_t head, int pace);

  // Ends the account: iterations up to `head` survive. Fills useful_s, lost_s, iterations and
  // snapshots, and checks the sum.
  void close(std::int64_t head, double wall_s, TrialResult& result) const;

 private:
  std::vector<std::int64_t> surviving(std::int64_t head) const;  // by pace, iterations up to `head`

  struct PaceFrom {
    std::int64_t iteration;
    int pace;
  };
  const CampaignPlan& plan_;
  std::vector<PaceFrom> begun_;  // ascending by iteration
  std::vector<Steps> executed_;  // by pace
  CompensatedSum cut_s_;
  CompensatedSum spent_s_[kLosses];
};

}  // namespace windtunnel
