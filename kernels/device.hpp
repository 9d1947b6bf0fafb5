// Where kernels run: the host's cores or a CUDA device, chosen at run time behind one table of
// functions, so that a kernel, its test and its benchmark are written once. Both entries always
// exist; one that cannot run here says why. C++17, because nvcc compiles the CUDA side.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace windtunnel {

enum class DeviceKind { cpu, cuda };

struct Device {
  DeviceKind kind;
  const char* name;  // "cpu", "cuda"

  // Empty where kernels can run, else the reason why not, e.g. "built without CUDA".
  std::string (*why_unusable)();
  // At least 64-byte aligned. Throws Error when there is not enough memory.
  std::byte* (*allocate)(std::size_t size_bytes);
  void (*release)(std::byte* memory);
  // Between any two of host and device memory; returns when the copy is done.
  void (*copy)(std::byte* to, const std::byte* from, std::size_t size_bytes);
  // Returns when all kernels started so far have finished.
  void (*synchronize)();
};

const Device& device(DeviceKind kind);

// Memory of one device. Its content is undefined until uploaded or computed.
class DeviceBuffer {
 public:
  DeviceBuffer(const Device& device, std::size_t size_bytes);
  ~DeviceBuffer();
  DeviceBuffer(DeviceBuffer&& other) noexcept;
  DeviceBuffer& operator=(DeviceBuffer&&) = delete;

  std::byte* data() const { return data_; }
  std::size_t size_bytes() const { return size_bytes_; }

  void upload(const std::vector<std::byte>& from);  // as many bytes as the buffer has
  std::vector<std::byte> download() const;

 private:
  const Device* device_;
  std::byte* data_;
  std::size_t size_bytes_;
};

}  // namespace windtunnel
