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
  const std::string commit = program_commit();
  return commit.empty() ? program_version() : fmt::format("{} ({})", program_version(), commit);
}

}  // namespace windtunnel
