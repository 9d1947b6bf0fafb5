// communication.compressor.errors is read, matched with the job's gradients, and refused with the
// line that is wrong.
#include "scenarios/language/library/layer_errors.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "tests/scenarios/golden.hpp"

namespace windtunnel {
namespace {

class LayerErrorFiles : public ::testing::Test {
 protected:
  LayerErrorFiles() { std::filesystem::create_directories(folder_); }
  ~LayerErrorFiles() override { std::filesystem::remove_all(folder_); }

  Case of(const std::string& compressor, const std::string& csv) const {
    std::ofstream(folder_ / "errors.csv") << csv;
    std::ofstream(folder_ / "s.yaml") << fmt::format(
        "name: errors\nmodel: mpt-125m\ncluster: {{node: dgx-a100, nodes: 2}}\n"
        "batch: {{global: 16, micro: 1}}\ncommunication:\n  compressor: {}\n",
        compressor);
    return load_case((folder_ / "s.yaml").string(), {});
  }
  std::string fault(const std::string& csv,
                    const std::string& compressor = "{name: lgreco, errors: errors.csv}") const {
    std::string message = error_of([&] { of(compressor, csv); });
    const std::string path = folder_.string() + "/";
    for (std::size_t at; (at = message.find(path)) != std::string::npos;) {
      message.erase(at, path.size());
    }
    return message;
  }

  const std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / fmt::format("wt_errors_{}", getpid());
};

const std::string kHead = "layer,rows,columns,number,error\n";
const std::string kWhere = "s.yaml:6:38: communication.compressor.errors: ";

TEST_F(LayerErrorFiles, AreReadInTheOrderOfTheirNumbers) {
  const std::string csv =
      kHead + "qkv.0,2304,768,4,0.2\nup.0,3072,768,4,0.3\nqkv.0,2304,768,1,0.6\n";
  const Case read = of("{name: lgreco, errors: errors.csv}", csv);
  ASSERT_NE(read.job.communication.compressors.dp.errors, nullptr);
  const std::vector<LayerErrors>& layers = *read.job.communication.compressors.dp.errors;
  ASSERT_EQ(layers.size(), 2U);
  EXPECT_EQ(layers[0].layer, "qkv.0");
  EXPECT_EQ(layers[0].rows, 2304);
  EXPECT_EQ(layers[1].columns, 768);
  EXPECT_EQ(layers[0].by_number, (std::vector<std::pair<double, double>>{{1, 0.6}, {4, 0.2}}));
  // Another table under the same name makes another case.
  const Case other = of("{name: lgreco, errors: errors.csv}", kHead + "up.0,3072,768,4,0.3\n");
  EXPECT_NE(read.key, other.key);
  const Case sparse =
      of("{name: lgreco, base: topk, errors: errors.csv}", kHead + "up.0,3072,768,0.001,0.3\n");
  EXPECT_EQ(sparse.job.communication.compressors.dp.errors->front().by_number.front().first, 0.001);
}

TEST_F(LayerErrorFiles, BadOnesAreRefusedAtTheirLine) {
  const std::string good = "qkv.0,2304,768,4,0.2\n";
  EXPECT_EQ(fault(kHead + good), "no error");
  EXPECT_EQ(fault(kHead + good + "qkv.0,2304,769,1,0.6\n"),
            kWhere + "errors.csv:3:3: columns: 'qkv.0' is 2304 x 768 on line 2");
  EXPECT_EQ(fault(kHead + good + "qkv.0,2304,768,4,0.6\n"),
            kWhere + "errors.csv:3:4: number: 'qkv.0' has this number on another line, too");
  EXPECT_EQ(fault(kHead + good + "qkv.0,2304,768,1.5,0.6\n"),
            kWhere + "errors.csv:3:4: number: expected a whole number from 1 to 1e9");
  EXPECT_EQ(fault(kHead + good + "qkv.0,2304,768,1,-0.6\n"),
            kWhere + "errors.csv:3:5: error: must be from 0 to 1e6");
  EXPECT_EQ(fault(kHead + good + ",2304,768,1,0.6\n"),
            kWhere + "errors.csv:3:1: layer: expected a name");
  EXPECT_EQ(fault(kHead + "qkv.0,2304,768,1,0.6\n"),
            kWhere +
                "errors.csv:2:1: layer: 'qkv.0' has no line with number 4, the default rank of "
                "powersgd");
  EXPECT_EQ(fault(kHead + good + "odd,17,768,4,0.6\n"),
            kWhere + "layer 'odd' is 17 x 768, but no gradient on a GPU has this shape");
  EXPECT_EQ(fault("layer,rows,colums,number,error\n"),
            kWhere + "errors.csv:1:1: unknown column 'colums'; did you mean 'columns'?");
  EXPECT_EQ(fault(kHead), kWhere + "errors.csv: has no layers");
  EXPECT_NE(fault(kHead + "qkv.0,2304,768,four,0.6\n").find("errors.csv:2:4: "), std::string::npos);
  EXPECT_NE(fault(kHead + "up.0,3072,768,2,0.3\n", "{name: lgreco, base: topk, errors: errors.csv}")
                .find("errors.csv:2:4: number: a density of topk is above 0 and at most 1"),
            std::string::npos);
  EXPECT_NE(fault(kHead + good, "{name: lgreco, errors: other.csv}").find("other.csv"),
            std::string::npos);
  EXPECT_NE(fault(kHead + good, "{name: powersgd, errors: errors.csv}")
                .find("communication.compressor.errors: powersgd does not use it"),
            std::string::npos);
}

}  // namespace
}  // namespace windtunnel
