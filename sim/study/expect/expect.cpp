#include "sim/study/expect/expect.hpp"

#include <cmath>
#include <optional>

#include "models/base/error.hpp"
#include "models/base/quantile.hpp"
#include "models/network/collectives/collective_interval.hpp"
#include "models/network/collectives/collective_law.hpp"
#include "scenarios/language/library/interconnect_laws.hpp"
#include "traces/nccl/nccl_tests.hpp"

namespace windtunnel {
namespace {

class CurveMaker {
 public:
  CurveMaker(const ExpectRequest& request, const Calibration& calibration, const GroupShape& shape)
      : request_(request),
        calibration_(calibration),
        law_(request.kind, request.choice, shape, request.cluster, calibration) {
    if (request.nvls || !calibration.network.stated) return;
    TunerSettings settings = tuner_settings(calibration.network);
    settings.nvls = false;
    without_nvls_ = make_tuner_table(request.kind, shape, request.cluster, settings);
  }

  CollectiveCost cost(double bytes) const {
    if (!without_nvls_) return collective_cost(law_, bytes);
    const CollectiveChoice picked = nccl_choice(*without_nvls_, request_.choice, bytes);
    return collective_cost(request_.kind, picked, law_.shape(), bytes, request_.cluster,
                           calibration_);
  }

 private:
  const ExpectRequest& request_;
  const Calibration& calibration_;
  CollectiveLaw law_;
  std::optional<TunerTable> without_nvls_;
};

ExpectedSize expected_by_law(const ExpectRequest& request, const Calibration& calibration,
                             const GroupShape& shape, const CollectiveCost& cost, double bytes) {
  const InterconnectLaw& law = calibration.network;
  const double noise =
      collective_noise(law, request.cluster.node, shape.nodes, bytes, request.fitted).value;
  const TimeFactors factors = time_factors(law, shape.nodes, noise);
  ExpectedSize size;
  size.seconds = reported_s(request.process_gpus, cost.seconds);
  size.low_s = cost.seconds * factors.low;  // each GPU may have a separate process
  size.high_s = size.seconds * factors.high;
  return size;
}

// Returns the interval between the times with every constant at either end of its interval.
ExpectedSize expected_by_constants(const ExpectRequest& request, const Calibration& calibration,
                                   const GroupShape& shape, const CollectiveCost& cost,
                                   double bytes) {
  const auto at_end = [&](bool faster) {
    const Calibration moved = with_network_at_end(calibration, faster);
    return collective_cost(request.kind, {cost.algorithm, cost.protocol}, shape, bytes,
                           request.cluster, moved)
        .seconds;
  };
  ExpectedSize size;
  size.seconds = cost.seconds;
  size.low_s = at_end(true);
  size.high_s = at_end(false);
  return size;
}

}  // namespace

ExpectedCurve expect_collective(const ExpectRequest& request) {
  if (request.gpus.size() < 2) {
    throw Error("a collective needs at least two ranks, but the machine has one GPU");
  }
  const Cluster& cluster = request.cluster;
  const GroupShape shape = group_shape(request.gpus, cluster);
  ExpectedCurve curve{.kind = request.kind,
                      .ranks = shape.members,
                      .nodes = shape.nodes,
                      .sizes = {},
                      .noise = {},
                      .small_noise = {},
                      .slow_share = {},
                      .slow_log = {},
                      .why_no_law = {},
                      .process_gpus = request.process_gpus,
                      .process_assumed = request.process_assumed};
  Calibration calibration = request.calibration;
  if (!calibration.network.stated) {
    curve.why_no_law = why_no_network_law(cluster.node, cluster.fabric.transport);
  }
  const bool by_law = curve.why_no_law.empty();
  if (by_law) {
    calibration = with_one_network_law(calibration, cluster.node, cluster.fabric.transport);
    if (request.nccl_release > 0) {
      const double release = request.nccl_release;
      calibration.network.tuner_release = {release, release, release, Origin::published,
                                           "the release of NCCL that ran"};
    }
    const auto noise = [&](double bytes) {
      return collective_noise(calibration.network, cluster.node, shape.nodes, bytes,
                              request.fitted);
    };
    curve.noise = noise(kLargeCollective_bytes);
    curve.small_noise = noise(0);
    if (shape.nodes > 1) {
      curve.slow_share = calibration.network.slow_share;
      curve.slow_log = calibration.network.slow_log;
    }
  }
  const CurveMaker maker(request, calibration, shape);
  for (const double bytes : request.sizes) {
    const CollectiveCost cost = maker.cost(bytes);
    ExpectedSize size = by_law ? expected_by_law(request, calibration, shape, cost, bytes)
                               : expected_by_constants(request, calibration, shape, cost, bytes);
    size.bytes = bytes;
    size.log_sd = std::log(size.high_s / size.low_s) / (2 * kNormal95);
    size.origin = cost.origin;
    size.algorithm = cost.algorithm;
    size.protocol = cost.protocol;
    curve.sizes.push_back(size);
  }
  return curve;
}

double bus_bandwidth(const ExpectedCurve& curve, double bytes, double seconds) {
  return bytes / seconds * bus_factor(curve.kind, curve.ranks);
}

}  // namespace windtunnel
