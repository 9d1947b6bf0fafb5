#include "sim/study/simulate.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "models/base/error.hpp"
#include "models/base/units.hpp"
#include "models/base/version.hpp"
#include "models/calibration/prediction_error.hpp"
#include "models/cost/memory/memory.hpp"
#include "models/cost/offload/offload.hpp"
#include "models/results/step_range.hpp"
#include "policies/iteration.hpp"
#include "policies/outer/outer_exchange.hpp"
#include "policies/protection/snapshot_tiers.hpp"
#include "scenarios/language/library/facts/measured_runs.hpp"
#include "sim/campaign/campaign.hpp"
#include "sim/study/decisive_numbers.hpp"
#include "sim/study/goodput_range.hpp"
#include "sim/study/interval_advice.hpp"
#include "sim/study/iterations/input_step.hpp"
#include "sim/study/iterations/memory_excess.hpp"
#include "sim/study/iterations/sync_window.hpp"
#include "sim/study/notes/tried_changes.hpp"
#include "sim/study/record_notes.hpp"
#include "sim/study/studies.hpp"
#include "sim/study/tier_reports.hpp"

namespace windtunnel {
namespace {

// Time of iterations has the origins of their tasks' numbers. Time lost to failures has the origins
// of what the job says about failures and recovery.
OriginShares origin_shares(const Job& job, const IterationReport& iteration,
                           const std::optional<CampaignReport>& campaign) {
  const auto lost = [&](Loss loss) {
    return campaign ? campaign->lost_s[static_cast<int>(loss)].mean : 0;
  };
  OriginShares shares{};
  const double running =
      campaign ? campaign->useful_s.mean + lost(Loss::stall) + lost(Loss::degraded) : 1;
  for (int i = 0; i < kOrigins; ++i) {
    shares[i] = running * iteration.origin_s[i] / iteration.time_s;
  }
  shares[static_cast<int>(job.failure_origin)] += lost(Loss::redo);
  shares[static_cast<int>(job.recovery_origin)] +=
      lost(Loss::detect) + lost(Loss::restart) + lost(Loss::wait) + lost(Loss::sync);
  double total = 0;
  for (const double share : shares) total += share;
  for (double& share : shares) share /= total;
  return shares;
}

double peak_rss_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss * 1024.0;
}

std::vector<SyncReport> sync_reports(const Job& job, const PreparedIteration& prepared,
                                     const std::vector<SyncSeconds>& seconds) {
  const SharedGeometry geometry = geometry_of(job, prepared.geometry);
  const OuterExchange exchange(job, prepared.schedule, prepared.chunks, geometry->network());
  std::vector<SyncReport> reports;
  for (int level = 0; level < std::ssize(seconds); ++level) {
    SyncReport& report = reports.emplace_back(SyncReport{.seconds = seconds[level]});
    for (int pp = 0; pp < job.layout.pp; ++pp) {
      report.sent_bytes = std::max(report.sent_bytes, exchange.sent_bytes(level, pp));
    }
  }
  return reports;
}

void tell(const SimulateOptions& options, const std::string& step) {
  if (options.stop.stop_requested()) throw Error("stopped", ExitCode::failed);
  if (options.progress) options.progress(step);
}

MeasuredIteration measured_iteration(const Case& the_case, const SimulateOptions& options) {
  const Job& job = the_case.job;
  MeasuredIteration measured;
  measured.prepared = the_case.prepared;
  if (measured.prepared == nullptr) {
    measured.prepared = std::make_shared<const PreparedIteration>(prepare_iteration(job));
  }
  const PreparedIteration& prepared = *measured.prepared;
  measured.memory_excess = memory_excess(job, prepared);
  if (!measured.memory_excess.empty() && !options.allow_oom) {
    const std::string advice = options.depth == StudyDepth::advice ? fitting_advice(the_case) : "";
    throw Error(measured.memory_excess + (advice.empty() ? "" : "; " + advice), ExitCode::failed);
  }
  const bool campaign = job.campaign.length_s > 0;
  DrawnIteration drawn;
  tell(options,
       fmt::format("simulating {} on {} GPUs",
                   campaign ? "the campaign's iterations" : "an iteration", job.layout.ranks()));
  std::vector<SyncSeconds> sync;
  if (campaign) {
    CampaignIterations all = campaign_iterations(job, prepared, options.threads, options.others);
    drawn = std::move(all.plain);
    sync = std::move(all.sync);
    measured.table = std::move(all.table);
  } else {
    drawn = run_draws(job, prepared, options.threads);
    sync = measure_sync(job, prepared, drawn);
  }
  measured.plain = std::move(drawn.execution);
  const Execution& plain = measured.plain;
  measured.critical_path = critical_path(plain.plan, plain.timeline);
  measured.report = iteration_report(job, hardware_flops(job, prepared), prepared.memory,
                                     plain.plan, plain.timeline, measured.critical_path);
  measured.report.host_spread = host_spread(job, prepared);
  StepError error =
      step_error(job, software_root(software_of(the_case)), measured.report.hfu_causal);
  measured.report.error = std::move(error.error);
  measured.report.familiarity = std::move(error.familiarity);
  measured.report.filling = plain.filling;
  if (job.input) {
    const double step_s = measured.report.time_s;
    measured.report.input =
        std::make_shared<const InputReport>(study_input(job, prepared, step_s, options.threads));
  }
  if (drawn.stragglers) {
    add_stragglers(measured.report, *drawn.stragglers);
  } else if (job.cluster.is_drawn()) {
    set_drawn(measured.report, drawn.step_s, drawn.draw);
  }
  if (!job.sync.empty()) add_sync(measured.report, job.sync, sync_reports(job, prepared, sync));
  measured.table.pauses = the_case.pauses;
  measured.report.warmup = campaign ? measured.table.warmup : measure_warmup(job);
  return measured;
}

// Simulates the campaign and adds its report, with advice on snapshot intervals if options ask for
// it. Returns the inputs of the campaign.
CampaignInputs add_campaign(Record& record, const PreparedIteration& prepared, IterationTable table,
                            const SimulateOptions& options) {
  const Job& job = record.job;
  tell(options, fmt::format("simulating {} campaigns of {}", job.campaign.trials,
                            format_seconds(job.campaign.length_s)));
  CampaignInputs inputs = campaign_inputs(job, std::move(table));
  inputs.stop = options.stop;
  CampaignReport campaign = run_campaign(inputs, options.threads);
  campaign.goodput_by_model = goodput_range(
      inputs, campaign, step_factors(record.iteration, kReportedShare), options.threads);
  campaign.tiers = tier_reports(job, prepared, inputs, campaign);
  if (options.depth >= StudyDepth::intervals) {
    campaign.interval = interval_advice(inputs, campaign, options.threads);
    campaign.other_intervals = other_interval_advice(inputs, campaign, options.threads);
  }
  record.campaign = std::move(campaign);
  return inputs;
}

void add_studies(const Case& the_case, const PreparedIteration& prepared,
                 const SimulateOptions& options, Record& record) {
  const CampaignReport* campaign = record.campaign ? &*record.campaign : nullptr;
  const StudyInput input{the_case,
                         prepared,
                         record.iteration,
                         campaign,
                         &record,
                         options.threads,
                         [&](const std::string& step) { tell(options, step); }};
  for (const Study& study : studies()) {
    if (options.depth >= study.from) study.run(input, record.studies);
  }
}

Record simulated(const Case& the_case, MeasuredIteration measured, const SimulateOptions& options) {
  const Job& job = the_case.job;
  const PreparedIteration& prepared = *measured.prepared;
  Record record;
  record.scenario = the_case.scenario;
  record.key = the_case.key;
  record.source = {program_version(), program_commit(), the_case.file,
                   the_case.text,     the_case.set,     the_case.files};
  record.values = the_case.values;
  record.job = job;
  record.ranks = job.layout.ranks();
  record.memory_excess = std::move(measured.memory_excess);
  record.source.allow_oom = !record.memory_excess.empty();
  record.iteration = std::move(measured.report);
  record.critical_path = std::move(measured.critical_path);
  record.plan = std::move(measured.plain.plan);
  record.timeline = std::move(measured.plain.timeline);
  record.activation_peaks = activation_peaks(record.plan, record.timeline);
  std::optional<CampaignInputs> campaign;
  if (job.campaign.length_s > 0 && options.depth >= StudyDepth::campaign) {
    campaign = add_campaign(record, prepared, std::move(measured.table), options);
  }
  record.origin = origin_shares(job, record.iteration, record.campaign);
  if (options.depth == StudyDepth::advice) {
    record.assumed_constants = assumed_constants(job, prepared);
  }
  add_studies(the_case, prepared, options, record);
  const std::vector<Note> notes =
      record_notes({the_case, prepared, record, campaign ? &*campaign : nullptr, options.depth,
                    options.threads});
  record.notes = the_case.notes;
  record.notes.insert(record.notes.end(), notes.begin(), notes.end());
  record.peak_rss_bytes = std::max(peak_rss_bytes(), record.timeline.peak_rss_bytes);
  return record;
}

}  // namespace

MeasuredIteration measure_iteration(const Case& the_case, const SimulateOptions& options) {
  return the_case.places.placing([&] { return measured_iteration(the_case, options); });
}

Record simulate(const Case& the_case, const SimulateOptions& options) {
  const auto begin = std::chrono::steady_clock::now();
  Record record = record_of(the_case, measure_iteration(the_case, options), options);
  record.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return record;
}

Record record_of(const Case& the_case, MeasuredIteration measured, const SimulateOptions& options) {
  return the_case.places.placing([&] { return simulated(the_case, std::move(measured), options); });
}

}  // namespace windtunnel
