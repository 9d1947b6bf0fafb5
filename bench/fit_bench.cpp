// Fits a calibration on step times as `validate runs --calibrate-on` does; each row may take 13 ms
// on two cores, so that 750 rows take 10 s.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "models/base/random.hpp"
#include "scenarios/language/case.hpp"
#include "validate/accuracy/runs/run_fit.hpp"

namespace windtunnel {
namespace {

FitRow row_of(const char* model, int tp, int pp, int microbatches) {
  const std::string text = fmt::format(
      "name: fit\nmodel: {}\ncluster: {{nodes: {}, node: dgx-a100}}\n"
      "layout: {{tp: {}, pp: {}}}\nbatch: {{global: {}, micro: 1}}\nprecision: bf16\n"
      "recompute: full\nschedule: 1f1b\n",
      model, tp * pp, tp, pp, 8 * microbatches);
  FitRow row;
  row.job = parse_case(text, "fit.yaml").job;
  row.group = model;
  row.id = text;
  return row;
}

// The rows are as if measured on runs whose kernels have 0.9 of their speed and whose step times
// are off by up to 5 %.
std::vector<FitRow> rows_of(int microbatches) {
  std::vector<FitRow> rows;
  RandomStream random(1, RandomPurpose::test, 0);
  for (const char* model : {"gpt-7.5b", "gpt-18b", "gpt-39b"}) {
    for (const int tp : {1, 2, 4, 8}) {
      for (const int pp : {2, 4}) {
        FitRow row = row_of(model, tp, pp, microbatches);
        Job job = row.job;
        job.calibration.kernel_sustained.value *= 0.9;
        row.measured_s = predict(job).step_s * (0.95 + 0.1 * random.uniform());
        rows.push_back(std::move(row));
      }
    }
  }
  return rows;
}

void fit_rows(benchmark::State& state) {
  const std::vector<FitRow> rows = rows_of(static_cast<int>(state.range(0)));
  const Calibration prior = rows.front().job.calibration;
  for (auto _ : state) benchmark::DoNotOptimize(fit_runs(rows, prior));
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(rows.size()));
}
BENCHMARK(fit_rows)
    ->ArgName("microbatches")
    ->Arg(32)
    ->Arg(512)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

}  // namespace
}  // namespace windtunnel

BENCHMARK_MAIN();
