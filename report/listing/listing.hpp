// What the program knows by name: the library, schedules, compressors, snapshot tiers and
// recoveries, as tables and as JSON.
#pragma once

#include <string_view>
#include <vector>

#include "report/json/json.hpp"
#include "report/text/table.hpp"

namespace windtunnel {

struct Listing {
  std::string_view name;  // "gpus"
  std::string_view help;
  TextTable (*table)();  // for reading: the main numbers
  Json (*document)();    // {"gpus": [...]}: every number with its interval, origin and source
};

const std::vector<Listing>& listings();

}  // namespace windtunnel
