#include "scenarios/language/library/library.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "models/base/quantity_range.hpp"
#include "scenarios/language/library/calibration_writer.hpp"
#include "scenarios/language/library/interconnect_laws.hpp"
#include "scenarios/language/library/library_reader.hpp"
#include "scenarios/language/library/spec_fields.hpp"
#include "scenarios/language/library/time_series.hpp"
#include "tests/scenarios/golden.hpp"

namespace windtunnel {
namespace {

void expect_evidence(const Parameter& parameter, const std::string& what) {
  EXPECT_FALSE(parameter.source.empty()) << what;
  EXPECT_LE(parameter.low, parameter.value) << what;
  EXPECT_GE(parameter.high, parameter.value) << what;
}

// Kernels that a collective slows down by s lose the share s / (1 + s) of a GPU to it. The measured
// slowdown is close to what DeepSeek-V3 reserves for exchanges of experts: 20 of the 132 SMs of an
// H800 (arXiv 2412.19437, section 3.2.2).
TEST(Library, AnOverlappedCollectiveTakesAboutTheSmsOfAnExchange) {
  const double slowdown = find_calibration("h100-published").overlap_slowdown.value;
  EXPECT_NEAR(132 * slowdown / (1 + slowdown), 20, 1.2);
  EXPECT_NEAR(slowdown / (1 + slowdown), 0.160, 5e-4);  // see also systems.yaml
}

TEST(Library, EveryNumberHasEvidence) {
  for (const GpuSpec& gpu : library_gpus()) {
    for (const BoundRow& row : bound_rows<GpuSpec>("cluster.node.gpu")) {
      expect_evidence(*parameter_of(*row.field, gpu), gpu.name);
    }
  }
  for (const NodeSpec& node : library_nodes()) {
    for (const BoundRow& row : bound_rows<NodeSpec>("cluster.node")) {
      const Parameter* number = parameter_of(*row.field, node);
      if (number == nullptr) continue;
      if (row.field->in_entry == InEntry::may && number->source.empty()) continue;  // not stated
      expect_evidence(*number, node.name);
      EXPECT_GT(number->value, 0) << node.name << " " << row.key;
    }
    EXPECT_FALSE(node.gpu.name.empty());
  }
  for (const TransformerSpec& model : library_models()) EXPECT_FALSE(model.source.empty());
  for (const NamedFabric& fabric : library_fabrics()) {
    EXPECT_FALSE(fabric.source.empty());
    for (const BoundRow& row : fabric_members()) {
      const Parameter* number = parameter_of(*row.field, fabric.fabric);
      if (number == nullptr) continue;
      const bool must = row.field->in_entry == InEntry::must;
      if (must || number->value > 0) expect_evidence(*number, fabric.name);
    }
  }
  for (const Calibration& calibration : library_calibrations()) {
    for (const CalibrationField& field : calibration_fields()) {
      expect_evidence(calibration.*field.member, calibration.name);
    }
  }
}

// Returns the first entry of a file with another value at `key`; an empty text takes the key away.
DocumentNode changed_entry(const DocumentNode& file, std::string_view key,
                           const std::string& text) {
  DocumentNode document = file;
  document.entries.resize(1);
  DocumentNode& entry = document.entries.front().value;
  std::erase_if(entry.entries, [&](const DocumentEntry& each) { return each.key == key; });
  if (text.empty()) return document;
  const DocumentNode value = document_node(DocumentNode::Kind::scalar, text, entry.where);
  entry.entries.push_back({std::string(key), entry.where, value});
  return document;
}

// Returns numbers outside the row's limits: above them, below them, and 0.
std::vector<std::string> outside(const Field& field) {
  if (field.scalar != ScalarType::integer && field.scalar != ScalarType::quantity) return {};
  const bool whole = field.scalar == ScalarType::integer;
  const double high = std::min(field.high, quantity_range(field.dimension).largest);
  std::vector<double> numbers = {whole ? field.high + 1 : 10 * high};
  if (!whole) numbers.push_back(-1);  // whole numbers take no minus sign
  if (field.low > 1) numbers.push_back(whole ? field.low - 1 : field.low / 10);
  if (!field.admits(0) && !zero_is_open(field)) numbers.push_back(0);
  std::vector<std::string> texts;
  for (const double number : numbers) {
    texts.push_back(whole ? fmt::format("{:.0f}", number)
                          : format_quantity(number, field.dimension));
  }
  return texts;
}

// Checks each key that an entry may state: whether it is required, and that values outside its
// limits are refused.
template <class Struct>
void expect_rows_hold(const std::string& file, std::string_view path, auto read) {
  const DocumentNode document = library_document(file);
  const auto refusal = [&](std::string_view key, const std::string& text) -> std::string {
    try {
      read(changed_entry(document, key, text));
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  };
  int rows = 0;
  for (const auto& [key, field] : bound_rows<Struct>(path)) {
    if (field->in_entry == InEntry::never) continue;
    const bool must = field->in_entry == InEntry::must;
    const std::string due = must ? fmt::format("'{}' is missing", key) : "no error";
    EXPECT_TRUE(refusal(key, "").ends_with(due)) << key;
    ++rows;
    if (field->scalar == ScalarType::text) continue;
    for (const std::string& number : outside(*field)) {
      const std::string error = refusal(key, number);
      EXPECT_NE(error.find(fmt::format("{}: ", key)), std::string::npos) << number << ": " << error;
      // The message states the range of the row, or that of its dimension.
      EXPECT_TRUE(
          error.find(": must be ") != std::string::npos ||
          (number != "0" && error.find(" is outside of the range of ") != std::string::npos))
          << number << ": " << error;
    }
    EXPECT_NE(refusal(key, "perhaps").find(key), std::string::npos) << key;
  }
  EXPECT_GT(rows, 9) << file;
}

TEST(Library, EntriesAreHeldToTheRowsOfTheirKeys) {
  expect_rows_hold<GpuSpec>("gpus.yaml", "cluster.node.gpu", read_gpus);
  expect_rows_hold<NodeSpec>("nodes.yaml", "cluster.node",
                             [](const DocumentNode& nodes) { read_nodes(nodes, library_gpus()); });
  expect_rows_hold<TransformerSpec>("models.yaml", "model", read_models);
  expect_rows_hold<FabricSpec>("fabrics.yaml", "cluster.fabric", read_fabrics);
}

// Peaks are dense TFLOP/s of the data sheets, followed by memory.
TEST(Library, GpusAreThoseOfTheDataSheets) {
  struct Row {
    const char* name;
    double fp16, fp8, fp4, memory_GB, bandwidth_GBps;
  };
  const std::vector<Row> rows = {
      {"k80", 0, 0, 0, 12, 240},
      {"titan-x", 0.17, 0, 0, 12, 480},
      {"p102-100", 0.16, 0, 0, 5, 440},
      {"p100", 18.7, 0, 0, 16, 732},
      {"v100-16", 125, 0, 0, 16, 900},
      {"v100", 125, 0, 0, 32, 900},
      {"t4", 65, 0, 0, 16, 320},
      {"rtx2080ti", 53.8, 0, 0, 11, 616},
      {"rtx5000", 89.2, 0, 0, 16, 448},
      {"rtx3080", 59.5, 0, 0, 10, 760},
      {"a100-40", 312, 0, 0, 40, 1555},
      {"a100-40-pcie", 312, 0, 0, 40, 1555},
      {"a100-80", 312, 0, 0, 80, 2039},
      {"h100", 989.4, 1978.9, 0, 80, 3350},
      {"h100-96", 989.4, 1978.9, 0, 96, 2400},
      {"h200", 989.4, 1978.9, 0, 141, 4800},
      {"gh200", 989.4, 1978.9, 0, 96, 4000},
      {"gh200-144", 989.4, 1978.9, 0, 144, 4900},
      {"b200", 2250, 4500, 9000, 180, 8000},
      {"gb200", 2500, 5000, 10000, 186, 8000},
      {"b300", 2250, 4500, 13500, 270, 8000},
      {"gb300", 2500, 5000, 15000, 279, 8000},
      {"r100", 4000, 17500, 35000, 288, 22000},
      {"mi250x-gcd", 191.5, 0, 0, 64, 1638.4},
      {"mi300x", 1307.4, 2614.9, 0, 192, 5300},
      {"h800", 989.4, 1978.9, 0, 80, 3350},
      {"a800", 312, 0, 0, 80, 2039},
      {"h20", 148, 296, 0, 96, 4000},
      {"l40s", 362, 733, 0, 48, 864},
      {"mi325x", 1307.4, 2614.9, 0, 256, 6000},
      {"mi350x", 2300, 4600, 9200, 288, 8000},
      {"mi355x", 2500, 5000, 10000, 288, 8000},
      {"gaudi3", 459, 1835, 0, 128, 3700},
      {"trainium2", 667, 1299, 0, 96, 2900},
      {"trainium3", 671, 2517, 2517, 144, 4900},
      {"ascend-910c", 752, 0, 0, 128, 3200},
      {"rtx-pro-6000", 504, 1008, 2016, 96, 1792},
      {"gb10", 125, 250, 500, 119, 273},
      {"tpu-v3-core", 0, 0, 0, 16, 450},  // TPUs list bf16 only
      {"tpu-v4", 0, 0, 0, 32, 1200},
      {"tpu-v5e", 0, 0, 0, 16, 819},
      {"tpu-v5p", 0, 0, 0, 95, 2765},
      {"tpu-v6e", 0, 918, 0, 32, 1638},
      {"tpu-v7x", 0, 4614, 0, 192, 7380},
      {"h200-nvl", 835.5, 1670.5, 0, 141, 4800},
      {"rtx4090", 165.2, 330.3, 0, 24, 1008},
      {"rtx-a6000", 154.8, 0, 0, 48, 768},
      {"cpu-core", 0, 0, 0, 4, 10},  // assumed: it has no data sheet
  };
  for (const Row& row : rows) {
    const GpuSpec& gpu = find_gpu(row.name);
    EXPECT_DOUBLE_EQ(gpu.fp16_flops.value, row.fp16 * 1e12) << row.name;
    EXPECT_DOUBLE_EQ(gpu.fp8_flops.value, row.fp8 * 1e12) << row.name;
    EXPECT_DOUBLE_EQ(gpu.fp4_flops.value, row.fp4 * 1e12) << row.name;
    EXPECT_DOUBLE_EQ(gpu.memory_bytes.value, row.memory_GB * 1e9) << row.name;
    EXPECT_DOUBLE_EQ(gpu.memory_Bps.value, row.bandwidth_GBps * 1e9) << row.name;
  }
  EXPECT_EQ(library_gpus().size(), rows.size());
}

TEST(Library, TpusHaveTheirPeaksInBf16) {
  EXPECT_DOUBLE_EQ(2 * find_gpu("tpu-v3-core").bf16_flops.value, 123e12);
  EXPECT_DOUBLE_EQ(find_gpu("tpu-v4").bf16_flops.value, 275e12);
  EXPECT_DOUBLE_EQ(find_gpu("tpu-v5e").bf16_flops.value, 197e12);
  EXPECT_DOUBLE_EQ(find_gpu("tpu-v5p").bf16_flops.value, 459e12);
  EXPECT_DOUBLE_EQ(find_gpu("tpu-v6e").bf16_flops.value, 918e12);
  EXPECT_DOUBLE_EQ(find_gpu("tpu-v7x").bf16_flops.value, 2307e12);
}

// Matrix units double their rate with every halving of the width, and bf16 is as fast as fp16.
// Gaudi's, Trainium's, TPUs' and Rubin's units differ, and the data sheet of L40S rounds.
TEST(Library, PeaksDoubleWithEveryHalving) {
  const std::set<std::string> others = {"gaudi3",  "trainium2", "tpu-v3-core", "tpu-v4",
                                        "tpu-v5e", "tpu-v5p",   "l40s",        "r100",
                                        "tpu-v6e", "tpu-v7x",   "trainium3"};
  for (const GpuSpec& gpu : library_gpus()) {
    if (others.contains(gpu.name)) continue;
    if (gpu.bf16_flops.value > 0) {
      EXPECT_EQ(gpu.bf16_flops.value, gpu.fp16_flops.value) << gpu.name;
    }
    if (gpu.tf32_flops.value > 0) {
      EXPECT_NEAR(gpu.fp16_flops.value / gpu.tf32_flops.value, 2, 0.01) << gpu.name;
    }
    if (gpu.fp8_flops.value > 0) {
      EXPECT_NEAR(gpu.fp8_flops.value / gpu.fp16_flops.value, 2, 0.01) << gpu.name;
    }
    if (gpu.fp4_flops.value > 0) {
      EXPECT_GE(gpu.fp4_flops.value, 2 * gpu.fp8_flops.value) << gpu.name;
    }
  }
}

TEST(Library, NodesHaveTheBandwidthsOfTheDataSheets) {
  EXPECT_DOUBLE_EQ(find_node("dgx-h100").nic_Bps.value, 50e9);
  EXPECT_DOUBLE_EQ(find_node("dgx-h100").nvlink_Bps.value, 450e9);
  EXPECT_DOUBLE_EQ(find_node("dgx-a100").nic_Bps.value, 25e9);
  EXPECT_DOUBLE_EQ(find_node("dgx-a100").nvlink_Bps.value, 300e9);
  EXPECT_EQ(find_node("frontier-mi250x").package_gpus, 2);
  EXPECT_DOUBLE_EQ(find_node("frontier-mi250x").package_Bps.value, 200e9);
  EXPECT_EQ(find_node("dgx-h100").package_gpus, 1);
  EXPECT_EQ(find_node("dgx-v100").nics, 4);
  EXPECT_DOUBLE_EQ(find_node("jean-zay-a100").nics * find_node("jean-zay-a100").nic_Bps.value,
                   50e9);
  EXPECT_DOUBLE_EQ(find_node("vtrain-a100").nics * find_node("vtrain-a100").nic_Bps.value, 100e9);
  for (const char* rack : {"gb200-nvl72", "gb300-nvl72"}) {
    EXPECT_EQ(find_node(rack).gpus, 72);
    EXPECT_EQ(find_node(rack).nics, 72);
    EXPECT_DOUBLE_EQ(find_node(rack).nvlink_Bps.value, 900e9);
  }
  EXPECT_DOUBLE_EQ(find_node("gb300-nvl72").nic_Bps.value,
                   2 * find_node("gb200-nvl72").nic_Bps.value);
  EXPECT_EQ(find_node("vera-rubin-nvl72").gpus, 72);
  EXPECT_NEAR(find_node("vera-rubin-nvl72").nvlink_Bps.value * 72 * 2 / 260e12, 1, 0.01);
}

TEST(Library, NicsAreSharedEvenly) {
  for (const NodeSpec& node : library_nodes()) {
    EXPECT_TRUE(node.gpus % node.nics == 0 || node.nics % node.gpus == 0) << node.name;
  }
}

// Parameter counts in billions as the papers print them, within one unit of the last printed digit.
// All embeddings and all experts count.
TEST(Library, ModelsHaveThePublishedSize) {
  struct Row {
    const char* name;
    double billions;
    double tolerance = 0.06;
  };
  const std::vector<Row> rows = {
      {"gpt-1.7b", 1.7},
      {"gpt-3.6b", 3.6},
      {"gpt-7.5b", 7.5},
      {"gpt-18b", 18.4},
      {"gpt-39b", 39.1},
      {"gpt-76b", 76.1},
      {"gpt-145b", 145.6},
      {"gpt-310b", 310.1},
      {"gpt-530b", 529.6},
      {"gpt-1t", 1008.0},
      {"gpt3-175b", 174.6},
      {"llama2-34b", 34, 0.6},  // rounded in its name
      {"llama3-8b", 8.03},
      {"llama3-70b", 70.6},
      {"llama3-405b", 405.8},
      {"opt-175b", 175, 1},
      {"bloom-176b", 176.247, 0.02},
      {"glm-130b", 130, 1.5},            // rounded by the paper
      {"bert-base", 0.110106428, 1e-9},  // Hugging Face's BertForPreTraining
      {"bert-large", 0.336226108, 1e-9},
      {"nemotron-8b", 8, 0.6},           // rounded in its name
      {"nemotron4-15b", 15.7, 0.1},      // embeddings 3.2, the rest 12.5
      {"nemotron-22b", 22, 0.8},         // rounded in its name
      {"nemotron-340b", 341.0, 0.1},     // embeddings 9.4, the rest 331.6
      {"qwen3-30b-a3b", 30.532, 0.001},  // without the norms of queries and keys
      {"qwen3-235b-a22b", 235.094, 0.001},
      {"gpt-oss-120b", 116.83, 0.06},  // without the biases of experts
      {"deepseek-v3", 671, 0.5},
      {"kimi-k2", 1040, 15},
      {"mixtral-8x22b", 140.6, 0.2},
      {"grok-1", 316.5, 0.05},      // 314 in its name; embedding and head here 0.8 each
      {"llama4-scout", 109, 1.5},   // rounded in its name
      {"llama4-maverick", 400, 3},  // rounded in its name
      {"palm-540b", 552.6, 0.3},    // 540.35, plus K and V for each tp rank
  };
  for (const Row& row : rows) {
    EXPECT_NEAR(find_model(row.name).parameters() / 1e9, row.billions, row.tolerance) << row.name;
  }
}

// Expected are sums of the tensors in the published checkpoints; the MPTs' are as printed by
// llm-foundry's benchmarks.
TEST(Library, ModelsHaveTheSizeOfTheirCheckpoints) {
  struct Row {
    const char* name;
    double parameters;
  };
  const Row rows[] = {
      {"llama2-7b", 6738415616},     {"llama2-13b", 13015864320},   {"llama2-70b", 68976648192},
      {"mixtral-8x7b", 46702792704}, {"gpt-neox-20b", 20554567680}, {"mpt-125m", 125311488},
      {"mpt-350m", 355985408},       {"mpt-760m", 760470528},       {"mpt-1b", 1315950592},
      {"mpt-3b", 2651837440},        {"mpt-7b", 6658859008},        {"mpt-13b", 12853954560},
      {"mpt-30b", 29975214080},      {"mpt-70b", 64862437376}};
  for (const Row& row : rows) {
    EXPECT_EQ(find_model(row.name).parameters(), row.parameters) << row.name;
  }
}

// For one sequence of 4,096, Mixtral 8x7B takes six operations per weight that a token visits, and
// 12 h s for the scores of a layer. 12.9 G parameters are active (arXiv 2401.04088), of which the
// embedding of 131 M takes part in no product.
TEST(Library, FlopsOfExpertsAreThoseThatATokenVisits) {
  const double attention = 2.0 * 4096 * 4096 + 2.0 * 4096 * 1024;
  const double experts = 2 * 3.0 * 4096 * 14336 + 8 * 4096;  // two of eight, and the router
  const double head = 32000.0 * 4096;
  const double weights = 32 * (attention + experts) + head;
  EXPECT_NEAR((weights + head) / 1e9, 12.9, 0.05);
  const double scores = 12.0 * 32 * 4096 * 4096;
  EXPECT_NEAR(model_flops(find_model("mixtral-8x7b"), 1, 4096) / (4096 * (6 * weights + scores)), 1,
              1e-12);
}

// DeepSeek-V3 (arXiv 2412.19437) has 37 billion active parameters, 0.9 of them in the embedding.
TEST(Library, FlopsOfLatentAttentionAndSharedExperts) {
  const TransformerSpec& model = find_model("deepseek-v3");
  const double scores = 6.0 * 61 * 4096 * 128 * (192 + 128);
  const double weights = (model_flops(model, 1, 4096) / 4096 - scores) / 6;
  EXPECT_NEAR((weights + 129280.0 * 7168) / 1e9, 37, 0.6);
}

TEST(Library, ModelsThatContradictThemselvesAreRefused) {
  const std::string good = read_text_file(source_path("scenarios/library/models.yaml"));
  const std::string text = good.substr(good.find("deepseek-v3:"));
  const auto message = [&](const std::string& from, const std::string& to) {
    std::string changed = text;
    const size_t at = changed.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    if (at != std::string::npos) changed.replace(at, from.size(), to);
    return error_of([&] { read_models(parse_document(changed, "m.yaml")); });
  };
  EXPECT_EQ(message("moe:", "moe:"), "no error");
  EXPECT_EQ(message("per_token: 8", "per_token: 257"),
            "m.yaml:2:3: model.moe.per_token 257 must be from 1 to the number of experts, 256");
  EXPECT_EQ(message("dense_layers: 3", "dense_layers: 62"),
            "m.yaml:2:3: model.moe.dense_layers 62 is more than the 61 layers");
  EXPECT_EQ(message("ffn: 2048,", "ffn: 0,"),
            "m.yaml:17:42: ffn: must be from 1 to 1000000, not 0");
  EXPECT_EQ(message("value_width: 128", "value_width: 0"),
            "m.yaml:18:75: value_width: must be from 1 to 100000, not 0");
  EXPECT_EQ(message("shared_ffn", "shared_fn"),
            "m.yaml:17:48: unknown key 'shared_fn'; did you mean 'shared_ffn'?");
  EXPECT_EQ(message("dense_layers: 3", "imbalance: 0.9"),
            "m.yaml:17:77: imbalance: must be at least 1, not 0.9");
}

TEST(Library, UnknownNamesGetTheNearest) {
  EXPECT_EQ(error_of([] { find_gpu("h10"); }), "unknown gpu 'h10'; did you mean 'h100'?");
  EXPECT_EQ(error_of([] { find_node("dgx-h10"); }),
            "unknown node 'dgx-h10'; did you mean 'dgx-h100'?");
  EXPECT_EQ(error_of([] { find_model("llama3-405"); }),
            "unknown model 'llama3-405'; did you mean 'llama3-405b'?");
  EXPECT_EQ(error_of([] { find_calibration("h100-publish"); }),
            "unknown calibration 'h100-publish'; did you mean 'h100-published'?");
}

TEST(Library, EveryFileIsEmbeddedAsItIs) {
  std::set<std::string> embedded;
  for (const LibraryFile& file : library_files()) {
    const std::string path = source_path("scenarios/library/" + std::string(file.path));
    EXPECT_TRUE(read_text_file(path) == file.text) << file.path;
    embedded.insert(std::string(file.path));
  }
  const std::filesystem::path root = source_path("scenarios/library");
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
    if (!entry.is_regular_file()) continue;
    EXPECT_TRUE(embedded.contains(std::filesystem::relative(entry.path(), root).string()))
        << entry.path();
  }
}

TEST(Library, RecordedTimesAreThoseOfTheTrace) {
  NamedFiles none("");
  const TimeSeries repairs = find_repairs("infinitehbd", none, {});
  ASSERT_EQ(repairs.seconds.size(), 584u);
  EXPECT_EQ(std::count(repairs.seconds.begin(), repairs.seconds.end(), 0.0), 14);
  EXPECT_EQ(repairs.evidence.origin, Origin::published);
  EXPECT_NE(repairs.evidence.source.find("7aacdc8c"), std::string::npos);
  const TimeSeries arrivals = find_arrival_trace("infinitehbd", none, {});
  EXPECT_NEAR(arrivals.seconds.front() / 86400, 3.8955, 1e-4);
  EXPECT_NEAR(arrivals.seconds.back() / 86400, 348.7927, 1e-4);
}

TEST(Library, BadCalibrationsAreRefused) {
  const std::string good =
      read_text_file(source_path("scenarios/library/calibrations/generic.yaml"));
  const auto message = [](const std::string& text) {
    return error_of([&] { read_calibration(parse_document(text, "c.yaml")); });
  };
  EXPECT_EQ(message(good), "no error");
  const auto changed = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    const size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return message(text.replace(at, from.size(), to));
  };
  EXPECT_NE(changed("gemm.efficiency:", "gemm.eficiency:").find("did you mean 'gemm.efficiency'?"),
            std::string::npos);
  EXPECT_NE(changed("source:", "sauce:").find("unknown key 'sauce'"), std::string::npos);
  EXPECT_NE(changed("origin: ", "origin: x").find("unknown origin 'x"), std::string::npos);
  EXPECT_NE(message("name: a\ngpu: ''\nparameters: {}\n").find("'gemm.efficiency' is missing"),
            std::string::npos);
  EXPECT_EQ(message("[]"), "c.yaml:1:1: a calibration: expected a map");
}

TEST(Library, ACalibrationTakesTheRestOfItsBase) {
  const auto read = [](const std::string& text) {
    return read_calibration(parse_document(text, "c.yaml"));
  };
  const Calibration own = read(
      "name: own\ngpu: h100\nbase: generic\nparameters:\n"
      "  kernel.launch: {value: 3 us, origin: measured, source: mine}\n");
  const Calibration& generic = find_calibration("generic");
  EXPECT_EQ(own.name, "own");
  EXPECT_EQ(own.gpu, "h100");
  EXPECT_EQ(own.kernel_launch_s.value, 3e-6);
  for (const CalibrationField& field : calibration_fields()) {
    if (field.name == "kernel.launch") continue;
    EXPECT_EQ((own.*field.member).value, (generic.*field.member).value) << field.name;
    EXPECT_EQ((own.*field.member).source, (generic.*field.member).source) << field.name;
  }
  EXPECT_THAT(error_of([&] { read("name: own\ngpu: ''\nbase: genric\nparameters: {}\n"); }),
              testing::HasSubstr("did you mean 'generic'?"));
  EXPECT_THAT(
      error_of([&] { read("name: own\ngpu: ''\nbase: mi250x-published\nparameters: {}\n"); }),
      testing::HasSubstr("has a base itself"));
}

// Gives the parameter `key` of a calibration these numbers, and returns the message when it is
// read.
std::string message_of_calibration(const std::string& key, const std::string& value,
                                   const std::string& low, const std::string& high) {
  std::string text = "name: test\ngpu: ''\nparameters:\n";
  for (const CalibrationField& field : calibration_fields()) {
    const std::string unit = field.unit.empty() ? "" : fmt::format(" {}", field.unit);
    const bool changed = field.name == key;
    const char* const usual = field.name == "convolution.winograd" ? "1.5" : "0.5";
    text += fmt::format("  {}: {{value: {}{}, low: {}{}, high: {}{}, {}}}\n", field.name,
                        changed ? value : usual, unit, changed ? low : usual, unit,
                        changed ? high : usual, unit, "origin: assumed, source: test");
  }
  return error_of([&] { read_calibration(parse_document(text, "c.yaml")); });
}

TEST(Library, CalibrationsThatMakeTimesInfiniteOrNegativeAreRefused) {
  for (const CalibrationField& field : calibration_fields()) {
    const std::string key(field.name);
    if (key == "convolution.winograd") continue;  // must be at least 1: see below
    // gemm.scaled_efficiency of 0 stands for gemm.efficiency, and gemm.fp4_efficiency of 0 for the
    // former.
    const bool in_place = key == "gemm.scaled_efficiency" || key == "gemm.fp4_efficiency";
    const bool divides = (key.ends_with("efficiency") && !in_place) || key == "kernel.sustained" ||
                         key == "host.run_ahead" || key == "scan.share" ||
                         key == "expert_cast.share" || key == "rollout.update_factor" ||
                         key.starts_with("gemm.tile_");
    EXPECT_EQ(message_of_calibration(key, "0.5", "0.4", "0.6"), "no error") << key;
    EXPECT_NE(message_of_calibration(key, "-0.1", "-0.1", "0.5"), "no error") << key;
    EXPECT_NE(message_of_calibration(key, "0.5", "-0.1", "0.5"), "no error") << key;
    EXPECT_NE(message_of_calibration(key, "0.5", "0.6", "0.7"), "no error") << key;
    EXPECT_NE(message_of_calibration(key, "0.5", "0.3", "0.4"), "no error") << key;
    EXPECT_NE(message_of_calibration(key, "inf", "0.5", "inf"), "no error") << key;
    EXPECT_NE(message_of_calibration(key, "nan", "0.5", "0.5"), "no error") << key;
    EXPECT_EQ(message_of_calibration(key, "0", "0", "0.5") == "no error", !divides) << key;
  }
  const auto message = message_of_calibration;
  EXPECT_EQ(message("convolution.winograd", "2", "1", "2.25"), "no error");
  EXPECT_NE(message("convolution.winograd", "0.9", "0.8", "2"), "no error");
  EXPECT_EQ(message("gemm.efficiency", "1.1", "1", "2"),
            "c.yaml:4:28: gemm.efficiency: must be above 0 and at most 1, not 1.1");
  EXPECT_EQ(message("gemm.efficiency", "1", "0", "1"),
            "c.yaml:4:36: gemm.efficiency: must be above 0 and at most 1, not 0");
  EXPECT_EQ(message("gemm.k_half", "-1", "0", "1"),
            "c.yaml:7:24: gemm.k_half: must be at least 0, not -1");
  EXPECT_EQ(message("gemm.k_half", "5", "6", "7"),
            "c.yaml:7:32: gemm.k_half: low 6 is above the value 5");
  EXPECT_EQ(message("gemm.k_half", "5", "3", "4"),
            "c.yaml:7:41: gemm.k_half: high 4 is below the value 5");
  EXPECT_EQ(message("gemm.tile_m", "0", "0", "1"),
            "c.yaml:8:24: gemm.tile_m: must be above 0, not 0");
  EXPECT_NE(message("memory.fragmentation", "1.5", "0", "2")
                .find(":33: memory.fragmentation: must be from 0 to 1, not 1.5"),
            std::string::npos);
}

// A law of the network has the same limits for zeros and shares as constants have; it must state
// all its numbers or none.
TEST(Library, BadLawsOfTheNetworkAreRefused) {
  Calibration calibration = find_calibration("generic");
  calibration.network = specified_interconnect_law(find_node("dgx-h100"), Transport::infiniband);
  const auto message = [](const Calibration& changed) {
    const std::string text = calibration_text(changed, "test");
    return error_of([&] { read_calibration(parse_document(text, "c.yaml")); });
  };
  EXPECT_EQ(message(calibration), "no error");
  for (const InterconnectLawField& field : interconnect_law_fields()) {
    Calibration changed = calibration;
    Parameter& parameter = changed.network.*field.member;
    parameter.value = parameter.low = 0;
    EXPECT_EQ(message(changed) == "no error", !field.fitted) << field.name;
    parameter.value = parameter.low = -1;
    EXPECT_NE(message(changed), "no error") << field.name;
  }
  calibration.network.slow_share.high = 1.5;
  EXPECT_NE(message(calibration).find("slow.share: must be from 0 to 1, not 1.5"),
            std::string::npos);
  const std::string text =
      read_text_file(source_path("scenarios/library/calibrations/generic.yaml")) +
      "network: {origin: spec, source: test}\n";
  EXPECT_NE(error_of([&] {
              read_calibration(parse_document(text, "c.yaml"));
            }).find("'launch' is missing"),
            std::string::npos);
}

}  // namespace
}  // namespace windtunnel
