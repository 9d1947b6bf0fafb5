// How far predicted speed-ups are off: a ratio of two predicted steps is more accurate than either
// step, because jobs that differ in few keys share most of what the models get wrong.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace windtunnel {

// Pairs of measured runs of one source that differ only in some keys, as two points of a comparison
// do. log(predicted ratio / measured ratio) of their step times is Student's t with
// kPairFreedom degrees of freedom and the scale sqrt(error^2 + (share * log(predicted ratio))^2).
struct MeasuredPairs {
  std::string differs;            // "layout"
  std::vector<std::string> keys;  // each with all keys below it; "" has all
  int pairs = 0;
  int sources = 0;    // publishers with such pairs
  double error = 0;   // of the logarithm of a ratio near 1
  double share = 0;   // of the logarithm of the ratio
  double spread = 0;  // root mean square of log(measured ratio), each publisher counted once
};

inline constexpr int kPairFreedom = 4;

// The narrowest kind of pairs whose keys include all of these; `all` is ordered from narrow to wide
// and its last entry includes every key.
const MeasuredPairs& pairs_of(const std::vector<MeasuredPairs>& all,
                              const std::vector<std::string>& keys);

struct SpeedUp {
  double ratio = 1;          // predicted
  double low = 1, high = 1;  // 90 % interval
  double faster = 0.5;       // probability that the point is faster than the reference
};
SpeedUp speed_up_of(double ratio, const MeasuredPairs& pairs);

}  // namespace windtunnel
