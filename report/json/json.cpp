#include "report/json/json.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "report/figures/summary.hpp"

namespace windtunnel {
namespace {

Json estimate_json(const Estimate& estimate) {
  if (!std::isfinite(estimate.mean)) return nullptr;
  return {{"mean", estimate.mean}, {"low", estimate.low}, {"high", estimate.high}};
}

Json known_json(const Estimate& estimate) {
  return is_known(estimate) ? estimate_json(estimate) : Json(nullptr);
}

Json estimates_json(const std::map<std::string, Estimate>& estimates) {
  Json object = Json::object();
  for (const auto& [name, estimate] : estimates) object[name] = estimate_json(estimate);
  return object;
}

Json memory_json(const std::vector<GpuMemory>& memory, const Json& activation_peaks) {
  double peak = 0;
  Json per_stage = Json::array();
  for (const GpuMemory& stage : memory) {
    peak = std::max(peak, stage.total());
    per_stage.push_back(stage.total());
  }
  return {{"peak", peak}, {"per_stage", per_stage}, {"activation_peaks", activation_peaks}};
}

// What sets the peak of each rank's activations, and when.
Json peaks_json(const std::vector<ActivationPeak>& peaks) {
  Json array = Json::array();
  for (const ActivationPeak& peak : peaks) {
    array.push_back(
        {{"rank", peak.rank}, {"task", peak.task}, {"at_s", peak.at_s}, {"bytes", peak.bytes}});
  }
  return array;
}

Json iteration_json(const Record& record) {
  const IterationReport& report = record.iteration;
  const auto on_path = [&](Category category) {
    return report.critical_path_s[static_cast<size_t>(category)];
  };
  Json exposed = Json::object();
  for (const Category category :
       {Category::tp, Category::cp, Category::pp, Category::ep, Category::dp, Category::snapshot}) {
    exposed[to_string(category)] = on_path(category);
  }
  Json path = Json::object();
  for (int i = 0; i < kCategories; ++i) {
    const auto category = static_cast<Category>(i);
    path[to_string(category)] = on_path(category);
  }
  Json document = {
      {"time_s", report.time_s},
      {"tflops_per_gpu", report.tflops_per_gpu},
      {"mfu", report.mfu},
      {"hfu", report.hfu},
      {"tokens_per_s", report.tokens_per_s},
      {"bubble",
       {{"makespan", report.bubble.makespan_s},
        {"longest_stage", report.bubble.longest_stage_s},
        {"idle", report.bubble.idle}}},
      {"exposed_s", exposed},
      {"memory_bytes", memory_json(report.memory, peaks_json(record.activation_peaks))},
      {"critical_path_s", path}};
  if (record.job.network) document["samples_per_s"] = report.tokens_per_s;
  if (report.warmup.share > 0) {
    document["warmup_step_s"] = report.warmup.step_s;
    document["warmup_share"] = report.warmup.share;
    document["run_step_s"] = run_step_s(report.warmup, report.time_s);
  }
  return document;
}

Json tiers_json(const std::vector<TierReport>& tiers) {
  Json array = Json::array();
  for (const TierReport& tier : tiers) {
    array.push_back({{"name", tier.name},
                     {"every_s", tier.every_s},
                     {"saving_s", tier.saving_s},
                     {"stall_s", tier.stall_s},
                     {"overhead", tier.overhead},
                     {"restore_s", tier.restore_s},
                     {"rebuild_s", tier.rebuild_s},
                     {"moved_bytes", tier.moved_bytes},
                     {"wire_bytes", tier.wire_bytes},
                     {"host_bytes", tier.host_bytes},
                     {"survival_7d", tier.survival_7d}});
  }
  return array;
}

Json interval_json(const IntervalReport& report) {
  Json points = Json::array();
  for (const IntervalReport::Point& point : report.points) {
    points.push_back({{"every_s", point.every_s},
                      {"expected", point.expected},
                      {"goodput", estimate_json(point.goodput)}});
  }
  return {{"tier", report.tier},
          {"mtbf_s", report.mtbf_s},
          {"cost_s", report.cost_s},
          {"restart_s", report.restart_s},
          {"configured_s", report.configured_s},
          {"young_s", report.young_s},
          {"daly_s", report.daly_s},
          {"exact_s", report.exact_s},
          {"best_s", report.best_s},
          {"formula_goodput", report.formula_goodput},
          {"rsc_ettr", report.rsc_ettr},
          {"best_goodput", report.best_goodput},
          {"young_regret", report.young_regret},
          {"exact_regret", report.exact_regret},
          {"points", points}};
}

Json campaign_json(const CampaignReport& report) {
  Json lost = Json::object();
  for (int i = 0; i < kLosses; ++i) {
    lost[to_string(static_cast<Loss>(i))] = estimate_json(report.lost_s[i]);
  }
  return {{"goodput", estimate_json(report.goodput)},
          {"ettr", estimate_json(report.ettr)},
          {"wall_s", estimate_json(report.wall_s)},
          {"useful_s", estimate_json(report.useful_s)},
          {"job",
           {{"days", known_json(report.job_days)}, {"cost_usd", known_json(report.job_cost_usd)}}},
          {"failures", estimates_json(report.failures)},
          {"lost_s", lost},
          {"survival", estimates_json(report.survival)},
          {"skipped_snapshots", estimates_json(report.skipped_snapshots)},
          {"nodes_down", estimate_json(report.nodes_down)},
          {"failed_restarts", estimate_json(report.failed_restarts)},
          {"evicted_nodes", estimate_json(report.evicted_nodes)},
          {"tiers", tiers_json(report.tiers)},
          {"interval", report.interval ? interval_json(*report.interval) : Json(nullptr)}};
}

Json set_json(const Overrides& set) {
  Json object = Json::object();
  for (const auto& [key, value] : set) object[key] = value;
  return object;
}

}  // namespace

Json run_document(const Record& record, bool with_timing) {
  Json origin = Json::object();
  for (int i = 0; i < kOrigins; ++i) origin[to_string(static_cast<Origin>(i))] = record.origin[i];
  Json document = {{"scenario", record.scenario},
                   {"key", record.key},
                   {"version", record.version},
                   {"iteration", iteration_json(record)},
                   {"campaign", record.campaign ? campaign_json(*record.campaign) : Json(nullptr)},
                   {"origin", origin},
                   {"engine",
                    {{"events", record.timeline.events},
                     {"ranks_simulated", record.timeline.ranks_simulated},
                     {"ranks", record.ranks}}}};
  if (const auto totals = job_totals(record)) {
    document["job"] = {{"steps", totals->steps},
                       {"days", totals->days},
                       {"cost_usd", totals->cost_usd > 0 ? Json(totals->cost_usd) : Json()}};
  }
  if (with_timing) {
    document["timing"] = {{"wall_s", record.wall_s}, {"peak_rss_bytes", record.peak_rss_bytes}};
  }
  return document;
}

Json compare_document(const Comparison& comparison, bool with_timing) {
  Json points = Json::array();
  Json infeasible = Json::array();
  for (const ComparedPoint& point : comparison.points) {
    if (point.record) {
      points.push_back(
          {{"set", set_json(point.set)}, {"result", run_document(*point.record, with_timing)}});
    } else {
      infeasible.push_back({{"set", set_json(point.set)}, {"reason", point.reason}});
    }
  }
  return {{"points", points}, {"infeasible", infeasible}};
}

}  // namespace windtunnel
