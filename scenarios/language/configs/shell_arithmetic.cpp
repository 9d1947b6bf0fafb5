#include "scenarios/language/configs/shell_arithmetic.hpp"

#include <cctype>
#include <cstdlib>

namespace windtunnel {
namespace {

// Parses sums of products of whole numbers and parentheses.
class ShellArithmetic {
 public:
  explicit ShellArithmetic(std::string_view text) : text_(text) {}

  std::optional<std::int64_t> value() {
    const std::optional<std::int64_t> sum = added();
    skip();
    return at_ == text_.size() ? sum : std::nullopt;
  }

 private:
  static constexpr std::int64_t kMost = 1'000'000'000'000;
  static constexpr int kDeepest = 50;

  void skip() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  char next() {
    skip();
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  static std::optional<std::int64_t> bounded(std::int64_t value) {
    if (value > kMost || value < -kMost) return {};
    return value;
  }
  std::optional<std::int64_t> added() {
    std::optional<std::int64_t> sum = multiplied();
    while (sum && (next() == '+' || next() == '-')) {
      const bool plus = text_[at_++] == '+';
      const std::optional<std::int64_t> more = multiplied();
      if (!more) return {};
      sum = bounded(plus ? *sum + *more : *sum - *more);
    }
    return sum;
  }
  std::optional<std::int64_t> multiplied() {
    std::optional<std::int64_t> product = operand();
    while (product && (next() == '*' || next() == '/')) {
      const bool times = text_[at_++] == '*';
      const std::optional<std::int64_t> by = operand();
      if (!by || (!times && *by == 0)) return {};
      if (times && *by != 0 && std::abs(*product) > kMost / std::abs(*by)) return {};
      product = times ? *product * *by : *product / *by;
    }
    return product;
  }
  std::optional<std::int64_t> operand() {
    if (next() == '(' && depth_ < kDeepest) {
      ++at_;
      ++depth_;
      const std::optional<std::int64_t> inside = added();
      --depth_;
      if (!inside || next() != ')') return {};
      ++at_;
      return inside;
    }
    std::int64_t number = 0;
    const std::size_t begin = at_;
    while (at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_])) != 0) {
      number = number * 10 + (text_[at_++] - '0');
      if (number > kMost) return {};
    }
    return at_ == begin ? std::nullopt : std::optional(number);
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

std::optional<std::int64_t> shell_arithmetic(std::string_view text) {
  return ShellArithmetic(text).value();
}

}  // namespace windtunnel
