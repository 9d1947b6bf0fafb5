#include "models/base/error.hpp"

#include <gtest/gtest.h>

namespace windtunnel {
namespace {

using std::string_literals::operator""s;

// The text of what(). It ends at the first NUL, and the tests see that no message is cut there.
std::string message(const Error& error) {
  return error.what();
}

TEST(Error, ThePlaceStandsBeforeTheText) {
  const Error error(Location{"a.yaml", 3, 5}, "is wrong", ExitCode::failed);
  EXPECT_EQ(message(error), "a.yaml:3:5: is wrong");
  EXPECT_EQ(error.text(), "is wrong");
  EXPECT_EQ(error.code(), ExitCode::failed);
  EXPECT_EQ(message(Error(Location{"a.yaml"}, "is wrong")), "a.yaml: is wrong");
  EXPECT_EQ(message(Error(Location{}, "is wrong")), "is wrong");
  EXPECT_EQ(Error("is wrong").text(), "is wrong");
}

TEST(Error, ControlCharactersAreShownInEveryMessage) {
  const std::string what = "'a\0\x1b[2Jb\x9b' is\n\twrong"s;
  const std::string shown = "'a\\x00\\x1b[2Jb\\x9b' is\n\twrong";
  EXPECT_EQ(message(Error(what)), shown);
  EXPECT_EQ(message(Error(Location{"a.yaml", 1, 2}, what)), "a.yaml:1:2: " + shown);
  EXPECT_EQ(message(Error::about({"model"}, "{}", what)), shown);
  EXPECT_EQ(message(Error::of_key("model", "{}", what)), "model " + shown);
  EXPECT_EQ(Error::about({"model"}, "{}", what).keys(), Error::Keys{"model"});
}

TEST(Error, ControlCharactersAreShownInThePlace) {
  const Location where = {"a\0b\n\x1b[2J.yaml"s, 3, 5};
  const Error error(where, "is wrong");
  EXPECT_EQ(message(error), "a\\x00b\\x0a\\x1b[2J.yaml:3:5: is wrong");
  EXPECT_EQ(error.text(), "is wrong");
  EXPECT_EQ(error.where().file, where.file);
}

TEST(Error, NearNamesAreOffered) {
  EXPECT_EQ(unknown_name("gpu", "h10", {"a100", "h100"}),
            "unknown gpu 'h10'; did you mean 'h100'?");
  const std::vector<std::string> nodes = {"dgx-h100", "gh200", "hgx-h800"};
  EXPECT_EQ(nearest_name("h100", nodes), "dgx-h100");
  EXPECT_EQ(nearest_name("dgx-h800", nodes), "hgx-h800");
  EXPECT_EQ(nearest_name("gh20", nodes), "gh200");
  EXPECT_EQ(nearest_name("modles", {"nodes", "models"}), "models");  // swapped letters
  EXPECT_EQ(nearest_name("qwen3-30b", {"qwen3-32b", "qwen3-30b-a3b"}), "qwen3-30b-a3b");
  EXPECT_EQ(unknown_name("gpu", "tpu", {"a100", "h100"}), "unknown gpu 'tpu'; known: a100, h100");
}

}  // namespace
}  // namespace windtunnel
