// All random choices of one trial: when each class of failure strikes, which nodes, for how long,
// and whether the response to it works.
#pragma once

#include <map>
#include <vector>

#include "models/reliability/failure_process.hpp"
#include "models/reliability/victims.hpp"
#include "sim/campaign/campaign.hpp"

namespace windtunnel {

class FailureStreams {
 public:
  // `inputs` must outlive it.
  FailureStreams(const CampaignInputs& inputs, int trial);

  struct Next {
    double at_s;
    int failure_class;
    bool leaves = false;  // nodes whose notice is over; of a class with a notice else that begins
  };
  Next next() const;
  bool is_notice(const Next& next) const {
    return !next.leaves && inputs_.failures[next.failure_class].notice_s > 0;
  }
  // It strikes these slots; of an arrival the next one of the class is drawn.
  void strike(const Next& next, std::vector<int>& hit);

  // A node that the job knows it will lose.
  struct Leaving {
    int slot;
    int failure_class;
    double at_s;
  };
  // These, which the notice just struck, leave at its end if nothing takes them before.
  void announce(int failure_class, const std::vector<int>& slots, double now_s);
  const std::vector<Leaving>& leaving() const { return leaving_; }
  double next_leaving_s() const;  // infinite: none leaves
  // From now on the slot holds this node, or none (kNobody); `was_empty`: before it held none.
  void stands(int slot, int node, bool was_empty, double now_s);

  double draw_repair_s(int failure_class);
  // Until the node that leaves the slot is there again, or another for it.
  double draw_away_s(int failure_class, int slot, double now_s);
  // From a failure at now_s until somebody or something acts.
  double noticed_after_s(int failure_class, double now_s);
  bool restart_works();
  bool meets_storm();  // other jobs read from the storage beside this restart

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
  // By slot, of those that a trace of capacity took last.
  struct Away {
    double from_s, until_s;
  };
  std::map<int, Away> away_;
  RandomStream restarts_;
};

}  // namespace windtunnel
