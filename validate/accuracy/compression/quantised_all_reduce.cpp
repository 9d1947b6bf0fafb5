#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cmath>
#include <functional>
#include <numeric>

#include "models/base/error.hpp"
#include "models/compression/compressors.hpp"
#include "models/cost/op/op_cost.hpp"
#include "scenarios/language/library/library.hpp"
#include "traces/text/csv.hpp"
#include "traces/text/text.hpp"
#include "validate/accuracy/compression/compression.hpp"
#include "validate/accuracy/rows/fitted_constants.hpp"

namespace windtunnel {
namespace {

constexpr double kElementBytes = 2;  // fp16
constexpr double kMicrosecond = 1e-6;

struct Node {
  Cluster cluster;
  Calibration calibration;
  GroupShape shape;
};

// Returns the node of all rows. Throws Error if they are from several machines.
Node node_of(const CsvTable& table, const std::vector<size_t>& rows) {
  const size_t gpu_column = table.column("gpu");
  const size_t gpus_column = table.column("gpus");
  const std::string& gpu = table.text(rows.front(), gpu_column);
  const int gpus = table.integer(rows.front(), gpus_column);
  const auto at = [&](size_t row, size_t column) {
    return Location{table.file(), table.line(row), static_cast<int>(column) + 1};
  };
  for (const size_t row : rows) {
    if (table.text(row, gpu_column) == gpu && table.integer(row, gpus_column) == gpus) continue;
    throw Error(
        at(row, gpu_column),
        fmt::format("it is another machine than {} {} of the first row; use one table for each",
                    gpus, gpu));
  }
  constexpr int kMostGpus = 1024;  // in one node, with room
  if (gpus < 2 || gpus > kMostGpus) {
    throw Error(at(rows.front(), gpus_column),
                fmt::format("column 'gpus': {} GPUs in one node; expected 2 "
                            "to {}",
                            gpus, kMostGpus));
  }
  Node node;
  try {
    node.cluster.node = find_node(plain_name(gpu));
  } catch (const Error& error) {
    throw Error(at(rows.front(), gpu_column), error.what());
  }
  node.cluster.node.gpus = gpus;
  node.cluster.fabric = find_fabric("full-bisection").fabric;
  node.calibration = find_calibration("generic");
  std::vector<std::int32_t> members;
  for (int i = 0; i < gpus; ++i) members.push_back(i);
  node.shape = group_shape(members, node.cluster);
  return node;
}

double collective_s(const Node& node, CollectiveKind kind, double bytes) {
  return collective_cost(kind, {}, node.shape, bytes, node.cluster, node.calibration).seconds;
}

double quantised_s(const Node& node, const char* method, double bytes) {
  const std::array tensors = {TensorShape{.columns = bytes / kElementBytes}};
  CompressorChoice choice{.name = method};
  choice.feedback = ErrorFeedback::none;
  const Recipe recipe = make_recipe(with_usual(choice), tensors,
                                    {node.shape.members, node.shape.nodes}, kElementBytes);
  double seconds = 0;
  for (const RecipeStep& step : recipe.steps) {
    for (const Op& op : step.kernels) {
      seconds += op_cost(op, node.cluster.node.gpu, Precision::fp16, node.calibration).seconds;
    }
    if (step.bytes > 0) seconds += collective_s(node, step.kind, step.bytes);
  }
  return seconds;
}

struct Series {
  std::string column, method;
  std::vector<double> seconds;
};

// Fits the constants to the rows of a series; returns FittedConstants::unseen.
double fit(const std::vector<double>& bytes, const std::vector<double>& seconds,
           const std::vector<FittedConstant>& constants,
           const std::function<void(const std::vector<double>&)>& set,
           const std::function<double(double)>& predicted_s) {
  constexpr double kNoise = 0.05;
  std::vector<int> clusters(bytes.size());
  std::iota(clusters.begin(), clusters.end(), 0);
  constexpr int kOneThread = 1;  // the rows share one model, which threads may not
  const FittedConstants found = fitted_constants(
      constants, clusters, kNoise,
      [&](const std::vector<double>& at, size_t i) {
        set(at);
        return std::log(predicted_s(bytes[i]) / seconds[i]);
      },
      kOneThread);
  set(found.values);
  return found.unseen;
}

// Returns the size from which the second is faster than the first, interpolated between rows.
std::optional<double> crossing(const std::vector<double>& bytes, const std::vector<double>& first,
                               const std::vector<double>& second) {
  for (size_t i = bytes.size(); i-- > 0;) {
    if (second[i] < first[i]) continue;
    if (i + 1 == bytes.size()) return std::nullopt;
    const double here = second[i] - first[i];
    const double next = first[i + 1] - second[i + 1];
    return bytes[i] + (bytes[i + 1] - bytes[i]) * here / (here + next);
  }
  return bytes.front();
}

void set_kernels(const std::vector<double>& at, Calibration& calibration) {
  Parameter share;
  share.value = at[1];
  calibration.kernel_launch_s.value = at[0];
  calibration.kernels = {{"quantise blocks", share}, {"requantise blocks", share}};
}

ValidationRow row_of(const CsvTable& table, size_t row, const std::string& method,
                     double measured_s, double predicted_s, double plain_s, double unseen) {
  ValidationRow result;
  result.id = table.id(row);
  result.family = fmt::format("all-reduce in one node, {}", method);
  result.metric = "all_reduce_s";
  result.measured = measured_s;
  result.predicted = predicted_s;
  result.low = predicted_s / std::exp(unseen);
  result.high = predicted_s * std::exp(unseen);
  result.origin = Origin::published;
  result.baselines = {{"as plain", plain_s}};
  result.label = fmt::format("{}, {} bytes", method, table.text(row, table.column("bytes_fp16")));
  return result;
}

Series read_series(const CsvTable& table, const std::vector<size_t>& rows,
                   const std::string& column, const std::string& method) {
  Series series{column, method, {}};
  for (const size_t row : rows) {
    series.seconds.push_back(table.number(row, table.column(column)) * kMicrosecond);
  }
  return series;
}

// Returns the rows whose numbers can be read; the others go to `skipped`.
std::vector<size_t> readable_rows(const CsvTable& table, std::vector<SkippedRow>& skipped) {
  constexpr std::array kNumbers = {"gpus",       "bytes_fp16", "baseline_us",
                                   "qr_int8_us", "qr_int6_us", "qr_int4_us"};
  table.column("gpu");
  for (const char* column : kNumbers) table.column(column);
  std::vector<size_t> rows;
  for (size_t row = 0; row < table.rows(); ++row) {
    RowReader reader(table, row);
    if (reader.text("gpu").empty()) reader.fault("gpu", "is empty");
    for (const char* column : kNumbers) {
      if (reader.text(column).empty()) reader.fault(column, "is empty");
      reader.number({column, "", 1e15});
    }
    if (reader.faults().empty()) {
      rows.push_back(row);
    } else {
      UnusableRow unusable = reader.unusable();
      skipped.push_back({std::move(unusable.id), std::move(unusable.reason)});
    }
  }
  return rows;
}

}  // namespace

bool holds_quantised(const CsvTable& table) {
  return table.has("bytes_fp16");
}

QuantisedRows validate_quantised(const CsvTable& table) {
  QuantisedRows result;
  const std::vector<size_t> rows = readable_rows(table, result.skipped);
  if (rows.size() < 2) throw Error(Location{table.file()}, "holds fewer than two sizes");
  const Series plain = read_series(table, rows, "baseline_us", "fp16");
  const std::array others = {read_series(table, rows, "qr_int8_us", "int8"),
                             read_series(table, rows, "qr_int6_us", "int6"),
                             read_series(table, rows, "qr_int4_us", "int4")};
  std::vector<double> bytes;
  for (const size_t row : rows) {
    bytes.push_back(table.number(row, table.column("bytes_fp16")));
    if (bytes.size() > 1 && bytes.back() <= bytes[bytes.size() - 2]) {
      throw Error({table.file(), table.line(row), static_cast<int>(table.column("bytes_fp16")) + 1},
                  "column 'bytes_fp16': sizes must be in ascending order");
    }
  }
  Node node = node_of(table, rows);
  Calibration& calibration = node.calibration;
  const auto plain_s = [&](double size) {
    return collective_s(node, CollectiveKind::all_reduce, size);
  };
  const double links_unseen = fit(
      bytes, plain.seconds, {{5e-6, 3}, {0.5, 3}, {1e-6, 3}},
      [&](const std::vector<double>& at) {
        calibration.collective_launch_s.value = at[0];
        calibration.nvlink_efficiency.value = at[1];
        calibration.nvlink_latency_s.value = at[2];
      },
      plain_s);
  std::vector<double> plain_predicted;
  for (const double size : bytes) plain_predicted.push_back(plain_s(size));
  for (size_t i = 0; i < rows.size(); ++i) {
    result.fitted.push_back(row_of(table, rows[i], plain.method, plain.seconds[i],
                                   plain_predicted[i], plain_predicted[i], links_unseen));
  }
  // The kernels are fitted with the links frozen, so this bound includes the links' error.
  const double kernels_unseen = fit(
      bytes, others[0].seconds, {{4e-6, 3}, {0.1, 10}},
      [&](const std::vector<double>& at) { set_kernels(at, calibration); },
      [&](double size) { return quantised_s(node, "int8", size); });
  result.law = fmt::format(
      "launch {:.1f} us, {:.0f} % of the links; kernels {:.1f} us each, {:.1f} % of HBM",
      1e6 * calibration.collective_launch_s.value, 100 * calibration.nvlink_efficiency.value,
      1e6 * calibration.kernel_launch_s.value, 100 * calibration.kernels[0].share.value);
  for (const Series& series : others) {
    std::vector<double> predicted;
    for (const double size : bytes) {
      predicted.push_back(quantised_s(node, series.method.c_str(), size));
    }
    const bool fitted = &series == others.data();
    for (size_t i = 0; i < rows.size(); ++i) {
      (fitted ? result.fitted : result.judged)
          .push_back(row_of(table, rows[i], series.method, series.seconds[i], predicted[i],
                            plain_predicted[i], kernels_unseen));
    }
    result.crossovers.push_back({series.method, fitted,
                                 crossing(bytes, plain.seconds, series.seconds),
                                 crossing(bytes, plain_predicted, predicted)});
  }
  return result;
}

}  // namespace windtunnel
