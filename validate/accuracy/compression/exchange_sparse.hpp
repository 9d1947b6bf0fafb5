// Sparse against dense exchange on a slow network, as rows that state a throughput by number of
// GPUs and others that state the parts of a step tell it (`sparse` in exchange_sources.yaml; the
// rows of gTop-k, Shi et al. 2019, arXiv 1901.04359): the speed-ups and the shares of a step of one
// model, predicted from what was fitted on another one. Solved for, not fitted: no row is left over
// that would tell an interval.
//   select_s  seconds an element to select, from the stated part of the step
//   share     of the NIC's bandwidth that dense gradients get at each number of GPUs; sparse ones
//             get a constant multiple of it, as the largest number of GPUs tells
//   software  seconds an element that sparse exchange costs beside the network, as the fewest GPUs
//             tell, where the network does least
#pragma once

#include <string>
#include <vector>

#include "validate/accuracy/compression/exchange_source.hpp"
#include "validate/accuracy/rows/validation_report.hpp"

namespace windtunnel {

struct SparseRows {
  std::vector<ValidationRow> judged;
  std::vector<SkippedRow> skipped;
  std::vector<std::string> laws;  // what was fitted on what, for people
};

// `tcp_step_s`: latency of a step of a collective, fitted elsewhere.
SparseRows validate_sparse(const ExchangeSource& source,
                           const std::vector<const CompressionRun*>& runs, double tcp_step_s);

}  // namespace windtunnel
