// What the settings of a training program mean as keys of a scenario, in both directions:
// scenarios/library/configurations.yaml, an entry for each kind of file. Nothing here knows a
// program by its name.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "scenarios/language/configs/setting.hpp"

namespace windtunnel {

// A key of a scenario ("layout.tp"), a quantity from which keys follow (".gpus", see
// configurations.yaml), or an argument that says what the model is ("--num-layers"); and what it
// becomes. An empty value: what the setting says. With '!' before it, whatever else the files say.
using MeantKey = std::pair<std::string, std::string>;

// What one setting means.
struct MeantSetting {
  std::string name;  // the end of its path: "tensor_parallel_degree", "bf16.enabled"
  // By its value, in small letters; "any": every other value. Empty of a value: it says nothing.
  std::vector<std::pair<std::string, std::vector<MeantKey>>> cases;
};

// What holds where no setting says otherwise, as the program has it.
struct AssumedSetting {
  std::string key, value, why;
};

// A setting as the program's own configuration has it: its whole path; and what is written where a
// row takes any value and none of the job's (as "hybrid" for FP8).
struct WrittenName {
  std::string path, any;
};

// How a job is written as such a configuration: only what the rows of `reads` say one to one.
struct WrittenForm {
  std::string as;                // what `plan --launch` calls it; empty: nothing is written
  std::string form;              // "script", "yaml", "toml", "json"
  std::string command, program;  // of a script
  // The entry of software.yaml that plans are made for, where settings say all that sets it apart
  // from `software` of the table; empty: that one.
  std::string planned_as = {};
  // Another program where a setting is written, which that one alone has.
  std::vector<std::pair<std::string, std::string>> program_with = {};
  std::vector<std::string> launcher;  // settings that stand before the program
  bool model_missing = false;         // it says neither the model nor how long sequences are
  std::vector<WrittenName> settings;  // in their order
  // Flags that say nothing by themselves, and the flags beside which each of them is written.
  std::vector<std::pair<std::string, std::vector<std::string>>> beside = {};
};

enum class StatedModel {
  keys,          // of the scenario: settings mean model.layers and the like
  megatron,      // arguments of Megatron-LM
  hugging_face,  // the file is a config.json
};

struct ConfigurationTable {
  std::string name, help;
  std::string software;  // entry of software.yaml; empty: the file does not decide it
  StatedModel model = StatedModel::keys;
  std::vector<std::string> told_by;      // settings that all are there, "a|b" one of the two
  std::vector<ConfigurationForm> forms;  // empty: every one
  std::vector<MeantSetting> reads;
  std::vector<std::string> model_from;              // what the reader of the model takes
  std::vector<std::string> without_effect;          // on time and memory; "lr_*" begins so
  std::map<std::string, std::string> not_modelled;  // why it matters, one sentence
  std::vector<AssumedSetting> assumes;
  WrittenForm writes;
  std::string source;
};

const std::vector<ConfigurationTable>& configuration_tables();

// Whether `path` ("model.tensor_parallel_degree") ends with `name`, in whole words; of a name that
// ends with '*' ("lr_*", "checkpoint.*"), whether some word of the path begins so.
bool ends_with_name(std::string_view path, std::string_view name);

// The row of the setting, the one that names most of its path. Null: the table has none.
const MeantSetting* row_of(const ConfigurationTable& table, const Setting& setting);

// Whether the file is one of the table's.
bool told(const ConfigurationTable& table, const ConfigurationFile& file);

// Returns the table that most settings of the file tell; null: none is told.
const ConfigurationTable* table_of(const ConfigurationFile& file);

// Throws Error with the nearest name.
const ConfigurationTable& find_table(std::string_view name);

}  // namespace windtunnel
