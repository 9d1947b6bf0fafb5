// Compares training on chips of which the library knows only the specification with published runs
// (docs/physics/chips.md). No number of the library was chosen by these runs, except the time
// between slices, which is fitted to MaxText 16B. Published values must be in our 95 % intervals.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "models/calibration/prediction_error.hpp"
#include "scenarios/language/case.hpp"
#include "sim/study/simulate.hpp"
#include "tests/support/joined.hpp"

namespace windtunnel {
namespace {

struct PublishedRun {
  const char* file;
  Overrides set;
  double mfu;
  bool fits = true;  // in our model; XLA chooses what it keeps and recomputes
};

Case scenario(const std::string& file, const Overrides& set = {}) {
  return load_case(WINDTUNNEL_SOURCE_DIR "/" + file, set);
}

// MaxText's global_parameter_scale doubles in turn heads and MLP, width, and layers.
Overrides maxtext(int hidden, int layers, int heads, int ffn) {
  return {{"model.hidden", std::to_string(hidden)},
          {"model.layers", std::to_string(layers)},
          {"model.heads", std::to_string(heads)},
          {"model.kv_heads", std::to_string(heads)},
          {"model.ffn", std::to_string(ffn)}};
}

std::vector<PublishedRun> published_runs() {
  return {
      {"scenarios/palm-540b.yaml", {}, 0.462},
      {"scenarios/headlines/maxtext-v5e.yaml", {}, 0.611},
      {"scenarios/headlines/maxtext-v5e.yaml",
       joined(maxtext(8192, 32, 64, 28672), {{"batch.global", "1024"}, {"batch.micro", "4"}}),
       0.6686, false},
      {"scenarios/headlines/maxtext-v5e.yaml",
       joined(maxtext(8192, 64, 64, 28672), {{"batch.global", "512"}, {"batch.micro", "2"}}), 0.599,
       false},
      {"scenarios/headlines/maxtext-v5p.yaml", {}, 0.7147, false},
      {"scenarios/headlines/maxtext-v5p.yaml",
       joined(maxtext(8192, 64, 128, 57344), {{"cluster.nodes", "128"},
                                              {"cluster.fabric.dimensions", "[8, 4, 4]"},
                                              {"layout.tp", "8"},
                                              {"batch.global", "128"},
                                              {"batch.micro", "8"}}),
       0.6868, false},
      {"scenarios/headlines/maxtext-v5p.yaml",
       joined(maxtext(16384, 128, 128, 57344), {{"cluster.nodes", "512"},
                                                {"cluster.fabric.dimensions", "[8, 8, 8]"},
                                                {"layout.tp", "8"},
                                                {"recompute", "full"},
                                                {"batch.global", "1024"},
                                                {"batch.micro", "16"}}),
       0.6399},
  };
}

TEST(Chips, PublishedRunsLieInTheInterval) {
  double errors = 0;
  for (const PublishedRun& run : published_runs()) {
    const Record record = simulate(scenario(run.file, run.set), {.allow_oom = !run.fits});
    const double factor = error_factor(record.job.calibration.step_error, kReportedShare);
    const double off = std::log(record.iteration.mfu / run.mfu);
    EXPECT_LE(std::abs(off), std::log(factor)) << run.file;
    errors += std::abs(off);
  }
  // 0.2 is the log standard deviation in the calibration's error.step.
  EXPECT_LT(errors / static_cast<double>(published_runs().size()), 0.2);
}

// GSPMD reports an MFU of 50 to 62 % on TPU v3; its widths and mesh are recalled.
TEST(Chips, GspmdLiesInItsBand) {
  const Record record = simulate(scenario("scenarios/headlines/gspmd.yaml"), {});
  EXPECT_GT(record.iteration.mfu, 0.5);
  EXPECT_LT(record.iteration.mfu, 0.62);
}

// The second pod is connected by Ethernet with a thirtieth of a link's bandwidth, and costs little
// time: PaLM was split between pods for this reason.
TEST(Chips, ASecondPodOfPalmCostsLittle) {
  const Record two = simulate(scenario("scenarios/palm-540b.yaml"), {});
  const Record one =
      simulate(scenario("scenarios/palm-540b.yaml",
                        {{"cluster.nodes", "3072"},
                         {"cluster.fabric.dimensions", "[12, 16, 16]"},
                         {"cluster.fabric.dimension_links", "[50 GB/s, 50 GB/s, 50 GB/s]"},
                         {"batch.global", "1024"}}),
               {});
  EXPECT_GT(one.iteration.time_s / two.iteration.time_s, 0.9);
  EXPECT_LE(one.iteration.time_s, two.iteration.time_s);
}

// MaxText/configs/v5e/README.md of github.com/AI-Hypercomputer/maxtext (0ed7bd5) lists MFU in
// percent on 1, 2, 4, 8, 16 and 32 slices of 256 v5e. The time between slices is fitted to 16B
// only.
struct PublishedSlices {
  const char* size;
  int hidden, layers, batch;  // batch: sequences per chip
  std::array<double, 6> mfu;
};
constexpr PublishedSlices kSlices[] = {
    {"16B", 4096, 32, 6, {61.10, 59.37, 59.14, 58.27, 56.56, 54.65}},
    {"32B", 8192, 32, 4, {66.86, 64.81, 64.10, 63.67, 62.26, 60.40}},
    {"64B", 8192, 64, 2, {59.90, 56.66, 55.85, 54.96, 53.29, 50.18}},
};

double mfu_on(const PublishedSlices& of, int slices) {
  Overrides set = maxtext(of.hidden, of.layers, 64, 28672);
  set.emplace_back("batch.micro", std::to_string(of.batch));
  set.emplace_back("batch.global", std::to_string(256 * of.batch * slices));
  set.emplace_back("cluster.nodes", std::to_string(256 * slices));
  if (slices > 1) {
    set.emplace_back("cluster.fabric.slices", std::to_string(slices));
    set.emplace_back("layout.shard_ranks", "256");
  }
  return simulate(scenario("scenarios/headlines/maxtext-v5e.yaml", set), {.allow_oom = true})
      .iteration.mfu;
}

// The ratio of MFU on several slices to MFU on one must be within two points of the published
// ratio, also for sizes that were not fitted.
TEST(Chips, SlicesLoseWhatIsPublished) {
  for (const PublishedSlices& of : kSlices) {
    const double one = mfu_on(of, 1);
    for (const std::size_t i : {1, 2, 4}) {
      const int slices = 1 << i;
      const double left = mfu_on(of, slices) / one;
      const double published = of.mfu[i] / of.mfu[0];
      RecordProperty(fmt::format("{}_{}", of.size, slices),
                     fmt::format("{:.4f} {:.4f}", left, published));
      EXPECT_NEAR(left, published, 0.02) << of.size << " on " << slices << " slices";
    }
  }
}

}  // namespace
}  // namespace windtunnel
