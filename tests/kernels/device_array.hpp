// An array of any plain type on a device, between guards that kernels must leave alone.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "kernels/device/device.hpp"

namespace windtunnel {

template <typename T>
class DeviceArray {
 public:
  DeviceArray(DeviceKind kind, const std::vector<T>& values)
      : size_(values.size()), buffer_(device(kind), bytes_of(size_) + 2 * kGuardBytes) {
    std::vector<std::byte> bytes(buffer_.size_bytes(), kGuard);
    if (size_ > 0) std::memcpy(bytes.data() + kGuardBytes, values.data(), bytes_of(size_));
    buffer_.upload(bytes);
  }
  DeviceArray(DeviceKind kind, std::size_t size) : DeviceArray(kind, std::vector<T>(size)) {}

  T* data() const { return reinterpret_cast<T*>(buffer_.data() + kGuardBytes); }

  std::vector<T> download() const {
    const std::vector<std::byte> bytes = buffer_.download();
    const auto is_guard = [](std::byte byte) { return byte == kGuard; };
    const auto end = bytes.end() - static_cast<std::ptrdiff_t>(kGuardBytes);
    EXPECT_TRUE(std::all_of(bytes.begin(), bytes.begin() + kGuardBytes, is_guard));
    EXPECT_TRUE(std::all_of(end, bytes.end(), is_guard));
    std::vector<T> values(size_);
    if (size_ > 0) std::memcpy(values.data(), bytes.data() + kGuardBytes, bytes_of(size_));
    return values;
  }

 private:
  static constexpr std::size_t kGuardBytes = 64;  // keeps the alignment
  static constexpr std::byte kGuard{0xa5};
  static std::size_t bytes_of(std::size_t size) { return size * sizeof(T); }

  std::size_t size_;
  DeviceBuffer buffer_;
};

}  // namespace windtunnel
