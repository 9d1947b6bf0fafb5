#include "sim/study/iterations/input_step.hpp"

#include <algorithm>
#include <numeric>
#include <set>

#include "models/workload/input_pipeline.hpp"
#include "policies/tasks/input_load.hpp"
#include "sim/study/iterations/simulations.hpp"

namespace windtunnel {

InputReport study_input(const Job& job, const PreparedIteration& prepared, double step_s,
                        int threads) {
  const InputPipeline& input = *job.input;
  const InputLoad load = input_load(job, prepared.schedule);
  double samples = 0;  // those of the GPU that loads most
  std::set<int> nodes;
  const int members = job.layout.ranks() / job.layout.pp;
  for (int pp = 0; pp < job.layout.pp; ++pp) {
    if (!load.reads[pp]) continue;
    samples = std::max(samples, samples_of_iteration(job, load, prepared.schedule, pp));
    for (int m = 0; m < members; ++m) nodes.insert(job.cluster.node_of(pp * members + m));
  }
  for (const ReplicaCosts& own : prepared.kinds) {
    samples = std::max(samples, std::accumulate(own.samples.begin(), own.samples.end(), 0.0));
  }
  Job calm = job;
  calm.input = nullptr;
  InputReport report;
  report.load_s = load.sample_s * samples;
  report.bound = load.bound;
  report.stall_s = std::max(0.0, step_s - run_draws(calm, prepared, threads).step_s.mean);
  const double samples_per_s = job.batch.global / step_s;
  if (input.source != InputSource::memory) report.read_Bps = samples_per_s * input.sample_bytes;
  report.cores = samples_per_s * input.sample_core_s / static_cast<double>(nodes.size());
  return report;
}

}  // namespace windtunnel
