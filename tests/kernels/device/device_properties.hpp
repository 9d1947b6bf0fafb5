// What must hold of any device; one test file per device calls it.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <numeric>
#include <vector>

#include "kernels/code/xor_code.hpp"
#include "kernels/device/device.hpp"
#include "models/base/error.hpp"

namespace windtunnel {

inline std::vector<std::byte> counted_bytes(std::size_t size_bytes) {
  std::vector<std::byte> bytes(size_bytes);
  for (std::size_t i = 0; i < size_bytes; ++i) bytes[i] = static_cast<std::byte>(i * 7);
  return bytes;
}

inline void expect_every_memory_gives_back(DeviceKind kind) {
  const Device& where = device(kind);
  const std::vector<std::byte> bytes = counted_bytes(10001);
  DeviceBuffer first(where, bytes.size(), MemoryKind::pageable);
  first.upload(bytes);
  DeviceBuffer second(where, bytes.size(), MemoryKind::pinned);
  DeviceBuffer third(where, bytes.size(), MemoryKind::device);
  where.copy(second.data(), first.data(), bytes.size());
  where.copy(third.data(), second.data(), bytes.size());
  EXPECT_EQ(third.download(), bytes);
}

inline void expect_describes_itself(DeviceKind kind) {
  const DeviceDescription description = device(kind).describe();
  EXPECT_FALSE(description.name.empty());
  EXPECT_GT(description.memory_bytes, std::size_t{1} << 20);
  EXPECT_GE(description.sms, 1);
}

// The XOR of a single block is a copy that runs as a kernel.
inline std::function<void()> copying(DeviceKind kind, const DeviceBuffer& from,
                                     const DeviceBuffer& to) {
  return [kind, &from, &to] {
    const std::byte* source = from.data();
    xor_code(kind).combine(&source, 1, to.data(), from.size_bytes());
  };
}

// Two arrays of the device, and the bytes that a copy from one to the other must give.
struct CopiedBytes {
  CopiedBytes(DeviceKind kind, std::size_t size)
      : bytes(counted_bytes(size)), from(device(kind), size), to(device(kind), size) {
    from.upload(bytes);
  }
  std::vector<std::byte> bytes;
  DeviceBuffer from, to;
};

// Expects that work runs and takes a time above zero.
inline void expect_works(DeviceKind kind) {
  const CopiedBytes copy(kind, std::size_t{1} << 20);
  EXPECT_GT(device(kind).time_s(copying(kind, copy.from, copy.to), 2), 0);
  EXPECT_EQ(copy.to.download(), copy.bytes);
}

// Expects that twice the work takes about twice as long, and that the work was done.
inline void expect_times_work(DeviceKind kind) {
  const Device& where = device(kind);
  const CopiedBytes copy(kind, std::size_t{16} << 20);
  const std::function<void()> work = copying(kind, copy.from, copy.to);
  where.time_s(work, 1);
  EXPECT_EQ(copy.to.download(), copy.bytes);
  double few_s = 1e9;
  double many_s = 1e9;
  for (int i = 0; i < 5; ++i) {
    few_s = std::min(few_s, where.time_s(work, 2));
    many_s = std::min(many_s, where.time_s(work, 20));
  }
  EXPECT_GT(many_s / few_s, 4);
  EXPECT_LT(many_s / few_s, 25);
  EXPECT_THROW(where.time_s(work, 0), InternalError);
}

// Expects that an Error in the work is passed on, and that the next work is timed as usual.
inline void expect_passes_errors_on(DeviceKind kind) {
  const Device& where = device(kind);
  EXPECT_THROW(where.time_s([] { throw Error("no such work"); }, 3), Error);
  EXPECT_THROW(where.run_beside({[] {}, [] { throw Error("no such work"); }}), Error);
  where.synchronize();
  expect_works(kind);
}

// Expects that each work of a step reads what the step before wrote.
inline void expect_runs_beside(DeviceKind kind) {
  const Device& where = device(kind);
  const std::vector<std::byte> bytes = counted_bytes((std::size_t{4} << 20) + 3);
  std::vector<DeviceBuffer> buffers;
  for (int i = 0; i < 9; ++i) buffers.emplace_back(where, bytes.size());
  buffers[0].upload(bytes);
  const auto steps = [&] {
    copying(kind, buffers[0], buffers[1])();
    where.run_beside({copying(kind, buffers[1], buffers[2]), copying(kind, buffers[1], buffers[3]),
                      copying(kind, buffers[1], buffers[4]),
                      copying(kind, buffers[1], buffers[5])});
    where.run_beside(
        {copying(kind, buffers[2], buffers[6]), copying(kind, buffers[5], buffers[7])});
    copying(kind, buffers[7], buffers[8])();
  };
  steps();
  where.synchronize();
  for (const DeviceBuffer& buffer : buffers) EXPECT_EQ(buffer.download(), bytes);
  EXPECT_GT(where.time_s(steps, 3), 0);
  for (const DeviceBuffer& buffer : buffers) EXPECT_EQ(buffer.download(), bytes);
}

}  // namespace windtunnel
