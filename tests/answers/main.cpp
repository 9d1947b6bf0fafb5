// answers write|check|check-others FILE BIN, in the project's folder; BIN is the folder of the
// built programs. Exit code 1 where an answer changed. check-others leaves out pages of docs/,
// whose commands tests/docs runs and compares.
#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "models/base/error.hpp"
#include "scenarios/language/case.hpp"
#include "tests/answers/answers.hpp"

namespace windtunnel {
namespace {

constexpr int kRandomJobs = 500;
constexpr int kProcesses = 2;
constexpr std::size_t kShownDifferences = 60;

// Long questions come first, so that no process still works on one when the others have finished.
Answers all_answers(const Built& built, const std::vector<Question>& pages) {
  std::vector<Question> questions;
  for (const auto& more :
       {message_questions(built), pages, scenario_questions("."), command_questions(built),
        example_questions(built), campaign_questions("."), job_questions(kRandomJobs)}) {
    questions.insert(questions.end(), more.begin(), more.end());
  }
  // The library is read once here: each question is asked in a child that begins as this process.
  resolve_case(read_scenario("scenarios/small.yaml"));
  return ask_all(questions, kProcesses);
}

int check(const std::string& file, const std::vector<Question>& others, const Answers& now) {
  std::ifstream in(file);
  if (!in) throw Error(fmt::format("cannot read {}; ./dev answers writes it", file));
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  Answers before = parse_answers(text, file);
  for (const Question& other : others) before.erase(other.name);
  const std::vector<std::string> lines = differences(before, now);
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

int run(const std::string& what, const std::string& file, const std::string& bin) {
  const Built built{std::filesystem::canonical(".").string(),
                    std::filesystem::canonical(bin).string()};
  std::vector<Question> pages = page_questions(built), others;
  if (what == "check-others") std::swap(pages, others);
  const Answers now = all_answers(built, pages);
  if (what != "write") return check(file, others, now);
  std::ofstream(file) << answers_text(now);
  fmt::print("{}: {} cases\n", file, now.size());
  return 0;
}

}  // namespace
}  // namespace windtunnel

int main(int count, char** words) {
  if (count != 4) {
    fmt::print(stderr, "answers write|check|check-others FILE BIN\n");
    return 2;
  }
  try {
    return windtunnel::run(words[1], words[2], words[3]);
  } catch (const windtunnel::Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 2;
  }
}
