#include "validate/accuracy/compression/compression_buckets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>

#include "models/base/error.hpp"
#include "policies/iteration.hpp"
#include "validate/accuracy/compression/exchange_job.hpp"
#include "validate/accuracy/rows/fitted_constants.hpp"

namespace windtunnel {
namespace {

constexpr std::string_view kSource = "PyTorch DDP benchmark";
constexpr std::string_view kFitted = "resnet50";

struct Machine {
  std::string_view gpu;  // that column gpu_type begins with
  ExchangeMachine machine;
};
const std::array kMachines = {Machine{"V100", {"dgx-v100", 8, 100e9 / 8, 4}},
                              Machine{"GH200", {"gh200", 4, 200e9 / 8, 4}}};

// Megabytes of "DDP bucket 25MB p50"; 0: none. As in "DDP 2 nodes bucket 25MB p50".
double bucket_megabytes(const CompressionRun& run) {
  constexpr std::string_view kWord = "bucket ";
  if (!run.method.starts_with("DDP")) return 0;
  const size_t at = run.method.find(kWord);
  double megabytes = 0;
  if (at != std::string::npos) {
    std::from_chars(run.method.data() + at + kWord.size(), run.method.data() + run.method.size(),
                    megabytes);
  }
  return megabytes;
}

// What slows the GPUs of a group down that one alone does not have.
struct BucketLaw {
  double spread = 0;    // of GPUs' times, standard deviation: a step is as slow as the slowest
  double slowdown = 0;  // of kernels beside a collective
  double launch_s = 0;  // of a collective
  double step_s = 0;    // of one of its steps in a node
  double unseen = 0;    // within which a ratio that was not fitted on is expected
};

// Of `count` normal values, in standard deviations (Blom 1958): the quantile at (n - 3/8) /
// (n + 1/4), by bisection of the distribution function.
double largest_of(int count) {
  const double share = (count - 0.375) / (count + 0.25);
  double low = 0;
  double high = 10;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (0.5 * std::erfc(-middle / std::sqrt(2.0)) < share ? low : high) = middle;
  }
  return low;
}

struct Row {
  const CompressionRun* run = nullptr;
  double alone_s = 0;
  Job job;
  bool fit = false;
};

double ratio(const Row& row, const BucketLaw& law) {
  Job job = row.job;
  job.cluster.slow_nodes = {{0, 1 + law.spread * largest_of(row.run->gpus)}};
  job.calibration.overlap_slowdown.value = law.slowdown;
  job.calibration.collective_launch_s.value = law.launch_s;
  job.calibration.nvlink_latency_s.value = law.step_s;
  return exchange_step_s(job) / row.alone_s;
}

Row make_row(const CompressionRun& run, double alone_s) {
  const auto* const machine = std::ranges::find_if(
      kMachines, [&](const Machine& known) { return run.gpu_type.starts_with(known.gpu); });
  if (machine == kMachines.end()) {
    throw Error(fmt::format("no machine is known for '{}'", run.gpu_type));
  }
  if (!run.batch) throw Error("states no batch");
  Row row;
  row.run = &run;
  row.alone_s = alone_s;
  row.job =
      exchange_job(run.model, run.parameters.value_or(0), run.gpus, *run.batch, machine->machine);
  Communication& communication = row.job.communication;
  communication.overlap = GradientOverlap::bucketed;
  communication.bucket_bytes = bucket_megabytes(run) * 1024 * 1024;
  communication.first_bucket_bytes = 1024 * 1024;
  communication.collectives.clear();
  set_alone_s(row.job, alone_s);
  row.fit = run.model == kFitted && run.gpu_type.starts_with("V100");
  return row;
}

const std::vector<FittedConstant> kConstants = {{0.03, 3}, {0.2, 2}, {20e-6, 3}, {3e-6, 3}};

BucketLaw law_at(const std::vector<double>& at) {
  return {at[0], at[1], at[2], at[3]};
}

BucketLaw fitted_law(const std::vector<Row>& rows, int threads) {
  constexpr double kNoise = 0.005;  // times of three digits
  std::vector<const Row*> fitted;
  std::vector<int> clusters;
  for (const Row& row : rows) {
    if (!row.fit) continue;
    fitted.push_back(&row);
    clusters.push_back(row.run->gpus);
  }
  const FittedConstants found = fitted_constants(
      kConstants, clusters, kNoise,
      [&](const std::vector<double>& at, size_t i) {
        return ratio(*fitted[i], law_at(at)) - *fitted[i]->run->step_s / fitted[i]->alone_s;
      },
      threads);
  BucketLaw law = law_at(found.values);
  law.unseen = found.unseen;
  return law;
}

ValidationRow validation_row(const Row& row, const BucketLaw& law) {
  const CompressionRun& run = *row.run;
  ValidationRow result;
  result.id = run.id;
  result.family = fmt::format("DDP buckets, {}", run.gpu_type.substr(0, run.gpu_type.find(' ')));
  result.metric = "step_over_one_gpu";
  result.measured = *run.step_s / row.alone_s;
  result.predicted = ratio(row, law);
  result.low = result.predicted - law.unseen;
  result.high = result.predicted + law.unseen;
  result.origin = Origin::published;
  result.baselines = {{"no growth", 1}};
  result.label = fmt::format("{}, {} GPUs, {}", run.model, run.gpus, run.method);
  result.note = run.note;
  return result;
}

// Rows that are off by more than a bound, with and without what rounding both times may add.
struct Misses {
  static constexpr double kBound = 0.015;
  static constexpr double kPrinted_s = 1e-3;  // the source's last digit
  int rows = 0;
  int off = 0;
  int off_beyond_rounding = 0;
  double most_rounding = 0;

  void add(const ValidationRow& row, double alone_s) {
    const double error = std::abs(row.predicted - row.measured);
    const double rounding = kPrinted_s / 2 / alone_s * (1 + row.measured);
    ++rows;
    off += error > kBound ? 1 : 0;
    off_beyond_rounding += error > kBound + rounding ? 1 : 0;
    most_rounding = std::max(most_rounding, rounding);
  }
  std::string text() const {
    return fmt::format(
        "{} of {} rows are off by more than {:.1f} points, {} by more than that and the rounding "
        "of both times to a millisecond (up to {:.1f} points)",
        off, rows, 100 * kBound, off_beyond_rounding, 100 * most_rounding);
  }
};

// A series: one network, one bucket size, one machine.
std::string series_of(const CompressionRun& run) {
  return fmt::format("{} {} {}", run.gpu_type, run.model, bucket_megabytes(run));
}

// Those that can be predicted; why the others cannot.
std::vector<Row> rows_of(const std::vector<const CompressionRun*>& runs,
                         std::vector<SkippedRow>& skipped) {
  std::map<std::string, double> alone_s;
  for (const CompressionRun* run : runs) {
    if (run->gpus == 1 && bucket_megabytes(*run) > 0 && run->step_s) {
      alone_s[series_of(*run)] = *run->step_s;
    }
  }
  std::vector<Row> rows;
  for (const CompressionRun* run : runs) {
    const auto alone = alone_s.find(series_of(*run));
    if (bucket_megabytes(*run) == 0) {
      skipped.push_back({run->id, "without DDP: no series grows from it"});
    } else if (run->gpus == 1) {
      skipped.push_back({run->id, "the step on one GPU that its series grows from"});
    } else if (alone == alone_s.end() || !run->step_s) {
      skipped.push_back({run->id, "no row states the step of its series on one GPU"});
    } else {
      try {
        rows.push_back(make_row(*run, alone->second));
      } catch (const Error& error) {
        skipped.push_back({run->id, error.what()});
      }
    }
  }
  return rows;
}

}  // namespace

bool is_bucket_row(const CompressionRun& run) {
  return run.source.starts_with(kSource);
}

BucketRows validate_buckets(const std::vector<const CompressionRun*>& runs, int threads) {
  BucketRows result;
  const std::vector<Row> rows = rows_of(runs, result.skipped);
  if (std::ranges::none_of(rows, &Row::fit)) {
    for (const Row& row : rows) {
      result.skipped.push_back({row.run->id, fmt::format("needs rows of {} on V100", kFitted)});
    }
    return result;
  }
  const BucketLaw law = fitted_law(rows, threads);
  result.law = fmt::format(
      "GPUs' times spread by {:.1f} %, kernels {:.0f} % slower beside a collective, {:.0f} us a "
      "collective and {:.1f} us a step in a node",
      100 * law.spread, 100 * law.slowdown, 1e6 * law.launch_s, 1e6 * law.step_s);
  std::map<std::string, Misses> misses;
  for (const Row& row : rows) {
    const ValidationRow judged = validation_row(row, law);
    (row.fit ? result.fitted : result.judged).push_back(judged);
    if (!row.fit) misses[judged.family].add(judged, row.alone_s);
  }
  for (const auto& [family, missed] : misses) result.notes[family] = missed.text();
  return result;
}

}  // namespace windtunnel
