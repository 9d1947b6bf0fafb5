#include "models/compression/robust.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "models/compression/recipe_parts.hpp"

namespace windtunnel {
namespace {

bool by_distances(RobustRule rule) {
  return rule == RobustRule::krum || rule == RobustRule::multi_krum || rule == RobustRule::flag;
}

// Products of all pairs of n gradients: 2 n^2 FLOPs per element, from which the distances follow.
// It is one kernel that splits the long side, since otherwise most of the GPU would be idle.
Op gram(double n, double elements, double element_bytes) {
  constexpr double kPiece = 16384;
  const double pieces = std::max(1.0, elements / kPiece);
  Op op = product("gram matrix", n, n, elements / pieces, pieces, element_bytes);
  op.launches = op.starts = 1;
  return op;
}

// The eigenvalues and eigenvectors of an n x n matrix cost 9 n^3 FLOPs (Golub and Van Loan, Matrix
// Computations, 2013, section 8.3), as many as 4.5 products of n x n x n.
Op eigenvectors(double n, double times) {
  return product("eigenvectors", n, n, n, 4.5 * times, 4);
}

// Combines `elements` coordinates of n gradients once it is known which to trust.
Op combined(const RobustAggregation& own, double n, double elements, double element_bytes) {
  const double used = own.rule == RobustRule::krum         ? 1
                      : own.rule == RobustRule::multi_krum ? n - own.faulty
                                                           : n;
  return pass("combine", (used + 1) * elements * element_bytes);
}

// The weight of each gradient follows from the matrix of products: n x n numbers in fp32.
void add_weights(const RobustAggregation& own, double n, std::vector<Op>& kernels) {
  if (own.rule == RobustRule::flag) {
    kernels.push_back(eigenvectors(n, own.iterations));
    kernels.push_back(pass("reweight", 2.0 * own.iterations * n * n * 4, own.iterations));
    return;
  }
  kernels.push_back(pass("scores", 3 * n * n * 4));  // distances, sorted, their sums
}

// The kernels for the `elements` coordinates of each gradient that this rank holds.
std::vector<Op> kernels_of(const RobustAggregation& own, double n, double elements,
                           double element_bytes) {
  const double read = n * elements * element_bytes;
  std::vector<Op> kernels;
  if (by_distances(own.rule)) {
    kernels.push_back(gram(n, elements, element_bytes));
    add_weights(own, n, kernels);
    kernels.push_back(combined(own, n, elements, element_bytes));
  } else if (own.rule == RobustRule::monna) {
    // Distances of all to the own gradient, and the mean of the nearest.
    kernels.push_back(pass("distances", read));
    kernels.push_back(pass("combine", (n - own.faulty + 1) * elements * element_bytes));
  } else {
    // Sorting happens in registers or shared memory, so data is read once.
    kernels.push_back(pass("sort coordinates", read + elements * element_bytes));
  }
  return kernels;
}

}  // namespace

std::string why_not(const RobustAggregation& own, int ranks) {
  if (ranks == 1) return "there is only one replica";
  const bool nearest = own.rule == RobustRule::krum || own.rule == RobustRule::multi_krum;
  const int least = nearest ? 2 * own.faulty + 3 : 2 * own.faulty + 1;
  if (ranks < least) {
    return fmt::format("{} needs {} replicas or more to tolerate {} faulty ones, not {}",
                       name_of(own.rule), least, own.faulty, ranks);
  }
  if (own.rule == RobustRule::monna && own.form == RobustForm::sliced) {
    return "monna computes a different mean on each replica, so each needs the whole models of "
           "all; take form: gathered";
  }
  return {};
}

Recipe robust_recipe(const RobustAggregation& own, double elements, const ReducingGroup& group,
                     double element_bytes) {
  const double n = group.ranks;
  const double bytes = elements * element_bytes;
  Recipe recipe;
  std::vector<Op> first;
  if (own.rule == RobustRule::monna) {
    first.push_back(pass("momentum", 2 * kStateBytes * elements + bytes));
    recipe.state_bytes = kStateBytes * elements;
  }
  if (own.form == RobustForm::gathered) {
    recipe.steps.push_back(all_gather_step(std::move(first), bytes, group));
    recipe.steps.push_back(last_step(kernels_of(own, n, elements, element_bytes)));
    recipe.buffer_bytes = n * bytes;
    return recipe;
  }
  recipe.buffer_bytes = bytes;
  const double part = elements / n;
  if (!by_distances(own.rule)) {
    add_two_hops(std::move(first), kernels_of(own, n, part, element_bytes), bytes, recipe);
    return recipe;
  }
  // Products over a part are summed before any rank knows which gradients to trust.
  recipe.steps.push_back(
      {.kernels = std::move(first), .kind = CollectiveKind::all_to_all, .bytes = bytes});
  recipe.steps.push_back(all_reduce_step({gram(n, part, element_bytes)}, n * n * 4));
  std::vector<Op> last;
  add_weights(own, n, last);
  last.push_back(combined(own, n, part, element_bytes));
  recipe.steps.push_back(
      {.kernels = std::move(last), .kind = CollectiveKind::all_gather, .bytes = bytes});
  recipe.steps.back().gathers_parts = true;
  return recipe;
}

}  // namespace windtunnel
