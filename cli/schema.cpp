// windtunnel schema: the JSON Schema of scenarios, for editors and checks.
#include "cli/command.hpp"
#include "cli/output.hpp"
#include "scenarios/case.hpp"

namespace windtunnel {

Handler define_schema(CLI::App&) {
  return [] {
    std::string schema = scenario_schema();
    if (!schema.ends_with('\n')) schema += '\n';
    print_result(schema);
    return ExitCode::ok;
  };
}

}  // namespace windtunnel
