#include "sim/study/iterations/relaid_jobs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

#include "models/base/error.hpp"
#include "models/cost/memory/memory.hpp"
#include "models/workload/layer_table.hpp"
#include "policies/iteration.hpp"
#include "sim/study/iterations/memory_excess.hpp"
#include "sim/study/iterations/smaller_jobs.hpp"

namespace windtunnel {
namespace {

// Returns the numbers up to `most` that divide `whole` or are `number` times a power of two.
std::vector<int> choices(int whole, int number, int most) {
  std::vector<int> result;
  while (number % 2 == 0) number /= 2;
  for (int each = 1; each <= most; ++each) {
    const auto times = static_cast<unsigned>(each / number);
    if (whole % each == 0 || (each % number == 0 && std::has_single_bit(times))) {
      result.push_back(each);
    }
  }
  return result;
}

int nodes_of(const Job& job, const RelayoutSize& size) {
  const int ranks = size.tp * size.pp * size.dp * job.layout.cp;
  return (ranks + job.cluster.node.gpus - 1) / job.cluster.node.gpus;
}

// Throws Error if the job cannot have that layout.
RelaidJob prepared(const Job& job, const RelayoutSize& size) {
  RelaidJob result;
  result.job = relaid(job, size);
  result.nodes = nodes_of(job, size);
  if (job.batch.global % (job.batch.micro * size.dp) != 0) {
    throw Error(
        fmt::format("a batch of {} in micro-batches of {} cannot be divided among {} replicas",
                    job.batch.global, job.batch.micro, size.dp));
  }
  if (const std::string why = why_no_stand_ins(result.job); !why.empty()) throw Error(why);
  result.prepared = std::make_shared<const PreparedIteration>(prepare_iteration(result.job));
  const std::string excess = memory_excess(result.job, *result.prepared);
  if (!excess.empty()) throw Error(excess);
  result.closed_s = iteration_step_s(result.job, *result.prepared);
  return result;
}

std::vector<RelaidJob> listed(const Job& job) {
  std::vector<RelaidJob> jobs;
  for (std::size_t i = 0; i < job.recovery.relayouts.size(); ++i) {
    const RelayoutSize& size = job.recovery.relayouts[i];
    try {
      jobs.push_back(prepared(job, size));
    } catch (const Error& error) {
      throw Error::of_key(
          fmt::format("recovery.relayout.{}", i),
          "with tp {} x pp {} x dp {} is not possible: {}; take another layout or leave it out",
          size.tp, size.pp, size.dp, error.what());
    }
  }
  std::ranges::stable_sort(jobs, {}, &RelaidJob::nodes);
  return jobs;
}

std::vector<RelaidJob> all_that_can_be(const Job& job, std::string& why) {
  const int ranks = job.layout.tp * job.layout.pp * job.layout.dp;
  std::vector<RelaidJob> jobs;
  int refused_nodes = 0;
  why = "there is no layout for fewer nodes";
  const auto samples = static_cast<int>(job.batch.global / job.batch.micro);
  const int gpus = job.cluster.node.gpus;
  const int layers = job.network ? static_cast<int>(job.network->layers.size()) : job.model.layers;
  for (const int tp : choices(gpus, job.layout.tp, gpus)) {
    for (const int pp : choices(layers, job.layout.pp, ranks / tp)) {
      for (int dp = 1; dp <= std::min(samples, ranks / tp / pp); ++dp) {
        if (samples % dp != 0) continue;
        if (nodes_of(job, {tp, pp, dp}) >= job.cluster.nodes) continue;
        try {
          jobs.push_back(prepared(job, {tp, pp, dp}));
        } catch (const Error& error) {  // an invalid layout is left out
          if (nodes_of(job, {tp, pp, dp}) <= refused_nodes) continue;
          refused_nodes = nodes_of(job, {tp, pp, dp});
          why = fmt::format("tp {} x pp {} x dp {} is not possible: {}", tp, pp, dp, error.what());
        }
      }
    }
  }
  std::ranges::stable_sort(
      jobs, {}, [](const RelaidJob& each) { return std::pair(each.nodes, each.closed_s); });
  double best_s = std::numeric_limits<double>::infinity();
  std::erase_if(jobs, [&](const RelaidJob& each) {
    if (each.closed_s >= best_s) return true;
    best_s = each.closed_s;
    return false;
  });
  return jobs;
}

}  // namespace

Job relaid(const Job& job, const RelayoutSize& size) {
  Job other = job;
  other.layout.tp = size.tp;
  other.layout.pp = size.pp;
  other.layout.dp = size.dp;
  keep_shards_whole(job.layout, other.layout);
  other.cluster = with_nodes(job, nodes_of(job, size));
  other.cluster.ranks = rank_map(other.layout);
  return other;
}

std::vector<RelaidJob> relaid_jobs(const Job& job, std::string* why) {
  if (!job.recovery.relayouts.empty()) return listed(job);
  std::string refused;
  std::vector<RelaidJob> jobs = all_that_can_be(job, refused);
  if (why != nullptr && jobs.empty()) *why = refused;
  return jobs;
}

}  // namespace windtunnel
