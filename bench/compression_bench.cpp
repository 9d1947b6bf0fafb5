// Making a recipe for all gradients of BERT-Large takes at most 50 us, since a comparison makes
// thousands.
#include <benchmark/benchmark.h>

#include "models/compression/compressors.hpp"

namespace windtunnel {
namespace {

// A pipeline stage passes its gradients tensor by tensor: 16 for each of 24 layers, and the
// embeddings.
std::vector<TensorShape> bert_large() {
  constexpr double kHidden = 1024;
  std::vector<TensorShape> tensors = {{.rows = 30522, .columns = kHidden},
                                      {.rows = 512, .columns = kHidden},
                                      {.rows = 2, .columns = kHidden}};
  for (int layer = 0; layer < 24; ++layer) {
    for (int i = 0; i < 4; ++i) tensors.push_back({.rows = kHidden, .columns = kHidden});
    tensors.push_back({.rows = 4 * kHidden, .columns = kHidden});
    tensors.push_back({.rows = kHidden, .columns = 4 * kHidden});
    for (int i = 0; i < 10; ++i) tensors.push_back({.columns = kHidden});
  }
  return tensors;
}

void recipe_of(benchmark::State& state, const CompressorChoice& choice) {
  const std::vector<TensorShape> tensors = bert_large();
  const ReducingGroup group = {.ranks = 64, .nodes = 8};
  for (auto _ : state) benchmark::DoNotOptimize(make_recipe(choice, tensors, group, 4));
}

}  // namespace
}  // namespace windtunnel

int main(int argc, char** argv) {
  for (const windtunnel::CompressorKind& kind : windtunnel::compressor_kinds()) {
    benchmark::RegisterBenchmark(std::string(kind.name).c_str(), windtunnel::recipe_of, kind.usual)
        ->Unit(benchmark::kMicrosecond);
  }
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
