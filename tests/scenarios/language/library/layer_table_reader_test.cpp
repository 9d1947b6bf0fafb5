#include "scenarios/language/library/layer_table_reader.hpp"

#include <fstream>

#include "scenarios/language/library/library.hpp"
#include "tests/scenarios/golden.hpp"

namespace windtunnel {
namespace {

const LayerTable& find_network(std::string_view name) {
  const auto found = std::ranges::find(library_networks(), name, &LayerTable::name);
  CHECK(found != library_networks().end(), "no network '{}'", name);
  return *found;
}

// Expected are the trainable parameters of torchvision's models, which equal those of the papers.
TEST(Networks, HaveThePublishedParameters) {
  EXPECT_EQ(find_network("resnet-50").parameters(), 25557032);
  EXPECT_EQ(find_network("vgg-16").parameters(), 138357544);
  EXPECT_EQ(find_network("alexnet").parameters(), 61100840);
  EXPECT_EQ(find_network("resnet-101").parameters(), 44549160);
  EXPECT_EQ(find_network("resnet-152").parameters(), 60192808);
  EXPECT_EQ(find_network("resnext-50").parameters(), 25028904);
  EXPECT_EQ(find_network("resnext-101").parameters(), 88791336);
  EXPECT_EQ(find_network("densenet-201").parameters(), 20013928);
  EXPECT_EQ(find_network("googlenet").parameters(), 6624904);
}

// ResNet-20 has 0.27 M (He et al. 2015, table 6); the others were counted by hand in the code that
// the library names.
TEST(Networks, ForSmallImagesHaveTheirParameters) {
  EXPECT_EQ(find_network("resnet-20").parameters(), 272474);
  EXPECT_EQ(find_network("resnet-18-cifar").parameters(), 11173962);
  EXPECT_EQ(find_network("vgg-16-cifar").parameters(), 14728266);
}

// torchvision's table of weights lists these multiply-accumulate operations of one image of 224 x
// 224 (as "GFLOPS").
TEST(Networks, HaveThePublishedOperations) {
  EXPECT_NEAR(find_network("resnet-50").forward_macs() / 1e9, 4.09, 0.005);
  EXPECT_NEAR(find_network("vgg-16").forward_macs() / 1e9, 15.47, 0.005);
  EXPECT_NEAR(find_network("alexnet").forward_macs() / 1e9, 0.71, 0.005);
  EXPECT_NEAR(find_network("resnet-101").forward_macs() / 1e9, 7.80, 0.005);
  EXPECT_NEAR(find_network("resnet-152").forward_macs() / 1e9, 11.51, 0.01);
  EXPECT_NEAR(find_network("resnext-50").forward_macs() / 1e9, 4.23, 0.005);
  EXPECT_NEAR(find_network("resnext-101").forward_macs() / 1e9, 16.41, 0.01);
  EXPECT_NEAR(find_network("densenet-201").forward_macs() / 1e9, 4.29, 0.005);
  EXPECT_NEAR(find_network("googlenet").forward_macs() / 1e9, 1.50, 0.005);
}

// All convolutions together have 11.1 M outputs (Radosavovic et al. 2020, arXiv 2003.13678, table
// 4).
TEST(Networks, ResNetHasThePublishedActivations) {
  double outputs = 0;
  for (const NetworkLayer& layer : find_network("resnet-50").layers) {
    if (layer.kind == LayerKind::convolution) outputs += layer.output;
  }
  EXPECT_NEAR(outputs / 1e6, 11.1, 0.05);
}

// 53 convolutions and a linear layer carry its weights.
TEST(Networks, ResNetHasItsLayers) {
  int convolutions = 0;
  for (const NetworkLayer& layer : find_network("resnet-50").layers) {
    convolutions += layer.kind == LayerKind::convolution ? 1 : 0;
  }
  EXPECT_EQ(convolutions, 53);
}

TEST(Networks, WhatIsWrongIsNamedWithItsPlace) {
  const auto message = [](const std::string& layers) {
    const std::string text =
        "net:\n  input: {channels: 3, height: 32, width: 32}\n  source: test\n  layers:\n" + layers;
    return error_of([&] { read_layer_tables(parse_document(text, "n.yaml")); });
  };
  EXPECT_EQ(message("    - {conv: 8, kernel: 3}\n"), "no error");
  EXPECT_EQ(message("    - {conv: 8, kernl: 3}\n"),
            "n.yaml:5:17: unknown key 'kernl'; did you mean 'kernel'?");
  EXPECT_EQ(message("    - {conv: 8}\n"), "n.yaml:5:7: 'kernel' is missing");
  EXPECT_EQ(message("    - {conv: 0, kernel: 3}\n"), "n.yaml:5:14: conv: must be at least 1");
  EXPECT_EQ(message("    - {pool: mean, kernel: 3}\n"),
            "n.yaml:5:14: unknown pool 'mean'; did you mean 'max'?");
  EXPECT_EQ(
      message("    - {dense: 3}\n"),
      "n.yaml:5:7: a layer must be one of conv, norm, bottleneck, basic, branches, pool and fc");
  EXPECT_EQ(message("    - {pool: max, kernel: 33}\n"),
            "n.yaml:5:7: pool1: a kernel of 33 with stride 1 does not fit 32 pixels, padding "
            "included");
  EXPECT_EQ(message("    - {pool: max, kernel: 3, stride: 0}\n"),
            "n.yaml:5:7: pool1: a kernel of 3 with stride 0 does not fit 32 pixels, padding "
            "included");
  EXPECT_EQ(message("    []\n"), "n.yaml:5:5: layers: expected a list");
  EXPECT_EQ(
      message("    - {conv: 8, kernel: 1, groups: 3}\n    - {conv: 8, kernel: 1, groups: 3}\n"),
      "n.yaml:5:7: conv1: 3 groups do not divide 3 input and 8 output channels");
  EXPECT_EQ(message("    - {branches: []}\n"), "n.yaml:5:18: branches: at least one is needed");
  EXPECT_EQ(message("    - {branches: [[], {conv: 8, kernel: 1}]}\n"),
            "n.yaml:5:23: a branch: expected a list");
  EXPECT_EQ(message("    - branches:\n        - [{conv: 8, kernl: 3}]\n"),
            "n.yaml:6:22: unknown key 'kernl'; did you mean 'kernel'?");
  EXPECT_EQ(message("    - {branches: [[], [{conv: 8, kernel: 3}]]}\n"),
            "n.yaml:5:7: concat1: branches of 32 x 32 and 30 x 30 pixels do not fit together");
}

// The library's perceptron takes a vector and has weights and biases; its name is the stem of its
// file's name.
TEST(Networks, AFileOfItsOwn) {
  const std::string path = source_path("scenarios/models/mlp.yaml");
  const LayerTable network = parse_network_file(read_text_file(path), path);
  EXPECT_EQ(network.name, "mlp");
  EXPECT_EQ(network.parameters(), 1025 * 2048 + 2 * 2049 * 2048 + 2049 * 1024);
  EXPECT_EQ(network.layers.front().input, 1024);
  const Case read = load_case(source_path("scenarios/mlp-cpu.yaml"));
  ASSERT_NE(read.job.network, nullptr);
  EXPECT_EQ(read.job.network->parameters(), network.parameters());
}

TEST(Networks, AFileBesideTheScenarioIsItsModel) {
  const std::string folder = ::testing::TempDir();
  const auto read = [&](const std::string& layers, const std::string& more = "") {
    std::ofstream(folder + "own_net.yaml")
        << "input: 64\nsource: test\nlayers:\n  - {fc: 32, bias: " << layers << "}\n";
    return parse_case("name: a\nmodel: " + (more.empty() ? "own_net.yaml" : more) +
                          "\ncluster: {nodes: 1, node: cpu-loopback}\n"
                          "batch: {global: 64, micro: 32}\nprecision: fp32\n",
                      folder + "own_a.yaml");
  };
  const Case biased = read("true");
  EXPECT_EQ(biased.job.network->parameters(), 65 * 32);
  const Case plain = read("false");
  EXPECT_EQ(plain.job.network->parameters(), 64 * 32);
  EXPECT_NE(plain.key, biased.key) << "the layers belong to the case, not the name alone";
  EXPECT_EQ(error_of([&] { read("false, relus: true"); }),
            folder + "own_a.yaml:2:8: model: " + folder +
                "own_net.yaml:4:27: unknown key 'relus'; did you mean 'relu'?");
  EXPECT_EQ(error_of([&] { read("false", "{base: own_net.yaml, layers: 3}"); }),
            folder +
                "own_a.yaml:2:37: model.layers: 'own_net.yaml' is a table of layers, which has "
                "no such dimension");
  EXPECT_NE(error_of([&] { read("false", "no_net.yaml"); }).find("no_net.yaml: cannot be read"),
            std::string::npos);
}

}  // namespace
}  // namespace windtunnel
