// Methods send chosen elements with their indices, or by indices that all ranks know, or a sketch
// of the elements that are not zero.
#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>

#include "kernels/compression/sign_code.hpp"
#include "kernels/compression/sketch.hpp"
#include "kernels/compression/top_k.hpp"
#include "tests/validate/harness/exchange/exchange_parts.hpp"

namespace windtunnel {
namespace {

std::size_t chosen_elements(const ExchangeParts& parts) {
  double elements = 0;
  for (const TensorShape& tensor : parts.tensors) elements += tensor.elements();
  return static_cast<std::size_t>(std::max(1.0, std::round(parts.choice.density * elements)));
}

KernelWork work_of(std::string_view kernel, std::size_t elements, std::size_t k) {
  KernelWork work;
  work.kernel = kernel;
  work.elements = static_cast<double>(elements);
  work.k = static_cast<double>(k);
  return work;
}

// The indices are followed by the values of as many elements.
struct Pairs {
  std::uint32_t* indices;
  float* values;

  Pairs(std::byte* message, std::size_t k)
      : indices(reinterpret_cast<std::uint32_t*>(message)),
        values(reinterpret_cast<float*>(message + k * sizeof(std::uint32_t))) {}
};
constexpr std::size_t kPairBytes = sizeof(std::uint32_t) + sizeof(float);

// Exchanges elements as values whose indices differ between ranks or are the same on all.
class SparseExchange {
 public:
  SparseExchange(ExchangeParts& parts, std::size_t k, std::size_t slack)
      : parts_(parts),
        kernels_(top_k(parts.device->kind)),
        array_(lay_out_all(parts, slack)),
        k_(k),
        slack_(slack),
        zeros_(parts.array<float>(std::max(k, array_.elements + slack))) {}

  const GradientArray& array() const { return array_; }

  float* add_errors() { return add_error(parts_, array_); }

  // Takes elements from the error, which then lacks them, or from the gradient, which is then set
  // to zeros.
  void take(const std::uint32_t* indices) {
    if (array_.error != nullptr) scatter(indices, zeros_, array_.error, false);
    parts_.copy(array_.gradient, zeros_, (array_.elements + slack_) * sizeof(float));
  }

  void gather(const std::byte* own) {
    const auto ranks = static_cast<std::size_t>(parts_.ranks());
    std::byte* const all = parts_.zeros(kPairBytes * k_ * ranks);
    parts_.all_gather(own, all, kPairBytes * k_);
    for (std::size_t r = 0; r < ranks; ++r) {
      const Pairs pairs(all + r * kPairBytes * k_, k_);
      scatter(pairs.indices, pairs.values, array_.gradient, true);
    }
  }

  void scatter(const std::uint32_t* indices, const float* values, float* x, bool add) {
    const auto run = add ? kernels_.scatter_add : kernels_.scatter;
    parts_.kernel(work_of("scatter", array_.elements, k_),
                  [=, k = k_] { run(indices, values, k, x); });
  }

 private:
  ExchangeParts& parts_;
  const TopK& kernels_;
  GradientArray array_;
  std::size_t k_;
  std::size_t slack_;
  const float* zeros_;
};

// Each step moves the previous threshold towards one that keeps k elements. The first threshold
// comes from an exact selection.
struct Threshold {
  float value = -1;
  const Device* device;
  std::uint32_t* count;  // elements of the previous step

  void adapt(std::size_t k) {
    constexpr double kGain = 0.25;  // on the logarithm: gradients have tails
    constexpr double kMostChange = 2;
    device->synchronize();
    std::uint32_t kept = 0;
    device->copy(reinterpret_cast<std::byte*>(&kept), reinterpret_cast<const std::byte*>(count),
                 sizeof kept);
    const double change = std::pow(std::max<double>(kept, 1) / static_cast<double>(k), kGain);
    value *= static_cast<float>(std::clamp(change, 1 / kMostChange, kMostChange));
  }
  void start(const float* values, std::size_t k) {
    device->synchronize();
    std::vector<float> there(k);
    device->copy(reinterpret_cast<std::byte*>(there.data()),
                 reinterpret_cast<const std::byte*>(values), k * sizeof(float));
    value = std::abs(there.front());
    for (const float other : there) value = std::min(value, std::abs(other));
  }
};

}  // namespace

void add_top_k_exchange(ExchangeParts& parts) {
  const std::size_t k = chosen_elements(parts);
  SparseExchange exchange(parts, k, 0);
  const std::size_t n = exchange.array().elements;
  const TopK& kernels = top_k(parts.device->kind);
  const float* const from = exchange.add_errors();
  std::byte* const workspace = parts.zeros(kernels.workspace_bytes(n));
  std::byte* const own = parts.zeros(kPairBytes * k);
  const Pairs pairs(own, k);
  parts.kernel(work_of("top-k", n, k), [=, &kernels] {
    kernels.select(from, n, k, workspace, pairs.indices, pairs.values);
  });
  exchange.take(pairs.indices);
  exchange.gather(own);
}

// A rank that finds fewer than k elements sends zeros for positions after the end.
void add_threshold_exchange(ExchangeParts& parts) {
  const std::size_t k = chosen_elements(parts);
  SparseExchange exchange(parts, k, k);
  const std::size_t n = exchange.array().elements;
  const TopK& kernels = top_k(parts.device->kind);
  const float* const from = exchange.add_errors();
  std::byte* const workspace = parts.zeros(kernels.workspace_bytes(n));
  std::byte* const own = parts.zeros(kPairBytes * k);
  std::byte* const nothing = parts.zeros(kPairBytes * k);
  auto* const count = parts.array<std::uint32_t>(1);
  std::vector<std::uint32_t> behind(k);
  std::iota(behind.begin(), behind.end(), static_cast<std::uint32_t>(n));
  parts.device->copy(nothing, reinterpret_cast<const std::byte*>(behind.data()),
                     k * sizeof(std::uint32_t));
  const auto threshold = std::make_shared<Threshold>(Threshold{-1, parts.device, count});
  const Pairs pairs(own, k);
  parts.copy(own, nothing, kPairBytes * k);
  parts.kernel(work_of("threshold", n, k), [=, &kernels] {
    if (threshold->value < 0) {
      kernels.select(from, n, k, workspace, pairs.indices, pairs.values);
      threshold->start(pairs.values, k);
    } else {
      threshold->adapt(k);
    }
    kernels.above(from, n, threshold->value, k, pairs.indices, pairs.values, count);
  });
  exchange.take(pairs.indices);
  exchange.gather(own);
}

void add_random_k_exchange(ExchangeParts& parts) {
  const std::size_t k = chosen_elements(parts);
  SparseExchange exchange(parts, k, 0);
  const std::size_t n = exchange.array().elements;
  const TopK& kernels = top_k(parts.device->kind);
  const float* const from = exchange.add_errors();
  auto* const indices = parts.array<std::uint32_t>(k);
  auto* const values = parts.array<float>(k);
  parts.kernel(work_of("random-k", n, k), [=, &kernels, runs = &parts.runs] {
    kernels.random(from, n, k, *runs, indices, values);
  });
  exchange.take(indices);
  parts.all_reduce(values, k);
  exchange.scatter(indices, values, exchange.array().gradient, false);
}

// In addition to the p ranks, p - 2 further voters set every bit, so that a bit of a single rank
// has half of the votes and wins.
void add_sketch_exchange(ExchangeParts& parts) {
  const GradientArray array = lay_out_all(parts);
  const std::size_t n = array.elements;
  const auto ranks = static_cast<std::size_t>(parts.ranks());
  const std::size_t columns = std::max<std::size_t>(1, chosen_elements(parts) / kSketchRows);
  const std::size_t words = bitmap_words(n);
  const std::size_t voters = ranks + std::max<std::size_t>(ranks, 2) - 2;
  const Sketch& kernels = sketch(parts.device->kind);
  const auto vote = sign_code(parts.device->kind).vote;
  auto* const counters = parts.array<float>(kSketchRows * columns);
  auto* const own = parts.array<std::uint32_t>(words);
  auto* const all = parts.array<std::uint32_t>(words * voters);
  auto* const any = parts.array<std::uint32_t>(words);
  const std::vector<std::uint32_t> full(words * (voters - ranks), ~std::uint32_t{0});
  parts.device->copy(reinterpret_cast<std::byte*>(all + words * ranks),
                     reinterpret_cast<const std::byte*>(full.data()),
                     full.size() * sizeof(std::uint32_t));
  parts.kernel(work_of("sketch", n, columns), [=, &kernels, runs = &parts.runs] {
    kernels.encode(array.gradient, n, *runs, columns, counters, own);
  });
  parts.all_reduce(counters, kSketchRows * columns);
  parts.all_gather(own, all, words * sizeof(std::uint32_t));
  parts.kernel(work_of("vote", n, voters), [=] { vote(all, static_cast<int>(voters), n, any); });
  parts.kernel(work_of("sketch-estimate", n, columns), [=, &kernels, runs = &parts.runs] {
    kernels.estimate(counters, columns, *runs, any, n, array.gradient);
  });
}

}  // namespace windtunnel
