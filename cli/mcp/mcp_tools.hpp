// Commands of the program as tools of the Model Context Protocol: the schema of each from the
// options that it declares, and the arguments of a call as its command line.
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
  bool document = true;  // it answers with the document of --json; else with the text for people

  Json definition() const;  // as tools/list has it
};

// The commands that are offered as tools; a new one is a row of the table in mcp_tools.cpp.
std::vector<McpTool> mcp_tools(const CommandPage& program);

// How a command is started for a call.
struct ToolCommand {
  std::vector<std::string> words;  // behind the program's name
  // Texts that were given in the place of files: written to these paths before it starts.
  std::vector<std::pair<std::string, std::string>> files = {};
};

// `folder`: where texts go. Throws Error, which a caller can act on, for an argument that the tool
// has not (with the nearest name), one of another type, and one that is missing.
ToolCommand command_of(const McpTool& tool, const Json& arguments, const std::string& folder);

}  // namespace windtunnel
