#include <gtest/gtest.h>

#include "scenarios/language/text/values.hpp"
#include "tests/support/error_of.hpp"

namespace windtunnel {
namespace {

Places places() {
  Places places;
  places.add("", {"a.yaml", 1, 1});
  places.add("layout", {"a.yaml", 3, 9});
  places.add("layout.tp", {"a.yaml", 3, 14});
  places.add("batch", {"a.yaml", 4, 1});
  places.add("batch.micro", {"--set batch.micro=3", 0, 0});
  return places;
}

std::string placed(const Places& places, std::initializer_list<std::string_view> keys) {
  return error_of([&] { places.placing([&]() { throw Error::about(keys, "does not do"); }); });
}

TEST(Places, OfTheKeyElseOfWhatItWouldStandIn) {
  EXPECT_EQ(placed(places(), {"layout.tp"}), "a.yaml:3:14: does not do");
  EXPECT_EQ(placed(places(), {"layout.pp"}), "a.yaml:3:9: does not do");
  EXPECT_EQ(placed(places(), {"campaign"}), "a.yaml:1:1: does not do");
}

// The message names the value that was set last, not one that the file states before it.
TEST(Places, WhatWasSetComesFirst) {
  EXPECT_EQ(placed(places(), {"layout.tp", "batch.micro"}), "--set batch.micro=3: does not do");
  EXPECT_EQ(placed(places(), {"layout.pp", "layout.tp"}), "a.yaml:3:14: does not do");
}

// A --set of another key in a map does not count for a key that is not stated.
TEST(Places, WhatWasSetBesideTheKeyIsNotToBlame) {
  Places beside = places();
  beside.add("layout", {"--set layout.sequence_parallel=true", 0, 0});
  beside.add("layout.sequence_parallel", {"--set layout.sequence_parallel=true", 0, 0});
  EXPECT_EQ(placed(beside, {"layout.vpp", "layout.tp"}), "a.yaml:3:14: does not do");
  EXPECT_EQ(placed(beside, {"layout.vpp", "batch.micro"}), "--set batch.micro=3: does not do");
}

TEST(Places, WithoutAKeyOrAScenarioAnErrorStaysAsItIs) {
  EXPECT_EQ(placed(Places(), {"layout.tp"}), "does not do");
  EXPECT_EQ(error_of([] { places().placing([]() { throw Error("no disk"); }); }), "no disk");
  EXPECT_EQ(places().placing([] { return 7; }), 7);
}

}  // namespace
}  // namespace windtunnel
