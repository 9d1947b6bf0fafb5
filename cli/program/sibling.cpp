#include "cli/program/sibling.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "cli/program/shell_line.hpp"
#include "models/base/error.hpp"

namespace windtunnel {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSibling = "windtunnel-validate";

// Follows a link to this program: the sibling is next to the program itself.
fs::path sibling() {
  return fs::read_symlink("/proc/self/exe").parent_path() / kSibling;
}

}  // namespace

void become_sibling(const std::string& command, char** argv) {
  const fs::path path = sibling();
  execv(path.c_str(), argv);
  throw Error(
      fmt::format("'{}' is a command of {}, which cannot be run: {}: {}; it must be in the folder "
                  "of this program: ./dev build builds both, and packages contain both",
                  command, kSibling, path.string(), std::strerror(errno)));
}

std::string sibling_manual(const std::string& command) {
  return output_of(fmt::format("{} __man {} 2>/dev/null", shell_word(sibling().string()), command))
      .value_or("");
}

}  // namespace windtunnel
