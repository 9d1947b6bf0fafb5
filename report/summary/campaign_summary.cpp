#include "report/summary/campaign_summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "models/reliability/interval_theory.hpp"
#include "models/reliability/saving_interval.hpp"
#include "models/results/paired_gain.hpp"
#include "report/figures/shown_studies.hpp"

namespace windtunnel {
namespace {

// Infinite if a trial makes no progress.
std::string days_text(const Estimate& days) {
  if (!std::isfinite(days.mean)) return "never, because some trial makes no progress";
  return estimate_text(Unit::days, days);
}

// Adds rows if snapshots or repairs do not keep up.
void add_warnings(const Record& record, SummarySection& section) {
  constexpr double kWorthALine = 0.05;  // shown with one decimal
  for (const auto& [place, skipped] : record.campaign->skipped_snapshots) {
    if (skipped.mean < kWorthALine) continue;
    section.add(figure("campaign.skipped_snapshots").title,
                "{} snapshots to {}, because the one before was not finished",
                value_text(Unit::events, skipped.mean), place);
  }
  for (const Figure& each : figures()) {
    if (!each.warns || number_of(each.of(record)) < kWorthALine) continue;
    section.add(each.title, "{} {}", each.text(record), each.help);
  }
}

// The share of time at each size of the job with its interval, and why the job cannot shrink
// further.
std::string sizes_text(const Record& record) {
  const CampaignReport& report = *record.campaign;
  std::string text = figure("campaign.sizes").text(record);
  if (report.size_error > 0) {
    text += fmt::format(
        "; times of iterations at sizes between simulated ones are interpolated, with an error of "
        "at most about {}",
        value_text(Unit::share, report.size_error));
  }
  if (report.lost_s[static_cast<int>(Loss::wait)].mean > 0) {
    const char* parts = record.job.recovery.elastic.groups > 0 ? "groups" : "nodes";
    text += fmt::format("; with more than {} {} missing the job waits", report.most_out, parts);
  }
  return text;
}

SummarySection campaign_section(const Record& record) {
  const CampaignReport& report = *record.campaign;
  SummarySection section{
      fmt::format("Campaign of {}, {} ({} of the mean)", figure("campaign.wall_s").text(record),
                  counted(report.trials, "trial"), kIntervalTitle),
      {}};
  const auto add = [&](std::string_view key, const std::string& text) {
    if (!text.empty()) section.rows.push_back({figure(key).title, text});
  };
  add("campaign.goodput", estimate_text(Unit::share, report.goodput));
  section.add("single runs", "{} (5 % and 95 % quantile)",
              range_text(Unit::share, report.goodput.p05, report.goodput.p95));
  add("campaign.ettr", estimate_text(Unit::share, report.ettr));
  if (report.job_days.mean > 0 && leading_study(record) == nullptr) {
    add("campaign.job.days", days_text(report.job_days));
  }
  add("campaign.job.cost_usd", figure("campaign.job.cost_usd").text(record));
  add("campaign.failures",
      report.failures.empty() ? "none" : figure("campaign.failures").text(record));
  add("campaign.survival", figure("campaign.survival").text(record));
  if (!report.sizes.empty()) add("campaign.sizes", sizes_text(record));
  add_warnings(record, section);
  return section;
}

SummarySection lost_section(const Record& record) {
  const CampaignReport& report = *record.campaign;
  SummarySection section{group_title("campaign.lost"), {}};
  const auto add = [&](const Figure& figure, const Estimate& share) {
    section.rows.push_back({figure.title, estimate_text(Unit::share, share)});
  };
  add(figure("campaign.useful_s"), report.goodput);
  for (const Figure* lost : figures_below("campaign.lost")) {
    const FigureValue share = lost->of(record);  // nothing: the campaign has no such pause
    const auto* estimate = std::get_if<Estimate>(&share);
    if (estimate != nullptr && estimate->mean >= kShownShare) add(*lost, *estimate);
  }
  return section;
}

// Omits columns in which no tier has a value.
SummarySection tiers_section(const std::vector<TierReport>& tiers) {
  SummarySection section{"Snapshots by tier", {}, {{{"tier"}}, {}}};
  for (const TierReport& tier : tiers) section.table.rows.push_back({tier.name});
  for (const PartFigure<TierReport>& figure : tier_figures()) {
    const auto empty = [&](const TierReport& tier) { return figure.text(tier).empty(); };
    if (std::ranges::all_of(tiers, empty)) continue;
    section.table.columns.push_back({figure.title, Align::right});
    for (size_t i = 0; i < tiers.size(); ++i) {
      section.table.rows[i].push_back(figure.text(tiers[i]));
    }
  }
  return section;
}

SummarySection relaid_section(const std::vector<RelaidLayout>& layouts) {
  SummarySection section{
      "Layouts without a spare", {}, titled_table("nodes > | layout | step time >")};
  for (const RelaidLayout& layout : layouts) {
    section.table.rows.push_back(
        {with_separators(layout.nodes),
         fmt::format("tp {} x pp {} x dp {}{}", layout.tp, layout.pp, layout.dp,
                     layout.progress < 1 ? fmt::format(", {} of the batch",
                                                       value_text(Unit::share, layout.progress))
                                         : ""),
         value_text(Unit::seconds, layout.step_s)});
  }
  return section;
}

// A row with the goodput for each named interval of the tier.
SummarySection interval_table(const IntervalReport& report) {
  SummarySection section{fmt::format("How often to save: {}", report.tier),
                         {},
                         titled_table(" | interval > | formula > | simulated >")};
  const bool has_formulas = report.mtbf_s > 0;
  if (!has_formulas) section.table.columns.erase(section.table.columns.begin() + 2);
  constexpr std::string_view kBest = "best_s";
  for (const std::string_view key :
       {std::string_view("configured_s"), std::string_view("young_s"), std::string_view("daly_s"),
        std::string_view("exact_s"), kBest}) {
    const PartFigure<IntervalReport>& figure = interval_figure(key);
    const double every_s = report.*figure.member;
    if (!(every_s > 0)) continue;
    if (key == kBest && !has_formulas) continue;  // the best of equal points is due to chance
    const IntervalReport::Point* point = point_at(report, every_s);
    // Daly's interval has a simulated point only if that is close to it.
    constexpr double kSame = 0.02;
    if (every_s == report.daly_s && point && std::abs(point->every_s / every_s - 1) > kSame) {
      point = nullptr;
    }
    std::vector<std::string> row = {figure.title, figure.text(report)};
    if (has_formulas) row.push_back(point ? value_text(Unit::share, point->expected) : "");
    row.push_back(point ? estimate_text(Unit::share, point->goodput) : "");
    section.table.rows.push_back(std::move(row));
  }
  return section;
}

SummarySection interval_section(const IntervalReport& report, double storage_share) {
  SummarySection section = interval_table(report);
  const auto text = [&](std::string_view key) { return interval_figure(key).text(report); };
  if (report.mtbf_s > 0 && report.longest_s > report.shortest_s) {
    section.rows.push_back({"as good", as_good_text(text("shortest_s"), text("longest_s"))});
  }
  section.add(interval_figure("cost_s").title, "stalls training for {}", text("cost_s"));
  if (report.mtbf_s > 0) {
    section.add("a failure",
                "is restored from this tier every {}; detection, restart and restore take {}",
                text("mtbf_s"), text("restart_s"));
    section.add("formulas",
                "Young's formula loses {} points of goodput against the best "
                "simulated, the exact formula {}",
                text("young_regret"), text("exact_regret"));
    section.add("RSC formula", "ETTR {} at the configured interval", text("rsc_ettr"));
  } else {
    section.rows.push_back({"a failure",
                            "was not restored from this tier in any trial: it protects against "
                            "failures that the scenario does not contain"});
  }
  if (report.storage_s > 0) {
    std::string allowed = fmt::format(
        "an interval of {} or more, because snapshots may use at most {} of its bandwidth "
        "(cluster.storage.share)",
        text("storage_s"), value_text(Unit::share, storage_share));
    if (report.configured_s < report.storage_s) {
      allowed += fmt::format(
          "; as configured they would use {}",
          value_text(Unit::share, storage_share * report.storage_s / report.configured_s));
    }
    section.rows.push_back({interval_figure("storage_s").title, std::move(allowed)});
    const double young_s = report.mtbf_s > 0 ? young_interval_s(report.cost_s, report.mtbf_s)
                                             : std::numeric_limits<double>::infinity();
    if (young_s < report.storage_s) {
      section.add("Young alone",
                  "Young's formula gives {} (the root of 2 x stall x time between failures), "
                  "which the storage does not allow; the table evaluates formulas at the "
                  "shortest interval that it allows",
                  value_text(Unit::seconds, young_s));
    }
  }
  return section;
}

// The job has periodic snapshots, but no trial restored one, so the trials cannot tell how often to
// save.
bool went_back_to_none(const Record& record) {
  const Job& job = record.job;
  const bool periodic = std::ranges::any_of(job.snapshots, has_interval);
  const bool back = std::ranges::any_of(record.campaign->survival, [](const auto& restored) {
    return restored.first != "none" && restored.second.mean > 0;
  });
  return periodic && !job.failures.empty() && job.recovery.elastic.groups == 0 &&
         job.sync.empty() && !back;
}

}  // namespace

std::string as_good_text(std::string_view shortest, std::string_view longest) {
  return fmt::format(
      "between {0} and {1}: {2}. {0}, the shortest of these, loses least if a failure costs more "
      "than assumed; {1} saves least often",
      shortest, longest, as_good_loss_text());
}

const IntervalReport::Point* point_at(const IntervalReport& report, double every_s) {
  const auto off = [&](const IntervalReport::Point& point) {
    return std::abs(point.every_s - every_s);
  };
  const auto nearest = std::ranges::min_element(report.points, {}, off);
  return nearest == report.points.end() ? nullptr : &*nearest;
}

std::vector<SummarySection> campaign_sections(const Record& record) {
  const CampaignReport& report = *record.campaign;
  std::vector<SummarySection> sections = {campaign_section(record), lost_section(record)};
  if (!report.relaid.empty()) sections.push_back(relaid_section(report.relaid));
  if (!report.tiers.empty()) sections.push_back(tiers_section(report.tiers));
  if (report.interval) {
    sections.push_back(interval_section(*report.interval, record.job.cluster.storage.share));
    for (const IntervalReport& other : report.other_intervals) {
      sections.push_back(interval_section(other, record.job.cluster.storage.share));
    }
  } else if (went_back_to_none(record)) {
    sections.push_back({"How often to save",
                        {{"no advice",
                          "no trial restored a snapshot, so these trials cannot show how often to "
                          "save; more trials would (campaign.replicas)"}}});
  }
  return sections;
}

}  // namespace windtunnel
