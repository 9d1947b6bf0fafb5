#include "cli/plan/plan_arguments.hpp"

#include <gtest/gtest.h>

#include "models/base/error.hpp"

namespace windtunnel {
namespace {

TEST(PlanArguments, ClustersAreNodesOrGpus) {
  struct Form {
    const char* text;
    int nodes;
    const char* node;
  };
  for (const Form& form : {Form{"64 x dgx-h100", 64, "dgx-h100"},
                           Form{"64 dgx-h100", 64, "dgx-h100"},
                           Form{"2,048 H100", 256, "dgx-h100"},
                           Form{"512 x h100", 64, "dgx-h100"},
                           Form{"64 x 8 H100 GPUs", 64, "dgx-h100"},
                           Form{"32 A100 nodes", 32, "dgx-a100"},
                           Form{"64 x dgxh100", 64, "dgx-h100"},
                           Form{"32 x dgx_h100", 32, "dgx-h100"},
                           Form{"32 DGX H100", 32, "dgx-h100"},
                           Form{"32 x DGX H100 nodes", 32, "dgx-h100"},
                           Form{"64xdgx-h100", 64, "dgx-h100"},
                           Form{"48 nodes of 8 H200", 48, "dgx-h200"},
                           Form{"48 nodes H200", 48, "dgx-h200"},
                           Form{"48 nodes with 8 H200", 48, "dgx-h200"},
                           Form{"32 nodes of 8 a100", 32, "dgx-a100"},
                           Form{"48 nodes of dgx-h200", 48, "dgx-h200"},
                           Form{"48 Nodes x 8 x H200 GPUs", 48, "dgx-h200"},
                           Form{"384 GPUs h200", 48, "dgx-h200"},
                           Form{"64 GPUs of dgx-h100", 8, "dgx-h100"},
                           Form{"8 RTX 4090", 1, "pcie-rtx4090"},
                           Form{"16 x A100 80GB", 2, "dgx-a100"},
                           Form{"16 A100 40GB", 2, "dgx-a100-40"},
                           Form{"64 dgx-h100 gpus", 8, "dgx-h100"}}) {
    const ClusterArgument cluster = parse_cluster(form.text);
    EXPECT_EQ(cluster.nodes, form.nodes) << form.text;
    EXPECT_EQ(cluster.node, form.node) << form.text;
  }
}

TEST(PlanArguments, FewerGpusThanANodeHasArePartOfIt) {
  const ClusterArgument part = parse_cluster("8 x gb300");
  EXPECT_EQ(part.nodes, 1);
  EXPECT_EQ(part.node, "gb300-nvl72");
  EXPECT_EQ(part_of_node(part),
            (Overrides{{"cluster.node.gpus", "8"}, {"cluster.node.nics", "8"}}));
  EXPECT_TRUE(part_of_node(parse_cluster("72 x gb300")).empty());
  for (const auto& [text, racks, gpus] :
       {std::tuple("128 gb300", 2, 64), {"1024 x gb200", 16, 64}, {"2048 gb300", 32, 64}}) {
    const ClusterArgument parts = parse_cluster(text);
    EXPECT_EQ(parts.nodes, racks) << text;
    EXPECT_EQ(parts.gpus, gpus) << text;
  }
  EXPECT_THROW(parse_cluster("74 x gb300"), Error);
  EXPECT_THROW(parse_cluster("12 x h100"), Error);
}

TEST(PlanArguments, OthersAreRefused) {
  for (const char* text :
       {"", "h100", "64", "64 x", "x h100", "-4 x h100", "64 x 7 x h100", "1e3 h100",
        "99999999999 h100", "64 x dgx-h100 towers", "64 x dgx-h10", "64 x dgxa900",
        "48 nodes of 6 H200", "nodes of 8 H200", "48 of 8 H200"}) {
    EXPECT_THROW(parse_cluster(text), Error) << text;
  }
}

TEST(PlanArguments, ModelsAreNamesOrDimensions) {
  EXPECT_EQ(model_value("llama3-70b"), "llama3-70b");
  EXPECT_EQ(model_value("{layers: 4}"), "{layers: 4}");
  EXPECT_EQ(model_value(WINDTUNNEL_SOURCE_DIR "/scenarios/small.yaml"), "llama3-8b");
  EXPECT_THROW(model_value("llama"), Error);
  EXPECT_EQ(model_value("x/config.json"), "'x/config.json'");
  EXPECT_EQ(model_value("./model.args"), "'./model.args'");
  EXPECT_THROW(model_value("./model.txt"), Error);
  EXPECT_EQ(model_value("Qwen2.5-32B"), "qwen2.5-32b");
  EXPECT_EQ(model_value("Qwen/Qwen2.5-32B"), "qwen2.5-32b");
}

// A name with a dot or an organisation is not taken for a file, and gets a hint at the nearest
// name.
TEST(PlanArguments, UnknownModelsGetTheNearestName) {
  for (const char* text : {"qwen2.5-32", "Qwen/Qwen2.5-32", "Qwen2.5-32B-Base"}) {
    try {
      model_value(text);
      ADD_FAILURE() << text;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("did you mean 'qwen2.5-32b'"), std::string::npos)
          << error.what();
    }
  }
}

// Paths of files in a scenario are relative to its folder.
TEST(PlanArguments, ModelsInOtherFoldersAreNamedFromTheScenario) {
  EXPECT_EQ(model_value_from("'config.json'", "rel/p.yaml"), "'../config.json'");
  EXPECT_EQ(model_value_from("'a/config.json'", "a/p.yaml"), "'config.json'");
  EXPECT_EQ(model_value_from("'config.json'", "p.yaml"), "");
  EXPECT_EQ(model_value_from("'/x/config.json'", "rel/p.yaml"), "");
  EXPECT_EQ(model_value_from("llama3-8b", "rel/p.yaml"), "");
}

}  // namespace
}  // namespace windtunnel
