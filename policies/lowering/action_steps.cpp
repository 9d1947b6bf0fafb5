#include "policies/lowering/action_steps.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <string_view>

#include "models/base/error.hpp"
#include "models/cost/op/block_cost.hpp"
#include "models/machine/fabrics/fabric_links.hpp"
#include "models/machine/fabrics/link_faults.hpp"

namespace windtunnel {
namespace {

constexpr double kRounding = 1e-9;

// ---- the rounds of an action ----

// Appends `times` equal layers. `last`: they end the pass, so no next layer hides rounds.
void append_layers(const std::vector<InnerRound>& layer, int times, bool last,
                   std::vector<InnerRound>& to) {
  for (int i = 0; i < times; ++i) {
    for (InnerRound round : layer) {
      if (last && i + 1 == times && round.into_next_layer) round.beside_s = 0;
      to.push_back(std::move(round));
    }
  }
}

enum class Order { up, down };

void append_pass(const ChunkRounds& chunk, std::vector<InnerRound> PassRounds::*pass, Order order,
                 std::vector<InnerRound>& to) {
  const auto leaves = [&](std::size_t at) {
    // The embedding and the loss head do not overlap another layer.
    const auto goes_on = [&](const LayerRounds& layers) {
      return std::ranges::any_of(layers.rounds.*pass, &InnerRound::into_next_layer);
    };
    const auto others =
        order == Order::up ? std::span(chunk).subspan(at + 1) : std::span(chunk).first(at);
    return std::ranges::none_of(others, goes_on);
  };
  for (std::size_t i = 0; i < chunk.size(); ++i) {
    const std::size_t at = order == Order::up ? i : chunk.size() - 1 - i;
    append_layers(chunk[at].rounds.*pass, chunk[at].layers, leaves(at), to);
  }
}

// ---- what they cost ----

std::vector<CostPart> merged(const std::vector<CostPart>& parts) {
  std::vector<CostPart> sum;
  add_costs(sum, parts, 1);
  return sum;
}

// Subtracts the exposed time of the rounds from the parts, which contain it.
void take_off(const std::vector<InnerRound>& rounds, std::vector<CostPart>& parts) {
  const double all_s = total_seconds(parts);
  for (const InnerRound& round : rounds) {
    const double exposed = exposed_s(round);
    if (exposed <= 0) continue;
    const auto part = std::ranges::find_if(parts, [&](const CostPart& known) {
      return known.category == round.category && known.origin == round.origin;
    });
    CHECK(part != parts.end() && part->seconds >= exposed - kRounding * all_s,
          "a round of {} that its pass does not hold", to_string(round.category));
    part->seconds = std::max(0.0, part->seconds - exposed);
  }
  std::erase_if(parts, [&](const CostPart& part) { return part.seconds <= 1e-15 * all_s; });
}

// Whether a round with the collectives of both takes as long as both, even if kernels slow down.
bool add_up(const InnerRound& a, const InnerRound& b) {
  const auto of_one_kind = [](const InnerCollective& one, const InnerCollective& other) {
    return one.group == other.group && one.kind == other.kind && one.origin == other.origin &&
           one.choice.algorithm == other.choice.algorithm &&
           one.choice.protocol == other.choice.protocol;
  };
  const bool alone = a.beside_s == 0 && b.beside_s == 0;
  const bool alike = a.beside_s == b.beside_s && collectives_s(a) == collectives_s(b);
  return a.category == b.category && a.origin == b.origin && a.beside == b.beside &&
         a.slowdown == b.slowdown && (alone || alike) &&
         std::ranges::equal(a.collectives, b.collectives, of_one_kind);
}

void add(const InnerRound& other, InnerRound& sum) {
  sum.beside_s += other.beside_s;
  for (std::size_t i = 0; i < sum.collectives.size(); ++i) {
    const InnerCollective& more = other.collectives[i];
    InnerCollective& to = sum.collectives[i];
    to.bytes += more.bytes;
    to.seconds += more.seconds;
    to.transfer_s += more.transfer_s;
    to.kernels_s += more.kernels_s;
  }
}

// Merges rounds that add up.
std::vector<InnerRound> summed(const std::vector<InnerRound>& rounds) {
  std::vector<const InnerRound*> firsts;
  std::vector<InnerRound> sums;
  for (const InnerRound& round : rounds) {
    const auto known =
        std::ranges::find_if(firsts, [&](const InnerRound* one) { return add_up(*one, round); });
    if (known != firsts.end()) {
      add(round, sums[known - firsts.begin()]);
      continue;
    }
    firsts.push_back(&round);
    sums.push_back(round);
  }
  return sums;
}

// Returns a share of each collective; nothing if the share is an error of rounding.
std::vector<InnerCollective> parts_of(const std::vector<InnerCollective>& collectives,
                                      double share) {
  if (share <= kRounding) return {};
  return shares_of(collectives, share);
}

// Turns rounds into steps. Compute that overlaps no collective is spread evenly between them. If a
// round overlaps another action, the part of it that this does not hide blocks the step.
std::vector<ActionStep> steps_of(const std::vector<InnerRound>& rounds, double compute_s,
                                 bool with_weights) {
  double left_s = compute_s;
  std::vector<ActionStep> steps;
  for (const InnerRound& round : rounds) {
    ActionStep& step = steps.emplace_back();
    step.category = round.category;
    const bool own = round.beside == BesideCompute::pass ||
                     (round.beside == BesideCompute::weights && with_weights);
    if (own && round.beside_s <= left_s + kRounding * compute_s) {
      left_s = std::max(0.0, left_s - round.beside_s);
      step.collectives = round.collectives;
      step.beside_s = round.beside_s + slowed_s(round);
      continue;
    }
    const double covered = covered_s(round) / collectives_s(round);
    step.collectives = parts_of(round.collectives, 1 - covered);
    step.later = parts_of(round.collectives, covered);
    step.compute_s = slowed_s(round);
  }
  steps.emplace_back();
  for (ActionStep& step : steps) step.compute_s += left_s / static_cast<double>(steps.size());
  return steps;
}

// The exchanges of a pass, round by round, that the kernels of another action can hide.
struct Hideable {
  std::vector<ActionStep> steps;  // with only `collectives` and `later`
  bool alike = true;              // all exchanges take equally long
};

Hideable hideable(const std::vector<InnerRound>& rounds) {
  Hideable result;
  for (const InnerRound& round : rounds) {
    const double open = exposed_s(round) / collectives_s(round);
    ActionStep& step = result.steps.emplace_back();
    step.collectives = parts_of(round.collectives, open);
    step.later = parts_of(round.collectives, 1 - open);
    const double first_s = collectives_s(result.steps.front().collectives);
    if (std::abs(collectives_s(step.collectives) - first_s) > kRounding * first_s)
      result.alike = false;
  }
  return result;
}

// Appends the rounds of piece `i` out of `pieces`.
void append_piece(const Hideable& rounds, std::size_t i, std::size_t pieces, ActionStep& step) {
  const std::size_t n = rounds.steps.size();
  step.category = Category::ep;
  for (std::size_t r = i * n / pieces; r < (i + 1) * n / pieces; ++r) {
    std::ranges::copy(rounds.steps[r].collectives, std::back_inserter(step.collectives));
    std::ranges::copy(rounds.steps[r].later, std::back_inserter(step.later));
  }
}

// Lets each exchange of one action run in parallel to steps of the other, distributed evenly.
std::vector<ActionStep> crossed(const Hideable& forward, std::span<const ActionStep> forward_steps,
                                const Hideable& backward,
                                std::span<const ActionStep> backward_steps) {
  const std::size_t n = forward.steps.size();
  const bool even = forward.alike && backward.alike && n == backward.steps.size();
  const std::size_t pieces = even ? std::max<std::size_t>(n, 1) : 1;
  std::vector<ActionStep> steps;
  for (std::size_t i = 0; i < pieces; ++i) {
    const double from = static_cast<double>(i) / static_cast<double>(pieces);
    const double to = static_cast<double>(i + 1) / static_cast<double>(pieces);
    ActionStep& ahead = steps.emplace_back();
    append_piece(forward, i, pieces, ahead);
    ahead.beside = part_of(backward_steps, from, to);
    ActionStep& back = steps.emplace_back();
    append_piece(backward, i, pieces, back);
    back.beside = part_of(forward_steps, from, to);
  }
  return steps;
}

}  // namespace

namespace {

bool stands_on_slow_nodes(const Job& job) {
  if (job.cluster.slow_nodes.empty()) return false;
  for (int gpu = 0; gpu < job.layout.ranks(); gpu += job.cluster.run_of(gpu)) {
    if (job.cluster.slowdown_of(gpu) != 1) return true;
  }
  return false;
}

bool stands_on(const Cluster& cluster, int place) {
  return cluster.places.empty() || std::ranges::find(cluster.places, place) != cluster.places.end();
}

// Whether a link may be on the path of a message. A NIC carries only traffic of its node; links
// between switches are assumed to be on the path.
bool may_be_on_the_way(const Cluster& cluster, std::string_view links) {
  if (!names_nic(links) || names_whole_kind(links)) return true;
  const std::string_view number = links.substr(links.find(' ') + 1);
  int nic = 0;
  std::from_chars(number.data(), number.data() + number.size(), nic);
  return stands_on(cluster, nic / cluster.nics_per_node());
}

// Whether messages from GPUs of one node may take different times: paths are hashed or alternate,
// or single links are slower. Then the ranks that share a pass get their input at different times.
bool have_unlike_ways(const Cluster& cluster) {
  const FabricSpec& fabric = cluster.fabric;
  const auto is_slower = [&](const LinkFault& fault) {
    return may_be_on_the_way(cluster, fault.link);
  };
  const auto loads_some = [&](const BackgroundLoad& load) {
    return (load.in_bursts() || !names_whole_kind(load.links)) &&
           may_be_on_the_way(cluster, load.links);
  };
  const auto is_own = [&](const DegradedNic& nic) { return stands_on(cluster, nic.node); };
  return cluster.nodes > 1 &&
         (!joins_bundles(fabric.routing) || fabric.variation.sigma != 0 ||
          fabric.variation.slow_share != 0 || std::ranges::any_of(fabric.faults, is_slower) ||
          std::ranges::any_of(cluster.degraded_nics, is_own) ||
          std::ranges::any_of(fabric.background, loads_some));
}

}  // namespace

bool InnerTasks::of(Category category) const {
  switch (category) {
    case Category::tp:
      return tp;
    case Category::cp:
      return cp;
    case Category::ep:
      return ep;
    default:
      return false;
  }
}

void InnerTasks::add(Category category) {
  tp |= category == Category::tp;
  cp |= category == Category::cp;
  ep |= category == Category::ep;
}

void InnerTasks::add(const InnerTasks& other) {
  const bool all_together = (!any() || together) && (!other.any() || other.together);
  *this = {tp || other.tp, cp || other.cp, ep || other.ep, all_together};
}

InnerTasks inner_tasks(const Job& job, const std::vector<ChunkRounds>& units) {
  const InnerForm form = job.communication.inner;
  const bool closed = job.communication.fidelity == Fidelity::closed;
  if (form == InnerForm::folded || (form == InnerForm::automatic && closed)) return {};
  InnerTasks all;
  InnerTasks leaving;  // categories with collectives that leave the node
  bool hides_part = false;
  for (const ChunkRounds& chunk : units) {
    for (const LayerRounds& layers : chunk) {
      const PassRounds& passes = layers.rounds;
      for (const auto* pass : {&passes.forward, &passes.backward_input, &passes.backward_weight}) {
        for (const InnerRound& round : *pass) {
          all.add(round.category);
          // Paired passes also hide exchanges with experts.
          const bool hides = round.beside_s > 0 || round.category == Category::ep;
          hides_part |= hides && exposed_s(round) > 0;
          const bool in_node = std::ranges::all_of(round.collectives, &InnerCollective::in_node);
          if (!in_node) leaving.add(round.category);
        }
      }
    }
  }
  if (form == InnerForm::tasks || job.cluster.node.gpu_path == GpuPath::pcie) return all;
  const bool slow = stands_on_slow_nodes(job);
  const bool unlike = have_unlike_ways(job.cluster);
  if (leaving.any()) return slow || unlike ? all : leaving;
  if (!unlike && !(slow && hides_part)) return {};
  // With jitter the ranks of a group do not stay together. Paired passes hide each other's
  // exchanges with experts round by round.
  all.together = !job.cluster.jitter.active() && !all.ep;
  return all;
}

double seconds_of(const ActionStep& step) {
  const double beside_s = step.beside_s + seconds_of(std::span<const ActionStep>(step.beside));
  return step.compute_s + std::max(collectives_s(step.collectives), beside_s);
}

double seconds_of(std::span<const ActionStep> steps) {
  double seconds = 0;
  for (const ActionStep& step : steps) seconds += seconds_of(step);
  return seconds;
}

std::vector<ActionStep> part_of(std::span<const ActionStep> steps, double from, double to) {
  const double all_s = seconds_of(steps);
  std::vector<ActionStep> part;
  double begin_s = 0;
  for (const ActionStep& step : steps) {
    const double step_s = seconds_of(step);
    // A step is cut by share of its time. One without time belongs where it begins.
    const double first = step_s > 0 ? std::max(0.0, (from * all_s - begin_s) / step_s) : 0;
    const double last = step_s > 0 ? std::min(1.0, (to * all_s - begin_s) / step_s) : 1;
    const bool within = step_s > 0 || (begin_s >= from * all_s && begin_s < to * all_s);
    begin_s += step_s;
    const double share = last - first;
    if (!within || share <= kRounding) continue;
    if (share >= 1 - kRounding) {
      part.push_back(step);
      continue;
    }
    part.push_back({.compute_s = share * step.compute_s,
                    .category = step.category,
                    .collectives = parts_of(step.collectives, share),
                    .later = parts_of(step.later, share),
                    .beside_s = share * step.beside_s,
                    .beside = part_of(step.beside, first, last)});
  }
  return part;
}

ActionSteps::ActionSteps(const Schedule& schedule, const ActionCosts& costs,
                         const std::vector<ChunkRounds>& units, InnerTasks tasks)
    : schedule_(schedule), costs_(costs), units_(units), tasks_(tasks) {
  CHECK(!tasks.any() || static_cast<int>(units.size()) == schedule.model_stages() * schedule.slices,
        "{} units of rounds for {} stages of {} slices", units.size(), schedule.model_stages(),
        schedule.slices);
}

std::vector<InnerRound> ActionSteps::joined(Rounds rounds) {
  std::ranges::move(rounds.own, std::back_inserter(rounds.repeated));
  return std::move(rounds.repeated);
}

ActionSteps::Rounds ActionSteps::rounds_of(const Action& action) const {
  Rounds rounds;
  const ChunkRounds& chunk = units_[costs_.cell_of(action)];
  const bool input = makes_input_gradient(action.kind);
  const bool repeats =
      action.kind == ActionKind::recompute || (input && !schedule_.explicit_recompute);
  if (repeats) append_pass(chunk, &PassRounds::recompute, Order::up, rounds.repeated);
  if (action.kind == ActionKind::forward) {
    append_pass(chunk, &PassRounds::forward, Order::up, rounds.own);
  }
  if (input) append_pass(chunk, &PassRounds::backward_input, Order::down, rounds.own);
  if (makes_weight_gradient(action.kind)) {
    append_pass(chunk, &PassRounds::backward_weight, Order::down, rounds.own);
  }
  for (auto* of : {&rounds.repeated, &rounds.own}) {
    std::erase_if(*of, [&](const InnerRound& round) { return !tasks_.of(round.category); });
  }
  return rounds;
}

SteppedAction ActionSteps::of(const Action& action, bool cut) const {
  std::vector<InnerRound> rounds = joined(rounds_of(action));
  if (tasks_.together && !cut) rounds = summed(rounds);
  SteppedAction stepped{merged(costs_.parts(action)), {}};
  take_off(rounds, stepped.compute);
  stepped.steps =
      steps_of(rounds, total_seconds(stepped.compute), action.kind == ActionKind::backward);
  return stepped;
}

SteppedAction ActionSteps::of_pair(const Action& forward, const Action& backward) const {
  std::array<std::vector<InnerRound>, 2> rounds;
  std::array<std::vector<InnerRound>, 2> exchanges;
  for (std::size_t i = 0; i < 2; ++i) {
    Rounds all = rounds_of(i == 0 ? forward : backward);
    const auto others = std::stable_partition(
        all.own.begin(), all.own.end(),
        [](const InnerRound& round) { return round.category != Category::ep; });
    exchanges[i].assign(others, all.own.end());
    all.own.erase(others, all.own.end());
    rounds[i] = joined(std::move(all));
  }
  std::vector<CostPart> ahead = merged(costs_.parts(forward));
  SteppedAction pair;
  pair.compute = merged(tasks_.ep ? costs_.parts(forward) : costs_.pair_parts(forward, backward));
  if (tasks_.ep) add_costs(pair.compute, costs_.parts(backward), 1);
  for (std::size_t i = 0; i < 2; ++i) {
    take_off(rounds[i], pair.compute);
    take_off(exchanges[i], pair.compute);
  }
  take_off(rounds[0], ahead);
  take_off(exchanges[0], ahead);
  if (!tasks_.ep) {  // the backward's steps contain the exposed exchange with experts
    std::erase_if(ahead, [](const CostPart& part) { return part.category == Category::ep; });
  }
  const double ahead_s = total_seconds(ahead);
  const std::vector<ActionStep> forward_steps = steps_of(rounds[0], ahead_s, false);
  const std::vector<ActionStep> backward_steps =
      steps_of(rounds[1], std::max(0.0, total_seconds(pair.compute) - ahead_s), true);
  if (tasks_.ep) {
    pair.steps =
        crossed(hideable(exchanges[0]), forward_steps, hideable(exchanges[1]), backward_steps);
  } else {
    pair.steps = forward_steps;
    pair.steps.insert(pair.steps.end(), backward_steps.begin(), backward_steps.end());
  }
  return pair;
}

}  // namespace windtunnel
