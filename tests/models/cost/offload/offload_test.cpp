#include "models/cost/offload/offload.hpp"

#include <gtest/gtest.h>

#include "models/plan/job.hpp"

namespace windtunnel {
namespace {

TEST(Offload, WithoutOneNothingLiesElsewhere) {
  EXPECT_FALSE(offload_of(Job{}).any());
  EXPECT_EQ(to_string(offload_of(Job{})), "");
}

TEST(Offload, LayersLeaveFromTheFirstOn) {
  using Shares = std::vector<double>;
  Offload offload;
  EXPECT_EQ(offloaded_shares(offload, 4), Shares(4, 0));
  offload.activations = MemoryTier::host;
  EXPECT_EQ(offloaded_shares(offload, 4), Shares(4, 1));
  offload.activation_share = 0.25;
  EXPECT_EQ(offloaded_shares(offload, 4), Shares({1, 0, 0, 0}));
  offload.activation_share = 2.0 / 3;
  EXPECT_EQ(offloaded_shares(offload, 3), Shares({1, 1, 0}));
  offload.activation_share = 0.375;
  EXPECT_EQ(offloaded_shares(offload, 4), Shares({1, 0.5, 0, 0}));
  offload.activation_share = 0.25;
  offload.hidden = true;
  EXPECT_EQ(offloaded_shares(offload, 4), Shares({0.25, 0.25, 0.25, 0}));
}

TEST(Offload, IsSaidInWords) {
  Offload offload;
  offload.optimizer = MemoryTier::disk;
  offload.gradients = MemoryTier::host;
  offload.activations = MemoryTier::host;
  offload.activation_share = 0.5;
  EXPECT_EQ(to_string(offload),
            "optimizer on disk, gradients in host memory, activations of 50.0 % of the layers in "
            "host memory");
  offload.layers = {ActivationRule::swap, ActivationRule::recompute, ActivationRule::recompute};
  offload.optimizer = offload.gradients = MemoryTier::gpu;
  EXPECT_EQ(to_string(offload), "activations of 1 layers in host memory, 2 layers computed again");
}

}  // namespace
}  // namespace windtunnel
