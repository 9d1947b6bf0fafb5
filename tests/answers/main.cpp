// answers write|check|check-fast FILE BIN, in the project's folder; BIN is the folder of the built
// programs. Exit code 1 where an answer changed. check-fast asks what the fast tests ask.
#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "models/base/error.hpp"
#include "scenarios/language/case.hpp"
#include "tests/answers/answers.hpp"

namespace windtunnel {
namespace {

constexpr int kRandomJobs = 500;
constexpr std::size_t kJobsPerFast = 4;  // one of so many is asked in the fast tests
constexpr int kProcesses = 2;
constexpr std::size_t kShownDifferences = 60;

// Long questions come first, so that no process still works on one when the others have finished.
std::vector<Question> all_questions(const Built& built) {
  std::vector<Question> questions;
  for (const auto& more : {message_questions(built), page_questions(built), scenario_questions("."),
                           command_questions(built), example_questions(built),
                           campaign_questions("."), job_questions(kRandomJobs)}) {
    questions.insert(questions.end(), more.begin(), more.end());
  }
  return questions;
}

// Names what the fast tests leave to the long ones: the longest commands, most random jobs, and
// pages of docs/, whose commands the fast tests of tests/docs run and compare.
std::set<std::string> left_to_long(const Built& built) {
  std::set<std::string> names;
  for (const auto& some : {page_questions(built), long_command_questions(built)}) {
    for (const Question& each : some) names.insert(each.name);
  }
  const std::vector<Question> jobs = job_questions(kRandomJobs);
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (i % kJobsPerFast != 0) names.insert(jobs[i].name);
  }
  return names;
}

int check(const std::string& file, const std::set<std::string>& left, const Answers& now) {
  std::ifstream in(file);
  if (!in) throw Error(fmt::format("cannot read {}; ./dev answers writes it", file));
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  Answers before = parse_answers(text, file);
  for (const std::string& name : left) before.erase(name);
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
  std::vector<Question> questions = all_questions(built);
  std::set<std::string> left;
  if (what == "check-fast") left = left_to_long(built);
  std::erase_if(questions, [&](const Question& each) { return left.contains(each.name); });
  // The library is read once here: each question is asked in a child that begins as this process.
  resolve_case(read_scenario("scenarios/small.yaml"));
  const Answers now = ask_all(questions, kProcesses);
  if (what != "write") return check(file, left, now);
  std::ofstream(file) << answers_text(now);
  fmt::print("{}: {} cases\n", file, now.size());
  return 0;
}

}  // namespace
}  // namespace windtunnel

int main(int count, char** words) {
  if (count != 4) {
    fmt::print(stderr, "answers write|check|check-fast FILE BIN\n");
    return 2;
  }
  try {
    return windtunnel::run(words[1], words[2], words[3]);
  } catch (const windtunnel::Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 2;
  }
}
