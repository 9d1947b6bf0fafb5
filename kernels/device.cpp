#include "kernels/device.hpp"

#include <cstdlib>
#include <cstring>
#include <utility>

#include "kernels/cuda_entries.hpp"
#include "models/base/error.hpp"

namespace windtunnel {
namespace {

constexpr std::size_t kAlignmentBytes = 64;

std::byte* allocate_host(std::size_t size_bytes) {
  const std::size_t rounded =
      (size_bytes + kAlignmentBytes) / kAlignmentBytes * kAlignmentBytes;  // never zero
  void* memory = std::aligned_alloc(kAlignmentBytes, rounded);
  if (memory == nullptr) throw Error(fmt::format("no host memory for {} bytes", size_bytes));
  return static_cast<std::byte*>(memory);
}

void copy_host(std::byte* to, const std::byte* from, std::size_t size_bytes) {
  if (size_bytes > 0) std::memcpy(to, from, size_bytes);
}

constexpr Device kCpu = {
    DeviceKind::cpu,
    "cpu",
    [] { return std::string(); },
    allocate_host,
    [](std::byte* memory) { std::free(memory); },
    copy_host,
    [] {},
};

}  // namespace

const Device& device(DeviceKind kind) {
  return kind == DeviceKind::cuda ? cuda_device() : kCpu;
}

DeviceBuffer::DeviceBuffer(const Device& device, std::size_t size_bytes)
    : device_(&device), data_(device.allocate(size_bytes)), size_bytes_(size_bytes) {}

DeviceBuffer::~DeviceBuffer() {
  if (data_ != nullptr) device_->release(data_);
}

DeviceBuffer::DeviceBuffer(DeviceBuffer&& other) noexcept
    : device_(other.device_),
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
