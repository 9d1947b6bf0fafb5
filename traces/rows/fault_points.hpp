// Published reference points of training under failures, as a table (CSV) with the columns
//   id system gpus nodes days interruptions mtti_h checkpoint_bytes storage_bw_Bps interval_s
//   block_s restart_s other_inputs metric measured unpublished_inputs evidence source
// Sources state values in many forms: "419 unexpected + 47 planned", "256-512", "~120", ">0.90",
// "180 stall, then 420 at 11/12". A cell is therefore a list of numbers, each with the words around
// it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "traces/rows/row_fields.hpp"

namespace windtunnel {

struct StatedNumber {
  char relation = '=';  // or '>', '<', '~' (about)
  double low = 0;       // equal to high unless a range is stated
  double high = 0;
  std::string before{};  // words since the number or separator before: "r_f=", "then"
  std::string after{};   // words up to the next number: "unexpected", "h"
  bool operator==(const StatedNumber&) const = default;
};

struct StatedCell {
  std::string text;
  std::vector<StatedNumber> numbers{};

  bool states() const { return !numbers.empty(); }
  // The result if the cell is a sum ("530e9*12=6.36e12"), else the first number; there must be one.
  const StatedNumber& value() const;
  // The first number with `word` in the text before or after it; null if there is none.
  const StatedNumber* with(std::string_view word) const;
};

struct FaultPoint {
  std::string id;        // "file:line"
  size_t table_row = 0;  // in RowFile::table
  std::string name, system;
  StatedCell gpus, nodes, days, interruptions, mtti_h, checkpoint_bytes, storage_Bps;
  StatedCell interval_s, block_s, restart_s, other_inputs;
  std::string metric;
  StatedCell measured;
  std::vector<std::string> unpublished;  // in the words of the table
  std::string evidence, source;

  bool lacks(std::string_view input) const;  // whether an entry of `unpublished` contains the word
};

using FaultPoints = RowFile<FaultPoint>;

// Throws Error only if nothing can be read: no file, no header, a column missing or repeated. A
// faulty row is added to `unusable` and reading continues. Faults are: more or fewer cells than the
// header has, an id, metric or measured value missing, a count or time without a number, a number
// that is negative, malformed or out of range, a range that runs backward.
FaultPoints read_fault_points(const std::string& path);
FaultPoints parse_fault_points(std::string_view text, const std::string& file);

}  // namespace windtunnel
