// A job that has lost nodes and goes on in another layout (tp, pp, dp) with the same batch, as
// Universal Checkpointing (arXiv 2406.18820) and ByteCheckpoint (arXiv 2407.20143) allow.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "models/plan/job.hpp"
#include "policies/lowering/prepared_iteration.hpp"

namespace windtunnel {

// Returns the job in that layout, on the number of nodes that it needs.
Job relaid(const Job& job, const RelayoutSize& size);

struct RelaidJob {
  Job job;
  std::shared_ptr<const PreparedIteration> prepared;
  int nodes = 0;        // number of nodes that it needs
  double closed_s = 0;  // closed-form iteration time
};

// Returns the layouts of RecoveryPolicy::relayouts, by number of nodes, ascending. If any layout is
// allowed, returns valid ones that fit in memory and are faster in closed form than all with at
// most as many nodes. In these tp divides a node's GPUs and pp the layers, or each is the job's own
// times a power of two, and dp divides the batch. Throws Error about the key of a listed layout
// that is invalid. `why`: if any layout is allowed but none is possible, the reason for the one
// with most nodes.
std::vector<RelaidJob> relaid_jobs(const Job& job, std::string* why = nullptr);

}  // namespace windtunnel
