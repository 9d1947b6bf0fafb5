#include "report/summary/summary.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "models/base/units.hpp"
#include "models/calibration/prediction_error.hpp"
#include "models/compression/compressors.hpp"
#include "models/cost/chunk/step_work.hpp"
#include "models/cost/offload/offload.hpp"
#include "models/plan/step_workers.hpp"
#include "models/reliability/stragglers/redundancy.hpp"
#include "models/workload/axes.hpp"
#include "report/figures/model_range.hpp"
#include "report/figures/shown_studies.hpp"
#include "report/summary/campaign_summary.hpp"
#include "report/summary/notes.hpp"
#include "scenarios/language/text/choices.hpp"

namespace windtunnel {
namespace {

std::string text_of(const Record& record, std::string_view key) {
  return figure(key).text(record);
}

// Returns "MFU 37.8 %".
std::string titled(const Record& record, std::string_view key) {
  return fmt::format("{} {}", figure(key).title, text_of(record, key));
}

// "compressor powersgd, rank 4": with the numbers that differ from the method's usual ones.
std::string compressor_text(const AxisCompressors& compressors) {
  std::string text;
  for (const CompressedAxis& axis : kCompressedAxes) {
    const CompressorChoice& choice = compressors.*axis.choice;
    if (!compresses(choice)) continue;
    const bool gradients = &choice == &compressors.dp;
    text += text.empty() ? "compressor " : ", ";
    text += gradients ? choice.name : fmt::format("{} in {}", to_string(axis.axis), choice.name);
    for (const CompressorNumber& number : compressor_numbers()) {
      const double value = choice.*number.member;
      if (value > 0) text += fmt::format(", {} {:g}", number.name, value);
    }
  }
  return text.empty() ? "no compressor" : text;
}

// Returns "every 100 steps, 3.2 GB per GPU in 28.7 s, 28.7 s of it exposed".
std::string sync_text(const SyncLevel& level, const SyncReport& report) {
  if (level.pattern == SyncPattern::none) return "never";
  const auto seconds = [](double s) { return value_text(Unit::seconds, s); };
  std::string text =
      level.every_steps == 1 ? "every step" : fmt::format("every {:.4g} steps", level.every_steps);
  if (level.events == SyncEvents::poisson) text += ", at random times";
  text += fmt::format(", {} per GPU", value_text(Unit::bytes, report.sent_bytes));
  if (level.pattern == SyncPattern::gossip) text += " to neighbours";
  if (level.fragments > 1) text += fmt::format(" in {} fragments, each", level.fragments);
  text += fmt::format(" in {}", seconds(report.seconds.exchange_s));
  if (const int hiding = level.hiding_steps(); hiding > 0) {
    text += fmt::format(" during {} step{}", hiding, hiding == 1 ? "" : "s");
  }
  text += fmt::format(", {} of it exposed", seconds(report.seconds.exposed_s));
  if (report.seconds.left_out > 0) {
    text += fmt::format("; does not wait for the last {} islands", report.seconds.left_out);
  }
  if (report.seconds.wait_s != 0) {
    text += fmt::format("; an island waits {} for others", seconds(report.seconds.wait_s));
  }
  if (report.seconds.late > 0) {
    text += fmt::format("; {} of the islands are too late, and their steps do not count",
                        value_text(Unit::share, report.seconds.late));
  }
  return text;
}

// Returns "m-sgc, burst 1, window 2, lambda 27: each computes 1.93 times its part, ...".
std::string redundancy_text(const Redundancy& redundancy, const Record& record) {
  const auto text = [&](std::string_view key) { return text_of(record, key); };
  const int together = replicas_of_worker(record.job.layout);
  std::string line = fmt::format(
      "{}: each replica computes {:.3g} times its part, and a step leaves out {:.3g} of {} {}",
      to_string(redundancy), record.iteration.stragglers->load,
      record.iteration.stragglers->missing, step_workers(record.job.layout),
      together == 1 ? "replicas" : fmt::format("groups of {} replicas", together));
  if (redundancy.tolerance > 0) {
    line += fmt::format(" and waits longer in {} of the steps",
                        text("iteration.stragglers.waited_share"));
  }
  return line;
}

// MFU with causal attention counted in full and, if that differs, also in half.
std::string utilisation_text(const Record& record) {
  std::string full =
      fmt::format("{}, {}", titled(record, "iteration.mfu"), titled(record, "iteration.hfu"));
  if (!counts_differ(record.iteration)) return full;
  return fmt::format("{}; causal attention counted in half: {} and {}", full,
                     text_of(record, "iteration.mfu_causal"),
                     text_of(record, "iteration.hfu_causal"));
}

SummarySection iteration_section(const Record& record) {
  const IterationReport& report = record.iteration;
  const double items = report.tokens_per_s * report.time_s;
  const char* noun = item_noun(record.job);
  const auto text = [&](std::string_view key) { return text_of(record, key); };
  SummarySection section = {
      "Iteration",
      {{figure("iteration.time_s").title, fmt::format("{} for {} {}", text("iteration.time_s"),
                                                      value_text(Unit::count, items), noun)},
       {"throughput",
        fmt::format("{} {}/s, {} {}", text("iteration.tokens_per_s"), noun,
                    text("iteration.tflops_per_gpu"), figure("iteration.tflops_per_gpu").title)},
       {"utilisation", utilisation_text(record)},
       {figure("iteration.bubble.makespan_share").title,
        fmt::format("{} of the step beyond the busiest rank's compute, mean {}",
                    text("iteration.bubble.makespan_share"),
                    titled(record, "iteration.bubble.idle"))}}};
  const double trained = number_of(figure("iteration.trained_parameters").of(record));
  if (std::isfinite(trained)) {
    const double all = number_of(figure("iteration.parameters").of(record));
    section.rows.insert(
        section.rows.begin() + 1,
        {figure("iteration.trained_parameters").title,
         fmt::format("{} of {} parameters ({:.2g} %)", text("iteration.trained_parameters"),
                     text("iteration.parameters"), 100 * trained / all)});
  }
  if (report.warmup.share > 0) {
    section.rows.insert(
        section.rows.begin() + 1,
        {figure("iteration.warmup_share").title,
         fmt::format(
             "{} per step with dense gradients, in the first {} of the steps; {} on average",
             text("iteration.warmup_step_s"), text("iteration.warmup_share"),
             text("iteration.run_step_s"))});
  }
  for (std::size_t level = 0; level < report.sync.size(); ++level) {
    section.rows.push_back({"sync over " + record.job.sync[level].over,
                            sync_text(record.job.sync[level], report.sync[level])});
  }
  if (!report.sync.empty()) {
    section.add(figure("iteration.inner_step_s").title, "{}, {} of the mean",
                text("iteration.inner_step_s"), text("iteration.sync_utilization"));
  }
  if (record.job.redundancy) {
    section.rows.insert(
        section.rows.begin() + 1,
        {figure("iteration.stragglers.step_s").title,
         fmt::format("{}, {}; {} {}", estimate_text(Unit::seconds, report.stragglers->step_s),
                     kIntervalTitle, text("iteration.stragglers.waiting_s"),
                     figure("iteration.stragglers.waiting_s").title)});
    section.rows.insert(section.rows.begin() + 2,
                        {"redundancy", redundancy_text(*record.job.redundancy, record)});
  }
  if (report.drawn_s) {
    section.rows.insert(
        section.rows.begin() + 1,
        {figure("iteration.drawn_s").title,
         fmt::format("{}, {} of {} draws", estimate_text(Unit::seconds, *report.drawn_s),
                     kIntervalTitle, record.job.cluster.jitter.draws)});
  }
  return section;
}

// The interval of a mean over trials; empty if the figure is not a mean.
std::string trials_text(const Figure& figure, const Record& record) {
  const FigureValue value = figure.of(record);
  const auto* estimate = std::get_if<Estimate>(&value);
  return estimate == nullptr ? "" : range_text(figure.unit, estimate->low, estimate->high);
}

SummarySection path_section(const Record& record) {
  SummarySection section{group_title("iteration.critical_path_s"), {}};
  const double time_s = record.iteration.time_s;
  for (const Figure* each : figures_below("iteration.critical_path_s")) {
    const double share = time_s > 0 ? number_of(each->of(record)) / time_s : 0;
    if (!(share >= kShownShare)) continue;  // skips parts that this job does not have, too
    section.add(each->title, "{:>6}  {}", value_text(Unit::share, share), each->text(record));
  }
  return section;
}

// The certainty of the main figures, from trials and from the calibration's error, and the origins
// of the predicted time.
SummarySection evidence_section(const Record& record) {
  const std::string trials =
      record.campaign ? "of the mean over " + counted(record.campaign->trials, "trial") : "";
  SummarySection section{fmt::format("{} ({}s)", kCertaintyTitle, kIntervalTitle), {}, {}};
  section.table = titled_table(" | predicted >");
  if (record.campaign) section.table.columns.push_back({trials, Align::right});
  section.table.columns.push_back({"from the error of the cost models", Align::right});
  for (const Figure& each : figures()) {
    const std::optional<FigureRange> range = model_range(each, record);
    if (!range || each.follows == Follows::none) continue;
    // A table of layers has samples instead of tokens.
    if (record.job.network && each.key == "iteration.tokens_per_s") continue;
    std::vector<std::string> row = {each.title, each.text(record)};
    if (record.campaign) row.push_back(trials_text(each, record));
    row.push_back(range_text(each.unit, range->low, range->high));
    section.table.rows.push_back(std::move(row));
  }
  std::string shares;
  for (const Figure* each : figures_below("origin")) {
    shares += fmt::format("{}{} {}", shares.empty() ? "" : ", ", each->title, each->text(record));
  }
  section.rows = {
      {"cost models", cost_models_text(record)},
      {"rests on",
       fmt::format("{}: shares of the predicted time, each part by the least certain origin of its "
                   "numbers; a fitted number has the origin of the rows that it was fitted on. The "
                   "error of whole predictions may still be measured",
                   shares)}};
  if (!record.assumed_constants.empty()) {
    section.rows.push_back(
        {"assumed", "constants of the calibration with the largest effect on the step time: " +
                        record.assumed_constants});
  }
  return section;
}

std::string range_of(const Figure& figure, const Record& record) {
  const std::optional<FigureRange> range = wider_range(figure, record);
  return range ? range_text(figure.unit, range->low, range->high) : "";
}

// MFU in the other count: "causal attention in half: 47.9 %, 36.1 % .. 63.5 %".
std::string causal_mfu_text(const Record& record) {
  const Figure& causal = figure("iteration.mfu_causal");
  const std::string range = range_of(causal, record);
  return fmt::format("causal attention in half: {}{}{}", causal.text(record),
                     range.empty() ? "" : ", ", range);
}

std::vector<SummaryRow> key_figures(const Record& record) {
  const char* items = record.job.network ? "iteration.samples_per_s" : "iteration.tokens_per_s";
  std::vector<std::string_view> keys = {
      "iteration.time_s", "iteration.mfu",     "iteration.tflops_per_gpu", items,
      "campaign.goodput", "campaign.job.days", "campaign.job.cost_usd"};
  for (const ShownStudy& study : shown_studies()) {
    std::ranges::copy(study.key_figures, std::back_inserter(keys));
  }
  std::vector<SummaryRow> rows;
  for (const std::string_view key : keys) {
    const Figure& each = figure(key);
    const std::string text = each.text(record);
    if (text.empty()) continue;
    std::string detail = range_of(each, record);
    if (each.key == "iteration.mfu" && counts_differ(record.iteration)) {
      detail += (detail.empty() ? "" : "; ") + causal_mfu_text(record);
    }
    rows.push_back({each.title, text, detail});
  }
  return rows;
}

// Names the measured runs that are most similar to this one.
std::string nearest_text(const Familiarity& familiarity) {
  std::vector<std::string> families;
  for (const AlikeFamily& family : familiarity.nearest) {
    families.push_back(fmt::format("{} ({} runs, {})", family.name, family.rows,
                                   value_text(Unit::share, family.deviation)));
  }
  if (families.empty()) return "";
  return fmt::format("; similar measured runs and their prediction errors: {}",
                     fmt::join(families, ", "));
}

}  // namespace

std::string cost_models_text(const Record& record) {
  const Calibration& calibration = record.job.calibration;
  const Parameter& error = record.iteration.error;
  const bool alike = error.value != calibration.step_error.value;
  return fmt::format(
             "step times predicted with calibration {0} are off by {1} (one standard deviation, "
             "{2}; intervals extend {3:.1f} deviations either way, as a factor) on {4}",
             calibration.name, value_text(Unit::share, error.value), to_string(error.origin),
             std::log(error_factor(error, kReportedShare)) / error.value,
             alike ? error.source : "runs not used in its fit") +
         nearest_text(record.iteration.familiarity);
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

namespace {

// Returns "tp 2 x dp 8, ep 4".
std::string axes_text(const Layout& layout) {
  std::string text;
  for (const Axis& axis : kAxes) {
    const int size = layout.*axis.size;
    if (size == 1 || axis.size == &Layout::ep) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : " x ", axis.name, size);
  }
  if (text.empty()) text = "one GPU";
  if (layout.ep > 1) text += fmt::format(", ep {}", layout.ep);
  return text;
}

// "ZeRO-3 over 8 ranks"; empty if nothing is sharded.
std::string sharding_text(const Layout& layout) {
  if (layout.sharding == Sharding::none) return "";
  std::string text = fmt::format("ZeRO-{}", static_cast<int>(layout.sharding));
  const std::pair<const char*, int> details[] = {{" over {} ranks", layout.shard_ranks},
                                                 {", experts over {}", layout.expert_shard_ranks},
                                                 {", weights over {}", layout.weight_ranks},
                                                 {", gradients over {}", layout.gradient_ranks},
                                                 {", second copy over {}", layout.secondary_ranks},
                                                 {", weights in {} bits", layout.weight_bits},
                                                 {", gradients in {} bits", layout.gradient_bits}};
  for (const auto& [words, value] : details) {
    if (value > 0) text += fmt::format(fmt::runtime(words), value);
  }
  return text;
}

// Returns "16 h100 GPUs (2 x dgx-h100)".
std::string machine_text(const Cluster& cluster) {
  std::string nodes;
  for (const Pool& pool : cluster.pools) {
    nodes += fmt::format("{}{} x {}", nodes.empty() ? "" : ", ", with_separators(pool.nodes),
                         pool.node.name);
  }
  if (nodes.empty())
    nodes = fmt::format("{} x {}", with_separators(cluster.nodes), cluster.node.name);
  return fmt::format("{} ({})", counted(cluster.gpus(), cluster.node.gpu.name + " GPU"), nodes);
}

std::vector<std::string> how_it_trains(const Job& job) {
  const Communication& communication = job.communication;
  std::vector<std::string> facts = {job.schedule.name, std::string(name_of(job.precision)),
                                    fmt::format("overlap {}", name_of(communication.overlap)),
                                    compressor_text(communication.compressors),
                                    fmt::format("batch {}", batch_text(job))};
  const Offload& offload = offload_of(job);
  if (offload.searched.recompute && !job.network) {
    facts.push_back(fmt::format("recompute {}", to_string(job.recompute)));
  }
  const std::string offloaded = to_string(offload);
  if (!offloaded.empty()) facts.push_back(offloaded);
  return facts;
}

// This is the whole job in one line.
std::string job_text(const Job& job) {
  return fmt::format("{} on {}; {}; {}", job.model.name, machine_text(job.cluster),
                     layout_text(job.layout), fmt::join(how_it_trains(job), "; "));
}

}  // namespace

std::string layout_text(const Layout& layout) {
  const std::string sharding = sharding_text(layout);
  return axes_text(layout) + (sharding.empty() ? "" : ", " + sharding);
}

std::vector<std::string> job_facts(const Job& job) {
  std::vector<std::string> facts = {job.model.name, machine_text(job.cluster),
                                    axes_text(job.layout)};
  if (job.layout.sharding != Sharding::none) facts.push_back(sharding_text(job.layout));
  std::ranges::move(how_it_trains(job), std::back_inserter(facts));
  return facts;
}

std::string shared_facts(const std::vector<std::vector<std::string>>& jobs) {
  std::vector<std::string> shared;
  if (!jobs.empty()) shared = jobs.front();
  std::erase_if(shared, [&](const std::string& fact) {
    return std::ranges::any_of(jobs, [&](const std::vector<std::string>& facts) {
      return std::ranges::find(facts, fact) == facts.end();
    });
  });
  return fmt::format("{}", fmt::join(shared, "; "));
}

namespace {

void add_studies(StudyRole role, const Record& record, std::vector<SummarySection>& sections) {
  for (const ShownStudy& study : shown_studies(role)) {
    if (study.is_in(record)) {
      std::ranges::move(study.sections(record), std::back_inserter(sections));
    }
  }
}

}  // namespace

Answer summarise(const Record& record) {
  Answer summary{record.scenario, job_text(record.job), key_figures(record), {}};
  summary.sections.push_back(model_section(record.job));
  add_studies(StudyRole::leading, record, summary.sections);
  summary.sections.push_back(iteration_section(record));
  SummarySection job{record.job.steps > 0 ? "To the target quality, if nothing fails"
                                          : "To train on all tokens, if nothing fails",
                     {}};
  add_figures(record, "job", job, plain_text);
  if (!job.rows.empty()) summary.sections.push_back(std::move(job));
  summary.sections.push_back(path_section(record));
  for (SummarySection& section : idle_sections(record)) {
    summary.sections.push_back(std::move(section));
  }
  summary.sections.push_back(memory_section(record));
  if (record.campaign) {
    for (SummarySection& section : campaign_sections(record)) {
      summary.sections.push_back(std::move(section));
    }
  }
  add_studies(StudyRole::beside, record, summary.sections);
  summary.sections.push_back(evidence_section(record));
  if (!record.notes.empty()) summary.sections.push_back({kNotesTitle, note_rows(record.notes)});
  return summary;
}

}  // namespace windtunnel
