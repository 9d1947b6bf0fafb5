// One campaign of a job whose islands fail, wait and recover each on its own: what sim/campaign/
// trial.hpp does for a job that is one. Both have the streams of failures, nodes, copies and the
// account in common. The rules: docs/physics/campaign.md, "Islands".
//
//   training --failure--> detecting --> waiting --> restarting --> loading --> training
//   training --planned stop, notice--> saving --> detecting ...
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "sim/campaign/account.hpp"
#include "sim/campaign/copies.hpp"
#include "sim/campaign/exchanges.hpp"
#include "sim/campaign/failure_streams.hpp"
#include "sim/campaign/node_pool.hpp"

namespace windtunnel {

// Inputs as a campaign of islands takes them: periods of snapshots by time become whole steps, so
// that what an island has saved follows from its step.
CampaignInputs counted_in_steps(CampaignInputs inputs);

class IslandTrial {
 public:
  // `plan`, of inputs that are counted_in_steps(), must outlive the trial. `index` selects the
  // random streams.
  IslandTrial(const CampaignPlan& plan, int index, std::vector<CampaignEvent>* events = nullptr);

  TrialResult run();

 private:
  enum class Phase { training, saving, detecting, waiting, restarting, loading };
  struct Island {
    explicit Island(const CampaignPlan& plan) : copies(plan) {}

    Copies copies;
    Phase phase = Phase::training;
    double since_s = 0;  // it began with what it does
    double until_s = 0;  // the phase ends, unless it trains
    // training: the step that it began with; else the next one if nothing were lost
    std::int64_t step = 0;
    std::int64_t fresh = 0;   // weights of others were taken last before this step
    std::int64_t shared = 0;  // what it did before this step is in the others' weights
    // Steps that it did not take, or whose result never reached the others: [first, last).
    std::vector<std::pair<std::int64_t, std::int64_t>> missed;
    int empty_slots = 0;
    double detect_s = 0;
    double provision_s = 0;
    double link_up_s = 0;
    bool reads_all = true;  // a restart also reads, once, what its nodes need besides
    bool fails = false;     // it is down because of a failure
    int saver = kNoTier;    // (saving) to this tier
    int layout_out = 0;     // nodes out of the layout that it trains in, or begins again in
  };

  double next_end_s() const;  // of a phase of an island that is down
  void meet_failure(const FailureStreams::Next& failure);
  void stop_all_as_planned(double detect_s);
  void stop_as_planned(int island, int tier, double detect_s);
  void fail(int island, int failure_class, double link_s);
  void heed_notice(int island, int failure_class);
  void lose_node(int island, int slot, int failure_class);
  void lose_leaving(int island);
  void halt(int island, bool at_end = false);
  void collect(int island, const Exchanges::Position& position);
  void finish_repairs();

  void go_on(int island);  // its phase is over
  void enter(Island& island, Phase phase, double duration_s);
  void wait_or_restart(int island);
  double pace_of(const Island& island) const;
  void grow(int island);
  // What to begin again with.
  struct Source {
    std::optional<Exchanges::Peers> peers{};  // nothing: its own copy
    Copies::Source own{};
  };
  Source newest(int island) const;
  bool others_hold_all(int island) const;
  void load(int island);
  void end_load(int island);
  void take_weights_of_others(Island& island, std::int64_t step);
  void begin(int island, std::int64_t step);
  void book(Island& island);
  void miss(int island, double at_s, std::int64_t shared, std::int64_t step);
  std::int64_t counted(int island) const;
  TrialResult result();
  CampaignEvent* log(CampaignEvent::Kind kind);

  const CampaignPlan& plan_;
  const CampaignInputs& inputs_;
  const IslandTable& table_;
  const Pace& pace_;
  std::vector<CampaignEvent>* events_;
  FailureStreams streams_;
  NodePool pool_;
  Account account_;
  Exchanges exchanges_;
  Exchanges::Told told_;
  std::vector<Island> islands_;
  std::vector<int> down_;
  double now_s_ = 0;
  double unended_s_ = 0;  // of iterations that the campaign's end would cut
  std::vector<int> hit_;
  std::vector<std::int64_t> failures_;
  std::vector<std::int64_t> restored_from_;
  std::int64_t failed_restarts_ = 0;
  std::int64_t islands_lost_ = 0;
};

}  // namespace windtunnel
