#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <set>
#include <string>

#include "models/base/error.hpp"
#include "models/base/units.hpp"
#include "policies/iteration.hpp"
#include "scenarios/language/library/library.hpp"
#include "sim/engine/timeline_replay.hpp"
#include "sim/study/iterations/simulations.hpp"
#include "sim/study/notes/note_makers.hpp"

namespace windtunnel {
namespace {

Note sampled_note(const Timeline& timeline) {
  return {"fold",
          "the routes chosen by cluster.fabric.routing make too many ranks differ, so only a "
          "sample of them is simulated and the step time is an estimate (docs/physics/network.md "
          "states its error); set fold: exact to simulate all that differ",
          fmt::format("{} of {} ranks", timeline.ranks_simulated, timeline.sampled_of)};
}

Note replayed_note(const Timeline& timeline) {
  return {"jitter",
          "cluster.jitter or slow_nodes make too many ranks differ to simulate each: the step is "
          "simulated without them, then replayed with the pace of every rank. This adds an error "
          "of up to 1 % of the step if replicas share links (docs/physics/cost.md); set fold: "
          "exact to simulate all ranks",
          fmt::format("{} ranks simulated, {} different ones replayed", timeline.ranks_simulated,
                      timeline.ranks.size())};
}

}  // namespace

std::vector<Note> timeline_notes(const Timeline& timeline) {
  std::vector<Note> notes;
  if (timeline.sampled_of > 0) notes.push_back(sampled_note(timeline));
  if (is_replayed(timeline)) notes.push_back(replayed_note(timeline));
  return notes;
}

namespace {

constexpr double kNoteworthyShare = 0.1;

}  // namespace

std::vector<Note> host_bound_notes(const Job& job, const IterationReport& iteration) {
  if (job.software.cuda_graphs) return {};
  // The scenario states waits between steps; in these the host launches nothing.
  const double host_s = iteration.critical_path_s[static_cast<int>(Category::host)];
  const double share = std::max(0.0, host_s - job.software.host_step_s) / iteration.time_s;
  const double slower_s = iteration.time_s * std::exp(iteration.host_spread.longer);
  const bool waits = share >= kNoteworthyShare;
  if (!waits && slower_s < (1 + kNoteworthyShare) * iteration.time_s) return {};
  const double faster_s = iteration.time_s * std::exp(-iteration.host_spread.shorter);
  return {
      {"software.cuda_graphs",
       std::string(waits ? "GPUs wait for the host that launches their kernels"
                         : "GPUs would wait for the host that launches their kernels, if it "
                           "were as slow as the range allows") +
           ", because each kernel does too little work",
       fmt::format(
           "{:.0f} % of the step; {} to {} per step over the ranges of host.launch and host.kernel",
           100 * share, format_seconds(faster_s), format_seconds(slower_s))}};
}

namespace {

constexpr double kMessagesMatter = 1.03;  // a smaller slowdown is not reported

// Returns nothing if ranks would wait for each other forever.
std::optional<double> one_at_a_time_s(Job job) {
  job.software.sends = Sends::synchronous;
  try {
    return run_draws(job, prepare_iteration(job)).step_s.mean;
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace

std::vector<Note> message_order_notes(const Job& job, const PreparedIteration& prepared,
                                      const IterationReport& iteration) {
  const double waiting_s = iteration.critical_path_s[static_cast<int>(Category::pp)];
  const bool asks = job.layout.pp > 1 && job.software.sends == Sends::asynchronous &&
                    waiting_s > kNoteworthyShare * iteration.time_s;
  // In closed form a rank's messages leave one after the other and meet no other traffic.
  if (!asks || iteration.time_s < kMessagesMatter * iteration_step_s(job, prepared)) return {};
  const std::optional<double> other_s = one_at_a_time_s(job);
  if (!other_s || iteration.time_s < kMessagesMatter * *other_s) return {};
  return {{"software.sends",
           "messages of both directions share the ports of stages, so awaited messages arrive "
           "later, and a faster GPU may even make the step longer; this does not happen if "
           "messages are sent one at a time (synchronous), or in an order of passes that "
           "`windtunnel schedule search --scenario FILE` finds (docs/physics/schedules.md)",
           fmt::format("{} instead of {} per step with synchronous, as simulated",
                       format_seconds(iteration.time_s), format_seconds(*other_s))}};
}

namespace {

constexpr double kUneven = 1.2;  // times the mean of the others: they idle for a sixth of the step

double microbatch_s(const ChunkCost& chunk) {
  return total_seconds(chunk.forward) + total_seconds(chunk.backward_input) +
         total_seconds(chunk.backward_weight) + total_seconds(chunk.recompute);
}

// Returns for each pipeline rank the time that a micro-batch takes through all its stages.
std::vector<double> rank_seconds(const PreparedIteration& prepared) {
  const HeldStages held = held_stages(prepared.schedule);
  std::vector<double> seconds;
  for (const std::vector<int>& stages : held) {
    double& sum = seconds.emplace_back(0);
    for (const int stage : stages) sum += microbatch_s(prepared.chunks[static_cast<size_t>(stage)]);
  }
  return seconds;
}

}  // namespace

std::vector<Note> uneven_stage_notes(const Job& job, const PreparedIteration& prepared) {
  // Unlike nodes have unlike shares on purpose.
  if (job.layout.pp < 2 || !prepared.kinds.empty() || prepared.balanced) return {};
  const std::vector<double> seconds = rank_seconds(prepared);
  const auto busiest = std::ranges::max_element(seconds);
  const double others = (std::accumulate(seconds.begin(), seconds.end(), 0.0) - *busiest) /
                        static_cast<double>(seconds.size() - 1);
  if (*busiest < kUneven * others) return {};
  const auto rank = busiest - seconds.begin();
  const bool last = rank + 1 == std::ssize(seconds);
  return {{"layout.stages",
           fmt::format("pipeline rank {} computes {:.1f} times as long as the others{}, which idle "
                       "meanwhile; the bubble counts only the time beyond the work of that rank",
                       rank, *busiest / others, last ? ", with the vocabulary" : ""),
           fmt::format("{} per micro-batch, the others {} on average", format_seconds(*busiest),
                       format_seconds(others))}};
}

std::vector<Note> unlikely_machine_notes(const Cluster& cluster) {
  constexpr double kTimes = 3;       // bytes stated for bits are eight times as many
  constexpr double kGbit = 1e9 / 8;  // bytes/s of 1 Gb/s
  const double nic_Bps = cluster.node.nic_Bps.value;
  const auto named = std::ranges::find(library_nodes(), cluster.node.name, &NodeSpec::name);
  if (named == library_nodes().end() || nic_Bps <= kTimes * named->nic_Bps.value) return {};
  return {{"cluster.node.nic",
           fmt::format("{:.4g} Gb/s is much for a NIC of {}; a NIC of {:.4g} Gb/s carries {:.4g} "
                       "GB/s",
                       nic_Bps / kGbit, named->name, nic_Bps / 1e9, nic_Bps / 1e9 / 8),
           fmt::format("{:.4g} GB/s here, {:.4g} GB/s in the library", nic_Bps / 1e9,
                       named->nic_Bps.value / 1e9)}};
}

std::vector<Note> drawn_nics_notes(const Cluster& cluster) {
  const NicVariation& variation = cluster.fabric.variation;
  if (variation.sigma == 0 && variation.slow_share == 0) return {};
  return {{"cluster.fabric.variation",
           "which NICs are slow was drawn once, and another draw gives another step time; vary "
           "cluster.fabric.variation.seed to compare several",
           fmt::format("seed {}", variation.seed)}};
}

std::vector<Note> unfamiliar_notes(const Familiarity& familiarity) {
  if (familiarity.unfamiliar.empty()) return {};
  return {{"calibration",
           fmt::format("the job is outside the range of the measured runs ({})",
                       fmt::join(familiarity.unfamiliar, ", ")),
           fmt::format("the most similar are {} runs of {} families, {}; all runs, weighted by "
                       "similarity, were predicted within {:.0f} % (one standard deviation)",
                       familiarity.rows, familiarity.families, familiarity.alike,
                       100 * familiarity.deviation)}};
}

std::vector<Note> late_exchange_notes(const Job& job, const IterationReport& report) {
  std::vector<Note> notes;
  double exchanges_s = 0;  // in each step, over all levels
  for (std::size_t i = 0; i < report.sync.size(); ++i) {
    const SyncLevel& level = job.sync[i];
    const double exchange_s = report.sync[i].seconds.exchange_s;
    const double between_s = level.cycle_steps() * report.inner_step_s;
    // No step runs beside the exposed part of an exchange, so this part is subtracted.
    exchanges_s += exchange_s / level.cycle_steps() - mean_exposed_s(level, report.sync[i].seconds);
    if (exchange_s <= between_s) continue;
    const double steps = std::ceil(exchange_s / report.inner_step_s) * level.fragments;
    notes.push_back(
        {"sync",
         fmt::format(
             "an exchange over {0} takes {1} on its links but is due every {2}, so steps wait for "
             "it; set every: {3:.0f} steps or more, or take a compressor or faster links",
             level.over, format_seconds(exchange_s), format_seconds(between_s), steps),
         fmt::format("{} a step", format_seconds(mean_exposed_s(level, report.sync[i].seconds)))});
  }
  // fit_on_links() has left at most as many exchanges as fit into a step.
  constexpr double kAll = 1 - 1e-6;
  if (notes.empty() && report.sync.size() > 1 && exchanges_s > kAll * report.inner_step_s) {
    notes.push_back(
        {"sync",
         "the exchanges of all levels run one after the other, and links are too slow for them, so "
         "steps wait for the links; longer periods, compressors or faster links avoid this",
         fmt::format("{} of exchanges during each step of {}", format_seconds(exchanges_s),
                     format_seconds(report.inner_step_s))});
  }
  return notes;
}

namespace {

std::string count_of_steps(double steps) {
  return fmt::format("{:.6g} step{}", steps, steps == 1 ? "" : "s");
}

std::string periods_of(const Job& job) {
  std::string text;
  for (const SyncLevel& level : job.sync) {
    if (level.pattern == SyncPattern::none) continue;
    text += fmt::format("{}{} every {}", text.empty() ? "" : ", ", level.over,
                        count_of_steps(level.every_steps));
  }
  return text.empty() ? "never" : text;
}

// Returns the compressors of gradients and of exchanges between islands.
std::set<std::string> compressors_of(const Job& job) {
  std::set<std::string> names = {job.communication.compressors.dp.name};
  for (const SyncLevel& level : job.sync) names.insert(level.compressor.name);
  names.erase("none");
  return names;
}

void add_approximations(const Job& job, std::vector<Note>& notes) {
  if (!job.sync.empty()) {
    notes.push_back(
        {"sync",
         "islands that exchange less often than in every step may learn less per token; how many "
         "more steps this needs is not predicted: state it with job.quality or job.steps",
         periods_of(job)});
  }
  const std::set<std::string> names = compressors_of(job);
  if (!names.empty()) {
    notes.push_back({"compressor",
                     "a model may learn less per step with compressed exchanges; how many more "
                     "steps this needs is not predicted: state it with job.quality or job.steps",
                     fmt::format("{}", fmt::join(names, ", "))});
  }
}

// Says what a step's gradient lacks, and when it is complete.
void add_redundancy(const StragglerReport& report, std::vector<Note>& notes) {
  if (report.gradient_share < 1) {
    notes.push_back(
        {"redundancy",
         "the gradient does not include replicas for which a step does not wait, but their samples "
         "count as trained; how many more steps this needs is not predicted",
         fmt::format("{:.1f} % of it", 100 * (1 - report.gradient_share))});
  }
  if (report.delay_steps > 0) {
    notes.push_back(
        {"redundancy",
         "the gradient of a step is complete only some steps later: either several models (one "
         "more than this number of steps) are trained in turn, or weights are that many steps old",
         count_of_steps(report.delay_steps)});
  }
}

}  // namespace

std::vector<Note> learning_notes(const Job& job, const IterationReport& report) {
  std::vector<Note> notes;
  if (job.steps == 0) add_approximations(job, notes);
  if (job.redundancy) add_redundancy(*report.stragglers, notes);
  return notes;
}

}  // namespace windtunnel
