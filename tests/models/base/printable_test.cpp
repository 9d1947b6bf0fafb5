#include "models/base/printable.hpp"

#include <gtest/gtest.h>

namespace windtunnel {
namespace {

TEST(Printable, WordsOfAllLanguagesStay) {
  for (const char* text : {"", "a b ~", "5 µs, Zürich", "日本", "\xf0\x9f\x8c\xac"}) {
    EXPECT_EQ(printable(text), text);
  }
}

TEST(Printable, WhatATerminalObeysIsWrittenAsItsBytes) {
  EXPECT_EQ(printable(std::string_view("a\0\x1b[\x7f", 5)), "a\\x00\\x1b[\\x7f");
  EXPECT_EQ(printable("a\nb\tc\r"), "a\\x0ab\\x09c\\x0d");
  EXPECT_EQ(printable("\x9b"
                      "2J"),
            "\\x9b2J");  // C1 as terminals without UTF-8 know it
  EXPECT_EQ(printable("\xc2\x9b"
                      "2J"),
            "\\xc2\\x9b2J");                                // and as those with UTF-8 do
  EXPECT_EQ(printable("\xe2\x80\xae"), "\\xe2\\x80\\xae");  // turns the direction of writing
}

TEST(Printable, WhatIsNotSeenIsWrittenAsItsBytes) {
  EXPECT_EQ(printable("\xef\xbb\xbf"
                      "a"),
            "\\xef\\xbb\\xbfa");  // a byte order mark
  EXPECT_EQ(printable("\xe2\x80\x8b"), "\\xe2\\x80\\x8b");
}

TEST(Printable, WhatIsNoUtf8IsWrittenAsItsBytes) {
  EXPECT_EQ(printable("\xff\xc3("), "\\xff\\xc3(");
  EXPECT_EQ(printable("\xc3"), "\\xc3");                             // cut off
  EXPECT_EQ(printable("\xc0\x9b"), "\\xc0\\x9b");                    // ESC in two bytes
  EXPECT_EQ(printable("\xe0\x80\x9b"), "\\xe0\\x80\\x9b");           // in three bytes
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");           // half a pair of UTF-16
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");  // beyond Unicode
}

TEST(Printable, WhatIsKeptStays) {
  EXPECT_EQ(printable("a\n\tb\r", "\n\t"), "a\n\tb\\x0d");
}

TEST(Printable, IsTheSameWhenMadeSoAgain) {
  const std::string once = printable("\x1b[2J\xff");
  EXPECT_EQ(printable(once), once);
}

TEST(Printable, AnExcerptIsShort) {
  EXPECT_EQ(excerpt("a\nb"), "a\\x0ab");
  EXPECT_EQ(excerpt(std::string(60, 'x')), std::string(60, 'x'));
  EXPECT_EQ(excerpt(std::string(1000, 'x')), std::string(60, 'x') + "...");
  std::string wide;
  for (int i = 0; i < 61; ++i) wide += "µ";
  EXPECT_EQ(excerpt(wide), wide.substr(0, 120) + "...");  // no character is cut
}

}  // namespace
}  // namespace windtunnel
