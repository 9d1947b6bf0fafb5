// Measured steps by method of exchange, predicted from laws (exchange_law.hpp) that are fitted on
// some of the rows and frozen.
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
  bool fit = false;  // the user chose it to be fitted on
};

// Pairs of methods for one model, network and number of GPUs.
struct PairOrder {
  int pairs = 0;  // that differ by more than 5 % as measured, at least one row of them judged
  int right = 0;
  std::vector<std::string> wrong;  // "BERT-Large, 10GbE, 8 GPUs: WFBP before MG-WFBP"
};

struct ExchangeSteps {
  std::vector<ValidationRow> judged, fitted;  // in the order of the file
  std::vector<SkippedRow> skipped;
  std::map<std::string, std::string> notes;  // by family
  PairOrder order;                           // of all methods
  PairOrder all_reduce_order;                // of those without servers
};

// The rows of one source that has a law or borrows one. `chosen`: the user chose the rows that laws
// are fitted on. Adds the source's own law to `laws`; rows of a source without a law to fit are
// skipped. Throws Error where the user's choice leaves no row to fit on.
ExchangeSteps validate_steps(const ExchangeSource& source,
                             const std::vector<SelectedExchange>& rows, bool chosen, int threads,
                             FittedLaws& laws);

}  // namespace windtunnel
