// The law of the steps of one source of exchanges: which numbers predict them, fitted stage by
// stage (exchange_source.hpp) and frozen.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policies/iteration.hpp"
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
  // By stage: nine tenths of the residuals (logarithm of the step, or difference of its growth) of
  // rows that were not fitted on are expected within this. None: the stage had no row to fit on.
  std::vector<std::optional<double>> unseen;
  std::optional<double> hook_s;           // of a layer with weights
  std::map<std::string, double> alone_s;  // steps on one GPU, by alone_key()

  // The number of this name that holds on the network at the stage. Null: there is none.
  const FittedLawNumber* find(std::string_view name, std::string_view network,
                              std::size_t stage) const;
  // The first network of the law with a name that begins so. Null: there is none.
  const std::string* network_named(std::string_view begins) const;
  // The bound of the stage, or of the last stage before it that was fitted.
  double unseen_at(std::size_t stage) const;
  std::string text() const;
};
using FittedLaws = std::map<std::string, FittedLaw>;  // by name of the source

struct StepRow {
  const CompressionRun* run = nullptr;
  const ExchangeMethod* method = nullptr;
  double alone_s = 0;
  Job job;                     // its calibration moves with the law that predicts it
  PreparedIteration prepared;  // of the job, but for its calibration
  std::string network;         // as the law names it
  bool tcp = false;
  bool suspect = false;
  bool fit = false;
};

// Rows with equal keys grow from one step on one GPU: they have one model and, where their method
// names a size of buckets, also one kind of GPU and one size.
std::string alone_key(const CompressionRun& run);

// The index of the stage with the job's aggregation, which there is (read_exchange_sources()).
std::size_t stage_of(const ExchangeLaw& rules, const Job& job);

double predicted_s(StepRow& row, const FittedLaw& law);

// Fits the law on the rows with `fit`; a stage without such rows gets its `unfitted` values. Adds
// the fitted cost of hooks to the compute of the rows that have them.
FittedLaw fitted_law(const ExchangeLaw& rules, std::vector<StepRow>& rows, int threads);

}  // namespace windtunnel
