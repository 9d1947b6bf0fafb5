// A client sends requests to the command's standard input and reads its standard output.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "tests/cli/run_program.hpp"

namespace windtunnel {
namespace {

using Json = nlohmann::json;

class McpClient {
 public:
  McpClient() {
    int to[2] = {}, from[2] = {};
    EXPECT_EQ(pipe(to), 0);
    EXPECT_EQ(pipe(from), 0);
    child_ = fork();
    if (child_ == 0) {
      dup2(to[0], STDIN_FILENO);
      dup2(from[1], STDOUT_FILENO);
      for (const int end : {to[0], to[1], from[0], from[1]}) close(end);
      if (chdir(WINDTUNNEL_SOURCE_DIR) != 0) _exit(127);
      execl(WINDTUNNEL_PROGRAM, WINDTUNNEL_PROGRAM, "mcp", nullptr);
      _exit(127);
    }
    close(to[0]);
    close(from[1]);
    in_ = to[1];
    out_ = from[0];
  }
  McpClient(const McpClient&) = delete;
  McpClient& operator=(const McpClient&) = delete;
  ~McpClient() {
    end();
    close(out_);
  }

  void send(const std::string& line) {
    const std::string whole = line + "\n";
    for (std::size_t at = 0; at < whole.size();) {
      const ssize_t written = write(in_, whole.data() + at, whole.size() - at);
      ASSERT_GT(written, 0);
      at += static_cast<std::size_t>(written);
    }
  }
  // Returns the next line that the server writes.
  Json receive() {
    std::string line;
    for (char c = 0; read(out_, &c, 1) == 1 && c != '\n';) line += c;
    return Json::parse(line, nullptr, false);
  }
  Json ask(const std::string& method, const Json& params = Json::object()) {
    const int id = ++asked_;
    send(Json{{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", params}}.dump());
    Json answer = receive();
    EXPECT_EQ(answer.value("id", 0), id) << answer;
    return answer;
  }
  Json call(const std::string& tool, const Json& arguments) {
    return ask("tools/call", {{"name", tool}, {"arguments", arguments}}).at("result");
  }
  // Closes the server's input and returns its exit code.
  int end() {
    if (child_ <= 0) return 0;
    close(in_);
    int status = 0;
    waitpid(child_, &status, 0);
    child_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

 private:
  pid_t child_ = -1;
  int in_ = -1, out_ = -1;
  int asked_ = 0;
};

TEST(McpCommand, EveryToolHasASchemaAndIsACommand) {
  McpClient client;
  client.ask("initialize", {{"protocolVersion", "2025-11-25"}, {"capabilities", Json::object()}});
  client.send(R"({"jsonrpc":"2.0","method":"notifications/initialized"})");
  const Json tools = client.ask("tools/list").at("result").at("tools");
  std::vector<std::string> names;
  for (const Json& tool : tools) {
    names.push_back(tool.at("name"));
    EXPECT_NE(tool.at("description"), "");
    EXPECT_EQ(tool.at("inputSchema").at("type"), "object");
    for (const auto& [name, property] : tool.at("inputSchema").at("properties").items()) {
      EXPECT_TRUE(property.contains("type")) << name;
      EXPECT_NE(property.at("description"), "") << name;
    }
  }
  for (const char* name : {"plan", "run", "compare", "optimise", "expect", "diagnose"}) {
    EXPECT_TRUE(std::ranges::count(names, name)) << name;
  }
  EXPECT_EQ(client.end(), 0);
}

// A tool answers what the command prints with --json.
TEST(McpCommand, ToolsAnswerAsTheCommandsDo) {
  McpClient client;
  const Json expected = client.call(
      "expect", {{"collective", "all_reduce"}, {"cluster", "2 x dgx-h100"}, {"sizes", "1M..8M"}});
  ASSERT_EQ(expected.at("isError"), false) << expected;
  EXPECT_EQ(
      expected.at("structuredContent"),
      Json::parse(
          run_program("expect all_reduce --cluster '2 x dgx-h100' --sizes 1M..8M --json").out));
  EXPECT_NE(expected.at("content").at(0).at("text").get<std::string>().find("busbw"),
            std::string::npos);
  const Json ran =
      client.call("run", {{"scenario", "scenarios/small.yaml"}, {"set", {"campaign.replicas=2"}}});
  ASSERT_EQ(ran.at("isError"), false) << ran;
  EXPECT_EQ(ran.at("structuredContent").at("schema"), "windtunnel/run/1");
  const Json text =
      client.call("run", {{"scenario", read_text(WINDTUNNEL_SOURCE_DIR "/scenarios/small.yaml")},
                          {"set", "campaign.replicas=2"}});
  ASSERT_EQ(text.at("isError"), false) << text;
  EXPECT_EQ(text.at("structuredContent").at("iteration"),
            ran.at("structuredContent").at("iteration"));
  const Json compared = client.call("compare", {{"scenario", "scenarios/small.yaml"},
                                                {"set", {"campaign.replicas=2"}},
                                                {"vary", {"layout.tp=1,2"}}});
  ASSERT_EQ(compared.at("isError"), false) << compared;
  EXPECT_EQ(compared.at("structuredContent").at("points").size(), 2u);
}

TEST(McpCommand, FaultsOfTheCallerAreResults) {
  McpClient client;
  const Json missing = client.call("run", {{"scenario", "no/such.yaml"}});
  EXPECT_EQ(missing.at("isError"), true);
  EXPECT_NE(missing.at("content").at(0).at("text").get<std::string>().find("no/such.yaml"),
            std::string::npos);
  const Json misspelt =
      client.call("expect", {{"collective", "all_reduse"}, {"cluster", "2 x h1"}});
  EXPECT_EQ(misspelt.at("isError"), true);
  EXPECT_EQ(client.call("expect", Json::object()).at("isError"), true);
}

TEST(McpCommand, HostileInputEndsNothing) {
  McpClient client;
  client.send("\x01\x02 not JSON");
  EXPECT_EQ(client.receive().at("error").at("code"), -32700);
  client.send(std::string(6 << 20, 'x'));  // longer than a message may be
  EXPECT_EQ(client.receive().at("error").at("code"), -32600);
  client.send(std::string(1 << 20, '['));
  EXPECT_EQ(client.receive().at("error").at("code"), -32600);
  EXPECT_EQ(client.ask("no/such").at("error").at("code"), -32601);
  EXPECT_EQ(client.ask("ping").at("result"), Json::object());
  EXPECT_EQ(client.end(), 0);
}

// A long call does not delay other calls, and ends when it is cancelled.
TEST(McpCommand, ACallIsCancelled) {
  McpClient client;
  client.send(Json{
      {"jsonrpc", "2.0"},
      {"id", "long"},
      {"method", "tools/call"},
      {"params",
       {{"name", "run"},
        {"arguments",
         {{"scenario", "scenarios/llama3-405b.yaml"}, {"set", {"campaign.replicas=100000"}}}}}}}
                  .dump());
  EXPECT_EQ(client.ask("ping").at("result"), Json::object());
  client.send(
      R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"long"}})");
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(client.end(), 0);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
}

}  // namespace
}  // namespace windtunnel
