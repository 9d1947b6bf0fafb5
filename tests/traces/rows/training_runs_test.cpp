#include "traces/rows/training_runs.hpp"

#include <gtest/gtest.h>

#include <map>

#include "models/base/random.hpp"
#include "tests/support/error_of.hpp"
#include "traces/text/csv.hpp"

namespace windtunnel {
namespace {

using Cells = std::map<std::string, std::string>;

const std::string kHeader =
    "source,model,layers,hidden,heads,head_width,kv_heads,seq,vocab,global_batch,micro_batch,gpus,"
    "gpu_type,tp,pp,vpp,dp,cp,ep,sequence_parallel,iter_time_s,mfu,mem_gib,tokens_per_s_per_gpu,"
    "samples_per_s_per_gpu,iter_time_is,note\n";

std::vector<std::string> columns() {
  return CsvTable::parse(kHeader, "header").header();
}

// Returns a valid row, changed by `cells`.
std::string line_of(const Cells& cells) {
  static const Cells sound = {
      {"source", "a paper"}, {"model", "GPT 1.3B"}, {"layers", "24"},     {"hidden", "2048"},
      {"heads", "16"},       {"seq", "1024"},       {"vocab", "50257"},   {"global_batch", "64"},
      {"micro_batch", "2"},  {"gpus", "16"},        {"gpu_type", "A100"}, {"tp", "2"},
      {"pp", "2"},           {"dp", "4"},           {"iter_time_s", "2"}};
  std::string line;
  for (const std::string& name : columns()) {
    const Cells& from = cells.contains(name) ? cells : sound;
    line += ',' + (from.contains(name) ? from.at(name) : "");
  }
  return line.substr(1) + "\n";
}

TrainingRuns parse(const std::string& text) {
  return parse_training_runs(text, "runs.csv");
}

TEST(TrainingRuns, ReadsCellsAndLeavesEmptyOnesOut) {
  const TrainingRuns runs = parse(kHeader + line_of({{"sequence_parallel", "1"},
                                                     {"mem_gib", "30.5"},
                                                     {"note", "status=Success; zero_stage=1;x"}}));
  ASSERT_EQ(runs.runs.size(), 1U);
  EXPECT_TRUE(runs.unusable.empty());
  const TrainingRun& run = runs.runs[0];
  EXPECT_EQ(run.id, "runs.csv:2");
  EXPECT_EQ(run.source, "a paper");
  EXPECT_EQ(run.gpus, 16);
  EXPECT_EQ(run.sequence_parallel, true);
  EXPECT_EQ(run.step_s, 2);
  EXPECT_EQ(run.memory_gib, 30.5);
  EXPECT_FALSE(run.kv_heads.has_value());
  EXPECT_FALSE(run.cp.has_value());
  EXPECT_EQ(run.noted("zero_stage"), "1");
  EXPECT_EQ(run.noted("status"), "Success");
  EXPECT_EQ(run.noted("stage"), "");
  EXPECT_EQ(run.noted("x"), "");
}

TEST(TrainingRuns, WhereDpIsNotStatedTheGpusSayIt) {
  const TrainingRuns runs = parse(kHeader + line_of({{"dp", ""}, {"cp", "2"}}));
  ASSERT_EQ(runs.runs.size(), 1U);
  EXPECT_EQ(runs.runs[0].dp, 2);
}

struct Fault {
  Cells cells;
  std::string reason;
};

const std::vector<Fault>& faults() {
  static const std::vector<Fault> cases = {
      {{{"layers", "many"}}, "column 'layers': 'many' is not a number"},
      {{{"gpus", "16 GPUs"}},
       "column 'gpus': '16 GPUs' has text after the number; expected only the number"},
      {{{"iter_time_s", "12 s"}},
       "column 'iter_time_s': '12 s' has text after the number; expected only the number "
       "(seconds)"},
      {{{"mem_gib", "80GB"}},
       "column 'mem_gib': '80GB' has text after the number; expected only the number (GiB)"},
      {{{"vocab", "\"50,257\""}},
       "column 'vocab': '50,257' has text after the number; expected only the number"},
      {{{"hidden", "-2048"}}, "column 'hidden': -2048 is not greater than 0"},
      {{{"mem_gib", "-3"}}, "column 'mem_gib': -3 is not greater than 0"},
      {{{"iter_time_s", "0"}}, "column 'iter_time_s': 0 is not greater than 0"},
      {{{"tp", "2.5"}}, "column 'tp': 2.5 is not a whole number"},
      {{{"layers", "1e99"}}, "column 'layers': 1e99 is more than 100000"},
      {{{"seq", "99999999999999999999"}},
       "column 'seq': 99999999999999999999 is more than 1e+09 (tokens)"},
      {{{"iter_time_s", "1e999"}}, "column 'iter_time_s': 1e999 is more than 1e+07 (seconds)"},
      {{{"iter_time_s", "nan"}}, "column 'iter_time_s': nan is not a finite number"},
      {{{"mem_gib", "-inf"}}, "column 'mem_gib': -inf is not a finite number"},
      {{{"mfu", "45"}}, "column 'mfu': 45 is more than 1 (a share, not per cent)"},
      {{{"sequence_parallel", "maybe"}},
       "column 'sequence_parallel': 'maybe' is neither 1 (or true) nor 0 (or false)"},
      {{{"gpus", ""}, {"dp", ""}},
       "column 'gpus': is empty, and no step can be predicted without it"},
      {{{"source", " "}}, "column 'source': is empty, and no step can be predicted without it"},
      {{{"gpus", "32"}}, "column 'gpus': 32 GPUs do not equal tp 2 x pp 2 x dp 4 x cp 1"},
      {{{"tp", "100000"}, {"pp", "100000"}, {"cp", "100000"}},
       "column 'gpus': 16 GPUs do not equal tp 100000 x pp 100000 x dp 4 x cp 100000"},
      {{{"gpus", "18"}, {"dp", ""}},
       "column 'gpus': 18 GPUs are no multiple of tp 2 x pp 2 x cp 1"},
      {{{"ep", "3"}}, "column 'ep': 3 expert ranks do not divide the 8 ranks of a stage"},
      {{{"heads", "17"}},
       "column 'heads': 17 heads do not divide the hidden size 2048, and no head_width is stated"},
      {{{"kv_heads", "5"}}, "column 'kv_heads': 5 does not divide 16 heads"},
      {{{"global_batch", "60"}},
       "column 'global_batch': 60 sequences do not make whole micro-batches of 2 on each of 4 dp "
       "ranks"},
      {{{"global_batch", "63"}, {"micro_batch", ""}},
       "column 'global_batch': 63 sequences cannot be divided among 4 dp ranks"},
      // 64 x 1024 tokens / 16 GPUs / 2 s are 2048 tokens/s.
      {{{"tokens_per_s_per_gpu", "1800"}},
       "column 'iter_time_s': 2 s contradicts column 'tokens_per_s_per_gpu', which implies 2.276 "
       "s"},
      {{{"seq", ""}, {"tokens_per_s_per_gpu", "1800"}},
       "column 'seq': is empty, and no step can be predicted without it"},
      {{{"samples_per_s_per_gpu", "3"}},
       "column 'iter_time_s': 2 s contradicts column 'samples_per_s_per_gpu', which implies 1.333 "
       "s"},
      {{{"note", "status=OOM"}},
       "column 'iter_time_s': contains a time, but the note says that the run was out of memory"},
      {{{"iter_time_is", "none (unpacked: sequence lengths unknown)"}},
       "column 'iter_time_is': no step can be predicted without its sequences' lengths"},
      {{{"tp", "x"}, {"mfu", "y"}},
       "column 'tp': 'x' is not a number; column 'mfu': 'y' is not a number (a share, not per "
       "cent)"}};
  return cases;
}

TEST(TrainingRuns, EveryFaultIsNamedAndTheNextRowIsRead) {
  for (const Fault& fault : faults()) {
    const TrainingRuns runs = parse(kHeader + line_of(fault.cells) + line_of({}));
    ASSERT_EQ(runs.unusable.size(), 1U) << fault.reason;
    EXPECT_TRUE(runs.unusable[0].id.starts_with("runs.csv:2:")) << runs.unusable[0].id;
    EXPECT_EQ(runs.unusable[0].reason, fault.reason);
    EXPECT_EQ(runs.unusable[0].table_row, 0U);
    ASSERT_EQ(runs.runs.size(), 1U);
    EXPECT_EQ(runs.runs[0].id, "runs.csv:3");
  }
}

TEST(TrainingRuns, WhatIsUnusualButSoundIsRead) {
  for (const Cells& cells :
       {Cells{{"heads", "17"}, {"head_width", "128"}}, Cells{{"tokens_per_s_per_gpu", "1900"}},
        Cells{{"iter_time_s", ""}, {"note", "status=OOM"}},
        Cells{{"layers", ""}, {"micro_batch", ""}}, Cells{{"gpus", " 16 "}},
        Cells{{"mfu", "0.45"}}}) {
    const TrainingRuns runs = parse(kHeader + line_of(cells));
    EXPECT_EQ(runs.runs.size(), 1U) << (runs.unusable.empty() ? "" : runs.unusable[0].reason);
  }
}

TEST(TrainingRuns, RaggedRowsAndOpenQuotesDoNotSwallowOthers) {
  const std::string sound = line_of({});
  const TrainingRuns runs = parse(kHeader + sound + "too,few\n" + sound + "\"open," + sound +
                                  sound + line_of({{"note", "\"a, \"\"b\"\"\""}}) +
                                  line_of({{"note", "x,y"}}) + "\"open at the end\n");
  ASSERT_EQ(runs.runs.size(), 4U);
  EXPECT_EQ(runs.runs[3].note, "a, \"b\"");
  std::vector<std::string> found;
  for (const UnusableRow& row : runs.unusable) found.push_back(row.id + ": " + row.reason);
  EXPECT_EQ(found,
            (std::vector<std::string>{"runs.csv:3: the row has 2 cells, but the header has 27",
                                      "runs.csv:5: the row has 2 cells, but the header has 27",
                                      "runs.csv:8: the row has 28 cells, but the header has 27",
                                      "runs.csv:9: a quote is not closed"}));
}

TEST(TrainingRuns, MarkAndCarriageReturns) {
  std::string text = "\xEF\xBB\xBF" + kHeader + line_of({{"note", "last"}});
  for (size_t at = 0; (at = text.find('\n', at)) != std::string::npos; at += 2) {
    text.insert(at, "\r");
  }
  const TrainingRuns runs = parse(text);
  ASSERT_EQ(runs.runs.size(), 1U);
  EXPECT_EQ(runs.runs[0].source, "a paper");
  EXPECT_EQ(runs.runs[0].note, "last");
}

std::string reading_error(const std::string& text) {
  return error_of([&] { parse(text); });
}

TEST(TrainingRuns, WithoutTheNeededColumnsNothingIsRead) {
  EXPECT_EQ(reading_error(""), "runs.csv:1:1: the file is empty");
  EXPECT_EQ(reading_error("source,model,sequ,global_batch,gpus,gpu_type,tp,pp,iter_time_s\n"),
            "runs.csv:1:1: column 'seq' is missing; the file has a similar one, 'sequ'");
  EXPECT_EQ(reading_error("source,model,source\n"),
            "runs.csv:1:3: column 'source' is in the header twice");
  EXPECT_THROW(read_training_runs("no/such.csv"), Error);
}

// Whatever a file contains, reading does not crash, and every line that is not blank is a run or is
// listed as unusable.
TEST(TrainingRuns, HostileCells) {
  const std::vector<std::string> names = columns();
  const std::vector<std::string> pieces = {"0",   "-1", "1e400", "nan", "\"", "\"\"", "x",
                                           "2.5", ",",  "\n",    "16",  " ",  "80GB", "2147483648"};
  for (int index = 0; index < 2000; ++index) {
    RandomStream random(7, RandomPurpose::test, index);
    Cells cells;
    for (int change = 0; change < 3; ++change) {
      cells[names[random.below(names.size())]] = pieces[random.below(pieces.size())];
    }
    const std::string text = kHeader + line_of(cells) + line_of({});
    const TrainingRuns runs = parse(text);
    EXPECT_GE(runs.runs.size() + runs.unusable.size(), 2U) << text;
  }
}

// Notes of this source state in words which share of activations is offloaded, and "OOM" if memory
// ran out.
TEST(TrainingRuns, MegatronKwaiSaysHowMuchIsOffloaded) {
  const TrainingRuns runs = parse_training_runs(
      "source,model,layers,hidden,heads,seq,global_batch,micro_batch,gpus,gpu_type,tp,pp,"
      "iter_time_s,mem_gib,power_limit_w,note\n"
      "Megatron-Kwai,Llama,80,8192,64,8192,256,1,256,H800,2,8,,62.4,600,activation offload "
      "fraction "
      "alpha 0.4; of the 2nd iteration\n"
      "Megatron-Kwai,Llama,80,8192,64,8192,256,1,256,H800,2,8,,,,activation offload fraction alpha "
      "0; OOM\n",
      "kwai.csv");
  ASSERT_EQ(runs.runs.size(), 2u);
  EXPECT_EQ(runs.runs[0].noted("offload_share"), "0.4");
  EXPECT_EQ(runs.runs[0].noted("status"), "Success");
  EXPECT_EQ(runs.runs[0].power_limit_W, 600);
  EXPECT_EQ(runs.runs[1].noted("offload_share"), "0");
  EXPECT_EQ(runs.runs[1].noted("status"), "OOM");
  EXPECT_FALSE(runs.runs[1].power_limit_W);
}

}  // namespace
}  // namespace windtunnel
