// Measures kernels of compressors on 2^22 Gaussian elements (k: 1 %) on the CPU, in bytes per
// second that they must move (models/calibration/kernel_work.hpp); gpu_bench measures them on GPUs.
// For the sketch 90 % of the elements are zero. Like gradients in training, the arrays of 16 MiB
// exceed a core's own cache.
#include <benchmark/benchmark.h>

#include <functional>
#include <string>
#include <vector>

#include "kernels/compression/quantise.hpp"
#include "kernels/compression/sign_code.hpp"
#include "kernels/compression/sketch.hpp"
#include "kernels/compression/ternary.hpp"
#include "kernels/compression/top_k.hpp"
#include "models/base/random.hpp"
#include "models/calibration/kernel_work.hpp"

namespace windtunnel {
namespace {

constexpr std::size_t kElements = std::size_t{1} << 22;
constexpr std::size_t kKept = kElements / 100;
constexpr int kParts = 8;
constexpr DeviceKind kDevice = DeviceKind::cpu;

struct Arrays {
  Arrays()
      : x(fill(1)),
        sparse(fill(10)),
        y(device(kDevice), kElements * sizeof(float)),
        codes(device(kDevice), kParts * code_bytes(QuantisedForm::int8, kElements)),
        scales(device(kDevice), kParts * kElements / 64 * sizeof(float)),
        words(device(kDevice), kParts * kElements / 8),
        sums(device(kDevice), 2 * sizeof(double)),
        indices(device(kDevice), kElements * sizeof(std::uint32_t)),
        counters(device(kDevice), kSketchRows * kKept * sizeof(float)),
        workspace(device(kDevice), top_k(kDevice).workspace_bytes(kElements)) {
    ternary(kDevice).maximum(at<float>(x), kElements, at<float>(sums));
    for (DeviceBuffer* buffer : {&codes, &scales, &words, &y}) {
      buffer->upload(std::vector<std::byte>(buffer->size_bytes()));
    }
  }

  template <typename T>
  static T* at(const DeviceBuffer& buffer) {
    return reinterpret_cast<T*>(buffer.data());
  }

  // One of `every` elements is not zero.
  DeviceBuffer fill(std::uint64_t every) const {
    RandomStream random(1, RandomPurpose::test, every);
    std::vector<std::byte> bytes(kElements * sizeof(float));
    for (std::size_t i = 0; i < kElements; ++i) {
      const bool zero = random.below(every) != 0;
      const float value = zero ? 0 : static_cast<float>(random.normal());
      std::copy_n(reinterpret_cast<const std::byte*>(&value), sizeof value,
                  bytes.begin() + static_cast<std::ptrdiff_t>(i * sizeof value));
    }
    DeviceBuffer buffer(device(kDevice), bytes.size());
    buffer.upload(bytes);
    return buffer;
  }

  DeviceBuffer x, sparse, y, codes, scales, words, sums, indices, counters, workspace;
};

struct Case {
  const char* kernel;  // of kernel_kinds()
  std::size_t k;
  std::function<void(const Arrays&)> run;
};

template <QuantisedForm kForm>
void encode(const Arrays& a) {
  quantise(kDevice).encode(kForm, Arrays::at<float>(a.x), kElements,
                           Arrays::at<std::uint8_t>(a.codes), Arrays::at<float>(a.scales));
}
template <QuantisedForm kForm>
void decode(const Arrays& a) {
  quantise(kDevice).decode(kForm, Arrays::at<std::uint8_t>(a.codes), Arrays::at<float>(a.scales),
                           kElements, Arrays::at<float>(a.y));
}

std::vector<Case> cases() {
  using A = Arrays;
  using Word = std::uint32_t;
  return {
      {"quantise-int8", 0, encode<QuantisedForm::int8>},
      {"dequantise-int8", 0, decode<QuantisedForm::int8>},
      {"quantise-int4", 0, encode<QuantisedForm::int4>},
      {"dequantise-int4", 0, decode<QuantisedForm::int4>},
      {"quantise-fp8", 0, encode<QuantisedForm::fp8>},
      {"dequantise-fp8", 0, decode<QuantisedForm::fp8>},
      {"requantise-int8", kParts,
       [](const A& a) {
         quantise(kDevice).requantise(A::at<std::uint8_t>(a.codes), A::at<float>(a.scales), kParts,
                                      kElements, A::at<std::uint8_t>(a.y), A::at<float>(a.indices));
       }},
      {"sign-pack", 0,
       [](const A& a) {
         sign_code(kDevice).pack(A::at<float>(a.x), kElements, A::at<Word>(a.words));
       }},
      {"sign-unpack", 0,
       [](const A& a) {
         sign_code(kDevice).unpack(A::at<Word>(a.words), kElements, A::at<double>(a.sums),
                                   A::at<float>(a.y));
       }},
      {"sign-error", 0,
       [](const A& a) {
         double* const sums = A::at<double>(a.sums);
         sign_code(kDevice).error(A::at<float>(a.x), kElements, sums, A::at<float>(a.y),
                                  A::at<Word>(a.words), sums + 1);
       }},
      {"sign-magnitude", 0,
       [](const A& a) {
         sign_code(kDevice).magnitude(A::at<float>(a.x), A::at<float>(a.y), kElements,
                                      A::at<double>(a.sums));
       }},
      {"vote", kParts,
       [](const A& a) {
         sign_code(kDevice).vote(A::at<Word>(a.words), kParts, kElements, A::at<Word>(a.indices));
       }},
      {"ternary", 0,
       [](const A& a) {
         ternary(kDevice).encode(A::at<float>(a.x), kElements, A::at<float>(a.sums), 7,
                                 A::at<Word>(a.words));
       }},
      {"ternary-max", 0,
       [](const A& a) {
         ternary(kDevice).maximum(A::at<float>(a.x), kElements, A::at<float>(a.sums));
       }},
      {"ternary-decode", 0,
       [](const A& a) {
         ternary(kDevice).decode(A::at<Word>(a.words), kElements, A::at<float>(a.sums),
                                 A::at<float>(a.y));
       }},
      {"top-k", kKept,
       [](const A& a) {
         top_k(kDevice).select(A::at<float>(a.x), kElements, kKept, a.workspace.data(),
                               A::at<Word>(a.indices), A::at<float>(a.y));
       }},
      {"threshold", kKept,
       [](const A& a) {
         constexpr float kOnePercent = 2.5758F;  // 1 % of a Gaussian's |x| exceed it
         top_k(kDevice).above(A::at<float>(a.x), kElements, kOnePercent, kElements,
                              A::at<Word>(a.indices), A::at<float>(a.y), A::at<Word>(a.sums));
       }},
      {"random-k", kKept,
       [](const A& a) {
         top_k(kDevice).random(A::at<float>(a.x), kElements, kKept, 7, A::at<Word>(a.indices),
                               A::at<float>(a.y));
       }},
      {"sketch", kKept,
       [](const A& a) {
         sketch(kDevice).encode(A::at<float>(a.sparse), kElements, 7, kKept,
                                A::at<float>(a.counters), A::at<Word>(a.words));
       }},
  };
}

void run_case(benchmark::State& state, const Case& work) {
  const Arrays arrays;
  KernelWork told;
  told.kernel = work.kernel;
  told.elements = static_cast<double>(kElements);
  told.k = static_cast<double>(work.k);
  for (auto _ : state) work.run(arrays);
  state.counters["moved"] = benchmark::Counter(kernel_kind(work.kernel).bytes(told),
                                               benchmark::Counter::kIsIterationInvariantRate,
                                               benchmark::Counter::kIs1000);
}

void register_all() {
  for (const Case& work : cases()) {
    const std::string name = std::string(work.kernel) + "/cpu";
    benchmark::RegisterBenchmark(name.c_str(), run_case, work)->UseRealTime();
  }
}

}  // namespace
}  // namespace windtunnel

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  windtunnel::register_all();
  benchmark::RunSpecifiedBenchmarks();
}
