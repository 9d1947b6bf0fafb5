#include "validate/harness/timing/kernel_runner.hpp"

#include <gtest/gtest.h>

#include <set>

#include "models/base/error.hpp"
#include "validate/harness/collectives/tcp_collectives.hpp"

namespace windtunnel {
namespace {

TEST(KernelRunner, WorksRunOnTheCpuInTurnAndSideBySide) {
  const Device& cpu = device(DeviceKind::cpu);
  for (const char* text : {"gemm type=fp32 m=17 n=5 k=33",
                           "add elements=1001",
                           "scale elements=1001",
                           "adam elements=1001",
                           "sgd elements=1001",
                           "sign-pack elements=1001",
                           "sign-unpack elements=1001",
                           "sign-error elements=1001",
                           "sign-magnitude elements=1001",
                           "vote elements=1001 k=3",
                           "ternary elements=1001",
                           "ternary-max elements=1001",
                           "ternary-decode elements=1001",
                           "quantise-int8 elements=1001",
                           "dequantise-int8 elements=1001",
                           "quantise-int4 elements=1001",
                           "dequantise-int4 elements=1001",
                           "quantise-fp8 elements=1001",
                           "dequantise-fp8 elements=1001",
                           "requantise-int8 elements=1001 k=3",
                           "top-k elements=1001 k=10",
                           "threshold elements=1001 k=10",
                           "random-k elements=1001 k=10",
                           "scatter elements=1001 k=10",
                           "sketch elements=1001 k=50",
                           "sketch-estimate elements=1001 k=50",
                           "low-rank m=40 n=30 k=4",
                           "orthonormalise m=40 k=4",
                           "copy bytes=100000",
                           "xor k=3 m=1 bytes=4097",
                           "rs-encode k=4 m=2 bytes=1000",
                           "rs-decode k=4 m=2 bytes=1000",
                           "rs-update k=4 m=2 bytes=1000",
                           "rs-encode k=4 m=2 bytes=65536 > copy bytes=1000",
                           "xor k=2 m=1 bytes=65536 & copy bytes=65536"}) {
    const KernelSteps steps = parse_kernel_steps(text);
    ASSERT_EQ(why_not_runnable(steps, cpu), "") << text;
    const TimedWork work = timed_work(steps, SampleRole::fit, CacheState::warm, cpu);
    const std::function<void()> run = work.prepare();
    EXPECT_GT(cpu.time_s(run, 3), 0) << text;
  }
}

// A cold run uses a buffer again only when no host's share of a cache can still hold it.
TEST(KernelRunner, ColdRunsGoRoundOverManyBuffers) {
  static std::set<const std::byte*> buffers;
  Device counting = device(DeviceKind::cpu);
  counting.allocate = [](std::size_t size_bytes, MemoryKind memory) {
    std::byte* made = device(DeviceKind::cpu).allocate(size_bytes, memory);
    buffers.insert(made);
    return made;
  };
  const auto made_for = [&](const char* text, CacheState cache) {
    buffers.clear();
    const TimedWork work = timed_work(parse_kernel_steps(text), SampleRole::fit, cache, counting);
    const std::function<void()> run = work.prepare();
    for (int i = 0; i < 100; ++i) run();
    return buffers.size();
  };
  EXPECT_EQ(made_for("copy bytes=4000000", CacheState::warm), 2U);
  EXPECT_GE(made_for("copy bytes=4000000", CacheState::cold), 32U);
  EXPECT_GE(made_for("copy bytes=200000000", CacheState::cold), 4U);
}

TEST(KernelRunner, SaysWhatItCannotRun) {
  for (const char* text :
       {"send bytes=1", "copy-to-host bytes=1", "copy-to-host-beside k=4 bytes=1",
        "copy-to-device-beside k=4 bytes=1", "gemm type=fp8 m=16 n=16 k=16"}) {
    EXPECT_NE(why_not_runnable(parse_kernel_steps(text), device(DeviceKind::cpu)), "") << text;
  }
}

TEST(KernelRunner, MemoryOfAllSteps) {
  EXPECT_EQ(memory_bytes(parse_kernel_steps("send bytes=100")), 200);
  EXPECT_EQ(memory_bytes(parse_kernel_steps("copy bytes=100 > xor k=3 m=1 bytes=10")), 240);
}

const char* const kOfTwo[] = {"send bytes=1001",
                              "all-reduce-ring bytes=1001 ranks=2",
                              "all-reduce-tree bytes=1001 ranks=2",
                              "reduce-scatter-ring bytes=1001 ranks=2",
                              "all-gather-ring bytes=1001 ranks=2",
                              "all-to-all-pairwise bytes=1001 ranks=2",
                              "quantise-int8 elements=1001 > send bytes=1017",
                              "gemm type=fp32 m=17 n=5 k=33 & all-reduce-ring bytes=400 ranks=2"};

TEST(KernelRunner, CollectivesRunBetweenRanks) {
  const Device& cpu = device(DeviceKind::cpu);
  run_ranks(2, [&](TcpGroup& group) {
    TcpCollectives collectives(group);
    for (const char* text : kOfTwo) {
      const KernelSteps steps = parse_kernel_steps(text);
      const std::string reason = why_not_runnable(steps, cpu, &collectives);
      if (!reason.empty()) throw Error(reason);
      const TimedWork work =
          timed_work(steps, SampleRole::fit, CacheState::warm, cpu, &collectives);
      const std::function<void()> run = work.prepare();
      if (!(cpu.time_s(run, 3) > 0)) throw Error(text);
    }
  });
}

TEST(KernelRunner, CollectivesNeedTheirRanks) {
  const Device& cpu = device(DeviceKind::cpu);
  const auto reason = [&](const char* text, const Collectives* collectives) {
    return why_not_runnable(parse_kernel_steps(text), cpu, collectives);
  };
  for (const char* text : kOfTwo) EXPECT_NE(reason(text, nullptr), "") << text;
  run_ranks(1, [&](TcpGroup& group) {
    const TcpCollectives alone(group);
    EXPECT_EQ(reason("send bytes=8", &alone), "send needs other ranks");
  });
  run_ranks(2, [&](TcpGroup& group) {
    const TcpCollectives two(group);
    const auto refused = [&](const char* text, const std::string& due) {
      if (reason(text, &two) != due) throw Error(reason(text, &two));
    };
    refused("all-reduce-ring bytes=8 ranks=3", "all-reduce-ring is for 3 ranks, but 2 are running");
    refused("all-gather-ring bytes=8 ranks=2 & send bytes=8",
            "collectives cannot run at the same time, because their order would be undefined");
  });
}

}  // namespace
}  // namespace windtunnel
