// The law of a source's steps: the numbers that predict them, fitted stage by stage
// (exchange_source.hpp) and then frozen.
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
  // [stage] A bound within which nine tenths of the residuals of other rows are expected (logarithm
  // of the step, or difference of its growth). None: no row to fit the stage on.
  std::vector<std::optional<double>> unseen;
  std::optional<double> hook_s;           // per layer with weights
  std::map<std::string, double> alone_s;  // [alone_key()] steps on one GPU

  // The number of this name for the network at the stage. Null: there is none.
  const FittedLawNumber* find(std::string_view name, std::string_view network,
                              std::size_t stage) const;
  // The first network of the law whose name begins so. Null: there is none.
  const std::string* network_named(std::string_view begins) const;
  // The bound of the stage, or of the last earlier stage that was fitted.
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

// The index of the stage with the job's aggregation; read_exchange_sources() ensures that it
// exists.
std::size_t stage_of(const ExchangeLaw& rules, const Job& job);

double predicted_s(StepRow& row, const FittedLaw& law);

// Fits the law on the rows with `fit`; a stage without such rows gets its `unfitted` values. Adds
// the fitted cost of hooks to the compute of rows that have hooks.
FittedLaw fitted_law(const ExchangeLaw& rules, std::vector<StepRow>& rows, int threads);

}  // namespace windtunnel
