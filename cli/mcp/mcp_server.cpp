#include "cli/mcp/mcp_server.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <system_error>

#include "models/base/error.hpp"
#include "models/base/version.hpp"

namespace windtunnel {
namespace {

constexpr std::string_view kStateless = "2026-07-28";
// Versions that begin with `initialize`, the newest first.
constexpr std::array<std::string_view, 4> kWithHandshake = {"2025-11-25", "2025-06-18",
                                                            "2025-03-26", "2024-11-05"};
constexpr const char* kVersionKey = "io.modelcontextprotocol/protocolVersion";
constexpr const char* kCapabilitiesKey = "io.modelcontextprotocol/clientCapabilities";
constexpr const char* kServerKey = "io.modelcontextprotocol/serverInfo";

// Codes of JSON-RPC 2.0; the last one is the protocol's own.
constexpr int kNoJson = -32700, kNoRequest = -32600, kNoMethod = -32601, kBadParams = -32602,
              kInternal = -32603, kNoSuchVersion = -32022;

constexpr const char* kInstructions =
    "Predicts training jobs on clusters of GPUs: `plan` makes a plan from a machine, a model and a "
    "number of tokens; `run`, `compare` and `optimise` work on a scenario (YAML; `plan` returns "
    "one), and `set` changes its keys; `expect` predicts a collective and compares it with "
    "nccl-tests; `diagnose` explains a run's log; `import` reads a training program's "
    "configuration; `list` has the names of GPUs, nodes, models and schedules. All figures state "
    "their intervals.";

Json server_info() {
  return {{"name", "windtunnel"}, {"version", program_version()}};
}

Json supported_versions() {
  Json versions = Json::array({kStateless});
  for (const std::string_view version : kWithHandshake) versions.push_back(version);
  return versions;
}

// Whether the text is nested deeper than any message of the protocol; ignores brackets in strings.
bool too_deep(std::string_view text) {
  int depth = 0;
  bool in_text = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_text) {
      if (c == '\\') ++i;
      if (c == '"') in_text = false;
      continue;
    }
    if (c == '"') in_text = true;
    if (c == '{' || c == '[') ++depth;
    if (c == '}' || c == ']') --depth;
    if (depth > kDeepestMessage) return true;
  }
  return false;
}

bool is_id(const Json& id) {
  return id.is_string() || id.is_number_integer();
}

// The member, or null.
const Json& member(const Json& object, const char* name) {
  static const Json nothing = nullptr;
  if (!object.is_object()) return nothing;
  const auto found = object.find(name);
  return found == object.end() ? nothing : *found;
}

// This is a fault of a request, with the code of JSON-RPC.
struct Refusal {
  int code = kBadParams;
  std::string message;
  Json data = nullptr;
};

}  // namespace

struct McpServer::Request {
  Json id;
  std::string method;
  Json params;
  bool stateless = false;  // the request carries its version
};

struct McpServer::Call {
  Json id;
  std::atomic<bool> cancelled = false;
  std::atomic<bool> finished = false;
  std::jthread thread;
};

McpServer::McpServer(std::vector<McpTool> tools, CallsTool call, SendsLine send)
    : tools_(std::move(tools)), call_(std::move(call)), send_(std::move(send)) {}

McpServer::~McpServer() {
  calls_.clear();  // joins the threads
}

void McpServer::send(const Json& message) {
  // Names of files need not be UTF-8.
  const std::string line = message.dump(-1, ' ', false, Json::error_handler_t::replace);
  const std::scoped_lock lock(sending_);
  send_(line);
}

void McpServer::send_error(const Json& id, int code, const std::string& message, Json data) {
  Json error = {{"code", code}, {"message", message}};
  if (!data.is_null()) error["data"] = std::move(data);
  send({{"jsonrpc", "2.0"}, {"id", id}, {"error", error}});
}

void McpServer::send_result(const Request& request, Json result) {
  if (request.stateless) {
    result["resultType"] = "complete";
    result["_meta"][kServerKey] = server_info();
  }
  send({{"jsonrpc", "2.0"}, {"id", request.id}, {"result", std::move(result)}});
}

void McpServer::receive_too_long() {
  send_error(nullptr, kNoRequest,
             fmt::format("a message must be one line of at most {} bytes", kLongestMessage));
}

void McpServer::receive(std::string_view line) {
  if (line.find_first_not_of(" \t\r") == std::string_view::npos) return;
  if (line.size() > kLongestMessage) return receive_too_long();
  if (too_deep(line)) {
    return send_error(nullptr, kNoRequest,
                      fmt::format("the message is nested deeper than {} levels", kDeepestMessage));
  }
  Json message = Json::parse(line, nullptr, false);
  if (message.is_discarded()) return send_error(nullptr, kNoJson, "not JSON");
  if (!message.is_object()) {
    return send_error(nullptr, kNoRequest,
                      message.is_array()
                          ? "send one message per line; the protocol does not support batches"
                          : "a message must be an object");
  }
  const Json& id = member(message, "id");
  const Json& method = member(message, "method");
  // Ignores responses: this server sends no requests.
  if (method.is_null() && (message.contains("result") || message.contains("error"))) return;
  const Json shown_id = is_id(id) ? id : Json();
  if (member(message, "jsonrpc") != "2.0") {
    return send_error(shown_id, kNoRequest, "jsonrpc must be \"2.0\"");
  }
  if (!method.is_string()) return send_error(shown_id, kNoRequest, "method must be a string");
  const Json& params = member(message, "params");
  if (!message.contains("id")) {
    if (method == "notifications/cancelled") cancel(params);
    return;
  }
  if (!is_id(id)) return send_error(nullptr, kNoRequest, "id must be a string or a whole number");
  if (!params.is_null() && !params.is_object()) {
    return send_error(id, kBadParams, "params must be an object");
  }
  answer({id, method.get<std::string>(), params.is_null() ? Json::object() : params, false});
}

namespace {

// Whether a request carries its version. Throws Refusal if it does so incorrectly.
bool carries_version(const Json& params) {
  const Json& meta = member(params, "_meta");
  const Json& version = member(meta, kVersionKey);
  if (version.is_null()) return false;
  if (!version.is_string())
    throw Refusal{kBadParams, fmt::format("{} must be a string", kVersionKey)};
  const Json supported = supported_versions();
  if (std::ranges::find(supported, version) == supported.end()) {
    throw Refusal{kNoSuchVersion,
                  "Unsupported protocol version",
                  {{"supported", supported}, {"requested", version}}};
  }
  if (version != kStateless) return false;
  if (!member(meta, kCapabilitiesKey).is_object()) {
    throw Refusal{kBadParams, fmt::format("_meta has no {}", kCapabilitiesKey)};
  }
  return true;
}

Json initialized(const Json& params) {
  const Json& asked = member(params, "protocolVersion");
  if (!asked.is_string()) throw Refusal{kBadParams, "protocolVersion must be a string"};
  std::string_view version = kWithHandshake.front();  // the client may refuse this version
  for (const std::string_view each : kWithHandshake) {
    if (asked == each) version = each;
  }
  return {{"protocolVersion", version},
          {"capabilities", {{"tools", Json::object()}}},
          {"serverInfo", server_info()},
          {"instructions", kInstructions}};
}

Json discovered() {
  return {{"supportedVersions", supported_versions()},
          {"capabilities", {{"tools", Json::object()}}},
          {"instructions", kInstructions},
          {"ttlMs", 3600000},
          {"cacheScope", "public"}};
}

}  // namespace

std::optional<Json> McpServer::result_of(const Request& request) {
  if (request.method == "tools/list") {
    Json tools = Json::array();
    for (const McpTool& tool : tools_) tools.push_back(tool.definition());
    Json result = {{"tools", std::move(tools)}};
    if (request.stateless) {
      result["ttlMs"] = 3600000;
      result["cacheScope"] = "public";
    }
    return result;
  }
  if (request.stateless) {
    return request.method == "server/discover" ? std::optional(discovered()) : std::nullopt;
  }
  if (request.method == "initialize") return initialized(request.params);
  if (request.method == "ping") return Json::object();
  if (request.method == "server/discover") {
    throw Refusal{kBadParams, fmt::format("_meta has no {}", kVersionKey)};
  }
  return std::nullopt;
}

void McpServer::answer(const Request& given) {
  Request request = given;
  try {
    request.stateless = carries_version(request.params);
    if (request.method == "tools/call") return call_tool(request);
    if (std::optional<Json> result = result_of(request)) {
      return send_result(request, *std::move(result));
    }
    send_error(request.id, kNoMethod, fmt::format("no method '{}'", request.method.substr(0, 100)));
  } catch (const Refusal& refusal) {
    send_error(request.id, refusal.code, refusal.message, refusal.data);
  } catch (const std::exception& error) {
    send_error(request.id, kInternal, error.what());
  }
}

namespace {

Json call_result(const ToolOutcome& outcome) {
  Json result = {{"content", Json::array({{{"type", "text"}, {"text", outcome.text}}})}};
  if (!outcome.document.is_null()) result["structuredContent"] = outcome.document;
  result["isError"] = outcome.failed;
  return result;
}

}  // namespace

void McpServer::call_tool(const Request& request) {
  const Json& name = member(request.params, "name");
  if (!name.is_string()) throw Refusal{kBadParams, "name must be a string"};
  const auto tool = std::ranges::find(tools_, name.get<std::string>(), &McpTool::name);
  if (tool == tools_.end()) {
    std::vector<std::string> known;
    for (const McpTool& each : tools_) known.push_back(each.name);
    throw Refusal{kBadParams, unknown_name("tool", name.get<std::string>().substr(0, 100), known)};
  }
  Json arguments = member(request.params, "arguments");
  if (arguments.is_null()) arguments = Json::object();
  if (!arguments.is_object()) throw Refusal{kBadParams, "arguments must be an object"};
  forget_finished();
  if (calls_.size() >= kMostCalls) {
    return send_result(
        request,
        call_result(
            {true, fmt::format("{} calls are already running; try again when one has been answered",
                               kMostCalls)}));
  }
  Call& call = *calls_.emplace_back(std::make_unique<Call>());
  call.id = request.id;
  const auto work = [this, &call, request, called = &*tool, arguments] {
    ToolOutcome outcome;
    try {
      outcome = call_(*called, arguments, call.cancelled);
    } catch (const std::exception& error) {
      outcome = {true, error.what()};
    }
    // A cancelled request is not answered.
    if (!call.cancelled) send_result(request, call_result(outcome));
    call.finished = true;
  };
  try {
    call.thread = std::jthread(work);
  } catch (const std::system_error&) {  // no thread is available: the call fails
    calls_.pop_back();
    throw;
  }
}

void McpServer::cancel(const Json& params) {
  const Json& id = member(params, "requestId");
  for (const auto& call : calls_) {
    if (call->id == id) call->cancelled = true;
  }
}

void McpServer::forget_finished() {
  std::erase_if(calls_, [](const auto& call) { return call->finished.load(); });
}

}  // namespace windtunnel
