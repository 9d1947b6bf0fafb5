// The CUDA entries of a build without the toolkit: they report this, and refuse to run.
#include "kernels/code/galois_code.hpp"
#include "kernels/code/xor_code.hpp"
#include "kernels/compression/quantise.hpp"
#include "kernels/compression/sign_code.hpp"
#include "kernels/compression/sketch.hpp"
#include "kernels/compression/ternary.hpp"
#include "kernels/compression/top_k.hpp"
#include "kernels/device/cuda_entries.hpp"
#include "kernels/device/device.hpp"
#include "kernels/layer/stream_ops.hpp"
#include "models/base/error.hpp"

namespace windtunnel {
namespace {

constexpr const char* kReason = "built without CUDA";

[[noreturn]] void refuse() {
  throw Error(kReason);
}

constexpr Device kCuda = {
    DeviceKind::cuda,
    "cuda",
    [] { return std::string(kReason); },
    [] { return 0; },
    [](int) { refuse(); },
    []() -> DeviceDescription { refuse(); },
    []() -> DeviceReadings { refuse(); },
    []() -> bool { refuse(); },
    [](std::size_t, MemoryKind) -> std::byte* { refuse(); },
    [](std::byte*, MemoryKind) { refuse(); },
    [](std::byte*, const std::byte*, std::size_t) { refuse(); },
    [] { refuse(); },
    [](const std::function<void()>&, int) -> double { refuse(); },
    [](const std::vector<std::function<void()>>&) { refuse(); },
};

constexpr GaloisCode kGaloisCode = {
    [](const std::uint8_t*, int, const std::byte* const*, int, std::byte* const*, std::size_t,
       bool) { refuse(); },
};

constexpr Quantise kQuantise = {
    [](QuantisedForm, const float*, std::size_t, std::uint8_t*, float*) { refuse(); },
    [](QuantisedForm, const std::uint8_t*, const float*, std::size_t, float*) { refuse(); },
    [](const std::uint8_t*, const float*, int, std::size_t, std::uint8_t*, float*) { refuse(); },
};

constexpr SignCode kSignCode = {
    [](const float*, std::size_t, std::uint32_t*) { refuse(); },
    [](const std::uint32_t*, std::size_t, const double*, float*) { refuse(); },
    [](const float*, const float*, std::size_t, double*) { refuse(); },
    [](const float*, std::size_t, const double*, float*, std::uint32_t*, double*) { refuse(); },
    [](const std::uint32_t*, int, std::size_t, std::uint32_t*) { refuse(); },
};

constexpr StreamOps kStreamOps = {
    [](const float*, const float*, float*, std::size_t) { refuse(); },
    [](float, const float*, float*, std::size_t) { refuse(); },
    [](const AdamSettings&, const float*, float*, float*, float*, std::size_t) { refuse(); },
    [](float, const float*, float*, std::size_t) { refuse(); },
    [](std::byte*, const std::byte*, std::size_t) { refuse(); },
};

constexpr Ternary kTernary = {
    [](const float*, std::size_t, float*) { refuse(); },
    [](const float*, std::size_t, const float*, std::uint64_t, std::uint32_t*) { refuse(); },
    [](const std::uint32_t*, std::size_t, const float*, float*) { refuse(); },
};

constexpr TopK kTopK = {
    [](std::size_t) -> std::size_t { refuse(); },
    [](const float*, std::size_t, std::size_t, std::byte*, std::uint32_t*, float*) { refuse(); },
    [](const float*, std::size_t, float, std::size_t, std::uint32_t*, float*, std::uint32_t*) {
      refuse();
    },
    [](const float*, std::size_t, std::size_t, std::uint64_t, std::uint32_t*, float*) { refuse(); },
    [](const float*, const std::uint32_t*, std::size_t, float*) { refuse(); },
    [](const std::uint32_t*, const float*, std::size_t, float*) { refuse(); },
    [](const std::uint32_t*, const float*, std::size_t, float*) { refuse(); },
};

constexpr Sketch kSketch = {
    [](const float*, std::size_t, std::uint64_t, std::size_t, float*, std::uint32_t*) { refuse(); },
    [](const float*, std::size_t, std::uint64_t, const std::uint32_t*, std::size_t, float*) {
      refuse();
    },
};

constexpr XorCode kXorCode = {
    [](const std::byte* const*, int, std::byte*, std::size_t) { refuse(); },
};

}  // namespace

const Device& cuda_device() {
  return kCuda;
}
const GaloisCode& cuda_galois_code() {
  return kGaloisCode;
}
const Quantise& cuda_quantise() {
  return kQuantise;
}
const SignCode& cuda_sign_code() {
  return kSignCode;
}
const StreamOps& cuda_stream_ops() {
  return kStreamOps;
}
const Ternary& cuda_ternary() {
  return kTernary;
}
const TopK& cuda_top_k() {
  return kTopK;
}
const Sketch& cuda_sketch() {
  return kSketch;
}
const XorCode& cuda_xor_code() {
  return kXorCode;
}

}  // namespace windtunnel
