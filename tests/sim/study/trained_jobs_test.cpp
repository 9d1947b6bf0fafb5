// Trained parts are combined with layouts, schedules, sharding, exchanges and snapshots: each
// scenario is refused with its place and reason, or its memory and time add up, and training less
// never costs more.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "models/base/random.hpp"
#include "models/cost/chunk/step_work.hpp"
#include "models/cost/memory/memory.hpp"
#include "models/workload/training.hpp"
#include "policies/iteration.hpp"
#include "policies/lowering/iteration_estimate.hpp"
#include "scenarios/language/case.hpp"
#include "sim/study/simulate.hpp"
#include "tests/sim/study/record_bounds.hpp"

namespace windtunnel {
namespace {

constexpr int kTrainedJobs = 600;
constexpr int kTrainedBlocks = 12;  // blocks run in parallel

class Draw {
 public:
  explicit Draw(std::uint64_t number) : random_(20261126, RandomPurpose::test, number) {}

  std::string one_of(std::initializer_list<std::string_view> words) {
    return std::string(*(words.begin() + random_.below(words.size())));
  }
  bool chance(double share) { return random_.uniform() < share; }

 private:
  RandomStream random_;
};

// Draws all parts of the job except the trained ones.
std::string random_rest(Draw& draw, std::uint64_t number) {
  std::string text = fmt::format(
      "name: trained-{}\n"
      "model: {{layers: 8, hidden: 1024, heads: 16, vocabulary: 32000, sequence: 1024, activation: "
      "{}, tied_embeddings: {}, attention: {}{}}}\n"
      "cluster: {{nodes: 2, node: dgx-h100, fabric: {{topology: fat-tree}}, storage: {{write: 10 "
      "GB/s, read: 10 GB/s}}}}\n",
      number, draw.one_of({"gelu", "swiglu"}), draw.one_of({"true", "false"}),
      draw.one_of({"flash", "flash", "unfused"}),
      draw.chance(0.2) ? ", moe: {experts: 8, per_token: 2, shared_ffn: 1024}" : "");
  text += fmt::format("layout: {{tp: {}, pp: {}, cp: {}, sharding: {}, sequence_parallel: {}}}\n",
                      draw.one_of({"1", "1", "2", "4"}), draw.one_of({"1", "1", "2", "4"}),
                      draw.one_of({"1", "1", "1", "2"}),
                      draw.one_of({"none", "none", "zero1", "zero2", "zero3"}),
                      draw.one_of({"true", "false"}));
  text += fmt::format("batch: {{global: 64, micro: {}}}\n", draw.one_of({"1", "2"}));
  text += fmt::format("precision: {}\n", draw.one_of({"bf16", "bf16", "bf16", "fp8"}));
  text += fmt::format("recompute: {}\n", draw.one_of({"none", "selective", "full"}));
  text += fmt::format("schedule: {}\n",
                      draw.one_of({"1f1b", "gpipe", "zb-h1", "interleaved-1f1b", "seq1f1b"}));
  text += fmt::format("communication: {{overlap: {}, compressor: {}}}\n",
                      draw.one_of({"none", "bucketed", "bucketed", "wfbp", "dear"}),
                      draw.one_of({"none", "none", "none", "powersgd", "qsgd", "one-byte"}));
  text += "snapshots:\n  - {tier: storage, every: 30 min, mode: async}\n";
  text +=
      "failures:\n  - {class: node, rate: 20 per 1000 node-days, repair: 12 h}\n"
      "  - {class: process, rate: 20 per 1000 node-days}\n"
      "recovery: {spares: 1, detect: 30 s, restart: 5 min}\n"
      "campaign: {length: 20 d, replicas: 4}\njob: {tokens: 10 G}\n";
  return text;
}

std::string random_adapter(Draw& draw) {
  std::string text =
      fmt::format("kind: {}, rank: {}", draw.one_of({"lora", "lora-fa", "qlora", "dora"}),
                  draw.one_of({"4", "64"}));
  if (draw.chance(0.5)) {
    text += ", on: " + draw.one_of({"[q, v]", "[qkv]", "[proj, down]", "[up]", "[qkv, up, down]"});
  }
  return "{" + text + "}";
}

std::string random_training(Draw& draw) {
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  if (draw.chance(0.15)) add("method: zeroth-order");
  if (draw.chance(0.5)) {
    add("frozen: " + draw.one_of({"[embedding]", "[\"layers 0-3\"]", "[embedding, \"layers 0-4\"]",
                                  "[head]", "[embedding, head]", "[\"layers 3\"]",
                                  "[embedding, layers]", "[\"layers 4-9\"]"}));
  }
  if (draw.chance(0.6)) add("adapter: " + random_adapter(draw));
  if (draw.chance(0.2)) {
    add("loss: " + draw.one_of({"{chunks: 8}", "{kind: contrastive, form: whole, width: 512}",
                                "{kind: contrastive, form: tiled, tile: 256}",
                                "{kind: contrastive, form: ring, width: 512}"}));
  }
  if (text.empty()) add("frozen: [embedding, head]");
  return "train: {" + text + "}\n";
}

std::string trained_job(std::uint64_t number) {
  Draw draw(number);
  const std::string rest = random_rest(draw, number);
  return rest + random_training(draw);
}

const std::vector<RecordBound>& training_bounds() {
  static const std::vector<RecordBound> all = {
      {"what is trained is a part of the whole",
       [](const Record& record) {
         const ParameterCounts counts = parameter_counts(record.job);
         return counts.trained > 0 && counts.trained <= counts.all;
       }},
      {"without a backward pass there is none, nor gradients and optimizer state",
       [](const Record& record) {
         if (!is_zeroth_order(record.job.training.get())) return true;
         const auto& seconds = record.iteration.critical_path_s;
         double state = 0;
         for (const GpuMemory& rank : record.iteration.memory) state += rank.optimizer;
         return seconds[int(Category::backward)] == 0 && seconds[int(Category::recompute)] == 0 &&
                state == 0;
       }},
      {"hardware does what the model asks, and more",
       [](const Record& record) {
         return record.iteration.hfu >= record.iteration.mfu * (1 - 1e-9);
       }},
  };
  return all;
}

struct Sums {
  double trained = 0;
  double frozen = 0;
  double state_bytes = 0;  // gradients and optimizer
  double snapshot_bytes = 0;
  double memory_bytes = 0;
  double step_s = 0;
};

Sums sums_of(const Job& job) {
  const PreparedIteration prepared = prepare_iteration(job);
  Sums sums;
  for (const ChunkCost& chunk : prepared.chunks) {
    sums.trained += chunk.parameters;
    sums.frozen += chunk.frozen_parameters;
  }
  for (const GpuMemory& rank : prepared.memory) {
    sums.state_bytes += rank.gradients + rank.optimizer;
    sums.memory_bytes += rank.allocated();
  }
  for (const double bytes : snapshot_bytes_per_gpu(job, prepared.chunks)) {
    sums.snapshot_bytes += bytes;
  }
  sums.step_s = microbatches_step_s(job, prepared);
  return sums;
}

Job without_training(Job job) {
  job.training = nullptr;
  return job;
}

class TrainedJobs : public testing::TestWithParam<int> {};

TEST_P(TrainedJobs, AddUpOrAreRefusedWithTheReason) {
  expect_run_or_refused(
      {"trained", kTrainedJobs, kTrainedBlocks, trained_job, within_bounds(training_bounds())},
      GetParam());
}

// Some of the jobs run in every test run, the others only in long ones.
INSTANTIATE_TEST_SUITE_P(Blocks, TrainedJobs, testing::Range(0, kTrainedBlocks / 4));
INSTANTIATE_TEST_SUITE_P(ManyBlocks, TrainedJobs,
                         testing::Range(kTrainedBlocks / 4, kTrainedBlocks));

// Returns the job of a text, or nothing if the reader refuses it.
std::optional<Job> job_of(const std::string& text) {
  try {
    return parse_case(text, "a.yaml").job;
  } catch (const Error&) {
    return std::nullopt;
  }
}

// If the rest of a job stays, training less holds less and takes no longer, except for waits for
// the host: they are spread over a pass, so that its messages may leave some microseconds later
// (tests/sim/jobs/allowed_breaks_test.cpp). An adapter adds work, so its times are not compared
// here.
TEST(TrainedJobs, FrozenPartsNeverCostMore) {
  int compared = 0;
  for (std::uint64_t number = 0; compared < 300; ++number) {
    ASSERT_LT(number, 6000U);
    Draw draw(number);
    const std::string rest = random_rest(draw, number);
    const std::string frozen = draw.one_of({"[embedding, \"layers 0-3\"]", "[\"layers 0-5\"]",
                                            "[\"layers 2-4\"]", "[embedding, layers]"});
    const auto some = job_of(rest + "train: {frozen: " + frozen + "}\n");
    const auto one = job_of(rest + "train: {frozen: [\"layers 3\"]}\n");
    if (!some || !one || is_zeroth_order(some->training.get())) continue;
    ++compared;
    const Sums all = sums_of(without_training(*some));
    for (const Job* job : {&*some, &*one}) {
      const Sums less = sums_of(*job);
      EXPECT_LT(less.trained, all.trained) << rest << frozen;
      EXPECT_NEAR(less.trained + less.frozen, all.trained, 1e-9 * all.trained) << rest << frozen;
      EXPECT_LT(less.state_bytes, all.state_bytes) << rest << frozen;
      EXPECT_LT(less.snapshot_bytes, all.snapshot_bytes) << rest << frozen;
      EXPECT_LE(less.memory_bytes, all.memory_bytes * (1 + 1e-9)) << rest << frozen;
      EXPECT_LE(less.step_s, all.step_s * (1 + 5e-6)) << rest << frozen;
    }
  }
}

TEST(TrainedJobs, RanksAndKindsOfAdaptersAreInOrder) {
  int compared = 0;
  for (std::uint64_t number = 0; compared < 300; ++number) {
    ASSERT_LT(number, 6000U);
    Draw draw(number);
    const std::string rest = random_rest(draw, number);
    const std::string on = draw.one_of({"", ", on: [q, v]", ", on: [qkv, proj, up, down]"});
    const auto with = [&](const char* kind, int rank) {
      return job_of(
          fmt::format("{}train: {{adapter: {{kind: {}, rank: {}{}}}}}\n", rest, kind, rank, on));
    };
    const auto narrow = with("lora", 8);
    const auto wide = with("lora", 64);
    const auto half = with("lora-fa", 64);
    const auto quantised = with("qlora", 64);
    const auto scaled = with("dora", 64);
    if (!narrow || !quantised || is_zeroth_order(narrow->training.get())) continue;
    ++compared;
    const Sums a = sums_of(*narrow);
    const Sums b = sums_of(*wide);
    EXPECT_NEAR(b.trained, 8 * a.trained, 1e-9 * b.trained) << rest;
    EXPECT_GT(b.state_bytes, a.state_bytes) << rest;
    EXPECT_GE(b.memory_bytes, a.memory_bytes) << rest;
    EXPECT_GE(b.step_s, a.step_s * (1 - 1e-9)) << rest;
    const Sums fa = sums_of(*half);
    EXPECT_LT(fa.trained, b.trained) << rest;
    EXPECT_LE(fa.memory_bytes, b.memory_bytes) << rest;
    EXPECT_LE(fa.step_s, b.step_s * (1 + 1e-9)) << rest;
    const Sums q = sums_of(*quantised);
    EXPECT_NEAR(q.trained, b.trained, 1e-9 * b.trained) << rest;
    EXPECT_LT(q.frozen, b.frozen) << rest;
    EXPECT_LT(q.memory_bytes, b.memory_bytes) << rest;
    EXPECT_GT(sums_of(*scaled).trained, b.trained) << rest;
    EXPECT_GT(sums_of(*scaled).step_s, b.step_s) << rest;
    const Sums all = sums_of(without_training(*wide));
    EXPECT_LT(b.state_bytes, all.state_bytes) << rest;
    EXPECT_LT(b.snapshot_bytes, all.snapshot_bytes) << rest;
  }
}

// A 4-bit base has the same size whatever precision its products use: no fp8 copies of it are kept.
// Products are faster in fp8.
TEST(TrainedJobs, AQuantisedBaseIsAsLargeInFp8) {
  const auto with = [](const char* precision, const char* kind) {
    return simulate(
        parse_case(fmt::format("name: a\nmodel: llama3-8b\ncluster: {{nodes: 1, node: dgx-h100}}\n"
                               "precision: {}\nbatch: {{global: 32, micro: 4, sequence: 4096}}\n"
                               "recompute: full\ntrain: {{adapter: {{kind: {}, rank: 16}}}}\n",
                               precision, kind),
                   "a.yaml"),
        {});
  };
  const Record fp8 = with("fp8", "qlora");
  const Record bf16 = with("bf16", "qlora");
  EXPECT_EQ(fp8.iteration.memory[0].weights, bf16.iteration.memory[0].weights);
  EXPECT_LT(fp8.iteration.memory[0].weights, 0.5 * with("fp8", "lora").iteration.memory[0].weights);
  EXPECT_LT(fp8.iteration.time_s, bf16.iteration.time_s);
}

// Searches rank by the closed form, which does not know that a stage without trained parts sends no
// gradients, so it may include a wait for them.
TEST(TrainedJobs, TheClosedFormIsNearTheEngine) {
  int compared = 0;
  for (std::uint64_t number = 0; compared < 100; ++number) {
    ASSERT_LT(number, 3000U);
    Draw draw(number);
    const std::string text = random_rest(draw, number) + random_training(draw);
    const auto job = job_of(text);
    if (!job) continue;
    ++compared;
    Case the_case = parse_case(text, "a.yaml");
    the_case.job.campaign.length_s = 0;
    const Record record = simulate(the_case, {.threads = 1, .allow_oom = true});
    const double closed_s = microbatches_step_s(*job, prepare_iteration(*job));
    EXPECT_NEAR(closed_s, record.iteration.time_s, 0.1 * record.iteration.time_s) << text;
  }
}

// Adapters are on every matrix of a layer. Their kernels are small, and the base has no weight
// gradients, so a step takes less than training all, with or without recomputation. Exceptions are
// steps bound by the host's launches, and tp so wide that the repeated first factors take as much.
// One pair of factors for each matrix takes longer than one for each product, and adding the result
// separately takes longer than adding it within the product.
TEST(TrainedJobs, AdaptersOnAllMatricesTakeLessThanTrainingAll) {
  constexpr const char* kAll = "train: {adapter: {kind: lora, rank: 16}}\n";
  for (const char* model : {"llama3-8b", "llama3-70b"}) {
    for (const char* recompute : {"none", "selective", "full"}) {
      for (const int tp : {1, 2}) {
        const auto step_s = [&](const std::string& train, const std::string& software) {
          const std::string text = fmt::format(
              "name: all\nmodel: {}\ncluster: {{nodes: 4, node: dgx-h100}}\nlayout: {{tp: {}, "
              "sharding: zero1}}\nbatch: {{global: 64, micro: 1, sequence: 4096}}\nrecompute: "
              "{}\nsoftware: {{{}}}\n{}",
              model, tp, recompute, software, train);
          const Job job = parse_case(text, "all.yaml").job;
          return iteration_step_s(job, prepare_iteration(job));
        };
        SCOPED_TRACE(fmt::format("{} {} tp {}", model, recompute, tp));
        const double pairs_s = step_s(kAll, "cuda_graphs: true");
        EXPECT_LT(pairs_s, step_s("", "cuda_graphs: true"));
        EXPECT_GT(step_s(kAll, "cuda_graphs: true, adapter_per_product: false"), pairs_s);
        EXPECT_LT(step_s(kAll, "cuda_graphs: true, fused_adapters: true"), pairs_s);
        if (tp == 1) {
          EXPECT_LT(step_s(kAll, "adapter_per_product: true"),
                    step_s("", "adapter_per_product: true"));
        }
      }
    }
  }
}

}  // namespace
}  // namespace windtunnel
