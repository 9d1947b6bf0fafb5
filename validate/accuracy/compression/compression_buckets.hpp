// PyTorch DDP's step against its step on one GPU, by bucket size (the rows of pytorch's
// benchmarks/distributed/ddp): how much longer it takes on more of them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "traces/rows/compression_rows.hpp"
#include "validate/accuracy/rows/validation_report.hpp"

namespace windtunnel {

bool is_bucket_row(const CompressionRun& run);

struct BucketRows {
  std::vector<ValidationRow> judged;  // step / step on one GPU
  std::vector<ValidationRow> fitted;
  std::vector<SkippedRow> skipped;
  std::string law;  // what was fitted, for people
  // By family: how many judged rows are off, and how much of it the source's rounding may be.
  std::map<std::string, std::string> notes;
};

// Fitted on the rows of one network, ResNet-50 on V100, frozen.
BucketRows validate_buckets(const std::vector<const CompressionRun*>& runs, int threads);

}  // namespace windtunnel
