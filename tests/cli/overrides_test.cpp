#include "cli/overrides.hpp"

#include <gtest/gtest.h>

#include "models/base/error.hpp"
#include "policies/schedules/schedules.hpp"

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

TEST(Varied, AllStandsForEveryNameThatTheKeyKnows) {
  Values schedules;
  for (const ScheduleKind& kind : schedule_kinds()) schedules.emplace_back(kind.name);
  EXPECT_EQ(parse_varied({"schedule=all"})[0].values, schedules);
  EXPECT_EQ(parse_varied({"schedule.name=all"})[0].values, schedules);
  EXPECT_EQ(parse_varied({"recompute=all"})[0].values, (Values{"none", "selective", "full"}));
  // A number knows no names; "all" is then refused where the scenario is read, with its place.
  EXPECT_EQ(parse_varied({"layout.pp=all"})[0].values, (Values{"all"}));
  EXPECT_EQ(parse_varied({"no.such.key=all"})[0].values, (Values{"all"}));
  EXPECT_EQ(parse_varied({"schedule=all,1f1b"})[0].values, (Values{"all", "1f1b"}));
}

TEST(ShellWord, IsQuotedWhereItHasToBe) {
  EXPECT_EQ(shell_word("layout.pp=8"), "layout.pp=8");
  EXPECT_EQ(shell_word("a b"), "'a b'");
  EXPECT_EQ(shell_word("$(x);{y}"), "'$(x);{y}'");
  EXPECT_EQ(shell_word("it's"), "'it'\\''s'");
  EXPECT_EQ(shell_word(""), "''");
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
