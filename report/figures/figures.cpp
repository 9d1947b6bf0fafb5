#include "report/figures/figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>
#include <tuple>
#include <utility>

#include "models/base/error.hpp"
#include "models/cost/chunk/step_work.hpp"
#include "models/cost/offload/offload.hpp"
#include "models/plan/task_cost.hpp"
#include "models/results/campaign_report.hpp"
#include "report/figures/figure_parts.hpp"
#include "report/figures/shown_studies.hpp"

namespace windtunnel {
namespace {

constexpr const char* kScenario = "scenario";
constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

using enum Unit;
using enum Better;

// A category's time counts only on the critical path; work parallel to the path does not lengthen
// the step.
constexpr const char* kCategoryHelp[kCategories] = {
    ("the model's forward passes on the critical path, which is the chain of tasks without gaps "
     "that sets the step time"),
    "backward passes, which compute gradients, on the critical path",
    "forward passes done again so that their activations need not be kept, on the critical path",
    "the update of the weights, on the critical path",
    "tensor parallelism: collectives within layers that are split among GPUs, on the critical path",
    "context parallelism: exchanges among GPUs that share a sequence, on the critical path",
    "pipeline parallelism: messages between stages and waiting for them, on the critical path",
    "expert parallelism: tokens sent to the GPUs of their experts and back, on the critical path",
    "data parallelism: gradients reduced and weights gathered among replicas, on the critical path",
    "snapshots of the training state, on the critical path",
    "time in which nothing runs on the critical path: a later start, a straggler",
    "waits of the GPU until its host has launched kernels, on the critical path",
    "encoding and decoding of compressed gradients, on the critical path",
    "exchanges of islands of replicas between their steps, on the critical path",
    "copies between GPU and host or drives, and computation on the host, on the critical path",
    "other work in the idle time of ranks, on the critical path",
    "reading and preparing of samples, on the critical path"};

constexpr const char* kLossHelp[kLosses] = {
    "longer iterations while snapshots are taken, and snapshots before planned stops",
    "iterations that are repeated because their result was lost",
    "from a failure until it is noticed",
    "from detection, or from the end of a wait for a node, until the state is restored",
    "iterations with fewer replicas: the part of their time that makes no progress",
    "waiting for a node when no spare is left",
    "waits of islands of replicas for other islands at an exchange",
    "training pauses for evaluations (campaign.evaluation)",
    "training pauses to write logs (campaign.logging)"};

using TierFigure = PartFigure<TierReport>;
using Tier = TierReport;
constexpr TierFigure kTierFigures[] = {
    {"every_s", "every", seconds, neither, "mean time between two snapshots of the tier",
     &Tier::every_s, &Tier::every_s},
    {"saving_s", "saving time", seconds, lower,
     "time from the start of the iteration that takes a snapshot until it can be restored",
     &Tier::saving_s, &Tier::saving_s},
    {"stall_s", "stall", seconds, lower, "extra time of an iteration that takes this snapshot",
     &Tier::stall_s, &Tier::stall_s},
    {"overhead", "overhead", small_share, lower,
     "share of the iterations' time that is lost by stalls of the tier's snapshots",
     &Tier::overhead, &Tier::every_s},
    {"restore_s", "loading time", seconds, lower,
     "time until all ranks have read the snapshot back, if no part is lost", &Tier::restore_s,
     &Tier::restore_s},
    {"rebuild_s", "rebuild", seconds, lower,
     "time to read the snapshot back when as many members are lost as its code covers",
     &Tier::rebuild_s, &Tier::rebuild_s},
    {"moved_bytes", "moved/GPU", bytes, lower, "bytes copied to the host per snapshot",
     &Tier::moved_bytes, &Tier::moved_bytes, kClosedForm},
    {"wire_bytes", "sent/GPU", bytes, lower, "bytes sent over the compute NICs per snapshot",
     &Tier::wire_bytes, &Tier::wire_bytes, kClosedForm},
    {"host_bytes", "host/node", bytes, lower,
     "bytes of host memory on a node that the copies of the tier take", &Tier::host_bytes,
     &Tier::host_bytes, kClosedForm},
    {"survival_7d", "survival 7 d", probability, higher,
     "probability that this copy survives all failures within 7 days, closed form",
     &Tier::survival_7d, nullptr, kClosedForm}};
// These are the figures shown of the tier that represents a stack.
constexpr std::string_view kOfCopy[] = {"every_s", "saving_s", "restore_s", "survival_7d"};

using IntervalFigure = PartFigure<IntervalReport>;
using Interval = IntervalReport;
constexpr IntervalFigure kIntervalFigures[] = {
    {"mtbf_s", "between failures", seconds, higher,
     "mean time between failures that are restored from this tier", &Interval::mtbf_s},
    {"cost_s", "a save", seconds, lower, "time for which a snapshot stalls training",
     &Interval::cost_s},
    {"restart_s", "a restart", seconds, lower, "time of detection, restart and restore",
     &Interval::restart_s},
    {"storage_s", "storage allows", seconds, neither,
     "shortest interval at which snapshots stay within cluster.storage.share of the storage's "
     "bandwidth",
     &Interval::storage_s, &Interval::storage_s, kClosedForm},
    {"configured_s", "configured", seconds, neither, "interval that the scenario states",
     &Interval::configured_s, nullptr, kScenario},
    {"young_s", "Young", seconds, neither, "interval by Young's formula", &Interval::young_s,
     nullptr, kClosedForm},
    {"daly_s", "Daly", seconds, neither, "interval by Daly's formula", &Interval::daly_s, nullptr,
     kClosedForm},
    {"exact_s", "exact exponential", seconds, neither,
     "interval that is best under exponential failures", &Interval::exact_s, nullptr, kClosedForm},
    {"best_s", "best simulated", seconds, neither, "best of the simulated intervals",
     &Interval::best_s},
    {"shortest_s", "shortest as good", seconds, neither,
     "the shortest interval that is as good: at most 0.1 points of goodput below the best",
     &Interval::shortest_s, &Interval::shortest_s},
    {"longest_s", "longest as good", seconds, neither,
     "the longest interval that is as good: at most 0.1 points of goodput below the best",
     &Interval::longest_s, &Interval::longest_s},
    {"formula_goodput", "goodput by formula", share, higher,
     "goodput by the exact formula at the configured interval", &Interval::formula_goodput, nullptr,
     kClosedForm},
    {"rsc_ettr", "ETTR by RSC's formula", share, higher,
     "ETTR by RSC's formula at the configured interval", &Interval::rsc_ettr, nullptr, kClosedForm},
    {"best_goodput", "best goodput", share, higher, "goodput of the best simulated interval",
     &Interval::best_goodput},
    {"young_regret", "regret of Young", points, lower,
     "goodput lost by following Young's formula, under the failures by which the best is chosen",
     &Interval::young_regret},
    {"exact_regret", "regret of the exact formula", points, lower,
     "goodput lost at the interval of the exact exponential formula", &Interval::exact_regret}};

constexpr FigureGroup kGroups[] = {
    {"iteration.critical_path_s", "Where the step time goes (critical path)"},
    {"campaign.lost", "Where the wall time goes"},
    {"campaign.interval", "Goodput over the interval of snapshots"},
    {"origin", "What the predicted time rests on"}};

using Of = std::function<FigureValue(const Record&)>;

template <class Report>
FigureValue campaign_value(const Record& record, Report report) {
  return record.campaign ? FigureValue(report(*record.campaign)) : FigureValue();
}

// Whether the loss is a kind of pause that the campaign does not have.
bool is_unasked_pause(const Record& record, int loss) {
  const bool pause =
      loss == static_cast<int>(Loss::evaluate) || loss == static_cast<int>(Loss::log);
  return pause && record.campaign && record.campaign->lost_s[loss].high == 0;
}

// A member of the iteration's report, of its bubble, or of the campaign's report.
template <auto member>
FigureValue of(const Record& record) {
  if constexpr (requires { record.iteration.*member; }) {
    return record.iteration.*member;
  } else if constexpr (requires { record.iteration.bubble.*member; }) {
    return record.iteration.bubble.*member;
  } else {
    return campaign_value(record, [](const CampaignReport& report) { return report.*member; });
  }
}

Figure count_figure(const char* name, const char* title, const char* help, CampaignCount what) {
  return {.key = fmt::format("campaign.{}", name),
          .title = title,
          .unit = events,
          .better = lower,
          .help = help,
          .of =
              [what](const Record& record) {
                return campaign_value(record, [what](const CampaignReport& report) {
                  return report.counts[static_cast<int>(what)];
                });
              },
          .warns = true};
}

template <double Bubble::*member>
FigureValue share_of_step(const Record& record) {
  const IterationReport& report = record.iteration;
  return report.time_s > 0 ? report.bubble.*member / report.time_s : 0;
}

// The value before a compressor starts; nothing if no compressor has a warm-up.
Of of_warmup(double (*value)(const IterationReport& report)) {
  return [value](const Record& record) {
    const bool any = record.iteration.warmup.share > 0;
    return any ? FigureValue(value(record.iteration)) : FigureValue();
  };
}

// Nothing if tokens or price are not given (0), if some trial makes no progress, or if another
// study leads: for example, engines cost money too while a learner waits for them.
template <Estimate CampaignReport::*member>
FigureValue if_known(const Record& record) {
  return campaign_value(record, [&](const CampaignReport& report) {
    const double mean = (report.*member).mean;
    const bool known = leading_study(record) == nullptr && mean > 0 && std::isfinite(mean);
    return known ? report.*member : Estimate{.mean = kUnknown};
  });
}

// The value without failures, for the steps to the target quality; without a campaign, which counts
// tokens itself, for all tokens. Nothing if the scenario states neither, or if a leading study
// gives the duration.
Of of_steps(double (*value)(const Job& job, double taken_s)) {
  return [value](const Record& record) -> FigureValue {
    const Job& job = record.job;
    if (leading_study(record) != nullptr) return {};
    const double step_s = run_step_s(record.iteration.warmup, record.iteration.time_s);
    if (job.steps > 0) return value(job, job.steps * step_s);
    if (record.campaign || job.tokens <= 0) return {};
    return value(job, job.tokens / tokens_per_step(job) * step_s);
  };
}

template <double TierReport::*member>
FigureValue of_all_tiers(const Record& record) {
  return campaign_value(record, [](const CampaignReport& report) {
    double sum = 0;
    for (const TierReport& tier : report.tiers) sum += tier.*member;
    return sum;
  });
}

FigureValue of_copy(const Record& record, const TierFigure& figure) {
  const TierReport* tier = best_copy(record);
  const bool any = tier && (figure.needed == nullptr || tier->*figure.needed != 0);
  return any ? FigureValue(tier->*figure.member) : FigureValue();
}

class Table {
 public:
  void add(std::initializer_list<Figure> figures) {
    rows.insert(rows.end(), figures.begin(), figures.end());
  }

  // Adds the time of a category on the critical path.
  void add_category(const char* part, Category category, const char* before) {
    const char* name = to_string(category);
    add({{fmt::format("iteration.{}.{}", part, name), fmt::format("{}{}", before, name), seconds,
          lower, kCategoryHelp[static_cast<size_t>(category)],
          [category](const Record& record) -> FigureValue {
            if (category == Category::sync && record.job.sync.empty()) return {};
            if (category == Category::offload && !offload_of(record.job).any()) return {};
            if (category == Category::filling && !record.job.filling) return {};
            if (category == Category::input && !record.job.input) return {};
            return record.iteration.critical_path_s[static_cast<size_t>(category)];
          }}});
  }

  void add_iteration() {
    add({{"iteration.time_s", "step time", seconds, lower,
          "time of one training iteration: forward, backward and update of one batch",
          of<&IterationReport::time_s>, kSimulated, Follows::time},
         {"iteration.tflops_per_gpu", "TFLOP/s per GPU", tflops, higher,
          "floating-point operations that the model needs, per second and GPU; recomputation does "
          "not count",
          of<&IterationReport::tflops_per_gpu>, kSimulated, Follows::rate},
         {"iteration.mfu", "MFU", share, higher,
          "model FLOPs utilisation: operations that the model needs, as a share of what the GPU "
          "could do at its peak; causal attention is counted in full, as Megatron-LM does",
          of<&IterationReport::mfu>, kSimulated, Follows::rate},
         {"iteration.mfu_causal", "MFU (causal attention in half)", share, higher,
          "as MFU, but only the half of causal attention counts that its mask leaves and that "
          "fused kernels compute; the two differ most for long sequences",
          of<&IterationReport::mfu_causal>, kSimulated, Follows::rate},
         {"iteration.hfu", "HFU", share, higher,
          "hardware FLOPs utilisation: as MFU, but recomputation counts, too",
          of<&IterationReport::hfu>, kSimulated, Follows::rate},
         {"iteration.hfu_causal", "HFU (causal attention in half)", share, higher,
          "as HFU, with causal attention counted in half: the operations that kernels really "
          "execute, so it cannot exceed 100 %",
          of<&IterationReport::hfu_causal>, kSimulated, Follows::rate},
         {"iteration.tokens_per_s", "tokens/s", count, higher,
          "tokens that the whole job trains per second", of<&IterationReport::tokens_per_s>,
          kSimulated, Follows::rate},
         {"iteration.bubble.makespan", "bubble time", seconds, lower,
          "step time less the busiest rank's compute", of<&Bubble::makespan_s>},
         {"iteration.bubble.makespan_share", "bubble", share, lower,
          "bubble time as a share of the step (Megatron, GPipe)",
          share_of_step<&Bubble::makespan_s>},
         {"iteration.bubble.longest_stage", "stage bubble time", seconds, lower,
          "longest span of a rank, from its first start to its last end, less the busiest rank's "
          "compute",
          of<&Bubble::longest_stage_s>},
         {"iteration.bubble.longest_stage_share", "stage bubble", share, lower,
          "stage bubble time as a share of the step (Zero Bubble)",
          share_of_step<&Bubble::longest_stage_s>},
         {"iteration.bubble.idle", "idle", share, lower,
          "mean share of the step in which none of a rank's own kernels run (a profiler's view)",
          of<&Bubble::idle>}});
    for (const Category category :
         {Category::tp, Category::cp, Category::pp, Category::ep, Category::dp, Category::snapshot,
          Category::sync, Category::offload}) {
      add_category("exposed_s", category, "exposed ");
    }
    for (Figure& each : memory_figures()) rows.push_back(std::move(each));
    for (int i = 0; i < kCategories; ++i) {
      add_category("critical_path_s", static_cast<Category>(i), "");
    }
    add({{"iteration.samples_per_s", "samples/s", count, higher,
          "samples that the whole job trains per second",
          [](const Record& record) {
            return record.job.network ? FigureValue(record.iteration.tokens_per_s) : FigureValue();
          },
          kSimulated, Follows::rate},
         {"iteration.drawn_s", "mean over draws", seconds, lower,
          "mean step time over random draws of the machine's jitter (cluster.jitter)",
          [](const Record& record) {
            const std::optional<Estimate>& drawn = record.iteration.drawn_s;
            return drawn ? FigureValue(*drawn) : FigureValue();
          }}});
    for (Figure& each : straggler_figures()) rows.push_back(std::move(each));
    add({{"iteration.warmup_step_s", "warm-up step", seconds, lower,
          "time of a step with dense gradients, as in the warm-up of a compressor",
          of_warmup([](const IterationReport& report) { return report.warmup.step_s; })},
         {"iteration.warmup_share", "warm-up", share, lower,
          "share of all steps that are in the warm-up",
          of_warmup([](const IterationReport& report) { return report.warmup.share; })},
         {"iteration.run_step_s", "mean step", seconds, lower,
          "mean step time over a whole run, including its warm-up",
          of_warmup([](const IterationReport& report) {
            return run_step_s(report.warmup, report.time_s);
          })}});
    for (Figure& each : sync_figures()) rows.push_back(std::move(each));
    for (Figure& each : idle_figures()) rows.push_back(std::move(each));
  }

  void add_campaign() {
    add({{"campaign.goodput", "goodput", share, higher, "useful share of the campaign's wall time",
          of<&CampaignReport::goodput>, kSimulated, Follows::goodput},
         {"campaign.ettr", "ETTR", share, higher,
          "effective training time ratio: as goodput, without waiting for spares",
          of<&CampaignReport::ettr>},
         {"campaign.wall_s", "wall time", seconds, neither, "wall time of the campaign",
          of<&CampaignReport::wall_s>},
         {"campaign.useful_s", "useful", seconds, higher,
          "time of the surviving iterations alone, without interruptions",
          of<&CampaignReport::useful_s>},
         {"campaign.job.days", "time to train", days, lower, "time for all tokens at this goodput",
          if_known<&CampaignReport::job_days>, kSimulated, Follows::training},
         {"campaign.job.cost_usd", "cost", usd, lower, "cost of all tokens at this goodput",
          if_known<&CampaignReport::job_cost_usd>, kSimulated, Follows::training},
         {"campaign.failures", "failures", events, lower, "number of failures by class",
          of<&CampaignReport::failures>}});
    for (int i = 0; i < kLosses; ++i) {
      const char* name = to_string(static_cast<Loss>(i));
      add({{fmt::format("campaign.lost_s.{}", name), name, seconds, lower, kLossHelp[i],
            [i](const Record& record) {
              if (is_unasked_pause(record, i)) return FigureValue();
              return campaign_value(record, [i](const auto& report) { return report.lost_s[i]; });
            }}});
    }
    add({{"campaign.survival", "restored from", share, neither,
          "share of unexpected failures, by the tier from which training was restored",
          of<&CampaignReport::survival>},
         {"campaign.skipped_snapshots", "skipped", events, lower,
          "snapshots not taken because the one before was unfinished",
          of<&CampaignReport::skipped_snapshots>},
         {"campaign.sizes", "size of the job", share, neither,
          "share of the time in iterations, by how much of the batch these compute",
          of<&CampaignReport::sizes>},
         {.key = "campaign.nodes_down",
          .title = "in repair",
          .unit = events,
          .better = lower,
          .help = "nodes on average",
          .of = of<&CampaignReport::nodes_down>,
          .warns = true},
         count_figure("failed_restarts", "failed again", "restarts",
                      CampaignCount::failed_restarts),
         count_figure("evicted_nodes", "evicted", "nodes that failed too often",
                      CampaignCount::evicted_nodes),
         count_figure("islands_lost", "islands lost", "islands lost to failures in 90 days",
                      CampaignCount::islands_lost)});
    for (int i = 0; i < kLosses; ++i) {
      const char* name = to_string(static_cast<Loss>(i));
      add({{fmt::format("campaign.lost.{}", name), name, share, lower, kLossHelp[i],
            [i](const Record& record) {
              if (is_unasked_pause(record, i)) return FigureValue();
              return campaign_value(record, [i](const auto& report) { return report.lost[i]; });
            }}});
    }
  }

  void add_protection() {
    add({{"campaign.copy.name", "copy", word, neither,
          "the tier that the next columns describe: the one that survives best, apart from storage",
          [](const Record& record) {
            const TierReport* tier = best_copy(record);
            return tier ? FigureValue(tier->name) : FigureValue();
          }}});
    for (const TierFigure& part : kTierFigures) {
      if (std::ranges::find(kOfCopy, part.key) == std::end(kOfCopy)) continue;
      add({{fmt::format("campaign.copy.{}", part.key), part.title, part.unit, part.better,
            part.help, [part](const Record& record) { return of_copy(record, part); },
            part.origin}});
    }
    add({{"campaign.snapshots.overhead", "snapshot overhead", small_share, lower,
          "share of the iterations' time that the snapshots of all tiers stall training for",
          of_all_tiers<&TierReport::overhead>},
         {"campaign.snapshots.host_bytes", "host memory", bytes, lower,
          "host memory per node that the snapshots of all tiers take",
          of_all_tiers<&TierReport::host_bytes>, kClosedForm}});
  }

  void add_rest() {
    for (int i = 0; i < kOrigins; ++i) {
      const char* name = to_string(static_cast<Origin>(i));
      add({{fmt::format("origin.{}", name), name, share, neither,
            "share of the predicted wall time that rests on numbers of this origin",
            [i](const Record& record) { return record.origin[i]; }}});
    }
    add({{"job.steps", "steps to quality", whole, lower,
          "steps to the target quality that the scenario states",
          of_steps([](const Job& job, double) { return job.steps > 0 ? job.steps : kUnknown; }),
          kScenario},
         {"job.days", "undisturbed time", days, lower,
          "steps to the target quality, or all tokens, if nothing fails",
          of_steps([](const Job&, double taken_s) { return taken_s / 86400; }), kSimulated,
          Follows::time},
         {"job.cost_usd", "undisturbed cost", usd, lower,
          "steps to the target quality, or all tokens, if nothing fails",
          of_steps([](const Job& job, double taken_s) {
            const double paid = taken_s * price_usd_per_s(job);
            return paid > 0 ? paid : kUnknown;
          }),
          kSimulated, Follows::time}});
  }

  std::vector<Figure> rows;
};

}  // namespace

double number_of(const FigureValue& value) {
  if (const auto* number = std::get_if<double>(&value)) return *number;
  if (const auto* yes = std::get_if<bool>(&value)) return *yes ? 1 : 0;
  if (const auto* estimate = std::get_if<Estimate>(&value)) return estimate->mean;
  return kUnknown;
}

const char* to_string(Better better) {
  return better == Better::lower ? "lower" : better == Better::higher ? "higher" : "";
}

double worth_of(Better better, double value) {
  return better == Better::lower ? -value : value;
}

std::string Figure::text(const Record& record) const {
  const FigureValue value = of(record);
  if (const auto* word = std::get_if<std::string>(&value)) return *word;
  if (const auto* yes = std::get_if<bool>(&value)) return *yes ? "yes" : "no";
  if (const auto* parts = std::get_if<std::map<std::string, Estimate>>(&value)) {
    std::string text;
    for (const auto& [name, part] : *parts) {
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, value_text(unit, part.mean));
    }
    return text;
  }
  return value_text(unit, number_of(value));
}

const std::vector<Figure>& figures() {
  static const std::vector<Figure> all = [] {
    Table table;
    table.add_iteration();
    table.add_campaign();
    table.add_protection();
    table.add_rest();
    for (const StudyRole role : {StudyRole::leading, StudyRole::beside}) {
      for (const ShownStudy& study : shown_studies(role)) {
        std::ranges::move(study.figures(), std::back_inserter(table.rows));
      }
    }
    return std::move(table.rows);
  }();
  return all;
}

const Figure& figure(std::string_view key) {
  const auto found = std::ranges::find(figures(), key, &Figure::key);
  CHECK(found != figures().end(), "no figure is called {}", key);
  return *found;
}

std::vector<const Figure*> figures_below(std::string_view prefix) {
  std::vector<const Figure*> below;
  for (const Figure& each : figures()) {
    const size_t dot = each.key.rfind('.');
    if (std::string_view(each.key).substr(0, dot) == prefix) below.push_back(&each);
  }
  return below;
}

std::span<const FigureGroup> figure_groups() {
  return kGroups;
}

std::string group_title(std::string_view key) {
  const auto found = std::ranges::find(kGroups, key, &FigureGroup::key);
  CHECK(found != std::end(kGroups), "no group of figures is called {}", key);
  return std::string(found->title);
}

std::span<const TierFigure> tier_figures() {
  return kTierFigures;
}

std::span<const IntervalFigure> interval_figures() {
  return kIntervalFigures;
}

const IntervalFigure& interval_figure(std::string_view key) {
  const auto found = std::ranges::find(kIntervalFigures, key, &IntervalFigure::key);
  CHECK(found != std::end(kIntervalFigures), "no figure of an interval is called {}", key);
  return *found;
}

const TierReport* best_copy(const Record& record) {
  if (!record.campaign || record.campaign->tiers.empty()) return nullptr;
  return &*std::ranges::max_element(record.campaign->tiers, {}, [](const TierReport& tier) {
    return std::pair(tier.name != "storage", tier.survival_7d);
  });
}

std::vector<std::size_t> best_first(const std::vector<Standing>& points) {
  std::vector<std::size_t> order(points.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) {
    const auto& [fits, worth] = points[i];
    const bool unknown = std::isnan(worth);
    return std::tuple(!fits, unknown, unknown ? 0 : -worth);
  });
  return order;
}

}  // namespace windtunnel
