#include "traces/rows/compression_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <system_error>

#include "traces/text/text.hpp"

namespace windtunnel {
namespace {

constexpr std::array<std::string_view, 8> kRequiredOfExchanges = {
    "source",  "model",  "gpus",         "gpu_type",
    "network", "method", "iter_time_ms", "throughput_samples_s"};

// What a time may differ from what others imply: sources round and average them apart.
constexpr double kTolerance = 0.1;
constexpr double kMillisecond = 1e-3;

// "207 (script)" with the cells up to `url` missing: the number where it stands, the text in url.
bool put_back_source(const std::vector<std::string>& header, std::vector<std::string>& cells) {
  const auto url = std::ranges::find(header, "url");
  if (url == header.end() || cells.size() >= header.size()) return false;
  const size_t missing = header.size() - cells.size();
  const size_t at = static_cast<size_t>(url - header.begin());
  if (missing > at || at - missing >= cells.size()) return false;
  std::string& cell = cells[at - missing];
  const size_t bracket = cell.find(" (");
  if (bracket == std::string::npos || !cell.ends_with(')')) return false;
  double value = 0;
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + bracket, value);
  if (error != std::errc() || end != cell.data() + bracket) return false;
  std::vector<std::string> between(missing);
  between.back() = cell.substr(bracket + 2, cell.size() - bracket - 3);
  cell.resize(bracket);
  cells.insert(cells.begin() + static_cast<std::ptrdiff_t>(at - missing + 1), between.begin(),
               between.end());
  return true;
}

std::optional<double> seconds_in(RowReader& reader, std::string_view column) {
  const std::optional<double> ms = reader.number({column, "milliseconds", 1e9});
  if (!ms) return std::nullopt;
  return *ms * kMillisecond;
}

void check_times(CompressionRun& run, RowReader& reader) {
  if (run.samples_per_s && run.batch && run.gpus > 0) {
    const double implied_s = double(*run.batch) * run.gpus / *run.samples_per_s;
    if (!run.step_s) run.step_s = implied_s;
    if (std::abs(implied_s / *run.step_s - 1) > kTolerance) {
      reader.fault("iter_time_ms",
                   fmt::format("{:g} ms contradicts throughput and batch, which "
                               "imply {:.4g} ms",
                               *run.step_s / kMillisecond, implied_s / kMillisecond));
    }
  }
  const double parts_s =
      run.compress_s.value_or(0) + run.communicate_s.value_or(0) + run.compute_s.value_or(0);
  if (run.step_s && parts_s > *run.step_s * (1 + kTolerance)) {
    reader.fault("iter_time_ms",
                 fmt::format("{:g} ms is less than its parts, which add up to {:.4g} ms",
                             *run.step_s / kMillisecond, parts_s / kMillisecond));
  }
}

CompressionRun read_compression_run(const CsvTable& table, size_t row, RowReader& reader) {
  CompressionRun run;
  run.id = table.id(row);
  run.table_row = row;
  run.source = reader.text("source");
  run.model = reader.text("model");
  run.gpu_type = reader.text("gpu_type");
  run.network = reader.text("network");
  run.method = reader.text("method");
  run.note = reader.text("note");
  run.recalled = contains_text(reader.text("evidence"), "recalled");
  run.gpus = reader.count({"gpus", "", 1e7}).value_or(0);
  run.parameters = reader.number({"params", "", 1e14});
  run.batch = reader.count({"batch", "samples of a GPU", 1e8});
  run.step_s = seconds_in(reader, "iter_time_ms");
  run.compress_s = seconds_in(reader, "compress_ms");
  run.communicate_s = seconds_in(reader, "comm_ms");
  run.compute_s = seconds_in(reader, "fwd_bwd_ms");
  run.samples_per_s = reader.number({"throughput_samples_s", "samples/s", 1e12});
  run.samples_sd = reader.number({"throughput_std", "samples/s", 1e12, true});
  for (const char* column : {"source", "model", "gpus", "network", "method"}) {
    if (reader.text(column).empty()) reader.fault(column, "is empty");
  }
  check_times(run, reader);
  return run;
}

}  // namespace

CompressionRuns parse_compression_runs(std::string_view text, const std::string& file) {
  std::vector<CsvFault> faults;
  CsvTable table = CsvTable::parse(text, file, &faults, put_back_source);
  return read_runs<CompressionRuns>(std::move(table), faults, kRequiredOfExchanges,
                                    read_compression_run);
}

CompressionRuns read_compression_runs(const std::string& path) {
  return parse_compression_runs(read_file(path), path);
}

}  // namespace windtunnel
