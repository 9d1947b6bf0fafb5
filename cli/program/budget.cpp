#include "cli/program/budget.hpp"

#include <fmt/format.h>

#include "models/base/error.hpp"
#include "models/base/quantity_range.hpp"

namespace windtunnel {

double budget_of(const std::string& text) {
  double budget_s = 0;
  try {
    budget_s = parse_in_range(text, Dimension::seconds);
  } catch (const Error& error) {
    throw Error(fmt::format("--budget: {}", error.what()));
  }
  if (budget_s > 0) return budget_s;
  throw Error(fmt::format("--budget: '{}' leaves no time; say '3 min'", text));
}

}  // namespace windtunnel
