#include "models/compression/boundary.hpp"

#include <fmt/format.h>

#include "models/base/error.hpp"
#include "models/compression/recipe_parts.hpp"

namespace windtunnel {

BoundaryRecipe low_rank_boundary(double rows, double width, double rank, double element_bytes) {
  if (!(rank >= 1 && rank <= width)) {
    throw Error(
        fmt::format("rank {:g} of activations must be from 1 to their width, {:g}", rank, width));
  }
  return {.before = {product("low-rank product", rows, rank, width, 1, element_bytes)},
          .bytes = rows * rank * element_bytes,
          .behind = {product("low-rank product", rows, width, rank, 1, element_bytes)}};
}

BoundaryRecipe packed_boundary(double elements, double element_bytes,
                               const ActivationCodec& codec) {
  if (codec.bytes >= element_bytes) return {.bytes = elements * element_bytes};
  return {.before = {codec.encode(elements, element_bytes)},
          .bytes = elements * codec.bytes,
          .behind = {codec.decode(elements, element_bytes)}};
}

}  // namespace windtunnel
