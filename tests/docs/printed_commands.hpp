// Finds commands in a page of the documentation and compares the output that the page prints with
// today's.
#pragma once

#include <string>
#include <vector>

namespace windtunnel {

struct PrintedCommand {
  int line = 0;                      // of the page, from 1
  std::string command;               // behind "$ "
  std::vector<std::string> printed;  // "..." stands for any number of lines
};

// Reads commands from fenced blocks: a line that begins with "$ " (with lines that a backslash
// continues) and the output up to the next such line or the end of the block.
std::vector<PrintedCommand> printed_commands(const std::string& page);

// Reads commands that the page names without their output: lines "windtunnel ..." without "$ " in
// blocks, in fences or four blanks deep, with the lines that continue them after a backslash.
std::vector<PrintedCommand> named_commands(const std::string& page);

// Returns whether the lines equal the printed ones, where "..." stands for any text.
bool as_printed(const std::vector<std::string>& printed, const std::vector<std::string>& lines);

// Returns the page with new outputs of its commands, in their order. An output that was shortened
// by "..." stays shortened, with as many lines before and after the dots.
std::string with_outputs(const std::string& page,
                         const std::vector<std::vector<std::string>>& outputs);

}  // namespace windtunnel
