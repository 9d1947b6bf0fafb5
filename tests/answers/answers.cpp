#include "tests/answers/answers.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <new>
#include <sstream>
#include <string_view>

#include "models/base/error.hpp"

namespace windtunnel {
namespace {

std::string on_one_line(std::string text) {
  for (std::size_t at = 0; (at = text.find('\n', at)) != std::string::npos; at += 2) {
    text.replace(at, 1, "\\n");
  }
  return text;
}

// Returns the values of the key that `answer` has and `other` lacks, in order. A key may stand more
// than once.
std::vector<std::string> values_beyond(const AnswerLines& answer, const AnswerLines& other,
                                       const std::string& key) {
  std::vector<std::string> values;
  for (const auto& [its_key, value] : answer) {
    if (its_key == key) values.push_back(value);
  }
  for (const auto& [its_key, value] : other) {
    if (its_key != key) continue;
    if (const auto at = std::ranges::find(values, value); at != values.end()) values.erase(at);
  }
  return values;
}

void compare(const std::string& name, const AnswerLines& before, const AnswerLines& after,
             std::vector<std::string>& lines) {
  if (before == after) return;
  std::vector<std::string> keys;
  for (const AnswerLines* answer : {&before, &after}) {
    for (const auto& [key, value] : *answer) {
      if (std::ranges::find(keys, key) == keys.end()) keys.push_back(key);
    }
  }
  for (const std::string& key : keys) {
    const std::vector<std::string> was = values_beyond(before, after, key);
    const std::vector<std::string> is = values_beyond(after, before, key);
    const auto value_of = [](const std::vector<std::string>& values, std::size_t i) {
      return i < values.size() ? values[i] : "(none)";
    };
    for (std::size_t i = 0; i < std::max(was.size(), is.size()); ++i) {
      lines.push_back(
          fmt::format("{}, {}: {} -> {}", name, key, value_of(was, i), value_of(is, i)));
    }
  }
}

AnswerLines ask(const Question& question) {
  try {
    return question.ask();
  } catch (const Error& error) {
    return {{"error", error.what()}};
  }
}

bool ended_well(pid_t child) {
  int status = 0;
  return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
         WEXITSTATUS(status) == 0;
}

// Answers the question in a child process of its own, which appends the answer to the file. Each
// simulation forks, and every fork of a process that once held a large job copies many page tables:
// without one child per question the kernel would take half of the time.
bool ask_alone(const Question& question, std::FILE* file) {
  const pid_t child = fork();
  if (child != 0) return ended_well(child);
  const std::string text = answers_text({{question.name, ask(question)}});
  const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  _exit(written && std::fflush(file) == 0 ? 0 : 1);
}

std::string read_all(std::FILE* file) {
  std::rewind(file);
  std::string text;
  char buffer[1 << 16];
  while (const std::size_t bytes = std::fread(buffer, 1, sizeof buffer, file)) {
    text.append(buffer, bytes);
  }
  return text;
}

}  // namespace

std::string answers_text(const Answers& answers) {
  std::string text;
  for (const auto& [name, answer] : answers) {
    text += fmt::format("[{}]\n", name);
    for (const auto& [key, value] : answer) {
      text += fmt::format("{} = {}\n", key, on_one_line(value));
    }
  }
  return text;
}

Answers parse_answers(const std::string& text, const std::string& file) {
  Answers answers;
  AnswerLines* answer = nullptr;
  std::istringstream lines(text);
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    const std::size_t equals = line.find(" = ");
    if (line.starts_with('[') && line.ends_with(']')) {
      answer = &answers[line.substr(1, line.size() - 2)];
    } else if (answer && equals != std::string::npos) {
      answer->emplace_back(line.substr(0, equals), line.substr(equals + 3));
    } else {
      throw Error(fmt::format("{}:{}: expected '[case]' or 'key = value'", file, number));
    }
  }
  return answers;
}

std::string hash_of(const std::string& text) {
  return fmt::format("{:016x}", XXH3_64bits(text.data(), text.size()));
}

std::string hash_of_lines(const std::vector<std::string>& lines) {
  return fmt::format("{} lines, {}", lines.size(),
                     hash_of(fmt::format("{}", fmt::join(lines, "\n"))));
}

std::vector<std::string> differences(const Answers& before, const Answers& after) {
  std::vector<std::string> lines;
  for (const auto& [name, answer] : before) {
    const auto at = after.find(name);
    if (at == after.end()) {
      lines.push_back(fmt::format("{}: gone", name));
    } else {
      compare(name, answer, at->second, lines);
    }
  }
  for (const auto& [name, answer] : after) {
    if (!before.contains(name)) lines.push_back(fmt::format("{}: new", name));
  }
  return lines;
}

Answers ask_all(const std::vector<Question>& questions, int processes) {
  // The number of the next question lies in shared memory; each child takes one when it is free.
  using Next = std::atomic<std::size_t>;
  void* shared =
      mmap(nullptr, sizeof(Next), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) throw Error("no memory that children share", ExitCode::failed);
  Next& next = *new (shared) Next(0);
  std::vector<std::pair<pid_t, std::FILE*>> children;
  std::fflush(nullptr);  // else each child would write the buffered text again
  for (int own = 0; own < processes; ++own) {
    std::FILE* file = std::tmpfile();
    const pid_t child = fork();
    if (child != 0) {
      children.emplace_back(child, file);
      continue;
    }
    bool asked = true;
    for (std::size_t i = next++; asked && i < questions.size(); i = next++) {
      asked = ask_alone(questions[i], file);
    }
    _exit(asked ? 0 : 1);
  }
  Answers all;
  bool died = false;
  for (const auto& [child, file] : children) {
    died |= !ended_well(child);
    all.merge(parse_answers(read_all(file), "a child's answers"));
    std::fclose(file);
  }
  munmap(shared, sizeof(Next));
  if (died) throw Error("a child that worked out answers died", ExitCode::failed);
  return all;
}

}  // namespace windtunnel
