#include "tests/kernels/gpu_fixture.hpp"
#include "tests/kernels/layer/stream_ops_properties.hpp"

namespace windtunnel {
namespace {

using StreamOpsGpu = GpuTest;

TEST_F(StreamOpsGpu, EqualPlainLoops) {
  expect_stream_ops(DeviceKind::cuda);
}

// There are more words than threads, so every thread takes several.
TEST_F(StreamOpsGpu, EqualPlainLoopsOnLongArrays) {
  RandomStream random(12, RandomPurpose::test, 0);
  const Floats a = random_floats(random, (std::size_t{1} << 23) + 3);
  expect_adds_and_scales(DeviceKind::cuda, a, a, 0);
  expect_adds_and_scales(DeviceKind::cuda, a, a, 1);
  expect_adam_steps(DeviceKind::cuda, random, a.size(), 0);
}

TEST_F(StreamOpsGpu, AdamGivesTheCpusBits) {
  RandomStream random(13, RandomPurpose::test, 0);
  for (const auto& [name, gradient] : kinds_of_floats(random, 5003)) {
    SCOPED_TRACE(name);
    const Floats start = random_floats(random, gradient.size());
    std::vector<Floats> results;
    for (const DeviceKind kind : {DeviceKind::cpu, DeviceKind::cuda}) {
      const DeviceFloats on_device(kind, gradient), weight(kind, start);
      const DeviceFloats mean(kind, Floats(start.size())), variance(kind, Floats(start.size()));
      for (int step = 1; step <= 3; ++step) {
        AdamSettings settings;
        settings.step = step;
        stream_ops(kind).adam(settings, on_device.data(), weight.data(), mean.data(),
                              variance.data(), start.size());
      }
      device(kind).synchronize();
      results.push_back(weight.download());
    }
    expect_same(results[1], results[0]);
  }
}

}  // namespace
}  // namespace windtunnel
