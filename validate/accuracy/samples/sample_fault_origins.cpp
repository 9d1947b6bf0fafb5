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

using Rows = std::vector<const Sample*>;

template <typename Wanted>
Rows rows_where(const SampleEvidence& evidence, Wanted wanted) {
  Rows rows = evidence.samples;
  std::erase_if(rows, [&](const Sample* sample) { return !wanted(*sample); });
  return rows;
}

// Blames these rows together, described by `what(rows)`; without rows there is no fault.
template <typename What>
Blames blamed(Rows rows, What what) {
  if (rows.empty()) return {};
  std::string text = what(rows);
  return {{std::move(rows), std::move(text)}};
}

template <typename Field>
std::map<std::string, Rows> by(const SampleEvidence& evidence, Field field) {
  std::map<std::string, Rows> groups;
  for (const Sample* sample : evidence.samples) groups[field(*sample)].push_back(sample);
  return groups;
}

// All groups are at fault except the largest, which is taken for the intended one.
Blames mixed(const std::map<std::string, Rows>& groups, std::string_view noun) {
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

Rows held_back_rows(const SampleEvidence& evidence) {
  const double top_Hz = top_clock(evidence);
  return rows_where(evidence, [&](const Sample& sample) { return held_back(sample, top_Hz); });
}

bool many(const Rows& rows, const SampleEvidence& evidence) {
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
  const auto shared = [](const Sample& sample) { return sample.ranks_per_device > 1; };
  return blamed(rows_where(evidence, shared), [](const Rows& rows) {
    const Sample* most = *std::ranges::max_element(rows, {}, &Sample::ranks_per_device);
    return fmt::format("{} rows with up to {} ranks on a device", rows.size(),
                       most->ranks_per_device);
  });
}

Blames mixed_devices(const SampleEvidence& evidence) {
  return mixed(by(evidence, [](const Sample& s) { return s.backend + " " + s.device; }), "device");
}

Blames wrong_device(const SampleEvidence& evidence) {
  const KnownMachine& known = evidence.known;
  const auto wrong = [&](const Sample& sample) {
    if (!known.device.empty() && sample.device != known.device) return true;
    if (known.spec == nullptr) return false;
    const GpuSpec* spec = spec_of_device(sample.device);
    return spec == nullptr || spec->name != known.spec->name;
  };
  return blamed(rows_where(evidence, wrong), [&](const Rows& rows) {
    return fmt::format("there are {} rows of '{}', but '{}' was expected", rows.size(),
                       rows.back()->device, known.device.empty() ? known.spec->name : known.device);
  });
}

Blames mixed_drivers(const SampleEvidence& evidence) {
  return mixed(by(evidence, [](const Sample& s) { return s.driver; }), "driver");
}

Blames stale_driver(const SampleEvidence& evidence) {
  const std::string& driver = evidence.known.driver;
  if (driver.empty()) return {};
  const auto stale = [&](const Sample& sample) { return sample.driver != driver; };
  return blamed(rows_where(evidence, stale), [&](const Rows& rows) {
    return fmt::format("measured with driver {}, but the device has {} now", rows.front()->driver,
                       driver);
  });
}

// Rows of messages are left out, because each states its own number of ranks.
Blames mixed_ranks(const SampleEvidence& evidence) {
  std::map<std::string, Rows> groups;
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
  std::string of;
  Rows repeating;
  for (const Sample* s : evidence.samples) {
    if (s->p95_s <= s->p05_s && s->high_s <= s->low_s) continue;
    const auto [found, fresh] =
        first.insert({{s->median_s, s->low_s, s->high_s, s->p05_s, s->p95_s}, s});
    if (fresh) continue;
    if (repeating.empty()) of = found->second->id;
    repeating.push_back(s);
  }
  return blamed(std::move(repeating), [&](const Rows& rows) {
    return fmt::format("{} rows repeat figures of other rows; the first repeats {}", rows.size(),
                       of);
  });
}

Blames throttled(const SampleEvidence& evidence) {
  return many(held_back_rows(evidence), evidence) ? tainted_rows(evidence) : Blames();
}

Blames tainted_rows(const SampleEvidence& evidence) {
  return blamed(held_back_rows(evidence), [&](const Rows& rows) {
    return fmt::format("{} of {} rows were measured at a reduced clock", rows.size(),
                       evidence.samples.size());
  });
}

Blames disturbed(const SampleEvidence& evidence) {
  const auto beside_others = [](const Sample& sample) { return sample.disturbed > 0; };
  return blamed(rows_where(evidence, beside_others), [&](const Rows& rows) {
    return fmt::format("other work ran on the device during {} of {} rows", rows.size(),
                       evidence.samples.size());
  });
}

Blames unsure(const SampleEvidence& evidence) {
  const auto wide = [](const Sample& sample) {
    if (sample.role == SampleRole::again) return false;  // the repetition at the end is short
    return sample.high_s - sample.low_s > 2 * kWidest * sample.median_s ||
           sample.repeats < kLeastRepeats;
  };
  return blamed(rows_where(evidence, wide), [&](const Rows& rows) {
    return fmt::format(
        "{} of {} rows have an interval of {:.0f} % or more on either side, or fewer than {} "
        "timings",
        rows.size(), evidence.samples.size(), 100 * kWidest, kLeastRepeats);
  });
}

}  // namespace windtunnel
