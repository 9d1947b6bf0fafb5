// The rows of expected.yaml: which files a test imports, how, and with which result.
#pragma once

#include <iosfwd>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "scenarios/language/imports/import.hpp"

namespace windtunnel {

// This folder, with a slash at its end.
extern const std::string kImportTests;

struct PublishedStep {
  double seconds = 0;
  std::string family;  // a source of rows in docs/results/validation.md or a similar page
};

struct ImportRow {
  std::string name;
  std::vector<std::string> files;  // below files/
  Overrides set;
  std::map<std::string, std::string> keys;  // "": the scenario does not state it
  std::vector<std::string> assumed, left_out;
  std::optional<PublishedStep> step;
};

std::vector<ImportRow> import_rows();
ImportRequest request_of(const ImportRow& row, const std::string& folder = kImportTests + "files/");

// NOLINTNEXTLINE(readability-identifier-naming): the name that GoogleTest looks for
void PrintTo(const ImportRow& row, std::ostream* out);

}  // namespace windtunnel
