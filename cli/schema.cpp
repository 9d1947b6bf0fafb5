// windtunnel schema: prints the JSON Schema of scenarios, for editors and checks.
#include "scenarios/language/fields/schema.hpp"

#include "cli/program/command.hpp"
#include "cli/program/output.hpp"

namespace windtunnel {

Handler define_schema(const CommandLine& app) {
  add_example(app, "> windtunnel.schema.json");
  return [] {
    std::string schema = scenario_schema();
    if (!schema.ends_with('\n')) schema += '\n';
    print_result(schema);
    return ExitCode::ok;
  };
}

}  // namespace windtunnel
