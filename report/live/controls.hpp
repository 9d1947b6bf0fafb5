// What can be moved on the page that answers while one drags: keys of a scenario, each with the
// values that it can take there.
#pragma once

#include <string>
#include <vector>

#include "report/json/json.hpp"
#include "scenarios/language/case.hpp"

namespace windtunnel {

struct Control {
  std::string key;                  // "layout.tp"
  std::string title;                // "tensor parallel"
  std::string group;                // under which it stands: "Layout"
  std::string help;                 // of the key
  std::vector<std::string> values;  // as a scenario writes them; of numbers, ascending
  int at = 0;                       // which of them the scenario has
  bool names = false;               // words without an order
  // Whether a job fits in memory, or can be at all, may depend on it.
  bool limited = false;
};

// The controls that the case has a use for. The value that the case has is always among the values.
std::vector<Control> controls_of(const Case& the_case);

Json controls_json(const std::vector<Control>& controls);

// `set` as overrides. Throws Error (input) for anything but a control's key with one of its values,
// so that an address that somebody was sent names no file and changes nothing else.
Overrides checked_settings(const std::vector<Control>& controls, const Json& set);

}  // namespace windtunnel
