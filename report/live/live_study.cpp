#include "report/live/live_study.hpp"

#include <algorithm>
#include <utility>

#include "report/page/html.hpp"
#include "report/page/page.hpp"
#include "scenarios/language/company.hpp"
#include "scenarios/language/overrides.hpp"
#include "scenarios/language/text/scenario_text.hpp"
#include "sim/study/iterations/memory_excess.hpp"

namespace windtunnel {
namespace {

constexpr std::size_t kRemembered = 16;  // iterations, a few MB each
// The page is sent after every change, so its charts are small: enough to show the order of the
// work.
constexpr PageOptions kDrawn = {.max_spans = 4000, .max_curves = 16};

ScenarioText of_one_job(ScenarioText scenario) {
  if (has_jobs(scenario)) {
    throw Error(Location{scenario.file},
                "a file of several jobs cannot be served; name the file of one of them");
  }
  return scenario;
}

// Why a job with these settings is impossible or does not fit; null: it is possible and fits.
Json limit_of(const ScenarioText& scenario, const Overrides& settings) {
  try {
    const Case the_case = resolve_case(scenario, settings);
    const std::string excess = memory_excess(the_case.job, *the_case.prepared);
    return excess.empty() ? Json(nullptr) : Json(excess);
  } catch (const Error& error) {
    return std::string(error.text());
  }
}

// Counts an answer while it is in progress.
class Asked {
 public:
  explicit Asked(std::atomic<int>& count) : count_(count) { ++count_; }
  Asked(const Asked&) = delete;
  Asked& operator=(const Asked&) = delete;
  ~Asked() {
    --count_;
    count_.notify_all();
  }

 private:
  std::atomic<int>& count_;
};

Overrides with_value(Overrides settings, const std::string& key, const std::string& value) {
  std::erase_if(settings, [&](const auto& each) { return each.first == key; });
  settings.emplace_back(key, value);
  return settings;
}

}  // namespace

LiveStudy::LiveStudy(ScenarioText scenario, int threads)
    : scenario_(of_one_job(std::move(scenario))),
      threads_(threads),
      first_(resolve_case(scenario_)),
      controls_(controls_of(first_)) {}

std::shared_ptr<const MeasuredIteration> LiveStudy::measured(const Case& the_case) {
  const auto found =
      std::ranges::find(recent_, the_case.table, [](const auto& each) { return each.first; });
  if (found != recent_.end()) {
    recent_.splice(recent_.begin(), recent_, found);
  } else {
    recent_.emplace_front(the_case.table, std::make_shared<const MeasuredIteration>(
                                              measure_iteration(the_case, {.threads = threads_})));
    if (recent_.size() > kRemembered) recent_.pop_back();
  }
  return recent_.front().second;
}

Json LiveStudy::answer(const Overrides& settings, StudyDepth depth) {
  const Asked asked(asked_);
  const Case the_case = resolve_case(scenario_, settings);
  const std::scoped_lock lock(simulating_);
  const Record record =
      record_of(the_case, *measured(the_case), {.threads = threads_, .depth = depth});
  Json document = page_document(record, kDrawn);
  std::string summary = summary_html(summary_of(document));
  document.erase("values");  // a hundred lines that this page does not show
  return {{"summary", std::move(summary)}, {"record", std::move(document)}};
}

Json LiveStudy::limits(const Overrides& settings) const {
  Json limits = Json::object();
  for (const Control& control : controls_) {
    if (!control.limited) continue;
    Json& reasons = limits[control.key] = Json::array();
    for (const std::string& value : control.values) {
      for (int asked = asked_; asked > 0; asked = asked_) asked_.wait(asked);
      reasons.push_back(limit_of(scenario_, with_value(settings, control.key, value)));
    }
  }
  return limits;
}

std::string LiveStudy::scenario_text(const Overrides& settings) const {
  if (settings.empty() && scenario_.set.empty()) return scenario_.text;
  resolve_case(scenario_, settings);  // throws if the settings are invalid
  DocumentNode tree = parse_document(scenario_.text, scenario_.file);
  for (const Overrides& set : {scenario_.set, settings}) {
    for (const auto& [key, value] : set) apply_override(tree, key, value);
  }
  return scenario_text_of(tree);
}

std::string live_page(const LiveStudy& study) {
  const std::string& name = study.scenario().scenario;
  const Json data = {{"format", "windtunnel-live-1"},
                     {"name", name},
                     {"campaign", study.scenario().job.campaign.length_s > 0},
                     {"controls", controls_json(study.controls())}};
  return filled_page(name, "<div id=\"live\"></div>\n", data, PageReach::its_server);
}

}  // namespace windtunnel
