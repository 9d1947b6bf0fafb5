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

// Holds keys and values in the order in which the program gives them, one on each line. A key may
// occur more than once, for example for the messages of a test; its values are then compared as a
// set.
using AnswerLines = std::vector<std::pair<std::string, std::string>>;
using Answers = std::map<std::string, AnswerLines>;  // by the name of the case

// A case and the function that works it out.
struct Question {
  std::string name;
  std::function<AnswerLines()> ask;
};

// Writes "[case]" on a line, then lines "key = value".
std::string answers_text(const Answers& answers);
// Throws Error where a line has neither form.
Answers parse_answers(const std::string& text, const std::string& file);

// 16 hexadecimal digits.
std::string hash_of(const std::string& text);
// Returns the number of lines and the hash of them.
std::string hash_of_lines(const std::vector<std::string>& lines);

// One line for each difference: "case, key: before -> after". A case or a key that only one side
// has says so.
std::vector<std::string> differences(const Answers& before, const Answers& after);

// Asks all questions in `processes` child processes; each takes the next question when it is done.
// An Error that a question throws is its answer. Throws Error when a child dies.
Answers ask_all(const std::vector<Question>& questions, int processes);

// Questions are about shipped scenarios, `jobs` jobs composed of any keys, and each setting of a
// campaign.
std::vector<Question> scenario_questions(const std::string& root);
std::vector<Question> job_questions(int jobs);
std::vector<Question> campaign_questions(const std::string& root);

// Returns what built programs answer; `bin` is their folder.
struct Built {
  std::string root;  // of the project's files
  std::string bin;
};
// Commands of the program; the examples in C++; pages of docs/ that commands write or print; the
// messages that tests of wrong input meet.
std::vector<Question> command_questions(const Built& built);
std::vector<Question> long_command_questions(
    const Built& built);  // those of them that take longest
std::vector<Question> example_questions(const Built& built);
std::vector<Question> page_questions(const Built& built);
std::vector<Question> message_questions(const Built& built);

}  // namespace windtunnel
