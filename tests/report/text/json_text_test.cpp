#include "report/text/json_text.hpp"

#include <gtest/gtest.h>

#include "tests/support/error_of.hpp"

namespace windtunnel {
namespace {

TEST(JsonText, OnlyAnObjectIsADocument) {
  EXPECT_EQ(parse_document("{\"b\": 1, \"a\": 2}", "r.json").begin().key(), "b");  // as written
  for (const std::string text : {"", "{\"a\": ", "[1]", "3"}) {
    EXPECT_EQ(error_of([&] { parse_document(text, "r.json"); }),
              "r.json: not a JSON object: damaged or cut off");
  }
}

// RFC 3629: 0xff stands in no UTF-8 text; U+FFFD replaces it.
TEST(JsonText, EndsInANewlineAndIsUtf8) {
  EXPECT_EQ(json_text({{"a", 1}}, -1), "{\"a\":1}\n");
  EXPECT_EQ(json_text({{"a", 1}}), "{\n  \"a\": 1\n}\n");
  EXPECT_EQ(json_text({{"a", "x\xff"}}, -1), "{\"a\":\"x\xef\xbf\xbd\"}\n");
}

}  // namespace
}  // namespace windtunnel
