// Published training runs that no constant was fitted on, predicted from the shipped calibrations.
// The pipeline is the closed 1F1B formula, (m + (p - 1) / v) times the slowest rank's micro-batch,
// then gradient all-reduce and optimizer step one after the other; sends between stages and any
// overlap are left out, so the bounds judge the compute models and little else.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <map>
#include <sstream>

#include "models/chunk_cost.hpp"
#include "models/collective.hpp"
#include "models/memory.hpp"
#include "scenarios/library.hpp"

namespace windtunnel {
namespace {

using Row = std::map<std::string, std::string>;

std::vector<std::string> split(const std::string& line) {
  std::vector<std::string> cells;
  std::stringstream stream(line);
  for (std::string cell; std::getline(stream, cell, ',');) cells.push_back(cell);
  return cells;
}

std::vector<Row> published_runs(const std::string& calibration) {
  std::ifstream file(std::string(WINDTUNNEL_SOURCE_DIR) + "/tests/models/data/published_runs.csv");
  std::string line;
  std::getline(file, line);
  const std::vector<std::string> names = split(line);
  std::vector<Row> rows;
  while (std::getline(file, line)) {
    const std::vector<std::string> cells = split(line);
    Row row;
    for (std::size_t i = 0; i < names.size(); ++i) row[names[i]] = cells.at(i);
    if (row["calibration"] == calibration) rows.push_back(row);
  }
  return rows;
}

struct PublishedRun {
  TransformerSpec model;
  Cluster cluster;
  Layout layout;
  Batch batch;
  Precision precision = Precision::bf16;
  Recompute recompute = Recompute::none;
};

PublishedRun run_of(const Row& row) {
  const auto number = [&](const char* name) { return std::stoi(row.at(name)); };
  PublishedRun run;
  run.model = find_model(row.at("model"));
  run.cluster.nodes = number("nodes");
  run.cluster.node = find_node(row.at("node"));
  run.layout = {.tp = number("tp"),
                .pp = number("pp"),
                .vpp = number("vpp"),
                .dp = number("dp"),
                .sequence_parallel = number("sequence_parallel") != 0,
                .first_stage_layers = number("edge_layers"),
                .last_stage_layers = number("edge_layers")};
  run.batch = {.global = number("global_batch"),
               .micro = number("micro_batch"),
               .sequence = number("sequence")};
  run.precision = row.at("precision") == "fp16" ? Precision::fp16 : Precision::bf16;
  run.recompute = row.at("recompute") == "full" ? Recompute::full : Recompute::none;
  return run;
}

double predicted_s(const PublishedRun& run, const Calibration& calibration) {
  const auto chunks = chunk_costs(run.model, run.cluster, run.layout, run.batch, run.precision,
                                  run.recompute, calibration);
  const Layout& layout = run.layout;
  double slowest_s = 0;
  double most_parameters = 0;
  for (int rank = 0; rank < layout.pp; ++rank) {
    double rank_s = 0;
    double parameters = 0;
    for (int stage = rank; stage < layout.stages(); stage += layout.pp) {
      const ChunkCost& chunk = chunks[static_cast<std::size_t>(stage)];
      rank_s += total_seconds(chunk.forward) + total_seconds(chunk.backward_input) +
                total_seconds(chunk.backward_weight) + total_seconds(chunk.recompute);
      parameters += chunk.parameters;
    }
    slowest_s = std::max(slowest_s, rank_s);
    most_parameters = std::max(most_parameters, parameters);
  }
  std::vector<std::int32_t> replicas;
  for (int i = 0; i < layout.dp; ++i) replicas.push_back(i * layout.tp);
  const double reduce_s =
      collective_cost(CollectiveKind::all_reduce, CollectiveAlgorithm::automatic,
                      group_shape(replicas, run.cluster), 2 * most_parameters, run.cluster,
                      calibration)
          .seconds;
  const double slots = microbatches(layout, run.batch) + (layout.pp - 1.0) / layout.vpp;
  return slots * slowest_s + reduce_s +
         total_seconds(optimizer_cost(most_parameters, run.cluster.node.gpu, calibration));
}

// Signed relative errors, printed.
std::vector<double> errors_of(const std::string& calibration) {
  std::vector<double> errors;
  for (const Row& row : published_runs(calibration)) {
    const PublishedRun run = run_of(row);
    check_layout(run.model, run.layout, run.batch, run.cluster.gpus(), run.cluster.node.gpus);
    const double measured_s = std::stod(row.at("measured_s"));
    const double seconds = predicted_s(run, find_calibration(calibration));
    errors.push_back(seconds / measured_s - 1);
    fmt::print("{:12} {:6} GPUs  measured {:8.3f} s  predicted {:8.3f} s  error {:+.1f} %\n",
               row.at("model"), run.cluster.gpus(), measured_s, seconds, 100 * errors.back());
  }
  return errors;
}

double mean_magnitude(const std::vector<double>& errors) {
  double sum = 0;
  for (const double error : errors) sum += std::abs(error);
  return sum / static_cast<double>(errors.size());
}

// Reached: mean 6.4 %, worst 9.8 %.
TEST(PublishedRuns, MegatronSc21OnA100) {
  const std::vector<double> errors = errors_of("a100-published");
  ASSERT_EQ(errors.size(), 10u);
  EXPECT_LT(mean_magnitude(errors), 0.07);
  for (const double error : errors) EXPECT_LT(std::abs(error), 0.11);
}

// Reached: +0.6 % and 0.0 %; the paper gives TFLOP/s in steps of 10, 2.5 % of the value.
TEST(PublishedRuns, Llama3OnH100) {
  const std::vector<double> errors = errors_of("h100-published");
  ASSERT_EQ(errors.size(), 2u);
  for (const double error : errors) EXPECT_LT(std::abs(error), 0.03);
}

// The run fitted into 80 GB, as the paper says without recomputation but with tensors freed by hand
// as soon as nothing needs them. Here it fits when what is cheap to repeat is not kept. With 16
// micro-batches on 16 stages interleaved 1F1B ends its warm-up with all of them alive.
TEST(PublishedRuns, Llama3FitsIntoItsMemory) {
  PublishedRun run = run_of(published_runs("h100-published").front());
  run.layout.sharding = Sharding::zero1;
  const Calibration& calibration = find_calibration("h100-published");
  const auto chunks = chunk_costs(run.model, run.cluster, run.layout, run.batch, run.precision,
                                  Recompute::selective, calibration);
  std::vector<double> peaks(16);
  for (std::size_t stage = 0; stage < chunks.size(); ++stage) {
    peaks[stage % 16] += 16 * chunks[stage].activation_bytes;
  }
  const auto memory =
      gpu_memory(run.model, run.layout, run.batch, run.precision, chunks, peaks, 25e6, calibration);
  fmt::print("rank 1: {:.1f} GB, activations {:.1f} GB; rank 15: {:.1f} GB\n",
             memory[1].total() / 1e9, memory[1].activations / 1e9, memory[15].total() / 1e9);
  EXPECT_EQ(gpu_memory_excess(memory, run.cluster.node.gpu), "");
}

}  // namespace
}  // namespace windtunnel
