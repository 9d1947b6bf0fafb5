// Replays a Timeline with different paces of kernels on each rank (slow nodes, one draw of jitter).
// Every rank is executed separately, while in the Timeline one rank represents all identical ones.
// Tasks start by the rules of models/plan/plan.hpp; kernels are slowed by the draw; collectives of
// replicas take as long as in the Timeline, from the last arrival.
//
// Messages and collectives inside a replica share links with those of other replicas. In the
// Timeline replicas run in step, so all overlap; here only transfers overlap that run at the same
// time. The two Timelines (with all replicas, and alone) tell how many run at full speed; other
// traffic takes its average share of a link. Draws and waiting are exact, contention only among
// transfers of one kind. Error: docs/physics/cost.md. O(n log n) in the tasks, a hundredth of the
// engine's time.
#pragma once

#include "models/machine/cluster.hpp"
#include "models/plan/plan.hpp"
#include "models/plan/timeline.hpp"

namespace windtunnel {

// `steady`: of this Plan on in_step(cluster); `alone`: the same without flows of other replicas
// (fold_of_one_replica()). A stream by priority runs its tasks in the order of `steady`. Throws
// InternalError if the Plan deadlocks.
Timeline replay(const Plan& plan, const Cluster& cluster, const Timeline& steady,
                const Timeline& alone);

// Returns the cluster without slow nodes and jitter, so that all its ranks run in step.
Cluster in_step(Cluster cluster);

// Whether the Timeline simulates fewer ranks than differ from each other.
bool is_replayed(const Timeline& timeline);

// Whether the ranks with individual paces (those in step count once) have more than `most` tasks in
// total: a lower bound for any executor that distinguishes ranks.
bool has_unlike_tasks(const Plan& plan, const Cluster& cluster, double most);

}  // namespace windtunnel
