// The tasks that bring a snapshot to its place in parallel to training: copy to the host, encoding
// on the GPU before or on CPU cores after it, exchange of parity or copies between the nodes of a
// code group, and writing to disk or storage. All use shared resources, so they compete with
// training and with other snapshots.
#pragma once

#include <optional>
#include <vector>

#include "models/plan/job.hpp"
#include "models/plan/plan.hpp"
#include "policies/tasks/rank_tasks.hpp"

namespace windtunnel {

// Appends to the plan the groups in which a tier's code moves data: GPUs with the same position in
// the nodes of a code group, regardless of their stages. Result: [pipeline rank]; empty: no data
// moves, or groups cross stage boundaries so irregularly that none is like another. Then each
// member's data only crosses its own NIC, unless `fidelity: flows` is set.
std::vector<GroupSlot> add_code_groups(const Job& job, const SnapshotTier& tier, Plan& plan);

struct SnapshotEnd {
  TaskIndex staged = -1;    // complete in host memory: training may change the state again
  TaskIndex complete = -1;  // restorable
};

// One snapshot of one rank. `code_slot`: of the code's groups in `tasks`, -1 without; `largest`:
// maximum state bytes over pipeline ranks, since members of a code group exchange equal blocks.
// `after`: the optimizer that produced this state, -1 at the beginning.
SnapshotEnd add_snapshot(const Job& job, const SnapshotTier& tier, double state_bytes,
                         double largest, int code_slot, TaskIndex after, RankTasks& tasks);

// The wait of training itself: SnapshotTier::coordination_s.
TaskIndex add_coordination(const SnapshotTier& tier, TaskIndex after, RankTasks& tasks);

}  // namespace windtunnel
