// All random choices of one trial: when each class of failure strikes, whom, for how long, and
// whether what is done about it works.
#pragma once

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
  };
  Next next() const;
  // The arrival of the class strikes these slots; the next one of the class is drawn.
  void strike(int failure_class, std::vector<int>& hit);
  // From now on this node, or kNobody, stands there; `was_empty`: before nobody did.
  void stands(int slot, int node, bool was_empty, double now_s);

  double draw_repair_s(int failure_class);
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
  const CampaignInputs& inputs_;
  std::vector<Class> classes_;
  RandomStream restarts_;
};

}  // namespace windtunnel
