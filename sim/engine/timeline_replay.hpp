// A Timeline replayed with the kernels' paces on slow nodes and in one draw of jitter: every rank
// that waits for others on its own, in place of one for all that are alike without them. Each task
// starts by the rules of models/plan/plan.hpp; kernels take what the draw makes of them,
// collectives of replicas as long as in the Timeline from when all that take part have come.
//
// Messages and collectives inside a replica share links with their like of other replicas. In step
// all of them go at once; here those do that overlap, at most as many at full speed as the two
// Timelines tell (with all of them and alone), the rest of the link's time on average taken by
// others. So the draw is exact and so is who waits for whom; which transfers meet is exact for
// their like alone. Error against the engine with all unlike ranks: docs/physics/cost.md. O(n log
// n) in the tasks of all unlike ranks, a hundredth of what the engine takes.
#pragma once

#include "models/machine/cluster.hpp"
#include "models/plan/plan.hpp"
#include "models/plan/timeline.hpp"

namespace windtunnel {

// `steady`: of this Plan on this cluster in_step(); `alone`: likewise, without flows of other
// replicas (fold_of_one_replica()). A stream by priority takes its tasks in the order that they
// have in `steady`. Throws InternalError when the Plan deadlocks.
Timeline replay(const Plan& plan, const Cluster& cluster, const Timeline& steady,
                const Timeline& alone);

// Without slow nodes and jitter.
Cluster in_step(Cluster cluster);

// Whether the Timeline simulates fewer ranks than differ from each other.
bool is_replayed(const Timeline& timeline);

// Whether ranks whose kernels have a pace of their own, each once with those in step with it, have
// more tasks than `most`: no executor that tells ranks apart has fewer to do.
bool has_unlike_tasks(const Plan& plan, const Cluster& cluster, double most);

}  // namespace windtunnel
