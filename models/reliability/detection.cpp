#include "models/reliability/detection.hpp"

#include <algorithm>
#include <limits>

#include "models/base/units.hpp"

namespace windtunnel {
namespace {

double or_never(double seconds) {
  return seconds > 0 ? seconds : kInfinity;
}

}  // namespace

double detection_s(const Detection& detection, FailureKind kind) {
  // The last heartbeat that was heard is half an interval old on average.
  const double heartbeats = or_never(detection.heartbeat_s * (detection.misses - 0.5));
  const double stuck = std::min(or_never(detection.watchdog_s), or_never(detection.timeout_s));
  switch (kind) {
    case FailureKind::process:
    case FailureKind::node:
      return std::min(heartbeats, stuck);
    case FailureKind::network:
    case FailureKind::hang:
      return stuck;
    case FailureKind::slow_node:
      return or_never(detection.watchdog_s);
    case FailureKind::planned:
    case FailureKind::corrupt_snapshot:
    case FailureKind::loss_spike:
      return 0;
  }
  return kInfinity;
}

}  // namespace windtunnel
