#include "models/compression/compressors.hpp"

#include <gtest/gtest.h>

#include <set>

#include "models/calibration/compression_kernels.hpp"

namespace windtunnel {
namespace {

constexpr ReducingGroup kGroup = {16, 2};

const std::vector<TensorShape>& tensors() {
  static const std::vector<TensorShape> table = {{.rows = 1024, .columns = 1024, .count = 4},
                                                 {.columns = 1024, .count = 6}};
  return table;
}

TEST(Compressors, NamesAreKnownOnceAndUsualNumbersAreInRange) {
  std::set<std::string_view> names;
  for (const CompressorKind& kind : compressor_kinds()) {
    EXPECT_TRUE(names.insert(kind.name).second) << kind.name;
    EXPECT_EQ(kind.usual.name, kind.name);
    EXPECT_FALSE(kind.help.empty());
    EXPECT_NO_THROW(check_compressor({.name = std::string(kind.name)}, tensors())) << kind.name;
    if (!kind.fusible) continue;
    // A fusible compressor has one all-reduce, by whose bytes buffers can be fused.
    const Recipe recipe = make_recipe(kind.usual, tensors(), kGroup, 4);
    for (size_t i = 0; i < recipe.steps.size(); ++i) {
      EXPECT_EQ(recipe.steps[i].bytes > 0, i == 0) << kind.name;
    }
    EXPECT_EQ(recipe.steps[0].kind, CollectiveKind::all_reduce) << kind.name;
  }
  EXPECT_EQ(compressor_kinds().front().name, "none");
}

// Every kernel of a recipe has a named share of the bandwidth, which a calibration can state.
TEST(Compressors, KernelsHaveShares) {
  for (const CompressorKind& kind : compressor_kinds()) {
    for (const RecipeStep& step : make_recipe(kind.usual, tensors(), kGroup, 4).steps) {
      for (const Op& op : step.kernels) {
        EXPECT_NE(find_compression_kernel(op.compressing), nullptr) << op.name;
      }
    }
  }
}

}  // namespace
}  // namespace windtunnel
