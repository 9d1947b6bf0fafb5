// A job that lost nodes and goes on in another layout (tp, pp, dp) with the same batch, as
// Universal Checkpointing (arXiv 2406.18820) and ByteCheckpoint (arXiv 2407.20143) let it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "models/plan/job.hpp"
#include "policies/lowering/prepared_iteration.hpp"

namespace windtunnel {

// The job in that layout, on as many nodes as it needs.
Job relaid(const Job& job, const RelayoutSize& size);

struct RelaidJob {
  Job job;
  std::shared_ptr<const PreparedIteration> prepared;
  int nodes = 0;        // that it needs
  double closed_s = 0;  // iteration, in closed form
};

// By nodes, ascending: those of RecoveryPolicy::relayouts. Any: those that can be, fit in memory,
// and are faster in closed form than any of as many nodes or fewer; tp divides a node's GPUs and pp
// the layers, or is the job's times a power of two, and dp divides the batch. Throws Error about
// the key of a listed one that cannot be.
// `why`: where none can be of any, why not that of most nodes.
std::vector<RelaidJob> relaid_jobs(const Job& job, std::string* why = nullptr);

}  // namespace windtunnel
