#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "models/base/error.hpp"
#include "policies/conflicts/conflict.hpp"
#include "policies/conflicts/features.hpp"
#include "policies/iteration.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/small_job.hpp"

namespace windtunnel {
namespace {

using testing::EndsWith;

std::string refusal_of(const std::function<void(Job& job)>& change) {
  Job job = small_job(1, 1, 4);
  change(job);
  return error_of([&] { check_conflicts(layout_conflicts(), job); });
}

TEST(LayoutConflicts, APlainJobHasNone) {
  EXPECT_EQ(refusal_of([](Job&) {}), "no error");
}

// Asked before it is known whether so many ranks are there at all, so that the reason is named and
// not what follows from it.
TEST(LayoutConflicts, NameTheReasonOfALayoutThatCannotBe) {
  const auto linear = [](ContextForm form) {
    return [form](Job& job) {
      job.layout.cp = 3;
      job.layout.context = form;
      job.model.attention = AttentionKernel::linear;
    };
  };
  EXPECT_THAT(refusal_of(linear(ContextForm::ring)),
              EndsWith("; linear attention takes lasp or ulysses"));
  EXPECT_EQ(refusal_of(linear(ContextForm::lasp)), "no error");
  EXPECT_EQ(refusal_of(linear(ContextForm::ulysses)), "no error");
  const auto flash = [](ContextForm form) {
    return [form](Job& job) {
      job.layout.cp = 2;
      job.layout.context = form;
    };
  };
  EXPECT_THAT(refusal_of(flash(ContextForm::lasp)), EndsWith("model.attention: linear"));
  EXPECT_THAT(refusal_of(flash(ContextForm::rsa)), EndsWith("model.attention: unfused"));
  EXPECT_EQ(refusal_of(flash(ContextForm::ring)), "no error");
  EXPECT_THAT(refusal_of([](Job& job) {
                job.model.attention = AttentionKernel::linear;
                job.model.frames = 4;
              }),
              testing::StartsWith("model.frames: linear attention"));
}

TEST(LayoutConflicts, APatternHasLayersOfOneHalf) {
  const auto pattern = [](TensorOverlap form) {
    return [form](Job& job) {
      job.layout.tp = 2;
      job.model.pattern = "M-M*";
      job.software.tp_overlap = form;
    };
  };
  EXPECT_THAT(refusal_of(pattern(TensorOverlap::domino)), EndsWith("take pipelined or none"));
  EXPECT_EQ(refusal_of(pattern(TensorOverlap::pipelined)), "no error");
  EXPECT_EQ(refusal_of(pattern(TensorOverlap::none)), "no error");
}

// A step of one rank ends by itself, whatever order its gradients would travel in.
TEST(LayoutConflicts, DispatchNeedsStepsThatEnd) {
  const auto dispatched = [](int dp) {
    return [dp](Job& job) {
      job.layout.dp = dp;
      job.software.dispatch_latency_s = 1e-3;
      job.communication.overlap = GradientOverlap::dear;
    };
  };
  EXPECT_THAT(refusal_of(dispatched(4)), EndsWith("set communication.overlap: bucketed"));
  EXPECT_EQ(refusal_of(dispatched(1)), "no error");
}

// Shares that come out alike refuse nothing: their rows are asked apart.
TEST(LayoutConflicts, SharesAreAskedWhereTheyAreUnlike) {
  Job job = small_job(1, 1, 4);
  job.batch.shares = BatchShares::automatic;
  job.communication.overlap = GradientOverlap::dear;
  ASSERT_TRUE(first_refusal(share_conflicts(), job));
  for (const ConflictSubject& subject : conflict_table()) {
    if (subject.rows != share_conflicts) continue;
    const std::string all = error_of([&] { check_conflicts(job); });
    EXPECT_EQ(all.find("unlike numbers of micro-batches"), std::string::npos) << all;
  }
}

}  // namespace
}  // namespace windtunnel
