// windtunnel mcp: offers commands as tools over standard input and output (Model Context Protocol).
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <cerrno>
#include <filesystem>
#include <random>
#include <string>

#include "cli/mcp/mcp_server.hpp"
#include "cli/mcp/tool_process.hpp"
#include "cli/program/command.hpp"
#include "cli/program/output.hpp"

namespace windtunnel {
namespace {

namespace fs = std::filesystem;

// A folder for the texts of one call, deleted afterwards.
class ScratchFolder {
 public:
  ScratchFolder() {
    std::string path = (fs::temp_directory_path() / "windtunnel-mcp-XXXXXX").string();
    if (mkdtemp(path.data()) == nullptr) {
      throw Error(fmt::format("{}: cannot make a folder there", path), ExitCode::failed);
    }
    path_ = path;
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

ToolOutcome call_command(const McpTool& tool, const Json& arguments,
                         const std::atomic<bool>& cancelled) {
  const ScratchFolder folder;
  const ToolCommand command = command_of(tool, arguments, folder.path());
  for (const auto& [path, text] : command.files) write_file(path, text);
  const ProcessOutput output = run_self(command.words, cancelled);
  ToolOutcome outcome;
  outcome.failed = output.exit_code != 0;
  outcome.text = output.err;
  if (!outcome.failed && !tool.document) outcome.text = output.out;
  if (!outcome.failed && tool.document) outcome.document = Json::parse(output.out, nullptr, false);
  if (outcome.document.is_discarded()) outcome.document = nullptr;
  if (outcome.text.empty()) outcome.text = fmt::format("exit code {}", output.exit_code);
  return outcome;
}

// Only protocol messages go to standard output. If the client stops reading, SIGPIPE ends the
// program.
void send_line(const std::string& line) {
  const std::string whole = line + "\n";
  for (std::size_t at = 0; at < whole.size();) {
    const ssize_t written = write(STDOUT_FILENO, whole.data() + at, whole.size() - at);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    at += static_cast<std::size_t>(written);
  }
}

// Reads lines until standard input ends; keeps only a limited part of a line that is too long.
void receive_lines(McpServer& server) {
  std::array<char, 65536> buffer;
  std::string line;
  bool too_long = false;
  const auto end_line = [&] {
    if (too_long) {
      server.receive_too_long();
    } else {
      server.receive(line);
    }
    line.clear();
    too_long = false;
  };
  while (true) {
    const ssize_t count = read(STDIN_FILENO, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    for (std::string_view rest(buffer.data(), static_cast<std::size_t>(count)); !rest.empty();) {
      const std::size_t end = rest.find('\n');
      const std::string_view part = rest.substr(0, end);
      if (line.size() + part.size() > kLongestMessage) too_long = true;
      if (!too_long) line += part;
      if (end == std::string_view::npos) break;
      end_line();
      rest.remove_prefix(end + 1);
    }
  }
  if (!line.empty() || too_long) end_line();
}

}  // namespace

Handler define_mcp(CLI::App& app) {
  add_example(app, "");
  return [&app] {
    McpServer server(mcp_tools(command_tree(*app.get_parent())), call_command, send_line);
    receive_lines(server);
    return ExitCode::ok;
  };
}

}  // namespace windtunnel
