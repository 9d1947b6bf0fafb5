#include "report/figures/summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "models/base/units.hpp"
#include "models/cost/chunk/step_work.hpp"
#include "models/cost/memory/memory.hpp"
#include "report/figures/campaign_summary.hpp"
#include "scenarios/language/library/spec_fields.hpp"

namespace windtunnel {
namespace {

// Rows below this share of the whole are noise to the reader.
constexpr double kShownShare = 0.0005;

std::string subtitle_of(const Record& record) {
  const Job& job = record.job;
  const Cluster& cluster = job.cluster;
  return fmt::format("{} on {} {} GPUs ({} x {}); {}; {}, {}; batch {}", job.model.name,
                     with_separators(cluster.gpus()), cluster.node.gpu.name,
                     with_separators(cluster.nodes), cluster.node.name, layout_text(job.layout),
                     job.schedule.name, name_of(job.precision), batch_text(job));
}

SummarySection iteration_section(const Record& record) {
  const IterationReport& report = record.iteration;
  const double items = report.tokens_per_s * report.time_s;
  const char* noun = item_noun(record.job);
  const auto of_step = [&](double seconds) {
    return format_percent(report.time_s > 0 ? seconds / report.time_s : 0);
  };
  SummarySection section = {
      "Iteration",
      {{"step time",
        fmt::format("{} for {} {}", format_seconds(report.time_s), format_count(items), noun)},
       {"throughput", fmt::format("{} {}/s, {:.1f} TFLOP/s per GPU",
                                  format_count(report.tokens_per_s), noun, report.tflops_per_gpu)},
       {"utilisation",
        fmt::format("MFU {}, HFU {}", format_percent(report.mfu), format_percent(report.hfu))},
       {"bubble",
        fmt::format("{} of the step beyond the busiest rank's compute, mean idle {}",
                    of_step(report.bubble.makespan_s), format_percent(report.bubble.idle))}}};
  if (report.warmup.share > 0) {
    section.rows.insert(
        section.rows.begin() + 1,
        {"warm-up",
         fmt::format("{} a step with dense gradients, the first {} of all; {} on average",
                     format_seconds(report.warmup.step_s), format_percent(report.warmup.share),
                     format_seconds(run_step_s(report.warmup, report.time_s)))});
  }
  return section;
}

SummarySection job_section(const JobTotals& totals) {
  SummarySection section{
      "To the target quality, if nothing fails",
      {{"steps", with_separators(totals.steps)}, {"days", fmt::format("{:.3g}", totals.days)}}};
  if (totals.cost_usd > 0) section.rows.push_back({"USD", format_count(totals.cost_usd)});
  return section;
}

SummarySection path_section(const IterationReport& report) {
  SummarySection section{"Where the step time goes (critical path)", {}};
  for (int i = 0; i < kCategories; ++i) {
    const double share = report.time_s > 0 ? report.critical_path_s[i] / report.time_s : 0;
    if (share < kShownShare) continue;
    section.rows.push_back({to_string(static_cast<Category>(i)),
                            fmt::format("{:>6}  {}", format_percent(share),
                                        format_seconds(report.critical_path_s[i]))});
  }
  return section;
}

std::string totals_text(const std::vector<GpuMemory>& memory) {
  std::string text;
  for (const GpuMemory& rank : memory) {
    text += fmt::format("{}{:.1f}", text.empty() ? "" : " ", rank.total() / 1e9);
  }
  return text + " GB";
}

SummarySection memory_section(const Record& record) {
  const std::vector<GpuMemory>& memory = record.iteration.memory;
  const double usable = usable_bytes(record.job.cluster.node.gpu);
  SummarySection section{fmt::format("Memory per GPU (usable {})", format_bytes(usable)), {}};
  if (memory.empty()) return section;
  const auto peak =
      std::max_element(memory.begin(), memory.end(),
                       [](const auto& a, const auto& b) { return a.total() < b.total(); });
  section.rows.push_back(
      {"peak", fmt::format("{} ({}) on pipeline rank {}", format_bytes(peak->total()),
                           format_percent(peak->total() / usable), peak - memory.begin())});
  const std::pair<const char*, double> classes[] = {
      {"weights", peak->weights},     {"gradients", peak->gradients},
      {"optimizer", peak->optimizer}, {"activations", peak->activations},
      {"buffers", peak->buffers},     {"framework", peak->framework + peak->fragmentation}};
  std::string split;
  for (const auto& [name, bytes] : classes) {
    if (bytes > 0) {
      split += fmt::format("{}{} {}", split.empty() ? "" : ", ", name, format_bytes(bytes));
    }
  }
  section.rows.push_back({"of it", split});
  const auto setter = std::ranges::find(
      record.activation_peaks, fmt::format("pp {}", peak - memory.begin()), &ActivationPeak::rank);
  if (setter != record.activation_peaks.end()) {
    section.rows.push_back(
        {"set by", fmt::format("{} at {}, with {} of activations", setter->task,
                               format_seconds(setter->at_s), format_bytes(setter->bytes))});
  }
  if (memory.size() > 1) section.rows.push_back({"by rank", totals_text(memory)});
  if (!record.memory_excess.empty()) section.rows.push_back({"excess", record.memory_excess});
  return section;
}

SummarySection origin_section(const OriginShares& origin) {
  std::string text;
  for (int i = 0; i < kOrigins; ++i) {
    text += fmt::format("{}{} {}", i > 0 ? ", " : "", to_string(static_cast<Origin>(i)),
                        format_percent(origin[i]));
  }
  return {"Evidence", {{"predicted time", text}}};
}

std::vector<SummaryRow> key_figures(const Record& record) {
  const IterationReport& iteration = record.iteration;
  std::vector<SummaryRow> figures = {
      {"step time", format_seconds(iteration.time_s)},
      {"MFU", format_percent(iteration.mfu)},
      {"TFLOP/s per GPU", fmt::format("{:.0f}", iteration.tflops_per_gpu)},
      {fmt::format("{}/s", item_noun(record.job)), format_count(iteration.tokens_per_s)}};
  if (!record.campaign) return figures;
  const CampaignReport& campaign = *record.campaign;
  figures.push_back({"goodput", format_percent(campaign.goodput.mean)});
  if (is_known(campaign.job_days)) {
    figures.push_back({"days to train", fmt::format("{:.1f}", campaign.job_days.mean)});
  }
  if (is_known(campaign.job_cost_usd)) {
    figures.push_back({"USD", format_count(campaign.job_cost_usd.mean)});
  }
  return figures;
}

}  // namespace

bool is_known(const Estimate& estimate) {
  return estimate.mean > 0 && std::isfinite(estimate.mean);
}

std::optional<JobTotals> job_totals(const Record& record) {
  const Job& job = record.job;
  if (job.steps <= 0) return {};
  const double seconds = job.steps * run_step_s(record.iteration.warmup, record.iteration.time_s);
  return JobTotals{job.steps, seconds / 86400,
                   seconds * job.cluster.gpus() * job.price_usd_per_gpu_s};
}

std::string with_separators(double count) {
  std::string digits = fmt::format("{:.0f}", count);
  const size_t first = digits.starts_with('-') ? 1 : 0;
  for (size_t i = digits.size(); i > first + 3;) {
    i -= 3;
    digits.insert(i, 1, ',');
  }
  return digits;
}

const char* item_noun(const Job& job) {
  return job.network ? "samples" : "tokens";
}

std::string batch_text(const Job& job) {
  const std::string global = with_separators(job.batch.global);
  if (job.network) return fmt::format("{} samples", global);
  if (job.lengths) {
    return fmt::format("{} sequences, {} tokens", global, with_separators(tokens_per_step(job)));
  }
  return fmt::format("{} x {} tokens", global, with_separators(job.batch.sequence));
}

std::string layout_text(const Layout& layout) {
  std::string text;
  const std::pair<const char*, int> axes[] = {{"tp", layout.tp},
                                              {"cp", layout.cp},
                                              {"pp", layout.pp},
                                              {"vpp", layout.vpp},
                                              {"dp", layout.dp}};
  for (const auto& [name, size] : axes) {
    if (size > 1) text += fmt::format("{}{} {}", text.empty() ? "" : " x ", name, size);
  }
  if (text.empty()) text = "one GPU";
  if (layout.ep > 1) text += fmt::format(", ep {}", layout.ep);
  if (layout.sharding != Sharding::none) {
    text += fmt::format(", ZeRO-{}", static_cast<int>(layout.sharding));
    const std::pair<const char*, int> details[] = {
        {" over {} ranks", layout.shard_ranks},
        {", weights over {}", layout.weight_ranks},
        {", gradients over {}", layout.gradient_ranks},
        {", second copy over {}", layout.secondary_ranks},
        {", weights in {} bits", layout.weight_bits},
        {", gradients in {} bits", layout.gradient_bits}};
    for (const auto& [words, value] : details) {
      if (value > 0) text += fmt::format(fmt::runtime(words), value);
    }
  }
  return text;
}

Summary summarise(const Record& record) {
  Summary summary{record.scenario, subtitle_of(record), key_figures(record), {}};
  summary.sections.push_back(iteration_section(record));
  if (const auto totals = job_totals(record)) summary.sections.push_back(job_section(*totals));
  summary.sections.push_back(path_section(record.iteration));
  summary.sections.push_back(memory_section(record));
  if (record.campaign) {
    for (SummarySection& section : campaign_sections(*record.campaign)) {
      summary.sections.push_back(std::move(section));
    }
  }
  summary.sections.push_back(origin_section(record.origin));
  return summary;
}

}  // namespace windtunnel
