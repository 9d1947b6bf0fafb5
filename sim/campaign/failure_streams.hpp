// All random choices of one trial: when failures of each class occur, which nodes they hit and for
// how long, and whether the response works.
#pragma once

#include <map>
#include <vector>

#include "models/reliability/failure_process.hpp"
#include "models/reliability/victims.hpp"
#include "sim/campaign/campaign.hpp"

namespace windtunnel {

class FailureStreams {
 public:
  // `inputs` must outlive the streams.
  FailureStreams(const CampaignInputs& inputs, int trial);

  struct Next {
    double at_s;
    int failure_class;
    // true: the nodes leave now, at the end of their notice; false: a failure occurs or, in a class
    // with notice, a notice begins
    bool leaves = false;
  };
  Next next() const;
  bool is_notice(const Next& next) const {
    return !next.leaves && inputs_.failures[next.failure_class].notice_s > 0;
  }
  // Draws the slots that the event hits and, if it is no leaving, the next failure of its class.
  void strike(const Next& next, std::vector<int>& hit);

  // A node of which is known when it leaves.
  struct Leaving {
    int slot;
    int failure_class;
    double at_s;
  };
  // Begins the notice of these slots: they leave at its end unless they are lost earlier.
  void announce(int failure_class, const std::vector<int>& slots, double now_s);
  const std::vector<Leaving>& leaving() const { return leaving_; }
  double next_leaving_s() const;  // infinite: no node is leaving
  // From now on the slot holds this node, or none (kNobody). `was_empty`: it held none before.
  void stands(int slot, int node, bool was_empty, double now_s);

  double draw_repair_s(int failure_class);
  // Returns the time until the node that leaves the slot is back, or the provider replaces it.
  double draw_away_s(int failure_class, int slot, double now_s);
  // Returns the time from a failure at `now_s` until the response begins.
  double noticed_after_s(int failure_class, double now_s);
  bool restart_works();
  bool meets_storm();  // whether other jobs read from the storage during this restart

 private:
  bool needs_human(int failure_class);

  struct Class {
    const FailureClass* failure_class;
    std::uint64_t stream;
    ArrivalStream arrivals;
    Victims victims;
    RandomStream repair;
    RandomStream human;
  };
  void reclaim(Class& one, std::vector<int>& hit);
  bool is_leaving(int slot) const;

  const CampaignInputs& inputs_;
  std::vector<Class> classes_;
  std::vector<Leaving> leaving_;
  // By slot: when the node that a trace of capacity took last is away.
  struct Away {
    double from_s, until_s;
  };
  std::map<int, Away> away_;
  RandomStream restarts_;
};

}  // namespace windtunnel
