#include "policies/tasks/input_load.hpp"

#include <algorithm>
#include <numeric>

#include "models/machine/links/links.hpp"
#include "models/workload/input_pipeline.hpp"

namespace windtunnel {
namespace {

// Raises the time of a sample to that on the slowest link, if every reading GPU has this flow.
void consider(const Job& job, const Flow& flow, const std::vector<int>& gpus,
              const std::vector<const char*>& names, InputLoad& load) {
  const LinkTable links = LinkTable::keeping_reference(job.cluster);
  std::vector<int> users(links.count(), 0);
  std::vector<const char*> name_of(links.count(), "");
  std::vector<LinkId> used;
  std::vector<LinkId> route;
  for (const int gpu : gpus) {
    route.clear();
    links.append_resource(gpu, flow.demands.front().resource, route);
    for (std::size_t i = 0; i < route.size(); ++i) {
      if (users[route[i]]++ == 0) used.push_back(route[i]);
      name_of[route[i]] = names[std::min(i + names.size() - route.size(), names.size() - 1)];
    }
  }
  for (const LinkId link : used) {
    const double seconds = users[link] * flow.amount / links.capacity(link);
    if (seconds <= load.sample_s) continue;
    load.sample_s = seconds;
    load.bound = name_of[link];
  }
}

// Returns the micro-batches of an iteration whose first stage a pipeline rank runs.
int microbatches_read(const Schedule& schedule, int rank) {
  int units = 0;
  for (const Action& action : schedule.actions[rank]) {
    if (action.kind == ActionKind::forward && schedule.model_stage(action.stage) == 0) ++units;
  }
  return units / (schedule.slices * schedule.iterations);
}

}  // namespace

double samples_of_unit(const Job& job, const InputLoad& load, int unit) {
  if (!load.of_unit.empty()) return load.of_unit[unit % load.of_unit.size()];
  return job.batch.micro / load.of_replica;
}

double samples_of_iteration(const Job& job, const InputLoad& load, const Schedule& schedule,
                            int rank) {
  if (!load.of_unit.empty()) {
    return std::accumulate(load.of_unit.begin(), load.of_unit.end(), 0.0);
  }
  return microbatches_read(schedule, rank) * samples_of_unit(job, load, 0);
}

InputLoad input_load(const Job& job, const Schedule& schedule) {
  const InputPipeline& input = *job.input;
  InputLoad load;
  load.of_replica = double(job.layout.tp) * job.layout.cp;
  std::vector<int> gpus;
  const int members = job.layout.ranks() / job.layout.pp;
  for (int pp = 0; pp < job.layout.pp; ++pp) {
    load.reads.push_back(microbatches_read(schedule, pp) > 0);
    for (int m = 0; m < members && load.reads.back(); ++m) gpus.push_back(pp * members + m);
  }
  if (input.sample_core_s > 0) {
    Flow prepare;
    prepare.amount = input.sample_core_s;
    prepare.max_rate = input.workers / load.of_replica;
    prepare.demands = {{Resource::cpu, 1}};
    load.sample_s = prepare.amount / prepare.max_rate;
    load.bound = "workers";
    consider(job, prepare, gpus, {"CPU cores"}, load);
    load.flows.push_back(prepare);
  }
  if (input.sample_bytes > 0 && input.source != InputSource::memory) {
    const bool local = input.source == InputSource::local_disk;
    const Parameter& efficiency = job.calibration.storage_efficiency;
    Flow read;
    read.amount = input.sample_bytes / efficiency.value;
    read.demands = {{local ? Resource::local_disk : Resource::storage_read, 1}};
    if (local) {
      consider(job, read, gpus, {"local drives"}, load);
    } else {
      consider(job, read, gpus, {"storage NIC of the node", "storage"}, load);
    }
    load.flows.push_back(read);
  }
  return load;
}

}  // namespace windtunnel
