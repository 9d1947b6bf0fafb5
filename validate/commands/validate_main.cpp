// The commands of windtunnel that measure and judge, which call themselves by its name.
#include <map>
#include <string_view>

#include "cli/program/program.hpp"
#include "cli/program/sibling.hpp"
#include "validate/commands/validate_commands.hpp"

namespace windtunnel {
namespace {

std::vector<Command> commands() {
  const std::map<std::string_view, std::function<Handler(const CommandLine&)>> definitions = {
      {"execute", define_execute}, {"validate", define_validate}, {"calibrate", define_calibrate}};
  std::vector<Command> all;
  for (const auto& [name, help] : kSiblingCommands) {
    all.push_back({name, help, definitions.at(name)});
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
       "Exit codes: 0 ok, 1 the run or validation failed, 2 usage or scenario error.\n",
       windtunnel::commands()},
      argc, argv);
}
