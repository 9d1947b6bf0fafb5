#include "scenarios/language/imports/imported_keys.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <string_view>

#include "models/base/units.hpp"
#include "scenarios/language/text/document.hpp"
#include "scenarios/language/text/fields.hpp"

namespace windtunnel {
namespace {

namespace fs = std::filesystem;

constexpr int kDeepest = 4;  // nesting of files that name files

// Finds the case by the whole value, or by one of its words ("[float8, mx]", "full_shard
// auto_wrap", "configs/base.yml"); 0 and 1 match "false" and "true". Null: the row has no such
// case.
const std::vector<MeantKey>* meaning_of(const MeantSetting& row, const Setting& setting) {
  const std::string value = in_lower_case(setting.value);
  const auto find = [&](std::string_view wanted) -> const std::vector<MeantKey>* {
    const auto found =
        std::ranges::find(row.cases, wanted, [](const auto& each) { return each.first; });
    return found == row.cases.end() ? nullptr : &found->second;
  };
  if (const auto* meant = find(value)) return meant;
  constexpr std::string_view kBetween = "[], /";
  for (std::size_t begin = 0; begin < value.size();) {
    const std::size_t end = std::min(value.find_first_of(kBetween, begin), value.size());
    const auto* meant = end > begin ? find(value.substr(begin, end - begin)) : nullptr;
    if (meant != nullptr) return meant;
    begin = end + 1;
  }
  const auto* as_flag = value == "1" ? find("true") : value == "0" ? find("false") : nullptr;
  return as_flag != nullptr ? as_flag : find("any");
}

bool is_variable(const std::string& value) {
  return value.find('$') != std::string::npos;
}

Error unset_variable(const Setting& setting, const std::string& key) {
  const bool settable = find_field(key) != nullptr;
  return {setting.where, fmt::format("{}: '{}' is a variable that the file does not set; {}",
                                     setting.name, setting.value,
                                     settable ? fmt::format("give its value as --set {}=VALUE", key)
                                              : std::string("write its value"))};
}

// The first key that a row sets; empty: none.
std::string key_of(const MeantSetting& row) {
  for (const auto& [value, meant] : row.cases) {
    if (meant.empty()) continue;
    const std::string& key = meant.front().first;
    return key.substr(key.starts_with('!') ? 1 : 0);
  }
  return "";
}

Error unknown_value(const MeantSetting& row, const Setting& setting) {
  if (is_variable(setting.value)) return unset_variable(setting, key_of(row));
  std::vector<std::string> known;
  for (const auto& [name, meant] : row.cases) known.push_back(name);
  return {setting.where, fmt::format("{}: '{}' is none of {}", setting.name, setting.value,
                                     fmt::join(known, ", "))};
}

// Why an omitted setting may matter. Null: the table does not say.
const std::string* reason_of(const ConfigurationTable& table, const Setting& setting) {
  const auto found = std::ranges::find_if(table.not_modelled, [&](const auto& entry) {
    return ends_with_name(setting.name, entry.first);
  });
  return found == table.not_modelled.end() ? nullptr : &found->second;
}

// Whether the names differ by at most two letters at one place. nearest_name() allows more, but
// settings of one program share many words, and an unknown one is mostly not a misspelt one.
bool differ_at_one_place(std::string_view a, std::string_view b) {
  constexpr std::size_t kLetters = 2;
  const auto begin = std::ranges::mismatch(a, b).in1 - a.begin();
  std::size_t alike = begin;
  while (alike < std::min(a.size(), b.size()) &&
         a[a.size() - 1 - (alike - begin)] == b[b.size() - 1 - (alike - begin)]) {
    ++alike;
  }
  return alike + kLetters >= std::max(a.size(), b.size());
}

// The known setting of which this one is a misspelling; empty: none.
std::string meant_by(const ConfigurationTable& table, const std::string& setting) {
  constexpr std::size_t kShort = 6;  // two letters more would be another name
  std::vector<std::string> known = table.model_from;
  for (const MeantSetting& row : table.reads) known.push_back(row.name);
  for (const auto& [name, why] : table.not_modelled) known.push_back(name);
  std::ranges::copy(table.without_effect, std::back_inserter(known));
  const auto found = std::ranges::find_if(known, [&](const std::string& name) {
    return name.size() > kShort && !name.ends_with('*') && differ_at_one_place(name, setting);
  });
  return found == known.end() ? "" : *found;
}

bool names(const std::vector<std::string>& names, const Setting& setting) {
  return std::ranges::any_of(
      names, [&](const std::string& name) { return ends_with_name(setting.name, name); });
}

}  // namespace

bool is_left_open(const Setting& setting) {
  const std::string value = in_lower_case(setting.value);
  return value.empty() || value == "auto" || value == "null" || value == "~";
}

void ImportedKeys::read_file(const std::string& path, int depth) {
  files_read_.insert(path);
  const auto given = request_.texts.find(path);
  const ConfigurationFile file = read_configuration(
      given != request_.texts.end() ? given->second : read_text_file(path), path);
  const ConfigurationTable& table = table_for(file);
  made_.kinds.emplace_back(path, table.name);
  if (made_.software.empty()) made_.software = table.software;
  for (const AssumedSetting& each : table.assumes) assumed_by_tables_.push_back(each);
  if (table.model != StatedModel::keys && model_file_.path.empty()) {
    model_file_ = file;
    model_is_ = table.model;
  }
  // Files that this file names are read first, so that its own settings win.
  const auto is_file = [&](const Setting& setting) {
    const MeantSetting* row = row_of(table, setting);
    const std::vector<MeantKey>* meaning = row == nullptr ? nullptr : meaning_of(*row, setting);
    return meaning != nullptr && !meaning->empty() && meaning->front().first == ".file";
  };
  for (const bool named : {true, false}) {
    for (const Setting& setting : file.settings) {
      if (is_file(setting) != named || is_left_open(setting)) continue;
      if (named) {
        read_named_files(setting, depth);
      } else {
        read_setting(table, setting);
      }
    }
  }
}

// A file that does not tell its kind has the kind of the first file that was read.
const ConfigurationTable& ImportedKeys::table_for(const ConfigurationFile& file) const {
  if (!request_.kind.empty()) return find_table(request_.kind);
  if (const ConfigurationTable* table = table_of(file)) return *table;
  if (!made_.kinds.empty()) return find_table(made_.kinds.front().second);
  std::vector<std::string> known;
  for (const ConfigurationTable& table : configuration_tables()) known.push_back(table.name);
  throw Error(
      Location{file.path, 1, 1},
      fmt::format(
          "has no settings of a known program; state with --kind which program it configures: {}",
          fmt::join(known, ", ")));
}

void ImportedKeys::read_setting(const ConfigurationTable& table, const Setting& setting) {
  const MeantSetting* row = row_of(table, setting);
  if (row == nullptr) {
    leave_out(table, setting);
    return;
  }
  const std::vector<MeantKey>* meaning = meaning_of(*row, setting);
  if (meaning == nullptr && is_variable(setting.value) && requested(key_of(*row))) return;
  if (meaning == nullptr) {
    if (reason_of(table, setting) == nullptr) throw unknown_value(*row, setting);
    leave_out(table, setting);
    return;
  }
  for (const auto& [key, value] : *meaning) {
    state(key, value.empty() ? setting.value : value, setting);
  }
}

void ImportedKeys::leave_out(const ConfigurationTable& table, const Setting& setting) {
  const std::string value = in_lower_case(setting.value);
  const bool off = value == "false" || value == "0" || value == "none" || value == "[]";
  const std::string* reason = reason_of(table, setting);
  if (table.model == StatedModel::megatron && names(table.model_from, setting)) {
    made_.read.push_back({"model", setting.value, setting});
  } else if (off || (reason == nullptr && names(table.without_effect, setting))) {
    made_.without_effect.push_back(setting);
  } else {
    const std::string meant = reason != nullptr ? "" : meant_by(table, setting.name);
    made_.left_out.push_back({setting, reason != nullptr ? *reason : "not known here", meant});
  }
}

void ImportedKeys::state(const std::string& key, const std::string& value, const Setting& from) {
  const bool variable = is_variable(value);
  const std::string plain_key = key.substr(key.starts_with('!') ? 1 : 0);
  if (variable && requested(plain_key)) return;
  if (variable && (key.starts_with(".") || key.starts_with("--"))) {
    made_.left_out.push_back({from, "a variable that the file does not set"});
    return;
  }
  if (variable) throw unset_variable(from, plain_key);
  if (key.starts_with('!')) {
    firm_.insert(plain_key);
    state_key(plain_key, value, from);
  } else if (!firm_.contains(key)) {
    state_key(key, value, from);
  }
}

void ImportedKeys::state_key(const std::string& key, const std::string& value,
                             const Setting& from) {
  const auto stated = keys_.find(key);
  if (stated == keys_.end()) order_.push_back(key);
  const bool shards_less = key == "layout.sharding" && stated != keys_.end() &&
                           stated->second.from.where.file == from.where.file &&
                           value < stated->second.value;  // none < zero1 < zero2 < zero3
  if (!shards_less) keys_[key] = {key, value, from};
}

void ImportedKeys::read_named_files(const Setting& setting, int depth) {
  constexpr std::string_view kBetween = "[], ";
  const std::string& names = setting.value;
  if (!names.starts_with('[')) return read_named_file(setting, depth);
  for (std::size_t begin = 0; begin < names.size();) {
    const std::size_t end = std::min(names.find_first_of(kBetween, begin), names.size());
    Setting one = setting;
    one.value = names.substr(begin, end - begin);
    if (!one.value.empty()) read_named_file(one, depth);
    begin = end + 1;
  }
}

// Finds the named file: another file of the request, or one on disk, relative to the file that
// names it or to a folder above that, because programs are started at the top of their repository.
void ImportedKeys::read_named_file(const Setting& setting, int depth) {
  std::vector<fs::path> paths;
  for (const std::string& file : request_.files) {
    if (fs::path(file).filename() == fs::path(setting.value).filename()) paths.emplace_back(file);
  }
  paths.push_back(fs::path(setting.where.file).parent_path() / setting.value);
  paths.emplace_back(setting.value);
  std::error_code ignored;
  fs::path folder = fs::absolute(setting.where.file, ignored).parent_path();
  while (folder.has_relative_path()) {
    folder = folder.parent_path();
    paths.push_back(folder / setting.value);
  }
  for (const fs::path& path : paths) {
    if (depth >= kDeepest || !fs::is_regular_file(path, ignored)) continue;
    if (!files_read_.contains(path.string())) read_file(path.string(), depth + 1);
    return;
  }
  if (is_variable(setting.value)) {
    made_.left_out.push_back(
        {setting, "names a file through a variable; give that file to windtunnel import, too"});
    unread_ = setting;
    return;
  }
  throw Error(setting.where,
              fmt::format("{}: the file '{}' was not found; give it to windtunnel import, too",
                          setting.name, setting.value));
}

std::optional<double> ImportedKeys::number(const std::string& key) const {
  const auto found = keys_.find(key);
  if (found == keys_.end()) return {};
  const ReadKey& read = found->second;
  try {
    return parse_quantity(read.value, Dimension::number);
  } catch (const Error&) {
    throw Error(read.from.where,
                fmt::format("{}: '{}' is not a number", read.from.name, read.value));
  }
}

std::optional<double> ImportedKeys::count(const std::string& key) const {
  const std::optional<double> value = number(key);
  if (!value || *value < 1) return {};
  if (*value != std::floor(*value)) {
    throw Error(keys_.at(key).from.where,
                fmt::format("{}: '{}' is not a whole number", keys_.at(key).from.name,
                            keys_.at(key).value));
  }
  return value;
}

double ImportedKeys::count_or_1(const std::string& key) const {
  return count(key).value_or(1);
}

std::string ImportedKeys::text(const std::string& key) const {
  const auto found = keys_.find(key);
  return found == keys_.end() ? "" : found->second.value;
}

Location ImportedKeys::place(const std::string& key) const {
  const auto found = keys_.find(key);
  return found == keys_.end() ? Location{request_.files.front()} : found->second.from.where;
}

// The missing setting may be in a file that was named but not found.
Error ImportedKeys::unsaid(std::string what) const {
  if (!unread_.value.empty()) {
    what +=
        fmt::format("; {}:{} names '{}', which was not found: give it to windtunnel import, too",
                    fs::path(unread_.where.file).filename().string(), unread_.where.line,
                    fs::path(unread_.value).filename().string());
  }
  return {Location{request_.files.front()}, what};
}

void ImportedKeys::set(const std::string& key, const std::string& value, const std::string& by) {
  if (requested(key)) return;
  if (!keys_.contains(key)) order_.push_back(key);
  ReadKey& read = keys_[key];
  read.key = key;
  read.value = value;
  if (const auto from = keys_.find(by); from != keys_.end()) read.from = from->second.from;
}

void ImportedKeys::set(const std::string& key, double value, const std::string& by) {
  set(key, fmt::format("{}", static_cast<std::int64_t>(value)), by);
}

bool ImportedKeys::requested(const std::string& key) const {
  return std::ranges::any_of(request_.set, [&](const auto& each) { return each.first == key; });
}

void ImportedKeys::set_by_request(const std::string& key, const std::string& value) {
  if (find_field(key) == nullptr) {
    throw Error(fmt::format(
        "--set {}: this is no key of a scenario (windtunnel schema lists all keys)", key));
  }
  if (!keys_.contains(key)) order_.push_back(key);
  keys_[key] = {key, value, {}};
}

void ImportedKeys::assume(const std::string& key, const std::string& value,
                          const std::string& why) {
  set(key, value);
  if (!key.starts_with(".")) made_.assumed.push_back({key, value, why});
}

void ImportedKeys::drop(const std::string& key) {
  keys_.erase(key);
  std::erase(order_, key);
}

}  // namespace windtunnel
