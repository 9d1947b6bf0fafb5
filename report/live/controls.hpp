// The controls of the interactive page (`windtunnel serve`): keys of a scenario, each with the
// values that the user can choose.
#pragma once

#include <string>
#include <vector>

#include "report/json/json.hpp"
#include "scenarios/language/case.hpp"

namespace windtunnel {

struct Control {
  std::string key;                  // such as "layout.tp"
  std::string title;                // such as "tensor parallel"
  std::string group;                // heading: "Layout"
  std::string help;                 // of the key
  std::vector<std::string> values;  // as a scenario writes them; numbers ascend
  int at = 0;                       // index of the scenario's value
  bool names = false;               // the values are words without an order
  // The value can decide whether the job is possible and fits in memory.
  bool limited = false;
};

// The controls that apply to the case. Each has the case's own value among its values.
std::vector<Control> controls_of(const Case& the_case);

Json controls_json(const std::vector<Control>& controls);

// Converts `set` to overrides. Throws Error (input) unless each is a control's key with one of its
// values. An address from elsewhere therefore cannot name a file or change other keys.
Overrides checked_settings(const std::vector<Control>& controls, const Json& set);

}  // namespace windtunnel
