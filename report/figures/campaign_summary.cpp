#include "report/figures/campaign_summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "models/base/units.hpp"

namespace windtunnel {
namespace {

// Rows below this share of the whole are noise to the reader.
constexpr double kShownShare = 0.0005;

std::string share_text(const Estimate& estimate, double whole) {
  return fmt::format("{}  ({} .. {})", format_percent(estimate.mean / whole),
                     format_percent(estimate.low / whole), format_percent(estimate.high / whole));
}

std::string failures_text(const CampaignReport& report) {
  std::string text;
  for (const auto& [name, estimate] : report.failures) {
    text += fmt::format("{}{} {:.1f}", text.empty() ? "" : ", ", name, estimate.mean);
  }
  return text.empty() ? "none" : text;
}

// Infinite where a replica makes no progress.
std::string days_text(const Estimate& days) {
  if (!std::isfinite(days.mean)) return "never: some replica makes no progress";
  return fmt::format("{:.1f} days ({:.1f} .. {:.1f})", days.mean, days.low, days.high);
}

// What tells that snapshots or repairs do not keep up.
void add_warnings(const CampaignReport& report, SummarySection& section) {
  constexpr double kWorthALine = 0.05;  // shown with one decimal
  for (const auto& [place, skipped] : report.skipped_snapshots) {
    if (skipped.mean < kWorthALine) continue;
    section.rows.push_back({"skipped", fmt::format("{:.1f} snapshots to {}: the one before was not "
                                                   "finished",
                                                   skipped.mean, place)});
  }
  const std::tuple<const char*, const char*, double> counts[] = {
      {"in repair", "nodes on average", report.nodes_down.mean},
      {"failed again", "restarts", report.failed_restarts.mean},
      {"evicted", "nodes that failed too often", report.evicted_nodes.mean}};
  for (const auto& [label, noun, mean] : counts) {
    if (mean >= kWorthALine) section.rows.push_back({label, fmt::format("{:.1f} {}", mean, noun)});
  }
}

SummarySection campaign_section(const CampaignReport& report) {
  SummarySection section{
      fmt::format("Campaign of {}, {} replicas (95 % interval of the mean)",
                  format_seconds(report.wall_s.mean), with_separators(report.replicas)),
      {{"goodput", share_text(report.goodput, 1)},
       {"single runs",
        fmt::format("{} .. {} (5 % and 95 % quantile)", format_percent(report.goodput.p05),
                    format_percent(report.goodput.p95))},
       {"ETTR", share_text(report.ettr, 1)}}};
  if (report.job_days.mean > 0) {
    section.rows.push_back({"whole job", days_text(report.job_days)});
  }
  if (is_known(report.job_cost_usd)) {
    section.rows.push_back({"cost", fmt::format("{} USD", format_count(report.job_cost_usd.mean))});
  }
  section.rows.push_back({"failures", failures_text(report)});
  if (!report.survival.empty()) {
    std::string text;
    for (const auto& [tier, share] : report.survival) {
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", tier, format_percent(share.mean));
    }
    section.rows.push_back({"restored from", text});
  }
  add_warnings(report, section);
  return section;
}

SummarySection lost_section(const CampaignReport& report) {
  SummarySection section{"Where the wall time goes", {}};
  const double wall_s = report.wall_s.mean;
  section.rows.push_back({"useful", share_text(report.useful_s, wall_s)});
  for (int i = 0; i < kLosses; ++i) {
    if (report.lost_s[i].mean / wall_s < kShownShare) continue;
    section.rows.push_back({to_string(static_cast<Loss>(i)), share_text(report.lost_s[i], wall_s)});
  }
  return section;
}

std::string seconds_or_nothing(double seconds) {
  return seconds > 0 ? format_seconds(seconds) : "";
}

std::string bytes_or_nothing(double bytes) {
  return bytes > 0 ? format_bytes(bytes) : "";
}

struct TierColumn {
  const char* title;
  std::string (*text)(const TierReport& tier);
};

constexpr TierColumn kTierColumns[] = {
    {"every", [](const TierReport& tier) { return seconds_or_nothing(tier.every_s); }},
    {"saved in", [](const TierReport& tier) { return seconds_or_nothing(tier.saving_s); }},
    {"stall", [](const TierReport& tier) { return seconds_or_nothing(tier.stall_s); }},
    {"overhead",
     [](const TierReport& tier) {
       return tier.every_s > 0 ? format_percent(tier.overhead) : std::string();
     }},
    {"restore", [](const TierReport& tier) { return seconds_or_nothing(tier.restore_s); }},
    {"rebuild", [](const TierReport& tier) { return seconds_or_nothing(tier.rebuild_s); }},
    {"moved/GPU", [](const TierReport& tier) { return bytes_or_nothing(tier.moved_bytes); }},
    {"sent/GPU", [](const TierReport& tier) { return bytes_or_nothing(tier.wire_bytes); }},
    {"host/node", [](const TierReport& tier) { return bytes_or_nothing(tier.host_bytes); }},
    {"survives 7 d", [](const TierReport& tier) { return survival_text(tier.survival_7d); }},
};

// Columns in which no tier has anything are left out.
SummarySection tiers_section(const std::vector<TierReport>& tiers) {
  SummarySection section{"Snapshots by tier", {}, {{{"tier"}}, {}}};
  for (const TierReport& tier : tiers) section.table.rows.push_back({tier.name});
  for (const TierColumn& column : kTierColumns) {
    if (std::ranges::all_of(tiers,
                            [&](const TierReport& tier) { return column.text(tier).empty(); })) {
      continue;
    }
    section.table.columns.push_back({column.title, Align::right});
    for (size_t i = 0; i < tiers.size(); ++i) {
      section.table.rows[i].push_back(column.text(tiers[i]));
    }
  }
  return section;
}

SummarySection interval_section(const IntervalReport& report) {
  SummarySection section{
      fmt::format("How often to save: {}", report.tier),
      {},
      {{{""}, {"interval", Align::right}, {"formula", Align::right}, {"simulated", Align::right}},
       {}}};
  const std::pair<const char*, double> intervals[] = {{"configured", report.configured_s},
                                                      {"Young", report.young_s},
                                                      {"Daly", report.daly_s},
                                                      {"exact exponential", report.exact_s},
                                                      {"best simulated", report.best_s}};
  for (const auto& [name, every_s] : intervals) {
    if (!(every_s > 0)) continue;
    const IntervalReport::Point* point = point_at(report, every_s);
    // Daly's interval was simulated only where it is another's.
    constexpr double kSame = 0.02;
    if (every_s == report.daly_s && point && std::abs(point->every_s / every_s - 1) > kSame) {
      point = nullptr;
    }
    section.table.rows.push_back({name, format_seconds(every_s),
                                  point ? format_percent(point->expected) : "",
                                  point ? share_text(point->goodput, 1) : ""});
  }
  section.rows = {
      {"a save", fmt::format("stalls training for {}", format_seconds(report.cost_s))},
      {"a failure", fmt::format("needs it every {}; detection, restart and restore take {}",
                                format_seconds(report.mtbf_s), format_seconds(report.restart_s))},
      {"following",
       fmt::format("Young's formula costs {} points of goodput, the exact one {}",
                   points_text(report.young_regret), points_text(report.exact_regret))},
      {"RSC formula",
       fmt::format("ETTR {} at the configured interval", format_percent(report.rsc_ettr))}};
  return section;
}

}  // namespace

std::string points_text(double share) {
  return fmt::format("{:.2f}", 100 * share);
}

std::string survival_text(double probability) {
  const double missing = 1 - probability;
  if (missing <= 0 || probability < 0.99) return format_percent(probability);
  if (missing < 1e-8) return "> 99.999999 %";
  const int decimals = 1 - static_cast<int>(std::floor(std::log10(100 * missing)));
  return fmt::format("{:.{}f} %", 100 * probability, decimals);
}

const IntervalReport::Point* point_at(const IntervalReport& report, double every_s) {
  const auto off = [&](const IntervalReport::Point& point) {
    return std::abs(point.every_s - every_s);
  };
  const auto nearest = std::ranges::min_element(report.points, {}, off);
  return nearest == report.points.end() ? nullptr : &*nearest;
}

std::vector<SummarySection> campaign_sections(const CampaignReport& report) {
  std::vector<SummarySection> sections = {campaign_section(report), lost_section(report)};
  if (!report.tiers.empty()) sections.push_back(tiers_section(report.tiers));
  if (report.interval) sections.push_back(interval_section(*report.interval));
  return sections;
}

}  // namespace windtunnel
