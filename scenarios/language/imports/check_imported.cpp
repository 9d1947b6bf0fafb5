#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "scenarios/language/case.hpp"
#include "scenarios/language/imports/import.hpp"

namespace windtunnel {

void check_imported(const ImportedScenario& imported) {
  const std::string& file = imported.kinds.front().first;
  try {
    resolve_case({.file = file, .text = imported.text, .added = with_places(imported)});
  } catch (const Error& error) {
    const Location& where = error.where();
    const auto read = std::ranges::find_if(imported.read, [&](const ReadKey& each) {
      const Location& from = each.from.where;
      return from.file == where.file && from.line == where.line && from.column == where.column;
    });
    if (read == imported.read.end()) throw;
    throw Error(where, fmt::format("{}: {}", read->from.name, error.text()), error.code());
  }
}

}  // namespace windtunnel
