#include "cli/program/override_options.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "cli/program/shell_line.hpp"
#include "models/base/error.hpp"
#include "models/base/units.hpp"
#include "policies/schedules/schedules.hpp"
#include "tests/support/error_of.hpp"

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
  const std::string thousand = "recovery.detect=1 s:1000 s:1000";
  EXPECT_EQ(parse_varied({thousand, "recovery.restart=1 s:1000 s:1000"}).size(), 2U);
  EXPECT_THROW(parse_varied({thousand, "recovery.restart=1 s:1001 s:1001"}), Error);
  EXPECT_THROW(parse_varied({"recovery.restart=1 s:10 s"}), Error);
  EXPECT_THROW(parse_varied({"recovery.restart=1 s:10 s:3lin"}), Error);
}

TEST(Varied, AllStandsForEveryNameThatTheKeyKnows) {
  Values schedules;
  for (const ScheduleKind& kind : schedule_kinds()) schedules.emplace_back(kind.name);
  EXPECT_EQ(parse_varied({"schedule=all"})[0].values, schedules);
  EXPECT_EQ(parse_varied({"schedule.name=all"})[0].values, schedules);
  EXPECT_EQ(parse_varied({"recompute=all"})[0].values,
            (Values{"none", "selective", "full", "auto", "core_attn", "layernorm", "moe_act",
                    "mla_up_proj", "mlp", "shared_experts", "moe", "mlp_act", "scores", "op",
                    "attention", "layer"}));
  // A number has no list of names, so "all" is refused later, when the scenario is read.
  EXPECT_EQ(parse_varied({"layout.pp=all"})[0].values, (Values{"all"}));
  EXPECT_EQ(parse_varied({"no.such.key=all"})[0].values, (Values{"all"}));
  EXPECT_NE(error_of([] { parse_varied({"schedule=all,1f1b"}); }).find("unknown schedule 'all'"),
            std::string::npos);
}

TEST(Varied, RangesByEqualStepsAndEqualFactors) {
  EXPECT_EQ(parse_varied({"recovery.restart=1 min:5 min:5"})[0].values,
            (Values{"1 min", "2 min", "3 min", "4 min", "5 min"}));
  EXPECT_EQ(parse_varied({"recovery.restart=10 s:1000 s:3 log"})[0].values,
            (Values{"10 s", "1.66667 min", "1000 s"}));
  // Values are printed with six digits, so that their relative error is at most 5e-6.
  const Values rates =
      parse_varied({"failures.*.rate=1 per 1000 node-days:25 per 1000 node-days:20log"})[0].values;
  ASSERT_EQ(rates.size(), 20U);
  for (size_t i = 0; i < rates.size(); ++i) {
    const double expected = std::pow(25, double(i) / 19) / 86400e3;
    EXPECT_NEAR(parse_quantity(rates[i], Dimension::per_node_s), expected, 5e-6 * expected);
  }
  // Ranges may stand beside single values and may run downwards. The value of a text key is not
  // expanded, even if it looks like a range.
  EXPECT_EQ(parse_varied({"recovery.spares=0,4:2:3,9"})[0].values,
            (Values{"0", "4", "3", "2", "9"}));
  EXPECT_EQ(parse_varied({"name=1:2:3"})[0].values, (Values{"1:2:3"}));
}

TEST(Varied, RangesOfWholeNumbersHaveEachOnce) {
  EXPECT_EQ(parse_varied({"layout.pp=1:8:4log"})[0].values, (Values{"1", "2", "4", "8"}));
  EXPECT_EQ(parse_varied({"layout.pp=1:3:9"})[0].values, (Values{"1", "2", "3"}));
  EXPECT_EQ(parse_varied({"snapshots.0.every=1 iteration:100 iterations:3log"})[0].values,
            (Values{"1 iteration", "10 iterations", "100 iterations"}));
}

TEST(Varied, RangesSayWhatIsWrong) {
  const auto fault = [](const std::string& argument) {
    return error_of([&] { parse_varied({argument}); });
  };
  EXPECT_NE(fault("recovery.restart=1:5 min:5").find("e.g. '30 s'"), std::string::npos);
  EXPECT_NE(fault("recovery.restart=1 min:5 min:1").find("2 to"), std::string::npos);
  EXPECT_NE(fault("recovery.restart=0 s:5 min:3log").find("above 0"), std::string::npos);
}

TEST(ShellWord, IsQuotedWhereItHasToBe) {
  EXPECT_EQ(shell_word("layout.pp=8"), "layout.pp=8");
  EXPECT_EQ(shell_word("a b"), "'a b'");
  EXPECT_EQ(shell_word("$(x);{y}"), "'$(x);{y}'");
  EXPECT_EQ(shell_word("it's"), "'it'\\''s'");
  EXPECT_EQ(shell_word(""), "''");
}

// A shell reads the quoted word back as the same text, whatever characters it holds.
TEST(ShellWord, IsOneWordOfTheShell) {
  const std::string texts[] = {"a b",      "it's",  "''",      "$HOME `id` $(id)",
                               "a\nb\tc",  "-n",    "~",       "*",
                               "a\\\\b\\", "!x #y", "=a",      "\"a\"",
                               "{a,b}",    ">out",  "a;b&c|d", "\xc3\xa4",
                               "a\rb",     "[x]?"};
  for (const std::string& text : texts) {
    const auto word = output_of("printf %s " + shell_word(text));
    ASSERT_TRUE(word) << text;
    EXPECT_EQ(*word, text) << shell_word(text);
  }
}

}  // namespace
}  // namespace windtunnel
