// The numbers of a result, each with its name and how to read it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>
#include <windtunnel/export.hpp>

namespace windtunnel_api {

enum class Better { neither, lower, higher };  // which direction is better

struct Interval {
  double low = 0;
  double high = 0;
};

struct Figure {
  std::string key;    // "campaign.goodput": its path in the document of `windtunnel run --json`
  std::string title;  // "goodput"
  std::string unit;   // of `value`: "s", "days", "share", "bytes", "TFLOP/s", "USD"; "" for a count
  Better better = Better::neither;
  std::string help;
  std::string origin;  // "simulated", or the formula behind it
  double value = 0;
  std::optional<Interval> interval = {};  // 95 %, if the value is a mean over trials
};

// The figures are in the order of `windtunnel run --json`. Figures that do not apply or have no
// value are absent, and so are words, such as the best copy's name, which Result::json() has.
class WINDTUNNEL_API Figures {
 public:
  Figures() = default;
  explicit Figures(std::vector<Figure> figures);

  // Throws Error with the nearest key.
  const Figure& at(std::string_view key) const;
  double operator[](std::string_view key) const { return at(key).value; }
  const Figure* find(std::string_view key) const;  // null: absent

  auto begin() const { return figures_.begin(); }
  auto end() const { return figures_.end(); }
  std::size_t size() const { return figures_.size(); }

 private:
  std::vector<Figure> figures_;
};

}  // namespace windtunnel_api
