#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>

#include "models/base/error.hpp"
#include "models/workload/training.hpp"
#include "scenarios/language/case.hpp"
#include "scenarios/language/library/library.hpp"
#include "traces/text/csv.hpp"
#include "validate/accuracy/runs/runs.hpp"

namespace windtunnel {
namespace {

// Returns the rows of every table of measured runs below the folder.
std::vector<TrainingRun> rows_of(const std::string& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    const std::filesystem::path& file = entry.path();
    std::vector<CsvFault> faults;
    if (file.extension() != ".csv" ||
        !CsvTable::parse(read_file(file.string()), file.string(), &faults).has("iter_time_s")) {
      continue;
    }
    files.push_back(file);
  }
  std::ranges::sort(files);
  std::vector<TrainingRun> rows;
  for (const std::filesystem::path& file : files) {
    const TrainingRuns table = read_training_runs(file.string());
    rows.insert(rows.end(), table.runs.begin(), table.runs.end());
  }
  return rows;
}

struct Predicted {
  RunJob row;
  RunPrediction prediction;
};
// Returns nothing if the row does not state enough, or its job is impossible.
std::optional<Predicted> predicted(const TrainingRun& run) {
  try {
    RunJob row = job_of(run);
    const RunPrediction prediction = predict(row.job);
    return Predicted{std::move(row), prediction};
  } catch (const Error&) {
    return std::nullopt;
  }
}

bool is_same(const GpuMemory& one, const GpuMemory& other) {
  const std::vector<double GpuMemory::*> parts = {&GpuMemory::weights,   &GpuMemory::gradients,
                                                  &GpuMemory::optimizer, &GpuMemory::activations,
                                                  &GpuMemory::buffers,   &GpuMemory::fragmentation,
                                                  &GpuMemory::framework};
  return std::ranges::all_of(parts, [&](const auto part) { return one.*part == other.*part; });
}

// Scenario and row must give the same prediction, to the last bit, for every row that is judged.
TEST(RowScenario, IsTheJobThatTheRowIsJudgedBy) {
  int rows = 0;
  for (const TrainingRun& run : rows_of(WINDTUNNEL_SOURCE_DIR "/tests/data")) {
    const std::optional<Predicted> judged = predicted(run);
    if (!judged) continue;
    SCOPED_TRACE(run.id);
    const Case the_case = parse_case(row_scenario(run, judged->row), "row.yaml");
    const RunPrediction prediction = predict(the_case.job);
    ASSERT_EQ(prediction.step_s, judged->prediction.step_s);
    ASSERT_TRUE(std::ranges::equal(prediction.memory, judged->prediction.memory, is_same));
    ASSERT_EQ(prediction.memory_bytes, judged->prediction.memory_bytes);
    ++rows;
  }
  EXPECT_GE(rows, 2599);  // one less than 2600, as a torchtune row without lengths is refused
}

TEST(RowScenario, SaysWhichFigureOfRunItsMemoryIs) {
  const std::string path = WINDTUNNEL_SOURCE_DIR "/tests/data/memory_runs.csv";
  const TrainingRun run = read_training_runs(path).runs.front();
  const std::string text = row_scenario(run, job_of(run));
  EXPECT_NE(text.find("# measured memory: 3.93634e+10 B, which is the first of "
                      "iteration.memory_bytes.reserved_per_stage\n"),
            std::string::npos)
      << text;
}

TrainingRun small_run() {
  TrainingRun run;
  run.id = "runs.csv:2";
  run.source = "a paper";
  run.model = "Llama 3.1 8B";
  run.gpu_type = "H100";
  run.sequence = 1024;
  run.global_batch = 8;
  run.micro_batch = 1;
  run.gpus = 8;
  run.tp = 1;
  run.pp = 1;
  run.dp = 8;
  return run;
}

// The scenario must state all that is trained: each key of the field table below "train", and its
// lists.
TEST(RowScenario, StatesAllThatIsTrained) {
  const TrainingRun run = small_run();
  const auto stated = [&](const Training& training) {
    RunJob row = job_of(run);
    row.job.training = std::make_shared<const Training>(training);
    const Case the_case = parse_case(row_scenario(run, row), "row.yaml");
    return the_case.job.training == nullptr ? Training{} : *the_case.job.training;
  };
  Training frozen;
  frozen.frozen_embedding = true;
  frozen.frozen_layers.assign(32, false);
  frozen.frozen_layers[0] = frozen.frozen_layers[1] = true;
  frozen.loss.chunks = 4;
  EXPECT_EQ(stated(frozen), frozen);
  Training adapters;
  adapters.adapter = {.kind = AdapterKind::dora, .rank = 8, .keys = false, .up = false};
  adapters.adapter.dropout = adapters.adapter.per_product = true;  // default of the row's software
  EXPECT_EQ(stated(adapters), adapters);
  adapters.adapter = {
      .kind = AdapterKind::lora_fa, .rank = 4, .projection = false, .per_product = true};
  EXPECT_EQ(stated(adapters), adapters);
  Training contrastive;
  contrastive.loss = {
      .kind = LossKind::contrastive, .form = ContrastiveForm::ring, .tile = 512, .width = 768};
  RunJob row = job_of(run);
  row.job.training = std::make_shared<const Training>(contrastive);
  row.job.model.tied_embeddings = true;
  EXPECT_EQ(*parse_case(row_scenario(run, row), "row.yaml").job.training, contrastive);
  EXPECT_EQ(row_scenario(run, job_of(run)).find("train:"), std::string::npos);
}

TEST(RowScenario, ACalibrationOfNoLibraryHasNoWord) {
  TrainingRun run;
  run.id = "runs.csv:2";
  RunJob row;
  row.job.cluster.node = find_node("dgx-h100");
  row.job.calibration.name = "h100-sweep, as fitted elsewhere";
  EXPECT_THROW(row_scenario(run, row), Error);
}

}  // namespace
}  // namespace windtunnel
