#include "validate/accuracy/compression/compression_others.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <string_view>

#include "models/base/error.hpp"
#include "validate/accuracy/compression/exchange_job.hpp"

namespace windtunnel {
namespace {

struct Method {
  std::string_view prefix;  // of column method
  GradientOverlap overlap;
  const char* compressor = "none";
  double rank = 0;
};

// Sources whose rows were measured on the cluster of compression_links.hpp.
struct Source {
  std::string_view prefix;  // of column source
  std::string_view family;
  std::array<Method, 3> methods;
};
const std::array kSources = {
    Source{"ASC-WFBP",
           "ASC-WFBP's script",
           {{{"WFBP", GradientOverlap::wfbp},
             {"MG-WFBP", GradientOverlap::mg_wfbp},
             {"ASC-WFBP", GradientOverlap::asc}}}},
    Source{"ACP-SGD",
           "ACP-SGD's table",
           {{{"S-SGD (DDP", GradientOverlap::bucketed},
             {"ACP-SGD rank 4", GradientOverlap::bucketed, "acp-sgd", 4},
             {"ACP-SGD rank 32", GradientOverlap::bucketed, "acp-sgd", 32}}}}};

// Why rows of a source are not predicted.
struct Unpredicted {
  std::string_view prefix;  // of column source
  std::string_view reason;
};
constexpr std::array kUnpredicted = {
    Unpredicted{"OMGS-SGD", "GPUs and network are inferred, and no row states the dense step"},
    Unpredicted{"MG-WFBP", "nodes of an unstated number of K80, throughput of an unstated unit"},
    Unpredicted{"BytePS", "states the time of whole runs, without batch or number of steps"},
    Unpredicted{"PyTorch issue", "states neither the batch nor a time"},
    Unpredicted{"PowerSGD", "a recalled table whose networks the library does not have"},
    Unpredicted{"INTELLECT-1", "synchronises over the internet, whose bandwidth no source states"}};

constexpr int kUsualBatch = 32;  // where a row states none
constexpr int kGpusPerNode = 4;
constexpr double kNic_Bps = 10e9 / 8;

const Source* source_of(const CompressionRun& run) {
  for (const Source& source : kSources) {
    if (run.source.starts_with(source.prefix)) return &source;
  }
  return nullptr;
}

const Method& method_of(const CompressionRun& run, const Source& source) {
  for (const Method& method : source.methods) {
    if (run.method.starts_with(method.prefix)) return method;
  }
  throw Error(fmt::format("no method of {} is called '{}'", source.family, run.method));
}

double alone_s_of(const CompressionRun& run, const std::map<std::string, double>& alone_s) {
  if (run.compute_s) return *run.compute_s;
  const auto known = alone_s.find(run.model);
  if (known == alone_s.end()) throw Error("no row states the time of its model on one GPU");
  return known->second;
}

double predicted_s(const CompressionRun& run, const Method& method, const LinkLaw& law,
                   double alone_s) {
  Job job =
      exchange_job(run.model, run.parameters.value_or(0), run.gpus, run.batch.value_or(kUsualBatch),
                   {"pcie-rtx2080ti", kGpusPerNode, kNic_Bps});
  job.communication.overlap = method.overlap;
  job.communication.compressors.dp.name = method.compressor;
  job.communication.compressors.dp.rank = method.rank;
  set_alone_s(job, alone_s);
  apply_links(law, "10GbE", job.calibration);
  return exchange_step_s(job);
}

}  // namespace

void predict_other(const CompressionRun& run, const std::optional<LinkLaw>& law,
                   const std::map<std::string, double>& alone_s, ValidationReport& report) {
  try {
    for (const Unpredicted& known : kUnpredicted) {
      if (run.source.starts_with(known.prefix)) throw Error(std::string(known.reason));
    }
    const Source* source = source_of(run);
    if (source == nullptr) throw Error(fmt::format("nothing is known of source '{}'", run.source));
    if (!law) throw Error("no rows of its cluster to fit the links on");
    if (!run.step_s) throw Error("no time is stated");
    const double one_gpu_s = alone_s_of(run, alone_s);
    ValidationRow row;
    row.id = run.id;
    row.family = fmt::format("{}{}", run.recalled ? "recalled: " : "", source->family);
    row.metric = run.recalled ? "recalled_step_s" : "inferred_step_s";
    row.measured = *run.step_s;
    row.predicted = predicted_s(run, method_of(run, *source), *law, one_gpu_s);
    row.low = row.predicted / std::exp(law->unseen);
    row.high = row.predicted * std::exp(law->unseen);
    row.baselines = {{"no communication", one_gpu_s}};
    row.label = fmt::format("{}, {} GPUs, {}", run.model, run.gpus, run.method);
    if (!run.batch) row.label += fmt::format(", batch of {} assumed", kUsualBatch);
    row.note = run.note;
    report.rows.push_back(std::move(row));
  } catch (const Error& error) {
    report.skipped.push_back({run.id, error.what()});
  }
}

}  // namespace windtunnel
