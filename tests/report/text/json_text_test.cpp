#include "report/text/json_text.hpp"

#include <gtest/gtest.h>

#include "tests/support/error_of.hpp"

namespace windtunnel {
namespace {

TEST(JsonText, OnlyAnObjectIsADocument) {
  EXPECT_EQ(parse_json("{\"b\": 1, \"a\": 2}", "r.json").begin().key(), "b");  // keeps the order
  for (const std::string text : {"", "{\"a\": ", "[1]", "3"}) {
    EXPECT_EQ(error_of([&] { parse_json(text, "r.json"); }),
              "r.json: the file is not a JSON object; it is damaged or cut off");
  }
}

TEST(JsonText, FaultsAreToldInPlainWords) {
  const auto fault = [](const Json& json, const auto& read) -> std::string {
    try {
      read(json);
    } catch (const Json::exception& error) {
      return fault_of(error);
    }
    return "no fault";
  };
  EXPECT_EQ(fault({{"a", 1}}, [](const Json& json) { json.at("set"); }), "key 'set' not found");
  EXPECT_EQ(fault({{"a", 1}}, [](const Json& json) { json.at("a").get<std::string>(); }),
            "type must be string, but is number");
  EXPECT_EQ(fault(3, [](const Json& json) { json.at("a"); }),
            "number instead of an object or a list");
}

// By RFC 3629 no UTF-8 text contains 0xff; U+FFFD replaces it.
TEST(JsonText, EndsInANewlineAndIsUtf8) {
  EXPECT_EQ(json_text({{"a", 1}}, -1), "{\"a\":1}\n");
  EXPECT_EQ(json_text({{"a", 1}}), "{\n  \"a\": 1\n}\n");
  EXPECT_EQ(json_text({{"a", "x\xff"}}, -1), "{\"a\":\"x\xef\xbf\xbd\"}\n");
}

}  // namespace
}  // namespace windtunnel
