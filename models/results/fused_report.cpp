#include "models/results/fused_report.hpp"

namespace windtunnel {

const FusedPoint* FusedReport::best() const {
  const FusedPoint* best = nullptr;
  for (const FusedPoint& point : points) {
    if (point.fits && (best == nullptr || point.speedup > best->speedup)) best = &point;
  }
  return best;
}

}  // namespace windtunnel
