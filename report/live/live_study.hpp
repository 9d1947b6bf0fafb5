// A scenario that answers again and again while its values are moved.
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

// All functions may be called from several threads; simulations run one after the other, on all
// `threads`. They throw Error as `windtunnel run` would say it.
class LiveStudy {
 public:
  // Throws Error where the scenario itself is wrong, and where it is of several jobs.
  LiveStudy(ScenarioText scenario, int threads);

  const Case& scenario() const { return first_; }
  const std::vector<Control>& controls() const { return controls_; }

  // {"summary": HTML, "record": the document that the page of a run is drawn from}. Its "result" is
  // the document of `windtunnel run --json` with these settings. Iterations are simulated again
  // only where the settings decide them (Case::table).
  // `depth`: how much of it; the step alone is there before its campaigns are.
  Json answer(const Overrides& settings, StudyDepth depth = StudyDepth::intervals);

  // {key: [reason | null for each value]}, of the controls that decide whether the job can be and
  // fits: why it would not with that value and the other settings as they are. Answers go before.
  Json limits(const Overrides& settings) const;

  // The scenario with the settings in their places, for `windtunnel run`.
  std::string scenario_text(const Overrides& settings) const;

 private:
  std::shared_ptr<const MeasuredIteration> measured(const Case& the_case);

  ScenarioText scenario_;
  int threads_;
  Case first_;
  std::vector<Control> controls_;
  std::mutex simulating_;
  std::atomic<int> asked_ = 0;  // answers that are not given yet: limits wait for them
  std::list<std::pair<std::string, std::shared_ptr<const MeasuredIteration>>> recent_;
};

// The page of `windtunnel serve`: controls on the left, and the answer that follows them.

// One file, apart from the questions that its script asks of the server it came from.
std::string live_page(const LiveStudy& study);

}  // namespace windtunnel
