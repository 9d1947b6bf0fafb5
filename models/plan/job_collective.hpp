// How a job's collectives run: as its scenario sets for their axis or kind, otherwise by the
// cheapest algorithm.
#pragma once

#include <array>
#include <deque>
#include <span>

#include "models/network/collectives/collective.hpp"
#include "models/network/collectives/collective_law.hpp"
#include "models/network/groups/group_shape.hpp"
#include "models/plan/job.hpp"

namespace windtunnel {

std::span<const CollectiveKind> kinds_of_axis(Category axis);

// Throws Error, naming the setting's place in the scenario, if it does not apply to such a group.
CollectiveChoice collective_choice(const Job& job, Category axis, CollectiveKind kind,
                                   const GroupShape& shape);

// collective_cost() with that choice, or with an algorithm that the caller gives.
CollectiveCost collective_cost(const Job& job, Category axis, CollectiveKind kind,
                               const GroupShape& shape, double bytes,
                               CollectiveAlgorithm algorithm = CollectiveAlgorithm::automatic);

// collective_cost() with a cache, for callers that ask many times: a step has hundreds of
// collectives in a few groups and sizes, and each group's law and each size's cost is computed
// once. The job must outlive it. Not thread-safe.
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
  // The law of one group, and the costs of the sizes that were asked for most recently.
  struct Known {
    CollectiveChoice choice;
    CollectiveLaw law;
    std::array<double, 16> bytes{};
    std::array<CollectiveCost, 16> costs{};
    int asked = 0;  // number of sizes stored so far
  };
  Known& known(CollectiveKind kind, CollectiveChoice choice, const GroupShape& shape) const;

  const Job& job_;
  mutable std::deque<Known> known_;
};

}  // namespace windtunnel
