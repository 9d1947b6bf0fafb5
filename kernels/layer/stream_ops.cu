#include <algorithm>
#include <cstdint>
#include <initializer_list>

#include "kernels/device/cuda_check.cuh"
#include "kernels/device/cuda_entries.hpp"
#include "kernels/device/work_stream.cuh"
#include "kernels/layer/adam_factors.hpp"
#include "kernels/layer/stream_ops.hpp"

namespace windtunnel {
namespace {

constexpr int kThreads = 256;
constexpr std::size_t kMaxBlocks = 132 * 32;  // fills every SM of the largest devices
constexpr int kWide = 4;                      // floats of a 16-byte access

// Streaming accesses keep data that is used once from evicting other data (__ldcs, __stcs).
template <int kWidth>
__device__ void load(const float* from, std::size_t i, float (&values)[kWidth]) {
  if constexpr (kWidth == kWide) {
    const float4 v = __ldcs(reinterpret_cast<const float4*>(from) + i);
    values[0] = v.x;
    values[1] = v.y;
    values[2] = v.z;
    values[3] = v.w;
  } else {
    values[0] = __ldcs(from + i);
  }
}

template <int kWidth>
__device__ void store(float* to, std::size_t i, const float (&values)[kWidth]) {
  if constexpr (kWidth == kWide) {
    __stcs(reinterpret_cast<float4*>(to) + i,
           make_float4(values[0], values[1], values[2], values[3]));
  } else {
    __stcs(to + i, values[0]);
  }
}

struct Add {
  const float* a;
  const float* b;
  float* c;

  Add behind(std::size_t done) const { return {a + done, b + done, c + done}; }
  template <int kWidth>
  __device__ void at(std::size_t i) const {
    float x[kWidth], y[kWidth];
    load(a, i, x);
    load(b, i, y);
#pragma unroll
    for (int j = 0; j < kWidth; ++j) x[j] += y[j];
    store(c, i, x);
  }
};

struct Scale {
  float s;
  const float* a;
  float* b;

  Scale behind(std::size_t done) const { return {s, a + done, b + done}; }
  template <int kWidth>
  __device__ void at(std::size_t i) const {
    float x[kWidth];
    load(a, i, x);
#pragma unroll
    for (int j = 0; j < kWidth; ++j) x[j] *= s;
    store(b, i, x);
  }
};

struct Adam {
  AdamFactors factors;
  const float* gradient;
  float* weight;
  float* mean;
  float* variance;

  Adam behind(std::size_t done) const {
    return {factors, gradient + done, weight + done, mean + done, variance + done};
  }
  template <int kWidth>
  __device__ void at(std::size_t i) const {
    float g[kWidth], w[kWidth], m[kWidth], v[kWidth];
    load(gradient, i, g);
    load(weight, i, w);
    load(mean, i, m);
    load(variance, i, v);
#pragma unroll
    for (int j = 0; j < kWidth; ++j) adam_update(factors, g[j], w[j], m[j], v[j]);
    store(weight, i, w);
    store(mean, i, m);
    store(variance, i, v);
  }
};

struct Sgd {
  float learning_rate;
  const float* gradient;
  float* weight;

  Sgd behind(std::size_t done) const { return {learning_rate, gradient + done, weight + done}; }
  template <int kWidth>
  __device__ void at(std::size_t i) const {
    float g[kWidth], w[kWidth];
    load(gradient, i, g);
    load(weight, i, w);
#pragma unroll
    for (int j = 0; j < kWidth; ++j) w[j] = sgd_update(learning_rate, g[j], w[j]);
    store(weight, i, w);
  }
};

template <int kWidth, typename Op>
__global__ void __launch_bounds__(kThreads) each(Op op, std::size_t words) {
  const std::size_t stride = std::size_t{gridDim.x} * kThreads;
  for (std::size_t i = std::size_t{blockIdx.x} * kThreads + threadIdx.x; i < words; i += stride) {
    op.template at<kWidth>(i);
  }
}

template <int kWidth, typename Op>
void launch(const Op& op, std::size_t words) {
  if (words == 0) return;
  const std::size_t blocks = std::min((words + kThreads - 1) / kThreads, kMaxBlocks);
  each<kWidth><<<static_cast<unsigned>(blocks), kThreads, 0, work_stream()>>>(op, words);
  CHECK_CUDA(cudaGetLastError());
}

// Uses wide accesses if all arrays allow them, then processes the tail float by float.
template <typename Op>
void run(const Op& op, std::initializer_list<const float*> arrays, std::size_t elements) {
  const bool wide = std::all_of(arrays.begin(), arrays.end(), [](const float* array) {
    return reinterpret_cast<std::uintptr_t>(array) % sizeof(float4) == 0;
  });
  const std::size_t words = wide ? elements / kWide : 0;
  launch<kWide>(op, words);
  launch<1>(op.behind(kWide * words), elements - kWide * words);
}

void add(const float* a, const float* b, float* c, std::size_t elements) {
  run(Add{a, b, c}, {a, b, c}, elements);
}

void scale(float s, const float* a, float* b, std::size_t elements) {
  run(Scale{s, a, b}, {a, b}, elements);
}

void adam(const AdamSettings& settings, const float* gradient, float* weight, float* mean,
          float* variance, std::size_t elements) {
  run(Adam{adam_factors(settings), gradient, weight, mean, variance},
      {gradient, weight, mean, variance}, elements);
}

void sgd(float learning_rate, const float* gradient, float* weight, std::size_t elements) {
  run(Sgd{learning_rate, gradient, weight}, {gradient, weight}, elements);
}

void copy(std::byte* to, const std::byte* from, std::size_t size_bytes) {
  if (size_bytes == 0) return;
  CHECK_CUDA(cudaMemcpyAsync(to, from, size_bytes, cudaMemcpyDefault, work_stream()));
}

constexpr StreamOps kCuda = {add, scale, adam, sgd, copy};

}  // namespace

const StreamOps& cuda_stream_ops() {
  return kCuda;
}

}  // namespace windtunnel
