#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <optional>
#include <utility>

#include "models/base/error.hpp"
#include "policies/evaluation/schedule_evaluator.hpp"
#include "policies/schedules/schedules.hpp"
#include "validate/accuracy/rows/row_selection.hpp"
#include "validate/accuracy/runs/run_job.hpp"
#include "validate/accuracy/runs/runs.hpp"
#include "validate/accuracy/schedules/printed_schedule.hpp"

namespace windtunnel {
namespace {

constexpr const char* kBubblesAlone = "only published bubble rates";
constexpr double kClearlyFaster = 1.03;

// The profile for predicting a run, and its file.
struct Found {
  const StageProfiles* file = nullptr;
  const StageProfile* profile = nullptr;
};

Found nearest_profile(const TrainingRun& run, const Job& job,
                      const std::vector<StageProfiles>& files) {
  const int count = microbatches(job.layout, job.batch);
  Found best;
  for (const StageProfiles& file : files) {
    for (const StageProfile& profile : file.profiles) {
      if (profile.model != run.parameters || profile.ranks != job.layout.pp) continue;
      const auto distance = [&](const StageProfile& at) {
        return std::abs(at.microbatches - count);
      };
      if (best.profile == nullptr || distance(profile) < distance(*best.profile)) {
        best = {&file, &profile};
      }
    }
  }
  if (best.profile == nullptr) {
    throw Error(fmt::format("there is no profile of model '{}' on {} stages", run.parameters,
                            job.layout.pp));
  }
  return best;
}

// Reads the column bubble_<schedule>, if the profile has the run's number of micro-batches.
std::optional<double> published_rate(const Found& found, const Job& job) {
  if (found.profile->microbatches != microbatches(job.layout, job.batch)) return std::nullopt;
  constexpr std::string_view kPrefix = "bubble_";
  const CsvTable& table = found.file->table;
  for (size_t column = 0; column < table.header().size(); ++column) {
    const std::string& name = table.header()[column];
    if (!name.starts_with(kPrefix)) continue;
    const auto schedule = printed_schedule(std::string_view(name).substr(kPrefix.size()));
    if (!schedule || schedule->name != job.schedule.name) continue;
    return table.optional_number(found.profile->table_row, column);
  }
  return std::nullopt;
}

struct Predicted {
  const TrainingRun* run = nullptr;
  double step_s = 0;
  std::optional<double> bubbles_alone_s;  // implied by the published rate
};

// Identifies runs that only differ in the schedule.
std::string profile_group(const TrainingRun& run) {
  return fmt::format("{}|{}|{}|{}|{}|{}", run.source, run.parameters, run.gpus.value_or(0),
                     run.pp.value_or(0), run.micro_batch.value_or(0), run.global_batch.value_or(0));
}

struct PairCount {
  int pairs = 0;
  int right = 0;
  int with_rates = 0;
  int right_by_rates = 0;

  std::string text() const {
    return fmt::format(
        "the faster of two is predicted correctly in {} of {} pairs that differ by more than "
        "{:.0f} % ({}: {} of {})",
        right, pairs, 100 * (kClearlyFaster - 1), kBubblesAlone, right_by_rates, with_rates);
  }
};

ValidationRow profile_row(const TrainingRun& run, const char* metric) {
  ValidationRow row;
  row.id = run.id;
  row.family = fmt::format("{} {}", family_of(run), metric);
  row.metric = metric;
  row.origin = Origin::measured;
  row.note = run.note;
  return row;
}

// `fast` has the shorter measured time.
ValidationRow ratio_row(const Predicted& fast, const Predicted& slow, PairCount& count) {
  ValidationRow row = profile_row(*slow.run, "speed_ratio");
  row.label = fmt::format("{} over {}, {}, batch {}", fast.run->schedule, slow.run->schedule,
                          fast.run->parameters, fast.run->global_batch.value_or(0));
  row.measured = *slow.run->step_s / *fast.run->step_s;
  row.predicted = row.low = row.high = slow.step_s / fast.step_s;
  const bool clear = row.measured > kClearlyFaster;
  count.pairs += clear;
  count.right += clear && row.predicted > 1;
  if (slow.bubbles_alone_s && fast.bubbles_alone_s) {
    const double alone = *slow.bubbles_alone_s / *fast.bubbles_alone_s;
    row.baselines[kBubblesAlone] = alone;
    count.with_rates += clear;
    count.right_by_rates += clear && alone > 1;
  }
  return row;
}

Predicted predict_run(const TrainingRun& run, const std::vector<StageProfiles>& profiles) {
  const Job job = job_of(run).job;
  const Found found = nearest_profile(run, job, profiles);
  Predicted predicted{&run, profiled_step_s(job, *found.profile), std::nullopt};
  const StageProfile& at = *found.profile;
  if (const std::optional<double> rate = published_rate(found, job)) {
    predicted.bubbles_alone_s =
        at.microbatches * (at.forward_s + at.backward_input_s + at.backward_weight_s) / (1 - *rate);
  }
  return predicted;
}

// Adds all pairs of a group, and counts them for the source.
void add_pairs(const std::vector<Predicted>& group, std::map<std::string, PairCount>& counts,
               ValidationReport& report) {
  for (size_t i = 0; i < group.size(); ++i) {
    for (size_t j = i + 1; j < group.size(); ++j) {
      const bool first = *group[i].run->step_s <= *group[j].run->step_s;
      const Predicted& fast = group[first ? i : j];
      const Predicted& slow = group[first ? j : i];
      PairCount& count = counts[profile_row(*slow.run, "speed_ratio").family];
      report.rows.push_back(ratio_row(fast, slow, count));
    }
  }
}

}  // namespace

double profiled_step_s(const Job& job, const StageProfile& profile) {
  const std::vector<ChunkCost> chunks = chunk_costs(job);
  ScheduleRequest request = request_of(job);
  request.message_s = profile.message_s;
  request.costs = stage_costs(chunks);
  const auto set_times = [&](StageCost& cost, double share) {
    cost.forward_s = profile.forward_s * share;
    cost.backward_input_s = profile.backward_input_s * share;
    cost.backward_weight_s = profile.backward_weight_s * share;
    cost.recompute_s = 0;
  };
  const double share = 1.0 / request.chunks;
  for (StageCost& cost : request.costs) set_times(cost, share);
  const Schedule schedule = generate_schedule(job.schedule.name, request);
  const double middle_flops = chunks[chunks.size() / 2].hardware_flops;
  std::vector<StageCost> costs = request.costs;
  for (std::size_t stage = 0; stage < chunks.size(); ++stage) {
    set_times(costs[stage], share * chunks[stage].hardware_flops / middle_flops);
  }
  const bool blocking = job.software.sends == Sends::blocking;
  const ScheduleEvaluation evaluation =
      evaluate_schedule(schedule, costs,
                        {.messages = {{{profile.message_s}, {profile.message_s}},
                                      blocking ? Sends::blocking : Sends::asynchronous}});
  double optimizer_s = 0;
  for (const std::vector<int>& stages : held_stages(schedule)) {
    double parameters = 0;
    for (const int stage : stages) parameters += chunks[stage].parameters;
    optimizer_s = std::max(optimizer_s, total_seconds(optimizer_cost(parameters, job)));
  }
  return optimizer_s +
         (job.software.post_validation ? evaluation.longest_stage_s : evaluation.makespan_s);
}

ValidationReport validate_profiled_runs(const std::vector<TrainingRuns>& files,
                                        const std::vector<StageProfiles>& profiles,
                                        const ProfiledRunsOptions& options) {
  ValidationReport report;
  std::map<std::string, std::vector<Predicted>> groups;
  std::vector<std::string> order;
  for (const auto& selected : select_rows(files, {.where = options.where}, report.skipped)) {
    const TrainingRun& run = *selected.run;
    try {
      if (!run.step_s) throw Error("no time is stated");
      const Predicted predicted = predict_run(run, profiles);
      ValidationRow row = profile_row(run, "step_s");
      row.measured = *run.step_s;
      row.predicted = row.low = row.high = predicted.step_s;
      if (predicted.bubbles_alone_s) row.baselines[kBubblesAlone] = *predicted.bubbles_alone_s;
      row.label = fmt::format("{}, {}, batch {}", run.schedule, run.parameters,
                              run.global_batch.value_or(0));
      report.rows.push_back(std::move(row));
      const std::string group = profile_group(run);
      if (!groups.contains(group)) order.push_back(group);
      groups[group].push_back(predicted);
    } catch (const Error& error) {
      report.skipped.push_back({run.id, error.what()});
    }
  }
  std::map<std::string, PairCount> counts;
  for (const std::string& group : order) add_pairs(groups[group], counts, report);
  std::map<std::string, std::string> notes;
  for (const auto& [family, count] : counts) notes[family] = count.text();
  summarise_families(report, notes);
  return report;
}

}  // namespace windtunnel
