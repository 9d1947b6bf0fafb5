// The commands of windtunnel that measure and judge; they print windtunnel's name.
#include <array>
#include <functional>
#include <string>

#include "cli/program/program.hpp"
#include "cli/program/sibling.hpp"
#include "validate/commands/validate_commands.hpp"

namespace windtunnel {
namespace {

std::vector<Command> commands() {
  // In the order of kSiblingCommands, which has the names.
  const auto definitions = std::to_array<std::function<Handler(const CommandLine&)>>(
      {define_execute, define_validate, define_calibrate});
  static_assert(std::tuple_size_v<decltype(definitions)> == kSiblingCommands.size());
  std::vector<Command> all;
  for (std::size_t i = 0; i < definitions.size(); ++i) {
    all.push_back({kSiblingCommands[i].name, kSiblingCommands[i].help, definitions[i]});
  }
  return all;
}

}  // namespace
}  // namespace windtunnel

int main(int argc, char** argv) {
  return windtunnel::run_program(
      {"windtunnel",
       "Measures and judges what windtunnel predicts. windtunnel calls this program for these\n"
       "commands.\n",
       std::string(windtunnel::kExitCodes) + ".\n", windtunnel::commands()},
      argc, argv);
}
