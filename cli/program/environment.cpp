#include "cli/program/environment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace windtunnel {

std::string environment_help() {
  std::size_t widest = 0;
  for (const EnvironmentVariable& each : kEnvironment) {
    widest = std::max(widest, std::string_view(each.name).size());
  }
  std::string text = kEnvironmentTitle;
  for (const EnvironmentVariable& each : kEnvironment) {
    text += fmt::format("  {:<{}}  {}\n", each.name, widest, each.help);
  }
  return text;
}

}  // namespace windtunnel
