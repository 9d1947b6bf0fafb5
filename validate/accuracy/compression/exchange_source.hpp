// What is known about the sources of measured gradient exchanges and is not in their rows:
// machines, methods, the rows that each law is fitted on, and why some rows are not predicted. The
// data is scenarios/library/exchange_sources.yaml, whose header explains each key.
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/calibration/calibration.hpp"
#include "models/plan/job.hpp"
#include "scenarios/language/library/facts/training_software.hpp"
#include "traces/rows/compression_rows.hpp"
#include "validate/accuracy/rows/fitted_constants.hpp"

namespace windtunnel {

struct ExchangeMachine {
  std::string node;  // of the library
  int gpus_per_node = 0;
  double nic_Bps = 0;  // nominal rate of each of the node's `nics` NICs
  int nics = 1;
};

// Makes the Job that predicts a measured step of data-parallel training: a model of the library on
// nodes of one kind, and a GPU with the speed of the measured step on one GPU, so that all further
// time of a step on several GPUs is exchange. It has plain data parallelism in fp32 with rings and
// direct exchanges, and SGD with momentum. Kernels take only the time of their work, because
// launches and ramps are part of the measured speed (set_alone_s). Throws Error if the library has
// no such model, or only one whose size is not `parameters` (0: not stated).
Job exchange_job(const std::string& model, double parameters, int gpus, int batch,
                 const ExchangeMachine& machine);

// Sets the GPU's speed such that the job takes `seconds` on one GPU.
void set_alone_s(Job& job, double seconds);

double exchange_step_s(const Job& job);      // in closed form
double exchange_parameters(const Job& job);  // of the model
int weighted_layers(const Job& job);         // modules with parameters, to which hooks are attached
int weight_tensors(const Job& job);          // weights and biases, counted separately

// The machine for rows whose columns begin with `gpu` and `network`, which match any text if they
// are empty.
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

// A number of a law. If `member` is null, the name is kGpuSpread or kConnection.
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

// A placeholder such as "nic.latency us 1" in a text: the name of a number or kHooks, its unit, and
// the decimals.
struct LawPlaceholder {
  std::string_view name;
  double scale = 1;  // from SI to the unit
  int digits = 0;
};
// Returns nothing if the text has another form.
std::optional<LawPlaceholder> law_placeholder(std::string_view inside);
inline constexpr std::string_view kHooks = "hooks";  // s, per layer with weights

struct ExchangeLaw {
  std::vector<FittedOn> fit_on = {};
  bool chosen = false;
  bool growth = false;
  bool fold_models = false;
  double noise = 0;
  std::vector<LawStage> stages = {};
};

inline constexpr std::string_view kNicLatency = "nic.latency";

// Refers to the law of source `of` on its first network whose name begins with `network`.
struct BorrowedLaw {
  std::string of, network;
};

// The first method of the source is the dense one; the others compress.
struct SparseExchange {
  std::string parts;     // prefix of the method of rows that state the parts of a step
  std::string parts_of;  // the method that ran in those steps
  // The other models are predicted from `fitted`, and `fitted` itself from `fitted_for_itself`.
  std::string fitted, fitted_for_itself;
  BorrowedLaw latency;
  double usual_latency_s = 0;
};

struct ExchangeSource {
  std::string name = {}, begins = {}, refused = {}, family = {}, alone = {};
  std::vector<ExchangeCluster> clusters = {};
  std::vector<ExchangeMethod> methods = {};
  int batch = 0;   // 0: rows must state it
  int tokens = 0;  // 0: the model's
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
// of a source that does not come earlier, methods that fit no stage of their law.
std::vector<ExchangeSource> read_exchange_sources(const DocumentNode& document);

const std::vector<ExchangeSource>& exchange_sources();  // of the library

// Each is null if the source or method is not known.
const ExchangeSource* source_of(const std::vector<ExchangeSource>& sources,
                                const CompressionRun& run);

const ExchangeMethod* method_of(const ExchangeSource& source, const CompressionRun& run);

// Throws Error if the cluster is not known.
const ExchangeCluster& cluster_of(const ExchangeSource& source, const CompressionRun& run);

// Returns the bucket size in the method's name ("DDP bucket 25MB p50"); 0 if there is none.
double named_bucket_bytes(const CompressionRun& run);

// Returns exchange_job() for a row, with the method's settings. Throws Error if the row does not
// state its batch.
Job job_of(const ExchangeSource& source, const ExchangeMethod& method, const CompressionRun& run);

}  // namespace windtunnel
