#include "validate/accuracy/samples/sample_faults.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <set>

#include "scenarios/language/library/library.hpp"
#include "validate/accuracy/samples/sample_fault_rules.hpp"

namespace windtunnel {
namespace {

constexpr FaultSeverity kRefused = FaultSeverity::refused;
constexpr FaultSeverity kWarned = FaultSeverity::warned;
constexpr std::string_view kRemoveRows =
    "remove these rows from the file and calibrate again; only they are then measured again";

struct Rule {
  SampleFaultKind kind;
  Blames (*find)(const SampleEvidence&);
  bool explains;  // later rules ignore its rows
};

// If fewer rows than this share remain unexplained, they are not a representative run, and the
// other rules wait until the faults are fixed.
constexpr double kEnoughLeft = 0.8;

// Rules that explain most come first.
constexpr std::array<Rule, 24> kRules = {{
    {{"time-sliced", kRefused, "several ranks shared one device",
      "measure with one device per rank; shared devices show that programs work, but not how fast"},
     time_sliced,
     true},
    {{"mixed-devices", kRefused, "the file has series of several devices",
      "use one file for each device"},
     mixed_devices,
     true},
    {{"wrong-device", kRefused,
      "the series are of another device than the one for which the calibration is made",
      "measure on the device for which the calibration is made, or name the other device"},
     wrong_device,
     true},
    {{"mixed-drivers", kRefused, "the file has series under several drivers",
      "use one file for each driver"},
     mixed_drivers,
     false},
    {{"stale-driver", kWarned,
      "the series were measured under another driver than the device has now",
      "measure again, because a driver changes launches, clocks and libraries"},
     stale_driver,
     false},
    {{"mixed-ranks", kRefused,
      "the file mixes works of one rank alone with works of several ranks at once",
      "use one file for each number of ranks"},
     mixed_ranks,
     true},
    {{"mixed-dates", kWarned, "the file has series of several days",
      "measure into a new file if anything changed between these days"},
     mixed_dates,
     false},
    {{"too-few-points", kRefused, "a kernel has too few sizes, or a too narrow range of sizes",
      "measure more sizes: let the run finish, with more memory or a larger budget"},
     too_few_points,
     true},
    {{"duplicated-rows", kRefused, "some timings occur twice", "remove the copies"},
     duplicated_rows,
     true},
    {{"throttled", kRefused, "much of the run was measured at a reduced clock",
      "cool or free the device, or allow it more power; then measure again"},
     throttled,
     true},
    {{"tainted-rows", kWarned, "a few rows were measured at a reduced clock", kRemoveRows},
     tainted_rows,
     true},
    {{"disturbed", kWarned, "other work ran on the device during some rows",
      "laws correct for this and are less certain; a new file from a quiet machine gives better "
      "ones"},
     disturbed,
     false},
    {{"non-monotone", kRefused, "larger works take less time than smaller ones", kRemoveRows},
     non_monotone,
     true},
    {{"swapped-units", kRefused,
      "values are off by a factor of thousands, or rates are impossible: perhaps ms or us instead "
      "of s, MB instead of B",
      "columns must be in seconds and bytes: correct the rows, or measure again"},
     swapped_units,
     true},
    {{"bits-for-bytes", kRefused, "off by eight", "sizes must be in bytes: correct the rows"},
     bits_for_bytes,
     true},
    {{"below-specification", kRefused, "far below the device's data sheet",
      "find out what shares or throttles the device, or whether it is a different one; then "
      "measure again"},
     below_specification,
     true},
    {{"above-specification", kRefused, "faster than the device's data sheet allows",
      "check the device, and whether the timing waited for the work; then measure again"},
     above_specification,
     true},
    {{"negative-latency", kRefused, "extrapolated to size zero, the time is negative",
      "too much overhead was subtracted from the timings; measure again"},
     negative_latency,
     true},
    {{"outliers", kWarned, "far from what the other sizes of the kernel suggest", kRemoveRows},
     outliers,
     true},
    {{"unsure", kWarned, "the interval is as wide as the time itself",
      "measure with a larger budget, or when the machine is quiet"},
     unsure,
     false},
    {{"cold-faster", kWarned, "faster with cold caches than with warm ones",
      "the caches were not flushed, or rows were mixed up: measure again"},
     cold_faster,
     true},
    {{"drift", kWarned, "timings at the end of the run differ from those at its start",
      "measure again when the machine is quiet, after a warm-up"},
     drift,
     false},
    {{"bad-law", kWarned, "the errors of the laws are far larger than they claim",
      "fit the laws on these samples, or look for a regime that the laws do not cover"},
     bad_law,
     false},
    {{"unlike-earlier", kWarned, "the result differs from the earlier calibration of the device",
      "find out what has changed before you use either"},
     unlike_earlier,
     false},
}};

SampleEvidence evidence_of(std::vector<const Sample*> samples, const KnownMachine& known) {
  SampleEvidence evidence;
  evidence.series = kernel_series(samples);
  evidence.samples = std::move(samples);
  evidence.noise = noise_of(evidence.series);
  evidence.known = known;
  return evidence;
}

SampleFault fault_of(const SampleFaultKind& kind, const Blame& blame) {
  SampleFault fault{
      std::string(kind.name), kind.severity, {}, blame.what, std::string(kind.advice)};
  for (const Sample* row : blame.rows) fault.rows.push_back(row->id);
  return fault;
}

}  // namespace

std::string_view to_string(FaultSeverity severity) {
  return severity == FaultSeverity::refused ? "refused" : "warned";
}

std::span<const SampleFaultKind> sample_fault_kinds() {
  static const std::vector<SampleFaultKind> kinds = [] {
    std::vector<SampleFaultKind> all;
    for (const Rule& rule : kRules) all.push_back(rule.kind);
    return all;
  }();
  return kinds;
}

std::vector<SampleFault> sample_faults(std::span<const Sample> samples, const KnownMachine& known) {
  std::vector<const Sample*> left;
  for (const Sample& sample : samples) left.push_back(&sample);
  SampleEvidence evidence = evidence_of(left, known);
  std::vector<SampleFault> faults;
  for (const Rule& rule : kRules) {
    std::set<const Sample*> explained;
    for (const Blame& blame : rule.find(evidence)) {
      faults.push_back(fault_of(rule.kind, blame));
      if (rule.explains) explained.insert(blame.rows.begin(), blame.rows.end());
    }
    if (explained.empty()) continue;
    left = evidence.samples;
    std::erase_if(left, [&](const Sample* sample) { return explained.contains(sample); });
    if (static_cast<double>(left.size()) < kEnoughLeft * static_cast<double>(samples.size())) break;
    evidence = evidence_of(left, known);
  }
  return faults;
}

bool any_refused(std::span<const SampleFault> faults) {
  return std::ranges::find(faults, kRefused, &SampleFault::severity) != faults.end();
}

const GpuSpec* spec_of_device(std::string_view device) {
  std::string name(device);
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
  const GpuSpec* found = nullptr;
  for (const GpuSpec& gpu : library_gpus()) {
    const bool longer = found == nullptr || gpu.name.size() > found->name.size();
    if (name.find(gpu.name) != std::string::npos && longer) found = &gpu;
  }
  return found;
}

}  // namespace windtunnel
