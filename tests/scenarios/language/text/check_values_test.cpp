#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/base/error.hpp"
#include "scenarios/language/text/values.hpp"

namespace windtunnel {
namespace {

std::string faults_of(const std::string& text, const std::string& path = "") {
  try {
    check_values(parse_document(text, "a.yaml"), path);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(CheckValues, AllFaultsOfATextAtOnce) {
  EXPECT_EQ(faults_of("{layers: 3, hiden: 4, vocab: 5, heads: many}", "model"),
            "a.yaml:1:13: unknown model key 'hiden'; did you mean 'hidden'?\n"
            "a.yaml:1:23: unknown model key 'vocab'; did you mean 'vocabulary'?\n"
            "a.yaml:1:40: model.heads: expected a whole number, not 'many'; e.g. 'heads: 128'");
}

// The example is that of the key, because two keys of one dimension may be far apart.
TEST(CheckValues, ExamplesOfUnitsAreOfTheKey) {
  EXPECT_EQ(
      faults_of("{base: dgx-h100, nic: 400}", "cluster.node"),
      "a.yaml:1:23: cluster.node.nic: '400' has no unit; expected a data rate, e.g. '400 Gb/s'");
  EXPECT_EQ(
      faults_of("{slow_share: 1 %}", "cluster.fabric.variation"),
      "a.yaml:1:14: cluster.fabric.variation.slow_share: '1 %' is not a plain number; expected "
      "a plain number, e.g. '0.01'");
}

// A key that is misspelt is not reported as missing as well.
TEST(CheckValues, WhatIsMissingAmongThem) {
  EXPECT_EQ(faults_of("{globl: 3, micro: 0}", "batch"),
            "a.yaml:1:2: unknown batch key 'globl'; did you mean 'global'?\n"
            "a.yaml:1:19: batch.micro: must be at least 1, not 0");
  EXPECT_THAT(faults_of("{micro: 0}", "batch"),
              testing::HasSubstr("\na.yaml:1:1: batch has no 'global'"));
}

TEST(CheckValues, AutoLeavesAKeyOpen) {
  const Values values = check_values(parse_document("{tp: 2, dp: auto}", "a.yaml"), "layout");
  EXPECT_EQ(values.integer("layout.tp"), 2);
  EXPECT_FALSE(values.has("layout.dp"));
  EXPECT_THAT(faults_of("{tp: auto}", "layout"), testing::HasSubstr("expected a whole number"));
  EXPECT_THAT(faults_of("{dp: all}", "layout"),
              testing::HasSubstr("expected a whole number or 'auto', not 'all'"));
}

}  // namespace
}  // namespace windtunnel
