// One campaign: the state machine around runs of iterations. The rules: docs/physics/campaign.md.
//
//   training --failure--> down --restart and load--> training
//   training --failure that other groups outlive--> reforming --> training
//   training --end of an iteration, when asked--> snapshot --> down, or a group leaves or rejoins
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sim/campaign/account.hpp"
#include "sim/campaign/copies.hpp"
#include "sim/campaign/elastic.hpp"
#include "sim/campaign/failure_streams.hpp"
#include "sim/campaign/node_pool.hpp"
#include "sim/campaign/undisturbed_run.hpp"

namespace windtunnel {

class Trial {
 public:
  // `plan` and `events` must outlive the trial. `index` selects the random streams.
  Trial(const CampaignPlan& plan, int index, CampaignMode mode,
        std::vector<CampaignEvent>* events = nullptr);

  TrialResult run();

 private:
  enum class State { training, reforming, down, over };
  // What the job does at the end of the current iteration.
  enum class Pause { none, rejoin, part, stop };

  // What ends or interrupts a run of iterations.
  struct Event {
    enum class Kind { end, repair, rejoin, noticed, failure } kind = Kind::end;
    double at_s = 0;
    FailureStreams::Next failure = {0, -1};
  };
  struct SlowNode {
    int slot;
    int failure_class;
    double noticed_s;
  };

  State train();
  void begin_training();
  Event next_event() const;
  std::optional<State> meet(const Event& event);
  std::optional<State> meet_failure(const Event& event);
  std::optional<State> pause();
  State stop_as_planned(int tier);
  State part();
  State rejoin();
  State give_up_slow_nodes();
  void leave(double at_s, bool running);
  void cut(double at_s);

  State reform();
  State recover();
  std::optional<State> load();
  Copies::Source newest_copy(bool good) const;
  // Spends the time. If a failure or the end of the campaign comes first, spends the time until
  // then and returns the resulting state.
  std::optional<State> spend(Loss loss, double duration_s);
  bool interrupts(int failure_class);

  void strike(const FailureStreams::Next& failure);  // draws hit_
  State fail(int failure_class);
  void lose_copies(const FailureClass& failure_class);
  double lose_nodes(int failure_class);
  double lose_node(int slot, int failure_class);
  std::vector<int> leaving() const;  // slots of nodes that have a notice
  double lose_leaving();
  State go_down();
  void finish_repairs();
  int lacking() const;  // number of nodes, or of groups, that are missing
  // Whether the nodes that are present allow a larger job than the one that trains.
  bool can_grow() const { return plan_.size_of(lacking()) < plan_.size_of(level_); }
  std::vector<int> slots_out() const;

  void note_slow_node(int failure_class);
  int slowest() const;  // class of the slowest node, or kNoSlowNode
  double next_notice_s() const;
  std::vector<SlowNode> noticed() const;
  void swap_slow_nodes();
  void set_pace();

  CampaignEvent* log(CampaignEvent::Kind kind, double at_s);
  void log_swap(int slot, int failure_class);

  const CampaignPlan& plan_;
  const CampaignInputs& inputs_;
  CampaignMode mode_;
  std::vector<CampaignEvent>* events_;
  std::size_t struck_ = 0;  // index of the last failure in events_
  FailureStreams streams_;
  NodePool pool_;
  Groups groups_;
  Copies copies_;
  Account account_;

  State state_ = State::training;
  double now_s_ = 0;
  std::int64_t head_ = 0;     // next iteration; the results of earlier ones survive
  std::int64_t reached_ = 0;  // iterations that had run before the job went down
  int level_ = 0;
  int pace_ = 0;
  std::optional<UndisturbedRun> run_;
  bool goes_on_ = false;  // the next training goes on with this run, because there was no restart
  Pause pause_ = Pause::none;
  double stop_detect_s_ = 0;
  std::vector<SlowNode> slow_;
  std::vector<int> hit_;  // slots that the last failure hit

  // Times of the recovery that is going on.
  double detect_s_ = 0;
  double provision_s_ = 0;  // until spares can join
  double link_up_s_ = 0;    // when the network is repaired

  Ruling ruling_;
  std::vector<std::int64_t> failures_;
  std::vector<std::int64_t> restored_from_;
  std::int64_t failed_restarts_ = 0;
};

}  // namespace windtunnel
