#include "models/compression/boundary.hpp"

#include <fmt/format.h>

#include "models/base/error.hpp"
#include "models/compression/recipe_parts.hpp"

namespace windtunnel {

BoundaryRecipe low_rank_boundary(double rows, double width, double rank, double element_bytes) {
  if (!(rank >= 1 && rank <= width)) {
    throw Error(
        fmt::format("rank {:g} of activations is not from 1 to their width {:g}", rank, width));
  }
  return {.before = {product("low-rank product", rows, rank, width, 1, element_bytes)},
          .bytes = rows * rank * element_bytes,
          .behind = {product("low-rank product", rows, width, rank, 1, element_bytes)}};
}

void check_boundary(const Job& job) {
  const double rank = job.communication.boundary_rank;
  if (rank == 0) return;
  constexpr const char* kKey = "communication.boundary_rank";
  if (job.layout.pp == 1) {
    throw Error::of_key(kKey, ": layout.pp is 1, so that no activations are sent on; leave it out");
  }
  if (job.layout.mesh_side() > 1) {
    throw Error::of_key(kKey,
                        ": with layout.tp_form 2d no rank has whole rows to multiply; take 1d");
  }
  if (rank > job.model.hidden) {
    throw Error::of_key(kKey, ": {:g} is above the width {} of the activations of model '{}'", rank,
                        job.model.hidden, job.model.name);
  }
}

}  // namespace windtunnel
