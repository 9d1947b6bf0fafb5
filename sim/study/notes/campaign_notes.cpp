#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "models/base/units.hpp"
#include "models/reliability/failure_traits.hpp"
#include "models/reliability/snapshot_place.hpp"
#include "policies/protection/snapshot_tiers.hpp"
#include "sim/campaign/pace.hpp"
#include "sim/study/iterations/relaid_jobs.hpp"
#include "sim/study/iterations/smaller_jobs.hpp"
#include "sim/study/notes/note_makers.hpp"

namespace windtunnel {
namespace {

constexpr double kFew = 30;
constexpr double kEnough = 100;
constexpr double kMostTrials = 1e6;  // largest campaign.replicas

// Returns the expected number of failures in all trials together.
double failures_of(const CampaignInputs& inputs) {
  const double length_s = inputs.campaign.length_s;
  double per_s = 0;
  for (const FailureClass& one : inputs.failures) {
    if (!traits_of(one.kind).unexpected) continue;
    per_s += mean_rate_per_s(one, inputs.nodes, length_s);
  }
  return per_s * length_s * inputs.campaign.trials;
}

}  // namespace

std::vector<Note> few_failures_notes(const CampaignInputs& inputs) {
  const double failures = failures_of(inputs);
  if (failures <= 0 || failures >= kFew) return {};
  const int now = inputs.campaign.trials;
  const double trials = std::ceil(now * kEnough / failures / 10) * 10;
  const std::string due = failures < 1 ? std::string("less than one is")
                                       : fmt::format("about {:.0f} are", std::floor(failures));
  const std::string enough =
      trials > kMostTrials
          ? std::string("a hundred are expected only in a longer time than can be simulated")
          : fmt::format("set campaign.replicas={:.0f} to expect a hundred", trials);
  return {{"campaign.replicas",
           "all trials together contain too few failures, so the ranges of goodput, days and cost "
           "are too narrow, and the best interval between snapshots is uncertain",
           fmt::format("{} expected in {} trial{}; {}", due, now, now == 1 ? "" : "s", enough)}};
}

std::vector<Note> busy_writer_notes(const CampaignInputs& inputs) {
  const IterationTable& table = inputs.table;
  const Pace pace(table, table.iteration_s[0], std::vector<int>(table.tiers.size(), 1));
  std::vector<Note> notes;
  for (int tier = 0; tier < pace.tiers(); ++tier) {
    const Cadence& cadence = pace.cadence(tier);
    if (cadence.turns == 1 && cadence.wait_s == 0) continue;
    const std::string what =
        cadence.turns > 1
            ? fmt::format("{} of {} are skipped", cadence.turns - 1, cadence.turns)
            : fmt::format("training waits {} for each", format_seconds(cadence.wait_s));
    const TierTiming& timing = table.tiers[static_cast<std::size_t>(tier)];
    notes.push_back({fmt::format("snapshots.{}.when_busy", tier),
                     fmt::format("is {}, but a snapshot to {} is not complete when the next one is "
                                 "due: {}; save less often, or with a faster writer",
                                 name_of(timing.tier.when_busy), tier_name(timing.tier), what),
                     fmt::format("complete after {}", format_seconds(timing.complete_s))});
  }
  return notes;
}

namespace {

// A tier that keeps several copies. The age of the oldest copy is between least_age_s and
// most_age_s, depending on how long ago the newest was completed.
struct KeptCopies {
  std::size_t tier = 0;
  int kept = 1;
  double every_s = 0;
  double least_age_s = 0;
  double most_age_s = 0;

  // Returns the share of failures that go back so far that all copies are spoilt.
  double spoilt_share(double rollback_s) const {
    return std::clamp((rollback_s - least_age_s) / (most_age_s - least_age_s), 0.0, 1.0);
  }
};

// Replicas on the GPUs keep no copies.
std::vector<KeptCopies> kept_by_tier(const Job& job, const std::vector<TierReport>& tiers) {
  std::vector<KeptCopies> all;
  for (std::size_t i = 0; i < tiers.size(); ++i) {
    const double every_s = tiers[i].every_s;
    if (every_s <= 0) continue;
    const int kept = traits_of(job.snapshots[i]).keeps_several() ? job.snapshots[i].kept : 1;
    const double least_s = tiers[i].saving_s + (kept - 1) * every_s;
    all.push_back({i, kept, every_s, least_s, least_s + every_s});
  }
  return all;
}

// Returns a text with a value of at least `seconds` after rounding.
std::string at_least_text(double seconds) {
  constexpr double kLastDigit = 1.001;
  std::string text = format_seconds(seconds);
  for (double more = seconds; parse_quantity(text, Dimension::seconds) < seconds;) {
    text = format_seconds(more *= kLastDigit);
  }
  return text;
}

std::string remedy(const Job& job, const KeptCopies& copies, double rollback_s) {
  if (!traits_of(job.snapshots[copies.tier]).keeps_several()) {
    return "add a tier in storage, which keeps several copies";
  }
  const double saving_s = copies.least_age_s - (copies.kept - 1) * copies.every_s;
  const double needed = 1 + std::ceil((rollback_s - saving_s) / copies.every_s - 1e-9);
  std::vector<std::string> ways;
  if (needed <= kMostKeptCopies) {
    ways.push_back(fmt::format("set snapshots.{}.kept={:.0f}", copies.tier, needed));
  }
  const int kept = needed <= kMostKeptCopies ? copies.kept : kMostKeptCopies;
  if (kept > 1) {
    const double every_s = (rollback_s - saving_s) / (kept - 1);
    ways.push_back(fmt::format(
        "save every {} or less often{}", at_least_text(every_s),
        kept == copies.kept ? ""
                            : fmt::format(" and set snapshots.{}.kept={}", copies.tier, kept)));
  }
  return fmt::format("{}", fmt::join(ways, ", or "));
}

}  // namespace

std::vector<Note> spoilt_copies(const Job& job, const std::vector<TierReport>& tiers) {
  std::vector<Note> notes;
  const std::vector<KeptCopies> kept = kept_by_tier(job, tiers);
  if (kept.empty()) return notes;
  for (std::size_t i = 0; i < job.failures.size(); ++i) {
    const FailureClass& failure = job.failures[i];
    if (failure.kind != FailureKind::loss_spike) continue;
    // the tier of which copies outlive most of these spikes
    const auto copies = std::ranges::min_element(kept, {}, [&](const KeptCopies& one) {
      return std::pair(one.spoilt_share(failure.rollback_s), -one.most_age_s);
    });
    const double share = copies->spoilt_share(failure.rollback_s);
    if (share <= 0) continue;
    notes.push_back(
        {fmt::format("failures.{}.rollback", i),
         fmt::format(
             "'{}' goes back {}, but no copy is kept longer than {} ({}: {} every {}): {} of these "
             "failures make all copies unusable, and training begins again from nothing; {}",
             failure.name, format_seconds(failure.rollback_s), format_seconds(copies->most_age_s),
             tiers[copies->tier].name, copies->kept, format_seconds(copies->every_s),
             format_percent(share), remedy(job, *copies, failure.rollback_s))});
  }
  return notes;
}

std::vector<Note> whole_job_notes(const Job& job, const PreparedIteration& prepared, int most_out) {
  const WhenNoSpare then = job.recovery.when_no_spare;
  const bool relaid = then == WhenNoSpare::relayout;
  const bool asked = relaid || then == WhenNoSpare::shrink;
  // An island drops out as a whole.
  if (!asked || most_out > 0 || job.recovery.elastic.groups > 0 || !job.sync.empty()) return {};
  std::string why;
  if (relaid) {
    relaid_jobs(job, &why);
    if (why.empty())
      why =
          "to go on with fewer nodes and grow back later costs more time than it gains until the "
          "node is back";
  } else {
    why = why_no_smaller(job, prepared);
  }
  return {{"recovery.when_no_spare",
           fmt::format("is {}, but the job cannot be smaller, so it waits for a node: {}",
                       relaid ? "relayout" : "shrink", why)}};
}

}  // namespace windtunnel
