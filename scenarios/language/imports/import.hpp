// The configuration of a training program as a scenario: what each setting means
// (configuration_table.hpp), the numbers that follow from several of them (GPUs, batch, chunks),
// and an account of every setting that was read, assumed or left out.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "scenarios/language/case.hpp"
#include "scenarios/language/configs/setting.hpp"
#include "scenarios/language/imports/configuration_table.hpp"

namespace windtunnel {

struct ImportRequest {
  // As they are named on the command line. Files that these name, such as the JSON that
  // --deepspeed gives, are read too where they are there.
  std::vector<std::string> files;
  std::string kind;  // of the files, where they do not tell; empty: each tells
  // Keys of the scenario, which go before what the files say: the machine (cluster.node and
  // cluster.nodes), where they do not say it, the model, and any other.
  Overrides set;
  // Whether the command has --cluster and --model for what the files leave open, which errors then
  // name; each command has --set.
  bool has_options = true;
  // Texts of files, by path, that are read in the place of what is on the disk.
  std::map<std::string, std::string> texts = {};
};

// A key of the scenario with the setting that says it.
struct ReadKey {
  std::string key, value;
  Setting from;
};

struct LeftOut {
  Setting setting;
  std::string why;
};

struct ImportedScenario {
  std::string text;                                        // YAML
  std::vector<std::pair<std::string, std::string>> kinds;  // of each file, by its path
  std::string software;                                    // entry of software.yaml; may be empty
  std::vector<ReadKey> read;
  std::vector<AssumedSetting> assumed;
  std::vector<LeftOut> left_out;  // it may matter
  std::vector<Setting> without_effect;
};

// Throws Error with the place in the file: text that cannot be read, a value that a setting cannot
// have, a file of no known kind (with those that are known); and what the files do not say and
// nobody may guess: how many nodes of what, the model, the batch.
ImportedScenario import_scenario(const ImportRequest& request);

// One line: what it was read as, and how many settings may matter that it left out.
std::string import_note(const ImportedScenario& imported);

// Resolves the scenario as every command does. Throws Error as that does, at the setting that is at
// fault where one is.
void check_imported(const ImportedScenario& imported);

// "megatron-lm, torchtitan, ...".
std::string configuration_kinds_text();

// Whether a text is the configuration of a training program, and no scenario. Throws Error where a
// file that is no scenario by its suffix (.toml, .sh) cannot be read.
bool is_configuration(const std::string& text, const std::string& path);

// A file as whatever takes a scenario reads it: of the configuration of a training program the
// scenario that it becomes, with what is set (machine and model among it, which the file need not
// say); a scenario as it is. `note`: import_note() of the former. Throws Error as
// import_scenario(), which names options where the command `has_options`.
struct ReadScenario {
  ScenarioText scenario;
  std::string note = {};
};
ReadScenario as_scenario(ScenarioText scenario, bool has_options = false);

}  // namespace windtunnel
