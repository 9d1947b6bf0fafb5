// What built programs print: commands, examples, pages, and the messages of tests.
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "models/base/error.hpp"
#include "tests/answers/answers.hpp"
#include "tests/docs/printed_commands.hpp"
#include "tests/docs/reader.hpp"

namespace windtunnel {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kShownLines = 400;  // of more lines the hash is kept
constexpr std::size_t kShownOfMessage = 300;

// A list in a file, one item a line; '#' begins a comment.
std::vector<std::string> read_list(const fs::path& path) {
  std::ifstream in(path);
  if (!in) throw Error(fmt::format("cannot read {}", path.string()));
  std::vector<std::string> items;
  for (std::string line; std::getline(in, line);) {
    if (!line.empty() && line.front() != '#') items.push_back(line);
  }
  return items;
}

// What a command prints, line by line, and its exit code.
AnswerLines command_answer(const std::string& command) {
  std::FILE* pipe = popen(("{ " + command + "; } 2>&1").c_str(), "r");
  if (pipe == nullptr) throw Error(fmt::format("cannot run {}", command), ExitCode::failed);
  std::string text;
  char buffer[4096];
  while (const std::size_t bytes = std::fread(buffer, 1, sizeof buffer, pipe)) {
    text.append(buffer, bytes);
  }
  const int status = pclose(pipe);
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  AnswerLines answer = {{"exit", fmt::format("{}", WEXITSTATUS(status))}};
  if (lines.size() > kShownLines) return {answer[0], {"output", hash_of_lines(lines)}};
  for (std::size_t i = 0; i < lines.size(); ++i) {
    answer.emplace_back(fmt::format("line {}", i + 1), lines[i]);
  }
  return answer;
}

// Lines "$ windtunnel ARGUMENTS => CODE" of a file that shows commands with what they print.
std::vector<std::string> shown_commands(const fs::path& path) {
  const std::string prefix = "$ windtunnel ";
  std::vector<std::string> commands;
  std::istringstream lines(text_of(path));
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(prefix)) continue;
    commands.push_back(line.substr(prefix.size(), line.rfind(" => ") - prefix.size()));
  }
  return commands;
}

fs::path folder_for(const std::string& purpose) {
  return fs::temp_directory_path() / fmt::format("windtunnel-answers-{}-{}", getpid(), purpose);
}

// The commands that the page prints, in order, and the page itself where a command writes it.
AnswerLines page_answer(const Built& built, const std::string& page) {
  const std::string text = text_of(fs::path(built.root) / page);
  const PageReader reader(folder_for("page"), built.root, fs::path(built.bin) / "windtunnel");
  AnswerLines answer;
  for (const PrintedCommand& each : printed_commands(text)) {
    answer.emplace_back("$ " + each.command, hash_of_lines(reader.run(each.command).first));
  }
  if (const std::string command = made_by(text); !command.empty()) {
    reader.run(command + " --quiet");
    answer.emplace_back("page", hash_of(reader.written(page)));
  }
  return answer;
}

// Replaces paths below the folder by their last part.
std::string without_folder(std::string text, const std::string& folder) {
  for (std::size_t at; (at = text.find(folder)) != std::string::npos;) {
    const std::size_t end = std::min(text.find_first_of(" :;,'\")", at), text.size());
    const std::size_t slash = text.rfind('/', end - 1);
    text.erase(at, std::max(folder.size(), slash + 1 - at));
  }
  return text;
}

// The messages that the tests of a program meet, under the names of the tests.
AnswerLines message_answer(const Built& built, const std::string& program,
                           const std::string& filter) {
  const fs::path folder = folder_for("messages");
  fs::create_directories(folder);
  const fs::path file = folder / "messages.txt";
  const std::string command = fmt::format(
      "cd {0} && TMPDIR={0} TEST_TMPDIR={0}/ WINDTUNNEL_TELL_MESSAGES={1} {2} --gtest_filter='{3}' "
      ">/dev/null 2>&1",
      folder.string(), file.string(), (fs::path(built.bin) / program).string(), filter);
  // Failed tests do not matter here: they are reported where the tests themselves are run.
  if (!WIFEXITED(std::system(command.c_str()))) {
    throw Error(fmt::format("{} did not end", program), ExitCode::failed);
  }
  AnswerLines answer;
  std::istringstream lines(text_of(file));
  for (std::string line; std::getline(lines, line);) {
    const std::size_t equals = line.find(" = ");
    std::string message = line.substr(equals + 3);
    for (const std::string& each : {folder.string(), built.root + "/"}) {
      message = without_folder(std::move(message), each);
    }
    if (message.size() > kShownOfMessage) {
      message = message.substr(0, kShownOfMessage) + "... " + hash_of(message);
    }
    answer.emplace_back(line.substr(0, equals), std::move(message));
  }
  fs::remove_all(folder);
  if (answer.empty()) throw Error(fmt::format("{} met no message", program), ExitCode::failed);
  return answer;
}

Question command_question(const Built& built, const std::string& arguments) {
  return {"windtunnel " + arguments,
          [=] { return command_answer(fmt::format("{}/windtunnel {}", built.bin, arguments)); }};
}

}  // namespace

std::vector<Question> command_questions(const Built& built) {
  std::vector<std::string> all = read_list(fs::path(built.root) / "tests/answers/commands.txt");
  const auto more = shown_commands(fs::path(built.root) / "tests/cli/golden/messages.txt");
  all.insert(all.end(), more.begin(), more.end());
  std::erase(all, "--version");  // names the commit
  std::vector<Question> questions = long_command_questions(built);
  for (const std::string& arguments : all) questions.push_back(command_question(built, arguments));
  return questions;
}

std::vector<Question> long_command_questions(const Built& built) {
  std::vector<Question> questions;
  for (const std::string& arguments :
       read_list(fs::path(built.root) / "tests/answers/long_commands.txt")) {
    questions.push_back(command_question(built, arguments));
  }
  return questions;
}

std::vector<Question> example_questions(const Built& built) {
  std::vector<Question> questions;
  for (const fs::directory_entry& entry :
       fs::directory_iterator(fs::path(built.root) / "examples")) {
    if (entry.path().extension() != ".cpp") continue;
    const std::string program = "example_" + entry.path().stem().string();
    questions.push_back({"examples/" + entry.path().filename().string(),
                         [=] { return command_answer(fmt::format("{}/{}", built.bin, program)); }});
  }
  std::ranges::sort(questions, {}, &Question::name);
  return questions;
}

std::vector<Question> page_questions(const Built& built) {
  std::vector<Question> questions;
  for (const std::string& page : pages_of(built.root)) {
    const std::string text = text_of(fs::path(built.root) / page);
    if (printed_commands(text).empty() && made_by(text).empty()) continue;
    questions.push_back({page, [=] { return page_answer(built, page); }});
  }
  return questions;
}

std::vector<Question> message_questions(const Built& built) {
  std::vector<Question> questions;
  for (const std::string& line :
       read_list(fs::path(built.root) / "tests/answers/message_tests.txt")) {
    const std::size_t blank = line.find(' ');
    const std::string program = line.substr(0, blank);
    const std::string filter = line.substr(blank + 1);
    questions.push_back({program, [=] { return message_answer(built, program, filter); }});
  }
  return questions;
}

}  // namespace windtunnel
