// Rules about the origin of rows, and whether a fit can use them.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "models/calibration/kernel_law_fit.hpp"
#include "validate/accuracy/samples/sample_fault_rules.hpp"

namespace windtunnel {
namespace {

// A throttled row should be measured again; from this share on, the whole run should.
constexpr double kFewThrottled = 0.05;
constexpr double kFewThrottledOfKernel = 1.0 / 3;
// Share of the run's top clock: boost clocks differ by a few per cent between kernels.
constexpr double kHeldBack = 0.9;
constexpr double kTopClock = 0.9;  // quantile of clocks, which a GPU reaches unless it is throttled

constexpr double kLeastRange = 8;  // ratio of sizes needed to separate slope and start

// With fewer repeats, half a bootstrap interval tells nothing.
constexpr int kLeastRepeats = 5;
constexpr double kWidest = 1;  // half of the interval, over the median

template <typename Field>
std::map<std::string, std::vector<const Sample*>> by(const SampleEvidence& evidence, Field field) {
  std::map<std::string, std::vector<const Sample*>> groups;
  for (const Sample* sample : evidence.samples) groups[field(*sample)].push_back(sample);
  return groups;
}

// All groups are at fault except the largest, which is taken for the intended one.
Blames mixed(const std::map<std::string, std::vector<const Sample*>>& groups,
             std::string_view noun) {
  if (groups.size() < 2) return {};
  const auto largest =
      std::ranges::max_element(groups, {}, [](const auto& group) { return group.second.size(); });
  Blame blame;
  std::vector<std::string> names;
  for (auto group = groups.begin(); group != groups.end(); ++group) {
    if (group == largest) continue;
    names.push_back(group->first);
    blame.rows.insert(blame.rows.end(), group->second.begin(), group->second.end());
  }
  blame.what = fmt::format("there are {} rows of {} '{}' and {} of '{}'", blame.rows.size(), noun,
                           fmt::join(names, "', '"), largest->second.size(), largest->first);
  return {blame};
}

// Returns the days since 1970-01-01 of a date YYYY-MM-DD.
std::optional<int> day_of(const std::string& date) {
  int year = 0;
  unsigned month = 0;
  unsigned day = 0;
  if (std::sscanf(date.c_str(), "%d-%u-%u", &year, &month, &day) != 3) return std::nullopt;
  const std::chrono::year_month_day ymd{std::chrono::year(year), std::chrono::month(month),
                                        std::chrono::day(day)};
  if (!ymd.ok()) return std::nullopt;
  return std::chrono::sys_days(ymd).time_since_epoch().count();
}

double top_clock(const SampleEvidence& evidence) {
  std::vector<double> clocks;
  for (const Sample* sample : evidence.samples) {
    if (sample->after.clock_Hz > 0) clocks.push_back(sample->after.clock_Hz);
  }
  if (clocks.empty()) return 0;
  std::ranges::sort(clocks);
  return clocks[static_cast<std::size_t>(kTopClock * static_cast<double>(clocks.size() - 1))];
}

// The clock of a CPU is no criterion: it follows the load of all cores within milliseconds.
bool held_back(const Sample& sample, double top_Hz) {
  if (sample.before.throttled || sample.after.throttled) return true;
  return sample.backend == "cuda" && sample.after.clock_Hz > 0 &&
         std::max(sample.before.clock_Hz, sample.after.clock_Hz) < kHeldBack * top_Hz;
}

std::vector<const Sample*> held_back_rows(const SampleEvidence& evidence) {
  const double top_Hz = top_clock(evidence);
  std::vector<const Sample*> rows;
  for (const Sample* sample : evidence.samples) {
    if (held_back(*sample, top_Hz)) rows.push_back(sample);
  }
  return rows;
}

bool many(const std::vector<const Sample*>& rows, const SampleEvidence& evidence) {
  const auto all = static_cast<double>(evidence.samples.size());
  if (static_cast<double>(rows.size()) > kFewThrottled * all) return true;
  const std::set<const Sample*> bad(rows.begin(), rows.end());
  return std::ranges::any_of(evidence.series, [&](const KernelSeries& series) {
    const auto count = std::ranges::count_if(
        series.points, [&](const SizedSample& point) { return bad.contains(point.sample); });
    return static_cast<double>(count) >
           kFewThrottledOfKernel * static_cast<double>(series.points.size());
  });
}

}  // namespace

Blames time_sliced(const SampleEvidence& evidence) {
  Blame blame;
  int most = 1;
  for (const Sample* sample : evidence.samples) {
    if (sample->ranks_per_device <= 1) continue;
    blame.rows.push_back(sample);
    most = std::max(most, sample->ranks_per_device);
  }
  if (blame.rows.empty()) return {};
  blame.what = fmt::format("{} rows with up to {} ranks on a device", blame.rows.size(), most);
  return {blame};
}

Blames mixed_devices(const SampleEvidence& evidence) {
  return mixed(by(evidence, [](const Sample& s) { return s.backend + " " + s.device; }), "device");
}

Blames wrong_device(const SampleEvidence& evidence) {
  const KnownMachine& known = evidence.known;
  Blame blame;
  std::string found;
  for (const Sample* sample : evidence.samples) {
    const GpuSpec* spec = known.spec == nullptr ? nullptr : spec_of_device(sample->device);
    const bool other_spec =
        known.spec != nullptr && (spec == nullptr || spec->name != known.spec->name);
    if ((known.device.empty() || sample->device == known.device) && !other_spec) continue;
    blame.rows.push_back(sample);
    found = sample->device;
  }
  if (blame.rows.empty()) return {};
  blame.what = fmt::format("there are {} rows of '{}', but '{}' was expected", blame.rows.size(),
                           found, known.device.empty() ? known.spec->name : known.device);
  return {blame};
}

Blames mixed_drivers(const SampleEvidence& evidence) {
  return mixed(by(evidence, [](const Sample& s) { return s.driver; }), "driver");
}

Blames stale_driver(const SampleEvidence& evidence) {
  const std::string& driver = evidence.known.driver;
  if (driver.empty()) return {};
  Blame blame;
  for (const Sample* sample : evidence.samples) {
    if (sample->driver != driver) blame.rows.push_back(sample);
  }
  if (blame.rows.empty()) return {};
  blame.what = fmt::format("measured with driver {}, but the device has {} now",
                           blame.rows.front()->driver, driver);
  return {blame};
}

// Messages are between as many ranks as they state.
Blames mixed_ranks(const SampleEvidence& evidence) {
  std::map<std::string, std::vector<const Sample*>> groups;
  for (const Sample* sample : evidence.samples) {
    const bool message = std::ranges::any_of(sample->work, [](const auto& step) {
      return std::ranges::any_of(step, [](const KernelWork& work) {
        return kernel_kind(work.kernel).family == KernelFamily::collective;
      });
    });
    if (!message) groups[std::to_string(sample->ranks)].push_back(sample);
  }
  return mixed(groups, "ranks at once:");
}

Blames mixed_dates(const SampleEvidence& evidence) {
  const auto days = by(evidence, [](const Sample& s) { return s.date; });
  if (days.empty()) return {};
  const std::optional<int> first = day_of(days.begin()->first);
  const std::optional<int> last = day_of(days.rbegin()->first);
  // A run may pass midnight.
  if (!first || !last || *last - *first <= 1) return {};
  return mixed(days, "date");
}

Blames too_few_points(const SampleEvidence& evidence) {
  Blames blames;
  for (const KernelSeries& series : evidence.series) {
    std::set<std::pair<double, double>> sizes;
    Blame blame;
    double least = HUGE_VAL;
    double most = 0;
    for (const SizedSample& point : series.points) {
      blame.rows.push_back(point.sample);
      if (point.sample->role != SampleRole::fit) continue;
      sizes.insert({point.size, point.bytes});
      least = std::min(least, point.size);
      most = std::max(most, point.size);
    }
    // Rows that are only to be judged are not fitted on.
    if (sizes.empty() || (sizes.size() >= kLeastSizes && most >= kLeastRange * least)) continue;
    blame.what = fmt::format(
        "{}: there are {} sizes, the largest {:.3g} times the smallest; expected {} over a range "
        "of {:g}",
        series.key, sizes.size(), most / least, kLeastSizes, kLeastRange);
    blames.push_back(std::move(blame));
  }
  return blames;
}

// Five figures of a series agree in every bit only in a copy, except if all are equal, as for a
// single timing.
Blames duplicated_rows(const SampleEvidence& evidence) {
  using Figures = std::tuple<double, double, double, double, double>;
  std::map<Figures, const Sample*> first;
  Blame blame;
  std::string of;
  for (const Sample* s : evidence.samples) {
    if (s->p95_s <= s->p05_s && s->high_s <= s->low_s) continue;
    const auto [found, fresh] =
        first.insert({{s->median_s, s->low_s, s->high_s, s->p05_s, s->p95_s}, s});
    if (fresh) continue;
    blame.rows.push_back(s);
    if (of.empty()) of = found->second->id;
  }
  if (blame.rows.empty()) return {};
  blame.what = fmt::format("{} rows repeat figures of other rows; the first repeats {}",
                           blame.rows.size(), of);
  return {blame};
}

Blames throttled(const SampleEvidence& evidence) {
  Blame blame{held_back_rows(evidence), ""};
  if (blame.rows.empty() || !many(blame.rows, evidence)) return {};
  blame.what = fmt::format("{} of {} rows were measured at a reduced clock", blame.rows.size(),
                           evidence.samples.size());
  return {blame};
}

Blames tainted_rows(const SampleEvidence& evidence) {
  Blame blame{held_back_rows(evidence), ""};
  if (blame.rows.empty()) return {};
  blame.what = fmt::format("{} of {} rows were measured at a reduced clock", blame.rows.size(),
                           evidence.samples.size());
  return {blame};
}

Blames disturbed(const SampleEvidence& evidence) {
  Blame blame;
  for (const Sample* sample : evidence.samples) {
    if (sample->disturbed > 0) blame.rows.push_back(sample);
  }
  if (blame.rows.empty()) return {};
  blame.what = fmt::format("other work ran on the device during {} of {} rows", blame.rows.size(),
                           evidence.samples.size());
  return {blame};
}

Blames unsure(const SampleEvidence& evidence) {
  Blame blame;
  for (const Sample* sample : evidence.samples) {
    // The repetition at the end of a run is short.
    if (sample->role == SampleRole::again) continue;
    const bool wide = sample->high_s - sample->low_s > 2 * kWidest * sample->median_s;
    if (wide || sample->repeats < kLeastRepeats) blame.rows.push_back(sample);
  }
  if (blame.rows.empty()) return {};
  blame.what = fmt::format(
      "{} of {} rows have an interval of {:.0f} % or more on either side, or fewer than {} timings",
      blame.rows.size(), evidence.samples.size(), 100 * kWidest, kLeastRepeats);
  return {blame};
}

}  // namespace windtunnel
