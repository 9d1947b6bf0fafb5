// What the sources of measured exchanges of gradients are known to do and their rows do not say:
// machines, methods, which law is fitted on which rows, why some are not predicted. Data:
// scenarios/library/exchange_sources.yaml, whose head says what each key means.
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/calibration/calibration.hpp"
#include "scenarios/language/library/facts/training_software.hpp"
#include "traces/rows/compression_rows.hpp"
#include "validate/accuracy/compression/exchange_job.hpp"
#include "validate/accuracy/rows/fitted_constants.hpp"

namespace windtunnel {

// Rows with columns that begin with `gpu` and `network` are of this machine; empty: any do.
struct ExchangeCluster {
  std::string gpu, network;
  ExchangeMachine machine;
  bool tcp = false;
};

struct ExchangeMethod {
  std::string begins = {};
  std::string name = {};
  std::vector<SoftwareChoice> sets = {};
  bool hooks = false;
  std::string refused = {};  // empty: its rows are predicted
};

// A number of a law. Where `member` is null, its name is kGpuSpread or kConnection.
struct LawNumber {
  std::string name;
  Parameter Calibration::*member = nullptr;
  FittedConstant prior;
  bool each_network = false;
  double most = std::numeric_limits<double>::infinity();
  std::optional<double> unfitted;
};
inline constexpr std::string_view kGpuSpread = "gpu.spread";
inline constexpr std::string_view kConnection = "connection";  // B/s

struct LawStage {
  Aggregation of = Aggregation::all_reduce;
  std::vector<LawNumber> numbers = {};
  std::string text = {}, network_text = {}, hooks_text = {};
};

// "nic.latency us 1" of a text: name of a number or kHooks, unit, digits behind the point. None:
// it is of another form.
struct LawPlaceholder {
  std::string_view name;
  double scale = 1;  // from SI to the unit
  int digits = 0;
};
std::optional<LawPlaceholder> law_placeholder(std::string_view inside);
inline constexpr std::string_view kHooks = "hooks";  // s, of a layer with weights

struct ExchangeLaw {
  std::vector<FittedOn> fit_on = {};
  bool chosen = false;
  bool growth = false;
  bool fold_models = false;
  double noise = 0;
  std::vector<LawStage> stages = {};
};

inline constexpr std::string_view kNicLatency = "nic.latency";

// The law of the source `of`, on its network with a name that begins with `network`.
struct BorrowedLaw {
  std::string of, network;
};

// The first method of its source is the dense one, the others compress.
struct SparseExchange {
  std::string parts;     // rows with a method that begins so state the parts of a step
  std::string parts_of;  // the method that runs in such a step
  std::string fitted, fitted_for_itself;  // models
  BorrowedLaw latency;
  double usual_latency_s = 0;
};

struct ExchangeSource {
  std::string name = {}, begins = {}, refused = {}, family = {}, alone = {};
  std::vector<ExchangeCluster> clusters = {};
  std::vector<ExchangeMethod> methods = {};
  int batch = 0;   // 0: rows have to state it
  int tokens = 0;  // 0: as the model
  bool servers = false;
  bool chosen_collectives = false;
  bool compared = false;
  std::string suspect_network = {};
  std::vector<std::string> suspect_methods = {};
  std::optional<ExchangeLaw> law = {};
  std::optional<BorrowedLaw> borrowed = {};
  std::optional<SparseExchange> sparse = {};
};

// Throws Error with location: unknown or missing keys, names that the library does not have, a law
// of a source that does not stand before it, methods that no stage of their law is of.
std::vector<ExchangeSource> read_exchange_sources(const DocumentNode& document);

const std::vector<ExchangeSource>& exchange_sources();  // of the library

// Each null where none is known.
const ExchangeSource* source_of(const std::vector<ExchangeSource>& sources,
                                const CompressionRun& run);

const ExchangeMethod* method_of(const ExchangeSource& source, const CompressionRun& run);

// Throws Error where none is known.
const ExchangeCluster& cluster_of(const ExchangeSource& source, const CompressionRun& run);

// Size of the buckets that the method names ("DDP bucket 25MB p50"). 0: it names none.
double named_bucket_bytes(const CompressionRun& run);

// The job of a row: exchange_job(), with what the method sets. Throws Error where a row does not
// state its batch.
Job job_of(const ExchangeSource& source, const ExchangeMethod& method, const CompressionRun& run);

}  // namespace windtunnel
