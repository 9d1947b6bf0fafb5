// Predicts the measured exchanges of a source from a law that was fitted on some of its rows, or on
// another source, and frozen.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "validate/accuracy/compression/exchange_law.hpp"
#include "validate/accuracy/rows/validation_report.hpp"

namespace windtunnel {

struct SelectedExchange {
  const CsvTable* table = nullptr;
  const CompressionRun* run = nullptr;
  bool fit = false;  // chosen by the user to be fitted on
};

// Whether methods are ranked correctly for one model, network and number of GPUs.
struct PairOrder {
  int pairs = 0;  // with measured times more than 5 % apart, and at least one judged row
  int right = 0;
  std::vector<std::string> wrong;  // "BERT-Large, 10GbE, 8 GPUs: WFBP before MG-WFBP"
};

struct JudgedExchanges {
  std::vector<ValidationRow> judged, fitted;  // in the order of the file
  std::vector<SkippedRow> skipped;
  std::vector<std::string> laws;             // what was fitted on which rows, in words
  std::map<std::string, std::string> notes;  // [family]
  PairOrder order;                           // of all methods
  PairOrder all_reduce_order;                // of methods without servers
};

// Judges the rows of a source that has or borrows a law. `chosen`: the user chose the rows to fit
// on. Adds the source's own law to `laws`. If no row determines that law, skips all rows, or throws
// Error if the source lets the user choose rows.
JudgedExchanges validate_steps(const ExchangeSource& source,
                               const std::vector<SelectedExchange>& rows, bool chosen, int threads,
                               FittedLaws& laws);

// Judges sparse against dense exchange on a slow network, for a source with `sparse` (gTop-k, Shi
// et al. 2019, arXiv 1901.04359). Its rows state throughputs by number of GPUs, and one row of each
// model the parts of its step. Speed-ups and shares of the step of one model are predicted from
// numbers that are solved for another model:
//   selection  seconds per element, from the stated part of the step
//   share      of the NIC's bandwidth that dense gradients reach at each number of GPUs; for sparse
//              gradients relative to that, from the largest number, where the network matters most
//   software   seconds per element in addition to the network, from the fewest GPUs, where the
//              network matters least
// The predictions have no interval, because no row remains to determine one.
JudgedExchanges validate_sparse(const ExchangeSource& source,
                                const std::vector<SelectedExchange>& rows, const FittedLaws& laws);

}  // namespace windtunnel
