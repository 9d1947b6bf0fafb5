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

// Allowed between a stated time and the time that other cells imply: sources round and average them
// separately.
constexpr double kTolerance = 0.1;
constexpr double kMillisecond = 1e-3;

// Repairs "207 (script)" with missing cells up to `url`: the number stays and the text goes to url.
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

constexpr auto kExchangeFields = std::to_array<RowField<CompressionRun>>({
    {"source", &CompressionRun::source, Needs::cell},
    {"model", &CompressionRun::model, Needs::cell},
    {"gpus", &CompressionRun::gpus, Needs::cell, "", 1e7},
    {"gpu_type", &CompressionRun::gpu_type, Needs::column},
    {"network", &CompressionRun::network, Needs::cell},
    {"method", &CompressionRun::method, Needs::cell},
    {"note", &CompressionRun::note},
    {"evidence",
     [](CompressionRun& run, RowReader& reader) {
       run.recalled = contains_text(reader.text("evidence"), "recalled");
     }},
    {"params", &CompressionRun::parameters, {}, "", 1e14},
    {"batch", &CompressionRun::batch, {}, "samples of a GPU", 1e8},
    {"iter_time_ms", &CompressionRun::step_s, Needs::column, "milliseconds", 1e9, {}, kMillisecond},
    {"compress_ms", &CompressionRun::compress_s, {}, "milliseconds", 1e9, {}, kMillisecond},
    {"comm_ms", &CompressionRun::communicate_s, {}, "milliseconds", 1e9, {}, kMillisecond},
    {"fwd_bwd_ms", &CompressionRun::compute_s, {}, "milliseconds", 1e9, {}, kMillisecond},
    {"throughput_samples_s", &CompressionRun::samples_per_s, Needs::column, "samples/s", 1e12},
    {"throughput_std", &CompressionRun::samples_sd, {}, "samples/s", 1e12, true},
});

}  // namespace

CompressionRuns parse_compression_runs(std::string_view text, const std::string& file) {
  return parse_fields<CompressionRun>(text, file, kExchangeFields, check_times, put_back_source);
}

CompressionRuns read_compression_runs(const std::string& path) {
  return parse_compression_runs(read_file(path), path);
}

}  // namespace windtunnel
