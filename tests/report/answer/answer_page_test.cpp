#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/answer/command_answers.hpp"
#include "report/console/console.hpp"
#include "tests/report/answer/page_record.hpp"
#include "tests/report/answer/sample_answer.hpp"

namespace windtunnel {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// The page shows figures, warnings, charts and sections that are for both media or for the page
// only, in order and escaped.
TEST(AnswerPage, ShowsEveryKindOfPart) {
  const std::string page = answer_page(sample_answer());
  for (const char* part :
       {"<h1>title &lt;b&gt;</h1><p>subtitle &amp; more</p>", "1 s<small>0.9 s .. 1.2 s</small>",
        "<p class=\"warning\">Beware &lt;of it&gt;.</p>", "<h2>the figures &lt;first&gt;</h2>",
        "<div data-chart=\"0\"></div>", "<th scope=\"row\">a &lt;cell&gt;</th><td>7</td>",
        "<h2>on the page</h2>", "<td>p</td>"}) {
    EXPECT_THAT(page, HasSubstr(part));
  }
  for (const char* part : {"on the console", "<td>c</td>", ">here<"}) {
    EXPECT_THAT(page, Not(HasSubstr(part)));
  }
  const Json record = page_record(page);
  ASSERT_EQ(record.at("charts").size(), 1U);
  EXPECT_EQ(record.at("charts")[0].at("title"), "drawn");
  EXPECT_EQ(record.at("plain"), Json({"seconds"}));
}

TEST(AnswerPage, AChartIsMadeForItsPageOnly) {
  int made = 0;
  Answer answer = sample_answer();
  answer.sections = {chart_section([&]() -> Json {
    ++made;
    return {{"kind", "memory"}};
  })};
  answer_text(answer);
  EXPECT_EQ(made, 0);
  answer_page(answer);
  EXPECT_EQ(made, 1);
}

TEST(AnswerText, ShowsEveryKindOfPart) {
  EXPECT_EQ(answer_text(sample_answer()),
            "title <b>\n"
            "subtitle & more\n"
            "\n"
            "the figures <first>\n"
            "  step time       1 s  (0.9 s .. 1.2 s)\n"
            "  beside          a row\n"
            "\n"
            "a table\n"
            "  name      number\n"
            "  a <cell>       7\n"
            "\n"
            "on the console\n"
            "  only            here\n"
            "\n"
            "rows of both\n"
            "  of the console  c\n"
            "\n"
            "warning: Beware <of it>.\n");
}

// A long value continues below itself; a command is left whole, because its printer breaks it with
// backslashes.
TEST(AnswerText, WrapsValuesButNoCommand) {
  Answer answer{.title = "t",
                .subtitle = "s",
                .figures = {},
                .sections = {{"section",
                              {{"words", "one two three four five six"},
                               {"command", "windtunnel run a.yaml --set layout.tp=8"}}}}};
  EXPECT_THAT(answer_text(answer, {.width = 30}),
              HasSubstr("  words    one two three four\n"
                        "           five six\n"
                        "  command  windtunnel run a.yaml --set layout.tp=8\n"));
}

}  // namespace
}  // namespace windtunnel
