#include "traces/rows/fault_points.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <system_error>
#include <utility>

#include "models/base/error.hpp"
#include "models/base/printable.hpp"
#include "traces/text/text.hpp"

namespace windtunnel {
namespace {

// What a cell must contain if it is not empty.
enum class Holds {
  prose,    // anything
  words,    // numbers or not
  number,   // at least one number, which must be above 0
  measured  // at least one number; the cell may not be empty
};

struct CellColumn {
  std::string_view name;
  StatedCell FaultPoint::*member;
  Holds holds;
};

constexpr std::array<CellColumn, 12> kCells = {{
    {"gpus", &FaultPoint::gpus, Holds::number},
    {"nodes", &FaultPoint::nodes, Holds::number},
    {"days", &FaultPoint::days, Holds::number},
    {"interruptions", &FaultPoint::interruptions, Holds::words},
    {"mtti_h", &FaultPoint::mtti_h, Holds::number},
    {"checkpoint_bytes", &FaultPoint::checkpoint_bytes, Holds::words},
    {"storage_bw_Bps", &FaultPoint::storage_Bps, Holds::words},
    {"interval_s", &FaultPoint::interval_s, Holds::words},
    {"block_s", &FaultPoint::block_s, Holds::words},
    {"restart_s", &FaultPoint::restart_s, Holds::words},
    {"other_inputs", &FaultPoint::other_inputs, Holds::prose},
    {"measured", &FaultPoint::measured, Holds::measured},
}};

bool is_digit(char c) {
  return std::isdigit(static_cast<unsigned char>(c)) != 0;
}

// A digit after such a character does not begin a number ("H100", "r_f2").
bool is_wordlike(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.';
}

// Reads the numbers of a cell from left to right. Throws the fault as text.
class CellScanner {
 public:
  explicit CellScanner(std::string_view text) : text_(text) {}

  std::vector<StatedNumber> numbers() {
    std::string words;
    while (at_ < text_.size()) {
      if (starts_number()) {
        add_number(words);
        words.clear();
        continue;
      }
      const char c = text_[at_++];
      if (c == ';' || c == ',' || c == '/' || c == '+' || c == '(' || c == ')') {
        end_words(words);
        words.clear();
      } else {
        words += c;
      }
    }
    end_words(words);
    return std::move(numbers_);
  }

 private:
  bool starts_number() const {
    if (!is_digit(text_[at_])) return false;
    return at_ == 0 || !is_wordlike(text_[at_ - 1]);
  }

  void end_words(std::string_view words) {
    if (!numbers_.empty() && !ended_) numbers_.back().after = trimmed(words);
    ended_ = true;
  }

  double take() {
    double value = 0;
    const char* end_of_text = text_.data() + text_.size();
    const auto [end, error] = std::from_chars(text_.data() + at_, end_of_text, value);
    const std::string shown = excerpt(text_.substr(at_));
    if (error != std::errc() || !std::isfinite(value)) {
      throw Error(fmt::format("'{}' starts with a number that is too large", shown));
    }
    at_ = static_cast<size_t>(end - text_.data());
    const bool again = at_ + 1 < text_.size() && text_[at_] == '.' && is_digit(text_[at_ + 1]);
    if (again) throw Error(fmt::format("'{}' does not start with a number", shown));
    return value;
  }

  void add_number(std::string words) {
    StatedNumber number;
    if (!words.empty() && (words.back() == '>' || words.back() == '<' || words.back() == '~')) {
      number.relation = words.back();
      words.pop_back();
    }
    if (!words.empty() && words.back() == '-') {
      throw Error(fmt::format("'-{}' is negative", excerpt(text_.substr(at_))));
    }
    // Words between two numbers belong to both, as in "180 s and 60 s".
    if (!numbers_.empty() && !ended_) numbers_.back().after = trimmed(words);
    number.before = trimmed(words);
    number.low = number.high = take();
    if (at_ + 1 < text_.size() && text_[at_] == '-' && is_digit(text_[at_ + 1])) {
      ++at_;
      number.high = take();
      if (number.high < number.low) {
        throw Error(fmt::format("the range {:g}-{:g} runs backward", number.low, number.high));
      }
    }
    numbers_.push_back(std::move(number));
    ended_ = false;
  }

  std::string_view text_;
  size_t at_ = 0;
  bool ended_ = true;  // the words after the last number are complete
  std::vector<StatedNumber> numbers_;
};

StatedCell cell_of(RowReader& reader, const CellColumn& column) {
  StatedCell cell{reader.text(column.name)};
  if (cell.text.empty()) {
    if (column.holds == Holds::measured) reader.fault(column.name, "is empty");
    return cell;
  }
  try {
    cell.numbers = CellScanner(cell.text).numbers();
  } catch (const Error& error) {
    if (column.holds == Holds::prose) return cell;
    reader.fault(column.name, error.what());
    return cell;
  }
  if (column.holds == Holds::number && (!cell.states() || !(cell.value().low > 0))) {
    reader.fault(column.name, fmt::format("'{}' contains no number above 0", excerpt(cell.text)));
  } else if (column.holds == Holds::measured && !cell.states()) {
    reader.fault(column.name, fmt::format("'{}' holds no number", excerpt(cell.text)));
  }
  return cell;
}

std::vector<std::string> parts_of(std::string_view text) {
  std::vector<std::string> parts;
  for (const std::string_view part : split(text, ';')) {
    if (!trimmed(part).empty()) parts.emplace_back(trimmed(part));
  }
  return parts;
}

std::vector<RowField<FaultPoint>> point_fields() {
  std::vector<RowField<FaultPoint>> fields = {
      {"id", &FaultPoint::name, Needs::cell},
      {"system", &FaultPoint::system, Needs::column},
      {"metric", &FaultPoint::metric, Needs::cell},
      {"unpublished_inputs",
       [](FaultPoint& point, RowReader& reader) {
         point.unpublished = parts_of(reader.text("unpublished_inputs"));
       },
       Needs::column},
      {"evidence", &FaultPoint::evidence, Needs::column},
      {"source", &FaultPoint::source, Needs::column},
  };
  for (const CellColumn& column : kCells) fields.push_back({column.name, {}, Needs::column});
  return fields;
}

void read_cells(FaultPoint& point, RowReader& reader) {
  for (const CellColumn& column : kCells) point.*column.member = cell_of(reader, column);
}

}  // namespace

const StatedNumber& StatedCell::value() const {
  CHECK(states(), "'{}' states no number", text);
  for (const StatedNumber& number : numbers) {
    if (number.before == "=") return number;
  }
  return numbers.front();
}

const StatedNumber* StatedCell::with(std::string_view word) const {
  for (const StatedNumber& number : numbers) {
    if (contains_text(number.before, word) || contains_text(number.after, word)) return &number;
  }
  return nullptr;
}

bool FaultPoint::lacks(std::string_view input) const {
  for (const std::string& part : unpublished) {
    if (contains_text(part, input)) return true;
  }
  return false;
}

FaultPoints parse_fault_points(std::string_view text, const std::string& file) {
  return parse_fields<FaultPoint>(text, file, point_fields(), read_cells);
}

FaultPoints read_fault_points(const std::string& path) {
  return parse_fault_points(read_file(path), path);
}

}  // namespace windtunnel
