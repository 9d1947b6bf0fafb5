// What can be wrong, and how to show it: one exception, which knows file, line, column and key.
#include <cstdio>
#include <string>
#include <windtunnel/windtunnel.hpp>

constexpr const char* kScenario =
    "name: errors\n"
    "model: llama3-8b\n"
    "cluster: {nodes: 2, node: dgx-h100}\n"
    "layout: {tp: 2, pp: 2}\n"
    "batch: {global: 64}\n";

void show(const char* what, const windtunnel::Case& the_case) {
  try {
    windtunnel::simulate(the_case);
  } catch (const windtunnel::Error& error) {
    std::printf("%s\n  what: %s\n", what, error.what());
    if (error.line() > 0) std::printf("  line %d, column %d\n", error.line(), error.column());
    if (!error.key().empty()) std::printf("  key: %s\n", error.key().c_str());
    if (error.cause() == windtunnel::Error::Cause::failed) std::printf("  not the input's fault\n");
  }
}

int main() {
  using windtunnel::Case;
  const std::string text = kScenario;
  const Case good = Case::from_text(text, "errors.yaml");

  show("A misspelt name", Case::from_text(text + "schedule: 1f2b\n", "errors.yaml"));
  show("A value out of range", Case::from_text(text + "precision: bf17\n", "errors.yaml"));
  show("A key that does not exist", Case(good).set("layout.tpp", "4"));
  show("A value that does not fit the others", Case(good).set("layout.tp", "3"));
  show("Too large for the GPUs", Case(good).set("model", "llama3-405b"));

  // This order never ends: it puts the backward pass of the first stage before its forward pass.
  Case own = good;
  own.add_schedule("backwards", [](const windtunnel::ScheduleRequest& request) {
    windtunnel::Schedule schedule;
    schedule.actions.resize(request.ranks);
    schedule.actions[0] = {{windtunnel::Pass::backward, 0, 0}};
    return schedule;
  });
  show("An impossible schedule", own.set("schedule", "backwards"));
}
