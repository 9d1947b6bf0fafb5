#include "policies/schedules/schedules.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "models/base/error.hpp"
#include "models/base/find_named.hpp"
#include "models/base/units.hpp"
#include "models/plan/job.hpp"
#include "policies/schedules/generators.hpp"

namespace windtunnel {
namespace {

// An analysis takes 0.9 KB per forward, so 1.8 GB at most. Larger numbers are taken for a mistake.
constexpr double kMostForwards = 2e6;
constexpr double kMostStages = 1e6;

void check_knobs(const ScheduleKind& kind, const ScheduleRequest& request) {
  const auto check = [&](ScheduleKnobs knob, bool is_set, std::string_view key,
                         std::string_view what) {
    if (!is_set || (kind.knobs & knob) != 0) return;
    std::string others;
    for (const ScheduleKind& other : schedule_kinds()) {
      if ((other.knobs & knob) == 0) continue;
      others += fmt::format("{}{}", others.empty() ? "" : ", ", other.name);
    }
    throw Error::about({key, "schedule"}, "schedule '{}' takes no {}; schedules that do: {}",
                       kind.name, what, others);
  };
  check(kGroup, request.group != 0, "schedule.group", "group");
  check(kSlices, request.slices != 1, "schedule.slices", "slices");
  check(kMemoryLimit, request.memory_limit != 0, "schedule.memory_limit", "memory limit");
}

}  // namespace

Schedule empty_schedule(std::string_view name, const ScheduleRequest& request, Placement placement,
                        int directions) {
  Schedule schedule;
  schedule.name = name;
  schedule.ranks = request.ranks;
  schedule.chunks = request.chunks * directions;
  schedule.microbatches = request.microbatches;
  schedule.directions = directions;
  schedule.slices = request.slices;
  schedule.rank_of_stage.reserve(schedule.stages());
  for (int stage = 0; stage < schedule.stages(); ++stage) {
    const int direction = stage / schedule.model_stages();
    const int chunk = stage % schedule.model_stages() / request.ranks;
    int rank = stage % request.ranks;
    const bool back = placement == Placement::vee && chunk % 2 == 1;
    if (back != (direction % 2 == 1)) rank = request.ranks - 1 - rank;
    schedule.rank_of_stage.push_back(rank);
  }
  schedule.actions.resize(request.ranks);
  for (auto& actions : schedule.actions) {
    actions.reserve(2 * static_cast<std::size_t>(request.chunks) * schedule.units());
  }
  return schedule;
}

void require_chunks(std::string_view name, const ScheduleRequest& request, int least, int most) {
  if (least <= request.chunks && request.chunks <= most) return;
  const std::string wanted =
      least == most ? least == 1 ? "one model chunk" : fmt::format("{} model chunks", least)
                    : fmt::format("{} to {} model chunks", least, most);
  throw Error::about({"layout.vpp", "schedule"},
                     "schedule '{}' has {} per rank, not {} (layout.vpp){}; layout.vpp=auto gives "
                     "each schedule its usual number",
                     name, wanted, request.chunks,
                     most == 1 ? "; interleaved-1f1b takes more" : "");
}

void refuse_chunks(std::string_view name, std::string_view needed, std::string_view rest) {
  throw Error::about({"layout.vpp", "schedule"}, "schedule '{}' needs {} (layout.vpp){}", name,
                     needed, rest);
}

std::vector<StageCost> costs_of(const ScheduleRequest& request) {
  if (!request.costs.empty()) return request.costs;
  const double share = 1.0 / request.chunks;
  return std::vector<StageCost>(static_cast<std::size_t>(request.ranks) * request.chunks,
                                {share, share, share, share, share / 2});
}

void check_request(const ScheduleRequest& request) {
  if (request.ranks < 1 || request.microbatches < 1 || request.chunks < 1 || request.slices < 1) {
    throw Error(fmt::format(
        "a schedule needs at least 1 rank, micro-batch, chunk and slice, not {}, {}, {}, {}",
        request.ranks, request.microbatches, request.chunks, request.slices));
  }
  if (request.group < 0 || !(request.memory_limit >= 0)) {
    throw Error("a schedule's group and memory limit must not be negative");
  }
  const double stages = static_cast<double>(request.ranks) * request.chunks * request.slices;
  const double forwards = stages * request.microbatches;
  if (stages <= kMostStages && forwards <= kMostForwards) return;
  throw Error::about({"batch.global", "schedule"},
                     "a schedule of {} ranks, {} micro-batches, {} chunks and {} slices is too "
                     "large: it has {} forward passes on {} stages, and the limits are {} passes "
                     "and {} stages; take fewer micro-batches",
                     request.ranks, request.microbatches, request.chunks, request.slices,
                     format_count(forwards), stages, format_count(kMostForwards),
                     format_count(kMostStages));
}

const std::vector<ScheduleKind>& schedule_kinds() {
  static const std::vector<ScheduleKind> kinds = {
      {"gpipe", "all forwards, then all backwards; keeps every micro-batch's activations",
       "Huang et al., NeurIPS 2019, arXiv 1811.06965", 1, generate_gpipe, kUnlikeUnits},
      {"1f1b", "one forward, one backward; keeps at most p micro-batches' activations",
       "Narayanan et al. (PipeDream-flush), ICML 2021, arXiv 2006.09503", 1, generate_1f1b,
       kUnlikeUnits},
      {"eager-1f1b", "1f1b with twice the forwards ahead, which hides messages",
       "Zhuang et al. (Alpa eager-1F1B), MLSys 2023, arXiv 2211.05322", 1, generate_eager_1f1b,
       kUnlikeUnits},
      {"interleaved-1f1b", "1f1b over v model chunks per rank; the bubble shrinks by a factor of v",
       "Narayanan et al. (Megatron-LM), SC 2021, arXiv 2104.04473", 2, generate_interleaved,
       kGroup | kChunks | kUnlikeUnits},
      {"looped-bfs",
       "all micro-batches through a chunk before the next one; gradients of a chunk are reduced "
       "early",
       "Lamy-Poirier (breadth-first), MLSys 2023, arXiv 2211.05953", 2, generate_looped_bfs,
       kChunks},
      {"2bp", "1f1b with all weight gradients at the end", "Rae et al. (2BP), arXiv 2405.18047", 1,
       generate_2bp, kUnlikeUnits},
      {"zb-h1",
       "1f1b's activations; weight gradients fill part of the drain; the last rank keeps its "
       "logits until then",
       "Qi et al. (Zero Bubble), ICLR 2024, arXiv 2401.10241", 1, generate_zb_h1},
      {"zb-h2",
       "twice 1f1b's activations; no bubble if forward, input gradient and weight gradient take "
       "equal times",
       "Qi et al. (Zero Bubble), ICLR 2024, arXiv 2401.10241", 1, generate_zb_h2},
      {"zb-1p",
       "greedy order for the measured times within 1f1b's activations; the last rank keeps its "
       "logits until their weight gradients",
       "Qi et al. (Zero Bubble), ICLR 2024, arXiv 2401.10241", 1, generate_zb_1p},
      {"zb-2p", "as zb-1p, within twice 1f1b's activations",
       "Qi et al. (Zero Bubble), ICLR 2024, arXiv 2401.10241", 1, generate_zb_2p},
      {"zb-auto", "as zb-1p, within any memory limit (schedule.memory_limit)",
       "Qi et al. (Zero Bubble), ICLR 2024, arXiv 2401.10241", 1, generate_zb_auto, kMemoryLimit},
      {"zb-v",
       "two chunks in a V, at 1f1b's activations; no bubble if forward, input gradient and weight "
       "gradient take equal times",
       "Qi et al. (Zero Bubble), ICLR 2024, arXiv 2401.10241; torch's fixed order", 2,
       generate_zb_v},
      {"v-half", "two chunks in a V; half of 1f1b's activations",
       "Qi et al. (controllable memory), NeurIPS 2024, arXiv 2405.15362", 2, generate_v_half},
      {"v-min", "two chunks in a V; a third of 1f1b's activations",
       "Qi et al. (controllable memory), NeurIPS 2024, arXiv 2405.15362", 2, generate_v_min},
      {"hanayo", "2 W chunks in W waves, at 1f1b's activations",
       "Liu et al. (Hanayo), SC 2023, arXiv 2308.15762; no order is published: backwards first, "
       "at most p micro-batches under way is assumed",
       4, generate_hanayo},
      {"chimera",
       "two pipelines in opposite directions, weights held twice; schedule.group=2 is forward "
       "doubling (backward halving: with half the micro-batch)",
       "Li and Hoefler (Chimera), SC 2021, arXiv 2107.06925", 1, generate_chimera, kGroup, 1, false,
       1},
      {"bitpipe", "two V-shaped pipelines in opposite directions, weights held twice",
       "Wu et al. (BitPipe), arXiv 2410.19367; order of github.com/wuhouming/BitPipe 6fb0e22f", 2,
       generate_bitpipe},
      {"dualpipe", "two directions, forwards and backwards overlapped in pairs, weights held twice",
       "DeepSeek-V3, arXiv 2412.19437; github.com/deepseek-ai/DualPipe", 1, generate_dualpipe},
      {"dualpipev", "dualpipe folded into a V: weights held once",
       "DeepSeek DualPipe, github.com/deepseek-ai/DualPipe; arXiv 2412.19437", 2,
       generate_dualpipev},
      {"pre-recompute-1f1b", "1f1b that recomputes before the gradient arrives",
       "Lai et al. (Merak), TPDS 2023, arXiv 2206.04959; github.com/HPDL-Group/Merak 216a041e", 1,
       generate_pre_recompute_1f1b},
      {"last-no-recompute-1f1b", "as pre-recompute-1f1b, but the last stage keeps its activations",
       "Lai et al. (Merak), TPDS 2023, arXiv 2206.04959; github.com/HPDL-Group/Merak 216a041e", 1,
       generate_last_no_recompute_1f1b},
      {"shifted-critical-path",
       "as last-no-recompute-1f1b, but the second to last stage runs its third forward before its "
       "first backward",
       "Lai et al. (Merak), TPDS 2023, arXiv 2206.04959; github.com/HPDL-Group/Merak 216a041e", 1,
       generate_shifted_critical_path},
      {"seq1f1b", "1f1b over slices of the sequence with equal work; interleaved with v > 1",
       "Sun et al. (Seq1F1B), NAACL 2025, arXiv 2406.03488; github.com/MayDomine/Seq1F1B", 1,
       generate_seq1f1b, kSlices | kUnlikeUnits, 4},
      {"terapipe", "gpipe over slices of the sequence with equal work",
       "Li et al. (TeraPipe), ICML 2021, arXiv 2102.07988; slice lengths in closed form", 1,
       generate_terapipe, kSlices | kUnlikeUnits, 4},
      {"pipedream", "asynchronous 1f1b: no flush, p - r versions of the weights on rank r",
       "Narayanan et al. (PipeDream), SOSP 2019, arXiv 1806.03377", 1, generate_pipedream, kNoKnobs,
       1, true},
      {"pipedream-2bw", "asynchronous 1f1b with two versions of the weights",
       "Narayanan et al. (PipeDream-2BW), ICML 2021, arXiv 2006.09503", 1, generate_pipedream_2bw,
       kNoKnobs, 1, true},
      {"zeropp",
       "units of micro-batches pass breadth first through the chunks; weight gradients fill the "
       "gaps",
       "Tang et al. (ZeroPP), arXiv 2402.03791; from its abstract: where the weight gradients go, "
       "and units of p micro-batches (schedule.group), are assumed",
       2, generate_zeropp, kGroup},
  };
  return kinds;
}

const ScheduleKind& schedule_kind(std::string_view name) {
  return find_named(schedule_kinds(), "schedule", name);
}

const ScheduleKind& schedule_kind(const ScheduleChoice& choice) {
  const bool is_own = choice.own != nullptr && choice.own->name == choice.name;
  return is_own ? *choice.own : schedule_kind(choice.name);
}

ScheduleRequest request_of(const Job& job) {
  return {.ranks = job.layout.pp,
          .microbatches = microbatches(job.layout, job.batch),
          .chunks = job.layout.vpp};
}

Schedule generate_schedule(const ScheduleKind& kind, const ScheduleRequest& request) {
  check_request(request);
  check_knobs(kind, request);
  return kind.generate(request);
}

Schedule generate_schedule(std::string_view name, const ScheduleRequest& request) {
  return generate_schedule(schedule_kind(name), request);
}

Schedule generate_schedule(std::string_view name, int ranks, int microbatches, int chunks) {
  return generate_schedule(name, {.ranks = ranks, .microbatches = microbatches, .chunks = chunks});
}

Schedule with_deferred_weights(Schedule schedule) {
  if (schedule.iterations > 1) {
    throw Error::about({"schedule.defer_weights", "schedule"},
                       "schedule '{}' cannot defer weight gradients to the end of an iteration, "
                       "because its iterations follow one another without a flush",
                       schedule.name);
  }
  for (auto& actions : schedule.actions) {
    std::vector<Action> weights;
    std::vector<Action> reductions;
    bool paired = false;
    for (Action& action : actions) {
      const bool apart = action.kind == ActionKind::backward && !paired;
      paired = action.with_next;
      if (!apart) continue;
      action.kind = ActionKind::backward_input;
      weights.emplace_back(ActionKind::backward_weight, action.stage, action.unit);
    }
    std::erase_if(actions, [&](const Action& action) {
      if (action.kind != ActionKind::reduce_grad) return false;
      // Several reductions of a stage become one.
      if (std::ranges::find(reductions, action) == reductions.end()) reductions.push_back(action);
      return true;
    });
    actions.insert(actions.end(), weights.begin(), weights.end());
    actions.insert(actions.end(), reductions.begin(), reductions.end());
  }
  return schedule;
}

}  // namespace windtunnel
