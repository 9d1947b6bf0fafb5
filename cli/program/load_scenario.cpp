#include "cli/program/load_scenario.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "cli/program/output.hpp"
#include "cli/program/shell_line.hpp"
#include "models/base/version.hpp"
#include "report/page/page.hpp"
#include "scenarios/language/imports/import.hpp"

namespace windtunnel {
namespace {

namespace fs = std::filesystem;

// Parses a document that this program wrote; nothing for other texts, such as a scenario.
std::optional<Json> document_of(const std::string& text, const std::string& path) {
  constexpr size_t kHead = 200;
  const size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string::npos || text[begin] != '{') return {};
  Json document = Json::parse(text, nullptr, false);
  if (document.is_discarded()) {  // in JSON lines, the first line tells the kind
    document = Json::parse(text.substr(0, text.find('\n')), nullptr, false);
  }
  if (document.is_discarded()) {
    const bool cut_off = text.substr(0, kHead).find("\"windtunnel-") != std::string::npos;
    if (cut_off)
      throw Error(Location{path}, "the file is not a JSON object; it is damaged or cut off");
    return {};
  }
  if (document.is_object() &&
      (document.contains("architectures") || document.contains("model_type"))) {
    throw Error(Location{path},
                fmt::format("is a model, not a scenario: a scenario names it as 'model: {0}', and "
                            "windtunnel plan takes it as --model {0}",
                            shell_word(path)));
  }
  if (!format_of(document).starts_with("windtunnel-")) return {};
  return document;
}

// The command that makes a comparison or a sweep again.
std::string command_line(const std::string& command, const Json& document) {
  const auto apart = document.find("source");
  const Json& source = apart != document.end() ? *apart : document;  // cases.jsonl: its first line
  std::string line =
      fmt::format("windtunnel {} {}", command, shell_word(source.at("file").get<std::string>()));
  for (const auto& [key, value] : overrides_of(source.at("set"))) {
    line += fmt::format(" --set {}", shell_word(fmt::format("{}={}", key, value)));
  }
  for (const Json& varied : document.at("vary")) {
    line += fmt::format(" --vary {}",
                        shell_word(fmt::format(
                            "{}={}", varied.at("key").get<std::string>(),
                            fmt::join(varied.at("values").get<std::vector<std::string>>(), ","))));
  }
  if (source.value("allow_oom", false)) line += " --allow-oom";
  return line + " --out NEW_DIR";
}

[[noreturn]] void refuse(const Json& document, const std::string& path) {
  const std::string folder = fs::absolute(path).lexically_normal().parent_path();
  if (format_of(document).starts_with("windtunnel-company")) {
    throw Error(Location{path},
                fmt::format("is of several jobs; the record of each job alone is {0}/job-N/{1}; "
                            "`windtunnel report {0}` writes the page of all",
                            shell_word(folder), kRecordFile));
  }
  const bool sweep = format_of(document).starts_with("windtunnel-sweep");
  std::string what =
      sweep ? fmt::format(
                  "is of a sweep, not of one run; `windtunnel sweep resume {0}` runs its missing "
                  "points, `windtunnel report {0}` writes its page",
                  shell_word(folder))
            : fmt::format(
                  "is of a comparison, not of one run; each point that ran has its own record in "
                  "{0}/POINT/{1}; `windtunnel report {0}` writes the page",
                  shell_word(folder), kRecordFile);
  try {
    what += fmt::format("; to run all of it again: {}",
                        command_line(sweep ? "sweep" : "compare", document));
  } catch (const Json::exception&) {
    // An older version wrote it, or no point could be simulated, so that the source is missing.
  }
  throw Error(Location{path}, what);
}

void say(const std::string& path, const std::string& what) {
  print_human(fmt::format("windtunnel: {}: {}\n", path, what), true);
}

void say_differences(const std::string& path, const MadeRecord& made, const ScenarioText& text) {
  const RecordSource& source = made.source;
  const std::string build = build_text(source.version, source.commit);
  if (build != program_build()) {
    say(path, fmt::format("was made by {}, but this is {}: the result may differ", build,
                          program_build()));
  }
  std::optional<Case> again;
  try {
    again = resolve_unprepared(text);
  } catch (const Error&) {
    return;  // the override may fix the fault; otherwise the command will report it
  }
  for (const NamedFile& file : source.files) {
    // The text in the record is used, if it has one; the key below reveals whether it was edited.
    if (file.text) continue;
    const auto now = std::ranges::find(again->files, file.name, &NamedFile::name);
    if (now == again->files.end() || now->hash == file.hash) continue;
    say(path, fmt::format("{} has changed since the record was made; the record does not contain "
                          "its text, so the result uses its present content",
                          file.name));
  }
  if (again->key != made.key) {
    say(path, fmt::format("the case differs from the one in the record: its key is {}, but was {}",
                          again->key, made.key));
  }
}

}  // namespace

Case LoadedScenario::at(const Overrides& point) const {
  Case the_case = resolve_case(text, point);
  the_case.file = fs::absolute(text.file).lexically_normal();
  return the_case;
}

LoadedScenario load_scenario(const std::string& path, const Overrides& set, bool has_options) {
  LoadedScenario loaded{read_scenario(path)};
  if (const auto document = document_of(loaded.text.text, path)) {
    if (!format_of(*document).starts_with("windtunnel-record-")) refuse(*document, path);
    const MadeRecord made = made_record(*document, path);
    loaded = {{.file = made.source.file,
               .text = made.source.text,
               .set = made.source.set,
               .files = made.source.files},
              made.source.allow_oom};
    say_differences(path, made, loaded.text);
  } else {
    loaded.text.set = set;
    auto [scenario, note] = as_scenario(std::move(loaded.text), has_options);
    if (!note.empty()) say(path, note + "; all of it: windtunnel import " + shell_word(path));
    loaded.text = std::move(scenario);
    return loaded;
  }
  loaded.text.set.insert(loaded.text.set.end(), set.begin(), set.end());
  return loaded;
}

}  // namespace windtunnel
