// Where kernels run: the host's cores or a CUDA device, chosen at run time behind one table of
// functions, so that a kernel, its test and its benchmark are written once. Both entries always
// exist; one that cannot run on this machine says why. C++17, because nvcc compiles the CUDA side.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace windtunnel {

enum class DeviceKind { cpu, cuda };

// `device` is memory of the device, `pinned` page-locked memory of the host, from which a device
// copies at full speed (CPU: plain memory), and `pageable` memory of the host from malloc.
enum class MemoryKind { device, pinned, pageable };

// Properties that do not change while a program runs; 0 or empty: not known.
struct DeviceDescription {
  std::string name;    // "NVIDIA H200", "AMD EPYC 9454"
  std::string driver;  // CPU: the kernel's release
  std::string id;      // UUID of a GPU: the same in every process that uses it
  std::size_t memory_bytes = 0;
  std::size_t cache_bytes = 0;  // of the last level: L2 of a GPU, LLC of the host
  int sms = 0;                  // streaming multiprocessors; CPU: cores online
  double clock_Hz = 0;          // the highest; CPU: if the system reports it, else the current one
};

// Properties that change, read with each block of timings and never set; 0 or false: not known.
struct DeviceReadings {
  double clock_Hz = 0;  // of the SMs; CPU: of the first core
  double memory_clock_Hz = 0;
  double temperature_C = 0;            // CPU: of the hottest zone
  std::uint64_t throttle_reasons = 0;  // NVML's bits
  bool ecc = false, mig = false, persistence = false;
  double power_W = 0;
  // CPU: time that a hypervisor gave to others since the start, summed over cores.
  double stolen_s = 0;
};

// NVML's reasons that mean a device is slower than it could be: power cap (software 4, brake 0x80),
// slowdown by hardware (8), heat (0x20, 0x40). Idling and settings of the user do not count.
constexpr std::uint64_t kThrottled = 0x4 | 0x8 | 0x20 | 0x40 | 0x80;

struct Device {
  DeviceKind kind;
  const char* name;  // "cpu", "cuda"

  // Empty if kernels can run, else the reason why not, e.g. "built without CUDA".
  std::string (*why_unusable)();
  // The number of such devices that the process may use; 0 if kernels cannot run.
  int (*count)();
  // Selects the device, from 0, that this process uses; the default is the first. Must be called
  // before anything starts or is allocated there. After any call to CUDA, including count(), a
  // process can no longer fork processes that use CUDA.
  void (*select)(int index);
  DeviceDescription (*describe)();
  DeviceReadings (*readings)();
  // Whether others slow the device down at this moment in a way that no reading shows. CPU: the
  // calling core's other hardware thread is busy (host_machine.hpp). CUDA: false.
  bool (*disturbed)();
  // Aligned to at least 64 bytes. Throws Error if there is not enough memory.
  std::byte* (*allocate)(std::size_t size_bytes, MemoryKind memory);
  void (*release)(std::byte* memory_of_device, MemoryKind memory);
  // Copies between any two of host and device memory; returns when the copy is done.
  void (*copy)(std::byte* to, const std::byte* from, std::size_t size_bytes);
  // Returns when all kernels started so far have finished.
  void (*synchronize)();
  // The seconds that `times` >= 1 consecutive runs of `work` take. CUDA captures the calls into a
  // graph and replays it, so the time is on the device's own clock and without launches. For the
  // capture `work` is called although nothing runs, possibly more than once. One more run precedes
  // the measurement, so that no launch is in the time and collectives have synchronised the ranks.
  // Work that cannot be captured (it allocates or synchronises) is timed between two events,
  // including gaps caused by the host.
  double (*time_s)(const std::function<void()>& work, int times);
  // Runs the works in parallel, each on a stream of its own (CPU: a thread). They wait for
  // everything started before, and everything started later waits for them. There are at most 8
  // works, and none of them may call run_beside().
  void (*run_beside)(const std::vector<std::function<void()>>& works);
};

const Device& device(DeviceKind kind);

// Memory of a device. Its content is undefined until uploaded or computed.
class DeviceBuffer {
 public:
  DeviceBuffer(const Device& device, std::size_t size_bytes,
               MemoryKind memory = MemoryKind::device);
  ~DeviceBuffer();
  DeviceBuffer(DeviceBuffer&& other) noexcept;
  DeviceBuffer& operator=(DeviceBuffer&&) = delete;

  std::byte* data() const { return data_; }
  std::size_t size_bytes() const { return size_bytes_; }

  void upload(const std::vector<std::byte>& from);  // of the size of the buffer
  std::vector<std::byte> download() const;

 private:
  const Device* device_;
  MemoryKind memory_;
  std::byte* data_;
  std::size_t size_bytes_;
};

}  // namespace windtunnel
