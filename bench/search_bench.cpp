// Finding the schedules of the twelve profiles of the Zero Bubble paper may take 1 s in total.
#include <benchmark/benchmark.h>

#include "policies/search/order_climb.hpp"
#include "policies/search/periodic_schedule.hpp"
#include "policies/search/schedule_families.hpp"
#include "policies/search/schedule_search.hpp"
#include "tests/support/zero_bubble_profiles.hpp"

namespace windtunnel {
namespace {

// The first argument is the memory limit in quarters of what 1f1b needs.
void search_profiles(benchmark::State& state) {
  std::vector<ZeroBubbleProfile> profiles = zero_bubble_profiles();
  double gap = 0;
  for (ZeroBubbleProfile& profile : profiles) {
    profile.request.memory_limit = state.range(0) / 4.0 * profile.request.ranks;
  }
  for (auto _ : state) {
    gap = 0;
    for (const ZeroBubbleProfile& profile : profiles) {
      const SearchResult result =
          search_schedule(profile.request, {.effort = static_cast<double>(state.range(1))});
      gap = std::max(gap, result.gap());
    }
  }
  state.counters["worst_gap"] = gap;
}
BENCHMARK(search_profiles)
    ->ArgNames({"quarters", "effort"})
    ->Args({8, 0})
    ->Args({8, 1000000})
    ->Args({5, 1000000})
    ->Unit(benchmark::kMillisecond);

void fill_order(benchmark::State& state) {
  ScheduleRequest request = zero_bubble_profiles().back().request;
  request.memory_limit = 2 * request.ranks;
  const SplitOrder order = warm_up_orders(request).back().order;
  WeightFiller filler(request);
  for (auto _ : state) benchmark::DoNotOptimize(filler.fill(order));
  state.SetItemsProcessed(state.iterations() * 3 * request.ranks * request.microbatches);
}
BENCHMARK(fill_order);

void periodic_vee(benchmark::State& state) {
  ScheduleRequest request{.ranks = static_cast<int>(state.range(0)), .chunks = 2};
  request.microbatches = 3 * request.ranks;
  request.costs.assign(2 * request.ranks, {0.5, 0.6, 0.4, 0.5, 0.25});
  for (auto _ : state) benchmark::DoNotOptimize(periodic_orders(request));
}
BENCHMARK(periodic_vee)->Arg(8)->Arg(16)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace windtunnel

BENCHMARK_MAIN();
