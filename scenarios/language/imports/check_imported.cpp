#include <fmt/format.h>

#include <string>

#include "scenarios/language/case.hpp"
#include "scenarios/language/imports/import.hpp"
#include "scenarios/language/text/document.hpp"
#include "scenarios/language/text/fields.hpp"

namespace windtunnel {
namespace {

// The key at a place of the text; empty: there is none.
std::string key_at(const DocumentNode& node, const Location& where, const std::string& path) {
  if (node.where.line == where.line && node.where.column == where.column) return path;
  for (const DocumentEntry& entry : node.entries) {
    const std::string key = join_path(path, entry.key);
    if (entry.where.line == where.line && entry.where.column == where.column) return key;
    std::string below = key_at(entry.value, where, key);
    if (!below.empty()) return below;
  }
  return "";
}

}  // namespace

void check_imported(const ImportedScenario& imported) {
  const std::string& file = imported.kinds.front().first;
  try {
    resolve_case({.file = file, .text = imported.text});
  } catch (const Error& error) {
    if (error.where().file != file) throw;
    const std::string key = key_at(parse_document(imported.text, file), error.where(), "");
    for (const ReadKey& read : imported.read) {
      if (read.key != key) continue;
      throw Error(read.from.where, fmt::format("{}: {}", read.from.name, error.text()),
                  error.code());
    }
    throw Error(Location{file}, std::string(error.text()), error.code());
  }
}

}  // namespace windtunnel
