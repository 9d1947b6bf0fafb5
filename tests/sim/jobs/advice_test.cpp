// Random jobs are refused, and each change that a refusal advises is applied to the job: the
// refusal must then be gone.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "models/base/random.hpp"
#include "scenarios/language/case.hpp"
#include "tests/sim/jobs/advised_changes.hpp"

namespace windtunnel {
namespace {

std::optional<Error> refusal_of(const RandomJob& job) {
  try {
    parse_case(job.text, "job.yaml", job.set);
  } catch (const Error& error) {
    return error;
  }
  return std::nullopt;
}

// Keys that often refuse each other, each with values that many others refuse.
struct Choices {
  std::string_view key;
  std::vector<std::string_view> values;
};

const std::vector<Choices>& quarrelsome() {
  static const std::vector<Choices> keys = {
      {"layout.sharding", {"none", "zero1", "zero2", "zero3"}},
      {"layout.tp", {"2", "4"}},
      {"layout.pp", {"2", "4"}},
      {"layout.cp", {"2", "4"}},
      {"layout.ep", {"2", "4"}},
      {"layout.vpp", {"2"}},
      {"layout.tp_form", {"2d"}},
      {"layout.context", {"ulysses", "ring", "usp", "dsp", "burst", "token-ring", "striped"}},
      {"layout.length_policy", {"hdp", "flexsp", "fixed"}},
      {"layout.sequence_parallel", {"true", "false"}},
      {"layout.gradient_bits", {"8", "4"}},
      {"layout.gradient_ranks", {"8"}},
      {"layout.shard_ranks", {"8"}},
      {"layout.signatures.qkv", {"S(0)", "S(1)", "B"}},
      {"communication.overlap", {"none", "bucketed", "wfbp", "blocking", "priority", "dear"}},
      {"communication.aggregation", {"all-reduce", "parameter-server"}},
      {"communication.embeddings", {"sparse", "dense"}},
      {"communication.robust", {"krum", "{rule: monna, byzantine: 1}", "median"}},
      {"communication.compressor", {"powersgd", "onebit-adam", "topk", "int8", "signsgd", "qsgd"}},
      {"communication.compressor.hop", {"across"}},
      {"communication.inner", {"tasks", "folded", "auto"}},
      {"software.optimizer", {"sgd", "adam"}},
      {"software.tp_overlap", {"pipelined", "domino", "kraken", "fused", "ladder"}},
      {"software.dispatch", {"{latency: 1 ms}", "{gang: step}"}},
      {"software.post_validation", {"true"}},
      {"model.attention", {"unfused", "linear", "flash"}},
      {"model.moe", {"{experts: 8, per_token: 2, ffn: 2048}"}},
      {"model.tied_embeddings", {"true", "false"}},
      {"batch.lengths", {"{median: 300, sigma: 0.8}"}},
      {"batch.micro", {"2", "4"}},
      {"offload.optimizer", {"host", "disk"}},
      {"offload.gradients", {"host"}},
      {"offload.weights", {"host", "disk"}},
      {"offload.activations", {"host", "auto"}},
      {"offload.placement", {"chunks"}},
      {"precision", {"fp8", "fp32"}},
      {"recompute", {"full", "selective", "auto"}},
      {"train.frozen", {"[\"layers 0-3\"]"}},
      {"train.method", {"zeroth-order"}},
      {"redundancy", {"drop-slowest"}},
      {"schedule", {"gpipe", "zb-h1", "interleaved-1f1b", "chimera", "dualpipe", "pipedream"}},
      {"sync", {"[{islands: 2, every: 10 steps}]"}},
  };
  return keys;
}

RandomJob quarrel(std::uint64_t number) {
  RandomStream random(20261129, RandomPurpose::test, number);
  RandomJob job = random_job_of_keys(number % 2 == 0 ? number : 0);
  if (number % 2 == 1) {
    job.text =
        "name: quarrel\n"
        "model: {layers: 8, hidden: 1024, heads: 16, vocabulary: 32000, sequence: 1024}\n"
        "cluster: {nodes: 2, node: dgx-h100, storage: {write: 10 GB/s, read: 10 GB/s}}\n"
        "batch: {global: 64, micro: 1}\n";
  }
  job.set.clear();
  const auto& keys = quarrelsome();
  for (std::size_t i = 2 + random.below(3); i > 0; --i) {
    const Choices& choices = keys[random.below(keys.size())];
    std::erase_if(job.set, [&](const auto& each) { return each.first == choices.key; });
    job.set.emplace_back(choices.key, choices.values[random.below(choices.values.size())]);
  }
  return job;
}

// Records kinds of refusal: those with an advised change that was tried, those accepted with it,
// and advice in words that were not understood.
struct Advice {
  std::set<std::string> tried;
  std::set<std::string> accepted;
  std::map<std::string, std::string> untried;
};

void try_advice(const RandomJob& job, const Error& error, Advice& advice) {
  const std::string kind = refusal_kind(error);
  if (advice_of(error).empty()) return;
  const std::vector<AdvisedJob> advised = advised_jobs(job, error);
  if (advised.empty()) advice.untried.try_emplace(kind, error.what());
  for (const AdvisedJob& each : advised) {
    const std::optional<Error> still = refusal_of(each.job);
    EXPECT_FALSE(still && refusal_kind(*still) == kind)
        << "with " << each.change << " still: " << still->what() << "\nof\n"
        << job.to_string();
    advice.tried.insert(kind);
    if (!still) advice.accepted.insert(kind);
  }
}

// Adds the job's keys one by one, as long as they are accepted, and tries what refusals advise.
void try_keys(const RandomJob& job, Advice& advice) {
  RandomJob so_far{.text = job.text, .set = {}};
  for (const auto& each : job.set) {
    so_far.set.push_back(each);
    const std::optional<Error> error = refusal_of(so_far);
    if (!error) continue;
    try_advice(so_far, *error, advice);
    so_far.set.pop_back();
  }
}

Advice advice_about(std::uint64_t jobs) {
  Advice advice;
  for (std::uint64_t number = 0; number < jobs; ++number) {
    try_keys(random_job_of_keys(number), advice);
    try_keys(quarrel(number), advice);
    try_keys(quarrel(number + 100000), advice);
  }
  return advice;
}

// The first of the jobs below, in every test run.
TEST(Advice, RefusalsAreGoneWithTheChangeThatTheyName) {
  const Advice advice = advice_about(400);
  EXPECT_GT(advice.tried.size(), 70u);
  EXPECT_GT(advice.accepted.size(), 50u);
}

TEST(ManyBlocksOfAdvice, RefusalsAreGoneWithTheChangeThatTheyName) {
  const Advice advice = advice_about(1500);
  EXPECT_GT(advice.tried.size(), 100u);
  // The others of these jobs are refused for a second reason.
  EXPECT_GT(advice.accepted.size(), 80u);
  if (std::getenv("WINDTUNNEL_TELL_JOBS") == nullptr) return;
  for (const std::string& kind : advice.tried) {
    fmt::print("{} {}\n", advice.accepted.contains(kind) ? "ACCEPTED" : "TRIED", kind);
  }
  for (const auto& [kind, what] : advice.untried) fmt::print("UNTRIED {}\n", what);
}

}  // namespace
}  // namespace windtunnel
