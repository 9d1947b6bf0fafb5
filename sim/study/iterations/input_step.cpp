#include "sim/study/iterations/input_step.hpp"

#include <algorithm>
#include <set>

#include "models/workload/input_pipeline.hpp"
#include "policies/tasks/input_load.hpp"
#include "sim/study/iterations/simulations.hpp"

namespace windtunnel {

InputReport study_input(const Job& job, const PreparedIteration& prepared, double step_s,
                        int threads) {
  const InputPipeline& input = *job.input;
  const InputLoad load = input_load(job, prepared.schedule);
  int microbatches = 0;
  std::set<int> nodes;
  const int members = job.layout.ranks() / job.layout.pp;
  for (int pp = 0; pp < job.layout.pp; ++pp) {
    if (!load.reads[pp]) continue;
    microbatches = std::max(microbatches, microbatches_read(prepared.schedule, pp));
    for (int m = 0; m < members; ++m) nodes.insert(job.cluster.node_of(pp * members + m));
  }
  Job calm = job;
  calm.input = nullptr;
  InputReport report;
  report.load_s = load.sample_s * samples_of_microbatch(job, load) * microbatches;
  report.bound = load.bound;
  report.stall_s = std::max(0.0, step_s - run_draws(calm, prepared, threads).step_s.mean);
  const double samples_per_s = job.batch.global / step_s;
  if (input.source != InputSource::memory) report.read_Bps = samples_per_s * input.sample_bytes;
  report.cores = samples_per_s * input.sample_core_s / static_cast<double>(nodes.size());
  return report;
}

}  // namespace windtunnel
