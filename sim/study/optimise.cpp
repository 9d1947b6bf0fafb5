#include "sim/study/optimise.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "models/base/error.hpp"
#include "models/cost/chunk/step_work.hpp"
#include "models/cost/memory/memory.hpp"
#include "models/cost/parallel/tensor_rules.hpp"
#include "policies/conflicts/conflict.hpp"
#include "policies/iteration.hpp"
#include "policies/lowering/for_each_index.hpp"
#include "policies/search/memory_search.hpp"
#include "scenarios/language/library/facts/training_software.hpp"
#include "scenarios/language/overrides.hpp"
#include "scenarios/language/resolve/named_software.hpp"
#include "sim/campaign/campaign.hpp"
#include "sim/study/configurations.hpp"
#include "sim/study/interval_search.hpp"
#include "sim/study/iterations/memory_excess.hpp"
#include "sim/study/possible_layout.hpp"
#include "sim/study/simulate.hpp"

namespace windtunnel {
namespace {

// Number of configurations that threads judge between two updates of the ranking. It is fixed, so
// the number of threads does not change which ones are skipped. The first steps are shorter,
// because nothing can be skipped before the ranking is full.
constexpr size_t kBlock = 32;
constexpr size_t kFirstStep = 4;

constexpr const char* kLayoutFault = "layout, model and cluster do not go together";
constexpr const char* kMemoryFault = "the memory of GPU or host is too small";
constexpr const char* kSoftwareFault = "the software would refuse it";
constexpr const char* kScheduleFault = "the schedule does not support this pipeline";

// The software that a scenario names, and the keys that the scenario itself sets.
struct NamedSoftware {
  const Framework* framework;
  StatedKeys stated;
  bool asks_schedule;  // some choice of the software depends on the schedule
};

bool asks_schedule(const Framework& framework) {
  const auto asks = [](const JobCondition& condition) { return asks_schedule(condition); };
  return std::ranges::any_of(framework.choices, [&](const SoftwareChoice& choice) {
    return std::ranges::any_of(choice.when, asks) || std::ranges::any_of(choice.any, asks);
  });
}

// Whether `key` stands below `above` in a scenario.
bool is_below(std::string_view key, std::string_view above) {
  return key.size() > above.size() && key.starts_with(above) && key[above.size()] == '.';
}

// Returns null if the scenario names no software.
std::shared_ptr<const NamedSoftware> named_software(const Case& start) {
  const Framework* framework = software_of(start);
  if (framework == nullptr) return nullptr;
  std::vector<std::string> stated;
  for (const ResolvedValue& value : start.values) {
    if (!value.is_default && !is_chosen(*framework, value)) stated.push_back(value.key);
  }
  const bool table = start.job.network != nullptr;
  return std::make_shared<const NamedSoftware>(NamedSoftware{
      framework,
      [stated = std::move(stated), table](std::string_view key) {
        return (table && is_of_transformer(key)) || states_choice(key, [&](std::string_view each) {
                 return std::ranges::any_of(stated, [&](const std::string& at) {
                   return at == each || is_below(at, each) || is_below(each, at);
                 });
               });
      },
      asks_schedule(*framework)});
}

// A candidate has a layout, micro-batch and recomputation; its schedule is open.
struct Candidate {
  std::unique_ptr<const Configuration> configuration;  // a pointer, because candidates are sorted
                                                       // and a configuration has tens of kilobytes
  std::shared_ptr<const NamedSoftware> software;       // null: the scenario names none
  double least = 0;                                    // lower bound of the ranked value
};

struct Fault {
  std::string reason, example;
  double bytes = 0;  // least memory that the fullest GPU needs
};

struct Judged {
  std::vector<RankedConfiguration> feasible;
  std::vector<Fault> faults;
  std::int64_t passed_over = 0;
};

// Returns the cost of all tokens at this step time, for the GPUs for which campaign_inputs() pays.
double undisturbed_usd(const Job& job, double step_s) {
  if (job.tokens == 0) return 0;  // tokens_per_step() would draw sequence lengths
  return job.tokens / tokens_per_step(job) * step_s * price_usd_per_s(job);
}

// Applies what the named software chooses for each layout and schedule, as `run` would. Returns
// these choices.
std::vector<ChosenKey> choose_for(const NamedSoftware* software, const Overrides& set, Job& job) {
  if (software == nullptr || software->framework->defaults.empty()) return {};
  const auto stated = [&](std::string_view key) {
    return software->stated(key) || std::ranges::any_of(set, [&](const auto& each) {
             return key == each.first || is_below(key, each.first);
           });
  };
  return choose_again(*software->framework, stated, job);
}

// Keeps recent geometries of layouts, because candidates that differ only in micro-batch or
// recomputation share one.
class KnownGeometries {
 public:
  SharedGeometry of(const Overrides& set) {
    const std::scoped_lock lock(mutex_);
    const auto known = by_layout_.find(layout_in(set));
    return known == by_layout_.end() ? nullptr : known->second;
  }
  void keep(const Overrides& set, SharedGeometry geometry) {
    constexpr std::size_t kMostKept = 32;  // each takes megabytes for a machine with a million GPUs
    const std::scoped_lock lock(mutex_);
    if (by_layout_.size() >= kMostKept) by_layout_.clear();
    by_layout_[layout_in(set)] = std::move(geometry);
  }

 private:
  // geometry_of() checks whether a geometry found under this key is valid for the job.
  static Overrides layout_in(const Overrides& set) {
    Overrides layout;
    for (const auto& each : set) {
      if (each.first.starts_with("layout.")) layout.push_back(each);
    }
    return layout;
  }

  std::mutex mutex_;
  std::map<Overrides, SharedGeometry> by_layout_;
};

class Optimiser {
 public:
  explicit Optimiser(const OptimiseOptions& options) : options_(options) {}

  // Adds all configurations of a job, under any schedule.
  void enumerate(const Configuration& base, const std::shared_ptr<const NamedSoftware>& software) {
    const std::pair<bool, MakeNext> choices[] = {
        {options_.layout,
         [&](const Configuration& each) { return layouts_of(each, options_.allowed); }},
        {options_.micro_batch,
         [&](const Configuration& each) { return micro_batches_of(each, options_.allowed); }},
        {options_.recompute,
         [&](const Configuration& each) {
           return recomputes_of(each, options_.recompute_modules);
         }},
        {options_.offload, offloads_of}};
    std::vector<MakeNext> wanted;
    for (const auto& [asked, make] : choices) {
      if (asked) wanted.push_back(make);
    }
    add_below(base, wanted, software);
  }

  Optimisation run() {
    std::ranges::stable_sort(candidates_, {}, &Candidate::least);
    for (size_t first = 0, step = 0; first < candidates_.size(); first += step) {
      step = std::clamp(first, kFirstStep, kBlock);
      // Only between whole blocks: if the short first steps ended the search, the frontier of
      // memory would lack configurations that are judged now.
      if (first % kBlock == 0 && !options_.offload && full(result_) &&
          candidates_[first].least > value_of(result_.best.back())) {
        result_.passed_over += static_cast<std::int64_t>(candidates_.size() - first);
        break;
      }
      if (options_.progress) {
        options_.progress(fmt::format("[{}/{}] configurations, {} estimates", first,
                                      candidates_.size(), result_.estimated));
      }
      judge_step(first, std::min(step, candidates_.size() - first));
    }
    return std::move(result_);
  }

 private:
  double value_of(const RankedConfiguration& at) const {
    switch (options_.aim) {
      case Aim::memory:
        return at.memory_bytes;
      case Aim::cost:
        return at.estimated_usd;
      default:
        return at.estimated_s;
    }
  }
  using MakeNext = std::function<std::vector<Configuration>(const Configuration&)>;

  // Goes depth first, because a configuration holds a whole job and there may be tens of thousands.
  void add_below(Configuration at, std::span<const MakeNext> choices,
                 const std::shared_ptr<const NamedSoftware>& software) {
    if (choices.empty()) {
      choose_for(software.get(), at.set, at.job);
      return add(std::move(at), software);
    }
    for (Configuration& next : choices.front()(at)) {
      add_below(std::move(next), choices.subspan(1), software);
    }
  }

  bool full(const Optimisation& known) const {
    return static_cast<int>(known.best.size()) >= options_.top;
  }

  bool keeps_frontier() const { return options_.recompute || options_.offload; }

  // Whether a configuration that is no better than this one could appear neither among the best nor
  // on the frontier of `known`.
  bool cannot_show(const RankedConfiguration& at_best, const Optimisation& known) const {
    if (!full(known) || value_of(at_best) <= value_of(known.best.back())) return false;
    return !keeps_frontier() || std::ranges::any_of(known.frontier, [&](const auto& at) {
      return at.memory_bytes <= at_best.memory_bytes && at.estimated_s <= at_best.estimated_s;
    });
  }

  // Adds a configuration without ranking it: rank() does.
  void add_to(Optimisation& known, RankedConfiguration ranked) const {
    if (keeps_frontier()) known.frontier.push_back(ranked);
    known.best.push_back(std::move(ranked));
  }
  void rank(Optimisation& known) const {
    std::ranges::stable_sort(known.best, {}, [&](const RankedConfiguration& at) {
      return std::pair(value_of(at), at.estimated_s);
    });
    if (full(known)) known.best.resize(options_.top);
    keep_frontier(known.frontier);
  }

  // The overrides in the order of their keys: several sets may give the same configuration, because
  // without a pipeline every schedule is the same.
  static Overrides in_order(Overrides set) {
    std::ranges::sort(set);
    return set;
  }

  // Counts a fault. Keeps as an example the configuration that exceeds memory least.
  void note(const Fault& fault) {
    Optimisation::Reason& at = result_.infeasible[fault.reason];
    if (at.count++ > 0 && !(fault.bytes < at.bytes)) return;
    at.example = fault.bytes > 0 ? "at best " + fault.example : fault.example;
    at.bytes = fault.bytes;
  }

  // Returns `excess` on GPUs with a share of their memory reserved. The job does not change.
  template <class Excess>
  std::string with_headroom(Job& job, Excess excess) const {
    std::vector<double*> sizes = {&job.cluster.node.gpu.memory_bytes.value};
    for (Pool& pool : job.cluster.pools) sizes.push_back(&pool.node.gpu.memory_bytes.value);
    std::vector<double> whole;
    for (double* bytes : sizes)
      whole.push_back(std::exchange(*bytes, *bytes * (1 - options_.headroom)));
    const auto give_back = [&] {
      for (std::size_t i = 0; i < sizes.size(); ++i) *sizes[i] = whole[i];
    };
    try {
      const std::string said = excess(job);
      give_back();
      return said;
    } catch (...) {
      give_back();
      throw;
    }
  }

  std::vector<ChosenSchedule> schedules(const Configuration& configuration) const {
    return schedules_of(configuration, options_.schedule, options_.layout || options_.schedule,
                        options_.allowed);
  }

  // Throws Error if the job is impossible under every schedule.
  void check_any_schedule(Job& job) const {
    if (!options_.layout && !options_.schedule) return check_conflicts(job);
    auto own = std::exchange(job.schedule, {});
    check_conflicts(job);
    job.schedule = std::move(own);
  }

  // Calls `use` with the job under each set of choices that its software makes under the schedules
  // that are tried.
  template <class Use>
  void for_each_choice(Job& job, const Configuration& configuration, const NamedSoftware* software,
                       Use use) const {
    if (software == nullptr || !software->asks_schedule) return use(job);
    std::vector<std::vector<ChosenKey>> known;
    for (const ChosenSchedule& each : schedules(configuration)) {
      Job under = job;
      take_schedule(each, under);
      std::vector<ChosenKey> chosen = choose_for(software, each.set, under);
      if (std::ranges::find(known, chosen) != known.end()) continue;
      known.push_back(std::move(chosen));
      take_schedule({job.schedule, job.layout.vpp, {}}, under);
      use(under);
    }
    if (known.empty()) use(job);
  }

  // Adds the configuration unless its layout is impossible, or a GPU has too little memory for the
  // least that it must hold.
  void add(Configuration configuration, const std::shared_ptr<const NamedSoftware>& software) {
    Job& job = configuration.job;
    const int chunks = job.layout.vpp;
    if (options_.layout || options_.schedule) leave_chunks_open(job);
    try {
      check_layers(job);
      find_memory(job);
      check_any_schedule(job);
      std::optional<double> least;
      Fault fault;
      for_each_choice(job, configuration, software.get(), [&](Job& chosen) {
        const LeastIteration at_least = least_iteration(chosen);
        const double bytes = fullest_bytes(at_least.memory);
        const std::string excess = with_headroom(
            chosen, [&](const Job& less) { return gpu_memory_excess(at_least.memory, less); });
        if (!excess.empty()) {
          if (fault.reason.empty() || bytes < fault.bytes) fault = {kMemoryFault, excess, bytes};
          return;
        }
        const bool by_cost = options_.aim == Aim::cost;
        const double usd = by_cost ? undisturbed_usd(chosen, at_least.step_s) : 0;
        const double value =
            value_of({.estimated_s = at_least.step_s, .estimated_usd = usd, .memory_bytes = bytes});
        least = std::min(value, least.value_or(value));
      });
      if (!least) return note(fault);
      job.layout.vpp = chunks;
      candidates_.push_back(
          {std::make_unique<const Configuration>(std::move(configuration)), software, *least});
    } catch (const Error& error) {
      note({kLayoutFault, error.what()});
    }
  }

  Judged judge(const Candidate& candidate) {
    Judged judged;
    const Overrides& set = candidate.configuration->set;
    SharedGeometry geometry = geometries_.of(set);  // the same under every schedule
    SharedPacks packs;  // the same, unless the software chooses by schedule
    // The ranking before this step, and the schedules of this candidate.
    Optimisation known;
    known.best = result_.best;
    known.frontier = result_.frontier;
    Job job = candidate.configuration->job;
    for (const ChosenSchedule& each : schedules(*candidate.configuration)) {
      try {
        if (candidate.software != nullptr) job = candidate.configuration->job;
        take_schedule(each, job);
        choose_for(candidate.software.get(), each.set, job);
        if (candidate.software != nullptr) {
          const std::vector<BrokenRule> refused = broken_rules(*candidate.software->framework, job);
          if (!refused.empty()) {
            judged.faults.push_back({kSoftwareFault, refused.front().text});
            continue;
          }
        }
        const PreparedIteration prepared = prepare_iteration(job, geometry, packs);
        geometry = prepared.geometry;
        if (candidate.software == nullptr) packs = prepared.balanced;
        const std::string excess =
            with_headroom(job, [&](const Job& less) { return memory_excess(less, prepared); });
        if (!excess.empty()) {
          judged.faults.push_back({kMemoryFault, excess, fullest_bytes(prepared.memory)});
          continue;
        }
        RankedConfiguration ranked;
        ranked.set = each.set;
        ranked.memory_bytes = fullest_bytes(prepared.memory);
        const auto too_long = [&](double least_s) {
          ranked.estimated_s = least_s;
          ranked.estimated_usd = undisturbed_usd(job, least_s);
          return cannot_show(ranked, known);
        };
        const std::optional<double> step_s = iteration_step_s_unless(too_long, job, prepared);
        if (!step_s) {
          ++judged.passed_over;
          continue;
        }
        ranked.estimated_s = *step_s;
        ranked.estimated_usd = undisturbed_usd(job, *step_s);
        if (!seen_.contains(in_order(ranked.set))) {
          add_to(known, ranked);
          rank(known);
        }
        judged.feasible.push_back(std::move(ranked));
      } catch (const Error& error) {
        judged.faults.push_back({kScheduleFault, error.what()});
      }
    }
    if (geometry != nullptr) geometries_.keep(set, std::move(geometry));
    return judged;
  }

  void judge_step(size_t first, size_t count) {
    std::vector<Judged> judged(count);
    for_each_index(count, options_.threads,
                   [&](size_t i) { judged[i] = judge(candidates_[first + i]); });
    for (Judged& each : judged) {
      result_.passed_over += each.passed_over;
      for (const Fault& fault : each.faults) note(fault);
      for (RankedConfiguration& ranked : each.feasible) {
        if (!seen_.insert(in_order(ranked.set)).second) continue;
        ++result_.estimated;
        add_to(result_, std::move(ranked));
      }
    }
    rank(result_);
  }

  // Finds what `recompute: auto` and `offload: auto` leave open in this configuration. If schedules
  // are varied, it assumes the plain one.
  void find_memory(Job& job) const {
    if (!offload_of(job).searched.any()) return;
    Job open = with_memory_open(job);
    if (options_.layout || options_.schedule) open.schedule = {};
    const Job found = with_memory_found(open);
    job.recompute = found.recompute;
    job.offload = found.offload;
  }

  static void keep_frontier(std::vector<RankedConfiguration>& all) {
    std::ranges::stable_sort(all, {}, [](const RankedConfiguration& at) {
      return std::pair(at.memory_bytes, at.estimated_s);
    });
    double fastest_s = std::numeric_limits<double>::infinity();
    std::erase_if(all, [&](const RankedConfiguration& at) {
      if (at.estimated_s >= fastest_s) return true;
      fastest_s = at.estimated_s;
      return false;
    });
  }

  const OptimiseOptions& options_;
  KnownGeometries geometries_;
  std::vector<Candidate> candidates_;
  std::set<Overrides> seen_;  // each in the order of its keys
  Optimisation result_;
};

// Returns the value of a simulated configuration. Less is better.
double simulated_value(const RankedConfiguration& at, Aim aim) {
  switch (aim) {
    case Aim::memory:
      return at.memory_bytes;
    case Aim::goodput:
      return -at.chosen_by->goodput.mean * at.record->iteration.tokens_per_s;
    case Aim::cost:
      return at.chosen_by->job_cost_usd.mean;
    default:
      return at.record->iteration.time_s;
  }
}

// Adds the best snapshot intervals of this configuration to its overrides.
void search_its_intervals(const ScenarioText& scenario, const OptimiseOptions& options,
                          Overrides& set) {
  if (options.intervals.empty()) return;
  ScenarioText with = scenario;
  with.set.insert(with.set.end(), set.begin(), set.end());
  const IntervalSearch found = search_intervals(
      with, {.keys = options.intervals, .aim = options.aim, .threads = options.threads});
  for (const IntervalSearch::Tier& tier : found.tiers) set.emplace_back(tier.key, tier.value);
}

void simulate_best(const ScenarioText& scenario, const OptimiseOptions& options,
                   std::vector<RankedConfiguration>& best) {
  const bool campaign = options.aim == Aim::goodput || options.aim == Aim::cost;
  const size_t count = campaign ? best.size() : std::min<size_t>(options.simulated, best.size());
  SimulateOptions simulate_options;
  simulate_options.threads = options.threads;
  simulate_options.depth = options.depth;
  for (size_t i = 0; i < count; ++i) {
    if (options.progress) options.progress(fmt::format("simulating {} of {}", i + 1, count));
    try {
      search_its_intervals(scenario, options, best[i].set);
      const Case the_case = resolve_case(scenario, best[i].set);
      MeasuredIteration measured = measure_iteration(the_case, simulate_options);
      if (campaign) {
        best[i].chosen_by = the_case.places.placing([&] {
          const CampaignInputs inputs = campaign_inputs(the_case.job, measured.table);
          return run_campaign(to_choose_by(inputs), options.threads);
        });
      }
      best[i].record = record_of(the_case, std::move(measured), simulate_options);
      // A Plan has thousands of tasks per rank, and nothing uses it any more.
      best[i].record->plan = {};
      best[i].record->timeline.ranks.clear();
      best[i].record->critical_path.clear();
    } catch (const Error& error) {
      best[i].failure = error.what();
    }
  }
  // Configurations that ran come first, by value; then those only estimated; then those that
  // failed.
  std::ranges::stable_sort(best, {}, [&](const RankedConfiguration& at) {
    const int group = at.record ? 0 : at.failure.empty() ? 1 : 2;
    return std::pair(group, at.record ? simulated_value(at, options.aim) : 0.0);
  });
}

Case start_of(const ScenarioText& scenario, const Overrides& point,
              const OptimiseOptions& options) {
  if (!options.layout && !options.schedule) return resolve_case(scenario, point);
  try {
    return resolve_unprepared(scenario, point);
  } catch (const Error&) {
    if (!options.layout) throw;
    const std::optional<Overrides> set = possible_layout(scenario, point);
    if (!set) throw;  // the fault is not in the layout
    return resolve_unprepared(scenario, *set);
  }
}

// The closed form that ranks configurations does not model steps that leave out workers.
void check_ranked(const Overrides& point) {
  for (const auto& [key, value] : point) {
    if (!key.starts_with("redundancy") && !key.ends_with(".wait_for")) continue;
    throw Error(
        fmt::format("{} is not part of the closed form that ranks configurations; compare such "
                    "scenarios with compare --vary",
                    key));
  }
}

}  // namespace

void check_aim(const Job& job, Aim aim) {
  if ((aim == Aim::goodput || aim == Aim::cost) && job.campaign.length_s == 0) {
    throw Error::about({"campaign"},
                       "goodput and cost need a campaign: add campaign.length and failures");
  }
  if (aim == Aim::cost && price_usd_per_s(job) * job.tokens == 0) {
    throw Error::about({"job"}, "the cost needs job.tokens and job.price");
  }
}

Optimisation optimise(const ScenarioText& scenario, const std::vector<Overrides>& points,
                      const OptimiseOptions& options) {
  Optimiser optimiser(options);
  for (const Overrides& point : points) {
    try {
      check_ranked(point);
      const Case start = start_of(scenario, point, options);
      const auto own = static_cast<std::ptrdiff_t>(scenario.set.size());
      start.places.placing([&] {
        check_aim(start.job, options.aim);
        if (!options.intervals.empty()) searched_tiers(options.intervals, start.job);
        optimiser.enumerate({start.job, {start.set.begin() + own, start.set.end()}},
                            named_software(start));
      });
    } catch (const Error& error) {
      throw as_varied(error, point, "--over");
    }
  }
  Optimisation result = optimiser.run();
  if (result.best.empty()) {
    std::string why;
    for (const auto& [reason, at] : result.infeasible) {
      why += fmt::format("\n  {} ({} configuration{}), as: {}", reason, at.count,
                         at.count == 1 ? "" : "s", at.example);
    }
    throw Error(Location{scenario.file}, fmt::format("no configuration is feasible:{}", why),
                ExitCode::failed);
  }
  simulate_best(scenario, options, result.best);
  return result;
}

}  // namespace windtunnel
