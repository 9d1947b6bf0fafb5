// windtunnel plan: from a cluster, a model and a number of tokens to a training that one can start.
#include <fmt/format.h>

#include <memory>

#include "cli/plan/plan_arguments.hpp"
#include "cli/program/command.hpp"
#include "cli/program/output.hpp"
#include "cli/program/override_options.hpp"
#include "models/base/units.hpp"
#include "report/console/console.hpp"
#include "report/plan/plan_summary.hpp"
#include "scenarios/language/library/facts/planning.hpp"
#include "sim/study/plan/make_plan.hpp"

namespace windtunnel {
namespace {

struct PlanCommand {
  std::string cluster, model, tokens;
  std::string framework, batch, price, out;
  int sequence = 0;
  double headroom_percent = -1;
  std::vector<std::string> set;
  int threads = 0;
  bool json = false;
};

double quantity_of(const char* option, const std::string& text, Dimension dimension) {
  try {
    const double value = parse_quantity(text, dimension);
    if (value > 0) return value;
  } catch (const Error& error) {
    throw Error(Location{option}, error.what());
  }
  throw Error(Location{option}, fmt::format("must be above 0, not {}", text));
}

PlanRequest request_of(const PlanCommand& command) {
  const ClusterArgument cluster = parse_cluster(command.cluster);
  PlanRequest request;
  request.model = model_value(command.model);
  request.nodes = cluster.nodes;
  request.node = cluster.node;
  request.tokens = quantity_of("--tokens", command.tokens, Dimension::count);
  if (!command.framework.empty()) request.framework = command.framework;
  if (command.sequence > 0) request.sequence = command.sequence;
  if (!command.batch.empty()) {
    request.batch_tokens = quantity_of("--batch", command.batch, Dimension::count);
  }
  if (!command.price.empty()) {
    const double usd_per_s = quantity_of("--price", command.price, Dimension::usd_per_gpu_s);
    request.price_usd_per_gpu_h = usd_per_s * kHour_s;
  }
  if (command.headroom_percent >= 0) request.headroom = command.headroom_percent / 100;
  request.set = parse_overrides(command.set);
  request.threads = command.threads;
  return request;
}

std::string next_command(const PlanCommand& command) {
  if (!command.out.empty()) {
    return fmt::format("windtunnel run {} --out out", shell_word(command.out));
  }
  return "add --out best.yaml to this command, then: windtunnel run best.yaml --out out";
}

ExitCode run(const PlanCommand& command) {
  PlanRequest request = request_of(command);
  PlanReport plan;
  {
    Progress progress;
    request.progress = [&](const std::string& step) { progress.show(step); };
    plan = make_plan(request);
  }
  if (!command.out.empty()) write_file(command.out, plan.scenario);
  if (command.json) print_result(json_text(plan_document(plan)));
  print_human(summary_text(summarise_plan(plan, next_command(command)), human_style(command.json)),
              command.json);
  return ExitCode::ok;
}

std::vector<std::string> framework_names() {
  std::vector<std::string> names;
  for (const Framework& framework : frameworks()) names.push_back(framework.name);
  return names;
}

}  // namespace

Handler define_plan(CLI::App& app) {
  auto command = std::make_shared<PlanCommand>();
  app.add_option("--cluster", command->cluster,
                 "machine: '64 x dgx-h100' (nodes), '512 x h100' (GPUs); windtunnel list nodes")
      ->type_name("MACHINE")
      ->required();
  app.add_option("--model", command->model,
                 "a name (windtunnel list models), dimensions in braces as a scenario has them, or "
                 "a file: config.json of Hugging Face, a scenario")
      ->type_name("MODEL")
      ->required();
  app.add_option("--tokens", command->tokens, "to train on, e.g. '2 T'")
      ->type_name("COUNT")
      ->required();
  app.add_option("--framework", command->framework,
                 "whose schedules and shardings are taken (default megatron)")
      ->type_name("NAME")
      ->check(one_of("framework", framework_names()));
  app.add_option("--batch", command->batch, "tokens of a step (default: as models of its size)")
      ->type_name("COUNT");
  app.add_option("--sequence", command->sequence, "tokens of a sequence (default: at most 8192)")
      ->type_name("TOKENS")
      ->check(CLI::Range(1, 1 << 24));
  app.add_option("--price", command->price, "e.g. '2 USD per gpu-hour' (default: by GPU)")
      ->type_name("PRICE");
  app.add_option("--headroom", command->headroom_percent,
                 "percent of a GPU's memory that stay free (default 10)")
      ->type_name("PERCENT")
      ->check(number_in(0, 90));
  app.add_option("--set", command->set, "set a further value of the scenario; may be repeated")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  app.add_option("--out", command->out, "write the best plan as a scenario, for windtunnel run")
      ->type_name("FILE");
  app.add_flag("--json", command->json, "print one JSON document on stdout, text on stderr");
  app.add_option("-j", command->threads, "threads (default: all cores); the result is the same")
      ->type_name("N")
      ->check(CLI::Range(1, 4096));
  return [command] { return run(*command); };
}

}  // namespace windtunnel
