#include "scenarios/language/resolve/unused.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace windtunnel {

std::vector<Note> unused_keys(const Values& values, const Job& job) {
  std::vector<Note> notes;
  const bool engines = values.stated("rollout");  // which fail and recover, and have a price
  if (job.campaign.length_s == 0) {
    std::vector<std::string> keys;
    for (const char* key : {"snapshots", "failures", "recovery"}) {
      if (values.stated(key) && (!engines || key == std::string_view("snapshots"))) {
        keys.emplace_back(key);
      }
    }
    if (!keys.empty()) {
      notes.push_back({fmt::format("{}", fmt::join(keys, ", ")),
                       "no figure rests on it: without campaign.length one iteration is simulated, "
                       "in which nothing fails and no snapshot is due; add e.g. "
                       "'campaign: {length: 54 d}'"});
    }
  }
  const bool pool_price = std::ranges::any_of(
      job.cluster.pools, [](const Pool& pool) { return pool.price_usd_per_gpu_s > 0; });
  if ((values.stated("job.price") || pool_price) && job.tokens == 0 && !engines) {
    notes.push_back({pool_price ? "cluster.pools.*.price" : "job.price",
                     "a cost needs job.tokens or job.steps besides; add one"});
  }
  if (values.stated("cluster.common") && !job.cluster.networks_differ()) {
    notes.push_back(
        {"cluster.common",
         "nothing takes it: all nodes are of one network, which cluster.pools.0.network "
         "and the others name"});
  }
  if (values.stated("volunteers")) {
    std::vector<std::string> keys;
    for (const char* key : {"communication.compressor", "compress", "communication.robust",
                            "redundancy", "sync", "cluster.jitter"}) {
      if (values.stated(key)) keys.emplace_back(key);
    }
    if (!keys.empty()) {
      notes.push_back({fmt::format("{}", fmt::join(keys, ", ")),
                       "goes into the job's own figures, not into those of volunteers: their peers "
                       "average whole gradients in every step, and each is as fast as it is said "
                       "to be"});
    }
  }
  return notes;
}

}  // namespace windtunnel
