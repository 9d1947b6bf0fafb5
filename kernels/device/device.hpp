// Where kernels run: the host's cores or a CUDA device, chosen at run time behind one table of
// functions, so that a kernel, its test and its benchmark are written once. Both entries always
// exist; one that cannot run here says why. C++17, because nvcc compiles the CUDA side.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace windtunnel {

enum class DeviceKind { cpu, cuda };

// Of the device itself; of the host, locked to its place so that a device can fetch it at full
// speed (of the CPU: plain memory); of the host, as malloc gives it.
enum class MemoryKind { device, pinned, pageable };

// What does not change while a program runs; 0 or empty: not known.
struct DeviceDescription {
  std::string name;    // "NVIDIA H200", "AMD EPYC 9454"
  std::string driver;  // CPU: the kernel's release
  std::string id;      // of a GPU (UUID): the same in every process that uses it
  std::size_t memory_bytes = 0;
  std::size_t cache_bytes = 0;  // the last one: L2 of a GPU, LLC of the host
  int sms = 0;                  // streaming multiprocessors; CPU: cores online
  double clock_Hz = 0;          // the highest; CPU: where the system tells it, else the present one
};

// What does change, read beside each block of timings and never set; 0 or false: not known.
struct DeviceReadings {
  double clock_Hz = 0;  // of the SMs, of the first core
  double memory_clock_Hz = 0;
  double temperature_C = 0;            // CPU: of the hottest zone
  std::uint64_t throttle_reasons = 0;  // NVML's bits
  bool ecc = false, mig = false, persistence = false;
  double power_W = 0;
  double stolen_s = 0;  // CPU: what a hypervisor gave to others since the start, all cores together
};

// Those of NVML's reasons for which a device is slower than it could be: power cap (software 4,
// brake 0x80), slowdown by hardware (8), heat (0x20, 0x40). Idle and settings of the user are none.
constexpr std::uint64_t kThrottled = 0x4 | 0x8 | 0x20 | 0x40 | 0x80;

struct Device {
  DeviceKind kind;
  const char* name;  // "cpu", "cuda"

  // Empty where kernels can run, else the reason why not, e.g. "built without CUDA".
  std::string (*why_unusable)();
  // How many of this kind the process may use; 0 where kernels cannot run.
  int (*count)();
  // The one of them, from 0, that this process works on: called before anything starts or is
  // allocated there, else it is the first. Where CUDA was asked anything, count() too, a process
  // can no longer fork others that use it.
  void (*select)(int index);
  DeviceDescription (*describe)();
  DeviceReadings (*readings)();
  // Whether others take from the device at this moment, which no reading shows. CPU: of the core
  // that calls, by its other hardware thread (host_machine.hpp). CUDA: false.
  bool (*disturbed)();
  // At least 64-byte aligned. Throws Error when there is not enough memory.
  std::byte* (*allocate)(std::size_t size_bytes, MemoryKind memory);
  void (*release)(std::byte* memory_of_device, MemoryKind memory);
  // Between any two of host and device memory; returns when the copy is done.
  void (*copy)(std::byte* to, const std::byte* from, std::size_t size_bytes);
  // Returns when all kernels started so far have finished.
  void (*synchronize)();
  // Seconds of `times` >= 1 runs of `work` in a row. CUDA: on the device's own clock and without
  // launches, as the replay of a graph that was captured from the calls; so `work` is called
  // though it does not run yet, and maybe again. One run more comes before the clock starts: no
  // launch is in the time, and ranks that were not ready at once are brought together by the
  // collectives in it. Work that cannot be captured (it allocates,
  // synchronises) is timed between two events, with the gaps that the host leaves.
  double (*time_s)(const std::function<void()>& work, int times);
  // The works at once: each on a stream (CPU: a thread) of its own, after what was started before
  // and before what is started after. At most 8, and none calls this again.
  void (*run_beside)(const std::vector<std::function<void()>>& works);
};

const Device& device(DeviceKind kind);

// Memory that a device can work on. Its content is undefined until uploaded or computed.
class DeviceBuffer {
 public:
  DeviceBuffer(const Device& device, std::size_t size_bytes,
               MemoryKind memory = MemoryKind::device);
  ~DeviceBuffer();
  DeviceBuffer(DeviceBuffer&& other) noexcept;
  DeviceBuffer& operator=(DeviceBuffer&&) = delete;

  std::byte* data() const { return data_; }
  std::size_t size_bytes() const { return size_bytes_; }

  void upload(const std::vector<std::byte>& from);  // as many bytes as the buffer has
  std::vector<std::byte> download() const;

 private:
  const Device* device_;
  MemoryKind memory_;
  std::byte* data_;
  std::size_t size_bytes_;
};

}  // namespace windtunnel
