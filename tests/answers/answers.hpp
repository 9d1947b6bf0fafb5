// Every answer of the program that should stay as it is while the code is rebuilt, as a table of
// text: case, key, value. `./dev answers` writes the table, `./dev answers --check` compares.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace windtunnel {

// Key and value in the order in which the program gives them. Neither holds a line break.
using Answer = std::vector<std::pair<std::string, std::string>>;
using Answers = std::map<std::string, Answer>;  // by the name of the case

// A case and the function that works it out.
struct Question {
  std::string name;
  std::function<Answer()> ask;
};

// "[case]" on a line, then "key = value" lines.
std::string answers_text(const Answers& answers);
// Throws Error where a line has neither form.
Answers parse_answers(const std::string& text, const std::string& file);

// One line for each difference: "case, key: before -> after". A case or a key that only one side
// has says so.
std::vector<std::string> differences(const Answers& before, const Answers& after);

// All questions, asked in `processes` child processes, which each take every `processes`-th one. An
// Error that a question throws is its answer. Throws Error when a child dies.
Answers ask_all(const std::vector<Question>& questions, int processes);

// What is asked: shipped scenarios, random jobs, and commands of the program.
std::vector<Question> scenario_questions(const std::string& root);
std::vector<Question> random_questions(int jobs);
std::vector<Question> command_questions(const std::string& root, const std::string& program);

}  // namespace windtunnel
