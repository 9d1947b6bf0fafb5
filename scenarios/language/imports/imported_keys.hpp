// Collects what the files of an import say as keys of a scenario, setting by setting.
// configuration_table.hpp has the meaning of each setting.
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

// True for "auto" and null: the program chooses the value.
bool is_left_open(const Setting& setting);

class ImportedKeys {
 public:
  // Keeps a reference to `request`.
  explicit ImportedKeys(const ImportRequest& request) : request_(request) {}

  // Reads the files that this file names, then the file itself. `depth` is the number of files that
  // led to this one, each named by the one before. Throws Error at the setting's place.
  void read_file(const std::string& path, int depth);

  // Sets the key as `from` says. A later setting replaces an earlier one, with two exceptions:
  // within a file the layout.sharding that shards more wins, and a key with a leading '!' is final.
  // Throws Error at a variable that is not set.
  void state(const std::string& key, const std::string& value, const Setting& from);

  // Return nothing if no setting states the key. Throw Error at the place of a malformed value.
  std::optional<double> number(const std::string& key) const;
  // A number of at least 1; smaller ones (-1, 0) count as not stated.
  std::optional<double> count(const std::string& key) const;
  double count_or_1(const std::string& key) const;
  std::string text(const std::string& key) const;  // empty: not stated
  Location place(const std::string& key) const;    // of the key; of the first file if it is not
                                                   // stated
  // Makes the Error that no file says `what`. It mentions a file that was named but not found.
  Error unsaid(std::string what) const;

  // Sets a derived key. `by`: the key that it follows from, if that is stated.
  void set(const std::string& key, const std::string& value, const std::string& by = "");
  void set(const std::string& key, double value, const std::string& by = "");
  bool requested(const std::string& key) const;  // whether ImportRequest::set has the key
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
  void read_named_files(const Setting& setting, int depth);  // a path, or a list in brackets
  void read_named_file(const Setting& setting, int depth);

  std::set<std::string> firm_;  // keys stated with '!', which are final
  Setting unread_;              // names a file that was not found
};

}  // namespace windtunnel
