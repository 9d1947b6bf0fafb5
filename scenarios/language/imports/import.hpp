// Turns the configuration of a training program into a scenario: translates each setting
// (configuration_table.hpp), derives the numbers that follow from several settings (GPUs, batch,
// chunks), and lists every setting that was read, assumed or left out.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "scenarios/language/case.hpp"
#include "scenarios/language/configs/setting.hpp"
#include "scenarios/language/imports/configuration_table.hpp"

namespace windtunnel {

struct ImportRequest {
  // As named on the command line. Files that these files name, such as the JSON of --deepspeed, are
  // read too if they exist.
  std::vector<std::string> files;
  std::string kind;  // the kind of all files, if they cannot tell it; empty: each file tells its
                     // own
  // Keys of the scenario that override the files. They must supply the machine (cluster.node,
  // cluster.nodes) and the model if the files omit these.
  Overrides set;
  // Whether errors may name --cluster and --model as a way to supply what the files omit. Every
  // command has --set.
  bool has_options = true;
  // [path] Texts that are read instead of files on disk.
  std::map<std::string, std::string> texts = {};
};

// A key of the scenario with the setting that it comes from.
struct ReadKey {
  std::string key, value;
  Setting from;
};

struct LeftOut {
  Setting setting;
  std::string why;
  std::string meant = {};  // the known setting that it may be a misspelling of; empty: none

  std::string question() const { return meant.empty() ? "" : "did you mean " + meant + "?"; }
};

struct ImportedScenario {
  std::string text;                                        // YAML
  std::vector<std::pair<std::string, std::string>> kinds;  // [file, its kind]
  std::string software;                                    // entry of software.yaml; may be empty
  std::vector<ReadKey> read;
  std::vector<AssumedSetting> assumed;
  std::vector<LeftOut> left_out;  // settings that may change time or memory
  std::vector<Setting> without_effect;
};

// Throws Error with the place in the file: unreadable text, a value that a setting cannot have, a
// file of no known kind (with the known ones), and information that the files lack and that has no
// default: the nodes, the model, the batch.
ImportedScenario import_scenario(const ImportRequest& request);

// One line: the kind of configuration, and how many omitted settings may matter.
std::string import_note(const ImportedScenario& imported);

// What the scenario is read with, so that its Errors name the places of settings: `added`, or null
// for nothing, and these places.
std::shared_ptr<const Additions> with_places(const ImportedScenario& imported,
                                             const Additions* added = nullptr);

// Resolves the scenario as every command does. Throws its Errors, placed at the setting at fault if
// there is one.
void check_imported(const ImportedScenario& imported);

// Returns "megatron-lm, torchtitan, ...".
std::string configuration_kinds_text();

// Whether a text is the configuration of a training program rather than a scenario. Throws Error if
// a file whose suffix rules out a scenario (.toml, .sh) cannot be read.
bool is_configuration(const std::string& text, const std::string& path);

// Returns a scenario as it is, and imports a configuration of a training program with the
// scenario's overrides, which may supply the machine and the model. `note` is import_note() of an
// imported file. Throws Error as import_scenario() does; errors name options if the command
// `has_options`.
struct ReadScenario {
  ScenarioText scenario;
  std::string note = {};
};
ReadScenario as_scenario(ScenarioText scenario, bool has_options = false);

}  // namespace windtunnel
