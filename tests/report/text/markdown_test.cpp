#include "report/text/markdown.hpp"

#include <gtest/gtest.h>

namespace windtunnel {
namespace {

// GitHub Flavored Markdown, section 4.10: a pipe in a cell is escaped, "--:" aligns to the right.
TEST(Markdown, TablesAreThoseOfGitHub) {
  EXPECT_EQ(markdown_row({"a|b", "<i>", "two\r\nlines"}), "| a\\|b | &lt;i> | two lines |\n");
  EXPECT_EQ(markdown_header({"model", "tp", "s"}, 1), "| model | tp | s |\n|---|--:|--:|\n");
}

}  // namespace
}  // namespace windtunnel
