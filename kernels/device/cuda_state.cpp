#include "kernels/device/cuda_state.hpp"

#include <fmt/format.h>

namespace windtunnel {
namespace {

std::string version(int cuda) {
  return fmt::format("{}.{}", cuda / 1000, cuda % 1000 / 10);
}

std::string driver_text(const CudaState& state) {
  return state.driver.empty() ? "the driver" : "driver " + state.driver;
}

// The machine has libraries of two drivers, or a library that does not match the driver in the
// kernel.
std::string two_drivers(const CudaState& state) {
  if (!state.nvml_fault.empty()) {
    return fmt::format(
        "two drivers: the installed libraries do not belong to the running driver ({}); restart "
        "the machine after an upgrade, or remove the libraries of the other driver",
        state.nvml_fault);
  }
  return fmt::format(
      "two drivers: NVML ({}) reports CUDA {}, but libcuda reports CUDA {}; take the other libcuda "
      "out of LD_LIBRARY_PATH, or remove it",
      driver_text(state), version(state.nvml_cuda), version(state.driver_cuda));
}

}  // namespace

std::string why_no_cuda(const CudaState& state) {
  // Compares only major versions: within one, drivers run programs of later toolkits.
  const bool too_old = state.driver_cuda > 0 && state.driver_cuda / 1000 < state.built_cuda / 1000;
  const bool disagree = state.driver_cuda > 0 && state.nvml_cuda > 0 &&
                        state.driver_cuda / 1000 != state.nvml_cuda / 1000;
  // A mismatch counts even if kernels can run: without NVML, clocks and throttling are not known.
  if (state.nvml_fault.find("mismatch") != std::string::npos) return two_drivers(state);
  if (state.devices > 0 && state.fault.empty()) return "";
  if (state.driver_cuda == 0) return "no NVIDIA driver: its library libcuda.so.1 was not found";
  if (disagree) return two_drivers(state);
  if (too_old) {
    return fmt::format(
        "{} supports CUDA up to {}, but this program was built with {}; install a newer driver, or "
        "build the program with that toolkit",
        driver_text(state), version(state.driver_cuda), version(state.built_cuda));
  }
  const std::string cause = state.fault.empty() ? "" : ": " + state.fault;
  if (!state.visible.empty()) {
    return fmt::format("no CUDA device{}; CUDA_VISIBLE_DEVICES is '{}'", cause, state.visible);
  }
  return fmt::format("no CUDA device{}", cause);
}

std::string no_device_memory(std::size_t bytes, std::size_t free_bytes, std::size_t all_bytes) {
  constexpr double kGB = 1e9;
  const auto giga = [](std::size_t value) { return static_cast<double>(value) / kGB; };
  const char* const advice =
      bytes > all_bytes
          ? "the work is too large for this device; measure a smaller one"
          : "end other programs on the device (nvidia-smi lists them), or measure smaller works";
  return fmt::format(
      "needs {:.4g} GB of the device's memory at once, but only {:.4g} of {:.4g} GB are free; {}",
      giga(bytes), giga(free_bytes), giga(all_bytes), advice);
}

}  // namespace windtunnel
