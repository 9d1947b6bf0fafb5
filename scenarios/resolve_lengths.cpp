#include <array>

#include "policies/length_plan.hpp"
#include "scenarios/resolve.hpp"
#include "scenarios/spec_fields.hpp"

namespace windtunnel {
namespace {

constexpr std::array kPolicies{Choice<LengthPolicy>{"fixed", LengthPolicy::fixed},
                               Choice<LengthPolicy>{"flexsp", LengthPolicy::flexsp},
                               Choice<LengthPolicy>{"hdp", LengthPolicy::hdp}};

LengthDistribution resolve_distribution(const Values& values, const Batch& batch) {
  LengthDistribution distribution;
  const int buckets = values.length("batch.lengths.buckets");
  for (const char* key : {"batch.lengths.median", "batch.lengths.sigma", "batch.lengths.longest"}) {
    if (buckets == 0 || !values.stated(key)) continue;
    values.fail(key, "buckets have their own bounds; keep one of the two");
  }
  for (int i = 0; i < buckets; ++i) {
    const std::string path = fmt::format("batch.lengths.buckets.{}", i);
    distribution.buckets.push_back({values.number(path + ".shortest"),
                                    values.number(path + ".longest"),
                                    values.number(path + ".share")});
  }
  if (buckets > 0) return distribution;
  if (!values.has("batch.lengths.median")) {
    values.fail("batch.lengths", "has neither a median nor buckets; add e.g. 'median: 2000'");
  }
  distribution.median = values.number("batch.lengths.median");
  distribution.sigma = values.number_or("batch.lengths.sigma", 1);
  distribution.longest = values.number_or("batch.lengths.longest", batch.sequence);
  return distribution;
}

}  // namespace

void resolve_lengths(const Values& values, Job& job) {
  const LengthPolicy policy = value_of(std::span<const Choice<LengthPolicy>>(kPolicies),
                                       values.text("layout.length_policy"));
  if (!values.stated("batch.lengths")) {
    if (policy == LengthPolicy::fixed) return;
    values.fail("layout.length_policy",
                "balances sequences of unequal length; say which there are: batch.lengths");
  }
  job.lengths = {resolve_distribution(values, job.batch), policy,
                 static_cast<std::uint64_t>(values.number("batch.lengths.seed"))};
}

}  // namespace windtunnel
