#include "report/captured/pass_match.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "models/base/error.hpp"

namespace windtunnel {
namespace {

MatchedPass matched(const CapturedPass& traced, const RankPass& predicted, double begin_s) {
  return {.name = predicted.name,
          .action = predicted.action,
          .traced = {traced.start_s - begin_s, traced.end_s - begin_s, traced.busy_s},
          .predicted = {predicted.start_s, predicted.end_s, predicted.busy_s}};
}

// Matches by stage and micro-batch, if the program's ranges state both.
std::string match_by_name(const std::vector<CapturedPass>& traced,
                          const std::vector<RankPass>& predicted, double begin_s,
                          PassMatch& match) {
  std::map<std::tuple<ActionKind, int, int>, const CapturedPass*> by_name;
  for (const CapturedPass& pass : traced) {
    if (!pass.action) continue;
    const auto [other, is_new] =
        by_name.try_emplace({*pass.action, pass.stage, pass.microbatch}, &pass);
    if (!is_new) {
      return fmt::format("it runs {}{}.{} twice", letters_of(*pass.action), pass.stage,
                         pass.microbatch);
    }
  }
  for (const RankPass& pass : predicted) {
    if (!pass.action) continue;
    const auto found = by_name.find({*pass.action, pass.stage, pass.microbatch});
    if (found == by_name.end()) {
      return fmt::format("no range of it is the scenario's {}", pass.name);
    }
    match.passes.push_back(matched(*found->second, pass, begin_s));
    by_name.erase(found);
  }
  if (by_name.empty()) return "";
  const auto& [kind, stage, microbatch] = by_name.begin()->first;
  return fmt::format("it runs {}{}.{}, which the scenario's schedule does not have there",
                     letters_of(kind), stage, microbatch);
}

std::string match_in_order(const std::vector<CapturedPass>& traced,
                           const std::vector<RankPass>& predicted, double begin_s,
                           PassMatch& match) {
  const auto passes_of = [](const auto& all) {
    return std::ranges::count_if(all, [](const auto& pass) { return pass.action.has_value(); });
  };
  const auto there = passes_of(traced), due = passes_of(predicted);
  if (there != due) {
    return fmt::format("it has {} passes, the scenario's schedule {}", there, due);
  }
  for (std::ptrdiff_t i = 0; i < due; ++i) {
    if (traced[i].action != predicted[i].action) {
      return fmt::format("its pass {} is {}, that of the scenario's schedule {}", i + 1,
                         letters_of(*traced[i].action), predicted[i].name);
    }
    match.passes.push_back(matched(traced[i], predicted[i], begin_s));
  }
  return "";
}

// "Forward 3" does not state a stage; the rank has only one.
void tell_only_stage(const std::vector<RankPass>& predicted, std::vector<CapturedPass>& passes) {
  const int stage = predicted.front().stage;
  const bool only = std::ranges::all_of(
      predicted, [&](const RankPass& pass) { return !pass.action || pass.stage == stage; });
  if (!only) return;
  for (CapturedPass& pass : passes) pass.stage = pass.stage < 0 ? stage : pass.stage;
}

bool tells_stages(const std::vector<CapturedPass>& passes) {
  return std::ranges::all_of(passes, [](const CapturedPass& pass) {
    return !pass.action || (pass.stage >= 0 && pass.microbatch >= 0);
  });
}

// Returns why the passes do not match; empty if they do.
std::string match_all(const RankProfile& profile, StepPasses& traced,
                      const std::vector<RankPass>& predicted, PassMatch& match) {
  if (!traced.none.empty()) return traced.none;
  if (predicted.empty()) return "the scenario's job has no passes";
  std::vector<ActionKind> order;
  for (const RankPass& pass : predicted) {
    if (pass.paired) return "the scenario's schedule runs forwards and backwards as one";
    if (pass.action) order.push_back(*pass.action);
  }
  const bool told = traced.annotated && tells_stages(traced.passes);
  if (traced.annotated) tell_only_stage(predicted, traced.passes);
  const bool by_name = traced.annotated && tells_stages(traced.passes);
  if (!traced.annotated) {
    if (std::ranges::find(order, ActionKind::backward_weight) != order.end()) {
      return "the scenario's schedule computes gradients of inputs and of weights separately, and "
             "the trace's threads do not show which is which";
    }
    if (std::string why = split_passes(profile, order, traced); !why.empty()) return why;
  }
  const double begin_s =
      std::ranges::min_element(traced.passes, {}, &CapturedPass::start_s)->start_s;
  std::string why = by_name ? match_by_name(traced.passes, predicted, begin_s, match)
                            : match_in_order(traced.passes, predicted, begin_s, match);
  if (!why.empty() && by_name && !told) {  // the numbers may count something else
    match.passes.clear();
    why = match_in_order(traced.passes, predicted, begin_s, match);
  }
  if (!why.empty()) return why;
  if (!traced.passes.back().action && !predicted.back().action) {
    match.passes.push_back(matched(traced.passes.back(), predicted.back(), begin_s));
  }
  return "";
}

}  // namespace

PassMatch match_passes(const RankProfile& profile, const CapturedRank& rank,
                       const CapturedStep& step, const std::vector<RankPass>& predicted) {
  PassMatch match{.rank = profile.rank, .step = step.name, .passes = {}, .none = {}};
  StepPasses traced = step_passes(profile, rank, step);
  match.none = match_all(profile, traced, predicted, match);
  if (!match.none.empty() && traced.annotated) {  // its ranges may cover parts of passes
    match.passes.clear();
    StepPasses by_threads = step_passes(profile, rank, step, false);
    if (match_all(profile, by_threads, predicted, match).empty()) match.none.clear();
  }
  if (!match.none.empty()) match.passes.clear();
  return match;
}

std::vector<PassSum> pass_sums(const PassMatch& match, double traced_s, double predicted_s) {
  std::vector<PassSum> sums = {{"forwards", 0, {}, {}},
                               {"backwards", 0, {}, {}},
                               {"optimizer", 0, {}, {}},
                               {"between them", 0, {}, {}}};
  const auto add = [](const PassTimes& pass, PassTimes& sum) {
    sum.end_s += pass.seconds();
    sum.busy_s += pass.busy_s;
  };
  PassTimes traced, predicted;
  for (const MatchedPass& pass : match.passes) {
    PassSum& sum = sums[!pass.action ? 2 : *pass.action == ActionKind::forward ? 0 : 1];
    ++sum.passes;
    add(pass.traced, sum.traced);
    add(pass.predicted, sum.predicted);
    add(pass.traced, traced);
    add(pass.predicted, predicted);
  }
  sums[3].traced.end_s = std::max(0.0, traced_s - traced.end_s);
  sums[3].predicted.end_s = std::max(0.0, predicted_s - predicted.end_s);
  std::erase_if(sums, [](const PassSum& sum) {
    return sum.traced.end_s == 0 && sum.predicted.end_s == 0 && sum.passes == 0;
  });
  return sums;
}

}  // namespace windtunnel
