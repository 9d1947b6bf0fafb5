#include "report/figures/figure_text.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <limits>

#include "models/base/error.hpp"

namespace windtunnel {
namespace {

constexpr std::array kRates{TextScale{0, 1, ""}};
// Means of counts. A rare event gets two digits, because 0.0 would say that it never happens.
constexpr std::array kMeanCounts{TextScale{0, 1, "", kAsShort}, TextScale{0.00095, 1, "", 3},
                                 TextScale{0.0995, 1, "", 2}, TextScale{0.95, 1, "", 1},
                                 TextScale{999.5, 1, "", 0}};
constexpr std::array kHundredths{TextScale{0, 1, "", 2}};
constexpr std::array kSmallPercents{TextScale{0, 1, "%", 2}};
constexpr std::array kDollars{TextScale{0, 1, "USD", kAsShort}, TextScale{9999.5, 1e3, "K USD"},
                              TextScale{0.9995e6, 1e6, "M USD"}, TextScale{0.9995e9, 1e9, "B USD"},
                              TextScale{0.9995e12, 1e12, "T USD"}};
constexpr std::array kWatts{TextScale{0, 1, "W"}, TextScale{999.5, 1e3, "kW"},
                            TextScale{0.9995e6, 1e6, "MW"}, TextScale{0.9995e9, 1e9, "GW"}};
constexpr std::array kJoules{TextScale{0, 1, "J"}, TextScale{999.5, 1e3, "kJ"},
                             TextScale{3.6e5, 3.6e6, "kWh"}, TextScale{3.598e9, 3.6e9, "MWh"},
                             TextScale{3.598e12, 3.6e12, "GWh"}};
constexpr std::array kWholes{TextScale{0, 1, "", 0}};

const TextForm kRateForm{kRates};
const TextForm kEventsForm{kMeanCounts, 1, "0.0"};
const TextForm kPointsForm{kHundredths, 100};
const TextForm kSmallShareForm{kSmallPercents, 100};
const TextForm kUsdForm{kDollars};
const TextForm kWattsForm{kWatts};
const TextForm kJoulesForm{kJoules};
const TextForm kWholeForm{kWholes};
const TextForm kDaysForm{kDurationForm.scales, 86400, kDurationForm.zero};

constexpr std::string_view kRange = "{} .. {}";
constexpr std::string_view kEstimate = "{}  ({} .. {})";

// Writes enough digits that a probability below 1 never reads 100 %.
std::string probability_text(double probability) {
  const double missing = 1 - probability;
  if (missing <= 0 || probability < 0.99) return format_value(probability, kPercentForm);
  if (missing < 1e-8) return "> 99.999999 %";
  const int decimals = 1 - static_cast<int>(std::floor(std::log10(100 * missing)));
  return fmt::format("{:.{}f} %", 100 * probability, decimals);
}

}  // namespace

const UnitForm& unit_form(Unit unit) {
  static const UnitForm forms[] = {
      {"seconds", &kDurationForm, "s"},  {"days", &kDaysForm, "days"},
      {"share", &kPercentForm, "share"}, {"small_share", &kSmallShareForm, "share"},
      {"points", &kPointsForm, "share"}, {"probability", &kPercentForm, "share"},
      {"bytes", &kBytesForm, "bytes"},   {"memory", &kMemoryForm, "bytes"},
      {"tflops", &kRateForm, "TFLOP/s"}, {"count", &kCountForm, ""},
      {"usd", &kUsdForm, "USD"},         {"watts", &kWattsForm, "W"},
      {"joules", &kJoulesForm, "J"},     {"events", &kEventsForm, ""},
      {"whole", &kWholeForm, ""},        {"word", &kCountForm, ""}};
  const auto place = static_cast<size_t>(unit);
  CHECK(place < std::size(forms), "a unit without a form");
  return forms[place];
}

std::string value_text(Unit unit, double value) {
  if (!std::isfinite(value)) return "";
  if (unit == Unit::probability) return probability_text(value);
  if (unit == Unit::whole) return with_separators(value);
  return format_value(value, *unit_form(unit).form);
}

std::string counted(double number, std::string_view noun) {
  return fmt::format("{} {}{}", with_separators(number), noun, number == 1 ? "" : "s");
}

namespace {

std::string upper_text(Unit unit, double high) {
  return high == std::numeric_limits<double>::infinity() ? "no end" : value_text(unit, high);
}

}  // namespace

std::string range_text(Unit unit, double low, double high) {
  return fmt::format(kRange, value_text(unit, low), upper_text(unit, high));
}

std::string estimate_text(Unit unit, const Estimate& estimate) {
  return fmt::format(kEstimate, value_text(unit, estimate.mean), value_text(unit, estimate.low),
                     upper_text(unit, estimate.high));
}

std::string_view range_pattern() {
  return kRange;
}

std::string_view estimate_pattern() {
  return kEstimate;
}

std::string with_separators(double count) {
  std::string digits = fmt::format("{:.0f}", count);
  const size_t first = digits.starts_with('-') ? 1 : 0;
  for (size_t i = digits.size(); i > first + 3;) {
    i -= 3;
    digits.insert(i, 1, ',');
  }
  return digits;
}

}  // namespace windtunnel
