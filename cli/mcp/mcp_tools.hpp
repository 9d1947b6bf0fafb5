// Offers commands of the program as tools of the Model Context Protocol. The schema of a tool
// follows from the options of its command, and the arguments of a call become the command line.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "cli/shell/command_tree.hpp"
#include "report/text/json_text.hpp"

namespace windtunnel {

struct McpTool {
  std::string name;  // of the command
  std::string description;
  CommandPage page;
  bool document = true;  // the answer is the document of --json; else the text for people

  Json definition() const;  // for tools/list
};

// Returns the commands offered as tools; the table in mcp_tools.cpp lists them.
std::vector<McpTool> mcp_tools(const CommandPage& program);

// The command line of a call.
struct ToolCommand {
  std::vector<std::string> words;  // after the program's name
  // [path] A text given in place of a file, to be written there before the command starts.
  std::vector<std::pair<std::string, std::string>> files = {};
};

// Texts go into `folder`. Throws Error, which the caller can act on, for an argument that the tool
// does not have (with the nearest name), one of another type, or a missing one.
ToolCommand command_of(const McpTool& tool, const Json& arguments, const std::string& folder);

}  // namespace windtunnel
