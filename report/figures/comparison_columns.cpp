#include "report/figures/comparison_columns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "models/base/units.hpp"
#include "report/figures/campaign_summary.hpp"
#include "report/figures/summary.hpp"

namespace windtunnel {
namespace {

ComparedCell seconds_cell(double seconds) {
  return {format_seconds(seconds), seconds};
}

ComparedCell share_cell(double share) {
  return {format_percent(share), share};
}

double share_of_step(const IterationReport& report, double seconds) {
  return report.time_s > 0 ? seconds / report.time_s : 0;
}

double exposed_s(const Record& record, Category category) {
  return record.iteration.critical_path_s[static_cast<size_t>(category)];
}

const std::vector<TierReport>& tiers_of(const Record& record) {
  static const std::vector<TierReport> none;
  return record.campaign ? record.campaign->tiers : none;
}

bool is_protection(std::string_view key) {
  const std::string_view part = key.substr(0, key.find('.'));
  return part == "snapshots" || part == "failures" || part == "recovery";
}

const std::vector<ComparedColumn>& all_protection_columns() {
  static const std::vector<ComparedColumn> columns = {
      {"copy", Better::neither,
       "the tier that the next columns are of: besides storage the one that survives best",
       [](const Record& r) {
         const TierReport* tier = best_copy(r);
         return tier ? ComparedCell{tier->name} : ComparedCell{};
       }},
      {"every", Better::neither, "mean time between two of its snapshots",
       [](const Record& r) {
         const TierReport* tier = best_copy(r);
         return tier && tier->every_s > 0 ? seconds_cell(tier->every_s) : ComparedCell{};
       }},
      {"saving time", Better::lower,
       "from the start of the iteration that takes a snapshot until it can be restored",
       [](const Record& r) {
         const TierReport* tier = best_copy(r);
         return tier ? seconds_cell(tier->saving_s) : ComparedCell{};
       }},
      {"loading time", Better::lower, "until all ranks have read it back, when no part is lost",
       [](const Record& r) {
         const TierReport* tier = best_copy(r);
         return tier && tier->restore_s > 0 ? seconds_cell(tier->restore_s) : ComparedCell{};
       }},
      {"snapshot overhead", Better::lower,
       "share of the iterations' time that the snapshots of all tiers stall training for",
       [](const Record& r) {
         double overhead = 0;
         for (const TierReport& tier : tiers_of(r)) overhead += tier.overhead;
         return ComparedCell{fmt::format("{:.2f} %", 100 * overhead), overhead};
       }},
      {"survival 7 d", Better::higher,
       "probability that no failure within 7 days is beyond this copy, closed form",
       [](const Record& r) {
         const TierReport* tier = best_copy(r);
         return tier ? ComparedCell{survival_text(tier->survival_7d), tier->survival_7d}
                     : ComparedCell{};
       }},
      {"host memory", Better::lower, "per node, of the snapshots of all tiers",
       [](const Record& r) {
         double bytes = 0;
         for (const TierReport& tier : tiers_of(r)) bytes += tier.host_bytes;
         return ComparedCell{format_bytes(bytes), bytes};
       }},
  };
  return columns;
}

}  // namespace

const char* to_string(Better better) {
  return better == Better::lower ? "lower" : better == Better::higher ? "higher" : "";
}

double peak_memory_bytes(const IterationReport& report) {
  double peak = 0;
  for (const GpuMemory& rank : report.memory) peak = std::max(peak, rank.total());
  return peak;
}

const TierReport* best_copy(const Record& record) {
  const auto rank = [](const TierReport& tier) {
    return std::pair(tier.name != "storage", tier.survival_7d);
  };
  const auto best = std::ranges::max_element(tiers_of(record), {}, rank);
  return best == tiers_of(record).end() ? nullptr : &*best;
}

const std::vector<ComparedColumn>& iteration_columns() {
  static const std::vector<ComparedColumn> kinds = {
      {"step time", Better::lower, "period of the steady state",
       [](const Record& r) { return seconds_cell(r.iteration.time_s); }},
      {"TFLOP/s", Better::higher, "model FLOP/s per GPU",
       [](const Record& r) {
         return ComparedCell{fmt::format("{:.1f}", r.iteration.tflops_per_gpu),
                             r.iteration.tflops_per_gpu};
       }},
      {"MFU", Better::higher, "model FLOP/s over the GPU's peak",
       [](const Record& r) { return share_cell(r.iteration.mfu); }},
      {"bubble", Better::lower,
       "step time less the busiest rank's compute, as a share of the step (Megatron, GPipe)",
       [](const Record& r) {
         return share_cell(share_of_step(r.iteration, r.iteration.bubble.makespan_s));
       }},
      {"stage bubble", Better::lower,
       "longest last end less first start of a rank, less the busiest rank's compute, as a share "
       "of the step (Zero Bubble)",
       [](const Record& r) {
         return share_cell(share_of_step(r.iteration, r.iteration.bubble.longest_stage_s));
       }},
      {"idle", Better::lower,
       "mean share of the step in which none of a rank's own kernels run (a profiler's view)",
       [](const Record& r) { return share_cell(r.iteration.bubble.idle); }},
      {"exposed pp", Better::lower, "messages between stages on the critical path",
       [](const Record& r) { return seconds_cell(exposed_s(r, Category::pp)); }},
      {"exposed dp", Better::lower, "data-parallel collectives on the critical path",
       [](const Record& r) { return seconds_cell(exposed_s(r, Category::dp)); }},
      {"exposed tp", Better::lower, "tensor-parallel collectives on the critical path",
       [](const Record& r) { return seconds_cell(exposed_s(r, Category::tp)); }},
      {"peak memory", Better::lower, "of the fullest GPU",
       [](const Record& r) {
         return ComparedCell{format_bytes(peak_memory_bytes(r.iteration)),
                             peak_memory_bytes(r.iteration)};
       }},
      {"fits", Better::neither, "in the usable memory of GPU and host",
       [](const Record& r) {
         const bool fits = r.memory_excess.empty();
         return ComparedCell{fits ? "yes" : "no", fits ? 1.0 : 0.0};
       }},
  };
  return kinds;
}

const ComparedColumn& goodput_column() {
  static const ComparedColumn kind = {
      "goodput", Better::higher, "useful share of the campaign's wall time",
      [](const Record& r) { return share_cell(r.campaign ? r.campaign->goodput.mean : 0); }};
  return kind;
}

const ComparedColumn& days_column() {
  static const ComparedColumn kind = {
      "days to quality", Better::lower, "steps to the target quality, if nothing fails",
      [](const Record& r) {
        const auto totals = job_totals(r);
        return totals ? ComparedCell{fmt::format("{:.3g}", totals->days), totals->days}
                      : ComparedCell{};
      }};
  return kind;
}

bool has_steps(const Comparison& comparison) {
  return std::ranges::any_of(comparison.points, [](const ComparedPoint& point) {
    return point.record && point.record->job.steps > 0;
  });
}

bool has_campaign(const Comparison& comparison) {
  return std::ranges::any_of(comparison.points, [](const ComparedPoint& point) {
    return point.record && point.record->campaign;
  });
}

bool varies_protection_only(const Comparison& comparison) {
  return has_campaign(comparison) &&
         std::ranges::all_of(comparison.points, [](const ComparedPoint& point) {
           return std::ranges::all_of(
               point.set, [](const auto& assignment) { return is_protection(assignment.first); });
         });
}

std::vector<const ComparedColumn*> protection_columns(const Comparison& comparison) {
  const bool differ = std::ranges::any_of(comparison.points, [](const ComparedPoint& point) {
    return point.record && !tiers_of(*point.record).empty() &&
           std::ranges::any_of(
               point.set, [](const auto& assignment) { return is_protection(assignment.first); });
  });
  std::vector<const ComparedColumn*> columns;
  if (!differ) return columns;
  for (const ComparedColumn& column : all_protection_columns()) columns.push_back(&column);
  return columns;
}

}  // namespace windtunnel
