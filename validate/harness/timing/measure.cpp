#include "validate/harness/timing/measure.hpp"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <exception>
#include <utility>

#include "models/base/error.hpp"
#include "models/base/quantile.hpp"
#include "models/base/random.hpp"
#include "models/calibration/slowdown.hpp"
#include "validate/harness/timing/kernel_suite.hpp"

namespace windtunnel {
namespace {

constexpr size_t kPerAgain = 50;  // one work in this many is measured again
constexpr int kBlockTimings = 10;
constexpr int kLeastTimings = 5;     // in a block, for works so long that ten exceed their share
constexpr size_t kLeastQuiet = 5;    // undisturbed timings of a series
constexpr double kLateShare = 0.15;  // share of the budget for disturbed works and repeats
// Factor by which the budget is exceeded that deserves a warning.
constexpr double kFarOver = 1.2;
constexpr int kMostTaintedBlocks = 5;  // consecutive ones of a series; then it is kept and marked
// The last rank leaves a barrier some microseconds after the first, and a collective waits for it.
// In longer timings this is a small part.
constexpr double kTeamTimings = 8;
// Other tenants come and go. They stay for about half a millisecond (measured on shared virtual
// machines). If they are there for a share f of the time, they leave the device alone for (1 - f) /
// f times as long as they stay. A longer timing includes them, whether or not they are seen at its
// ends. For small f the median hardly changes.
constexpr double kOthersStay_s = 0.5e-3;
constexpr double kFewDisturbed = 0.05;

DeviceState state_of(const DeviceReadings& now) {
  return {now.clock_Hz, now.memory_clock_Hz, now.temperature_C,
          (now.throttle_reasons & kThrottled) != 0};
}

struct Running {
  const TimedWork* work = nullptr;
  double order = 0;
  double started_s = 0;
  int inner = 0;                  // runs per timing; 0: not known yet
  double timing_s = 0;            // duration of a timing
  std::vector<double> seconds;    // undisturbed timings
  std::vector<double> disturbed;  // disturbed timings
  DeviceState before, after;
  int tainted_in_a_row = 0;
  bool late = false;  // starts again at the end

  bool measured() const { return !seconds.empty() || !disturbed.empty(); }
  double share_disturbed() const {
    return static_cast<double>(disturbed.size()) /
           static_cast<double>(disturbed.size() + seconds.size());
  }
  // Whether there are enough undisturbed timings.
  bool quiet() const {
    if (disturbed.empty()) return true;
    if (seconds.size() < kLeastQuiet) return false;
    const double share = share_disturbed();
    return share < kFewDisturbed || timing_s * share < kOthersStay_s * (1 - share);
  }
};

// The timings that represent a series, and the share of their time in which others were active.
struct CountedTimings {
  std::vector<double> seconds;
  double disturbed = 0;
};

std::vector<double> joined(std::vector<double> a, const std::vector<double>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

CountedTimings counted_timings(const Running& running) {
  if (running.quiet()) return {running.seconds, 0};
  const double share = running.share_disturbed();
  if (running.seconds.size() < kLeastQuiet) {
    return {joined(running.seconds, running.disturbed), share};
  }
  const double longer = std::log(median(running.disturbed) / median(running.seconds));
  return {running.seconds, share_of_rest(share, share, longer)};
}

// Finds the number of runs for which a timing is at least as long as required.
void find_inner_runs(Running& running, Team& team, double timing_s) {
  // Factor above the required time, to allow for the cost of a first run.
  constexpr double kClearly = 10;
  const double first_s = team.time(1).seconds;  // first touch, lazy loading
  if (running.inner > 0) return;
  running.inner = 1;
  running.timing_s = first_s;
  if (first_s >= kClearly * timing_s) return;
  while (running.inner < (1 << 20)) {
    running.timing_s = team.time(running.inner).seconds;
    if (running.timing_s >= timing_s) return;
    const double more = std::min(100.0, timing_s / running.timing_s);
    running.inner = std::max(2 * running.inner, static_cast<int>(running.inner * more));
  }
}

// Returns timings in seconds of a single run.
std::vector<Timing> timed_block(const Running& running, Team& team, benchmark::State& state) {
  std::vector<Timing> timings;
  for ([[maybe_unused]] auto turn : state) {
    const Timing all = team.time(running.inner);
    state.SetIterationTime(all.seconds);
    timings.push_back({all.seconds / running.inner, all.disturbed});
  }
  return timings;
}

// Suppresses Google Benchmark's output; MeasureEvents report the series.
class NoReporter : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context& /*context*/) override { return true; }
  void ReportRuns(const std::vector<Run>& /*runs*/) override {}
};

class Measurement {
 public:
  Measurement(Team& team, const MeasureOptions& options, const MeasureEvents& events)
      : team_(team), options_(options), events_(events), start_s_(now_s()) {}

  MeasureProgress run(std::span<const TimedWork> works);

 private:
  // Returns the works that are not done yet.
  std::vector<Running> run_together(std::vector<Running> running, double until_s, bool last);
  void go_on(Running& running);
  void run_block(Running& running);
  BlockReadings timed(Running& running, std::vector<Timing>& timings);
  int block_timings(const Running& running) const;
  Running started(const TimedWork& work, double order) const;
  bool steady(const Running& running) const;
  // Whether waiting for a better moment is useless.
  bool mostly_disturbed() const {
    constexpr int kKnown = 500;  // timings needed to tell
    return progress_.timings > kKnown && 5 * progress_.disturbed > 4 * progress_.timings;
  }
  // Returns for each work that has not begun whether there is time for it.
  std::vector<bool> within_budget(std::span<const TimedWork* const> pending);
  DeviceKind kind() const { return team_.device().kind; }
  // Works may start for the first time until then.
  double early_s() const { return (1 - kLateShare) * options_.budget_s; }
  size_t most() const { return static_cast<size_t>(options_.most); }
  void report(const Running& running);
  double elapsed_s() const { return now_s() - start_s_; }

  Team& team_;
  const MeasureOptions& options_;
  const MeasureEvents& events_;
  const double start_s_;
  MeasureProgress progress_;
  double effort_ = 0;  // estimated effort of the works whose first blocks took first_blocks_s_
  double first_blocks_s_ = 0;
  bool told_ = false;  // the excess of even the least time was reported
};

Running Measurement::started(const TimedWork& work, double order) const {
  Running one;
  one.work = &work;
  one.order = order;
  one.started_s = elapsed_s();
  return one;
}

bool Measurement::steady(const Running& running) const {
  const int timings = static_cast<int>(running.seconds.size());
  if (timings >= options_.most) return true;
  return timings >= options_.least &&
         summarise(running.seconds, options_.seed).half_width() < options_.half_width;
}

int Measurement::block_timings(const Running& running) const {
  const double share_s = options_.budget_s / progress_.works;
  return static_cast<int>(
      std::clamp(share_s / running.timing_s, double{kLeastTimings}, double{kBlockTimings}));
}

BlockReadings Measurement::timed(Running& running, std::vector<Timing>& timings) {
  std::exception_ptr fault;
  team_.prepare(*running.work);
  find_inner_runs(running, team_, options_.timing_s * (team_.ranks() > 1 ? kTeamTimings : 1));
  benchmark::ClearRegisteredBenchmarks();
  benchmark::RegisterBenchmark(to_text(running.work->steps).c_str(),
                               [&](benchmark::State& state) {
                                 try {
                                   timings = timed_block(running, team_, state);
                                 } catch (const Error& error) {
                                   fault = std::current_exception();
                                   state.SkipWithError(error.what());
                                 }
                               })
      ->UseManualTime()
      ->Iterations(block_timings(running));
  NoReporter reporter;
  benchmark::RunSpecifiedBenchmarks(&reporter);
  if (fault != nullptr) std::rethrow_exception(fault);
  return team_.drop();
}

void Measurement::run_block(Running& running) {
  std::vector<Timing> timings;
  BlockReadings block;
  try {
    block = timed(running, timings);
  } catch (const Error& error) {
    throw Error(fmt::format("{}: {}", to_text(running.work->steps), error.what()),
                ExitCode::failed);
  }
  if (block.tainted && running.tainted_in_a_row < kMostTaintedBlocks) {
    ++running.tainted_in_a_row;
    ++progress_.tainted;
    return;
  }
  if (!running.measured()) running.before = state_of(block.before);
  const bool throttled = running.after.throttled || block.tainted;
  running.after = state_of(block.after);
  running.after.throttled = throttled;
  for (const Timing& timing : timings) {
    (timing.disturbed ? running.disturbed : running.seconds).push_back(timing.seconds);
    progress_.disturbed += timing.disturbed ? 1 : 0;
    ++progress_.timings;
  }
}

// Runs a block. A work that comes again starts anew, or stays as it was if the budget is used up.
void Measurement::go_on(Running& running) {
  if (running.late) {
    if (elapsed_s() > options_.budget_s) return;
    running = started(*running.work, running.order);
  }
  const bool first = running.inner == 0;
  const double begun_s = elapsed_s();
  run_block(running);
  if (!first) return;
  effort_ += effort_of(*running.work, kind());
  first_blocks_s_ += elapsed_s() - begun_s;
}

void Measurement::report(const Running& running) {
  const CountedTimings counted = counted_timings(running);
  const SeriesSummary summary = summarise(counted.seconds, options_.seed);
  const DeviceDescription description = team_.device().describe();
  Sample sample;
  sample.work = running.work->steps;
  sample.role = running.work->role;
  sample.cache = running.work->cache;
  sample.median_s = summary.median_s;
  sample.low_s = summary.low_s;
  sample.high_s = summary.high_s;
  sample.p05_s = summary.p05_s;
  sample.p95_s = summary.p95_s;
  sample.repeats = static_cast<int>(counted.seconds.size());
  sample.disturbed = counted.disturbed;
  sample.order = running.order;
  sample.started_s = running.started_s;
  sample.before = running.before;
  sample.after = running.after;
  sample.backend = team_.device().name;
  sample.device = description.name;
  sample.driver = description.driver;
  sample.date = options_.date;
  sample.ranks = team_.ranks();
  sample.ranks_per_device = options_.ranks_per_device;
  events_.measured(sample);
  ++progress_.done;
}

// Runs rounds of blocks until each work is steady or the time is over. Returns works with too few
// undisturbed timings; with `last`, reports them as they are. If stopped, unreported series are
// lost, and will be measured again when the run continues.
std::vector<Running> Measurement::run_together(std::vector<Running> running, double until_s,
                                               bool last) {
  const auto over = [&](const Running& one) {
    return one.measured() && (elapsed_s() > until_s || one.disturbed.size() >= most());
  };
  std::vector<Running> late;
  while (!running.empty()) {
    std::vector<Running> undone;
    for (Running& one : running) {
      if (events_.stopped()) return {};
      go_on(one);
      progress_.elapsed_s = elapsed_s();
      const bool quiet = one.quiet();
      if (!(quiet && steady(one)) && !over(one)) {
        undone.push_back(std::move(one));
      } else if (quiet || last || mostly_disturbed()) {
        report(one);
      } else {
        one.late = true;
        late.push_back(std::move(one));
      }
      events_.progress(progress_);
    }
    running = std::move(undone);
  }
  return late;
}

std::vector<bool> Measurement::within_budget(std::span<const TimedWork* const> pending) {
  std::vector<bool> all(pending.size(), true);
  if (effort_ == 0) return all;  // nothing is known yet
  std::vector<PricedWork> priced;
  double all_s = elapsed_s();
  double least_s = all_s;
  for (const TimedWork* work : pending) {
    const double seconds = first_blocks_s_ / effort_ * effort_of(*work, kind());
    priced.push_back({work->tier, seconds});
    all_s += seconds;
    if (work->tier == 0) least_s += seconds;
  }
  progress_.enough_s = all_s / (1 - kLateShare);
  if (all_s <= early_s()) return all;
  if (least_s > kFarOver * options_.budget_s && !std::exchange(told_, true)) {
    events_.exceeds(least_s);
  }
  return affordable(priced, early_s() - elapsed_s());
}

MeasureProgress Measurement::run(std::span<const TimedWork> works) {
  if (works.empty()) return progress_;
  std::vector<const TimedWork*> order;
  for (const TimedWork& work : works) order.push_back(&work);
  RandomStream random(options_.seed, RandomPurpose::measurement, 0);
  for (size_t i = order.size() - 1; i > 0; --i) std::swap(order[i], order[random.below(i + 1)]);
  const auto together = static_cast<size_t>(options_.together);
  const auto repeats_of = [&](size_t count) {
    return std::clamp<size_t>(count / kPerAgain, 1, together);
  };
  // The time until `end_s` that `part` of `whole` works may take.
  const auto share_until = [&](size_t part, size_t whole, double end_s) {
    return elapsed_s() +
           static_cast<double>(part) / static_cast<double>(whole) * (end_s - elapsed_s());
  };
  progress_.works = static_cast<int>(order.size() + repeats_of(order.size()));
  std::vector<Running> late;
  std::vector<const TimedWork*> pending = order;
  size_t begun = 0;
  while (!pending.empty() && !events_.stopped()) {
    const std::vector<bool> fits = within_budget(pending);
    const auto count = static_cast<size_t>(std::ranges::count(fits, true));
    progress_.works = static_cast<int>(begun + count + repeats_of(begun + count));
    progress_.left_out = static_cast<int>(pending.size() - count);
    if (count == 0) break;
    std::vector<Running> running;
    std::vector<const TimedWork*> rest;
    for (size_t i = 0; i < pending.size(); ++i) {
      if (fits[i] && running.size() < together) {
        running.push_back(started(*pending[i], static_cast<double>(begun++)));
      } else {
        rest.push_back(pending[i]);
      }
    }
    pending = std::move(rest);
    // If works are left out, each work gets one block, and the time left over is for the others.
    const double until_s =
        progress_.left_out > 0 ? 0 : share_until(running.size(), count, early_s());
    for (Running& one : run_together(std::move(running), until_s, false)) {
      late.push_back(std::move(one));
    }
  }
  std::vector<TimedWork> again;
  for (size_t i = 0; i < repeats_of(begun); ++i) {
    again.push_back(*order[i]);
    again.back().role = SampleRole::again;
  }
  const size_t rest = late.size() + again.size();
  const double late_until_s = share_until(late.size(), rest, options_.budget_s);
  run_together(std::move(late), late_until_s, true);
  // Repeats come at the end, so that the whole run lies between them and the first measurement.
  std::vector<Running> repeats;
  for (size_t i = 0; i < again.size(); ++i) {
    repeats.push_back(started(again[i], static_cast<double>(begun + i)));
  }
  run_together(std::move(repeats), options_.budget_s, true);
  return progress_;
}

constexpr int kResamples = 500;

}  // namespace

MeasureProgress measure(std::span<const TimedWork> works, Team& team, const MeasureOptions& options,
                        const MeasureEvents& events) {
  const Device& device = team.device();
  const std::string reason = device.why_unusable();
  if (!reason.empty()) throw Error(fmt::format("{}: {}", device.name, reason), ExitCode::failed);
  return Measurement(team, options, events).run(works);
}

SeriesSummary summarise(std::vector<double> seconds, std::uint64_t seed) {
  CHECK(!seconds.empty(), "a series without timings");
  std::ranges::sort(seconds);
  SeriesSummary summary;
  summary.median_s = quantile_of_sorted(seconds, 0.5);
  summary.p05_s = quantile_of_sorted(seconds, 0.05);
  summary.p95_s = quantile_of_sorted(seconds, 0.95);
  RandomStream random(seed, RandomPurpose::resample, 0);
  std::vector<double> medians;
  std::vector<double> resample(seconds.size());
  for (int i = 0; i < kResamples; ++i) {
    for (double& value : resample) value = seconds[random.below(seconds.size())];
    medians.push_back(median(resample));
  }
  std::ranges::sort(medians);
  summary.low_s = quantile_of_sorted(medians, 0.025);
  summary.high_s = quantile_of_sorted(medians, 0.975);
  return summary;
}

}  // namespace windtunnel
