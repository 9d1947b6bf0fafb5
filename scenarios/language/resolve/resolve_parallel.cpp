// Checks of expert routing and of embeddings that need the whole job.
#include <fmt/format.h>

#include "models/cost/parallel/expert_parallel.hpp"
#include "scenarios/language/resolve/resolve.hpp"

namespace windtunnel {

void resolve_parallel(const Values& values, Job& job) {
  if (job.network && job.communication.embeddings != EmbeddingExchange::dense) {
    values.fail("communication.embeddings",
                fmt::format("model '{}' has none; leave it at dense", job.model.name));
  }
  check_expert_routing(job);
}

}  // namespace windtunnel
