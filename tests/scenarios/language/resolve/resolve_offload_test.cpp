#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/cost/offload/offload.hpp"
#include "scenarios/language/case.hpp"
#include "tests/support/error_of.hpp"

namespace windtunnel {
namespace {

using testing::HasSubstr;

std::string offload_text(const std::string& offload, const std::string& rest = {}) {
  return fmt::format(
      "name: a\nmodel: {{layers: 12, hidden: 4096, heads: 32, vocabulary: 32000, sequence: 1024}}\n"
      "cluster: {{nodes: 1, node: dgx-h100}}\nlayout: {{tp: 1, dp: 8, sharding: zero3}}\n"
      "batch: {{global: 64}}\noffload: {}\n{}\n",
      offload, rest);
}

Job offload_job(const std::string& offload, const std::string& rest = {}) {
  return parse_case(offload_text(offload, rest), "a.yaml").job;
}

std::string offload_fault(const std::string& offload, const std::string& rest = {}) {
  return error_of([&] { parse_case(offload_text(offload, rest), "a.yaml"); });
}

TEST(ResolveOffload, TiersAreNamed) {
  const Job job = offload_job("{optimizer: disk, gradients: host, activations: host, cores: 12}");
  const Offload& offload = offload_of(job);
  EXPECT_EQ(offload.optimizer, MemoryTier::disk);
  EXPECT_EQ(offload.gradients, MemoryTier::host);
  EXPECT_EQ(offload.weights, MemoryTier::gpu);
  EXPECT_EQ(offload.activations, MemoryTier::host);
  EXPECT_EQ(offload.cores, 12);
  EXPECT_EQ(offload_job("gpu").offload, nullptr);
  EXPECT_EQ(offload_of(offload_job("host")).optimizer, MemoryTier::host);
}

TEST(ResolveOffload, TheCoresRateIsThatOfTheScenario) {
  const Job job = offload_job("{optimizer: host, core_rate: 5 GB/s}");
  EXPECT_EQ(offload_of(job).core_Bps.value, 5e9);
}

TEST(ResolveOffload, FaultsNameTheirKey) {
  EXPECT_THAT(offload_fault("{weights: host}"), HasSubstr("a.yaml:6:1: offload: gradients and"));
  EXPECT_THAT(offload_fault("{optimizer: hsot}"), HasSubstr("did you mean 'host'"));
  EXPECT_THAT(offload_fault("{optimizer: auto, weights: host}"),
              HasSubstr("searched only together"));
  EXPECT_THAT(offload_fault("{optimizer: host, activation_share: 1.5}"), HasSubstr("a.yaml:6:"));
  EXPECT_THAT(offload_fault("{optimizer_share: 0.5}"),
              HasSubstr("applies to an offloaded optimizer; set"));
  EXPECT_THAT(offload_fault("{activation_share: 0.5}"),
              HasSubstr("applies to offloaded activations; set"));
  EXPECT_THAT(offload_fault("{optimizer: host, cores: 500}"),
              HasSubstr("112 that a node has for all"));
  EXPECT_THAT(offload_fault("{activations: host}", "schedule: {name: 1f1b, slices: 2}"),
              HasSubstr("slices"));
}

TEST(ResolveOffload, AutoIsWhatFits) {
  const Job roomy = offload_job("auto", "recompute: auto");
  EXPECT_EQ(roomy.recompute, Recompute::none);
  EXPECT_FALSE(offload_of(roomy).any());
  EXPECT_TRUE(offload_of(roomy).searched.state);
  const Job tight = offload_job("{activations: auto}", "recompute: auto");
  EXPECT_NE(tight.recompute, Recompute::automatic);
}

TEST(ResolveOffload, ChunksAreFound) {
  const auto at_once = [](const std::string& offload) {
    std::string text = offload_text(offload, "recompute: full");
    return text.replace(text.find("global: 64"), 10, "global: 8");
  };
  const Job job = parse_case(at_once("{placement: chunks, chunk: 256 MiB}"), "a.yaml").job;
  EXPECT_GT(offload_of(job).chunks.count, 0);
  EXPECT_EQ(offload_of(job).chunks.bytes, 256 * 1024 * 1024);
  EXPECT_EQ(offload_of(job).weights, MemoryTier::host);
  const auto fault = [&](const std::string& offload) {
    return error_of([&] { parse_case(at_once(offload), "a.yaml"); });
  };
  EXPECT_THAT(fault("{placement: chunks, optimizer_share: 0.5}"), HasSubstr("a.yaml:6:"));
  EXPECT_THAT(fault("{placement: chunks, optimizer: disk}"), HasSubstr("leave it out"));
  EXPECT_THAT(fault("{placement: chunks, chunk: 1 MiB}"),
              HasSubstr("a.yaml:6:37: offload.chunk is 1.00 MiB, but the largest tensor has"));
  EXPECT_THAT(fault("{optimizer: host, chunk: 1 GiB}"), HasSubstr("placement: chunks"));
  EXPECT_THAT(offload_fault("{placement: chunks}"), HasSubstr("a.yaml:6:1: offload: with chunks"));
}

TEST(ResolveOffload, WhatHidesIsFound) {
  const Job job = offload_job("{activations: host, hidden: true}");
  EXPECT_TRUE(offload_of(job).searched.hidden);
  EXPECT_THAT(offload_fault("{hidden: true}"), HasSubstr("offload.activations: host"));
  EXPECT_THAT(offload_fault("{activations: host, hidden: true, activation_share: 0.5}"),
              HasSubstr("leave one of them out"));
  EXPECT_THAT(offload_fault("{sections: 3}"), HasSubstr("applies to offloaded layers; set"));
}

TEST(ResolveOffload, WhatIsFoundIsExplainedSo) {
  const Case found = parse_case(offload_text("auto", "recompute: auto"), "a.yaml");
  int rows = 0;
  for (const ResolvedValue& value : found.values) {
    const bool open = value.key == "recompute" || value.key == "offload.optimizer" ||
                      value.key == "offload.gradients" || value.key == "offload.weights" ||
                      value.key == "offload.optimizer_share" ||
                      value.key == "offload.activations" || value.key == "offload.activation_share";
    EXPECT_EQ(value.is_found, open) << value.key;
    if (!open) continue;
    ++rows;
    EXPECT_EQ(value.source, "found by search");
    EXPECT_FALSE(value.is_default);
    EXPECT_NE(value.value, "auto");
  }
  EXPECT_EQ(rows, 7);
  const Case hidden = parse_case(offload_text("{activations: host, hidden: true}"), "a.yaml");
  for (const ResolvedValue& value : hidden.values) {
    EXPECT_EQ(value.is_found, value.key == "offload.activation_share") << value.key;
  }
}

}  // namespace
}  // namespace windtunnel
