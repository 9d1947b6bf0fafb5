#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "models/base/error.hpp"
#include "models/compression/compressors.hpp"
#include "models/cost/op/op_cost.hpp"
#include "validate/accuracy/compression/exchange_steps.hpp"

namespace windtunnel {
namespace {

constexpr double kElementBytes = 4;

using RunsByGpus = std::map<int, const CompressionRun*>;

// The rows of one model.
struct Series {
  const CompressionRun* parts = nullptr;  // states the parts of a step
  double alone_s = 0;
  std::map<std::string_view, RunsByGpus> runs;  // [name of the method]

  double step_s(const CompressionRun& run) const {
    return double(*parts->batch) * run.gpus / *run.samples_per_s;
  }
};

// These numbers are solved for on one model.
struct SparseLaw {
  double select_s = 0;
  std::map<std::string_view, double> software_s;            // [method]
  std::map<std::string_view, std::map<int, double>> share;  // [method][GPUs]
};

struct Predicted {
  double step_s = 0;
  double encode_s = 0;
};

// Returns the seconds of the kernels that run before the first collective, except the kernel
// `without`.
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

// Sets the selection kernel so that encoding takes `seconds`. The GPU's speed must be set.
void set_selection(Job& job, double seconds) {
  constexpr const char* kSelection = "exact top-k";
  std::vector<KernelShare>& kernels = job.calibration.kernels;
  kernels = {{kSelection, {1, 1, 1, Origin::published, ""}}};
  const double others_s = encode_s(job, kSelection);
  const double selection_s = encode_s(job) - others_s;
  kernels[0].share.value = selection_s / std::max(seconds - others_s, 1e-3 * seconds);
}

// Returns the share of the NIC's bandwidth at which the step takes `wanted_s`, at most 1.
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

// Looks up a number of a solved law. Throws Error if the rows from which it is solved lack it.
template <class Map>
const auto& told(const Map& map, const typename Map::key_type& key, std::string_view unit) {
  const auto found = map.find(key);
  if (found == map.end())
    throw Error(fmt::format("the rows from which its law is solved lack {} {}", key, unit));
  return found->second;
}

class SparseModel {
 public:
  SparseModel(const ExchangeSource& source, double tcp_step_s)
      : source_(source), tcp_step_s_(tcp_step_s) {}

  const std::vector<ExchangeMethod>& methods() const { return source_.methods; }
  const std::string& dense() const { return source_.methods.front().name; }

  Job job_of(const Series& series, const ExchangeMethod& method, int gpus) const {
    CompressionRun run = *series.parts;
    run.gpus = gpus;
    Job job = windtunnel::job_of(source_, method, run);
    job.calibration.nic_latency_s.value = tcp_step_s_;
    job.calibration.collective_launch_s.value = 0;
    return job;
  }

  Predicted predict(const Series& series, const ExchangeMethod& method, int gpus, double alone_s,
                    const SparseLaw& law, double share, double software_s) const {
    Job job = job_of(series, method, gpus);
    const double elements = exchange_parameters(job);
    const bool is_dense = method.name == dense();
    set_alone_s(job, alone_s + software_s * elements + (is_dense ? further_steps_s(job) : 0));
    if (!is_dense) set_selection(job, law.select_s * elements);
    job.calibration.nic_efficiency.value = share;
    return {exchange_step_s(job), is_dense ? 0 : encode_s(job)};
  }

  // Predicts a row with the law's numbers for its method and number of GPUs.
  Predicted predict(const Series& series, const ExchangeMethod& method, int gpus, double alone_s,
                    const SparseLaw& law) const {
    const double share = told(told(law.share, method.name, "exchange"), gpus, "GPUs");
    return predict(series, method, gpus, alone_s, law, share, law.software_s.at(method.name));
  }

  SparseLaw solved(const Series& series) const {
    SparseLaw law;
    law.select_s = *series.parts->compress_s / elements_of(series, methods().front(), 2);
    for (const ExchangeMethod& method : methods()) {
      if (series.runs.contains(method.name)) solve(series, method, law);
    }
    return law;
  }

  // Returns the speed-up if only bytes mattered, at the NIC's bandwidth, and selection were free.
  double speedup_by_bytes(const Series& series, const ExchangeMethod& method, int gpus) const {
    const Job job = job_of(series, method, gpus);
    const CompressorChoice& compressor = job.communication.compressors.dp;
    const double nic_Bps = job.cluster.node.nic_Bps.value;
    const double bytes = kElementBytes * series.parts->parameters.value_or(0);
    const double ring = 2 * (gpus - 1.0) / gpus * bytes;
    const double pairs = 2 * compressor.density * bytes;
    const double sparse =
        compressor.name == "gtopk" ? 2 * std::ceil(std::log2(gpus)) * pairs : (gpus - 1) * pairs;
    return (series.alone_s + ring / nic_Bps) / (series.alone_s + sparse / nic_Bps);
  }

 private:
  // Dense gradients are sent tensor by tensor, each with all steps of a ring.
  double further_steps_s(const Job& job) const {
    return (weight_tensors(job) - 1) * 2 * (job.layout.dp - 1) * tcp_step_s_;
  }

  double elements_of(const Series& series, const ExchangeMethod& method, int gpus) const {
    return exchange_parameters(job_of(series, method, gpus));
  }

  void solve(const Series& series, const ExchangeMethod& method, SparseLaw& law) const {
    const RunsByGpus& runs = series.runs.at(method.name);
    double& software_s = law.software_s[method.name];
    std::map<int, double>& shares = law.share[method.name];
    const auto step_s = [&](int gpus, double share) {
      return predict(series, method, gpus, series.alone_s, law, share, software_s).step_s;
    };
    const auto share_at = [&](const CompressionRun& run) {
      return share_for([&](double share) { return step_s(run.gpus, share); }, series.step_s(run));
    };
    if (method.name == dense()) {
      for (const auto& [gpus, run] : runs) {
        if (gpus > 1) shares[gpus] = share_at(*run);
      }
      return;
    }
    const std::map<int, double>& dense_shares = told(law.share, dense(), "exchange");
    if (dense_shares.empty()) return;
    const auto [fewest, dense_share] = *dense_shares.begin();
    const CompressionRun& largest = *runs.rbegin()->second;
    if (!runs.contains(fewest) || !dense_shares.contains(largest.gpus)) return;
    const double excess_s = series.step_s(*runs.at(fewest)) - step_s(fewest, dense_share);
    software_s = std::max(0.0, excess_s) / elements_of(series, method, fewest);
    const double factor = share_at(largest) / dense_shares.at(largest.gpus);
    for (const auto& [gpus, share] : dense_shares) shares[gpus] = std::min(1.0, factor * share);
  }

  const ExchangeSource& source_;
  double tcp_step_s_;
};

std::string text_of(const Series& series, const SparseLaw& law) {
  std::string text =
      fmt::format("{}: selection {:.2f} ns an element", series.parts->model, law.select_s * 1e9);
  for (const auto& [method, software_s] : law.software_s) {
    text += fmt::format("; {}: software {:.3g} ns an element, share of the NIC", method,
                        software_s * 1e9);
    for (const auto& [gpus, share] : law.share.at(method)) {
      text += fmt::format(" {:.2f} ({})", share, gpus);
    }
  }
  return text;
}

// ---- Judging.

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

void judge_speedups(const SparseModel& model, const std::string& family, const Series& series,
                    const SparseLaw& law, std::vector<ValidationRow>& judged) {
  const RunsByGpus& dense = told(series.runs, model.dense(), "exchange");
  const std::string start = fmt::format("{} rows, {}", family, series.parts->model);
  std::map<int, double> dense_s;
  for (const ExchangeMethod& method : model.methods()) {
    if (!series.runs.contains(method.name)) continue;
    for (const auto& [gpus, run] : series.runs.at(method.name)) {
      if (gpus < 2) continue;
      const double step_s = model.predict(series, method, gpus, series.alone_s, law).step_s;
      judged.push_back(row_of(*run, start + ": step", "step_s", series.step_s(*run), step_s));
      judged.back().baselines["no communication"] = series.alone_s;
      if (method.name == model.dense()) {
        dense_s[gpus] = step_s;
        continue;
      }
      if (!dense.contains(gpus)) continue;
      judged.push_back(row_of(*run, start + ": speed-up over dense", "speed_up",
                              *run->samples_per_s / *dense.at(gpus)->samples_per_s,
                              dense_s.at(gpus) / step_s));
      judged.back().baselines["bytes at nominal bandwidth"] =
          model.speedup_by_bytes(series, method, gpus);
    }
  }
}

void judge_shares(const SparseModel& model, const ExchangeSource& source, const Series& series,
                  const SparseLaw& law, std::vector<ValidationRow>& judged) {
  const CompressionRun& run = *series.parts;
  const ExchangeMethod& method =
      *std::ranges::find(source.methods, source.sparse->parts_of, &ExchangeMethod::name);
  const Predicted step = model.predict(series, method, run.gpus, *run.compute_s, law);
  const auto judge = [&](const char* what, double measured_s, double predicted_s) {
    judged.push_back(row_of(run, source.family + " breakdown: shares of the step", "share",
                            measured_s / *run.step_s, predicted_s / step.step_s));
    judged.back().label = fmt::format("{}, {} GPUs: {}", run.model, run.gpus, what);
    judged.back().baselines["a third each"] = 1.0 / 3;
  };
  judge("compute", *run.compute_s, *run.compute_s);
  judge("compress", *run.compress_s, step.encode_s);
  judge("communicate", *run.communicate_s, step.step_s - *run.compute_s - step.encode_s);
}

std::map<std::string, Series> series_of(const ExchangeSource& source,
                                        const std::vector<SelectedExchange>& rows,
                                        std::vector<SkippedRow>& skipped) {
  const auto states_parts = [&](const CompressionRun& run) {
    return run.method.starts_with(source.sparse->parts);
  };
  std::map<std::string, Series> all;
  for (const SelectedExchange& row : rows) {
    const CompressionRun* run = row.run;
    if (!states_parts(*run)) continue;
    Series& series = all[run->model];
    if (!run->batch || !run->step_s || !run->compress_s || !run->communicate_s || !run->compute_s) {
      skipped.push_back({run->id, "does not state all parts of its step"});
    } else {
      series.parts = run;
    }
  }
  for (const SelectedExchange& row : rows) {
    const CompressionRun* run = row.run;
    if (states_parts(*run)) continue;
    const ExchangeMethod* method = method_of(source, *run);
    const auto series = all.find(run->model);
    if (method == nullptr || !run->samples_per_s) {
      skipped.push_back({run->id, "no throughput of a known method"});
    } else if (series == all.end() || series->second.parts == nullptr) {
      skipped.push_back({run->id, fmt::format("no row states the batch of {}", run->model)});
    } else {
      series->second.runs[method->name][run->gpus] = run;
      if (run->gpus == 1) series->second.alone_s = series->second.step_s(*run);
    }
  }
  return all;
}

// Returns the latency of one step of a collective over the network.
double latency_s(const SparseExchange& rules, const FittedLaws& laws) {
  const auto law = laws.find(rules.latency.of);
  if (law == laws.end()) return rules.usual_latency_s;
  const std::string* network = law->second.network_named(rules.latency.network);
  if (network == nullptr) return rules.usual_latency_s;
  const FittedLawNumber* latency = law->second.find(kNicLatency, *network, 0);
  return latency == nullptr ? rules.usual_latency_s : latency->value;
}

}  // namespace

JudgedExchanges validate_sparse(const ExchangeSource& source,
                                const std::vector<SelectedExchange>& selected,
                                const FittedLaws& fitted_laws) {
  JudgedExchanges result;
  const SparseModel sparse(source, latency_s(*source.sparse, fitted_laws));
  const std::map<std::string, Series> all = series_of(source, selected, result.skipped);
  std::map<std::string, SparseLaw> laws;
  for (const auto& [model, series] : all) {
    if (series.parts == nullptr) continue;
    const SparseExchange& rules = *source.sparse;
    const std::string& on = model == rules.fitted ? rules.fitted_for_itself : rules.fitted;
    try {
      const auto fitted = all.find(on);
      if (fitted == all.end() || fitted->second.alone_s <= 0 || series.alone_s <= 0) {
        throw Error(
            fmt::format("needs the rows of {} and {}, including those on one GPU", on, model));
      }
      if (!laws.contains(on)) {
        laws[on] = sparse.solved(fitted->second);
        result.laws.push_back(text_of(fitted->second, laws[on]));
      }
      std::vector<ValidationRow> rows;
      judge_speedups(sparse, source.family, series, laws[on], rows);
      judge_shares(sparse, source, series, laws[on], rows);
      result.judged.insert(result.judged.end(), rows.begin(), rows.end());
    } catch (const Error& error) {
      for (const auto& [method, by_gpus] : series.runs) {
        for (const auto& [gpus, run] : by_gpus) result.skipped.push_back({run->id, error.what()});
      }
      result.skipped.push_back({series.parts->id, error.what()});
    }
  }
  return result;
}

}  // namespace windtunnel
