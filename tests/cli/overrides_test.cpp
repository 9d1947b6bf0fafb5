#include "cli/overrides.hpp"

#include <gtest/gtest.h>

#include "models/base/error.hpp"

namespace windtunnel {
namespace {

using Values = std::vector<std::string>;

TEST(Overrides, SplitAtTheFirstEqualsSign) {
  const Overrides overrides = parse_overrides({"a.b=c=d", "e="});
  EXPECT_EQ(overrides, (Overrides{{"a.b", "c=d"}, {"e", ""}}));
  EXPECT_THROW(parse_overrides({"a"}), Error);
  EXPECT_THROW(parse_overrides({"=a"}), Error);
}

TEST(Varied, CommasSeparateOnlyOutsideOfBracketsAndQuotes) {
  EXPECT_EQ(parse_varied({"k=1, 2,3"})[0].values, (Values{"1", "2", "3"}));
  EXPECT_EQ(parse_varied({"k={a: 1, b: [2, 3]},x"})[0].values, (Values{"{a: 1, b: [2, 3]}", "x"}));
  EXPECT_EQ(parse_varied({"k='a,b',\"c,]\""})[0].values, (Values{"'a,b'", "\"c,]\""}));
}

TEST(Varied, RefusesWhatCannotBeMeant) {
  for (const char* wrong : {"k", "k=", "k=1,", "k=[1,2", "k=1]", "k={1]}", "k='a"}) {
    EXPECT_THROW(parse_varied({wrong}), Error) << wrong;
  }
  EXPECT_THROW(parse_varied({"k=1", "k=2"}), Error);
}

TEST(CrossProduct, LastKeyChangesFastest) {
  const std::vector<Overrides> points = cross_product(parse_varied({"a=1,2", "b=x,y"}));
  EXPECT_EQ(points, (std::vector<Overrides>{{{"a", "1"}, {"b", "x"}},
                                            {{"a", "1"}, {"b", "y"}},
                                            {{"a", "2"}, {"b", "x"}},
                                            {{"a", "2"}, {"b", "y"}}}));
}

}  // namespace
}  // namespace windtunnel
