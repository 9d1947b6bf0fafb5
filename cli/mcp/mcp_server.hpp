// A server of the Model Context Protocol (JSON-RPC 2.0, one message per line), independent of the
// transport. It speaks the revision 2026-07-28, in which every request carries its version, and the
// older ones, which begin with `initialize`; a client may mix both.
//
// The specification is modelcontextprotocol.io/specification (basic, server/discover,
// server/tools).
#pragma once

#include <atomic>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "cli/mcp/mcp_tools.hpp"
#include "report/text/json_text.hpp"

namespace windtunnel {

inline constexpr std::size_t kLongestMessage = 4 << 20;  // bytes
inline constexpr int kDeepestMessage = 64;               // nesting of brackets
inline constexpr int kMostCalls = 4;                     // in parallel

struct ToolOutcome {
  bool failed = false;
  std::string text;         // for people
  Json document = nullptr;  // null: none
};
// Runs a tool, and ends early once `cancelled`. Throws Error for arguments that the tool does not
// have.
using CallsTool = std::function<ToolOutcome(const McpTool& tool, const Json& arguments,
                                            const std::atomic<bool>& cancelled)>;
// Sends a line, given without its newline. The server never makes two of these calls at once.
using SendsLine = std::function<void(const std::string& line)>;

class McpServer {
 public:
  McpServer(std::vector<McpTool> tools, CallsTool call, SendsLine send);
  McpServer(const McpServer&) = delete;
  McpServer& operator=(const McpServer&) = delete;
  ~McpServer();  // waits for running calls

  // Answers any line with a result or an error; a notification gets no answer. Calls of tools are
  // answered later, from threads of their own.
  void receive(std::string_view line);
  // Reports a line longer than kLongestMessage, which was discarded.
  void receive_too_long();

 private:
  struct Request;
  struct Call;

  void answer(const Request& request);
  std::optional<Json> result_of(const Request& request);
  void call_tool(const Request& request);
  void cancel(const Json& params);
  void send_result(const Request& request, Json result);
  void send_error(const Json& id, int code, const std::string& message, Json data = nullptr);
  void send(const Json& message);
  void forget_finished();

  const std::vector<McpTool> tools_;
  const CallsTool call_;
  const SendsLine send_;
  std::mutex sending_;
  std::list<std::unique_ptr<Call>> calls_;
};

}  // namespace windtunnel
