#include <gtest/gtest.h>

#include "validate/documents/form_document.hpp"

namespace windtunnel {
namespace {

// In GitHub Flavored Markdown, section 4.10, a pipe in a cell is escaped, and "--:" aligns to the
// right.
TEST(Markdown, TablesAreThoseOfGitHub) {
  EXPECT_EQ(markdown_table({{{"model"}, {"tp", Align::right}, {"note", Align::left, "n", 1}},
                            {{"a|b", "<i>", "two\r\nlines"}}}),
            "| model | tp | note |\n|---|--:|---|\n| a\\|b | &lt;i> | two lines |\n");
}

}  // namespace
}  // namespace windtunnel
