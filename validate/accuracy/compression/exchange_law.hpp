// The law of the steps of one source of exchanges: which numbers predict them, fitted stage by
// stage (exchange_source.hpp) and frozen.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "validate/accuracy/compression/exchange_source.hpp"

namespace windtunnel {

struct FittedLawNumber {
  const LawNumber* what = nullptr;
  std::size_t stage = 0;
  std::string network;  // empty: all
  double value = 0;
};

// Points into its source.
struct FittedLaw {
  const ExchangeLaw* rules = nullptr;
  std::vector<FittedLawNumber> numbers;
  // By stage, within which nine tenths of what was not fitted on are expected: of the logarithm of
  // the step, or of its growth. None: there was no row to fit the stage on.
  std::vector<std::optional<double>> unseen;
  std::optional<double> hook_s;           // of a layer with weights
  std::map<std::string, double> alone_s;  // steps on one GPU, by alone_key()

  // What holds of this name on the network at the stage. Null: nothing.
  const FittedLawNumber* find(std::string_view name, std::string_view network,
                              std::size_t stage) const;
  // The network that the law was fitted on whose name begins so. Null: none.
  const std::string* network_named(std::string_view begins) const;
  // Of the stage, or the last one before it that was fitted.
  double unseen_at(std::size_t stage) const;
  std::string text() const;
};
using FittedLaws = std::map<std::string, FittedLaw>;  // by name of the source

struct StepRow {
  const CompressionRun* run = nullptr;
  const ExchangeMethod* method = nullptr;
  double alone_s = 0;
  Job job;              // its calibration moves with the law that predicts it
  std::string network;  // as the law names it
  bool tcp = false;
  bool suspect = false;
  bool fit = false;
};

// Which step on one GPU a row grows from: that of its model, of rows with buckets also of its GPU
// and size of buckets.
std::string alone_key(const CompressionRun& run);

// The stage whose aggregation is the job's. Throws Error where the law has none.
std::size_t stage_of(const ExchangeLaw& rules, const Job& job);

double predicted_s(StepRow& row, const FittedLaw& law);

// Fitted on the rows that say so. Stages without such rows have what is known without a fit.
// Raises the compute of rows with hooks by what these cost.
FittedLaw fitted_law(const ExchangeLaw& rules, std::vector<StepRow>& rows, int threads);

}  // namespace windtunnel
