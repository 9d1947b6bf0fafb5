// Compares predictions with the peak memory and the out-of-memory labels of published runs, taken
// at regular intervals from their tables. Fitted constants (memory.fragmentation, nanotron's) come
// from rows of up to 16 GPUs.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "scenarios/language/case.hpp"
#include "sim/study/simulate.hpp"
#include "validate/accuracy/runs/run_job.hpp"
#include "validate/accuracy/runs/runs.hpp"

namespace windtunnel {
namespace {

class MemoryRuns : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    const std::string path = WINDTUNNEL_SOURCE_DIR "/tests/data/memory_runs.csv";
    report_ =
        new ValidationReport(validate_runs({read_training_runs(path)}, closed_predictor(), {}));
  }
  static void TearDownTestSuite() {
    delete report_;
    report_ = nullptr;
  }

  static std::vector<double> errors(const std::string& source) {
    std::vector<double> found;
    for (const ValidationRow& row : report_->rows) {
      if (row.metric != "memory_bytes" || !row.family.starts_with(source)) continue;
      found.push_back(std::abs(row.predicted / row.measured - 1));
    }
    std::sort(found.begin(), found.end());
    return found;
  }
  static double median_error(const std::string& source) {
    const std::vector<double> found = errors(source);
    return found.at(found.size() / 2);
  }

  static ValidationReport* report_;
};
ValidationReport* MemoryRuns::report_ = nullptr;

TEST_F(MemoryRuns, AllArePredicted) {
  EXPECT_TRUE(report_->skipped.empty());
  EXPECT_EQ(errors("HF nanotron").size(), 19U);  // not used in fits
  EXPECT_EQ(std::ranges::count(report_->fitted, "memory_bytes", &ValidationRow::metric), 6);
}

TEST_F(MemoryRuns, SaysWhetherNanotronRunsFit) {
  int right = 0, out = 0;
  for (const MemoryLabel& label : report_->labels) {
    right += label.measured_out == label.predicted_out;
    out += label.measured_out;
  }
  ASSERT_EQ(report_->labels.size(), 36U);  // the other 14 of 50 were used in fits
  ASSERT_EQ(out, 17);
  EXPECT_GE(right, 35);  // at least 95 %
}

TEST_F(MemoryRuns, MedianErrors) {
  EXPECT_LE(median_error("Zero Bubble"), 0.05);
  EXPECT_LE(median_error("BLOOM"), 0.05);
  EXPECT_LE(median_error("torchtitan"), 0.06);
  EXPECT_LE(median_error("HF nanotron"), 0.1);
}

TEST_F(MemoryRuns, IntervalsHoldNineTenths) {
  double inside = 0, rows = 0;
  for (const ValidationRow& row : report_->rows) {
    if (row.metric != "memory_bytes") continue;
    ++rows;
    inside += row.low <= row.measured && row.measured <= row.high;
  }
  EXPECT_GE(inside / rows, 0.85);
}

TEST(MemoryFigure, OfTheRankAndWhatIsPrinted) {
  std::vector<GpuMemory> memory(3);
  for (std::size_t rank = 0; rank < 3; ++rank) {
    memory[rank].weights = 10;
    memory[rank].activations = rank == 1 ? 90 : 30.0 + 10.0 * rank;
    memory[rank].fragmentation = 5;
    memory[rank].framework = 2;
  }
  using Rank = MemoryFigure::Rank;
  using What = MemoryFigure::What;
  EXPECT_EQ(bytes_of({1, What::allocated, Rank::first}, memory), 40);
  EXPECT_EQ(bytes_of({1, What::reserved, Rank::last}, memory), 65);
  EXPECT_EQ(bytes_of({1, What::device, Rank::fullest}, memory), 107);
}

// `run` adds up events of the engine, while `validate` uses closed forms. Both differ only by the
// order of their sums if stages are inside one node. If pipeline ranks share a network, `run` also
// shares its links between their flows.
TEST(RowsAsScenarios, RunAsTheyAreJudged) {
  int rows = 0;
  for (const char* file : {"memory_runs.csv", "fine_tuning_runs.csv", "pytorch_steps_h200.csv"}) {
    const std::string path = std::string(WINDTUNNEL_SOURCE_DIR "/tests/data/") + file;
    for (const TrainingRun& run : read_training_runs(path).runs) {
      if (run.gpus.value_or(0) > 32) continue;
      SCOPED_TRACE(run.id);
      const RunJob row = job_of(run);
      const RunPrediction judged = predict(row.job);
      if (!judged.fits) continue;
      const IterationReport found =
          simulate(parse_case(row_scenario(run, row), "row.yaml")).iteration;
      ASSERT_EQ(found.memory.size(), judged.memory.size());
      for (std::size_t rank = 0; rank < judged.memory.size(); ++rank) {
        EXPECT_EQ(found.memory[rank].allocated(), judged.memory[rank].allocated());
        EXPECT_EQ(found.memory[rank].total(), judged.memory[rank].total());
      }
      const bool alone = row.job.layout.pp == 1 || row.job.cluster.nodes == 1;
      EXPECT_NEAR(found.time_s / judged.step_s, 1, alone ? 1e-14 : 1e-2);
      ++rows;
    }
  }
  EXPECT_GT(rows, 100);
}

// Rows that ran out of memory state neither the width of the MLP nor whether embeddings are tied;
// rows of the same sweep that fitted state both for these models.
TEST(MlpOfParameters, FromTheWayThatGivesARoundWidth) {
  struct Case {
    const char* dimensions;  // model, params, layers, hidden, heads, vocab
    int ffn_hidden;
    bool tied;
  };
  for (const Case& each : {Case{"Llama-like 1.34B,1.34B,16,2048,32,131072", 8192, true},
                           Case{"Llama-like 3.57B,3.57B,28,3072,32,131072", 8192, true},
                           Case{"Llama-like 8.86B,8.86B,32,4096,32,131072", 14336, false},
                           Case{"Llama-like 469B,469.0B,126,16384,128,131072", 53248, false}}) {
    const TrainingRuns table = parse_training_runs(
        std::string("source,model,params,layers,hidden,heads,vocab,seq,global_batch,micro_batch,"
                    "gpus,gpu_type,tp,pp,iter_time_s,note\n") +
            "HF nanotron sweep," + each.dimensions +
            ",4096,256,1,64,H100-80GB,8,1,,status=OOM; tie_embeddings=\n",
        "runs.csv");
    ASSERT_EQ(table.runs.size(), 1U);
    const TransformerSpec model = job_of(table.runs[0]).job.model;
    EXPECT_EQ(model.ffn_hidden, each.ffn_hidden);
    EXPECT_EQ(model.tied_embeddings, each.tied) << each.dimensions;
  }
}

}  // namespace
}  // namespace windtunnel
