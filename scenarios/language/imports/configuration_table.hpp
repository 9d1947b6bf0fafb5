// How settings of a training program translate to keys of a scenario and back. The data is
// scenarios/library/configurations.yaml, an entry for each kind of file; no code here depends on a
// particular program.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "scenarios/language/configs/setting.hpp"

namespace windtunnel {

// First: a key of a scenario ("layout.tp"), a quantity from which keys follow (".gpus", see
// configurations.yaml), or an argument that describes the model ("--num-layers"). Second: its
// value; empty means the setting's own value. A '!' before the key makes it override whatever else
// the files say.
using MeantKey = std::pair<std::string, std::string>;

// The meaning of one setting.
struct MeantSetting {
  std::string name;  // the end of its path: "tensor_parallel_degree", "bf16.enabled"
  // [value of the setting in lower case] "any" matches every other value. A value with an empty
  // list has no effect.
  std::vector<std::pair<std::string, std::vector<MeantKey>>> cases;
};

// A default of the program that holds unless a setting says otherwise.
struct AssumedSetting {
  std::string key, value, why;
};

// `path` is the full path of a setting in the program's configuration. `any` is the value to write
// (such as "hybrid" for FP8) if a row accepts any value and takes none from the job, or the
// quantity of the job (".samples") or of its model ("--attention_dropout") whose value is written
// although reading ignores the setting.
struct WrittenName {
  std::string path, any;
};

// How a job is written as such a configuration. Uses only rows of `reads` that map one to one.
struct WrittenForm {
  std::string as;                // its name in `plan --launch`; empty: it cannot be written
  std::string form;              // "script", "yaml", "toml", "json"
  std::string command, program;  // of a script
  // The entry of software.yaml that plans assume, if that is not the table's `software`. Settings
  // must express every difference between the two.
  std::string planned_as = {};
  // [setting, program] Settings that need another program than `program`.
  std::vector<std::pair<std::string, std::string>> program_with = {};
  std::vector<std::string> launcher;  // settings written before the program
  bool model_missing = false;         // the file states neither the model nor the sequence length
  std::vector<WrittenName> settings;  // in the order in which they are written
  // Settings that have no key of their own, each with the flags that it accompanies.
  std::vector<std::pair<std::string, std::vector<std::string>>> beside = {};
};

enum class StatedModel {
  keys,          // keys of the scenario, such as model.layers
  megatron,      // arguments of Megatron-LM
  hugging_face,  // the file is a config.json
};

struct ConfigurationTable {
  std::string name, help;
  std::string software;  // entry of software.yaml; empty: the file does not tell
  StatedModel model = StatedModel::keys;
  std::vector<std::string> told_by;      // a file of this kind has all of these settings; "a|b":
                                         // one of the two
  std::vector<ConfigurationForm> forms;  // possible formats; empty: every one
  std::vector<MeantSetting> reads;
  std::vector<std::string> model_from;              // settings that the reader of the model uses
  std::vector<std::string> without_effect;          // on time and memory; "lr_*" matches a prefix
  std::map<std::string, std::string> not_modelled;  // [setting] why it matters, in one sentence
  std::vector<AssumedSetting> assumes;
  WrittenForm writes;
  std::string source;
};

const std::vector<ConfigurationTable>& configuration_tables();

// Whether the last whole words of `path` ("model.tensor_parallel_degree") are `name`. If `name`
// ends with '*' ("lr_*", "checkpoint.*"), whether some word of the path starts with it.
bool ends_with_name(std::string_view path, std::string_view name);

// The row that matches the longest part of the setting's path. Null: no row matches.
const MeantSetting* row_of(const ConfigurationTable& table, const Setting& setting);

// Whether the file is of the table's kind.
bool told(const ConfigurationTable& table, const ConfigurationFile& file);

// Returns the table that a file matches with the most `told_by` settings; null: no table matches.
const ConfigurationTable* table_of(const ConfigurationFile& file);

// Throws Error with the nearest name if there is no such table.
const ConfigurationTable& find_table(std::string_view name);

}  // namespace windtunnel
