#include "sim/study/notes/whole_jobs.hpp"

#include <fmt/format.h>

#include <string>

#include "sim/study/iterations/relaid_jobs.hpp"
#include "sim/study/iterations/smaller_jobs.hpp"

namespace windtunnel {

std::vector<Note> whole_job_notes(const Job& job, const PreparedIteration& prepared, int most_out) {
  const WhenNoSpare then = job.recovery.when_no_spare;
  const bool relaid = then == WhenNoSpare::relayout;
  const bool asked = relaid || then == WhenNoSpare::shrink;
  // Of islands one drops out as a whole.
  if (!asked || most_out > 0 || job.recovery.elastic.groups > 0 || !job.sync.empty()) return {};
  std::string why;
  if (relaid) {
    relaid_jobs(job, &why);
  } else {
    why = why_no_smaller(job, prepared);
  }
  return {{"recovery.when_no_spare",
           fmt::format("is {}, but the job can be no smaller, so it waits for a node: {}",
                       relaid ? "relayout" : "shrink", why)}};
}

}  // namespace windtunnel
