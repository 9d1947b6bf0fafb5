#include "models/workload/layer_table.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/support/error_of.hpp"

namespace windtunnel {
namespace {

LayerTable small_network() {
  NetworkBuilder builder({3, 9, 9});
  builder.convolution("conv", {8, {3, 2, 1}, false, true, true});
  builder.pool("pool", LayerKind::max_pool, {2, 1, 0});
  builder.linear("fc", 10, false);
  return {"small", builder.take(), "test"};
}

TEST(LayerTable, ShapesFollowFromLayerToLayer) {
  NetworkBuilder builder({3, 224, 224});
  builder.convolution("conv", {64, {7, 2, 3}, false, true, true});
  EXPECT_EQ(builder.shape().channels, 64);
  EXPECT_EQ(builder.shape().height, 112);
  builder.pool("pool", LayerKind::max_pool, {3, 2, 1});
  EXPECT_EQ(builder.shape().width, 56);
  builder.bottleneck("block", {64, 2});
  EXPECT_EQ(builder.shape().channels, 256);
  EXPECT_EQ(builder.shape().height, 28);
}

// By hand, the convolution leaves 5 x 5 pixels and the pool 4 x 4.
TEST(LayerTable, ParametersProductsAndActivations) {
  const LayerTable network = small_network();
  EXPECT_EQ(network.parameters(), 8 * 27 + 2 * 8 + 10 * (128 + 1));
  EXPECT_EQ(network.forward_macs(), 25 * 8 * 27 + 10 * 128);
  // Kept are the convolution's output for its norm, the norm's output for the ReLU, the pool's
  // output and the last one.
  EXPECT_EQ(network.kept_elements(), 200 + 200 + 128 + 10);
}

TEST(LayerTable, BottleneckProjectsItsInputOnlyWhereTheShapeChanges) {
  NetworkBuilder builder({256, 56, 56});
  builder.bottleneck("same", {64, 1});
  const LayerTable same{"same", builder.take(), "test"};
  // He et al. 2015, figure 5, has 256 -> 64 -> 64 -> 256 channels.
  EXPECT_EQ(same.parameters(), 256 * 64 + 9 * 64 * 64 + 64 * 256 + 2 * (64 + 64 + 256));
  NetworkBuilder wider({256, 56, 56});
  wider.bottleneck("wider", {128, 2});
  const LayerTable changed{"changed", wider.take(), "test"};
  EXPECT_EQ(changed.parameters(),
            256 * 128 + 9 * 128 * 128 + 128 * 512 + 256 * 512 + 2 * (128 + 128 + 512 + 512));
}

TEST(LayerTable, AWindowLargerThanTheImageIsRefused) {
  NetworkBuilder builder({3, 4, 4});
  EXPECT_EQ(error_of([&] {
              builder.convolution("conv1", {8, {7, 1, 1}});
            }),
            "conv1: a kernel of 7 with stride 1 does not fit 6 pixels, padding included");
}

TEST(LayerTable, GroupsDivideTheChannelsOfBothSides) {
  const auto complaint = [](int groups, int outputs) {
    return error_of([&] {
      NetworkBuilder builder({4, 8, 8});
      builder.convolution("conv1", {outputs, {1, 1, 0}, true, false, true, groups});
    });
  };
  for (const auto& [groups, outputs] : {std::pair(0, 8), std::pair(3, 6), std::pair(4, 6)}) {
    EXPECT_EQ(complaint(groups, outputs),
              fmt::format("conv1: {} groups do not divide 4 input and {} output channels", groups,
                          outputs));
  }
  EXPECT_EQ(complaint(4, 8), "no error");
}

TEST(NetworkOps, EveryProductIsDoneOnceInEachPass) {
  const LayerTable network = small_network();
  const auto flops = [&](Pass pass) {
    double sum = 0;
    for (const Op& op : network_ops(network, 32, Precision::fp16, pass)) sum += op.flops;
    return sum;
  };
  EXPECT_EQ(flops(Pass::forward), 2 * 32 * network.forward_macs());
  EXPECT_EQ(flops(Pass::backward_weight), flops(Pass::forward));
  // The first layer needs no gradient of its input, which is the image.
  EXPECT_EQ(flops(Pass::backward_input), 2 * 32 * network.layers.back().forward_macs());
}

TEST(NetworkOps, ConvolutionsReadTheirImageOnce) {
  const std::vector<Op> ops = network_ops(small_network(), 32, Precision::fp32, Pass::forward);
  ASSERT_EQ(ops.size(), 5u);
  EXPECT_EQ(ops[0].name, "convolution");
  EXPECT_EQ(ops[0].m, 32 * 25);
  EXPECT_EQ(ops[0].n, 8);
  EXPECT_EQ(ops[0].k, 27);
  EXPECT_EQ(ops[0].bytes, 4 * (32 * (3 * 81 + 200) + 8 * 27));
  EXPECT_EQ(ops[1].name, "batch norm");
  EXPECT_EQ(ops[1].bytes, 4 * 32 * 3 * 200);
  EXPECT_EQ(ops[2].name, "relu");
  EXPECT_EQ(ops[3].name, "pool");
  EXPECT_EQ(ops[3].bytes, 4 * 32 * (200 + 128));
  EXPECT_EQ(ops[4].name, "linear");
}

TEST(NetworkOps, BackwardPassesRunFromTheLastLayer) {
  const LayerTable network = small_network();
  const auto names = [&](Pass pass) {
    std::vector<std::string_view> result;
    for (const Op& op : network_ops(network, 1, Precision::fp32, pass)) result.push_back(op.name);
    return result;
  };
  EXPECT_EQ(names(Pass::backward_input),
            (std::vector<std::string_view>{"linear", "pool", "relu", "batch norm"}));
  EXPECT_EQ(names(Pass::backward_weight), (std::vector<std::string_view>{"linear", "convolution"}));
}

}  // namespace
}  // namespace windtunnel
