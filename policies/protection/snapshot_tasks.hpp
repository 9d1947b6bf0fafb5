// The tasks that bring a snapshot to its place in parallel to training: encoding on the GPU,
// copying to the host, encoding on CPU cores, exchange of parity or copies between the nodes of a
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
// the nodes of a code group, regardless of their stages. Returns them by pipeline rank; nothing if
// no data moves, or if groups cross stage boundaries so irregularly that no stage is like another.
// Then each member's data crosses only its own NIC, unless `fidelity: flows` is set.
std::vector<GroupSlot> add_code_groups(const Job& job, const SnapshotTier& tier, Plan& plan);

struct SnapshotEnd {
  TaskIndex staged = -1;    // it is complete in host memory, so training may change the state again
  TaskIndex complete = -1;  // it can be restored
};

// Adds one snapshot of one rank. `code_slot`: slot of the code's groups in `tasks`, -1: no groups;
// `largest`: maximum state bytes over pipeline ranks, because members of a code group exchange
// equal blocks. `after`: the optimizer step that produced this state, -1 at the beginning.
SnapshotEnd add_snapshot(const Job& job, const SnapshotTier& tier, double state_bytes,
                         double largest, int code_slot, TaskIndex after, RankTasks& tasks);

// Adds the time for which training itself waits: SnapshotTier::coordination_s.
TaskIndex add_coordination(const SnapshotTier& tier, TaskIndex after, RankTasks& tasks);

}  // namespace windtunnel
