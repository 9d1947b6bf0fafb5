#include "models/base/text_form.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "models/base/units.hpp"

namespace windtunnel {
namespace {

// A value that would be rounded to "1000" is written in the next scale: 999.6 MB is 1.00 GB.
constexpr double kRoundsUp = 0.9995;

constexpr std::array kDurations{TextScale{0, 1e-9, "ns"},
                                TextScale{kRoundsUp * 1e-6, 1e-6, "us"},
                                TextScale{kRoundsUp * 1e-3, 1e-3, "ms"},
                                TextScale{kRoundsUp, 1, "s"},
                                TextScale{120, 60, "min"},
                                TextScale{7200, 3600, "h"},
                                TextScale{172800, 86400, "d"}};
constexpr std::array kSizes{TextScale{0, 1, "B", 0},
                            TextScale{kRoundsUp * 1e3, 1e3, "kB"},
                            TextScale{kRoundsUp * 1e6, 1e6, "MB"},
                            TextScale{kRoundsUp * 1e9, 1e9, "GB"},
                            TextScale{kRoundsUp * 1e12, 1e12, "TB"},
                            TextScale{kRoundsUp * 1e15, 1e15, "PB"}};
constexpr double kKibibyte = 1024;
constexpr std::array kMemorySizes{TextScale{0, 1, "B", 0},
                                  TextScale{kRoundsUp * kKibibyte, kKibibyte, "KiB"},
                                  TextScale{kRoundsUp * kMebibyte, kMebibyte, "MiB"},
                                  TextScale{kRoundsUp * kGibibyte, kGibibyte, "GiB"}};
constexpr std::array kCounts{TextScale{0, 1, "", kAsShort}, TextScale{9999.5, 1e3, "K"},
                             TextScale{kRoundsUp * 1e6, 1e6, "M"},
                             TextScale{kRoundsUp * 1e9, 1e9, "B"},
                             TextScale{kRoundsUp * 1e12, 1e12, "T"}};
// Percentages have tenths at any size, because shares are compared by the points between them.
constexpr std::array kPercents{TextScale{0, 1, "%", 1}};

std::string number_text(double number, int decimals) {
  if (decimals == kAsShort) return fmt::format("{:.4g}", number);
  if (decimals == kThreeDigits) {
    const double size = std::abs(number);
    decimals = size < 9.995 ? 2 : size < 99.95 ? 1 : 0;
  }
  return fmt::format("{:.{}f}", number, decimals);
}

}  // namespace

constinit const TextForm kDurationForm{kDurations, 1, "0 s"};
constinit const TextForm kBytesForm{kSizes};
constinit const TextForm kMemoryForm{kMemorySizes};
constinit const TextForm kCountForm{kCounts};
constinit const TextForm kPercentForm{kPercents, 100};

std::string format_value(double value, const TextForm& form) {
  if (value == 0 && !form.zero.empty()) return std::string(form.zero);
  const double scaled = value * form.times;
  const TextScale* chosen = &form.scales.front();
  for (const TextScale& scale : form.scales) {
    if (std::abs(scaled) >= scale.from) chosen = &scale;
  }
  const std::string number = number_text(scaled / chosen->factor, chosen->decimals);
  return chosen->unit.empty() ? number : fmt::format("{} {}", number, chosen->unit);
}

}  // namespace windtunnel
