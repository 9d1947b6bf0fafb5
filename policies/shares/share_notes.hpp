// Notes on how layers and the batch are divided among nodes of different kinds, if not evenly.
#pragma once

#include <span>
#include <vector>

#include "models/plan/job.hpp"
#include "models/results/note.hpp"
#include "policies/shares/replica_kind.hpp"

namespace windtunnel {

// `kinds`: those of the job's replicas, with their shares. Empty if everything is even.
std::vector<Note> share_notes(const Job& job, std::span<const ReplicaKind> kinds);

}  // namespace windtunnel
