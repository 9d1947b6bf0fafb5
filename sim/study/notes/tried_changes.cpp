#include "sim/study/notes/tried_changes.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "models/base/units.hpp"
#include "models/cost/chunk/step_work.hpp"
#include "models/cost/memory/memory.hpp"
#include "models/cost/offload/offload.hpp"
#include "policies/iteration.hpp"
#include "scenarios/language/library/facts/training_software.hpp"
#include "sim/study/iterations/memory_excess.hpp"

namespace windtunnel {
namespace {

using Steps = std::vector<Overrides>;

constexpr int kMostDoublings = 4;
constexpr std::size_t kMostNamed = 6;     // changes that a sentence names
constexpr int kMostTogether = 4;          // changes that are combined
constexpr double kNoteworthyGain = 0.99;  // a change must bring the time below this share

Steps one_of(const char* key, const std::vector<std::string>& values) {
  Steps steps;
  for (const std::string& value : values) steps.push_back({{key, value}});
  return steps;
}

Steps doubled(const char* key, int value, int most) {
  std::vector<std::string> values;
  for (int i = 0; i < kMostDoublings && (value *= 2) <= most; ++i) {
    values.push_back(std::to_string(value));
  }
  return one_of(key, values);
}

Steps halved(const char* key, int value) {
  std::vector<std::string> values;
  for (int i = 0; i < kMostDoublings && value % 2 == 0; ++i) {
    values.push_back(std::to_string(value /= 2));
  }
  return one_of(key, values);
}

Steps smaller_micro(const Job& job) {
  return halved("batch.micro", job.batch.micro);
}

Steps larger_micro(const Job& job) {
  return doubled("batch.micro", job.batch.micro, job.batch.global);
}

Steps more_recomputation(const Job& job) {
  if (job.recompute == Recompute::none) return one_of("recompute", {"selective", "full"});
  return job.recompute == Recompute::selective ? one_of("recompute", {"full"}) : Steps{};
}

Steps more_sharding(const Job& job) {
  std::vector<std::string> values;
  for (const Sharding level : {Sharding::zero1, Sharding::zero2, Sharding::zero3}) {
    if (level > job.layout.sharding) values.emplace_back(name_of(level));
  }
  return one_of("layout.sharding", values);
}

Steps more_tp(const Job& job) {
  return doubled("layout.tp", job.layout.tp, job.cluster.node.gpus);
}

Steps less_tp(const Job& job) {
  return halved("layout.tp", job.layout.tp);
}

Steps more_pp(const Job& job) {
  return doubled("layout.pp", job.layout.pp, job.cluster.gpus());
}

Steps more_cp(const Job& job) {
  return doubled("layout.cp", job.layout.cp, job.cluster.gpus());
}

Steps more_ep(const Job& job) {
  return doubled("layout.ep", job.layout.ep, job.cluster.gpus());
}

Steps parallel_sequences(const Job& job) {
  const bool divides = job.layout.tp > 1 && !job.layout.sequence_parallel;
  return divides ? one_of("layout.sequence_parallel", {"true"}) : Steps{};
}

Steps offloaded_optimizer(const Job& job) {
  const bool here = offload_of(job).optimizer == MemoryTier::gpu;
  return here ? one_of("offload.optimizer", {"host"}) : Steps{};
}

Steps shorter_sequences(const Job& job) {
  return job.network ? Steps{} : halved("batch.sequence", job.batch.sequence);
}

Steps adapters(const Job& job) {
  const bool whole = job.training == nullptr && !job.network;
  return whole ? one_of("train.adapter", {"lora", "qlora"}) : Steps{};
}

Steps more_nodes(const Job& job) {
  if (!job.cluster.pools.empty()) return {};
  return doubled("cluster.nodes", job.cluster.nodes, job.cluster.nodes << kMostDoublings);
}

Steps graphs(const Job& job) {
  return job.software.cuda_graphs ? Steps{} : one_of("software.cuda_graphs", {"true"});
}

// Tries fewer layers at both ends, without asking which pipeline rank is the busiest.
Steps lighter_ends(const Job& job) {
  const bool even = job.layout.first_stage_layers == 0 && job.layout.last_stage_layers == 0;
  return even ? one_of("layout.stages",
                       {"{last: -1}", "{first: -1}", "{first: -1, last: -1}", "{last: -2}"})
              : Steps{};
}

constexpr Change kFitting[] = {
    {smaller_micro},
    {more_recomputation},
    {more_sharding},
    {parallel_sequences},
    {more_tp},
    {more_pp},
    {more_cp},
    {more_ep},
    {offloaded_optimizer},
    {more_nodes, "more machines"},
    {shorter_sequences, "trains on shorter sequences"},
    {adapters, "trains adapters alone"},
};

constexpr Change kLessOfTheHost[] = {{graphs}, {larger_micro}, {less_tp}};

constexpr Change kEvenStages[] = {{lighter_ends}};

double token_s(const Job& job, const PreparedIteration& prepared) {
  return iteration_step_s(job, prepared) / tokens_per_step(job);
}

bool is_noted(const TriedChange& tried) {
  return tried.also[0] != '\0';
}

// Tries changes as a user would, on top of the scenario's text, so that they pass all of its
// checks.
class TriedCase {
 public:
  explicit TriedCase(const Case& the_case)
      : text_{.file = the_case.file,
              .text = the_case.text,
              .set = the_case.set,
              .files = the_case.files},
        states_dp_(the_case.places.stated("layout.dp")),
        software_(software_of(the_case)),
        job_(the_case.job) {
    if (the_case.prepared) own_s_ = token_s(the_case.job, *the_case.prepared);
  }

  // Returns nothing if the scenario, or the software that it names, does not allow the change.
  std::optional<TriedChange> at(const Overrides& set, const char* also) const {
    try {
      const Case changed = resolve_case(text_, with_dp(set));
      if (changed.prepared == nullptr) return std::nullopt;
      if (!takes_as_well(software_, changed.job, job_)) return std::nullopt;
      TriedChange tried{with_dp(set), also, memory_excess(changed.job, *changed.prepared)};
      const GpuMemory* tight = tightest(changed.prepared->memory, changed.job);
      tried.bytes = tight == nullptr ? 0 : tight->total();
      tried.usable_bytes = tightest_bytes(changed.prepared->memory, changed.job);
      tried.times_as_long = token_s(changed.job, *changed.prepared) / own_s_;
      return tried;
    } catch (const Error&) {
      return std::nullopt;
    }
  }

 private:
  // If the scenario states dp, sets it to the number of replicas that the changed degrees leave.
  Overrides with_dp(Overrides set) const {
    if (!states_dp_) return set;
    int ranks = job_.layout.tp * job_.layout.cp * job_.layout.pp;
    int gpus = job_.cluster.gpus();
    bool changes = false;
    for (const auto& [key, value] : set) {
      const auto degree = [&](std::string_view name, int old) {
        if (key != name) return;
        ranks = ranks / old * std::stoi(value);
        changes = true;
      };
      degree("layout.tp", job_.layout.tp);
      degree("layout.cp", job_.layout.cp);
      degree("layout.pp", job_.layout.pp);
      if (key == "cluster.nodes") {
        gpus = std::stoi(value) * job_.cluster.node.gpus;
        changes = true;
      }
    }
    if (changes) set.emplace_back("layout.dp", std::to_string(gpus / ranks));
    return set;
  }

  ScenarioText text_;
  bool states_dp_;
  const Framework* software_;
  const Job& job_;
  double own_s_ = 1;
};

bool fits(const TriedChange& tried) {
  return tried.excess.empty();
}

bool is_faster(const TriedChange& tried) {
  return fits(tried) && tried.times_as_long < kNoteworthyGain;
}

std::string joined(const std::vector<TriedChange>& tried) {
  std::vector<std::string> texts;
  for (const TriedChange& one : tried) {
    if (texts.size() < kMostNamed) texts.push_back(text_of(one));
  }
  return fmt::format("{}", fmt::join(texts, "; "));
}

// Adds one change at a time, each time the one that leaves the smallest excess, until the job fits.
// Returns nothing if it never does.
std::optional<TriedChange> together(const Case& the_case) {
  const TriedCase trial(the_case);
  std::optional<TriedChange> best;
  for (int i = 0; i < kMostTogether; ++i) {
    const Overrides before = best ? best->set : Overrides{};
    std::optional<TriedChange> next;
    for (const Change& change : kFitting) {
      if (change.also[0] != '\0') continue;
      for (const Overrides& step : change.steps(the_case.job)) {
        const bool known = std::ranges::any_of(
            before, [&](const auto& each) { return each.first == step.front().first; });
        if (known) continue;
        Overrides set = before;
        set.insert(set.end(), step.begin(), step.end());
        const std::optional<TriedChange> tried = trial.at(set, "");
        if (!tried) continue;
        if (!next || tried->bytes - tried->usable_bytes < next->bytes - next->usable_bytes) {
          next = tried;
        }
        if (fits(*tried)) break;
      }
    }
    if (!next) return std::nullopt;
    best = next;
    if (fits(*best)) return best;
  }
  return std::nullopt;
}

std::string faster_text(const Case& the_case, std::span<const Change> changes) {
  const std::vector<TriedChange> tried = tried_changes(the_case, changes, is_faster);
  return tried.empty() ? "" : "tried, each alone: " + joined(tried);
}

}  // namespace

std::vector<TriedChange> tried_changes(const Case& the_case, std::span<const Change> changes,
                                       bool (*enough)(const TriedChange& tried)) {
  std::vector<TriedChange> found;
  if (the_case.text.empty() || the_case.prepared == nullptr) return found;
  const TriedCase trial(the_case);
  for (const Change& change : changes) {
    for (const Overrides& step : change.steps(the_case.job)) {
      std::optional<TriedChange> tried = trial.at(step, change.also);
      if (!tried || !enough(*tried)) continue;
      found.push_back(std::move(*tried));
      break;
    }
  }
  std::ranges::stable_sort(found, {}, [](const TriedChange& tried) {
    return std::pair(is_noted(tried), tried.times_as_long);
  });
  return found;
}

std::string text_of(const TriedChange& tried) {
  std::vector<std::string> sets;
  for (const auto& [key, value] : tried.set) {
    const bool quoted = value.find(' ') != std::string::npos;
    sets.push_back(quoted ? fmt::format("--set '{}={}'", key, value)
                          : fmt::format("--set {}={}", key, value));
  }
  const double percent = 100 * std::abs(tried.times_as_long - 1);
  return fmt::format("{} ({} of {}, {:.1f} % {} a token{}{})", fmt::join(sets, " "),
                     format_memory(tried.bytes), format_memory(tried.usable_bytes), percent,
                     tried.times_as_long < 1 ? "less time for" : "more time for",
                     is_noted(tried) ? ", " : "", tried.also);
}

std::string fitting_advice(const Case& the_case) {
  if (the_case.text.empty() || the_case.prepared == nullptr) return "";
  const std::vector<TriedChange> single = tried_changes(the_case, kFitting, fits);
  if (!single.empty() && !is_noted(single.front())) {
    return "it fits with one of these changes, each of which was tried: " + joined(single);
  }
  const Framework* software = software_of(the_case);
  const std::optional<TriedChange> several = together(the_case);
  std::string text =
      several ? "it fits with these changes together, which were tried: " + text_of(*several)
              : fmt::format(
                    "no tried change of micro-batch, recompute, sharding, layout and offload{}, "
                    "alone or together, makes it fit on these machines",
                    software == nullptr ? "" : fmt::format(" that {} takes", software->name));
  if (!single.empty())
    text +=
        (several ? "; or with one of these: " : "; it fits with one of these: ") + joined(single);
  return text;
}

std::string other_draws(const Case& the_case) {
  constexpr int kDraws = 5;
  if (the_case.text.empty() || the_case.prepared == nullptr) return "";
  const TriedCase trial(the_case);
  double least = 1, most = 1;
  int draws = 0;
  for (int i = 1; i <= kDraws; ++i) {
    const std::uint64_t seed = the_case.job.cluster.fabric.variation.seed + i;
    const auto tried = trial.at({{"cluster.fabric.variation.seed", fmt::to_string(seed)}}, "");
    if (!tried) continue;
    ++draws;
    least = std::min(least, tried->times_as_long);
    most = std::max(most, tried->times_as_long);
  }
  if (least == most) return "";
  return fmt::format("{} other draws: {:.1f} % shorter to {:.1f} % longer steps by estimate", draws,
                     100 * (1 - least), 100 * (most - 1));
}

std::string host_advice(const Case& the_case) {
  return faster_text(the_case, kLessOfTheHost);
}

std::string stage_advice(const Case& the_case) {
  return faster_text(the_case, kEvenStages);
}

}  // namespace windtunnel
