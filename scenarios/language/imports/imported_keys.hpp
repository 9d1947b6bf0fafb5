// What the files of an import say, setting by setting, as keys of a scenario: what each setting
// means stands in configuration_table.hpp.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "scenarios/language/configs/setting.hpp"
#include "scenarios/language/imports/configuration_table.hpp"
#include "scenarios/language/imports/import.hpp"

namespace windtunnel {

// "auto" and null leave a value to the program.
bool is_left_open(const Setting& setting);

class ImportedKeys {
 public:
  // Keeps the reference.
  explicit ImportedKeys(const ImportRequest& request) : request_(request) {}

  // Reads a file and, before what it says itself, those that it names. `depth`: how many files
  // named one another before it. Throws Error at the setting's place.
  void read_file(const std::string& path, int depth);

  // A setting says it: the later one counts, but of layout.sharding in one file the one that shards
  // more, and a key that begins with '!' for good. Throws Error at a variable that nothing sets.
  void state(const std::string& key, const std::string& value, const Setting& from);

  // Nothing where no setting says it. Throw Error at the place of a value that is none.
  std::optional<double> number(const std::string& key) const;
  // A number of at least 1; another one (-1, 0) leaves it open.
  std::optional<double> count(const std::string& key) const;
  double count_or_1(const std::string& key) const;
  std::string text(const std::string& key) const;  // empty: not stated
  Location place(const std::string& key) const;    // the first file, where it is not stated
  // That nothing says it; a file that was named and is not here may.
  Error unsaid(std::string what) const;

  // What follows from the key `by`, if that is stated.
  void set(const std::string& key, const std::string& value, const std::string& by = "");
  void set(const std::string& key, double value, const std::string& by = "");
  bool requested(const std::string& key) const;  // by ImportRequest::set
  void set_by_request(const std::string& key, const std::string& value);
  void assume(const std::string& key, const std::string& value, const std::string& why);
  void drop(const std::string& key);

 protected:
  const ImportRequest& request_;
  ImportedScenario made_;
  std::map<std::string, ReadKey> keys_;
  std::vector<std::string> order_;
  std::set<std::string> files_read_;
  std::vector<AssumedSetting> assumed_by_tables_;
  ConfigurationFile model_file_;
  StatedModel model_is_ = StatedModel::keys;

 private:
  const ConfigurationTable& table_for(const ConfigurationFile& file) const;
  void read_setting(const ConfigurationTable& table, const Setting& setting);
  void leave_out(const ConfigurationTable& table, const Setting& setting);
  void state_key(const std::string& key, const std::string& value, const Setting& from);
  void read_named_files(const Setting& setting, int depth);  // one, or a list in brackets
  void read_named_file(const Setting& setting, int depth);

  std::set<std::string> firm_;  // keys that are stated with '!'
  Setting unread_;              // names a file that is not here
};

}  // namespace windtunnel
