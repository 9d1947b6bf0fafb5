// One campaign of a job whose islands fail, wait and recover independently. sim/campaign/trial.hpp
// handles a job without islands. Both use the same failure streams, nodes, copies and account. The
// rules: docs/physics/campaign.md, "Islands".
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

// Converts snapshot periods that are given as time into whole steps, so that an island's step
// determines its saved state.
CampaignInputs counted_in_steps(CampaignInputs inputs);

class IslandTrial {
 public:
  // `plan` must outlive the trial, and its inputs must be counted_in_steps(). `index` selects the
  // random streams.
  IslandTrial(const CampaignPlan& plan, int index, std::vector<CampaignEvent>* events = nullptr);

  TrialResult run();

 private:
  enum class Phase { training, saving, detecting, waiting, restarting, loading };
  struct Island {
    explicit Island(const CampaignPlan& plan) : copies(plan) {}

    Copies copies;
    Phase phase = Phase::training;
    double since_s = 0;  // start of the current phase
    double until_s = 0;  // end of the phase; unused in training
    // training: first step of this phase; otherwise the next step if no work is lost
    std::int64_t step = 0;
    std::int64_t fresh = 0;   // first step after it last loaded the weights of others
    std::int64_t shared = 0;  // the weights of others contain its work before this step
    // Steps [first, last) that were not executed, or whose results never reached the others.
    std::vector<std::pair<std::int64_t, std::int64_t>> missed;
    int empty_slots = 0;
    double detect_s = 0;
    double provision_s = 0;
    double link_up_s = 0;
    bool reads_all = true;  // the restart also reads, once, the startup data of its nodes
    bool fails = false;     // down because of a failure
    int saver = kNoTier;    // saving: the destination tier
    int layout_out = 0;     // nodes that the layout lacks in which it trains or restarts
  };

  double next_end_s() const;  // first end of a phase among the islands that are down
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

  void go_on(int island);  // goes on after the end of the island's phase
  void enter(Island& island, Phase phase, double duration_s);
  void wait_or_restart(int island);
  double pace_of(const Island& island) const;
  void grow(int island);
  // From where an island restarts.
  struct Source {
    std::optional<Exchanges::Peers> peers{};  // empty: from its own copy
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
  double unended_s_ = 0;  // of iterations that the campaign's end would interrupt
  std::vector<int> hit_;
  std::vector<std::int64_t> failures_;
  std::vector<std::int64_t> restored_from_;
  std::int64_t failed_restarts_ = 0;
  std::int64_t islands_lost_ = 0;
};

}  // namespace windtunnel
