// Measured exchanges of one source, predicted from what was fitted on some of its rows, or on those
// of another source, and frozen.
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

// How pairs of methods compare for one model, network and number of GPUs.
struct PairOrder {
  int pairs = 0;  // that differ by more than 5 % as measured, at least one row of them judged
  int right = 0;
  std::vector<std::string> wrong;  // "BERT-Large, 10GbE, 8 GPUs: WFBP before MG-WFBP"
};

struct JudgedExchanges {
  std::vector<ValidationRow> judged, fitted;  // in the order of the file
  std::vector<SkippedRow> skipped;
  std::vector<std::string> laws;             // what was fitted on what, for people
  std::map<std::string, std::string> notes;  // by family
  PairOrder order;                           // of all methods
  PairOrder all_reduce_order;                // of those without servers
};

// Judges the rows of one source that has a law or borrows one. `chosen`: the user chose the rows to
// fit on. Adds the source's own law to `laws`. If no row determines that law, all rows are skipped;
// it is an Error instead where the source lets the user choose the rows.
JudgedExchanges validate_steps(const ExchangeSource& source,
                               const std::vector<SelectedExchange>& rows, bool chosen, int threads,
                               FittedLaws& laws);

// Judges sparse against dense exchange on a slow network: the rows of one source with `sparse`
// (gTop-k, Shi et al. 2019, arXiv 1901.04359). They state throughputs by number of GPUs, and one
// row of each model the parts of its step. Speed-ups and shares of the step of one model are
// predicted from numbers that are solved for on another one:
//   selection  seconds an element, from the stated part of the step
//   share      of the NIC's bandwidth that dense gradients get at each number of GPUs; what sparse
//              ones get of that is told by the largest number, where the network does most
//   software   seconds an element beside the network, told by the fewest GPUs, where it does least
// These predictions claim no interval, because no row is left over that would tell one.
JudgedExchanges validate_sparse(const ExchangeSource& source,
                                const std::vector<SelectedExchange>& rows, const FittedLaws& laws);

}  // namespace windtunnel
