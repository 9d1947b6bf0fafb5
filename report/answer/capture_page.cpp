#include "report/answer/capture_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "models/base/units.hpp"
#include "report/answer/answer_page.hpp"

namespace windtunnel {
namespace {

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

}  // namespace

std::string capture_page(const CaptureAnswer& answer) {
  const Summary summary = capture_summary(answer);
  AnswerPage page{summary.title, summary.subtitle, summary.figures, {}, {}};
  Json tracks = Json::array();
  double makespan_s = 0;
  std::size_t bars = 0;
  int left_out = 0;
  for (const MatchedRank& rank : answer.tasks) {
    if (rank.match.passes.empty()) continue;
    bars += 2 * rank.match.passes.size();
    if (bars > kMostBars) {
      ++left_out;
      continue;
    }
    makespan_s = std::max({makespan_s, rank.traced_s, rank.predicted_s});
    tracks.push_back(pass_track(rank.match, &MatchedPass::traced, "traced"));
    tracks.push_back(pass_track(rank.match, &MatchedPass::predicted, "predicted"));
  }
  if (!tracks.empty()) {
    const Json gantt = {{"title", "Passes as they ran, and as predicted"},
                        {"makespan_s", makespan_s},
                        {"categories", kPassCategories},
                        {"ranks_left_out", left_out},
                        {"rest", "the document of --json"},
                        {"tracks", tracks}};
    page.parts.emplace_back(AnswerChart{{{"kind", "gantt"}, {"gantt", gantt}}});
  }
  for (const SummarySection& section : summary.sections) page.parts.emplace_back(section);
  return answer_page(page);
}

}  // namespace windtunnel
