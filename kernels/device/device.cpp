#include "kernels/device/device.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <future>
#include <utility>

#include "kernels/device/cuda_entries.hpp"
#include "kernels/device/host_machine.hpp"
#include "models/base/error.hpp"

namespace windtunnel {
namespace {

constexpr std::size_t kAlignmentBytes = 64;
// From this size on, the time to look up the machine's memory is negligible.
constexpr std::size_t kLargeBytes = std::size_t{64} << 20;

std::byte* allocate_host(std::size_t size_bytes, MemoryKind /*memory*/) {
  const std::size_t rounded =
      (size_bytes + kAlignmentBytes) / kAlignmentBytes * kAlignmentBytes;  // never zero
  // Otherwise the system would grant more memory than it has, and kill the process on first use.
  const std::size_t all_bytes = rounded >= kLargeBytes ? describe_host().memory_bytes : 0;
  if (all_bytes > 0 && rounded > all_bytes) {
    throw Error(
        fmt::format("needs {:.4g} GB of host memory at once, but this machine has {:.4g} GB; take "
                    "less data, or fewer ranks",
                    1e-9 * static_cast<double>(rounded), 1e-9 * static_cast<double>(all_bytes)));
  }
  void* memory = std::aligned_alloc(kAlignmentBytes, rounded);
  if (memory == nullptr) {
    throw Error(
        fmt::format("cannot get {:.4g} GB of host memory", 1e-9 * static_cast<double>(rounded)));
  }
  return static_cast<std::byte*>(memory);
}

void copy_host(std::byte* to, const std::byte* from, std::size_t size_bytes) {
  if (size_bytes > 0) std::memcpy(to, from, size_bytes);
}

double time_host_s(const std::function<void()>& work, int times) {
  CHECK(times >= 1, "{} runs to time", times);
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < times; ++i) work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// When all works have ended, throws the first exception of any of them.
void run_threads(const std::vector<std::function<void()>>& works) {
  std::vector<std::future<void>> runs;
  for (const std::function<void()>& work : works) {
    runs.push_back(std::async(std::launch::async, work));
  }
  for (const std::future<void>& run : runs) run.wait();
  for (std::future<void>& run : runs) run.get();
}

constexpr Device kCpu = {
    DeviceKind::cpu,
    "cpu",
    [] { return std::string(); },
    [] { return 1; },
    [](int index) { CHECK(index == 0, "CPU {} of one", index); },
    [] { return describe_host(); },
    [] { return host_readings(); },
    core_disturbed,
    allocate_host,
    [](std::byte* memory, MemoryKind /*memory*/) { std::free(memory); },
    copy_host,
    [] {},
    time_host_s,
    run_threads,
};

}  // namespace

const Device& device(DeviceKind kind) {
  return kind == DeviceKind::cuda ? cuda_device() : kCpu;
}

DeviceBuffer::DeviceBuffer(const Device& device, std::size_t size_bytes, MemoryKind memory)
    : device_(&device),
      memory_(memory),
      data_(device.allocate(size_bytes, memory)),
      size_bytes_(size_bytes) {}

DeviceBuffer::~DeviceBuffer() {
  if (data_ != nullptr) device_->release(data_, memory_);
}

DeviceBuffer::DeviceBuffer(DeviceBuffer&& other) noexcept
    : device_(other.device_),
      memory_(other.memory_),
      data_(std::exchange(other.data_, nullptr)),
      size_bytes_(std::exchange(other.size_bytes_, 0)) {}

void DeviceBuffer::upload(const std::vector<std::byte>& from) {
  CHECK(from.size() == size_bytes_, "{} bytes into a buffer of {}", from.size(), size_bytes_);
  device_->copy(data_, from.data(), size_bytes_);
}

std::vector<std::byte> DeviceBuffer::download() const {
  std::vector<std::byte> bytes(size_bytes_);
  device_->copy(bytes.data(), data_, size_bytes_);
  return bytes;
}

}  // namespace windtunnel
