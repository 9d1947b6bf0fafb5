// How figures are written: the units that they have, and the form of each; intervals and estimates.
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
  points,       // of a share, without a sign: differences are small
  probability,  // near certainty two digits of what is missing to it: "99.99973 %"
  bytes,
  memory,  // of a GPU
  tflops,  // the unit stands in the title
  count,
  usd,
  watts,
  joules,  // written in kWh from a tenth of one on
  events,  // a mean number of them
  whole,   // "16,384"
  word     // or yes and no
};

// {name that the pages know the unit by, form, unit of the number as it is}; of probabilities and
// words the form of their numbers.
struct UnitForm {
  std::string_view name;
  const TextForm* form;
  std::string_view base;  // not of the form that reports write it in: "s", "share"; "" of a count
};
const UnitForm& unit_form(Unit unit);

// Empty for a value that is no number.
std::string value_text(Unit unit, double value);
std::string with_separators(double count);                       // 16384 -> "16,384", rounded
std::string counted(double number, std::string_view noun);       // "1 GPU", "2,048 GPUs"
std::string range_text(Unit unit, double low, double high);      // "85.7 % .. 86.1 %"
std::string estimate_text(Unit unit, const Estimate& estimate);  // "85.9 %  (85.7 % .. 86.1 %)"
inline constexpr std::string_view kIntervalTitle = "95 % interval";
// It ranks points whose iterations differ: goodput times tokens/s.
inline constexpr std::string_view kProgressTitle = "progress (goodput x tokens/s)";
// How the two are put together, for pages, with "{}" in place of numbers.
std::string_view range_pattern();
std::string_view estimate_pattern();

}  // namespace windtunnel
