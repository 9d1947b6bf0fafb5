#include "models/reliability/fault_simulation.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "models/base/error.hpp"
#include "models/base/units.hpp"
#include "traces/rows/fault_log.hpp"

namespace windtunnel {
namespace {

FailureClass node_class() {
  FailureClass result;
  result.name = "node";
  result.rate_per_node_s = 0.1 / kDay_s;
  result.repair.fixed_s = kDay_s;
  return result;
}

// Mean and standard deviation over simulated logs.
struct Spread {
  double mean = 0;
  double sd = 0;
};

template <class Value>
Spread spread_of(const std::vector<FaultFit>& fits, Value value) {
  Spread result;
  for (const FaultFit& fit : fits) result.mean += value(fit) / double(fits.size());
  for (const FaultFit& fit : fits) {
    result.sd += std::pow(value(fit) - result.mean, 2) / double(fits.size() - 1);
  }
  result.sd = std::sqrt(result.sd);
  return result;
}

// Simulates the class that was fitted to the trace, for the trace's length, and fits the result
// again.
TEST(FaultSimulation, InfiniteHbdComesBack) {
  const FaultLog log =
      read_fault_logs(WINDTUNNEL_SOURCE_DIR "/tests/data/infinitehbd_faults.csv").at(0);
  const FaultFit trace = fit_faults(log);
  const FailureClass failure_class = fitted_class(log, trace);
  check_failure_class(failure_class);
  std::vector<FaultFit> fits;
  for (int i = 0; i < 200; ++i) {
    fits.push_back(fit_faults(simulate_faults({failure_class}, log.nodes, trace.span_s, 1, i)));
  }
  const Spread down = spread_of(fits, [](const FaultFit& fit) { return fit.mean_nodes_down; });
  const Spread shape = spread_of(fits, [](const FaultFit& fit) { return fit.gap_shape.value; });
  const Spread median =
      spread_of(fits, [](const FaultFit& fit) { return fit.repair_median_s.value / kHour_s; });
  const Spread batched =
      spread_of(fits, [](const FaultFit& fit) { return fit.faults_in_batches.value; });
  const Spread faults = spread_of(fits, [](const FaultFit& fit) { return fit.faults; });
  const Spread frailty =
      spread_of(fits, [](const FaultFit& fit) { return fit.frailty_variance.value; });
  const Spread five = spread_of(fits, [](const FaultFit& fit) { return fit.nodes_with_five; });
  fmt::print(
      "down {:.2f} (sd {:.2f}), shape {:.3f} ({:.3f}), median {:.1f} h ({:.1f}), in batches "
      "{:.3f} ({:.3f}), faults {:.0f} ({:.0f}), frailty {:.2f} ({:.2f}), five {:.0f} "
      "({:.0f})\n",
      down.mean, down.sd, shape.mean, shape.sd, median.mean, median.sd, batched.mean, batched.sd,
      faults.mean, faults.sd, frailty.mean, frailty.sd, five.mean, five.sd);
  EXPECT_NEAR(down.mean, 9.4, 1.5);
  EXPECT_NEAR(shape.mean, 0.62, 0.05);
  EXPECT_NEAR(median.mean, 22, 3);
  EXPECT_NEAR(batched.mean, 85 / 584.0, 0.01);
  EXPECT_NEAR(faults.mean, 584, 3 * faults.sd / std::sqrt(200));
  EXPECT_NEAR(frailty.mean, trace.frailty_variance.value, 0.1);
  EXPECT_NEAR(five.mean, trace.nodes_with_five, 4);
}

// In an alternating renewal process each node is up for 10 days on average, then down for one.
TEST(FaultSimulation, NodesInRepairDoNotFail) {
  const FailureClass failure_class = node_class();
  double faults = 0;
  constexpr int kLogs = 40;
  for (int i = 0; i < kLogs; ++i) {
    const FaultLog log = simulate_faults({failure_class}, 50, 200 * kDay_s, 1, i);
    faults += double(log.faults.size()) / kLogs;
    std::map<int, double> back_s;
    for (const NodeFault& fault : log.faults) {
      EXPECT_GE(fault.start_s, back_s[fault.node]);
      back_s[fault.node] = fault.start_s + fault.repair_s;
    }
  }
  // A node has 200 / 11 cycles in 200 days, and (1 / 11)^2 / 2 more, because all nodes are up at
  // the start.
  const double expected = 50 * (200.0 / 11 + 1 / 242.0);
  EXPECT_NEAR(faults, expected, 4 * std::sqrt(expected / kLogs));
}

TEST(FaultSimulation, ClassesKeepTheirKind) {
  FailureClass process = node_class();
  process.name = "crash";
  process.kind = FailureKind::process;
  FailureClass planned = node_class();
  planned.name = "upgrade";
  planned.kind = FailureKind::planned;
  const FaultLog log = simulate_faults({node_class(), process, planned}, 10, 100 * kDay_s, 1, 0);
  std::map<std::string, int> causes;
  for (const NodeFault& fault : log.faults) {
    ++causes[fault.cause];
    EXPECT_EQ(fault.repair_s, fault.cause == "crash" ? 0 : kDay_s);
  }
  EXPECT_EQ(causes.size(), 2U);
  EXPECT_GT(causes["crash"], 50);
  EXPECT_GT(causes["node"], 50);
}

TEST(FaultSimulation, ARecordIsReplayed) {
  FailureClass recorded = node_class();
  recorded.arrivals = Arrivals::trace;
  recorded.trace_s = {5, 10, 10, 20};
  recorded.trace_nodes = {3, 1, 2, 3};
  const FaultLog log = simulate_faults({recorded}, 4, 15, 1, 0);
  ASSERT_EQ(log.faults.size(), 3U);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(log.faults[i].start_s, recorded.trace_s[i]);
    EXPECT_EQ(log.faults[i].node, recorded.trace_nodes[i]);
  }
  EXPECT_THROW(simulate_faults({recorded}, 3, 15, 1, 0), Error);
  recorded.notice_s = 120;  // nodes that a provider takes back are no faults
  EXPECT_TRUE(simulate_faults({recorded}, 8, 15, 1, 0).faults.empty());
}

TEST(FaultSimulation, SeedAndIndexDecideAll) {
  const auto faults = [](std::uint64_t seed, std::uint64_t index) {
    return simulate_faults({node_class()}, 10, 100 * kDay_s, seed, index).faults;
  };
  EXPECT_EQ(faults(1, 2), faults(1, 2));
  EXPECT_NE(faults(1, 2), faults(1, 3));
  EXPECT_NE(faults(1, 2), faults(2, 2));
}

TEST(FaultSimulation, NothingFailsWhereNothingCan) {
  EXPECT_TRUE(simulate_faults({}, 10, kDay_s, 1, 0).faults.empty());
  FailureClass never = node_class();
  never.rate_per_node_s = 0;
  EXPECT_TRUE(simulate_faults({never}, 10, kDay_s, 1, 0).faults.empty());
}

}  // namespace
}  // namespace windtunnel
