#include "traces/rows/samples.hpp"

#include <array>

#include "models/base/error.hpp"
#include "traces/text/text.hpp"

namespace windtunnel {
namespace {

constexpr std::array<std::string_view, 23> kColumns = {"work",
                                                       "role",
                                                       "cache",
                                                       "median_s",
                                                       "low_s",
                                                       "high_s",
                                                       "p05_s",
                                                       "p95_s",
                                                       "repeats",
                                                       "order",
                                                       "started_s",
                                                       "backend",
                                                       "device",
                                                       "driver",
                                                       "date",
                                                       "clock_before_Hz",
                                                       "clock_after_Hz",
                                                       "memory_clock_before_Hz",
                                                       "memory_clock_after_Hz",
                                                       "temperature_before_C",
                                                       "temperature_after_C",
                                                       "throttled_before",
                                                       "throttled_after"};
// What files of one rank, and of machines of one's own, may lack.
constexpr std::string_view kRanksPerDevice = "ranks_per_device";
constexpr std::string_view kRanks = "ranks";
constexpr std::string_view kDisturbed = "disturbed";

constexpr std::array<std::string_view, 3> kRoles = {"fit", "judge", "again"};
constexpr std::array<std::string_view, 2> kCaches = {"warm", "cold"};
constexpr double kLongest_s = 1e6;
constexpr double kFastest_Hz = 1e12;

template <typename Enum, std::size_t kCount>
Enum word(RowReader& reader, std::string_view column,
          const std::array<std::string_view, kCount>& words) {
  const std::string text = reader.text(column);
  for (std::size_t i = 0; i < kCount; ++i) {
    if (words[i] == text) return static_cast<Enum>(i);
  }
  const std::string nearest = nearest_name(text, {words.begin(), words.end()});
  reader.fault(column, fmt::format("'{}' is none of {}{}", text, fmt::join(words, ", "),
                                   nearest.empty() ? "" : "; did you mean '" + nearest + "'?"));
  return {};
}

double required(RowReader& reader, const NumberColumn& column) {
  const std::optional<double> value = reader.number(column);
  if (!value && reader.text(column.name).empty()) reader.fault(column.name, "is empty");
  return value.value_or(0);
}

DeviceState state_of(RowReader& reader, std::string_view when) {
  const std::string clock = fmt::format("clock_{}_Hz", when);
  const std::string memory = fmt::format("memory_clock_{}_Hz", when);
  const std::string temperature = fmt::format("temperature_{}_C", when);
  DeviceState state;
  state.clock_Hz = reader.number({clock, "Hz", kFastest_Hz, true}).value_or(0);
  state.memory_clock_Hz = reader.number({memory, "Hz", kFastest_Hz, true}).value_or(0);
  state.temperature_C = reader.number({temperature, "degrees", 1e3, true}).value_or(0);
  state.throttled = reader.flag(fmt::format("throttled_{}", when)).value_or(false);
  return state;
}

Sample read_sample(const CsvTable& table, size_t row, RowReader& reader) {
  Sample sample;
  sample.id = table.id(row);
  try {
    sample.work = parse_kernel_steps(reader.text("work"));
  } catch (const Error& error) {
    reader.fault("work", error.what());
  }
  sample.role = word<SampleRole>(reader, "role", kRoles);
  sample.cache = word<CacheState>(reader, "cache", kCaches);
  sample.median_s = required(reader, {"median_s", "seconds", kLongest_s});
  sample.low_s = required(reader, {"low_s", "seconds", kLongest_s});
  sample.high_s = required(reader, {"high_s", "seconds", kLongest_s});
  sample.p05_s = required(reader, {"p05_s", "seconds", kLongest_s});
  sample.p95_s = required(reader, {"p95_s", "seconds", kLongest_s});
  if (sample.low_s > sample.median_s || sample.high_s < sample.median_s ||
      sample.p05_s > sample.p95_s) {
    reader.fault("median_s", "lies outside of its interval");
  }
  sample.repeats = reader.count({"repeats", "", 1e9}).value_or(1);
  sample.order = required(reader, {"order", "", 1e9, true});
  sample.started_s = required(reader, {"started_s", "seconds", 1e9, true});
  sample.before = state_of(reader, "before");
  sample.after = state_of(reader, "after");
  sample.backend = reader.text("backend");
  sample.device = reader.text("device");
  sample.driver = reader.text("driver");
  sample.date = reader.text("date");
  sample.ranks_per_device = reader.count({kRanksPerDevice, "", 1e6}).value_or(1);
  sample.ranks = reader.count({kRanks, "", 1e6}).value_or(1);
  sample.disturbed = reader.number({kDisturbed, "", 1, true}).value_or(0);
  return sample;
}

// Another tool's file lacks most of them, one of an older version a few.
void check_columns(const CsvTable& table) {
  std::vector<std::string_view> missing;
  for (const std::string_view column : kColumns) {
    if (!table.has(column)) missing.push_back(column);
  }
  if (missing.empty()) return;
  const Location header{table.file(), 1, 1};
  constexpr std::size_t kFew = 3;
  if (missing.size() > kFew) {
    throw Error(header, fmt::format("is no file of samples, columns {} and {} others are missing; "
                                    "windtunnel calibrate --backend writes such files",
                                    fmt::join(missing.begin(), missing.begin() + kFew, ", "),
                                    missing.size() - kFew));
  }
  throw Error(header, fmt::format("column {} is missing; the file's are {}",
                                  fmt::join(missing, ", "), fmt::join(table.header(), ", ")));
}

}  // namespace

SampleFile parse_samples(std::string_view text, const std::string& file) {
  std::vector<CsvFault> faults;
  CsvTable table = CsvTable::parse(text, file, &faults);
  check_columns(table);
  return read_runs<SampleFile>(std::move(table), faults, kColumns, read_sample);
}

SampleFile read_samples(const std::string& path) {
  return parse_samples(read_file(path), path);
}

std::string samples_header() {
  return fmt::format("{},{},{},{}\n", fmt::join(kColumns, ","), kRanksPerDevice, kRanks,
                     kDisturbed);
}

std::string sample_row(const Sample& s) {
  return fmt::format(
      "{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{:d},{:d},{},{},{}\n",
      to_text(s.work), kRoles[static_cast<size_t>(s.role)], kCaches[static_cast<size_t>(s.cache)],
      s.median_s, s.low_s, s.high_s, s.p05_s, s.p95_s, s.repeats, s.order, s.started_s, s.backend,
      csv_cell(s.device), csv_cell(s.driver), s.date, s.before.clock_Hz, s.after.clock_Hz,
      s.before.memory_clock_Hz, s.after.memory_clock_Hz, s.before.temperature_C,
      s.after.temperature_C, s.before.throttled, s.after.throttled, s.ranks_per_device, s.ranks,
      s.disturbed);
}

}  // namespace windtunnel
