#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <set>
#include <tuple>

#include "models/base/error.hpp"
#include "models/base/units.hpp"
#include "report/captured/captured_report.hpp"

namespace windtunnel {
namespace {

constexpr std::size_t kMostTasks = 12;  // in the text

std::string difference(double traced_s, double predicted_s) {
  if (traced_s <= 0 || predicted_s <= 0) return "";
  return fmt::format("{:+.1f} %", 100 * (predicted_s / traced_s - 1));
}

struct TaskOfRank {
  RankId rank = 0;
  const MatchedPass* pass = nullptr;
};

std::vector<const MatchedRank*> unlike(const std::vector<MatchedRank>& ranks) {
  std::vector<const MatchedRank*> kept;
  std::set<std::vector<std::string>> seen;
  for (const MatchedRank& rank : ranks) {
    std::vector<std::string> names = {rank.match.none};
    for (const MatchedPass& pass : rank.match.passes) names.push_back(pass.name);
    if (seen.insert(names).second) kept.push_back(&rank);
  }
  return kept;
}

SummarySection sums_section(const MatchedRank& rank) {
  SummarySection section{fmt::format("Passes of {}, rank {}", rank.match.step, rank.match.rank),
                         {}};
  if (!rank.match.none.empty()) {
    section.rows.push_back({"not matched with predicted passes", rank.match.none});
    return section;
  }
  section.table = titled_table(
      " | number > | traced > | in kernels > | predicted > | in kernels > | "
      "difference >");
  for (const PassSum& sum : pass_sums(rank.match, rank.traced_s, rank.predicted_s)) {
    const bool passes = sum.passes > 0;
    section.table.rows.push_back({sum.what, passes ? fmt::format("{}", sum.passes) : "",
                                  format_seconds(sum.traced.seconds()),
                                  passes ? format_seconds(sum.traced.busy_s) : "",
                                  format_seconds(sum.predicted.seconds()),
                                  passes ? format_seconds(sum.predicted.busy_s) : "",
                                  difference(sum.traced.seconds(), sum.predicted.seconds())});
  }
  return section;
}

std::vector<TaskOfRank> worst_tasks(const std::vector<const MatchedRank*>& ranks, std::size_t& of) {
  std::vector<TaskOfRank> tasks;
  for (const MatchedRank* rank : ranks) {
    for (const MatchedPass& pass : rank->match.passes) tasks.push_back({rank->match.rank, &pass});
  }
  of = tasks.size();
  if (tasks.size() <= kMostTasks) return tasks;
  std::ranges::stable_sort(tasks, [](const TaskOfRank& a, const TaskOfRank& b) {
    return std::abs(a.pass->difference_s()) > std::abs(b.pass->difference_s());
  });
  tasks.resize(kMostTasks);
  return tasks;
}

SummarySection tasks_section(const std::vector<const MatchedRank*>& ranks) {
  std::size_t of = 0;
  const std::vector<TaskOfRank> tasks = worst_tasks(ranks, of);
  SummarySection section{
      of == tasks.size()
          ? "Task by task, traced and predicted"
          : fmt::format("The {} of {} tasks that differ most (all with --json)", tasks.size(), of),
      {}};
  section.table = titled_table(
      "rank > | task | traced at > | takes > | kernels > | predicted at > | takes > | "
      "kernels > | difference >");
  for (const auto& [rank, pass] : tasks) {
    const auto& [traced, predicted] = std::tie(pass->traced, pass->predicted);
    section.table.rows.push_back(
        {fmt::format("{}", rank), pass->name, format_seconds(traced.start_s),
         format_seconds(traced.seconds()), format_seconds(traced.busy_s),
         format_seconds(predicted.start_s), format_seconds(predicted.seconds()),
         format_seconds(predicted.busy_s), difference(traced.seconds(), predicted.seconds())});
  }
  return section;
}

Json times_json(const PassTimes& times) {
  return {{"start_s", times.start_s}, {"time_s", times.seconds()}, {"kernels_s", times.busy_s}};
}

constexpr std::array kPassCategories = {"forward", "backward", "input gradient", "weight gradient",
                                        "optimizer"};
constexpr int kOptimizerCategory = 4;
constexpr std::size_t kMostBars = 60000;

std::int64_t rounded_ns(double seconds) {
  return std::llround(seconds * 1e9);
}

int category_of_pass(const MatchedPass& pass) {
  return pass.action ? static_cast<int>(*pass.action) : kOptimizerCategory;
}

Json pass_track(const PassMatch& match, PassTimes MatchedPass::*which, std::string_view name) {
  Json starts = Json::array(), durations = Json::array(), categories = Json::array(),
       names = Json::array();
  for (const MatchedPass& pass : match.passes) {
    const PassTimes& times = pass.*which;
    starts.push_back(rounded_ns(times.start_s));
    durations.push_back(rounded_ns(times.seconds()));
    categories.push_back(category_of_pass(pass));
    names.push_back(fmt::format(
        "{}, kernels {}, predicted {} of {} traced", pass.name, format_seconds(times.busy_s),
        format_seconds(pass.predicted.seconds()), format_seconds(pass.traced.seconds())));
  }
  return {{"rank", fmt::format("rank {}", match.rank)},
          {"stream", name},
          {"start_ns", starts},
          {"duration_ns", durations},
          {"category", categories},
          {"name", names},
          {"critical", Json::array()}};
}

Json gantt_of(const std::vector<const MatchedRank*>& shown, int left_out) {
  Json tracks = Json::array();
  double makespan_s = 0;
  for (const MatchedRank* rank : shown) {
    makespan_s = std::max({makespan_s, rank->traced_s, rank->predicted_s});
    tracks.push_back(pass_track(rank->match, &MatchedPass::traced, "traced"));
    tracks.push_back(pass_track(rank->match, &MatchedPass::predicted, "predicted"));
  }
  return {{"kind", "gantt"},
          {"gantt",
           {{"title", "Passes as they ran and as predicted"},
            {"makespan_s", makespan_s},
            {"categories", kPassCategories},
            {"ranks_left_out", left_out},
            {"rest", "the document of --json"},
            {"tracks", std::move(tracks)}}}};
}

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
      return fmt::format("none of its ranges matches the scenario's {}", pass.name);
    }
    match.passes.push_back(matched(*found->second, pass, begin_s));
    by_name.erase(found);
  }
  if (by_name.empty()) return "";
  const auto& [kind, stage, microbatch] = by_name.begin()->first;
  return fmt::format("it runs {}{}.{}, which is not in the scenario's schedule for this rank",
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
    return fmt::format("it has {} passes, but the scenario's schedule has {}", there, due);
  }
  for (std::ptrdiff_t i = 0; i < due; ++i) {
    if (traced[i].action != predicted[i].action) {
      return fmt::format("its pass {} is {}, but in the scenario's schedule it is {}", i + 1,
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
    if (pass.paired) return "the scenario's schedule overlaps a forward and a backward pass as one";
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

SummarySection passes_chart(const std::vector<MatchedRank>& ranks) {
  std::vector<const MatchedRank*> shown;
  std::size_t bars = 0;
  int left_out = 0;
  for (const MatchedRank& rank : ranks) {
    if (rank.match.passes.empty()) continue;
    bars += 2 * rank.match.passes.size();
    if (bars > kMostBars) {
      ++left_out;
    } else {
      shown.push_back(&rank);
    }
  }
  if (shown.empty()) return {};
  return chart_section([shown, left_out] { return gantt_of(shown, left_out); });
}

std::vector<SummarySection> pass_sections(const std::vector<MatchedRank>& ranks) {
  const std::vector<const MatchedRank*> shown = unlike(ranks);
  std::vector<SummarySection> sections;
  for (const MatchedRank* rank : shown) sections.push_back(sums_section(*rank));
  SummarySection tasks = tasks_section(shown);
  if (!tasks.table.rows.empty()) sections.push_back(std::move(tasks));
  return sections;
}

Json pass_document(const std::vector<MatchedRank>& ranks) {
  return list_json(ranks, [](const MatchedRank& rank) {
    Json document = MEMBERS_JSON(rank.match, rank, step);
    document["tasks"] = list_json(rank.match.passes, [](const MatchedPass& pass) -> Json {
      return {{"task", pass.name},
              {"kind", pass.action ? letters_of(*pass.action) : "optimizer"},
              {"traced", times_json(pass.traced)},
              {"predicted", times_json(pass.predicted)}};
    });
    if (!rank.match.none.empty()) document["not_matched"] = rank.match.none;
    return document;
  });
}

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
