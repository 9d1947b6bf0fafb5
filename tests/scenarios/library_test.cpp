#include "scenarios/library.hpp"

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

}  // namespace
}  // namespace windtunnel
