// Merges a sweep of a million points with 10 trials each from 64 parts into results.jsonl,
// results.sqlite, the document and the page, in at most 500 MB. Only the points are invented; the
// program's own code writes and merges the parts. Writing and merging run in separate processes, so
// that the peak memory is that of merging.
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <vector>

#include "models/base/error.hpp"
#include "models/base/version.hpp"
#include "report/page/sweep_page.hpp"
#include "report/store/sweep_merge.hpp"

namespace windtunnel {
namespace {

namespace fs = std::filesystem;

constexpr int kParts = 64, kTrials = 10;

// Runs the work in a child process and returns the peak of the child's memory in MB.
template <class Work>
double peak_MB_of(Work work) {
  const pid_t child = fork();
  if (child == 0) {
    work();
    _exit(0);
  }
  int status = 0;
  rusage usage{};
  wait4(child, &status, 0, &usage);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the child ended with {}", status);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

Sweep grid_of(int rates, int intervals) {
  VariedKey rate{"failures.*.rate", {}}, every{"snapshots.0.every", {}};
  for (int i = 1; i <= rates; ++i) rate.values.push_back(fmt::format("{} per 1000 node-days", i));
  for (int i = 1; i <= intervals; ++i) every.values.push_back(fmt::format("{} s", 10 * i));
  return {{.file = "/sweep.yaml", .text = "name: made-up\n"}, {rate, every}};
}

void make_sweep(const std::string& folder, int rates, int intervals) {
  SweepPlan plan;
  plan.version = program_build();
  plan.sweep = grid_of(rates, intervals);
  for (size_t i = 0; i < grid_size(plan.sweep); ++i) {
    plan.cases.push_back({.index = static_cast<int>(i), .key = i + 1, .table = 7});
  }
  write_cases(plan, cases_path(folder));
  std::vector<std::ofstream> parts;
  for (int i = 0; i < kParts; ++i) parts.emplace_back(fmt::format("{}/part-{}.jsonl", folder, i));
  for (const SweepCase& each : plan.cases) {
    SweepPoint point{.index = each.index};
    point.scenario = "made-up";
    point.iteration.time_s = 10;
    point.iteration.tokens_per_s = 1e6;
    CampaignReport report;
    const double rate = (each.index / intervals + 1.0) / rates;
    const double every = (each.index % intervals + 1.0) / intervals;
    for (int trial = 0; trial < kTrials; ++trial) {
      report.trial_goodput.push_back(0.95 - 0.1 * (rate * every + 0.01 / every) - 0.001 * trial);
    }
    report.goodput = estimate(report.trial_goodput, 1);
    report.wall_s = {1e6, 1e6, 1e6, 1e6, 1e6};
    point.campaign = report;
    parts[each.index % kParts] << point_line(plan.sweep, each, point);
  }
}

void merge_points(benchmark::State& state) {
  const auto side = static_cast<int>(state.range(0));
  const std::string folder =
      fs::temp_directory_path() / fmt::format("windtunnel-merge-bench-{}", getpid());
  fs::create_directories(folder);
  peak_MB_of([&] { make_sweep(folder, side, side); });
  for (auto _ : state) {
    state.counters["peak_MB"] = peak_MB_of([&] {
      const MergedSweep merged = merge_lines(folder, read_head(folder));
      CHECK(merged.missing.empty(), "{} are missing", merged.missing.size());
      std::ofstream(folder + "/report.html") << sweep_page(merged.results.document);
    });
  }
  state.counters["page_MB"] = static_cast<double>(fs::file_size(folder + "/report.html")) / 1e6;
  if (std::getenv("WINDTUNNEL_KEEP") == nullptr) fs::remove_all(folder);
}
BENCHMARK(merge_points)
    ->Arg(100)
    ->Arg(1000)
    ->Unit(benchmark::kSecond)
    ->UseRealTime()
    ->Iterations(1);

}  // namespace
}  // namespace windtunnel

BENCHMARK_MAIN();
