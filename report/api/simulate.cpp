#include "sim/study/simulate.hpp"

#include <windtunnel/simulate.hpp>

#include "report/api/translation.hpp"
#include "report/json/json.hpp"
#include "report/page/page.hpp"

namespace windtunnel_api {

struct Result::State {
  core::Record record;
  Figures figures;
};

Result::Result(std::shared_ptr<const State> state) : state_(std::move(state)) {}

const Figures& Result::figures() const& {
  return state_->figures;
}

Figures Result::figures() && {
  return state_->figures;
}

std::string Result::json() const {
  return core::json_text(core::run_document(state_->record, false));
}

std::string Result::page() const {
  return core::html_page(core::page_document(state_->record));
}

std::vector<RankTimeline> Result::timeline() const {
  const core::Plan& plan = state_->record.plan;
  std::vector<RankTimeline> ranks;
  for (const core::RankTimeline& recorded : state_->record.timeline.ranks) {
    const core::RankClass& owner = plan.classes[recorded.rank_class];
    RankTimeline& rank =
        ranks.emplace_back(RankTimeline{recorded.rank, owner.name, recorded.multiplicity, {}});
    for (std::size_t t = 0; t < owner.tasks.size(); ++t) {
      const core::Task& task = owner.tasks[t];
      const core::Span& span = recorded.spans[t];
      rank.tasks.push_back({.name = task.name,
                            .kind = core::name_of(task.kind),
                            .stream = owner.streams[task.stream].name,
                            .iteration = task.iteration,
                            .stage = task.stage,
                            .microbatch = task.microbatch,
                            .start_s = span.start_s,
                            .end_s = span.end_s,
                            .bytes = task.bytes,
                            .after = task.after});
    }
  }
  return ranks;
}

Result simulate(const Case& the_case, const SimulateOptions& options) {
  const core::Case resolved_case = resolved(the_case);
  return translated(the_case.state(), [&] {
    core::Record record = core::simulate(resolved_case, {.threads = options.threads,
                                                         .allow_oom = options.allow_oom,
                                                         .progress = options.progress,
                                                         .stop = options.stop});
    Figures figures = figures_of(record);
    return Result(std::make_shared<const Result::State>(
        Result::State{std::move(record), std::move(figures)}));
  });
}

}  // namespace windtunnel_api
