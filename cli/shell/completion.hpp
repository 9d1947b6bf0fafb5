// What may stand in place of the word that a user types. The program itself answers (its hidden
// command `__complete`); the scripts of bash, zsh and fish ask it and offer what it says.
#pragma once

#include <string>
#include <vector>

#include "cli/shell/command_tree.hpp"

namespace windtunnel {

struct Candidate {
  std::string word;
  std::string help;  // one line, or nothing
};

struct Completion {
  // Begins the typed word and stays as it is: "--set=schedule=1f1b,". Candidates and files follow.
  std::string prefix;
  // All words that fit the place; the shell keeps those that match what is typed behind the prefix.
  std::vector<Candidate> candidates;
  ValueKind files = ValueKind::text;  // scenario, file or folder: the shell offers those too
};

// `words` are what is typed behind the program's name, up to the cursor; the last is completed.
Completion completion_of(const CommandPage& program, const std::vector<std::string>& words);

// The script for "bash", "zsh" or "fish", which asks `program` at each tab.
std::string completion_script(const std::string& shell, const std::string& program);

}  // namespace windtunnel
