// answers write|check FILE PROGRAM, in the project's folder. Exit code 1 where an answer changed.
#include <fmt/format.h>

#include <fstream>
#include <iterator>
#include <string>

#include "models/base/error.hpp"
#include "tests/answers/answers.hpp"

namespace windtunnel {
namespace {

constexpr int kRandomJobs = 500;
constexpr int kProcesses = 2;
constexpr std::size_t kShownDifferences = 60;

Answers all_answers(const std::string& program) {
  std::vector<Question> questions = scenario_questions(".");
  for (const auto& more : {random_questions(kRandomJobs), command_questions(".", program)}) {
    questions.insert(questions.end(), more.begin(), more.end());
  }
  return ask_all(questions, kProcesses);
}

int check(const std::string& file, const Answers& now) {
  std::ifstream in(file);
  if (!in) throw Error(fmt::format("cannot read {}; ./dev answers writes it", file));
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  const std::vector<std::string> lines = differences(parse_answers(text, file), now);
  for (std::size_t i = 0; i < std::min(lines.size(), kShownDifferences); ++i) {
    fmt::print("{}\n", lines[i]);
  }
  if (lines.size() > kShownDifferences) {
    fmt::print("... and {} more\n", lines.size() - kShownDifferences);
  }
  fmt::print("{} of {} cases asked, {} differences\n", now.size(), now.size(), lines.size());
  if (!lines.empty()) fmt::print("where the change is meant: ./dev answers, and commit {}\n", file);
  return lines.empty() ? 0 : 1;
}

int run(const std::string& what, const std::string& file, const std::string& program) {
  const Answers now = all_answers(program);
  if (what == "check") return check(file, now);
  std::ofstream(file) << answers_text(now);
  fmt::print("{}: {} cases\n", file, now.size());
  return 0;
}

}  // namespace
}  // namespace windtunnel

int main(int count, char** words) {
  if (count != 4) {
    fmt::print(stderr, "answers write|check FILE PROGRAM\n");
    return 2;
  }
  try {
    return windtunnel::run(words[1], words[2], words[3]);
  } catch (const windtunnel::Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 2;
  }
}
