#include "models/base/version.hpp"

#include <fmt/format.h>

#include <windtunnel_version.hpp>  // made by every build: cmake/Version.cmake

namespace windtunnel {

const char* program_version() {
  return WINDTUNNEL_VERSION;
}

const char* program_commit() {
  return WINDTUNNEL_COMMIT;
}

std::string program_build() {
  return build_text(program_version(), program_commit());
}

std::string build_text(const std::string& version, const std::string& commit) {
  return commit.empty() ? version : fmt::format("{} ({})", version, commit);
}

}  // namespace windtunnel
