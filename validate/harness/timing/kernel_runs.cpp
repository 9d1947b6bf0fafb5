#include "validate/harness/timing/kernel_runs.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <memory>
#include <numeric>
#include <vector>

#include "kernels/code/galois_code.hpp"
#include "kernels/code/xor_code.hpp"
#include "kernels/layer/stream_ops.hpp"
#include "kernels/product/gemm.hpp"
#include "kernels/product/low_rank.hpp"
#include "models/base/random.hpp"
#include "models/reliability/galois.hpp"

namespace windtunnel {
namespace {

using Run = std::function<void()>;
constexpr std::size_t kFloat = sizeof(float);

// Random bytes, made once, because filling is not part of the timing.
const std::vector<std::byte>& noise() {
  static const std::vector<std::byte> bytes = [] {
    RandomStream random(1, RandomPurpose::measurement, 1);
    std::vector<std::byte> made(std::size_t{1} << 20);
    for (std::byte& byte : made) byte = static_cast<std::byte>(random.below(256));
    return made;
  }();
  return bytes;
}

// A tile of normally distributed values, like gradients; it is repeated.
const std::vector<std::byte>& gradients() {
  static const std::vector<std::byte> bytes = [] {
    RandomStream random(1, RandomPurpose::measurement, 2);
    std::vector<std::byte> made(std::size_t{1} << 20);
    for (std::size_t at = 0; at < made.size(); at += kFloat) {
      const auto value = static_cast<float>(random.normal());
      std::memcpy(made.data() + at, &value, kFloat);
    }
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

// A code reads its source blocks and writes its target blocks.
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

// Recovers the first m blocks.
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

constexpr GemmType gemm_type(Precision precision) {
  switch (precision) {
    case Precision::tf32:
      return GemmType::tf32;
    case Precision::fp16:
      return GemmType::fp16;
    case Precision::bf16:
      return GemmType::bf16;
    case Precision::fp8:
      return GemmType::fp8;
    default:
      return GemmType::fp32;
  }
}

const std::vector<std::byte>& product_numbers(GemmType type) {
  static std::map<GemmType, std::vector<std::byte>> of_types;
  std::vector<std::byte>& tile = of_types[type];
  if (tile.empty()) tile = gemm_numbers(type, std::size_t{1} << 20);
  return tile;
}

Run prepare_gemm(const KernelWork& work, const Device& device) {
  auto buffers = buffers_on(device);
  const GemmType type = gemm_type(work.precision);
  const auto in = static_cast<double>(gemm_in_bytes(type));
  GemmWork product;
  product.type = type;
  product.m = static_cast<int>(work.m);
  product.n = static_cast<int>(work.n);
  product.k = static_cast<int>(work.k);
  const auto matrix = [&](double elements) {
    return type == GemmType::fp32 ? reinterpret_cast<std::byte*>(buffers->floats(elements))
                                  : buffers->tiled(product_numbers(type), whole(elements * in));
  };
  product.a = matrix(work.m * work.k);
  product.b = matrix(work.k * work.n);
  product.c = buffers->zeros<std::byte>(whole(work.m * work.n) * gemm_out_bytes(type));
  product.proposals = kUsualProposals;
  const Run run = gemm(device.kind).prepared(product);
  return [buffers, run] { run(); };
}

template <MemoryKind kFrom, MemoryKind kTo>
Run prepare_copy(const KernelWork& work, const Device& device) {
  auto buffers = buffers_on(device);
  const std::byte* const from = buffers->bytes(work.bytes, kFrom);
  std::byte* const to = buffers->bytes(work.bytes, kTo);
  const auto copy = stream_ops(device.kind).copy;
  const std::size_t size_bytes = whole(work.bytes);
  return [=, kept = buffers] { copy(to, from, size_bytes); };
}

template <MemoryKind kFrom, MemoryKind kTo>
Run prepare_copy_beside(const KernelWork& work, const Device& device) {
  auto buffers = buffers_on(device);
  const std::byte* const from = buffers->bytes(work.bytes, kFrom);
  std::byte* const to = buffers->bytes(work.bytes, kTo);
  return [=, kept = buffers, kind = device.kind, size_bytes = whole(work.bytes),
          streams = static_cast<int>(work.k)] { copy_beside(kind, to, from, size_bytes, streams); };
}

Run prepare_add(const KernelWork& work, const Device& device) {
  auto buffers = buffers_on(device);
  const float* const a = buffers->floats(work.elements);
  const float* const b = buffers->floats(work.elements);
  float* const c = buffers->floats(work.elements);
  const auto add = stream_ops(device.kind).add;
  return [=, kept = buffers, n = whole(work.elements)] { add(a, b, c, n); };
}

Run prepare_scale(const KernelWork& work, const Device& device) {
  auto buffers = buffers_on(device);
  const float* const a = buffers->floats(work.elements);
  float* const b = buffers->floats(work.elements);
  const auto scale = stream_ops(device.kind).scale;
  return [=, kept = buffers, n = whole(work.elements)] { scale(2.0F, a, b, n); };
}

Run prepare_adam(const KernelWork& work, const Device& device) {
  auto buffers = buffers_on(device);
  const float* const gradient = buffers->floats(work.elements);
  float* const weight = buffers->floats(work.elements);
  float* const mean = buffers->zeros<float>(whole(work.elements));
  float* const variance = buffers->zeros<float>(whole(work.elements));
  const auto adam = stream_ops(device.kind).adam;
  return [=, kept = buffers, n = whole(work.elements)] {
    adam({}, gradient, weight, mean, variance, n);
  };
}

// With a learning rate of zero, weights do not change however often it runs.
Run prepare_sgd(const KernelWork& work, const Device& device) {
  auto buffers = buffers_on(device);
  const float* const gradient = buffers->floats(work.elements);
  float* const weight = buffers->floats(work.elements);
  const auto sgd = stream_ops(device.kind).sgd;
  return [=, kept = buffers, n = whole(work.elements)] { sgd(0, gradient, weight, n); };
}

struct Kernel {
  std::string_view name;
  PrepareKernel prepare;
};

constexpr MemoryKind kDevice = MemoryKind::device;
constexpr MemoryKind kPinned = MemoryKind::pinned;
constexpr MemoryKind kPageable = MemoryKind::pageable;

constexpr std::array<Kernel, 16> kKernels = {{
    {"gemm", prepare_gemm},
    {"add", prepare_add},
    {"scale", prepare_scale},
    {"adam", prepare_adam},
    {"sgd", prepare_sgd},
    {"copy", prepare_copy<kDevice, kDevice>},
    {"copy-to-device", prepare_copy<kPinned, kDevice>},
    {"copy-to-host", prepare_copy<kDevice, kPinned>},
    {"copy-to-device-beside", prepare_copy_beside<kPinned, kDevice>},
    {"copy-to-host-beside", prepare_copy_beside<kDevice, kPinned>},
    {"copy-to-device-pageable", prepare_copy<kPageable, kDevice>},
    {"copy-to-host-pageable", prepare_copy<kDevice, kPageable>},
    {"xor", prepare_xor},
    {"rs-encode", prepare_encode},
    {"rs-decode", prepare_decode},
    {"rs-update", prepare_update},
}};

bool is_low_rank(std::string_view kernel) {
  return kernel.starts_with("low-rank") || kernel == "orthonormalise";
}

bool is_between_memories(std::string_view kernel) {
  return kernel.starts_with("copy-");
}

}  // namespace

float* RunBuffers::floats(double elements) {
  return reinterpret_cast<float*>(tiled(gradients(), whole(elements) * kFloat));
}

std::byte* RunBuffers::zero_bytes(std::size_t size_bytes) {
  static const std::vector<std::byte> nothing(std::size_t{1} << 20);
  return tiled(nothing, size_bytes);
}

std::byte* RunBuffers::bytes(double size, MemoryKind kind) {
  return tiled(noise(), whole(size), kind);
}

std::byte* RunBuffers::tiled(const std::vector<std::byte>& tile, std::size_t size_bytes,
                             MemoryKind kind) {
  buffers_.emplace_back(device_, size_bytes, kind);
  std::byte* const data = buffers_.back().data();
  for (std::size_t start = 0; start < size_bytes; start += tile.size()) {
    device_.copy(data + start, tile.data(), std::min(tile.size(), size_bytes - start));
  }
  return data;
}

std::shared_ptr<RunBuffers> buffers_on(const Device& device) {
  return std::make_shared<RunBuffers>(device);
}

PrepareKernel find_kernel(const KernelWork& work, const Device& device) {
  // A CPU has one memory, so there are no copies between memories.
  if (device.kind == DeviceKind::cpu && is_between_memories(work.kernel)) return nullptr;
  if (work.kernel == "gemm" && !gemm(device.kind).why_unusable(gemm_type(work.precision)).empty()) {
    return nullptr;
  }
  if (is_low_rank(work.kernel) && !low_rank(device.kind).why_unusable().empty()) return nullptr;
  const auto* const found = std::ranges::find(kKernels, work.kernel, &Kernel::name);
  return found == kKernels.end() ? find_compressor(work.kernel) : found->prepare;
}

}  // namespace windtunnel
