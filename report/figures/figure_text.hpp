// How figures are written: their units, intervals and estimates.
#pragma once

#include <string>
#include <string_view>

#include "models/base/text_form.hpp"
#include "models/results/campaign_report.hpp"

namespace windtunnel {

enum class Unit {
  seconds,
  days,  // written as a duration
  share,
  small_share,  // with two decimals
  points,       // percentage points, without a sign: for small differences
  probability,  // near 1, with two digits of the rest: "99.99973 %"
  bytes,
  memory,  // bytes of a GPU's memory
  tflops,  // the title has the unit
  count,
  usd,
  watts,
  joules,  // in kWh from 0.1 kWh on
  events,  // a mean number of events
  whole,   // "16,384"
  word     // also yes and no
};

// How a unit is written. `name` identifies it in the pages' scripts. Probabilities and words have
// the form of their numbers.
struct UnitForm {
  std::string_view name;
  const TextForm* form;
  std::string_view base;  // the unit of the number itself: "s", "share"; "" for a count
};
const UnitForm& unit_form(Unit unit);

// Empty if the value is not a number.
std::string value_text(Unit unit, double value);
std::string with_separators(double count);                       // 16384 -> "16,384", rounded
std::string counted(double number, std::string_view noun);       // "1 GPU", "2,048 GPUs"
std::string range_text(Unit unit, double low, double high);      // "85.7 % .. 86.1 %"
std::string estimate_text(Unit unit, const Estimate& estimate);  // "85.9 %  (85.7 % .. 86.1 %)"
inline constexpr std::string_view kIntervalTitle = "95 % interval";
// Ranks points whose iterations differ: goodput times tokens/s.
inline constexpr std::string_view kProgressTitle = "progress (goodput x tokens/s)";
// These are patterns of range_text() and estimate_text() for pages, with "{}" for numbers.
std::string_view range_pattern();
std::string_view estimate_pattern();

}  // namespace windtunnel
