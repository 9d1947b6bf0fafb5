#include "kernels/layer/stream_ops.hpp"

#include "kernels/device/cuda_entries.hpp"
#include "kernels/layer/adam_factors.hpp"
#include "models/base/error.hpp"

namespace windtunnel {
namespace {

void add(const float* a, const float* b, float* c, std::size_t elements) {
  for (std::size_t i = 0; i < elements; ++i) c[i] = a[i] + b[i];
}

void scale(float s, const float* a, float* b, std::size_t elements) {
  for (std::size_t i = 0; i < elements; ++i) b[i] = s * a[i];
}

// To vectorise the loop, the compiler must know that the four arrays do not overlap, and needs
// values instead of references.
void update(const AdamFactors& factors, const float* __restrict gradient, float* __restrict weight,
            float* __restrict mean, float* __restrict variance, std::size_t elements) {
  for (std::size_t i = 0; i < elements; ++i) {
    float w = weight[i];
    float m = mean[i];
    float v = variance[i];
    adam_update(factors, gradient[i], w, m, v);
    weight[i] = w;
    mean[i] = m;
    variance[i] = v;
  }
}

void adam(const AdamSettings& settings, const float* gradient, float* weight, float* mean,
          float* variance, std::size_t elements) {
  update(adam_factors(settings), gradient, weight, mean, variance, elements);
}

void sgd(float learning_rate, const float* gradient, float* weight, std::size_t elements) {
  for (std::size_t i = 0; i < elements; ++i) {
    weight[i] = sgd_update(learning_rate, gradient[i], weight[i]);
  }
}

constexpr StreamOps kCpu = {
    add,
    scale,
    adam,
    sgd,
    [](std::byte* to, const std::byte* from, std::size_t size_bytes) {
      device(DeviceKind::cpu).copy(to, from, size_bytes);
    },
};

}  // namespace

const StreamOps& stream_ops(DeviceKind kind) {
  return kind == DeviceKind::cuda ? cuda_stream_ops() : kCpu;
}

void copy_beside(DeviceKind kind, std::byte* to, const std::byte* from, std::size_t size_bytes,
                 int streams) {
  CHECK(streams >= 1, "a copy in {} streams", streams);
  std::vector<std::function<void()>> parts;
  std::size_t start = 0;
  for (int i = 1; i <= streams; ++i) {
    const std::size_t end =
        size_bytes / static_cast<std::size_t>(streams) * static_cast<std::size_t>(i);
    const std::size_t part = (i == streams ? size_bytes : end) - start;
    parts.emplace_back([=] { stream_ops(kind).copy(to + start, from + start, part); });
    start += part;
  }
  device(kind).run_beside(parts);
}

}  // namespace windtunnel
