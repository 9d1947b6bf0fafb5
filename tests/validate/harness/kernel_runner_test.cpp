#include "validate/harness/kernel_runner.hpp"

#include <gtest/gtest.h>

namespace windtunnel {
namespace {

TEST(KernelRunner, WorksRunOnTheCpuInTurnAndSideBySide) {
  const Device& cpu = device(DeviceKind::cpu);
  for (const char* text :
       {"copy bytes=100000", "xor k=3 m=1 bytes=4097", "rs-encode k=4 m=2 bytes=1000",
        "rs-decode k=4 m=2 bytes=1000", "rs-update k=4 m=2 bytes=1000",
        "rs-encode k=4 m=2 bytes=65536 > copy bytes=1000",
        "xor k=2 m=1 bytes=65536 & copy bytes=65536"}) {
    const KernelSteps steps = parse_kernel_steps(text);
    ASSERT_EQ(why_not_runnable(steps, cpu), "") << text;
    const TimedWork work = timed_work(steps, SampleRole::fit, CacheState::warm, cpu);
    const std::function<void()> run = work.prepare();
    EXPECT_GT(cpu.time_s(run, 3), 0) << text;
  }
}

TEST(KernelRunner, SaysWhatItCannotRun) {
  EXPECT_NE(why_not_runnable(parse_kernel_steps("send bytes=1"), device(DeviceKind::cpu)), "");
}

TEST(KernelRunner, MemoryOfAllSteps) {
  EXPECT_EQ(memory_bytes(parse_kernel_steps("copy bytes=100 > xor k=3 m=1 bytes=10")), 240);
}

}  // namespace
}  // namespace windtunnel
