// Delivers an answer to the console and in each requested format. The table in answer_output.cpp
// has a row for each format that all answers have.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "cli/program/command_line.hpp"
#include "report/text/answer.hpp"

namespace windtunnel {

struct AnswerOutput {
  bool json = false;                              // document to stdout, text to stderr
  std::map<std::string, std::string> files = {};  // [option, such as "--page"] path
  // Other files that the command writes: path and text.
  std::vector<std::pair<std::string, std::string>> beside = {};
  std::size_t width = 0;  // of a line on the console; 0: as wide as the terminal

  bool has_files() const;  // whether any format was requested
};

// Adds an option for each format that is written to a file. `left_out` names an option not to add:
// a command that writes a folder puts its page there. `output` must outlive `app`.
void add_answer_files(const CommandLine& app, AnswerOutput& output,
                      const std::string& left_out = "");
// Adds the options of add_answer_files() and --json.
void add_answer_output(const CommandLine& app, AnswerOutput& output,
                       const std::string& left_out = "");

// Throws Error if the folder of a file is missing. Commands call it before their work.
void check_folders(const AnswerOutput& output);

// Writes the files, then prints the document and the text followed by `after`. An answer that
// shares its document with other answers has none. If a file cannot be written, the answer is still
// printed, and the first such Error is thrown at the end.
void hand_out(const Answer& answer, const AnswerOutput& output, const std::string& after = "");

}  // namespace windtunnel
