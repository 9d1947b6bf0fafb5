#include "models/reliability/detection.hpp"

#include <algorithm>

#include "models/base/units.hpp"
#include "models/reliability/failure_traits.hpp"

namespace windtunnel {
namespace {

double or_never(double seconds) {
  return seconds > 0 ? seconds : kInfinity;
}

}  // namespace

double detection_s(const Detection& detection, FailureKind kind) {
  // When a node fails, its last heartbeat is half an interval old on average.
  const double heartbeats = or_never(detection.heartbeat_s * (detection.misses - 0.5));
  const double stuck = std::min(or_never(detection.watchdog_s), or_never(detection.timeout_s));
  switch (traits_of(kind).noticed) {
    case NoticedBy::absence:
      return std::min(heartbeats, stuck);
    case NoticedBy::standstill:
      return stuck;
    case NoticedBy::progress:
      return or_never(detection.watchdog_s);
    case NoticedBy::itself:
      return 0;
  }
  return kInfinity;
}

}  // namespace windtunnel
