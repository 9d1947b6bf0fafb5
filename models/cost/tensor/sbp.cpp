#include "models/cost/tensor/sbp.hpp"

#include <fmt/format.h>

#include <array>

#include "models/base/error.hpp"
#include "models/plan/job_collective.hpp"

namespace windtunnel {
namespace {

struct ProductRule {
  Signature x;
  Signature w;
  Signature y;
};
constexpr std::array<ProductRule, 6> kProducts = {{{split_along(0), kBroadcast, split_along(0)},
                                                   {kBroadcast, split_along(1), split_along(1)},
                                                   {split_along(1), split_along(0), kPartial},
                                                   {kPartial, kBroadcast, kPartial},
                                                   {kBroadcast, kPartial, kPartial},
                                                   {kBroadcast, kBroadcast, kBroadcast}}};

void check_axis(const Signature& signature) {
  if (signature.axis < 0) {
    throw Error(fmt::format("a tensor cannot be split along axis {}", signature.axis));
  }
}

}  // namespace

std::optional<Signature> product_signature(const Signature& x, const Signature& w) {
  for (const ProductRule& rule : kProducts) {
    if (rule.x == x && rule.w == w) return rule.y;
  }
  return std::nullopt;
}

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

double moved_bytes_between(const Signature& from, int from_members, const Signature& to,
                           int to_members, double bytes) {
  check_axis(from);
  check_axis(to);
  CHECK(from_members >= 1 && to_members >= 1, "{} to {} members", from_members, to_members);
  // Every addend has to travel; of a tensor that is there once, or several times over, one copy.
  const double sent = from.spread == Spread::partial ? from_members : 1;
  // The sum arrives split over the receivers, which then gather it from each other.
  if (to.spread != Spread::broadcast) return sent * bytes;
  return (sent + to_members - 1) * bytes;
}

CollectiveCost transition_cost(const Job& job, const GroupShape& shape, const Signature& from,
                               const Signature& to, double bytes) {
  const Transition step = transition(from, to, bytes, shape.members);
  if (!step.collective) return {};
  return collective_cost(job, *step.collective, shape, step.bytes);
}

}  // namespace windtunnel
