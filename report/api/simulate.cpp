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
