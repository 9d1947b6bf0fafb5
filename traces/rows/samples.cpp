#include "traces/rows/samples.hpp"

#include <array>

#include "models/base/error.hpp"
#include "traces/text/text.hpp"

namespace windtunnel {
namespace {

constexpr std::array<std::string_view, 3> kRoles = {"fit", "judge", "again"};
constexpr std::array<std::string_view, 2> kCaches = {"warm", "cold"};
constexpr double kLongest_s = 1e6;
constexpr double kFastest_Hz = 1e12;
constexpr double kHottest_C = 1e3;

void read_work(Sample& sample, RowReader& reader) {
  try {
    sample.work = parse_kernel_steps(reader.text("work"));
  } catch (const Error& error) {
    reader.fault("work", error.what());
  }
}

// A cell that is empty, or not one of the words, is a fault.
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

void check_sample(Sample& sample, RowReader& reader) {
  if (sample.repeats == 0) sample.repeats = 1;
  if (sample.low_s > sample.median_s || sample.high_s < sample.median_s ||
      sample.p05_s > sample.p95_s) {
    reader.fault("median_s", "is outside of its interval");
  }
}

template <auto kState, auto kMember>
auto& state_of(Sample& sample) {
  return sample.*kState.*kMember;
}

// Files of one rank, and of a user's own machines, lack the last three columns.
constexpr auto kSampleFields = std::to_array<RowField<Sample>>({
    {"work", read_work, Needs::column},
    {"role", [](Sample& s, RowReader& r) { s.role = word<SampleRole>(r, "role", kRoles); },
     Needs::column},
    {"cache", [](Sample& s, RowReader& r) { s.cache = word<CacheState>(r, "cache", kCaches); },
     Needs::column},
    {"median_s", &Sample::median_s, Needs::cell, "seconds", kLongest_s},
    {"low_s", &Sample::low_s, Needs::cell, "seconds", kLongest_s},
    {"high_s", &Sample::high_s, Needs::cell, "seconds", kLongest_s},
    {"p05_s", &Sample::p05_s, Needs::cell, "seconds", kLongest_s},
    {"p95_s", &Sample::p95_s, Needs::cell, "seconds", kLongest_s},
    {"repeats", &Sample::repeats, Needs::column, "", 1e9},
    {"order", &Sample::order, Needs::cell, "", 1e9, true},
    {"started_s", &Sample::started_s, Needs::cell, "seconds", 1e9, true},
    {"backend", &Sample::backend, Needs::column},
    {"device", &Sample::device, Needs::column},
    {"driver", &Sample::driver, Needs::column},
    {"date", &Sample::date, Needs::column},
    {"clock_before_Hz", state_of<&Sample::before, &DeviceState::clock_Hz>, Needs::column, "Hz",
     kFastest_Hz, true},
    {"clock_after_Hz", state_of<&Sample::after, &DeviceState::clock_Hz>, Needs::column, "Hz",
     kFastest_Hz, true},
    {"memory_clock_before_Hz", state_of<&Sample::before, &DeviceState::memory_clock_Hz>,
     Needs::column, "Hz", kFastest_Hz, true},
    {"memory_clock_after_Hz", state_of<&Sample::after, &DeviceState::memory_clock_Hz>,
     Needs::column, "Hz", kFastest_Hz, true},
    {"temperature_before_C", state_of<&Sample::before, &DeviceState::temperature_C>, Needs::column,
     "degrees", kHottest_C, true},
    {"temperature_after_C", state_of<&Sample::after, &DeviceState::temperature_C>, Needs::column,
     "degrees", kHottest_C, true},
    {"throttled_before", state_of<&Sample::before, &DeviceState::throttled>, Needs::column},
    {"throttled_after", state_of<&Sample::after, &DeviceState::throttled>, Needs::column},
    {"ranks_per_device", &Sample::ranks_per_device, {}, "", 1e6},
    {"ranks", &Sample::ranks, {}, "", 1e6},
    {"disturbed", &Sample::disturbed, {}, "", 1, true},
});

// Reports missing columns: a file of another tool lacks most of them, one of an older version a
// few.
void check_columns(const CsvTable& table) {
  std::vector<std::string_view> missing;
  for (const RowField<Sample>& field : kSampleFields) {
    if (field.needs != Needs::nothing && !table.has(field.name)) missing.push_back(field.name);
  }
  if (missing.empty()) return;
  const Location header{table.file(), 1, 1};
  constexpr std::size_t kFew = 3;
  if (missing.size() > kFew) {
    throw Error(header, fmt::format("is not a file of samples: columns {} and {} others are "
                                    "missing; windtunnel calibrate --backend writes such files",
                                    fmt::join(missing.begin(), missing.begin() + kFew, ", "),
                                    missing.size() - kFew));
  }
  throw Error(header, fmt::format("column {} is missing; the file has {}", fmt::join(missing, ", "),
                                  fmt::join(table.header(), ", ")));
}

}  // namespace

SampleFile parse_samples(std::string_view text, const std::string& file) {
  std::vector<CsvFault> faults;
  CsvTable table = CsvTable::parse(text, file, &faults);
  check_columns(table);
  return read_fields<Sample>(std::move(table), faults, kSampleFields, check_sample);
}

SampleFile read_samples(const std::string& path) {
  return parse_samples(read_file(path), path);
}

std::string samples_header() {
  std::string names;
  for (const RowField<Sample>& field : kSampleFields) {
    names += fmt::format("{}{}", names.empty() ? "" : ",", field.name);
  }
  return names + '\n';
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
