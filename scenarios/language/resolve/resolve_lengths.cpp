// Sequences of unequal length, from checked values.
#include <utility>

#include "scenarios/language/resolve/resolve.hpp"
#include "scenarios/language/text/choices.hpp"

namespace windtunnel {
namespace {

LengthDistribution resolve_distribution(const Values& values, const Batch& batch) {
  LengthDistribution distribution;
  const int buckets = values.length("batch.lengths.buckets");
  for (const char* key : {"batch.lengths.median", "batch.lengths.sigma", "batch.lengths.longest"}) {
    if (buckets == 0 || !values.stated(key)) continue;
    values.fail(key, "buckets have their own bounds; keep one of the two");
  }
  for (int i = 0; i < buckets; ++i) {
    const std::string path = fmt::format("batch.lengths.buckets.{}", i);
    values.fill(path, distribution.buckets.emplace_back());
  }
  if (buckets > 0) return distribution;
  if (!values.has("batch.lengths.median")) {
    values.fail("batch.lengths", "has neither a median nor buckets; add e.g. 'median: 2000'");
  }
  distribution.longest = batch.sequence;
  values.fill("batch.lengths", distribution);
  return distribution;
}

}  // namespace

void resolve_lengths(const Values& values, Job& job) {
  UnequalLengths lengths;
  values.fill("", lengths);
  if (!values.stated("batch.lengths")) {
    if (lengths.policy == LengthPolicy::fixed) return;
    values.fail("layout.length_policy",
                "balances sequences of unequal length; say which there are: batch.lengths");
  }
  lengths.distribution = resolve_distribution(values, job.batch);
  job.lengths = std::move(lengths);
}

}  // namespace windtunnel
