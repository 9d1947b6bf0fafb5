#include "scenarios/library.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <set>

#include "scenarios/library_files.hpp"
#include "scenarios/library_reader.hpp"
#include "scenarios/spec_fields.hpp"
#include "scenarios/time_series.hpp"
#include "tests/scenarios/golden.hpp"

namespace windtunnel {
namespace {

void expect_evidence(const Parameter& parameter, const std::string& what) {
  EXPECT_FALSE(parameter.source.empty()) << what;
  EXPECT_LE(parameter.low, parameter.value) << what;
  EXPECT_GE(parameter.high, parameter.value) << what;
}

TEST(Library, EveryNumberHasEvidence) {
  for (const GpuSpec& gpu : library_gpus()) {
    for (const auto& field : gpu_fields()) expect_evidence(gpu.*field.member, gpu.name);
  }
  for (const NodeSpec& node : library_nodes()) {
    for (const auto& field : node_fields()) {
      expect_evidence(node.*field.member, node.name);
      EXPECT_GT((node.*field.member).value, 0) << node.name << " " << field.key;
    }
    EXPECT_FALSE(node.gpu.name.empty());
  }
  for (const TransformerSpec& model : library_models()) EXPECT_FALSE(model.source.empty());
  for (const NamedFabric& fabric : library_fabrics()) {
    EXPECT_FALSE(fabric.source.empty());
    expect_evidence(fabric.fabric.hop_latency_s, fabric.name);
  }
  for (const Calibration& calibration : library_calibrations()) {
    for (const CalibrationField& field : calibration_fields()) {
      expect_evidence(calibration.*field.member, calibration.name);
    }
  }
}

// Peaks of the data sheets, TFLOP/s dense, and memory.
TEST(Library, GpusAreThoseOfTheDataSheets) {
  struct Row {
    const char* name;
    double fp16, fp8, memory_GB, bandwidth_GBps;
  };
  for (const Row& row :
       {Row{"v100", 125, 0, 32, 900}, Row{"a100-40", 312, 0, 40, 1555},
        Row{"a100-80", 312, 0, 80, 2039}, Row{"h100", 989.4, 1978.9, 80, 3350},
        Row{"h200", 989.4, 1978.9, 141, 4800}, Row{"b200", 2250, 4500, 180, 8000}}) {
    const GpuSpec& gpu = find_gpu(row.name);
    EXPECT_DOUBLE_EQ(gpu.fp16_flops.value, row.fp16 * 1e12) << row.name;
    EXPECT_DOUBLE_EQ(gpu.fp8_flops.value, row.fp8 * 1e12) << row.name;
    EXPECT_DOUBLE_EQ(gpu.memory_bytes.value, row.memory_GB * 1e9) << row.name;
    EXPECT_DOUBLE_EQ(gpu.memory_Bps.value, row.bandwidth_GBps * 1e9) << row.name;
  }
  EXPECT_EQ(library_gpus().size(), 6u);
}

TEST(Library, NodesHaveTheBandwidthsOfTheDataSheets) {
  EXPECT_DOUBLE_EQ(find_node("dgx-h100").nic_Bps.value, 50e9);
  EXPECT_DOUBLE_EQ(find_node("dgx-h100").nvlink_Bps.value, 450e9);
  EXPECT_DOUBLE_EQ(find_node("dgx-a100").nic_Bps.value, 25e9);
  EXPECT_DOUBLE_EQ(find_node("dgx-a100").nvlink_Bps.value, 300e9);
  EXPECT_EQ(find_node("dgx-v100").nics, 4);
}

// Parameter counts as the papers print them, in billions.
TEST(Library, ModelsHaveThePublishedSize) {
  struct Row {
    const char* name;
    double billions;
  };
  for (const Row& row :
       {Row{"gpt-1.7b", 1.7}, Row{"gpt-3.6b", 3.6}, Row{"gpt-7.5b", 7.5}, Row{"gpt-18b", 18.4},
        Row{"gpt-39b", 39.1}, Row{"gpt-76b", 76.1}, Row{"gpt-145b", 145.6}, Row{"gpt-310b", 310.1},
        Row{"gpt-530b", 529.6}, Row{"gpt-1t", 1008.0}, Row{"gpt3-175b", 174.6},
        Row{"llama3-8b", 8.03}, Row{"llama3-70b", 70.6}, Row{"llama3-405b", 405.8}}) {
    EXPECT_NEAR(find_model(row.name).parameters() / 1e9, row.billions, 0.06) << row.name;
  }
  EXPECT_EQ(library_models().size(), 14u);
}

TEST(Library, UnknownNamesGetTheNearest) {
  EXPECT_EQ(message_of([] { find_gpu("h10"); }), "unknown gpu 'h10'; did you mean 'h100'?");
  EXPECT_EQ(message_of([] { find_node("dgx-h10"); }),
            "unknown node 'dgx-h10'; did you mean 'dgx-h100'?");
  EXPECT_EQ(message_of([] { find_model("llama3-405"); }),
            "unknown model 'llama3-405'; did you mean 'llama3-405b'?");
  EXPECT_EQ(message_of([] { find_calibration("h100-publish"); }),
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
  const TimeSeries repairs = find_repairs("infinitehbd", "", {});
  ASSERT_EQ(repairs.seconds.size(), 584u);
  EXPECT_EQ(std::count(repairs.seconds.begin(), repairs.seconds.end(), 0.0), 14);
  EXPECT_EQ(repairs.evidence.origin, Origin::published);
  EXPECT_NE(repairs.evidence.source.find("7aacdc8c"), std::string::npos);
  const TimeSeries arrivals = find_arrival_trace("infinitehbd", "", {});
  EXPECT_NEAR(arrivals.seconds.front() / 86400, 3.8955, 1e-4);
  EXPECT_NEAR(arrivals.seconds.back() / 86400, 348.7927, 1e-4);
}

TEST(Library, BadCalibrationsAreRefused) {
  const std::string good =
      read_text_file(source_path("scenarios/library/calibrations/generic.yaml"));
  const auto message = [](const std::string& text) {
    return message_of([&] { read_calibration(parse_document(text, "c.yaml")); });
  };
  EXPECT_EQ(message(good), "accepted");
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
  EXPECT_EQ(message("[]"), "c.yaml:1:1: a calibration: a map is due");
}

// A calibration in which the parameter `key` has these numbers, and the message at its reading.
std::string message_of_calibration(const std::string& key, const std::string& value,
                                   const std::string& low, const std::string& high) {
  std::string text = "name: test\ngpu: ''\nparameters:\n";
  for (const CalibrationField& field : calibration_fields()) {
    const std::string unit = field.unit.empty() ? "" : fmt::format(" {}", field.unit);
    const bool changed = field.name == key;
    text += fmt::format("  {}: {{value: {}{}, low: {}{}, high: {}{}, {}}}\n", field.name,
                        changed ? value : "0.5", unit, changed ? low : "0.5", unit,
                        changed ? high : "0.5", unit, "origin: assumed, source: test");
  }
  return message_of([&] { read_calibration(parse_document(text, "c.yaml")); });
}

TEST(Library, CalibrationsThatMakeTimesInfiniteOrNegativeAreRefused) {
  for (const CalibrationField& field : calibration_fields()) {
    const std::string key(field.name);
    const bool divides =
        key.ends_with("efficiency") || key == "kernel.sustained" || key.starts_with("gemm.tile_");
    EXPECT_EQ(message_of_calibration(key, "0.5", "0.4", "0.6"), "accepted") << key;
    EXPECT_NE(message_of_calibration(key, "-0.1", "-0.1", "0.5"), "accepted") << key;
    EXPECT_NE(message_of_calibration(key, "0.5", "-0.1", "0.5"), "accepted") << key;
    EXPECT_NE(message_of_calibration(key, "0.5", "0.6", "0.7"), "accepted") << key;
    EXPECT_NE(message_of_calibration(key, "0.5", "0.3", "0.4"), "accepted") << key;
    EXPECT_NE(message_of_calibration(key, "inf", "0.5", "inf"), "accepted") << key;
    EXPECT_NE(message_of_calibration(key, "nan", "0.5", "0.5"), "accepted") << key;
    EXPECT_EQ(message_of_calibration(key, "0", "0", "0.5") == "accepted", !divides) << key;
  }
  const auto message = message_of_calibration;
  EXPECT_EQ(message("gemm.efficiency", "1.1", "1", "2"),
            "c.yaml:4:28: gemm.efficiency: must be above 0 and at most 1, not 1.1");
  EXPECT_EQ(message("gemm.efficiency", "1", "0", "1"),
            "c.yaml:4:36: gemm.efficiency: must be above 0 and at most 1, not 0");
  EXPECT_EQ(message("gemm.k_half", "-1", "0", "1"),
            "c.yaml:5:24: gemm.k_half: must be at least 0, not -1");
  EXPECT_EQ(message("gemm.k_half", "5", "6", "7"),
            "c.yaml:5:32: gemm.k_half: low 6 is above the value 5");
  EXPECT_EQ(message("gemm.k_half", "5", "3", "4"),
            "c.yaml:5:41: gemm.k_half: high 4 is below the value 5");
  EXPECT_EQ(message("gemm.tile_m", "0", "0", "1"),
            "c.yaml:6:24: gemm.tile_m: must be above 0, not 0");
  EXPECT_EQ(message("memory.fragmentation", "1.5", "0", "2"),
            "c.yaml:26:33: memory.fragmentation: must be from 0 to 1, not 1.5");
}

}  // namespace
}  // namespace windtunnel
