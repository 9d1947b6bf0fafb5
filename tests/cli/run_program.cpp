#include "tests/cli/run_program.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "cli/program/sibling.hpp"

namespace windtunnel {

namespace fs = std::filesystem;

std::string read_text(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

std::string scratch_folder(const std::string& name) {
  const fs::path folder =
      fs::path(::testing::TempDir()) / fmt::format("windtunnel-cli-{}-{}", getpid(), name);
  fs::remove_all(folder);
  fs::create_directories(folder);
  return folder.string();
}

ProgramResult run_program(const std::string& arguments) {
  return run_program_of(WINDTUNNEL_PROGRAM, arguments);
}

ProgramResult run_program_of(const std::string& program, const std::string& arguments) {
  const std::string folder = scratch_folder("streams");
  // The program's own redirections come first, so that `arguments` may hold further ones.
  const std::string command =
      fmt::format("cd '{}' && '{}' >'{}/out' 2>'{}/err' </dev/null {}", WINDTUNNEL_SOURCE_DIR,
                  program, folder, folder, arguments);
  const int status = std::system(command.c_str());
  ProgramResult result;
  result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  result.out = read_text(folder + "/out");
  result.err = read_text(folder + "/err");
  fs::remove_all(folder);
  return result;
}

bool is_built(const std::string& arguments) {
  const std::string command = arguments.substr(0, arguments.find(' '));
  return WINDTUNNEL_VALIDATE || std::ranges::none_of(kSiblingCommands, [&](const auto& sibling) {
           return command == sibling.name;
         });
}

}  // namespace windtunnel
