#include "scenarios/language/imports/launch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "scenarios/language/configs/megatron_arguments.hpp"
#include "scenarios/language/imports/configuration_table.hpp"
#include "scenarios/language/imports/import.hpp"
#include "scenarios/language/text/fields.hpp"

namespace windtunnel {
namespace {

// The last word of a setting's path.
std::string_view last_word(std::string_view path) {
  return path.substr(path.rfind('.') + 1);
}

const ConfigurationTable& table_written_as(const std::string& program) {
  std::vector<std::string> known;
  for (const ConfigurationTable& table : configuration_tables()) {
    if (table.writes.as == program && !program.empty()) return table;
    if (!table.writes.as.empty()) known.push_back(table.writes.as);
  }
  throw Error(unknown_name("program to launch", program, known));
}

// The value as programs write it: whole numbers without unit, other values as in the scenario.
std::string plain_value(const ResolvedValue& value) {
  const bool flag = value.value == "true" || value.value == "false";
  return value.number && !flag ? fmt::format("{}", *value.number) : value.value;
}

// The statements of a job, under the names that rows use: keys of the scenario, quantities that
// follow from several keys (".nodes"), arguments of Megatron-LM about the model ("--num-layers").
class SaidByJob {
 public:
  explicit SaidByJob(const Case& the_case) {
    for (const ResolvedValue& value : the_case.values) add_key(value);
    add_quantities(the_case.job);
    for (const auto& [name, value] : megatron_settings_of(the_case.job.model)) {
      said_["--" + name] = value;
    }
    // Megatron-LM refuses sequences longer than the number of positions.
    said_["--max_position_embeddings"] =
        fmt::to_string(std::max(the_case.job.model.sequence, the_case.job.batch.sequence));
  }

  // Nullptr: the job does not state it.
  const std::string* find(const std::string& name) const {
    const auto found = said_.find(name.starts_with("--") ? "--" + setting_name(name) : name);
    return found == said_.end() ? nullptr : &found->second;
  }
  // If products have a lower precision, everything else is in bf16.
  bool is(const std::string& key, const std::string& value) const {
    if (key == "precision" && value == "bf16" && find(".low") != nullptr) return true;
    const std::string* said = find(key);
    return said != nullptr && *said == value;
  }

 private:
  // Adds the value under each of its names: "schedule.name" is also "schedule", "recompute" also
  // "recompute.modules".
  void add_key(const ResolvedValue& value) {
    if (value.is_default && value.number == 0.0) return;  // the program's own default applies
    const std::string text = plain_value(value);
    said_[value.key] = text;
    const std::size_t dot = value.key.rfind('.');
    if (dot != std::string::npos) {
      const Field* above = find_field(value.key.substr(0, dot));
      const bool short_form = above != nullptr && above->shorthand == value.key.substr(dot + 1);
      if (short_form) said_.emplace(value.key.substr(0, dot), text);
    }
    if (find_field(value.key + ".modules") != nullptr) said_[value.key + ".modules"] = text;
  }

  void add_number(const std::string& name, std::int64_t value) {
    said_[name] = fmt::to_string(value);
  }

  void add_quantities(const Job& job) {
    const Layout& layout = job.layout;
    const int gpus = job.cluster.gpus();
    add_number(".nodes", job.cluster.nodes);
    if (job.tokens > 0 && job.batch.sequence > 0) {
      add_number(".samples", static_cast<std::int64_t>(std::ceil(job.tokens / job.batch.sequence)));
    }
    add_number(".gpus", gpus);
    add_number(".gpus_per_node", job.cluster.node.gpus);
    const int replicas = std::max(1, gpus / (layout.tp * layout.pp * layout.cp));
    const std::int64_t of_replica = job.batch.global / replicas;
    const bool even = job.batch.global % replicas == 0 && of_replica % job.batch.micro == 0;
    if (even) {
      add_number(".accumulation", of_replica / job.batch.micro);
      add_number(".replica_batch", layout.pp > 1 ? of_replica : job.batch.micro);
      add_number(".pipeline_micro", job.batch.micro);
    }
    // Sharding over all replicas is the default and is not written.
    const bool all = layout.shard_ranks == 0 || layout.shard_ranks >= replicas * layout.cp;
    if (all) said_.erase("layout.shard_ranks");
    if (const int sharded = layout.shard_ranks / layout.cp; sharded > 0 && sharded < replicas) {
      add_number(".shard_ranks", sharded);
      add_number(".copies", replicas / sharded);
    }
    // One chunk per stage means no interleaving, and programs then refuse the setting.
    if (layout.vpp == 1) said_.erase("layout.vpp");
    const int chunks = layout.pp * layout.vpp;
    if (layout.vpp > 1 && job.model.layers % chunks == 0) {
      add_number(".layers_per_chunk", job.model.layers / chunks);
    }
    const std::string& model = job.model.name;
    const std::size_t dash = model.find('-');
    said_[".model"] = model.substr(0, dash);
    if (dash != std::string::npos) {
      std::string size = model.substr(dash + 1);
      std::ranges::transform(size, size.begin(), [](unsigned char c) { return std::toupper(c); });
      said_[".model_size"] = size;
    }
    const std::string precision(name_of(job.precision));
    if (precision == "fp8" || precision == "nvfp4") said_[".low"] = precision;
    if (precision == "mxfp8") {
      said_[".low"] = "fp8";
      said_[".low_recipe"] = precision;
    }
  }

  std::map<std::string, std::string> said_;
};

// A setting to write, with the keys that it expresses.
struct WrittenSetting {
  std::string path, value;
  std::vector<std::string> says;
  bool is_text = false;  // true: a text, even if it looks like a number
};

// If the case of a row applies to the job, returns the setting with its value.
std::optional<WrittenSetting> case_of(const WrittenName& written, const std::string& value,
                                      const std::vector<MeantKey>& meant, const SaidByJob& job) {
  WrittenSetting setting{.path = written.path, .value = value, .says = {}};
  const bool as_list = written.any == "[]";
  if (value == "any") {
    setting.value = as_list ? "" : written.any;
    setting.is_text = !setting.value.empty();
  }
  for (const auto& [key, is] : meant) {
    const std::string plain = key.substr(key.starts_with("!") ? 1 : 0);
    const std::string* said = job.find(plain);
    if (said == nullptr) return {};
    // If the row gives the key no value, the setting's value is the key's: it must equal the case's
    // value, unless the case is "any".
    if (is.empty() ? value != "any" && *said != value : !job.is(plain, is)) return {};
    if (is.empty()) {
      setting.value = *said;
      setting.is_text = false;
    }
    setting.says.push_back(plain);
  }
  if (as_list && value != "any") setting.value = fmt::format("[\"{}\"]", setting.value);
  if (meant.empty() || setting.value.empty()) return {};
  return setting;
}

// The setting at the path for this job; nothing: it is not needed, or cannot be expressed.
std::optional<WrittenSetting> written_setting(const ConfigurationTable& table,
                                              const WrittenName& written, const SaidByJob& job) {
  const std::string name(last_word(written.path));
  if (std::ranges::find(table.model_from, name) != table.model_from.end()) {
    if (const std::string* said = job.find("--" + name)) {
      return WrittenSetting{written.path, *said, {"--" + name}};
    }
  }
  const bool of_job = written.any.starts_with('.') || written.any.starts_with("--");
  if (const std::string* said = of_job ? job.find(written.any) : nullptr) {
    return WrittenSetting{written.path, *said, {written.any}};
  }
  const MeantSetting* row = row_of(table, {written.path, "", {}});
  if (row == nullptr) return {};
  for (const auto& [value, meant] : row->cases) {
    if (auto setting = case_of(written, value, meant, job)) return setting;
  }
  return {};
}

// All settings that the job needs; each key is expressed once.
std::vector<WrittenSetting> written_settings(const ConfigurationTable& table,
                                             const SaidByJob& job) {
  std::vector<WrittenSetting> settings;
  std::set<std::string> said;
  for (const WrittenName& written : table.writes.settings) {
    std::optional<WrittenSetting> setting = written_setting(table, written, job);
    if (!setting) continue;
    const bool known = std::ranges::all_of(
        setting->says, [&](const std::string& key) { return said.contains(key); });
    if (known) continue;
    said.insert(setting->says.begin(), setting->says.end());
    settings.push_back(*std::move(setting));
  }
  const auto is_on = [&](const std::string& flag) {
    const auto found = std::ranges::find(settings, flag, &WrittenSetting::path);
    return found != settings.end() && found->value == "true";
  };
  for (const auto& [flag, others] : table.writes.beside) {
    if (std::ranges::all_of(others, is_on)) settings.push_back({flag, "true", {}});
  }
  return settings;
}

// --- Forms ---

bool is_plain(const std::string& value) {
  const bool word = value == "true" || value == "false";
  return word || (!value.empty() && value.find_first_not_of("0123456789.-+e") == value.npos);
}

std::string dashed(std::string name) {
  std::ranges::replace(name, '_', '-');
  return name;
}

// Adds quotes if a shell would not read the value as one word.
std::string shell_value(const std::string& value) {
  const bool plain = std::ranges::all_of(value, [](unsigned char c) {
    return std::isalnum(c) != 0 ||
           std::string_view("._,/=:-").find(static_cast<char>(c)) != std::string_view::npos;
  });
  if (plain) return value;
  std::string quoted = "'";
  for (const char c : value) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

// Writes "torchrun --nnodes 4 program \" and one argument per line, without flags that are off.
std::string script_text(const ConfigurationTable& table,
                        const std::vector<WrittenSetting>& settings) {
  std::string launcher = table.writes.command, rest, program = table.writes.program;
  for (const WrittenSetting& setting : settings) {
    if (setting.value == "false") continue;
    for (const auto& [with, other] : table.writes.program_with) {
      if (setting.path == with) program = other;
    }
    std::string argument = " --" + dashed(setting.path);
    if (setting.value != "true") argument += " " + shell_value(setting.value);
    const bool of_launcher =
        std::ranges::find(table.writes.launcher, setting.path) != table.writes.launcher.end();
    (of_launcher ? launcher : rest) += of_launcher ? argument : " \\\n   " + argument;
  }
  return fmt::format("#!/bin/bash\n{} {}{}\n", launcher, program, rest);
}

using Tree = nlohmann::ordered_json;

Tree tree_of(const std::vector<WrittenSetting>& settings) {
  Tree tree = Tree::object();
  for (const WrittenSetting& setting : settings) {
    Tree* at = &tree;
    std::string_view path = setting.path;
    for (std::size_t dot = path.find('.'); dot != path.npos; dot = path.find('.')) {
      at = &(*at)[std::string(path.substr(0, dot))];
      path.remove_prefix(dot + 1);
    }
    const bool json =
        !setting.is_text && (is_plain(setting.value) || setting.value.starts_with("[\""));
    Tree value = json ? Tree::parse(setting.value, nullptr, false) : Tree();
    (*at)[std::string(path)] =
        value.is_discarded() || value.is_null() ? Tree(setting.value) : value;
  }
  return tree;
}

// Writes one section per map of the tree: "[training]" in TOML, "training:" in YAML.
std::string sections_text(const Tree& tree, bool toml) {
  std::string top, text;
  const auto line = [&](const std::string& name, const Tree& value) {
    return fmt::format("{}{} {}\n", name, toml ? " =" : ":", value.dump());
  };
  for (const auto& [name, section] : tree.items()) {
    if (!section.is_object()) {
      top += line(name, section);
      continue;
    }
    text += fmt::format(fmt::runtime(toml ? "\n[{}]\n" : "{}:\n"), name);
    for (const auto& [key, value] : section.items()) {
      text += (toml ? "" : "  ") + line(key, value);
    }
  }
  return top + text;
}

struct LaunchForm {
  std::string_view form, file;
  std::string (*text)(const ConfigurationTable&, const std::vector<WrittenSetting>&);
};

constexpr LaunchForm kLaunchForms[] = {
    {"script", "launch.sh", script_text},
    {"toml", "job.toml",
     [](const ConfigurationTable&, const std::vector<WrittenSetting>& settings) {
       const std::string text = sections_text(tree_of(settings), true);
       return text.substr(text.find_first_not_of('\n'));
     }},
    {"yaml", "job.yaml",
     [](const ConfigurationTable&, const std::vector<WrittenSetting>& settings) {
       return sections_text(tree_of(settings), false);
     }},
    {"json", "config.json",
     [](const ConfigurationTable&, const std::vector<WrittenSetting>& settings) {
       return tree_of(settings).dump(2) + "\n";
     }}};

// --- Comparing what is read back ---

// Whether a key describes the job itself, rather than the machine, the campaign or a name.
bool is_compared(const std::string& key) {
  static constexpr std::string_view kParts[] = {
      "model",         "layout",   "batch", "schedule", "recompute", "precision",
      "communication", "software", "train", "offload",  "sync"};
  // These keys are names, have no effect or follow from others.
  static constexpr std::string_view kNames[] = {
      "model.base", "model.sequence",        "software.base",
      "layout.dp",  "layout.gradient_ranks", "layout.weight_ranks"};
  if (std::ranges::find(kNames, key) != std::end(kNames)) return false;
  return std::ranges::find(kParts, std::string_view(key).substr(0, key.find('.'))) !=
         std::end(kParts);
}

// [key] its value, and whether it is a default
using ComparedValues = std::map<std::string, std::pair<std::string, bool>>;

ComparedValues compared_values(const Case& the_case) {
  ComparedValues values;
  for (const ResolvedValue& value : the_case.values) {
    if (!is_compared(value.key)) continue;
    // `recompute: full` equals `recompute: {modules: full}`.
    const bool word = find_field(value.key + ".modules") != nullptr;
    values[word ? value.key + ".modules" : value.key] = {value.value, value.is_default};
  }
  return values;
}

// Supplies keys that no setting can express, as a user who imports the file would.
ImportRequest request_of(const Case& the_case, const ConfigurationTable& table,
                         const std::string& file, const std::string& text,
                         std::vector<UnsaidKey>& unsaid) {
  const Job& job = the_case.job;
  ImportRequest request{.files = {file}, .kind = table.name, .set = {}, .texts = {{file, text}}};
  request.set = {{"cluster.node", job.cluster.node.name},
                 {"cluster.nodes", fmt::to_string(job.cluster.nodes)}};
  const auto give = [&](const std::string& key, const std::string& value) {
    request.set.emplace_back(key, value);
    unsaid.push_back({key, value, ""});
  };
  const std::string missing = table.writes.model_missing ? job.model.name : "";
  if (!missing.empty()) give("model", missing);
  if (table.writes.model_missing) give("batch.sequence", fmt::to_string(job.batch.sequence));
  return request;
}

// Lists what the job states and no setting expresses, if the job is invalid without it (uneven
// stages).
void name_unwritten(const Case& the_case, const std::set<std::string>& written,
                    const std::string& why, Launch& launch) {
  for (const ResolvedValue& value : the_case.values) {
    const bool known = value.is_default || !is_compared(value.key) || written.contains(value.key) ||
                       written.contains(value.key + ".modules") ||
                       written.contains(value.key.substr(0, value.key.rfind('.')));
    const bool of_model = value.key.starts_with("model.") || value.key.starts_with("software.");
    if (!known && !of_model) launch.unsaid.push_back({value.key, value.value, ""});
  }
  launch.why_not_whole = why;
}

void name_differences(const Case& the_case, const ImportRequest& request, Launch& launch) {
  const ImportedScenario imported = import_scenario(request);
  const Case launched = resolve_unprepared({.file = launch.file, .text = imported.text});
  const ComparedValues wanted = compared_values(the_case);
  const ComparedValues found = compared_values(launched);
  for (const auto& [key, value] : wanted) {
    const auto same = found.find(key);
    const bool missing = same == found.end();
    if (missing ? value.second : same->second.first == value.first) continue;
    launch.unsaid.push_back({key, value.first, missing ? "" : same->second.first});
  }
  for (const auto& [key, value] : found) {
    if (!wanted.contains(key) && !value.second) launch.unsaid.push_back({key, "", value.first});
  }
}

}  // namespace

std::vector<std::string> launch_programs() {
  std::vector<std::string> programs;
  for (const ConfigurationTable& table : configuration_tables()) {
    if (!table.writes.as.empty()) programs.push_back(table.writes.as);
  }
  return programs;
}

const std::string& launch_software(const std::string& program) {
  const ConfigurationTable& table = table_written_as(program);
  return table.writes.planned_as.empty() ? table.software : table.writes.planned_as;
}

Launch launch_of(const ScenarioText& scenario, const std::string& program) {
  const ConfigurationTable& table = table_written_as(program);
  const Case the_case = resolve_unprepared(scenario);
  const auto form = std::ranges::find(kLaunchForms, table.writes.form, &LaunchForm::form);
  CHECK(form != std::end(kLaunchForms), "no form '{}'", table.writes.form);
  Launch launch{.program = program, .file = std::string(form->file), .text = {}, .unsaid = {}};
  const std::vector<WrittenSetting> settings = written_settings(table, SaidByJob(the_case));
  launch.text = form->text(table, settings);
  const ImportRequest request =
      request_of(the_case, table, launch.file, launch.text, launch.unsaid);
  try {
    name_differences(the_case, request, launch);
  } catch (const Error& error) {
    std::set<std::string> written;
    for (const WrittenSetting& each : settings) written.insert(each.says.begin(), each.says.end());
    name_unwritten(the_case, written, std::string(error.text()), launch);
  }
  return launch;
}

}  // namespace windtunnel
