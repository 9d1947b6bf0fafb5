// What a step does about stragglers, from checked values, and what goes with it.
#include <fmt/format.h>

#include "models/reliability/stragglers/redundancy.hpp"
#include "policies/exchange/compressed_reductions.hpp"
#include "policies/schedules/schedules.hpp"
#include "scenarios/language/resolve/resolve.hpp"

namespace windtunnel {
namespace {

// Replicas must be workers that nobody waits for before their gradients are reduced.
std::string why_no_workers(const Job& job) {
  const Layout& layout = job.layout;
  if (!job.sync.empty()) {
    return "islands (sync) wait for each other by sync.*.wait_for; leave redundancy or sync out";
  }
  if (layout.ep > 1) return "replicas that share experts (layout.ep) wait for each other in passes";
  if (layout.sharding == Sharding::zero3) {
    return "with layout.sharding: zero3 replicas gather weights from each other in every pass; "
           "take layout.sharding: zero2 or less";
  }
  if (job.lengths) return "with batch.lengths is not modelled; leave one of them out";
  if (!job.cluster.pools.empty()) return "of unlike nodes (cluster.pools) is not modelled";
  if (job.cluster.jitter.per == JitterPer::task) {
    return "needs factors of whole steps; take cluster.jitter.per: step";
  }
  if (crosses_iterations(job.communication.overlap)) {
    return "does not go with communication.overlap: dear or priority, whose gradients arrive in "
           "the next step; take communication.overlap: bucketed or none";
  }
  if (job.software.post_validation || schedule_kind(job.schedule).asynchronous) {
    return "goes with schedules that end each step together, which this one does not";
  }
  return {};
}

}  // namespace

bool takes_key(RedundancyScheme scheme, std::string_view key) {
  const bool sequential = scheme == RedundancyScheme::sr_sgc || scheme == RedundancyScheme::m_sgc;
  if (key == "burst" || key == "window" || key == "lambda") return sequential;
  if (key == "copies") return scheme == RedundancyScheme::replicated;
  if (key == "noise") return scheme == RedundancyScheme::dynamic_backup;
  const bool counted = scheme == RedundancyScheme::gradient_coding ||
                       scheme == RedundancyScheme::drop_slowest ||
                       scheme == RedundancyScheme::backup_workers;
  if (key == "stragglers") return counted;
  return counted || sequential || scheme == RedundancyScheme::dynamic_backup;  // tolerance
}

void resolve_redundancy(const Values& values, Job& job) {
  const std::string path = "redundancy";
  if (!values.stated(path)) return;
  Redundancy own;
  values.fill(path, own);
  if (own.scheme == RedundancyScheme::none) return;
  for (const char* key :
       {"stragglers", "copies", "burst", "window", "lambda", "tolerance", "noise"}) {
    if (!values.stated(join_path(path, key)) || takes_key(own.scheme, key)) continue;
    values.fail(join_path(path, key), fmt::format("{} has no use for it", name_of(own.scheme)));
  }
  std::string why = why_no_workers(job);
  if (why.empty()) why = why_not(own, job.layout.dp);
  if (!why.empty()) values.fail(path, why);
  job.redundancy = std::make_shared<const Redundancy>(own);
}

}  // namespace windtunnel
