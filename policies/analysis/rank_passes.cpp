#include "policies/analysis/rank_passes.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "models/base/error.hpp"
#include "models/results/iteration_report.hpp"

namespace windtunnel {
namespace {

bool runs_kernels(Category category) {
  switch (category) {
    case Category::wait:
    case Category::host:
    case Category::tp:
    case Category::cp:
    case Category::ep:
      return false;
    default:
      return true;
  }
}

RankPass piece_of(const Task& task, const Span& span, int units) {
  RankPass piece;
  if (task.category != Category::optimizer) {
    piece.action = task.action == ActionKind::recompute ? ActionKind::backward : task.action;
    piece.stage = task.stage;
    piece.microbatch = task.microbatch % units;
    piece.paired = task.paired;
  }
  piece.start_s = span.start_s;
  piece.end_s = span.end_s;
  for (const CostPart& part : task.cost)
    piece.busy_s += runs_kernels(part.category) ? part.seconds : 0;
  piece.busy_s = std::min(piece.busy_s, span.end_s - span.start_s);
  return piece;
}

std::string name_of_pass(const RankPass& pass) {
  if (!pass.action) return "optimizer";
  const std::string name =
      fmt::format("{}{}.{}", letters_of(*pass.action), pass.stage, pass.microbatch);
  return pass.paired ? name + " and a backward" : name;
}

bool is_same_pass(const RankPass& a, const RankPass& b) {
  return std::tie(a.action, a.stage, a.microbatch, a.paired) ==
         std::tie(b.action, b.stage, b.microbatch, b.paired);
}

}  // namespace

std::vector<RankPass> rank_passes(const Job& job, const Plan& plan, const Timeline& timeline,
                                  RankId rank) {
  CHECK(rank >= 0 && rank < plan.ranks, "rank {} of {}", rank, plan.ranks);
  const RankTimeline& recorded = timeline.ranks[timeline.recorded_as[rank]];
  const RankClass& owner = plan.classes[recorded.rank_class];
  const int iteration = reported_window(job, plan).last;
  const int units = microbatches(job.layout, job.batch) * std::max(1, job.schedule.slices);
  std::vector<RankPass> pieces;
  for (std::size_t t = 0; t < owner.tasks.size(); ++t) {
    const Task& task = owner.tasks[t];
    const bool counts = task.kind == TaskKind::compute && task.iteration == iteration &&
                        (task.action || task.category == Category::optimizer);
    if (counts) pieces.push_back(piece_of(task, recorded.spans[t], units));
  }
  std::ranges::stable_sort(pieces, {}, &RankPass::start_s);
  std::stable_partition(pieces.begin(), pieces.end(),
                        [](const RankPass& piece) { return bool(piece.action); });
  std::vector<RankPass> passes;
  for (const RankPass& piece : pieces) {
    if (passes.empty() || !is_same_pass(passes.back(), piece)) {
      passes.push_back(piece);
      continue;
    }
    passes.back().end_s = std::max(passes.back().end_s, piece.end_s);
    passes.back().busy_s += piece.busy_s;
  }
  const double begin_s = passes.empty() ? 0 : passes.front().start_s;
  for (RankPass& pass : passes) {
    pass.start_s -= begin_s;
    pass.end_s -= begin_s;
    pass.name = name_of_pass(pass);
  }
  return passes;
}

}  // namespace windtunnel
