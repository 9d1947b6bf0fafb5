// windtunnel schema: the JSON Schema of scenarios, for editors and checks.
#include "scenarios/schema.hpp"

#include "cli/command.hpp"
#include "cli/output.hpp"

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
