#include "sim/study/notes/uneven_stages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "models/base/units.hpp"

namespace windtunnel {
namespace {

constexpr double kUneven = 1.2;  // times the mean of the others: they idle a sixth of the step

double microbatch_s(const ChunkCost& chunk) {
  return total_seconds(chunk.forward) + total_seconds(chunk.backward_input) +
         total_seconds(chunk.backward_weight) + total_seconds(chunk.recompute);
}

// [pipeline rank] of a micro-batch, through all stages that it holds.
std::vector<double> rank_seconds(const PreparedIteration& prepared) {
  const HeldStages held = held_stages(prepared.schedule);
  std::vector<double> seconds;
  for (const std::vector<int>& stages : held) {
    double& sum = seconds.emplace_back(0);
    for (const int stage : stages) sum += microbatch_s(prepared.chunks[static_cast<size_t>(stage)]);
  }
  return seconds;
}

}  // namespace

std::vector<Note> uneven_stage_notes(const Job& job, const PreparedIteration& prepared) {
  // Unlike nodes are given unlike shares.
  if (job.layout.pp < 2 || !prepared.kinds.empty() || prepared.balanced) return {};
  const std::vector<double> seconds = rank_seconds(prepared);
  const auto busiest = std::ranges::max_element(seconds);
  const double others = (std::accumulate(seconds.begin(), seconds.end(), 0.0) - *busiest) /
                        static_cast<double>(seconds.size() - 1);
  if (*busiest < kUneven * others) return {};
  const auto rank = busiest - seconds.begin();
  const bool last = rank + 1 == std::ssize(seconds);
  return {{"layout.stages",
           fmt::format("pipeline rank {} computes {:.1f} times as long as the others{}, which idle "
                       "beside it: the bubble counts only what is beyond it",
                       rank, *busiest / others, last ? ", with the vocabulary" : ""),
           fmt::format("{} a micro-batch, the others {} on average", format_seconds(*busiest),
                       format_seconds(others))}};
}

}  // namespace windtunnel
