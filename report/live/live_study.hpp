// Answers repeatedly for one scenario while the user changes its values.
#pragma once

#include <atomic>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "report/live/controls.hpp"
#include "scenarios/language/case.hpp"
#include "sim/study/simulate.hpp"

namespace windtunnel {

// All functions may be called from several threads. Simulations run one after the other, each on
// all `threads`. Errors are those of `windtunnel run`.
class LiveStudy {
 public:
  // Throws Error if the scenario is invalid, or describes several jobs.
  LiveStudy(ScenarioText scenario, int threads);

  const Case& scenario() const { return first_; }
  const std::vector<Control>& controls() const { return controls_; }

  // {"summary": HTML, "record": the document that the page of a run is drawn from}. Its "result" is
  // the document of `windtunnel run --json` with these settings. Iterations are simulated again
  // only if the settings change them (Case::table). A smaller `depth` answers sooner: the step
  // without its campaigns.
  Json answer(const Overrides& settings, StudyDepth depth = StudyDepth::intervals);

  // {key: [reason | null for each value]} for the controls that decide whether the job is possible
  // and fits: why it would not with that value and the other settings unchanged. Waits while an
  // answer is computed.
  Json limits(const Overrides& settings) const;

  // The scenario with the settings applied, for `windtunnel run`.
  std::string scenario_text(const Overrides& settings) const;

 private:
  std::shared_ptr<const MeasuredIteration> measured(const Case& the_case);

  ScenarioText scenario_;
  int threads_;
  Case first_;
  std::vector<Control> controls_;
  std::mutex simulating_;
  std::atomic<int> asked_ = 0;  // answers in progress: limits wait for them
  std::list<std::pair<std::string, std::shared_ptr<const MeasuredIteration>>> recent_;
};

// The page of `windtunnel serve`: controls on the left, and the answer, which follows them.

// The page is one file; its script sends requests to the server that it came from.
std::string live_page(const LiveStudy& study);

}  // namespace windtunnel
