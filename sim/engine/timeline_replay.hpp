// Replays a Timeline with different paces of kernels on each rank (slow nodes, one draw of jitter).
// Every rank is executed separately, whereas in the Timeline one rank represents all identical
// ones. Tasks start by the rules of models/plan/plan.hpp. The draw slows kernels. Collectives of
// replicas take as long as in the Timeline, from the last arrival.
// Messages and collectives inside a replica share links with those of other replicas. In the
// Timeline replicas run in step, so all of these transfers overlap; here only those overlap that
// run at the same time. The two Timelines (with all replicas, and of one alone) tell how many can
// run at full speed. Other traffic takes its average share of a link. So draws and waiting are
// exact, but contention is known only among transfers of one kind. Error: docs/physics/cost.md. O(n
// log n) in the tasks, a hundredth of the engine's time.
#pragma once

#include "models/machine/cluster.hpp"
#include "models/plan/plan.hpp"
#include "models/plan/timeline.hpp"

namespace windtunnel {

// `steady`: Timeline of this Plan on in_step(cluster); `alone`: the same without flows of other
// replicas (fold_of_one_replica()). A stream by priority runs its tasks in the order of `steady`.
// Throws InternalError if the Plan deadlocks.
Timeline replay(const Plan& plan, const Cluster& cluster, const Timeline& steady,
                const Timeline& alone);

// Returns the cluster without slow nodes and jitter, so that all its ranks run in step.
Cluster in_step(Cluster cluster);

// Whether fewer ranks were simulated for the Timeline than there are different ranks.
bool is_replayed(const Timeline& timeline);

// Whether the ranks with different paces (ranks in step count once) have more than `most` tasks in
// total. Any executor that distinguishes ranks runs at least these.
bool has_unlike_tasks(const Plan& plan, const Cluster& cluster, double most);

}  // namespace windtunnel
