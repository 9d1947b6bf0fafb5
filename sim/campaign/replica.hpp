// One campaign: the state machine training -> down -> training around stretches of iterations.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <queue>
#include <vector>

#include "models/failure_process.hpp"
#include "policies/snapshot_tiers.hpp"
#include "sim/campaign/stretch.hpp"

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

// What the replicas of a campaign share; made before they start.
struct CampaignPlan {
  explicit CampaignPlan(const CampaignInputs& campaign_inputs);

  const CampaignInputs& inputs;     // must outlive the plan
  std::vector<SnapshotTier> tiers;  // of inputs.table
  std::vector<Pace> paces;          // by missing nodes
};

class Replica {
 public:
  // `plan` must outlive the replica. `index` selects the random streams.
  Replica(const CampaignPlan& plan, int index, CampaignMode mode);

  ReplicaResult run();

 private:
  enum class State { training, down, over };

  // What ends or interrupts a stretch.
  struct Event {
    enum class Kind { end, repair, failure } kind = Kind::end;
    double at_s = 0;
    int failure_class = -1;
  };

  State train();
  State stop_as_planned(const Stretch& stretch, double stop_detect_s);
  State recover();
  // Spends the time unless a failure or the end of the campaign comes first; what it led to then.
  std::optional<State> spend(Loss loss, double duration_s);

  Event next_failure() const;
  Event next_event() const;
  void count_failure(const Event& event);
  void fail(const Event& event);
  void lose_node(const FailureClass& failure_class, int class_index);
  int lose_copies(FailureKind kind);
  void finish_repairs();
  int most_missing() const;  // nodes, for the job to run

  void leave(const Stretch& stretch, double at_s, bool running);
  void note_level();
  void account(ReplicaResult& result) const;

  const CampaignPlan& plan_;
  const CampaignInputs& inputs_;
  CampaignMode mode_;
  std::vector<ArrivalStream> arrivals_;  // by class
  std::vector<RandomStream> repair_random_;

  double now_s_ = 0;
  std::int64_t head_ = 0;  // iterations that survive
  int missing_ = 0;        // nodes the job lacks
  int spares_;
  // When the nodes in repair come back, the earliest first.
  std::priority_queue<double, std::vector<double>, std::greater<>> repairs_;

  // Of the recovery under way.
  double detect_s_ = 0;
  double restore_s_ = 0;

  int level_ = 0;                       // nodes missing while training
  std::vector<RestorableCopy> copies_;  // by tier
  // From which surviving iteration on which level held; ascending.
  struct LevelFrom {
    std::int64_t iteration;
    int level;
  };
  std::vector<LevelFrom> levels_;

  std::vector<Steps> executed_;  // by level
  CompensatedSum cut_s_;         // of iterations that a failure cut
  CompensatedSum spent_s_[kLosses];
  CompensatedSum node_down_s_;
  std::vector<std::int64_t> failures_;
  std::vector<std::int64_t> restored_from_;
};

}  // namespace windtunnel
