// windtunnel serve: a page that answers while the user moves its controls.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <memory>
#include <string_view>

#include "cli/plan/plan_options.hpp"
#include "cli/program/command.hpp"
#include "cli/program/interruption.hpp"
#include "cli/program/load_scenario.hpp"
#include "cli/program/output.hpp"
#include "cli/program/override_options.hpp"
#include "cli/serve/live_server.hpp"
#include "sim/study/plan/make_plan.hpp"

namespace windtunnel {
namespace {

struct ServeOptions {
  std::string scenario;
  std::vector<std::string> set;
  ServerOptions server;
  int threads = 0;
};

ScenarioText scenario_of(const ServeOptions& options) {
  const Overrides set = parse_overrides(options.set);
  if (options.scenario.empty()) {
    const PlanRequest request =
        request_of({.cluster = "8 x dgx-h100", .model = "llama3-8b", .tokens = "1 T"});
    return {.file = "first.yaml", .text = first_scenario(request).text, .set = set};
  }
  ScenarioText text = load_scenario(options.scenario, set).text;
  text.file = std::filesystem::absolute(text.file);
  return text;
}

// IPv6 addresses are in brackets.
std::string in_address(const std::string& host) {
  return host.find(':') == std::string::npos ? host : "[" + host + "]";
}

// Why a token is unsuitable for an address, or too easy to guess.
std::string token_fault(const std::string& token) {
  constexpr std::string_view kMarks = "._~-";
  const bool plain = std::ranges::all_of(token, [&](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           kMarks.find(c) != std::string_view::npos;
  });
  return plain && token.size() >= 8
             ? ""
             : "a token must be at least eight characters of A-Z, a-z, 0-9 and . _ ~ -";
}

ExitCode run(ServeOptions options) {
  LiveStudy study(scenario_of(options), options.threads);
  if (options.server.token.empty()) options.server.token = random_token();
  const bool everywhere = options.server.host == "0.0.0.0" || options.server.host == "::";
  const Interruption interruption;
  serve(study, options.server, Interruption::asked(), [&](int port) {
    print_result(fmt::format("http://{}:{}/?token={}\n",
                             everywhere ? "HOST" : in_address(options.server.host), port,
                             options.server.token));
    print_human(beside("Open this address in a browser; whoever has it can use the page. Ctrl-C "
                       "ends it.\n"),
                true);
  });
  return ExitCode::ok;
}

}  // namespace

Handler define_serve(const CommandLine& app) {
  auto options = std::make_shared<ServeOptions>();
  app.add_option(
      "SCENARIO", options->scenario,
      "scenario file (YAML), or the record.json of an earlier run (default: llama3-8b on "
      "8 x dgx-h100)");
  app.add_set(options->set);
  options->server.port = 8741;
  app.add_option("--port", options->server.port, "port on which the server listens; 0: a free port",
                 "PORT")
      .check(whole_in(0, 65535))
      .show_default();
  app.add_option("--host", options->server.host,
                 "address on which the server listens; by default other machines cannot reach it",
                 "ADDRESS")
      .show_default();
  app.add_option("--token", options->server.token,
                 "secret in the page's address (default: random, new each time)", "TEXT")
      .check(Check(token_fault));
  app.add_threads(options->threads, "threads of the simulation (default: all cores)");
  add_example(app, "scenarios/small.yaml");
  return [options] { return run(*options); };
}

}  // namespace windtunnel
