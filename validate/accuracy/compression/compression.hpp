// Measured steps of data-parallel training, exchanged in many ways, against predictions. What each
// part fits, on which rows, and what it judges:
//   compression_links.hpp      methods of overlap on one cluster, one law per network
//   compression_sparse.hpp     gTop-k and top-k on 1 Gb/s
//   compression_buckets.hpp    PyTorch DDP's buckets
//   quantised_all_reduce.hpp   few-bit all-reduces inside a node
// All other rows are listed with the reason; recalled ones are never judged.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "traces/rows/compression_rows.hpp"
#include "validate/accuracy/compression/compression_links.hpp"
#include "validate/accuracy/compression/quantised_all_reduce.hpp"
#include "validate/accuracy/rows/row_filter.hpp"
#include "validate/accuracy/rows/validation_report.hpp"

namespace windtunnel {

// Files of measured rows: steps, and quantised all-reduces.
struct CompressionFiles {
  std::vector<CompressionRuns> runs;
  std::vector<CsvTable> quantised;
};

// Any number of files in any order; their headers say what they hold. Throws Error where one is
// neither.
CompressionFiles read_compression_files(const std::vector<std::string>& paths);

struct CompressionOptions {
  std::optional<RowFilter> where = {};  // judge only these rows; what is fitted stays
  // Rows that the links are fitted on: those of `calibrate_on`, which are then not judged, else of
  // the files that are. None: all rows of `calibrate_on`, kLinkFitRows of the others.
  std::optional<RowFilter> fit_where = {};
  std::vector<CompressionRuns> calibrate_on = {};
  int threads = 0;  // 0: all cores
};

// All-reduces of whole tensors up to 16 GPUs, of two of the four methods; larger groups, merged and
// partitioned tensors are judged. ByteScheduler's hooks: its rows inside one node, of one network.
// Servers: BSP up to 16 GPUs, WFBP inside one node, and on 100GbE, where those are suspect, what
// ByteScheduler's two servers take.
inline constexpr std::string_view kLinkFitRows =
    "(gpus<=16 && (method~\"BSP-A2A\" || method~\"WFBP-A2A\")) || "
    "(gpus==4 && method~\"ByteScheduler-A2A\" && model~\"ResNet\") || "
    "(gpus<=16 && method~\"BSP-PS\") || (gpus==4 && method~\"WFBP-PS\") || "
    "(gpus==8 && method~\"ByteScheduler-PS\" && network~\"100GbE\")";

struct CompressionValidation {
  ValidationReport report;
  std::optional<LinkLaw> law;
  PairOrder order;                // of all methods
  PairOrder all_reduce_order;     // of those without servers
  std::vector<std::string> laws;  // what was fitted, a line each
  std::vector<Crossover> crossovers;
};

// Throws Error for a filter with an unknown column.
CompressionValidation validate_compression(const CompressionFiles& files,
                                           const CompressionOptions& options);

}  // namespace windtunnel
