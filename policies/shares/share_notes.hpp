// What was decided for the nodes of a job that are not alike: which layers and which part of the
// batch each gets, where that is not even.
#pragma once

#include <span>
#include <vector>

#include "models/plan/job.hpp"
#include "models/results/note.hpp"
#include "policies/shares/replica_kind.hpp"

namespace windtunnel {

// `kinds`: those of its replicas, with their shares. None where all is even.
std::vector<Note> share_notes(const Job& job, std::span<const ReplicaKind> kinds);

}  // namespace windtunnel
