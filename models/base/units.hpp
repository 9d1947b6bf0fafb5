// Parses numbers with units, and formats numbers. Inside the program every quantity is a double in
// SI base units (seconds, bytes, bytes/s, FLOP/s), and its name ends with the unit (`stall_s`,
// `size_bytes`, `bandwidth_Bps`).
#pragma once

#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace windtunnel {

inline constexpr double kMinute_s = 60;
inline constexpr double kHour_s = 3600;
inline constexpr double kDay_s = 86400;
inline constexpr double kMebibyte = 1024.0 * 1024;
inline constexpr double kGibibyte = 1024 * kMebibyte;
inline constexpr double kInfinity = std::numeric_limits<double>::infinity();  // of a time: never

enum class Dimension {
  number,         // "0.5", "16"
  count,          // "15.6 T", "25 M", "2048": K, M, G (or B), T = powers of 1000
  bytes,          // "25 MB" = 1e6, "25 MiB" = 2^20
  bytes_per_s,    // "2 TB/s", "400 Gb/s" (bits), "50 GB/s"
  flops_per_s,    // "989.4 TFLOP/s"
  seconds,        // "30 s", "3 us", "5 min", "1 h", "54 d"
  per_node_s,     // "3.24 per 1000 node-days": failures per node and second
  per_s,          // "0.5 per day": failures of a whole job per second
  usd_per_gpu_s,  // "2 USD per gpu-hour"
  iterations,     // "10 iterations"
};

// An example of the dimension's text form for messages and the schema, e.g. "2 TB/s".
std::string_view example_of(Dimension dimension);

// The dimension's name in messages, e.g. "a data rate".
std::string_view noun_of(Dimension dimension);

// The units accepted for the dimension; empty for a plain number.
std::vector<std::string> units_of(Dimension dimension);

// The value in base units. Throws Error (the caller adds the location) that gives the reason and an
// example: not a number, unit missing, unit of another dimension, or unknown unit with the nearest
// known one.
double parse_quantity(std::string_view text, Dimension dimension);

// Up to 12 digits, in the largest unit that gives at least 1; parse_quantity can read it.
std::string format_quantity(double value, Dimension dimension);

std::string format_seconds(double seconds);        // "12.3 ms", "4.56 s", "3.1 h", "54.0 d"
std::string format_bytes(double bytes);            // "1.62 TB"
std::string format_memory(double bytes);           // of a GPU, "79.2 GiB"
std::string format_bandwidth(double bytes_per_s);  // "2.00 TB/s"
std::string format_count(double count);            // "15.6 T"
std::string format_percent(double share);          // 0.4123 -> "41.2 %"

}  // namespace windtunnel
