#include <gtest/gtest.h>

#include "models/base/error.hpp"
#include "models/compression/compressors.hpp"
#include "models/compression/robust.hpp"
#include "policies/conflicts/conflict.hpp"
#include "tests/support/small_job.hpp"

namespace windtunnel {
namespace {

constexpr Sharding kShardings[] = {Sharding::none, Sharding::zero1, Sharding::zero2,
                                   Sharding::zero3};

// With one micro-batch per step every compressor works with every sharding. With more, compressors
// of a momentum need the gradients of the whole step, which zero2 and zero3 do not keep.
TEST(ExchangeConflicts, EveryCompressorGoesWithEverySharding) {
  for (const CompressorKind& kind : compressor_kinds()) {
    for (const Sharding sharding : kShardings) {
      Job job = small_job(1, 1, 4);
      job.layout.sharding = sharding;
      job.communication.compressors.dp.name = kind.name;
      job.batch.global = 4 * job.batch.micro;
      EXPECT_FALSE(first_refusal(exchange_conflicts(), job))
          << kind.name << " " << name_of(sharding);
      job.batch.global *= 2;
      EXPECT_EQ(first_refusal(exchange_conflicts(), job).has_value(),
                kind.whole_momentum && sharding >= Sharding::zero2)
          << kind.name << " " << name_of(sharding);
    }
  }
}

TEST(ExchangeConflicts, RobustRulesOfOneModelGoWithEverySharding) {
  for (const auto& [name, rule] : kChoices<RobustRule>) {
    if (rule == RobustRule::none) continue;
    for (const Sharding sharding : kShardings) {
      Job job = small_job(1, 1, 8);
      job.layout.sharding = sharding;
      job.communication.robust =
          std::make_shared<const RobustAggregation>(RobustAggregation{.rule = rule});
      EXPECT_EQ(first_refusal(exchange_conflicts(), job).has_value(),
                rule == RobustRule::monna && sharding != Sharding::none)
          << name << " " << name_of(sharding);
    }
  }
}

}  // namespace
}  // namespace windtunnel
