#include "models/results/speed_up.hpp"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>

#include "models/base/error.hpp"

namespace windtunnel {
namespace {

bool includes(const MeasuredPairs& pairs, std::string_view key) {
  return std::ranges::any_of(pairs.keys, [&](const std::string& above) {
    return above.empty() || key == above || key.starts_with(above + ".");
  });
}

}  // namespace

const MeasuredPairs& pairs_of(const std::vector<MeasuredPairs>& all,
                              const std::vector<std::string>& keys) {
  const auto found = std::ranges::find_if(all, [&](const MeasuredPairs& pairs) {
    return std::ranges::all_of(keys, [&](const std::string& key) { return includes(pairs, key); });
  });
  CHECK(found != all.end(), "no kind of pairs has all keys");
  return *found;
}

SpeedUp speed_up_of(double ratio, const MeasuredPairs& pairs) {
  const double log_ratio = std::log(ratio);
  const double scale = std::hypot(pairs.error, pairs.share * log_ratio);
  const boost::math::students_t student(kPairFreedom);
  const double reach = boost::math::quantile(student, 0.95) * scale;
  return {.ratio = ratio,
          .low = std::exp(log_ratio - reach),
          .high = std::exp(log_ratio + reach),
          .faster = boost::math::cdf(student, log_ratio / scale)};
}

}  // namespace windtunnel
