#include "models/cost/parallel/sbp.hpp"

#include <fmt/format.h>

#include "models/base/error.hpp"

namespace windtunnel {
namespace {

void check_axis(const Signature& signature) {
  if (signature.axis < 0) {
    throw Error(fmt::format("a tensor cannot be split along axis {}", signature.axis));
  }
}

}  // namespace

Transition transition(const Signature& from, const Signature& to, double bytes, int members) {
  check_axis(from);
  check_axis(to);
  CHECK(members >= 1, "{} members", members);
  const double others = members - 1;
  if (from == to || members == 1) return {};
  if (from.spread == Spread::split && to.spread == Spread::split) {
    return {CollectiveKind::all_to_all, bytes / members, others / members * bytes};
  }
  if (from.spread == Spread::split && to.spread == Spread::broadcast) {
    return {CollectiveKind::all_gather, bytes, others * bytes};
  }
  if (from.spread == Spread::partial && to.spread == Spread::split) {
    return {CollectiveKind::reduce_scatter, bytes, others * bytes};
  }
  if (from.spread == Spread::partial && to.spread == Spread::broadcast) {
    return {CollectiveKind::all_reduce, bytes, 2 * others * bytes};
  }
  return {};  // a rank drops what it does not need, or fills its addend with zeros
}

}  // namespace windtunnel
