#include "validate/harness/kernel_runner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <numeric>
#include <vector>

#include "kernels/galois_code.hpp"
#include "kernels/xor_code.hpp"
#include "models/base/random.hpp"
#include "models/galois.hpp"

namespace windtunnel {
namespace {

using Run = std::function<void()>;

size_t whole(double number) {
  return static_cast<size_t>(number);
}

// Bytes that neither repeat nor compress, made once: filling is no part of what is timed.
const std::vector<std::byte>& noise() {
  static const std::vector<std::byte> bytes = [] {
    RandomStream random(1, RandomPurpose::measurement, 1);
    std::vector<std::byte> made(std::size_t{1} << 20);
    for (std::byte& byte : made) byte = static_cast<std::byte>(random.below(256));
    return made;
  }();
  return bytes;
}

DeviceBuffer filled(const Device& device, std::size_t size_bytes) {
  DeviceBuffer buffer(device, size_bytes);
  for (std::size_t start = 0; start < size_bytes; start += noise().size()) {
    device.copy(buffer.data() + start, noise().data(),
                std::min(noise().size(), size_bytes - start));
  }
  return buffer;
}

// Blocks of a code: sources first, then targets.
struct Blocks {
  std::vector<DeviceBuffer> buffers;
  std::vector<const std::byte*> from;
  std::vector<std::byte*> to;

  Blocks(const Device& device, std::size_t sources, std::size_t targets, std::size_t size_bytes) {
    for (std::size_t i = 0; i < sources + targets; ++i) {
      buffers.push_back(filled(device, size_bytes));
      if (i < sources) {
        from.push_back(buffers.back().data());
      } else {
        to.push_back(buffers.back().data());
      }
    }
  }
};

Run prepare_copy(const KernelWork& work, const Device& device) {
  auto from = std::make_shared<DeviceBuffer>(filled(device, whole(work.bytes)));
  auto to = std::make_shared<DeviceBuffer>(filled(device, whole(work.bytes)));
  return [=, &device] { device.copy(to->data(), from->data(), from->size_bytes()); };
}

Run prepare_xor(const KernelWork& work, const Device& device) {
  auto blocks = std::make_shared<Blocks>(device, whole(work.k), 1, whole(work.bytes));
  return [=, &device] {
    xor_code(device.kind)
        .combine(blocks->from.data(), static_cast<int>(blocks->from.size()), blocks->to[0],
                 whole(work.bytes));
  };
}

Run prepare_sums(const GaloisMatrix& coefficients, const KernelWork& work, const Device& device,
                 bool add) {
  auto blocks = std::make_shared<Blocks>(device, whole(coefficients.columns),
                                         whole(coefficients.rows), whole(work.bytes));
  return [=, &device] {
    galois_code(device.kind)
        .combine(coefficients.values.data(), coefficients.rows, blocks->from.data(),
                 coefficients.columns, blocks->to.data(), whole(work.bytes), add);
  };
}

Run prepare_encode(const KernelWork& work, const Device& device) {
  return prepare_sums(cauchy_parity(static_cast<int>(work.k), static_cast<int>(work.m)), work,
                      device, false);
}

// The first m blocks are lost.
Run prepare_decode(const KernelWork& work, const Device& device) {
  std::vector<int> lost(whole(work.m));
  std::iota(lost.begin(), lost.end(), 0);
  const GaloisMatrix parity = cauchy_parity(static_cast<int>(work.k), static_cast<int>(work.m));
  return prepare_sums(rebuild_of(parity, lost).coefficients, work, device, false);
}

Run prepare_update(const KernelWork& work, const Device& device) {
  const GaloisMatrix parity = cauchy_parity(static_cast<int>(work.k), static_cast<int>(work.m));
  GaloisMatrix column = zero_matrix(parity.rows, 1);
  for (int row = 0; row < parity.rows; ++row) column.at(row, 0) = parity.at(row, 0);
  return prepare_sums(column, work, device, true);
}

struct Runner {
  std::string_view kernel;
  Run (*prepare)(const KernelWork& work, const Device& device);
};

constexpr std::array<Runner, 5> kRunners = {{
    {"copy", prepare_copy},
    {"xor", prepare_xor},
    {"rs-encode", prepare_encode},
    {"rs-decode", prepare_decode},
    {"rs-update", prepare_update},
}};

const Runner* find_runner(std::string_view kernel) {
  const auto* const found = std::ranges::find(kRunners, kernel, &Runner::kernel);
  return found == kRunners.end() ? nullptr : found;
}

Run prepare_step(const std::vector<KernelWork>& works, const Device& device) {
  std::vector<Run> runs;
  for (const KernelWork& work : works) {
    runs.push_back(find_runner(work.kernel)->prepare(work, device));
  }
  if (runs.size() == 1) return runs[0];
  return [=, &device] { device.run_beside(runs); };
}

}  // namespace

std::string why_not_runnable(const KernelSteps& steps, const Device& device) {
  for (const std::vector<KernelWork>& step : steps) {
    for (const KernelWork& work : step) {
      if (find_runner(work.kernel) == nullptr) {
        return fmt::format("no form of {} for {}", work.kernel, device.name);
      }
    }
  }
  return "";
}

double memory_bytes(const KernelSteps& steps) {
  double bytes = 0;
  for (const std::vector<KernelWork>& step : steps) {
    for (const KernelWork& work : step) bytes += kernel_kind(work.kernel).bytes(work);
  }
  return bytes;
}

TimedWork timed_work(const KernelSteps& steps, SampleRole role, CacheState cache,
                     const Device& device) {
  return {steps, role, cache, [=, &device]() -> Run {
            std::vector<Run> runs;
            for (const std::vector<KernelWork>& step : steps) {
              runs.push_back(prepare_step(step, device));
            }
            if (runs.size() == 1) return runs[0];
            return [runs] {
              for (const Run& run : runs) run();
            };
          }};
}

}  // namespace windtunnel
