#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/compression/robust.hpp"
#include "scenarios/language/case.hpp"
#include "tests/support/error_of.hpp"

namespace windtunnel {
namespace {

using testing::HasSubstr;

std::string robust_text(const std::string& communication, const std::string& rest = {}) {
  return fmt::format(
      "name: a\nmodel: {{layers: 12, hidden: 4096, heads: 32, vocabulary: 32000, sequence: 1024}}\n"
      "cluster: {{nodes: 8, node: dgx-h100, fabric: {{topology: fat-tree}}}}\n"
      "layout: {{tp: 8, dp: 8}}\nbatch: {{global: 64}}\ncommunication: {}\n{}\n",
      communication, rest);
}

std::string robust_fault(const std::string& communication, const std::string& rest = {}) {
  return error_of([&] { parse_case(robust_text(communication, rest), "a.yaml"); });
}

TEST(ResolveRobust, ARuleHasItsNumbers) {
  const auto robust = [](const char* text) {
    return parse_case(robust_text(text), "a.yaml").job.communication.robust;
  };
  EXPECT_EQ(robust("{robust: none}"), nullptr);
  EXPECT_EQ(robust("{robust: median}")->rule, RobustRule::median);
  const auto flag = robust("{robust: {rule: flag, faulty: 2, form: sliced, iterations: 9}}");
  EXPECT_EQ(flag->faulty, 2);
  EXPECT_EQ(flag->form, RobustForm::sliced);
  EXPECT_EQ(flag->iterations, 9);
}

TEST(ResolveRobust, DefaultsAreExplained) {
  const auto open = [](const char* text) {
    std::string keys;
    for (const ResolvedValue& value : parse_case(robust_text(text), "a.yaml").values) {
      if (!value.is_default || !value.key.starts_with("communication.robust.")) continue;
      keys += fmt::format("{} {} ", value.key.substr(21), value.value);
    }
    return keys;
  };
  EXPECT_EQ(open("{robust: flag}"), "faulty 1 form gathered iterations 5 ");
  EXPECT_EQ(open("{robust: {rule: krum, form: sliced}}"), "faulty 1 ");
  EXPECT_EQ(open("{robust: none}"), "");
}

TEST(ResolveRobust, WhatCannotBeIsRefused) {
  EXPECT_THAT(robust_fault("{robust: {rule: krum, faulty: 3}}"),
              HasSubstr("needs 9 replicas or more"));
  EXPECT_THAT(robust_fault("{robust: {rule: krum, iterations: 3}}"), HasSubstr("has none"));
  EXPECT_THAT(robust_fault("{robust: median, compressor: int8}"),
              HasSubstr("leave out communication.compressor"));
  EXPECT_THAT(robust_fault("{robust: median, overlap: dear}"), HasSubstr("dear"));
  EXPECT_THAT(robust_fault("{robust: median, aggregation: parameter-server}"),
              HasSubstr("servers sum gradients"));
  EXPECT_THAT(robust_fault("{robust: median}", "redundancy: drop-slowest"),
              HasSubstr("redundancy"));
}

}  // namespace
}  // namespace windtunnel
