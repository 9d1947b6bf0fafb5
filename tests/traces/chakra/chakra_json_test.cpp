#include <fmt/format.h>
#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "tests/support/error_of.hpp"
#include "traces/chakra/chakra.hpp"
#include "traces/chakra/chakra_wire.hpp"

namespace windtunnel {
namespace {

using ::testing::HasSubstr;

std::string written_json(const std::string& text) {
  const std::string path =
      fmt::format("{}windtunnel-chakra-json-{}.0.json", ::testing::TempDir(), getpid());
  std::ofstream(path, std::ios::binary) << text;
  return path;
}

// mlcommons/chakra's jsonizer writes messages like this: 64-bit numbers in quotes, defaults left
// out.
constexpr const char* kMessages = R"({
  "version": "0.0.4"
}{
  "id": "216",
  "name": "aten::mm",
  "type": "COMP_NODE",
  "ctrlDeps": ["3"],
  "durationMicros": "12",
  "attr": [{"name": "is_cpu_op", "boolVal": false}]
}{
  "id": "217",
  "name": "nccl:all_reduce",
  "type": "COMM_COLL_NODE",
  "dataDeps": ["216"],
  "attr": [
    {"name": "is_cpu_op", "boolVal": true},
    {"name": "comm_type", "int64Val": "0"},
    {"name": "comm_size", "uint64Val": "4096"}
  ]
}
)";

// mlcommons/chakra's feeder reads graphs like this one.
constexpr const char* kGraph = R"({"schema": "x", "workload_graph": [
  {"Id": 217, "Name": "all_reduce", "NodeType": 7, "is_cpu_op": true, "data_deps": [216],
   "comm_type": 0, "comm_size": 4096},
  {"Id": 216, "Name": "aten::mm \"{[\"", "NodeType": 4, "is_cpu_op": false, "runtime": 12,
   "data_deps": [3]}
]})";

TEST(ChakraJson, BothFormsAreTheSamePlan) {
  for (const char* text : {kMessages, kGraph}) {
    const std::string path = written_json(text);
    EXPECT_TRUE(is_chakra_json(path));
    const RankPlan import = read_chakra({path});
    EXPECT_TRUE(import.foreign);
    EXPECT_EQ(import.absent_deps, 1);
    const RankClass& owner = import.plan.classes.at(0);
    ASSERT_EQ(owner.tasks.size(), 2u);
    EXPECT_EQ(total_seconds(owner.tasks[0].cost), 12e-6);
    EXPECT_EQ(owner.tasks[1].kind, TaskKind::collective);
    EXPECT_EQ(owner.tasks[1].bytes, 4096);
    EXPECT_EQ(owner.tasks[1].after, std::vector<TaskIndex>{0});
  }
}

TEST(ChakraJson, OtherJsonIsNone) {
  EXPECT_FALSE(is_chakra_json(written_json("{\"traceEvents\": []}")));
  EXPECT_FALSE(is_chakra_json(written_json("")));
  EXPECT_FALSE(is_chakra_json("/nowhere/x.0.json"));
}

std::string message_with(const std::string& fields) {
  return "{\"version\": \"0.0.4\"}\n{\"id\": \"1\", \"type\": \"COMP_NODE\", " + fields + "}";
}
std::string graph_with(const std::string& fields) {
  return "{\"workload_graph\": [\n{\"Id\": 1, \"Name\": \"a\", \"NodeType\": 4, " + fields + "}]}";
}

TEST(ChakraJsonErrors, HostileFilesAreRefusedInWords) {
  const std::string messages = kMessages;
  const std::string graph = kGraph;
  const auto attribute = [](const std::string& fields) {
    return message_with("\"attr\": [{" + fields + "}]");
  };
  const auto collective = [](const std::string& fields) {
    return "{\"workload_graph\": [{\"Id\": 1, \"NodeType\": 7, " + fields + "}]}";
  };
  const std::string broken = "broken";
  const std::pair<std::string, std::string> cases[] = {
      {"", "contains no node of a Chakra trace"},
      {" \n", "contains no node of a Chakra trace"},
      {"null", ":1:1: the JSON is broken"},
      {"7", broken},
      {"[]", broken},
      {"[[[[", broken},
      {"{", broken},
      {"}", broken},
      {"{]", broken},
      {"{}", "no file has a task"},
      {"{\"version\": 4}", "no file has a task"},
      {messages.substr(0, messages.size() - 10), broken},
      {messages.substr(0, 60), broken},
      {messages + "{", broken},
      {messages + "x", broken},
      {messages + "]", broken},
      {"x" + messages, ":1:1: the JSON is broken"},
      {graph.substr(0, graph.size() - 3), broken},
      {graph.substr(0, graph.size() - 1), broken},
      {graph.substr(0, 100), broken},
      {graph + "}", broken},
      {"{\"workload_graph\": []}", "contains no node of a Chakra trace"},
      {"{\"workload_graph\": 7}", "contains no node of a Chakra trace"},
      {"{\"workload_graph\": {\"Id\": 1}}", "contains no node of a Chakra trace"},
      {"{\"workload_graph\": [7]}", "contains no node of a Chakra trace"},
      {graph_with("\"runtime\": -1"), ":2:1: 'runtime' is not a whole number of at least 0"},
      {graph_with("\"runtime\": 1.5"), "'runtime' is not a whole number"},
      {graph_with("\"runtime\": NaN"), broken},
      {graph_with("\"runtime\": 1e400"), broken},
      {graph_with("\"runtime\": \"long\""), "'runtime' is not a whole number"},
      {graph_with("\"runtime\": 99999999999999999999"), "'runtime' is not a whole number"},
      {graph_with("\"runtime\": null"), "'runtime' is not a whole number"},
      {graph_with("\"data_deps\": 3"), "'data_deps' is not a list"},
      {graph_with("\"data_deps\": [-3]"), "'data_deps' is not a whole number of at least 0"},
      {graph_with("\"data_deps\": [\"x\"]"), "'data_deps' is not a whole number"},
      {graph_with("\"data_deps\": [1]"), "node 1 waits for itself"},
      {graph_with("\"Name\": 7"), "'Name' is not a text"},
      {graph_with("\"NodeType\": 77"), "unknown node type 77"},
      {graph_with("\"NodeType\": \"COMP_NOD\""), "did you mean 'COMP_NODE'"},
      {graph_with("\"Id\": -1"), "'Id' is not a whole number"},
      {graph_with("\"x\": \"\xff\xfe\""), broken},
      {graph_with("\"x\": \"\\ud800\""), broken},
      {graph_with("\"x\": " + std::string(100'000, '[') + std::string(100'000, ']')), "no error"},
      {graph_with("\"x\": " + std::string(100'000, '[')), broken},
      {collective("\"comm_type\": 77"), "comm_type 77 is not simulated"},
      {collective("\"comm_size\": -5"), "'comm_size' is not a number of at least 0"},
      {collective("\"comm_size\": {}"), "'comm_size' is not a whole number"},
      {collective("\"pg_name\": 7"), "'pg_name' is not a text"},
      {graph_with("\"NodeType\": 5"), "COMM_SEND_NODE without comm_dst"},
      {graph_with("\"a\": 1}, {\"Id\": 1, \"NodeType\": 4"), "node 1 is in the file twice"},
      {graph_with("\"data_deps\": [2]}, {\"Id\": 2, \"NodeType\": 4, \"data_deps\": [1]"),
       "waits for itself"},
      {message_with("\"attr\": 7"), ":2:1: 'attr' is not a list"},
      {message_with("\"attr\": [7]"), "an attribute has no 'name'"},
      {attribute("\"int64Val\": \"1\""), "an attribute has no 'name'"},
      {attribute("\"name\": 7"), "'name' is not a text"},
      {attribute("\"name\": \"is_cpu_op\", \"boolVal\": 1"), "'is_cpu_op' is not true or false"},
      {attribute("\"name\": \"comm_size\", \"int64Val\": \"1x\""), "'comm_size' is not a whole"},
      {attribute("\"name\": \"comm_size\", \"doubleVal\": \"x\""), "'comm_size' is not a number"},
      {"\x1f\x8b\x08", "gunzip"},
  };
  EXPECT_GE(std::size(cases), 50u);
  for (const auto& [text, message] : cases) {
    const std::string path = written_json(text);
    EXPECT_THAT(error_of([&] { read_chakra({path}); }), HasSubstr(message)) << text.substr(0, 200);
  }
}

}  // namespace
}  // namespace windtunnel
