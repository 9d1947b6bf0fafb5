// How a snapshot gets to its place, as tasks beside training: copied to the host, encoded on the
// GPU before or on CPU cores after it, parity or copies exchanged between the nodes of a code
// group, the rest written to disk or storage. All on shared resources, so that it competes with
// training and with other snapshots.
#pragma once

#include <optional>
#include <vector>

#include "models/plan/job.hpp"
#include "models/plan/plan.hpp"
#include "policies/tasks/rank_tasks.hpp"

namespace windtunnel {

// Appends to the plan the groups over which a tier's code moves bytes: GPUs of equal place in the
// nodes of a code group, whichever stages they hold. [pipeline rank]; empty: it moves none, or the
// groups lie across the edges of stages so that none is like another: then each member's bytes only
// cross its own NIC, unless `fidelity: flows` asks for more.
std::vector<GroupSlot> add_code_groups(const Job& job, const SnapshotTier& tier, Plan& plan);

struct SnapshotEnd {
  TaskIndex staged = -1;    // in host memory: training may change the state again
  TaskIndex complete = -1;  // can be restored
};

// One snapshot of one rank. `code_slot`: of the code's groups in `tasks`, -1 without; `largest` of
// all pipeline ranks' state bytes: members of a code group exchange equal blocks. `after`: the
// optimizer that left this state, -1 at the beginning.
SnapshotEnd add_snapshot(const Job& job, const SnapshotTier& tier, double state_bytes,
                         double largest, int code_slot, TaskIndex after, RankTasks& tasks);

// Training's own wait: SnapshotTier::coordination_s.
TaskIndex add_coordination(const SnapshotTier& tier, TaskIndex after, RankTasks& tasks);

}  // namespace windtunnel
