// Predicts the measured exchanges of a source from a law that was fitted on some of its rows, or on
// another source, and frozen.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policies/iteration.hpp"
#include "validate/accuracy/compression/exchange_source.hpp"
#include "validate/accuracy/rows/validation_report.hpp"

namespace windtunnel {

struct FittedLawNumber {
  const LawNumber* what = nullptr;
  std::size_t stage = 0;
  std::string network;  // empty: all
  double value = 0;
};

// The law of a source's steps: the numbers that predict them, fitted stage by stage
// (exchange_source.hpp) and then frozen. It points into its source.
struct FittedLaw {
  const ExchangeLaw* rules = nullptr;
  std::vector<FittedLawNumber> numbers;
  // [stage] Nine tenths of the residuals of other rows are expected within this bound (logarithm of
  // the step, or difference of its growth). Nothing if no row determines the stage.
  std::vector<std::optional<double>> unseen;
  std::optional<double> hook_s;           // per layer with weights
  std::map<std::string, double> alone_s;  // [alone_key()] steps on one GPU

  // Returns the number of this name for the network at the stage; null if there is none.
  const FittedLawNumber* find(std::string_view name, std::string_view network,
                              std::size_t stage) const;
  // Returns the first network of the law whose name begins so; null if there is none.
  const std::string* network_named(std::string_view begins) const;
  // Returns the bound of the stage, or of the last earlier stage that was fitted.
  double unseen_at(std::size_t stage) const;
  std::string text() const;
};
using FittedLaws = std::map<std::string, FittedLaw>;  // [name of the source]

struct StepRow {
  const CompressionRun* run = nullptr;
  const ExchangeMethod* method = nullptr;
  double alone_s = 0;
  Job job;                     // its calibration changes with the law
  PreparedIteration prepared;  // independent of the calibration
  std::string network;         // as the law names it
  bool tcp = false;
  bool suspect = false;
  bool fit = false;
};

// Rows with equal keys share one step on one GPU: they have one model and, if their method names a
// bucket size, also one kind of GPU and one size.
std::string alone_key(const CompressionRun& run);

// Returns the index of the stage with the job's aggregation; read_exchange_sources() ensures that
// it exists.
std::size_t stage_of(const ExchangeLaw& rules, const Job& job);

double predicted_s(StepRow& row, const FittedLaw& law);

// Fits the law on the rows with `fit`; a stage without such rows gets its `unfitted` values. Adds
// the fitted cost of hooks to the compute of rows that have hooks.
FittedLaw fitted_law(const ExchangeLaw& rules, std::vector<StepRow>& rows, int threads);

struct SelectedExchange {
  const CsvTable* table = nullptr;
  const CompressionRun* run = nullptr;
  bool fit = false;  // chosen by the user to be fitted on
};

// Counts whether methods are ranked correctly for one model, network and number of GPUs.
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

// Judges the rows of a source that has or borrows a law. With `chosen`, the user chose the rows to
// fit on. Adds the source's own law to `laws`. If no row determines that law, skips all rows, or
// throws Error if the source lets the user choose rows.
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
