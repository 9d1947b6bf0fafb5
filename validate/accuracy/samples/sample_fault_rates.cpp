// Rules about possible rates: compared with the device's data sheet, an earlier calibration,
// elapsed time, the run's other kernels, and limits of all machines.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <span>

#include "models/base/error.hpp"
#include "models/base/quantile.hpp"
#include "models/cost/op/op_cost.hpp"
#include "validate/accuracy/samples/sample_fault_rules.hpp"

namespace windtunnel {
namespace {

// People often take bits for bytes (8), ms for s or kB for B (1e3), us for s or MB for B (1e6).
constexpr double kBits = 8;
constexpr std::array<double, 2> kThousands = {1e3, 1e6};
// Kernels of one memory, and a data sheet and the reached rate, differ by less than this factor.
constexpr double kNoSlip = 5;
// Rows that deviate from their neighbours in size by a factor of a thousand are blamed. Four or
// more rows that deviate by about eight are blamed if fewer than half as many deviate by less to
// the same side: noise has tails without a gap.
constexpr double kUnitsTolerance = 3;
constexpr double kRateStrays = 3;
constexpr double kLessStrays = 2;
// Tolerance for ratios around eight, the usual mistake, compared with the median: neighbours vary
// by a factor of two.
constexpr double kBitsTolerance = 1.7;
// This tolerance holds for a comparison with most rows, or with streams, because caches differ.
constexpr double kBitsNear = 2.5;
constexpr std::size_t kLeastBitRows = 4;
constexpr double kMostOfThem = 0.5;
constexpr double kRateDeviations = 7;
// An extrapolated value is this much less certain than an interpolated one.
constexpr double kEndDoubt = 3;
// A row whose own interval gives a smaller standard deviation is sure; others may be off by noise.
constexpr double kSure = 0.1;

// Rates of copies of 16 MB and more: no main memory is as slow as the first value, and no host or
// device is as fast as the others (2026: 1.6 TB/s per socket with HBM, 8 TB/s per GPU).
constexpr double kBeyondCaches = 16e6;
constexpr double kSlowest_Bps = 1e8;
constexpr double kFastestHost_Bps = 4e12;
constexpr double kFastest_Bps = 1e14;

constexpr double kLargeBytes = 4e6;
constexpr double kLong_s = 1e-4;
constexpr std::size_t kNext = 4;
constexpr double kNextRange = 8;  // ratio of sizes; more distant ones are in other caches
constexpr std::array<std::string_view, 3> kStreams = {"copy", "add", "scale"};

constexpr double kAboveSpec = 1.05;     // rounding of data sheets
constexpr std::size_t kLeastAbove = 2;  // one row is an outlier
constexpr double kLargeFlops = 1e9;     // products for which a launch is negligible
constexpr double kCacheReach = 2;       // times the L2 cache; larger works hardly profit from it
constexpr double kUnlikeInAll = 1.25;   // between two calibrations, for the median over all kernels
constexpr double kUnlikeInOne = 2;      // for the median over a kernel's sizes

enum class SlipKind { bits, units, neither };
struct Slip {
  SlipKind kind = SlipKind::units;
  Blame blame;
};
using Slips = std::vector<Slip>;

bool near(double log_ratio, double slip, double tolerance) {
  return std::abs(std::abs(log_ratio) - std::log(slip)) < std::log(tolerance);
}

bool is_slip(double ratio) {
  return ratio >= kNoSlip || ratio <= 1 / kNoSlip;
}

// Copies reach 0.6 to 1 of a data sheet, so the tolerance around eight is that between neighbours.
SlipKind slip_kind(double ratio, double bits_tolerance = kBitsTolerance) {
  const double log = std::log(ratio);
  if (near(log, kBits, bits_tolerance)) return SlipKind::bits;
  const bool thousands = std::ranges::any_of(
      kThousands, [&](double slip) { return near(log, slip, kUnitsTolerance); });
  return thousands ? SlipKind::units : SlipKind::neither;
}

bool moves_memory(const KernelSeries& series) {
  if (series.points.empty() || series.product) return false;
  const KernelKind& kind = kernel_kind(series.points[0].sample->work[0][0].kernel);
  return kind.family != KernelFamily::collective;
}

bool is_stream(const KernelSeries& series) {
  return std::ranges::find(kStreams, series.key) != kStreams.end();
}

// Returns the rate of works next in size. Noise only slows down, so the fastest counts.
double rate_near(const KernelSeries& series, double bytes) {
  const auto distance = [&](const SizedSample& point) {
    return std::abs(std::log(point.bytes / bytes));
  };
  std::vector<SizedSample> points = series.points;
  std::ranges::sort(points, {}, distance);
  double fastest = 0;
  for (const SizedSample& point : std::span(points).first(std::min(kNext, points.size()))) {
    if (fastest > 0 && distance(point) > std::log(kNextRange)) break;
    fastest = std::max(fastest, point.bytes / point.sample->median_s);
  }
  return fastest;
}

// Returns the rate of the largest works of the series.
double peak_rate(const KernelSeries& series) {
  return rate_near(series, series.points.back().bytes);
}

// Whether its start is negligible compared with its bytes.
bool is_large(const SizedSample& point) {
  return point.bytes >= kLargeBytes || point.sample->median_s >= kLong_s;
}

// The timings of a run cannot take longer than the run. Half of them are above their median.
void against_the_clock(const SampleEvidence& evidence, Slips& slips) {
  constexpr double kSameBatch_s = 1e-3;
  std::vector<const Sample*> run;
  const auto check = [&] {
    if (run.empty()) return;
    double first_s = HUGE_VAL;
    double last_s = 0;
    for (const Sample* sample : run) {
      first_s = std::min(first_s, sample->started_s);
      last_s = std::max(last_s, sample->started_s);
    }
    double least_s = 0;  // for timings before the last batch
    for (const Sample* sample : run) {
      if (sample->started_s > last_s - kSameBatch_s) continue;
      least_s += sample->repeats * sample->median_s / 2;
    }
    const double took_s = last_s - first_s;
    if (took_s > 0 && least_s > took_s) {
      slips.push_back({SlipKind::units,
                       {run, fmt::format("timings add up to at least {:.3g} s in a run of {:.3g} s",
                                         least_s, took_s)}});
    }
    run.clear();
  };
  for (const Sample* sample : evidence.samples) {
    // A resumed run counts its seconds from 0 again.
    if (!run.empty() && sample->started_s < run.back()->started_s - kSameBatch_s) check();
    run.push_back(sample);
  }
  check();
}

void against_machines(const SampleEvidence& evidence, Slips& slips) {
  for (const KernelSeries& series : evidence.series) {
    if (!moves_memory(series)) continue;
    const SizedSample& largest = series.points.back();
    const double rate_Bps = largest.bytes / largest.sample->median_s;
    const double fastest_Bps = largest.sample->backend == "cpu" ? kFastestHost_Bps : kFastest_Bps;
    const bool slow = is_stream(series) && peak_rate(series) < kSlowest_Bps;
    const bool fast = rate_Bps > (largest.bytes >= kBeyondCaches ? fastest_Bps : 10 * kFastest_Bps);
    if (!slow && !fast) continue;
    slips.push_back(
        {SlipKind::units,
         {rows_of(series), fmt::format("{}: {:.3g} GB/s at {:.3g} MB, which no machine reaches",
                                       series.key, rate_Bps * 1e-9, largest.bytes * 1e-6)}});
  }
}

// The largest works of this series have `ratio` times the data sheet's rate, which no memory
// explains.
struct OffSpec {
  const KernelSeries* series;
  double ratio;
  std::string what;
};

std::vector<OffSpec> off_spec(const SampleEvidence& evidence) {
  std::vector<OffSpec> off;
  if (evidence.known.spec == nullptr) return off;
  const double spec_Bps = evidence.known.spec->memory_Bps.value;
  for (const KernelSeries& series : evidence.series) {
    if (!moves_memory(series)) continue;
    const double peak = peak_rate(series);
    const double ratio = peak / spec_Bps;
    const bool too_slow = is_stream(series) && is_large(series.points.back());
    if ((ratio < 1 && !too_slow) || !is_slip(ratio)) continue;
    off.push_back({&series, ratio,
                   fmt::format("{}: {:.3g} GB/s, the data sheet of {} says {:.4g}", series.key,
                               peak * 1e-9, evidence.known.spec->name, spec_Bps * 1e-9)});
  }
  return off;
}

void against_spec(const SampleEvidence& evidence, Slips& slips) {
  for (const OffSpec& off : off_spec(evidence)) {
    const SlipKind kind = slip_kind(off.ratio);
    if (kind != SlipKind::neither) slips.push_back({kind, {rows_of(*off.series), off.what}});
  }
}

// Takes the median of log(rate / rate of streams) over the larger half of a series' sizes. A wrong
// unit affects all sizes, whereas load on the machine slows some, the longest first.
double log_beside_streams(const KernelSeries& series,
                          const std::vector<const KernelSeries*>& streams) {
  std::vector<double> logs;
  for (const SizedSample& point : std::span(series.points).subspan(series.points.size() / 2)) {
    std::vector<double> rates;
    for (const KernelSeries* stream : streams) rates.push_back(rate_near(*stream, point.bytes));
    logs.push_back(std::log(rate_near(series, point.bytes) / median(rates)));
  }
  return median(logs);
}

// At any size, streams have one rate, that of the memory or cache, and nothing is faster.
void against_streams(const SampleEvidence& evidence, Slips& slips) {
  std::vector<const KernelSeries*> streams;
  for (const KernelSeries& series : evidence.series) {
    if (is_stream(series)) streams.push_back(&series);
  }
  if (streams.size() < kStreams.size()) return;  // with two, it is not known which is wrong
  for (const KernelSeries& series : evidence.series) {
    if (!moves_memory(series)) continue;
    const double ratio = std::exp(log_beside_streams(series, streams));
    const bool possible = ratio < 1 && !is_stream(series);
    if (possible || !is_slip(ratio)) continue;
    const SlipKind kind = slip_kind(ratio, kBitsNear);
    slips.push_back({kind == SlipKind::neither ? SlipKind::units : kind,
                     {rows_of(series),
                      fmt::format("{}: {:.3g} times the rate of copies and sums, {:.3g} GB/s at "
                                  "its largest",
                                  series.key, ratio, peak_rate(series) * 1e-9)}});
  }
}

// Returns the median of log(measured / predicted); nothing if the laws lack the kernel.
std::optional<double> log_ratio(const KernelSeries& series, const KernelLaws& laws) {
  std::vector<double> ratios;
  try {
    for (const SizedSample& point : series.points) {
      ratios.push_back(
          point.log_s -
          std::log(predicted_time(point.sample->work, laws, point.sample->cache).seconds));
    }
  } catch (const Error&) {
    return std::nullopt;
  }
  return median(ratios);
}

// Finds only factors that look like a wrong unit; unlike_earlier() reports other factors.
void against_earlier(const SampleEvidence& evidence, Slips& slips) {
  if (evidence.known.earlier == nullptr) return;
  for (const KernelSeries& series : evidence.series) {
    const std::optional<double> log = log_ratio(series, *evidence.known.earlier);
    if (!log || !is_slip(std::exp(*log))) continue;
    const SlipKind kind = slip_kind(std::exp(*log));
    if (kind == SlipKind::neither) continue;
    slips.push_back({kind,
                     {rows_of(series), fmt::format("{}: takes {:.3g} times as long as before",
                                                   series.key, std::exp(*log))}});
  }
}

using Strays = std::vector<const SizedSample*>;

std::string expected_text(const SizedSample& point) {
  return fmt::format("{} takes {:.3g} times as long as its other sizes suggest",
                     to_text(point.sample->work), std::exp(point.residual));
}

Blame blame_of(const Strays& strays) {
  Blame blame{{}, expected_text(*strays.front())};
  for (const SizedSample* stray : strays) blame.rows.push_back(stray->sample);
  return blame;
}

// `less` is the number of rows that deviate by less to the same side, or are uncertain themselves.
void eighths(const Strays& strays, std::size_t less, Slips& slips) {
  if (strays.size() < kLeastBitRows || strays.size() <= 2 * less) return;
  std::vector<double> logs;
  double about_eight = 0;
  for (const SizedSample* stray : strays) {
    logs.push_back(stray->residual);
    if (near(stray->residual, kBits, kBitsNear)) ++about_eight;
  }
  const double most = kMostOfThem * static_cast<double>(strays.size());
  if (!near(median(logs), kBits, kBitsTolerance) || about_eight < most) {
    return;
  }
  slips.push_back({SlipKind::bits, blame_of(strays)});
}

void against_neighbours(const SampleEvidence& evidence, Slips& slips) {
  Strays units;
  Strays slow;
  Strays fast;
  std::size_t less_slow = 0;
  std::size_t less_fast = 0;
  for (const KernelSeries& series : evidence.series) {
    // If rows of the series usually deviate that much, a deviation tells nothing.
    const double noise = kRateDeviations * std::max(evidence.noise, series.noise);
    for (const SizedSample& point : series.points) {
      const double r = point.residual;
      if (slip_kind(std::exp(r)) == SlipKind::units) {
        if (std::abs(r) > (point.inner ? noise : kEndDoubt * noise)) units.push_back(&point);
      } else if (series.product || !point.inner) {
        continue;  // the size of a product is not in bytes
      } else if (std::abs(r) > std::log(kRateStrays) && point.noise < kSure) {
        (r > 0 ? slow : fast).push_back(&point);
      } else if (std::abs(r) > std::log(kLessStrays)) {
        ++(r > 0 ? less_slow : less_fast);
      }
    }
  }
  if (!units.empty()) slips.push_back({SlipKind::units, blame_of(units)});
  if (kRateDeviations * evidence.noise > std::log(kBits)) return;
  eighths(slow, less_slow, slips);
  eighths(fast, less_fast, slips);
}

Slips all_slips(const SampleEvidence& evidence) {
  Slips slips;
  against_the_clock(evidence, slips);
  against_spec(evidence, slips);
  against_machines(evidence, slips);
  against_streams(evidence, slips);
  against_earlier(evidence, slips);
  against_neighbours(evidence, slips);
  return slips;
}

Blames of_slips(const SampleEvidence& evidence, SlipKind kind) {
  Blames blames;
  for (Slip& slip : all_slips(evidence)) {
    if (slip.kind == kind) blames.push_back(std::move(slip.blame));
  }
  return blames;
}

// This row is `ratio` times faster than the data sheet allows.
struct Above {
  const Sample* row;
  double ratio;
  std::string what;
};

void products_above(const KernelSeries& series, const GpuSpec& spec, std::vector<Above>& above) {
  for (const SizedSample& point : series.points) {
    const KernelWork& work = point.sample->work[0][0];
    if (work.kernel != "gemm" || point.size < kLargeFlops) continue;
    const double peak = peak_flops(spec, work.precision);
    const double rate = point.size / point.sample->high_s;
    if (peak <= 0 || rate <= kAboveSpec * peak) continue;
    above.push_back(
        {point.sample, rate / peak,
         fmt::format("{}: {:.4g} TFLOP/s, the data sheet of {} says {:.4g}",
                     to_text(point.sample->work), rate * 1e-12, spec.name, peak * 1e-12)});
  }
}

// Bytes up to the capacity of the L2 cache may come from the cache.
void streams_above(const KernelSeries& series, const GpuSpec& spec, std::vector<Above>& above) {
  if (!is_stream(series)) return;
  for (const SizedSample& point : series.points) {
    if (point.bytes < std::max(kLargeBytes, kCacheReach * spec.l2_bytes.value)) continue;
    const double from_memory = 1 - spec.l2_bytes.value / point.bytes;
    const double rate_Bps = from_memory * point.bytes / point.sample->high_s;
    const double ratio = rate_Bps / spec.memory_Bps.value;
    if (ratio <= kAboveSpec) continue;
    above.push_back({point.sample, ratio,
                     fmt::format("{}: {:.4g} GB/s, the data sheet of {} says {:.4g}",
                                 to_text(point.sample->work), rate_Bps * 1e-9, spec.name,
                                 spec.memory_Bps.value * 1e-9)});
  }
}

}  // namespace

Blames swapped_units(const SampleEvidence& evidence) {
  return of_slips(evidence, SlipKind::units);
}

Blames bits_for_bytes(const SampleEvidence& evidence) {
  return of_slips(evidence, SlipKind::bits);
}

Blames below_specification(const SampleEvidence& evidence) {
  Blames blames;
  for (const OffSpec& off : off_spec(evidence)) {
    if (off.ratio > 1 || slip_kind(off.ratio) != SlipKind::neither) continue;
    blames.push_back(
        {rows_of(*off.series), fmt::format("{}, {:.3g} times that: a unit is wrong, or the device "
                                           "is shared, throttled or a different one",
                                           off.what, 1 / off.ratio)});
  }
  return blames;
}

Blames above_specification(const SampleEvidence& evidence) {
  if (evidence.known.spec == nullptr) return {};
  std::vector<Above> above;
  for (const KernelSeries& series : evidence.series) {
    products_above(series, *evidence.known.spec, above);
    streams_above(series, *evidence.known.spec, above);
  }
  for (const OffSpec& off : off_spec(evidence)) {
    if (off.ratio < 1 || slip_kind(off.ratio) != SlipKind::neither) continue;
    const std::string what = fmt::format(
        "{}, {:.3g} times less: a unit is wrong, the timing did not wait for the work, or the "
        "device is a different one",
        off.what, off.ratio);
    for (const Sample* row : rows_of(*off.series)) above.push_back({row, off.ratio, what});
  }
  if (above.size() < kLeastAbove) return {};
  const Above& worst = *std::ranges::max_element(above, {}, &Above::ratio);
  Blame blame{{}, worst.what};
  for (const Above& one : above) {
    if (std::ranges::find(blame.rows, one.row) == blame.rows.end()) blame.rows.push_back(one.row);
  }
  return {blame};
}

Blames unlike_earlier(const SampleEvidence& evidence) {
  if (evidence.known.earlier == nullptr) return {};
  std::vector<double> logs;
  Blames blames;
  for (const KernelSeries& series : evidence.series) {
    const std::optional<double> log = log_ratio(series, *evidence.known.earlier);
    if (!log) continue;
    logs.push_back(*log);
    if (std::abs(*log) < std::log(kUnlikeInOne)) continue;
    blames.push_back({rows_of(series), fmt::format("{}: takes {:.3g} times as long as before",
                                                   series.key, std::exp(*log))});
  }
  if (!logs.empty() && std::abs(median(logs)) > std::log(kUnlikeInAll)) {
    blames.push_back({{},
                      fmt::format("the middle kernel takes {:.3g} times as long as before",
                                  std::exp(median(logs)))});
  }
  return blames;
}

}  // namespace windtunnel
