// Tests what the server answers to requests of both revisions of the protocol, and to hostile
// messages.
#include "cli/mcp/mcp_server.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>

#include <atomic>
#include <memory>
#include <mutex>

#include "cli/mcp/mcp_tools.hpp"
#include "models/base/error.hpp"
#include "models/base/random.hpp"

namespace windtunnel {
namespace {

using testing::HasSubstr;

CommandPage page_of(const std::string& name) {
  CommandPage page;
  page.path = name;
  page.names = {name};
  page.help = "what " + name + " does";
  page.options = {{.names = {"SCENARIO"},
                   .positional = true,
                   .kind = ValueKind::scenario,
                   .value = "SCENARIO",
                   .help = "a file",
                   .required = true},
                  {.names = {"--set"},
                   .kind = ValueKind::key,
                   .value = "KEY=VALUE",
                   .help = "a value",
                   .list = true},
                  {.names = {"--timing"}, .help = "how long it took"},
                  {.names = {"-j"}, .kind = ValueKind::text, .value = "N", .numeric = true},
                  {.names = {"--over"}, .kind = ValueKind::choice, .choices = {"a", "b"}},
                  {.names = {"--json"}},
                  {.names = {"--out"}, .kind = ValueKind::folder, .value = "DIR"}};
  return page;
}

McpTool tool() {
  return {"run", "what run does", page_of("run"), true};
}

// Collects the answers of a server in order; the server's tool returns the arguments that it was
// called with.
class Served {
 public:
  Served()
      : server_(std::make_unique<McpServer>(
            std::vector{tool()},
            [this](const McpTool& called, const Json& arguments, const std::atomic<bool>& stop) {
              return call(called, arguments, stop);
            },
            [this](const std::string& line) {
              const std::scoped_lock lock(mutex_);
              lines_.push_back(line);
            })) {}

  // Returns the answer to a line; null if there is none.
  Json answer(const std::string& line) {
    {
      const std::scoped_lock lock(mutex_);
      lines_.clear();
    }
    server_->receive(line);
    for (int i = 0; i < 2000; ++i) {
      {
        const std::scoped_lock lock(mutex_);
        if (!lines_.empty()) return Json::parse(lines_.front());
      }
      if (line.find("tools/call") == std::string::npos) break;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return nullptr;
  }
  McpServer& server() { return *server_; }
  // Destroys the server, which waits for running calls.
  void stop() { server_.reset(); }
  // Returns whether `calls` calls have ended within `seconds`.
  bool ends_within_s(int seconds, int calls) const {
    for (int i = 0; i < 1000 * seconds && ended_ < calls; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return ended_ >= calls;
  }
  std::size_t sent() {
    const std::scoped_lock lock(mutex_);
    return lines_.size();
  }

 private:
  ToolOutcome call(const McpTool& called, const Json& arguments,
                   const std::atomic<bool>& cancelled) {
    if (arguments.contains("wait")) {
      while (!cancelled) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    ++ended_;
    if (arguments.contains("fail")) {
      if (arguments.at("fail") == "error") throw Error("failed by error");
      throw std::runtime_error("failed by other");
    }
    const ToolCommand command = command_of(called, arguments, "/folder");
    return {false, fmt::format("{}", fmt::join(command.words, " ")), {{"words", command.words}}};
  }

  std::mutex mutex_;
  std::vector<std::string> lines_;
  std::atomic<int> ended_ = 0;
  std::unique_ptr<McpServer> server_;
};

std::string request(const std::string& method, const std::string& params = "{}",
                    const std::string& id = "1") {
  return fmt::format(R"({{"jsonrpc":"2.0","id":{},"method":"{}","params":{}}})", id, method,
                     params);
}

const std::string kMeta = R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
                          R"("io.modelcontextprotocol/clientCapabilities":{}})";

TEST(McpServer, Initializes) {
  Served served;
  const Json result =
      served.answer(request("initialize", R"({"protocolVersion":"2025-06-18","capabilities":{}})"))
          .at("result");
  EXPECT_EQ(result.at("protocolVersion"), "2025-06-18");
  EXPECT_EQ(result.at("serverInfo").at("name"), "windtunnel");
  EXPECT_TRUE(result.at("capabilities").contains("tools"));
  EXPECT_EQ(served.answer(request("initialize", R"({"protocolVersion":"1999-01-01"})"))
                .at("result")
                .at("protocolVersion"),
            "2025-11-25");
  EXPECT_EQ(served.answer(R"({"jsonrpc":"2.0","method":"notifications/initialized"})"), nullptr);
  EXPECT_EQ(served.answer(request("ping")).at("result"), Json::object());
}

TEST(McpServer, IsDiscoveredWithoutAHandshake) {
  Served served;
  const Json result = served.answer(request("server/discover", "{" + kMeta + "}")).at("result");
  EXPECT_EQ(result.at("supportedVersions").at(0), "2026-07-28");
  EXPECT_EQ(result.at("resultType"), "complete");
  EXPECT_EQ(result.at("_meta").at("io.modelcontextprotocol/serverInfo").at("name"), "windtunnel");
  const Json tools = served.answer(request("tools/list", "{" + kMeta + "}")).at("result");
  EXPECT_TRUE(tools.contains("ttlMs") && tools.contains("cacheScope"));
  // The revision without a handshake has no ping.
  EXPECT_EQ(served.answer(request("ping", "{" + kMeta + "}")).at("error").at("code"), -32601);
}

TEST(McpServer, RefusesAVersionThatItDoesNotSpeak) {
  Served served;
  const Json error =
      served
          .answer(request("tools/list",
                          R"({"_meta":{"io.modelcontextprotocol/protocolVersion":"1900-01-01"}})"))
          .at("error");
  EXPECT_EQ(error.at("code"), -32022);
  EXPECT_EQ(error.at("data").at("requested"), "1900-01-01");
  EXPECT_EQ(
      served
          .answer(request("tools/list",
                          R"({"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}})"))
          .at("error")
          .at("code"),
      -32602);
}

TEST(McpServer, SchemasAreOfTheOptionTable) {
  Served served;
  const Json definition = served.answer(request("tools/list")).at("result").at("tools").at(0);
  EXPECT_EQ(definition.at("name"), "run");
  const Json& schema = definition.at("inputSchema");
  EXPECT_EQ(schema.at("required"), Json::array({"scenario"}));
  EXPECT_EQ(schema.at("additionalProperties"), false);
  const Json& properties = schema.at("properties");
  EXPECT_EQ(properties.at("set").at("type"), "array");
  EXPECT_EQ(properties.at("set").at("items").at("type"), "string");
  EXPECT_EQ(properties.at("timing").at("type"), "boolean");
  EXPECT_EQ(properties.at("j").at("type"), "number");
  EXPECT_EQ(properties.at("over").at("enum"), Json::array({"a", "b"}));
  EXPECT_FALSE(properties.contains("json") || properties.contains("out"));
}

TEST(McpServer, CallsWithTheWordsOfTheCommandLine) {
  Served served;
  const Json result =
      served
          .answer(request("tools/call", R"({"name":"run","arguments":{"scenario":"--help","j":2,)"
                                        R"("set":["layout.tp=4","x=--y"],"timing":true}})"))
          .at("result");
  EXPECT_EQ(result.at("isError"), false);
  EXPECT_EQ(result.at("structuredContent").at("words"),
            Json::array({"run", "--json", "--set=layout.tp=4", "--set=x=--y", "--timing", "-j", "2",
                         "--", "--help"}));
  EXPECT_EQ(result.at("content").at(0).at("type"), "text");
}

TEST(McpTools, ATextOfSeveralLinesIsAFile) {
  const ToolCommand command = command_of(tool(), {{"scenario", "name: a\nmodel: b\n"}}, "/folder");
  ASSERT_EQ(command.files.size(), 1u);
  EXPECT_EQ(command.files[0].first, "/folder/scenario.yaml");
  EXPECT_EQ(command.files[0].second, "name: a\nmodel: b\n");
  EXPECT_EQ(command.words.back(), "/folder/scenario.yaml");
}

// A configuration gets a file name that shows its format; a second text gets another name.
TEST(McpTools, ATextIsAFileOfItsForm) {
  CommandPage page = page_of("import");
  page.options.front().list = true;
  page.options.push_back({.names = {"--log"}, .kind = ValueKind::file, .value = "LOG"});
  const McpTool import{"import", "reads", page, true};
  const std::pair<const char*, const char*> texts[] = {
      {"#!/bin/bash\ntorchrun train.py\n", "/folder/scenario.sh"},
      {"# a job\n[job]\ndump = 1\n", "/folder/scenario.toml"},
      {"seed = 1\n\n[training]\nsteps = 2\n", "/folder/scenario.toml"},
      {"[1, 2]\n", "/folder/scenario.yaml"},
      {"name: a\n[job]\n", "/folder/scenario.yaml"},
      {"{\"a\": 1,\n\"b\": 2}", "/folder/scenario.yaml"}};
  for (const auto& [text, path] : texts) {
    const ToolCommand command = command_of(import, {{"scenario", {text}}}, "/folder");
    ASSERT_EQ(command.files.size(), 1u) << text;
    EXPECT_EQ(command.files[0].first, path) << text;
  }
  const ToolCommand several = command_of(
      import, {{"scenario", {"a: 1\nb: 2\n", "c.yaml", "#!/bin/sh\nx\n"}}, {"log", "1\n2\n"}},
      "/folder");
  std::vector<std::string> paths;
  for (const auto& [path, text] : several.files) paths.push_back(path);
  EXPECT_THAT(paths, testing::ElementsAre("/folder/scenario.yaml", "/folder/scenario-2.sh",
                                          "/folder/log-3.txt"));
  EXPECT_THAT(several.words,
              testing::IsSupersetOf({"/folder/scenario.yaml", "c.yaml", "/folder/scenario-2.sh"}));
}

// An error in a call becomes the result of the call, and the server goes on.
TEST(McpServer, ACallThatFailsIsAnswered) {
  Served served;
  for (const char* with : {"error", "other"}) {
    const Json result =
        served
            .answer(request("tools/call",
                            fmt::format(R"({{"name":"run","arguments":{{"fail":"{}"}}}})", with)))
            .at("result");
    EXPECT_EQ(result.at("isError"), true) << with;
    EXPECT_EQ(result.at("content").at(0).at("text"), std::string("failed by ") + with);
  }
  EXPECT_EQ(served.answer(request("ping")).at("result"), Json::object());
}

// The default stack exceeds the address space, so that no thread can be started.
TEST(McpServer, WithoutAThreadACallIsRefused) {
  pthread_attr_t usual, large;
  ASSERT_EQ(pthread_getattr_default_np(&usual), 0);
  pthread_attr_init(&large);
  ASSERT_EQ(pthread_attr_setstacksize(&large, std::size_t{1} << 47U), 0);
  Served served;
  ASSERT_EQ(pthread_setattr_default_np(&large), 0);
  const std::string call = request("tools/call", R"({"name":"run","arguments":{"scenario":"a"}})");
  std::vector<Json> refused;
  for (int i = 0; i <= kMostCalls; ++i) refused.push_back(served.answer(call));
  ASSERT_EQ(pthread_setattr_default_np(&usual), 0);
  for (const Json& answer : refused) {  // a refused call must not count as running
    ASSERT_TRUE(answer.is_object() && answer.contains("error")) << answer;
    EXPECT_EQ(answer.at("error").at("code"), -32603);
  }
  EXPECT_EQ(served.answer(call).at("result").at("isError"), false);
}

TEST(McpServer, WrongArgumentsAreNamed) {
  struct Row {
    const char* arguments;
    const char* said;
  };
  for (const Row& row :
       {Row{R"({"scenari":"a"})", "did you mean 'scenario'"}, Row{R"({"out":"/etc"})", "out"},
        Row{R"({"scenario":{"a":1}})", "is an object"}, Row{R"({"scenario":["a"]})", "is a list"},
        Row{R"({"timing":"yes"})", "true or false"}, Row{R"({"set":[["a"]]})", "is a list"},
        Row{R"({"scenario":"a\u0000b"})", "zero byte"}}) {
    Served served;
    const Json result =
        served
            .answer(request("tools/call",
                            fmt::format(R"({{"name":"run","arguments":{}}})", row.arguments)))
            .at("result");
    EXPECT_EQ(result.at("isError"), true) << row.arguments;
    EXPECT_THAT(result.at("content").at(0).at("text").get<std::string>(), HasSubstr(row.said));
  }
}

TEST(McpServer, HostileMessagesAreAnsweredWithErrors) {
  const std::string deep(100000, '[');
  struct Row {
    std::string line;
    int code;
  };
  const std::vector<Row> rows = {
      {"no JSON", -32700},
      {"{", -32700},
      {"\"\xff\xfe\"", -32700},
      {"[]", -32600},
      {"[" + request("ping") + "]", -32600},
      {"null", -32600},
      {"1", -32600},
      {"\"text\"", -32600},
      {"{}", -32600},
      {R"({"jsonrpc":"1.0","id":1,"method":"ping"})", -32600},
      {R"({"jsonrpc":2.0,"id":1,"method":"ping"})", -32600},
      {R"({"jsonrpc":"2.0","id":1})", -32600},
      {R"({"jsonrpc":"2.0","id":1,"method":7})", -32600},
      {R"({"jsonrpc":"2.0","id":null,"method":"ping"})", -32600},
      {R"({"jsonrpc":"2.0","id":{"a":1},"method":"ping"})", -32600},
      {R"({"jsonrpc":"2.0","id":1.5,"method":"ping"})", -32600},
      {request("ping", "[1]"), -32602},
      {request("ping", "\"a\""), -32602},
      {request("no/such"), -32601},
      {request(std::string(1000000, 'm')), -32601},
      {request("tools/call"), -32602},
      {request("tools/call", R"({"name":7})"), -32602},
      {request("tools/call", R"({"name":"rm"})"), -32602},
      {request("tools/call", R"({"name":"run","arguments":[]})"), -32602},
      {request("tools/call", R"({"name":"run","arguments":"a"})"), -32602},
      {request("initialize", R"({"protocolVersion":20250618})"), -32602},
      {request("tools/list", R"({"_meta":{"io.modelcontextprotocol/protocolVersion":1}})"), -32602},
      {request("server/discover"), -32602},
      {deep, -32600},
      {std::string(100000, '{'), -32600},
      {R"({"a":)" + deep, -32600},
      {std::string(kLongestMessage + 1, ' ') + "x", -32600}};
  Served served;
  for (const Row& row : rows) {
    const Json answer = served.answer(row.line);
    ASSERT_TRUE(answer.is_object()) << row.line.substr(0, 200);
    EXPECT_EQ(answer.at("error").at("code"), row.code) << row.line.substr(0, 200);
  }
  EXPECT_EQ(served.answer(request("ping")).at("result"), Json::object());
}

// Whichever bytes of a message are changed, lost or added, the answer is valid JSON-RPC.
TEST(McpServer, DamagedMessagesAreAnsweredOrPassedOver) {
  const std::vector<std::string> whole = {
      request("initialize", R"({"protocolVersion":"2025-11-25"})"),
      request("tools/list", "{" + kMeta + "}"), request("ping"),
      R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}})"};
  Served served;
  RandomStream random(1, RandomPurpose::test, 0);
  int answered = 0;
  for (int i = 0; i < 4000; ++i) {
    std::string line = whole[random.below(whole.size())];
    for (std::uint64_t change = 0, changes = 1 + random.below(4); change < changes; ++change) {
      const std::size_t at = random.below(line.size());
      const auto byte = static_cast<char>(random.below(256));
      switch (random.below(4)) {
        case 0:
          line[at] = byte;
          break;
        case 1:
          line.erase(at, 1 + random.below(8));
          break;
        case 2:
          line.insert(at, 1, byte);
          break;
        default:
          line.insert(at, "{[\"", random.below(4));
      }
      if (line.empty()) line = "{";
    }
    const Json answer = served.answer(line);
    if (answer.is_null()) continue;
    ++answered;
    EXPECT_EQ(answer.at("jsonrpc"), "2.0") << line;
    EXPECT_TRUE(answer.contains("result") != answer.contains("error")) << line;
  }
  EXPECT_GT(answered, 2000);
  EXPECT_EQ(served.answer(request("ping")).at("result"), Json::object());
}

TEST(McpServer, SaysNothingToNotificationsAndAnswers) {
  Served served;
  for (const char* line :
       {"", "   ", R"({"jsonrpc":"2.0","method":"no/such"})",
        R"({"jsonrpc":"2.0","method":"notifications/cancelled"})",
        R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":[1]})",
        R"({"jsonrpc":"2.0","id":1,"result":{}})", R"({"jsonrpc":"2.0","id":1,"error":{}})"}) {
    EXPECT_EQ(served.answer(line), nullptr) << line;
  }
}

TEST(McpServer, ACancelledCallEndsAndIsNotAnswered) {
  Served served;
  served.server().receive(
      request("tools/call", R"({"name":"run","arguments":{"wait":true}})", "7"));
  served.server().receive(
      R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}})");
  served.server().receive(request("ping", "{}", "8"));
  EXPECT_TRUE(served.ends_within_s(10, 1));
  served.stop();  // joins the call
  EXPECT_EQ(served.sent(), 1u);
}

TEST(McpServer, MoreCallsThanItTakesAreRefused) {
  Served served;
  for (int i = 0; i < kMostCalls; ++i) {
    served.server().receive(
        request("tools/call", R"({"name":"run","arguments":{"wait":true}})", std::to_string(i)));
  }
  const Json refused =
      served.answer(request("tools/call", R"({"name":"run","arguments":{}})", "99"));
  EXPECT_EQ(refused.at("id"), 99);
  EXPECT_EQ(refused.at("result").at("isError"), true);
  for (int i = 0; i < kMostCalls; ++i) {
    served.server().receive(fmt::format(
        R"({{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{}}}}})",
        i));
  }
}

}  // namespace
}  // namespace windtunnel
