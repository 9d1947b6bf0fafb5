// Where a number comes from. Every constant of the library and of a calibration carries one, and a
// report says which share of the predicted time rests on which.
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

// A result is as strong as the weakest number that it rests on.
inline Origin weakest(Origin a, Origin b) {
  return std::max(a, b);
}

// Of a rate: a data sheet's number times the share of it that is reached. Rows that such a share
// was fitted to show the product, so a share that is measured or published speaks for both; not for
// a number that somebody supposes in the sheet's place.
inline Origin origin_of_rate(Origin sheet, Origin reached) {
  const bool fitted = reached <= Origin::published && sheet != Origin::assumed;
  return fitted ? reached : weakest(sheet, reached);
}

const char* to_string(Origin origin);

// Seconds (or shares) by origin, indexed by Origin.
using OriginShares = std::array<double, kOrigins>;

// Rows that a number was fitted on: none of them is blind where the number predicts.
struct FittedOn {
  std::string file;   // name of their table, without folder; empty: any
  std::string where;  // which of its rows, an expression over its columns; empty: all
  bool operator==(const FittedOn&) const = default;
};

// A number with its evidence. `low` and `high` bound it (90 %); equal to value when not known.
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
