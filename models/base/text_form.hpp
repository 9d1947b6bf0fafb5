// How quantities are written for people: in which unit from which size on, with how many digits.
// These tables are the one place that says so; the program writes by them, and its pages get them
// as data.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace windtunnel {

// In place of a number of decimals.
inline constexpr int kThreeDigits = -1;  // "1.62", "25.0", "400"
inline constexpr int kAsShort = -2;      // up to four digits, without trailing zeros

struct TextScale {
  double from;            // absolute values from this one on are written in this scale
  double factor;          // what one of its unit is
  std::string_view unit;  // behind the number and a space; empty: nothing
  int decimals = kThreeDigits;
};

struct TextForm {
  std::span<const TextScale> scales;  // ascending; the first holds for all that is smaller, too
  double times = 1;                   // applied to the value before everything else
  std::string_view zero = {};         // how 0 is written; empty: as any other value
};

extern const TextForm kDurationForm;  // of seconds: "12.3 ms", "4.56 s", "3.10 h", "351 d"
extern const TextForm kBytesForm;     // "1.62 TB"
extern const TextForm kMemoryForm;    // of GPUs, as nvidia-smi counts: "79.2 GiB"
extern const TextForm kCountForm;     // "15.6 T"
extern const TextForm kPercentForm;   // of a share: 0.4123 is "41.2 %"

std::string format_value(double value, const TextForm& form);

}  // namespace windtunnel
