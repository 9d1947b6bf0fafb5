#include "validate/accuracy/rows/row_filter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "models/base/error.hpp"
#include "traces/text/text.hpp"

namespace windtunnel {
namespace {

constexpr int kDeepest = 100;  // nesting of parentheses and '!'; bounds the recursion

[[noreturn]] void fail_at(const std::string& name, const std::string& text, size_t at,
                          const std::string& what) {
  throw Error({name, 1, static_cast<int>(at) + 1},
              fmt::format("{}\n  {}\n  {}^", what, text, std::string(at, ' ')));
}

std::optional<double> number_of(std::string_view text) {
  text = trimmed(text);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) {
    return std::nullopt;
  }
  return value;
}

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

}  // namespace

class RowFilterParser {
 public:
  RowFilterParser(std::string_view text, const std::string& name) {
    filter_.text_ = text;
    filter_.name_ = name;
  }

  RowFilter parse() {
    parse_any(0);
    skip_blanks();
    if (at_ < text().size()) {
      fail(fmt::format("expected '&&', '||' or the end, not '{}'", text()[at_]));
    }
    return std::move(filter_);
  }

 private:
  using Kind = RowFilter::Kind;
  using Operator = RowFilter::Operator;

  const std::string& text() const { return filter_.text_; }
  [[noreturn]] void fail(const std::string& what) const {
    fail_at(filter_.name_, text(), at_, what);
  }

  void skip_blanks() {
    while (at_ < text().size() && (text()[at_] == ' ' || text()[at_] == '\t')) ++at_;
  }

  bool take(std::string_view token) {
    skip_blanks();
    if (!std::string_view(text()).substr(at_).starts_with(token)) return false;
    at_ += token.size();
    return true;
  }

  size_t add(RowFilter::Node node) {
    filter_.nodes_.push_back(std::move(node));
    return filter_.nodes_.size() - 1;
  }

  size_t parse_any(int depth) {
    return parse_chain(Kind::any, "||", [&] {
      return parse_chain(Kind::all, "&&", [&] { return parse_unary(depth); });
    });
  }

  template <class ParsePart>
  size_t parse_chain(Kind kind, std::string_view between, const ParsePart& parse_part) {
    std::vector<size_t> parts = {parse_part()};
    while (take(between)) parts.push_back(parse_part());
    skip_blanks();
    if (at_ < text().size() && text()[at_] == between[0]) {
      fail(fmt::format("a single '{}'; did you mean '{}'?", between[0], between));
    }
    if (parts.size() == 1) return parts[0];
    return add({.kind = kind, .children = std::move(parts), .left = {}, .right = {}});
  }

  size_t parse_unary(int depth) {
    if (depth > kDeepest) fail("nested too deep");
    if (take("!")) {
      return add(
          {.kind = Kind::negation, .children = {parse_unary(depth + 1)}, .left = {}, .right = {}});
    }
    skip_blanks();
    const size_t opened = at_;
    if (!take("(")) return parse_comparison();
    const size_t inside = parse_any(depth + 1);
    if (!take(")")) {
      if (at_ < text().size()) fail("expected '&&', '||' or ')'");
      fail_at(filter_.name_, text(), opened, "this '(' is not closed");
    }
    return inside;
  }

  size_t parse_comparison() {
    RowFilter::Node node;
    node.left = parse_operand();
    node.compare = parse_operator();
    node.right = parse_operand();
    const bool orders = node.compare == Operator::less || node.compare == Operator::less_equal ||
                        node.compare == Operator::greater ||
                        node.compare == Operator::greater_equal;
    for (const RowFilter::Operand* operand : {&node.left, &node.right}) {
      if (orders && !operand->is_column && !number_of(operand->text)) {
        fail_at(
            filter_.name_, text(), operand->at,
            fmt::format("'{}' is not a number, but '<' and '>' compare numbers", operand->text));
      }
    }
    return add(std::move(node));
  }

  Operator parse_operator() {
    // Longer operators come first.
    static const std::vector<std::pair<std::string_view, Operator>> operators = {
        {"==", Operator::equal},         {"!=", Operator::unequal}, {"<=", Operator::less_equal},
        {">=", Operator::greater_equal}, {"!~", Operator::lacks},   {"<", Operator::less},
        {">", Operator::greater},        {"~", Operator::has}};
    for (const auto& [token, compare] : operators) {
      if (take(token)) return compare;
    }
    if (at_ < text().size() && text()[at_] == '=') fail("a single '='; did you mean '=='?");
    fail("expected an operator: == != < <= > >= ~ !~");
  }

  RowFilter::Operand parse_operand() {
    skip_blanks();
    RowFilter::Operand operand;
    operand.at = at_;
    if (at_ == text().size()) fail("expected a column, a number or a text");
    const char first = text()[at_];
    if (first == '"' || first == '\'') {
      operand.text = parse_quoted(first);
      return operand;
    }
    const bool is_number = std::isalpha(static_cast<unsigned char>(first)) == 0 && first != '_';
    operand.text = parse_word(is_number);
    if (operand.text.empty()) {
      fail(fmt::format("expected a column, a number or a text, not '{}'", first));
    }
    operand.is_column = !is_number;
    if (!operand.is_column && !number_of(operand.text)) {
      fail(fmt::format("'{}' is not a number", operand.text));
    }
    at_ += operand.text.size();
    return operand;
  }

  std::string parse_quoted(char quote) {
    const size_t closed = text().find(quote, at_ + 1);
    if (closed == std::string::npos) fail("this quote is not closed");
    const size_t from = std::exchange(at_, closed + 1) + 1;
    return text().substr(from, closed - from);
  }

  // A sign is part of a number at its front and after an exponent's e.
  std::string parse_word(bool is_number) const {
    const auto is_sign = [&](size_t i) {
      return (text()[i] == '-' || text()[i] == '+') &&
             (i == at_ || (is_number && (text()[i - 1] == 'e' || text()[i - 1] == 'E')));
    };
    size_t end = at_;
    while (end < text().size() && (is_word(text()[end]) || text()[end] == '.' || is_sign(end))) {
      ++end;
    }
    return text().substr(at_, end - at_);
  }

  RowFilter filter_;
  size_t at_ = 0;
};

RowFilter RowFilter::parse(std::string_view expression, const std::string& name) {
  return RowFilterParser(expression, name).parse();
}

void RowFilter::check(const CsvTable& table) const {
  for (const Node& node : nodes_) {
    if (node.kind != Kind::comparison) continue;
    for (const Operand* operand : {&node.left, &node.right}) {
      if (!operand->is_column || table.has(operand->text)) continue;
      std::string what = unknown_name("column", operand->text, table.header());
      if (operand == &node.right) what += "; text must be in quotes";
      fail_at(name_, text_, operand->at, what);
    }
  }
}

bool RowFilter::matches(const CsvTable& table, size_t row) const {
  return holds(nodes_.size() - 1, table, row);
}

bool RowFilter::holds(size_t index, const CsvTable& table, size_t row) const {
  const Node& node = nodes_[index];
  const auto child_holds = [&](size_t child) { return holds(child, table, row); };
  const auto& children = node.children;
  switch (node.kind) {
    case Kind::any:
      return std::any_of(children.begin(), children.end(), child_holds);
    case Kind::all:
      return std::all_of(children.begin(), children.end(), child_holds);
    case Kind::negation:
      return !child_holds(children[0]);
    case Kind::comparison:
      break;
  }
  const auto text_of = [&](const Operand& operand) {
    return operand.is_column ? trimmed(table.text(row, table.column(operand.text)))
                             : std::string_view(operand.text);
  };
  const std::string_view left = text_of(node.left);
  const std::string_view right = text_of(node.right);
  if ((node.left.is_column && left.empty()) || (node.right.is_column && right.empty())) {
    return false;
  }
  const std::optional<double> a = number_of(left);
  const std::optional<double> b = number_of(right);
  const bool numbers = a && b;
  switch (node.compare) {
    case Operator::equal:
      return numbers ? *a == *b : left == right;
    case Operator::unequal:
      return numbers ? *a != *b : left != right;
    case Operator::less:
      return numbers && *a < *b;
    case Operator::less_equal:
      return numbers && *a <= *b;
    case Operator::greater:
      return numbers && *a > *b;
    case Operator::greater_equal:
      return numbers && *a >= *b;
    case Operator::has:
      return contains_text(left, right);
    case Operator::lacks:
      return !contains_text(left, right);
  }
  return false;
}

namespace {

void add_law(const std::string& name, const InterconnectLaw& law,
             std::vector<FittedNumber>& numbers) {
  for (const InterconnectLawField& field : interconnect_law_fields()) {
    const Parameter& number = law.*field.member;
    if (!number.fitted_on.empty()) {
      numbers.push_back({name + "." + std::string(field.name), false, &number});
    }
  }
}

}  // namespace

std::vector<FittedNumber> fitted_numbers(const Calibration& calibration) {
  std::vector<FittedNumber> numbers;
  for (const CalibrationField& field : calibration_fields()) {
    const Parameter& number = calibration.*field.member;
    if (number.fitted_on.empty()) continue;
    const bool of_memory = field.member == &Calibration::framework_bytes ||
                           field.member == &Calibration::fragmentation ||
                           field.member == &Calibration::memory_error;
    numbers.push_back({std::string(field.name), of_memory, &number});
  }
  add_law("network", calibration.network, numbers);
  if (calibration.node_network) add_law("node_network", *calibration.node_network, numbers);
  return numbers;
}

bool has_columns(const RowFilter& filter, const CsvTable& table) {
  try {
    filter.check(table);
  } catch (const Error&) {
    return false;
  }
  return true;
}

bool is_among(const std::vector<FittedOn>& fitted_on, const CsvTable& table, std::size_t row) {
  const std::string file = std::filesystem::path(table.file()).filename().string();
  return std::ranges::any_of(fitted_on, [&](const FittedOn& rows) {
    if (!rows.file.empty() && rows.file != file) return false;
    if (rows.where.empty()) return true;
    const RowFilter filter = RowFilter::parse(rows.where, "fitted_on");
    return has_columns(filter, table) && filter.matches(table, row);
  });
}

}  // namespace windtunnel
