// How an answer reaches people and programs: on the console, and in each format that is asked for.
// A format of all answers is a row of the table in answer_output.cpp.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "cli/program/command_line.hpp"
#include "report/text/answer.hpp"

namespace windtunnel {

struct AnswerOutput {
  bool json = false;                              // the document goes to stdout, text to stderr
  std::map<std::string, std::string> files = {};  // by option, as "--page"
  // What else the command writes: a file and its text.
  std::vector<std::pair<std::string, std::string>> beside = {};
  std::size_t width = 0;  // of a line on the console; 0: the terminal's

  bool has_files() const;  // some format was asked for
};

// Adds an option for each format that goes to a file. `left_out` names one that is not added: a
// command that writes a folder has its page there. `output` has to outlive `app`.
void add_answer_files(const CommandLine& app, AnswerOutput& output,
                      const std::string& left_out = "");
// Adds these options and --json.
void add_answer_output(const CommandLine& app, AnswerOutput& output,
                       const std::string& left_out = "");

// Throws Error where the folder of a file is missing: before the work.
void check_folders(const AnswerOutput& output);

// Writes the files, then prints the document and the text with `after` below it. An answer without
// a document is one of several that have one together. A file that cannot be written takes the
// answer from nobody: the first such Error is thrown last.
void hand_out(const Answer& answer, const AnswerOutput& output, const std::string& after = "");

}  // namespace windtunnel
