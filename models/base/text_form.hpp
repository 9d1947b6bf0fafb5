// How quantities are written for people: units by size, and the number of digits. The program and
// its HTML pages both format numbers by these tables; the pages receive them as data.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace windtunnel {

// These values take the place of a number of decimals.
inline constexpr int kThreeDigits = -1;  // "1.62", "25.0", "400"
inline constexpr int kAsShort = -2;      // up to four digits, without trailing zeros

struct TextScale {
  double from;            // smallest absolute value written in this scale
  double factor;          // one unit in base units
  std::string_view unit;  // written after the number and a space; empty: no unit
  int decimals = kThreeDigits;
};

struct TextForm {
  std::span<const TextScale> scales;  // ascending; the first also holds for smaller values
  double times = 1;                   // factor applied to the value first
  std::string_view zero = {};         // text for 0; empty: formatted like any other value
};

extern const TextForm kDurationForm;  // of seconds: "12.3 ms", "4.56 s", "3.10 h", "351 d"
extern const TextForm kBytesForm;     // "1.62 TB"
extern const TextForm kMemoryForm;    // of GPUs, as nvidia-smi counts: "79.2 GiB"
extern const TextForm kCountForm;     // "15.6 T"
extern const TextForm kPercentForm;   // of a share: 0.4123 is "41.2 %"

std::string format_value(double value, const TextForm& form);

}  // namespace windtunnel
