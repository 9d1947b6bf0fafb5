#include <gtest/gtest.h>

#include "models/base/units.hpp"
#include "tests/report/browser.hpp"
#include "validate/pages/validation_page.hpp"

namespace windtunnel {
namespace {

PairSpread sample_spread() {
  PairSpreadMachine machine;
  machine.name = "cluster <A>";
  machine.nodes = {"a", "b", "c"};
  const auto add = [&](double bytes, bool fitted, double simulated) {
    PairSeriesSpread series;
    series.gpus_per_node = 4;
    series.bytes = bytes;
    series.pairs = 3;
    series.fitted = fitted;
    series.measured_Bps = {10e9, 20e9, 22e9};
    series.simulated_Bps = {10e9, 20e9 * simulated, 22e9};
    series.uniform_Bps = 22e9;
    machine.series.push_back(series);
  };
  add(64 * kMebibyte, true, 1);
  for (int i = 0; i < 14; ++i) add((i + 1) * kGibibyte, false, i == 0 ? 1.2 : 1.02);
  return {.machines = {machine}, .skipped = {}};
}

class PairsPage : public Browser {};

TEST_F(PairsPage, SaysHowManySeriesAreNearAndDrawsThem) {
  const std::string html = pairs_page(sample_spread(), "windtunnel validate collectives --pairs");
  EXPECT_NE(html.find("<dd>13 of 14<small>series, all three quantiles"), std::string::npos);
  EXPECT_NE(html.find("<dd>0 of 14<small>series within 10 % by a simpler rule"), std::string::npos);
  EXPECT_NE(html.find("<h2>Bus bandwidth of cluster &lt;A&gt;, GB/s</h2>"), std::string::npos);
  EXPECT_NE(html.find("4 GPUs per node, 1 GiB"), std::string::npos);
  EXPECT_NE(html.find("one leaf: no pair of whole nodes is slow"), std::string::npos);
  EXPECT_EQ(html.find("per node, 64 MiB"), std::string::npos) << "fitted on: not drawn";
  expect_fits(html);
}

}  // namespace
}  // namespace windtunnel
