// Completes the word that a user types. The program itself answers (its hidden command
// `__complete`); scripts for bash, zsh and fish ask it and offer its answers.
#pragma once

#include <string>
#include <vector>

#include "cli/shell/command_tree.hpp"

namespace windtunnel {

struct Candidate {
  std::string word;
  std::string help;  // one line, or empty
};

struct Completion {
  // The unchanged beginning of the word: "--set=schedule=1f1b,". Candidates and files follow it.
  std::string prefix;
  // All words possible at this place; the shell filters them by what is typed after the prefix.
  std::vector<Candidate> candidates;
  ValueKind files = ValueKind::text;  // scenario, file or folder: the shell also offers such files
};

// `words` are typed after the program's name, up to the cursor; completes the last one.
Completion completion_of(const CommandPage& program, const std::vector<std::string>& words);

// The script for "bash", "zsh" or "fish"; it asks `program` at each tab.
std::string completion_script(const std::string& shell, const std::string& program);

}  // namespace windtunnel
