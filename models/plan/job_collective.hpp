// How a job's collectives run: as its scenario says for their axis or for their kind, else as costs
// least.
#pragma once

#include <array>
#include <deque>
#include <span>

#include "models/network/collectives/collective.hpp"
#include "models/network/collectives/collective_law.hpp"
#include "models/network/groups/group_shape.hpp"
#include "models/plan/job.hpp"

namespace windtunnel {

// The kinds of collectives that an axis may run.
std::span<const CollectiveKind> kinds_of_axis(Category axis);

// Throws Error at the scenario's place when what it says does not apply to such a group.
CollectiveChoice collective_choice(const Job& job, Category axis, CollectiveKind kind,
                                   const GroupShape& shape);

// collective_cost() by that choice, or by an algorithm that who asks has chosen.
CollectiveCost collective_cost(const Job& job, Category axis, CollectiveKind kind,
                               const GroupShape& shape, double bytes,
                               CollectiveAlgorithm algorithm = CollectiveAlgorithm::automatic);

// The same for who asks many times: a step has hundreds of collectives of a few groups and sizes,
// and each group's law and each size's cost is worked out once. The job outlives it. Not for
// several threads at once.
class CollectiveCosts {
 public:
  explicit CollectiveCosts(const Job& job) : job_(job) {}
  CollectiveCosts(const CollectiveCosts&) = delete;
  CollectiveCosts& operator=(const CollectiveCosts&) = delete;

  const Job& job() const { return job_; }
  CollectiveCost cost(CollectiveKind kind, CollectiveChoice choice, const GroupShape& shape,
                      double bytes) const;
  CollectiveCost cost(Category axis, CollectiveKind kind, const GroupShape& shape, double bytes,
                      CollectiveAlgorithm algorithm = CollectiveAlgorithm::automatic) const;

 private:
  // The sizes asked for last.
  struct Known {
    CollectiveChoice choice;
    CollectiveLaw law;
    std::array<double, 16> bytes{};
    std::array<CollectiveCost, 16> costs{};
    int asked = 0;  // sizes so far
  };
  Known& known(CollectiveKind kind, CollectiveChoice choice, const GroupShape& shape) const;

  const Job& job_;
  mutable std::deque<Known> known_;
};

}  // namespace windtunnel
