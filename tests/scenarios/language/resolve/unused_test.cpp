#include "scenarios/language/resolve/unused.hpp"

#include "tests/scenarios/golden.hpp"

namespace windtunnel {
namespace {

std::string keys_of(const std::string& more) {
  const std::string text =
      "name: a\nmodel: llama3-8b\ncluster: {nodes: 4, node: dgx-h100}\nlayout: {tp: 8}\n"
      "batch: {global: 64}\n" +
      more;
  std::string keys;
  for (const Note& note : parse_case(text, "a.yaml").notes) keys += note.key + " ";
  return keys;
}

TEST(Unused, WhatOnlyACampaignUses) {
  const std::string stated =
      "snapshots: [{tier: host-memory, every: 1 h}]\nrecovery: {spares: 1}\n"
      "failures: [{class: node, rate: 3 per 1000 node-days}]\n";
  EXPECT_EQ(keys_of(stated), "snapshots, failures, recovery ");
  EXPECT_EQ(keys_of(stated + "campaign: {length: 3 d}\n"), "");
  EXPECT_EQ(keys_of(""), "");
}

TEST(Unused, APriceOfNothing) {
  EXPECT_EQ(keys_of("job: {price: 2 USD per gpu-hour}\n"), "job.price ");
  EXPECT_EQ(keys_of("job: {price: 2 USD per gpu-hour, tokens: 1 T}\n"), "");
  EXPECT_EQ(keys_of("job: {price: 2 USD per gpu-hour, steps: 1000}\n"), "");
}

}  // namespace
}  // namespace windtunnel
