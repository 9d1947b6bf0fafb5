// Where a number comes from. Every constant of the library and of a calibration has an origin, and
// a report says which share of the predicted time rests on which origin.
#pragma once

#include <algorithm>
#include <array>
#include <iterator>
#include <string>
#include <vector>

#include "models/base/choice.hpp"

namespace windtunnel {

// Ordered from the strongest evidence to the weakest.
enum class Origin { measured, published, spec, assumed };
template <>
inline constexpr Choice<Origin> kChoices<Origin>[] = {{"measured", Origin::measured},
                                                      {"published", Origin::published},
                                                      {"spec", Origin::spec},
                                                      {"assumed", Origin::assumed}};
inline constexpr int kOrigins = std::size(kChoices<Origin>);

// A result has the weakest origin among the numbers behind it.
inline Origin weakest(Origin a, Origin b) {
  return std::max(a, b);
}

// Origin of a rate that is a data sheet's number times the share of it that is reached. A share is
// fitted so that the product matches measured rows; a measured or published share therefore makes
// the product as good, unless the sheet's number is itself assumed.
inline Origin origin_of_rate(Origin sheet, Origin reached) {
  const bool fitted = reached <= Origin::published && sheet != Origin::assumed;
  return fitted ? reached : weakest(sheet, reached);
}

const char* to_string(Origin origin);

// Seconds (or shares) by origin, indexed by Origin.
using OriginShares = std::array<double, kOrigins>;

// Rows that a number was fitted on. Predictions of these rows that use the number are not blind.
struct FittedOn {
  std::string file;   // name of the rows' table, without folder; empty: any
  std::string where;  // selects rows by an expression over columns; empty: all
  bool operator==(const FittedOn&) const = default;
};

// A number with its evidence. `low` and `high` are its 90 % interval; equal to `value` if unknown.
struct Parameter {
  double value = 0;
  double low = 0;
  double high = 0;
  Origin origin = Origin::assumed;
  std::string source;  // device and date, paper and table, or data sheet
  std::vector<FittedOn> fitted_on = {};
  bool operator==(const Parameter&) const = default;
};

}  // namespace windtunnel
