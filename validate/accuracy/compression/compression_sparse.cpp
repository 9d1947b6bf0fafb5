#include "validate/accuracy/compression/compression_sparse.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <string>

#include "models/base/error.hpp"
#include "models/compression/compressors.hpp"
#include "models/cost/op/op_cost.hpp"
#include "validate/accuracy/compression/exchange_job.hpp"

namespace windtunnel {
namespace {

constexpr std::string_view kSource = "gTop-k";
constexpr std::string_view kBreakdown = "gTop-k breakdown";
constexpr double kDensity = 0.001;
constexpr double kElementBytes = 4;
const ExchangeMachine kMachine = {"pcie-rtx2080ti", 1, 1e9 / 8};

struct Method {
  std::string_view prefix;  // of column method
  std::string_view name;
  const char* compressor;
  bool dense() const { return name == "dense"; }
};
constexpr std::array kMethods = {Method{"Dense S-SGD", "dense", "none"},
                                 Method{"Top-k S-SGD", "top-k", "topk"},
                                 Method{"gTop-k S-SGD", "gTop-k", "gtopk"}};

// The network on whose rows a law is fitted, for all others; for itself the other one.
constexpr std::string_view kFitted = "ResNet-50";
constexpr std::string_view kFittedOtherwise = "VGG-16(cifar)";

struct Series {
  std::string model;
  double parameters = 0;
  int batch = 0;  // of the breakdown
  double alone_s = 0;
  const CompressionRun* breakdown = nullptr;
  std::map<std::string_view, std::map<int, const CompressionRun*>> runs;  // by method, GPUs

  double step_s(const CompressionRun& run) const {
    return double(batch) * run.gpus / *run.samples_per_s;
  }
};

// What was fitted on one network.
struct SparseLaw {
  double select_s = 0;                                      // per element
  std::map<std::string_view, double> software_s;            // per element, by method
  std::map<std::string_view, std::map<int, double>> share;  // of the NIC, by method, GPUs
};

Job job_of(const Series& series, const Method& method, int gpus, double tcp_step_s) {
  Job job = exchange_job(series.model, series.parameters, gpus, series.batch, kMachine);
  job.communication.overlap = GradientOverlap::none;
  job.communication.compressors.dp.name = method.compressor;
  if (!method.dense()) job.communication.compressors.dp.density = kDensity;
  job.calibration.nic_latency_s.value = tcp_step_s;
  job.calibration.collective_launch_s.value = 0;
  return job;
}

// Dense gradients go tensor by tensor, each with all steps of a ring.
double further_steps_s(const Job& job, const Method& method, double tcp_step_s) {
  if (!method.dense()) return 0;
  return (weight_tensors(job) - 1) * 2 * (job.layout.dp - 1) * tcp_step_s;
}

// Kernels before the first collective, on the job's GPU.
double encode_s(const Job& job, std::string_view without = "") {
  const std::array tensors = {TensorShape{.columns = exchange_parameters(job)}};
  const ReducingGroup group{job.layout.dp, job.cluster.nodes};
  const Recipe recipe =
      make_recipe(with_usual(job.communication.compressors.dp), tensors, group, kElementBytes);
  double seconds = 0;
  for (const Op& op : recipe.steps.front().kernels) {
    if (op.compressing == without) continue;
    seconds += op_cost(op, job).seconds;
  }
  return seconds;
}

// So that encoding takes `seconds`. The GPU has its speed.
void set_selection(Job& job, double seconds) {
  constexpr const char* kSelection = "exact top-k";
  std::vector<KernelShare>& kernels = job.calibration.kernels;
  kernels = {{kSelection, {1, 1, 1, Origin::published, ""}}};
  const double others_s = encode_s(job, kSelection);
  const double selection_s = encode_s(job) - others_s;
  kernels[0].share.value = selection_s / std::max(seconds - others_s, 1e-3 * seconds);
}

struct Predicted {
  double step_s = 0;
  double encode_s = 0;
};

Predicted predict(const Series& series, const Method& method, int gpus, double alone_s,
                  const SparseLaw& law, double share, double software_s, double tcp_step_s) {
  Job job = job_of(series, method, gpus, tcp_step_s);
  const double elements = exchange_parameters(job);
  set_alone_s(job, alone_s + software_s * elements + further_steps_s(job, method, tcp_step_s));
  if (!method.dense()) set_selection(job, law.select_s * elements);
  job.calibration.nic_efficiency.value = share;
  return {exchange_step_s(job), method.dense() ? 0 : encode_s(job)};
}

// The share of the NIC's bandwidth at which the step takes `wanted_s`; at most 1.
template <typename StepAt>
double share_for(const StepAt& step_at, double wanted_s) {
  double low = std::log(1e-4);
  double high = 0;
  constexpr int kHalvings = 30;
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = (low + high) / 2;
    (step_at(std::exp(middle)) > wanted_s ? low : high) = middle;
  }
  return std::exp(high);
}

SparseLaw fitted_law(const Series& series, double tcp_step_s) {
  SparseLaw law;
  law.select_s = *series.breakdown->compress_s /
                 exchange_parameters(job_of(series, kMethods[0], 2, tcp_step_s));
  for (const Method& method : kMethods) {
    const auto known = series.runs.find(method.name);
    if (known == series.runs.end()) continue;
    const std::map<int, const CompressionRun*>& runs = known->second;
    double& software_s = law.software_s[method.name];
    std::map<int, double>& shares = law.share[method.name];
    const auto share_at = [&](const CompressionRun& run) {
      return share_for(
          [&](double share) {
            return predict(series, method, run.gpus, series.alone_s, law, share, software_s,
                           tcp_step_s)
                .step_s;
          },
          series.step_s(run));
    };
    if (method.dense()) {
      for (const auto& [gpus, run] : runs) {
        if (gpus > 1) shares[gpus] = share_at(*run);
      }
      continue;
    }
    // What sparse exchange costs beside the network shows where the network does least; how much
    // of dense gradients' bandwidth it gets, where it does most.
    const std::map<int, double>& dense = law.share.at(kMethods[0].name);
    const auto [fewest, dense_share] = *dense.begin();
    const CompressionRun& largest = *runs.rbegin()->second;
    if (!runs.contains(fewest) || !dense.contains(largest.gpus)) continue;
    const double bare_s =
        predict(series, method, fewest, series.alone_s, law, dense_share, 0, tcp_step_s).step_s;
    software_s = std::max(0.0, series.step_s(*runs.at(fewest)) - bare_s) /
                 exchange_parameters(job_of(series, method, fewest, tcp_step_s));
    const double factor = share_at(largest) / dense.at(largest.gpus);
    for (const auto& [gpus, share] : dense) shares[gpus] = std::min(1.0, factor * share);
  }
  return law;
}

std::string text_of(const Series& series, const SparseLaw& law) {
  std::string text =
      fmt::format("{}: selection {:.2f} ns an element", series.model, law.select_s * 1e9);
  for (const auto& [method, software_s] : law.software_s) {
    text += fmt::format("; {}: software {:.3g} ns an element, share of the NIC", method,
                        software_s * 1e9);
    for (const auto& [gpus, share] : law.share.at(method)) {
      text += fmt::format(" {:.2f} ({})", share, gpus);
    }
  }
  return text;
}

// ---- What is judged.

ValidationRow row_of(const CompressionRun& run, const std::string& family, const char* metric,
                     double measured, double predicted) {
  ValidationRow row;
  row.id = run.id;
  row.family = family;
  row.metric = metric;
  row.measured = measured;
  row.predicted = row.low = row.high = predicted;
  row.origin = Origin::published;
  row.label = fmt::format("{}, {} GPUs, {}", run.model, run.gpus, run.method);
  return row;
}

// By the bytes alone, at the NIC's bandwidth, selection for nothing.
double speedup_by_bytes(const Series& series, const Method& method, int gpus) {
  const double bytes = kElementBytes * series.parameters;
  const double ring = 2 * (gpus - 1.0) / gpus * bytes;
  const double pairs = 2 * kDensity * bytes;
  const double sparse =
      method.name == "gTop-k" ? 2 * std::ceil(std::log2(gpus)) * pairs : (gpus - 1) * pairs;
  return (series.alone_s + ring / kMachine.nic_Bps) / (series.alone_s + sparse / kMachine.nic_Bps);
}

void judge_speedups(const Series& series, const SparseLaw& law, double tcp_step_s,
                    SparseRows& result) {
  const auto& dense = series.runs.at("dense");
  std::map<int, double> dense_s;
  for (const Method& method : kMethods) {
    if (!series.runs.contains(method.name)) continue;
    for (const auto& [gpus, run] : series.runs.at(method.name)) {
      if (gpus < 2) continue;
      const Predicted step =
          predict(series, method, gpus, series.alone_s, law, law.share.at(method.name).at(gpus),
                  law.software_s.at(method.name), tcp_step_s);
      ValidationRow row = row_of(*run, fmt::format("gTop-k rows, {}: step", series.model), "step_s",
                                 series.step_s(*run), step.step_s);
      row.baselines["no communication"] = series.alone_s;
      result.judged.push_back(row);
      if (method.dense()) {
        dense_s[gpus] = step.step_s;
        continue;
      }
      if (!dense.contains(gpus)) continue;
      ValidationRow ratio = row_of(
          *run, fmt::format("gTop-k rows, {}: speed-up over dense", series.model), "speed_up",
          *run->samples_per_s / *dense.at(gpus)->samples_per_s, dense_s.at(gpus) / step.step_s);
      ratio.baselines["bytes at nominal bandwidth"] = speedup_by_bytes(series, method, gpus);
      result.judged.push_back(ratio);
    }
  }
}

void judge_shares(const Series& series, const SparseLaw& law, double tcp_step_s,
                  SparseRows& result) {
  const CompressionRun& run = *series.breakdown;
  const Method& method = kMethods.back();
  const Predicted step =
      predict(series, method, run.gpus, *run.compute_s, law, law.share.at(method.name).at(run.gpus),
              law.software_s.at(method.name), tcp_step_s);
  const auto judge = [&](const char* what, double measured_s, double predicted_s) {
    ValidationRow row = row_of(run, "gTop-k breakdown: shares of the step", "share",
                               measured_s / *run.step_s, predicted_s / step.step_s);
    row.label = fmt::format("{}, {} GPUs: {}", run.model, run.gpus, what);
    row.baselines["a third each"] = 1.0 / 3;
    result.judged.push_back(row);
  };
  judge("compute", *run.compute_s, *run.compute_s);
  judge("compress", *run.compress_s, step.encode_s);
  judge("communicate", *run.communicate_s, step.step_s - *run.compute_s - step.encode_s);
}

std::map<std::string, Series> series_of(const std::vector<const CompressionRun*>& runs,
                                        SparseRows& result) {
  std::map<std::string, Series> all;
  for (const CompressionRun* run : runs) {
    if (!run->method.starts_with(kBreakdown)) continue;
    Series& series = all[run->model];
    if (!run->batch || !run->step_s || !run->compress_s || !run->communicate_s || !run->compute_s) {
      result.skipped.push_back({run->id, "states not all parts of its step"});
      continue;
    }
    series.model = run->model;
    series.parameters = run->parameters.value_or(0);
    series.batch = *run->batch;
    series.breakdown = run;
  }
  for (const CompressionRun* run : runs) {
    if (run->method.starts_with(kBreakdown)) continue;
    const auto* const method = std::ranges::find_if(
        kMethods, [&](const Method& known) { return run->method.starts_with(known.prefix); });
    const auto series = all.find(run->model);
    if (method == kMethods.end() || !run->samples_per_s) {
      result.skipped.push_back({run->id, "no throughput of a known method"});
    } else if (series == all.end() || series->second.breakdown == nullptr) {
      result.skipped.push_back({run->id, fmt::format("no row states the batch of {}", run->model)});
    } else {
      series->second.runs[method->name][run->gpus] = run;
      if (run->gpus == 1) series->second.alone_s = series->second.step_s(*run);
    }
  }
  return all;
}

}  // namespace

bool is_sparse_row(const CompressionRun& run) {
  return run.source.starts_with(kSource);
}

SparseRows validate_sparse(const std::vector<const CompressionRun*>& runs, double tcp_step_s) {
  SparseRows result;
  const std::map<std::string, Series> all = series_of(runs, result);
  std::map<std::string, SparseLaw> laws;
  for (const auto& [model, series] : all) {
    if (series.breakdown == nullptr) continue;
    const std::string on(model == kFitted ? kFittedOtherwise : kFitted);
    try {
      const auto fitted = all.find(on);
      if (fitted == all.end() || fitted->second.alone_s <= 0 || series.alone_s <= 0) {
        throw Error(fmt::format("needs the rows of {} and {}, on one GPU too", on, model));
      }
      if (!laws.contains(on)) {
        laws[on] = fitted_law(fitted->second, tcp_step_s);
        result.laws.push_back(text_of(fitted->second, laws[on]));
      }
      SparseRows rows;
      judge_speedups(series, laws[on], tcp_step_s, rows);
      judge_shares(series, laws[on], tcp_step_s, rows);
      result.judged.insert(result.judged.end(), rows.judged.begin(), rows.judged.end());
    } catch (const Error& error) {
      for (const auto& [method, by_gpus] : series.runs) {
        for (const auto& [gpus, run] : by_gpus) result.skipped.push_back({run->id, error.what()});
      }
      result.skipped.push_back({series.breakdown->id, error.what()});
    }
  }
  return result;
}

}  // namespace windtunnel
