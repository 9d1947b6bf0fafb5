#include "sim/study/volunteers/fused_study.hpp"

#include <set>

#include "models/base/error.hpp"

namespace windtunnel {
namespace {

std::vector<ChunkCost> fused_chunks(const Job& job, int jobs) {
  ChunkUnit unit;
  unit.fused = jobs;
  return chunk_costs(job, unit);
}

class FusedStudy {
 public:
  FusedStudy(const Job& job, const PreparedIteration& prepared) : job_(job), prepared_(prepared) {
    CHECK(job.layout.ranks() == 1, "{} ranks are fused", job.layout.ranks());
    single_s_ = step_s(1);
  }

  FusedPoint point(int jobs) const {
    FusedPoint point{.jobs = jobs, .step_s = step_s(jobs)};
    point.speedup = jobs * single_s_ / point.step_s;
    const GpuMemory memory = memory_of(jobs);
    point.memory_bytes = memory.total();
    point.fits = room_bytes(job_, memory) >= 0;
    return point;
  }

  bool fits(int jobs) const { return room_bytes(job_, memory_of(jobs)) >= 0; }

 private:
  double step_s(int jobs) const {
    double seconds = 0;
    double parameters = 0;
    for (const ChunkCost& chunk : fused_chunks(job_, jobs)) {
      for (const auto* pass :
           {&chunk.forward, &chunk.backward_input, &chunk.backward_weight, &chunk.recompute}) {
        seconds += total_seconds(*pass);
      }
      parameters += chunk.parameters;
    }
    return seconds * job_.batch.global / job_.batch.micro +
           total_seconds(optimizer_cost(parameters, job_));
  }

  // Context and allocator take memory only once for all jobs.
  GpuMemory memory_of(int jobs) const {
    std::vector<double> peaks = prepared_.peak_activation_bytes;
    for (double& peak : peaks) peak *= jobs;
    return gpu_memory(job_, fused_chunks(job_, jobs), peaks).front();
  }

  const Job& job_;
  const PreparedIteration& prepared_;
  double single_s_ = 0;
};

}  // namespace

FusedReport study_fused(const Job& job, const PreparedIteration& prepared, int most) {
  const FusedStudy study(job, prepared);
  FusedReport report;
  // Memory grows with every job, so the largest number that fits is found by bisection.
  int none = most + 1;
  while (none - report.most_jobs > 1) {
    const int middle = (report.most_jobs + none) / 2;
    (study.fits(middle) ? report.most_jobs : none) = middle;
  }
  std::set<int> jobs = {most};
  for (int few = 1; few < most; few *= 2) jobs.insert(few);
  if (report.most_jobs > 0) jobs.insert(report.most_jobs);
  for (const int each : jobs) report.points.push_back(study.point(each));
  return report;
}

}  // namespace windtunnel
