#include "report/captured/pass_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <set>

#include "models/base/units.hpp"

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
    section.rows.push_back({"not matched with predicted ones", rank.match.none});
    return section;
  }
  section.table.columns = {{"", Align::left},           {"number", Align::right},
                           {"traced", Align::right},    {"of it kernels", Align::right},
                           {"predicted", Align::right}, {"of it kernels", Align::right},
                           {"difference", Align::right}};
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
  SummarySection section{of == tasks.size()
                             ? "Task by task, traced and predicted"
                             : fmt::format("The {} tasks of {} that are furthest off (all with "
                                           "--json)",
                                           tasks.size(), of),
                         {}};
  section.table.columns = {
      {"rank", Align::right},  {"task", Align::left},     {"traced at", Align::right},
      {"takes", Align::right}, {"kernels", Align::right}, {"predicted at", Align::right},
      {"takes", Align::right}, {"kernels", Align::right}, {"difference", Align::right}};
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
           {{"title", "Passes as they ran, and as predicted"},
            {"makespan_s", makespan_s},
            {"categories", kPassCategories},
            {"ranks_left_out", left_out},
            {"rest", "the document of --json"},
            {"tracks", std::move(tracks)}}}};
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
  Json document = Json::array();
  for (const MatchedRank& rank : ranks) {
    Json passes = Json::array();
    for (const MatchedPass& pass : rank.match.passes) {
      passes.push_back({{"task", pass.name},
                        {"kind", pass.action ? letters_of(*pass.action) : "optimizer"},
                        {"traced", times_json(pass.traced)},
                        {"predicted", times_json(pass.predicted)}});
    }
    Json of_rank = {{"rank", rank.match.rank}, {"step", rank.match.step}, {"tasks", passes}};
    if (!rank.match.none.empty()) of_rank["not_matched"] = rank.match.none;
    document.push_back(of_rank);
  }
  return document;
}

}  // namespace windtunnel
