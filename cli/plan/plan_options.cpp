#include "cli/plan/plan_options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <filesystem>
#include <iterator>

#include "cli/plan/plan_arguments.hpp"
#include "cli/program/command.hpp"
#include "cli/program/command_line.hpp"
#include "cli/program/load_scenario.hpp"
#include "cli/program/override_options.hpp"
#include "models/base/printable.hpp"
#include "models/base/quantity_range.hpp"
#include "models/base/units.hpp"
#include "scenarios/language/library/facts/training_software.hpp"
#include "scenarios/language/text/document.hpp"

namespace windtunnel {
namespace {

double quantity_of(const char* option, const std::string& text, Dimension dimension) {
  try {
    const double value = parse_in_range(text, dimension);
    if (value > 0) return value;
  } catch (const Error& error) {
    throw Error(Location{option}, error.what());
  }
  throw Error(Location{option}, fmt::format("must be above 0, not {}", excerpt(text)));
}

// Accepts only digits: 8k could mean 8000 or 8192.
int sequence_of(const std::string& text) {
  constexpr int kMost = 1 << 24;
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  if (whole && value >= 1 && value <= kMost) return value;
  throw Error(Location{"--sequence"},
              fmt::format("expected a number of tokens from 1 to {} in digits, as in 8192, not "
                          "'{}'",
                          kMost, excerpt(text)));
}

// Parses "800 K USD", "1.2 M" or "800000".
double usd_of_budget(std::string text) {
  if (text.ends_with("USD")) text.resize(text.size() - 3);
  text.resize(text.find_last_not_of(' ') + 1);
  return quantity_of("--budget", text, Dimension::count);
}

// Parses "90" or "90 d".
double days_of(const std::string& text) {
  constexpr double kLeast = 0.01, kMost = 36500;
  const bool plain = text.find_first_not_of("0123456789.") == std::string::npos;
  const double days =
      quantity_of("--days", plain ? text + " d" : text, Dimension::seconds) / kDay_s;
  if (days >= kLeast && days <= kMost) return days;
  throw Error(Location{"--days"},
              fmt::format("must be from {} to {} d, not {}", kLeast, kMost, excerpt(text)));
}

std::vector<std::string> framework_names() {
  std::vector<std::string> names;
  for (const Framework& framework : frameworks()) names.push_back(framework.name);
  return names;
}

// Whether a plan decides the part itself, or has options for it.
bool is_decided(const std::string& part) {
  static constexpr std::string_view kDecided[] = {
      "name", "model",     "cluster",  "layout",   "schedule", "batch",   "recompute",
      "job",  "snapshots", "recovery", "campaign", "software", "failures"};
  return std::ranges::find(kDecided, part) != std::end(kDecided);
}

// Adds the entries of a map below `path`, except these keys.
void set_others(const DocumentNode* map, const std::string& path,
                const std::vector<std::string>& without, Overrides& set) {
  if (map == nullptr || map->kind != DocumentNode::Kind::map) return;
  for (const DocumentEntry& entry : map->entries) {
    const bool left_out = std::ranges::find(without, entry.key) != without.end();
    if (!left_out) set.emplace_back(path + "." + entry.key, flow_text(entry.value));
  }
}

// The software that a scenario names; empty: none.
std::string software_name(const DocumentNode& scenario) {
  const DocumentNode* software = scenario.value_of("software");
  if (software == nullptr) return "";
  if (software->kind == DocumentNode::Kind::scalar) return software->text;
  const DocumentNode* base = software->value_of("base");
  return base == nullptr ? "" : base->text;
}

// Takes the node from --set cluster.node=NODE, with which other commands complete a file that names
// no machine.
void take_node(PlanOptions& options) {
  const Overrides set = parse_overrides(options.set);
  const auto node = std::ranges::find(set, "cluster.node", &Overrides::value_type::first);
  if (!options.cluster.empty() || node == set.end() || !names_node_alone(node->second)) return;
  if (node->second.starts_with('{')) return;  // own keys, which plan refuses
  options.cluster = node->second;
  options.set.erase(options.set.begin() + (node - set.begin()));
}

// Overrides of the machine and the model that options state; the file may omit them.
Overrides said_by_options(const PlanOptions& options) {
  Overrides set = cluster_beside_file(options.cluster);
  if (!options.model.empty()) set.emplace_back("model", model_value(options.model));
  return set;
}

// Fills in options that the user did not give from the file. Returns the file's other settings, as
// far as a plan does not decide them.
Overrides take_file(PlanOptions& options) {
  take_node(options);
  const LoadedScenario loaded = load_scenario(options.file, said_by_options(options), true);
  const Job job = resolve_unprepared(loaded.text).job;
  // Files that the scenario names are next to it, but the plan may be written to another folder.
  const DocumentNode read = parse_document(loaded.text.text, loaded.text.file);
  const std::filesystem::path file = loaded.text.file;
  const DocumentNode scenario = seen_from_here(read, std::filesystem::absolute(file).parent_path());
  const auto fill = [](std::string& option, const std::string& value) {
    if (option.empty()) option = value;
  };
  Overrides set;
  const bool node_alone = names_node_alone(options.cluster);
  if (options.cluster.empty() || node_alone) {
    if (!job.cluster.pools.empty()) {
      throw Error(Location{options.file},
                  "has several kinds of nodes (pools), which a plan does not support");
    }
    options.cluster = fmt::format("{} x {}", job.cluster.nodes, job.cluster.node.name);
    const DocumentNode* cluster = scenario.value_of("cluster");
    set_others(cluster, "cluster", {"node", "nodes"}, set);
    // Keys of the file's node are not those of another node.
    if (!node_alone) {
      set_others(cluster == nullptr ? nullptr : cluster->value_of("node"), "cluster.node", {"base"},
                 set);
    }
  }
  if (const DocumentNode* model = scenario.value_of("model"); model != nullptr) {
    const bool named = model->kind == DocumentNode::Kind::scalar;
    fill(options.model, named ? seen_from_here(*read.value_of("model"), file.parent_path()).text
                              : flow_text(*model));
  }
  fill(options.framework, software_name(scenario));
  fill(options.sequence, fmt::to_string(job.batch.sequence));
  fill(options.batch, fmt::to_string(std::int64_t{job.batch.global} * job.batch.sequence));
  if (job.tokens > 0) fill(options.tokens, fmt::format("{:.0f}", job.tokens));
  set_others(scenario.value_of("software"), "software", {"base"}, set);
  for (const DocumentEntry& entry : scenario.entries) {
    if (!is_decided(entry.key)) set.emplace_back(entry.key, flow_text(entry.value));
  }
  return set;
}

// "25 %" as "25".
std::string without_percent_sign(std::string text) {
  text.resize(text.find_last_not_of(" %") + 1);
  return text;
}

// Appends "(default: 8 x dgx-h100)".
std::string with_default(const std::string& help, const std::string& value) {
  return value.empty() ? help : fmt::format("{} (default: {})", help, value);
}

}  // namespace

void add_plan_options(CLI::App& app, PlanOptions& options) {
  app.add_option("--cluster", options.cluster,
                 with_default("machine: '64 x dgx-h100' (nodes), '512 x h100' (GPUs); windtunnel "
                              "list nodes",
                              options.cluster))
      ->type_name("MACHINE");
  app.add_option("--model", options.model,
                 with_default("a name (windtunnel list models), dimensions in braces as in a "
                              "scenario, or a file: a config.json of Hugging Face, a scenario",
                              options.model))
      ->type_name("MODEL");
  app.add_option("--tokens", options.tokens,
                 with_default("tokens to train on, e.g. '2 T'", options.tokens))
      ->type_name("COUNT");
  app.add_option("--framework", options.framework,
                 "the training software, with its schedules, shardings and rules (default: the "
                 "first in the library that runs on the GPU)")
      ->type_name("NAME")
      ->check(one_of("framework", framework_names()));
  app.add_option("--batch", options.batch,
                 "tokens of a step (default: usual for models of this size)")
      ->type_name("COUNT");
  app.add_option("--sequence", options.sequence, "tokens of a sequence (default: at most 8192)")
      ->type_name("TOKENS");
  app.add_option("--price", options.price,
                 "price of renting a GPU, e.g. '2 USD per gpu-hour' (default: depends on the GPU)")
      ->type_name("PRICE");
  app.add_option("--headroom", options.headroom_percent,
                 "percent of a GPU's memory to keep free (default 10)")
      ->type_name("PERCENT")
      ->transform(without_percent_sign)
      ->check(number_in(0, 90));
  app.add_option("--set", options.set, "set another key of the scenario; may be repeated")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  CommandLine(app).add_threads(options.threads,
                               "threads (default: all cores); the result does not depend on it");
}

void add_deadline_options(CLI::App& app, PlanOptions& options) {
  app.add_option("--days", options.days,
                 "a deadline in days: shows how likely it is met, which number of nodes meets it, "
                 "and what renting the cluster until then costs")
      ->type_name("DAYS");
  app.add_option("--budget", options.budget,
                 "a budget, with the same answers as for a deadline, e.g. '800 K USD'")
      ->type_name("USD");
}

void add_plan_file(CLI::App& app, PlanOptions& options) {
  app.add_option("FILE", options.file,
                 "the configuration of a training program, or a scenario, for machine, model, "
                 "tokens, sequence, batch and software; options override it")
      ->type_name("SCENARIO");
}

PlanRequest request_of(PlanOptions options) {
  Overrides of_file;
  const bool own_model = !options.model.empty();
  if (!options.file.empty()) of_file = take_file(options);
  for (const auto& [option, text] : {std::pair{"--cluster", &options.cluster},
                                     {"--model", &options.model},
                                     {"--tokens", &options.tokens}}) {
    if (!text->empty()) continue;
    throw Error(
        options.file.empty()
            ? fmt::format("{} is required; or give the configuration of a training program, or a "
                          "scenario, that contains it",
                          option)
            : fmt::format("{} is required, because {} does not state it", option, options.file));
  }
  const ClusterArgument cluster = parse_cluster(options.cluster);
  PlanRequest request;
  request.model = model_value(options.model);
  if (request.model.starts_with('{')) {
    request.model_called =
        own_model ? "own model" : std::filesystem::path(options.file).stem().string();
  }
  request.nodes = cluster.nodes;
  request.node = cluster.node;
  request.tokens = quantity_of("--tokens", options.tokens, Dimension::count);
  if (request.tokens < 1e6) {
    throw Error(Location{"--tokens"},
                fmt::format("{} are fewer than one step has; is a unit missing, as in '2 T'?",
                            options.tokens));
  }
  if (!options.framework.empty()) request.framework = options.framework;
  if (!options.sequence.empty()) request.sequence = sequence_of(options.sequence);
  if (!options.batch.empty()) {
    request.batch_tokens = quantity_of("--batch", options.batch, Dimension::count);
  }
  if (!options.price.empty()) {
    const double usd_per_s = quantity_of("--price", options.price, Dimension::usd_per_gpu_s);
    request.price_usd_per_gpu_h = usd_per_s * kHour_s;
  }
  if (!options.days.empty()) request.deadline_days = days_of(options.days);
  if (!options.budget.empty()) request.budget_usd = usd_of_budget(options.budget);
  if (options.headroom_percent >= 0) request.headroom = options.headroom_percent / 100;
  request.set = part_of_node(cluster);
  request.set.insert(request.set.end(), of_file.begin(), of_file.end());
  std::ranges::move(parse_overrides(options.set), std::back_inserter(request.set));
  request.threads = options.threads;
  return request;
}

}  // namespace windtunnel
