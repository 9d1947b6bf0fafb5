// Sparse against dense exchange on a slow network (the rows of gTop-k, Shi et al. 2019, arXiv
// 1901.04359: 1 Gb/s Ethernet, one GPU a node): the speed-ups and the shares of a step of one
// network, predicted from what was fitted on another one.
#pragma once

#include <vector>

#include "traces/rows/compression_rows.hpp"
#include "validate/accuracy/rows/validation_report.hpp"

namespace windtunnel {

bool is_sparse_row(const CompressionRun& run);

struct SparseRows {
  std::vector<ValidationRow> judged;
  std::vector<SkippedRow> skipped;
  std::vector<std::string> laws;  // what was fitted on what, for people
};

// `tcp_step_s`: latency of a step of a collective over TCP, fitted elsewhere.
SparseRows validate_sparse(const std::vector<const CompressionRun*>& runs, double tcp_step_s);

}  // namespace windtunnel
