// What every kind of validation is asked, a document and a bound on its errors, and how its result
// reaches people and programs.
#pragma once

#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "cli/program/command.hpp"
#include "report/text/json_text.hpp"
#include "validate/accuracy/rows/validation_report.hpp"
#include "validate/documents/form_document.hpp"

namespace windtunnel {

struct VerdictOptions {
  bool json = false;
  double fail_above = std::numeric_limits<double>::infinity();
  std::string markdown;  // where the page of Markdown goes; empty: nowhere
  std::string page;      // and that for a browser
};

struct Validation {
  Document document = {};  // a page of Markdown, too, where its form has one
  Json json = {};
  std::string verdict = {};      // why the bound is not met; empty: it is
  ValidationReport report = {};  // empty: not summed up so
  // The page for a browser, which names the command that makes it again.
  std::function<std::string(const std::string& command)> page = {};
};

// What to type to make a page again.
struct PageCommands {
  std::string portable = {};  // for pages that are kept beside others' files: FileNames::portable
  std::string as_given = {};
};

// Writes the pages, prints JSON (of `validate` KIND), text and verdict. A page of Markdown is asked
// for only where the document's form has one.
ExitCode conclude(std::string_view kind, Validation validation, const VerdictOptions& options,
                  const PageCommands& commands = {});

// A subcommand of `validate`, and what it does once its options have been read.
struct ValidationCommand {
  CLI::App* command;
  Handler run;
};

// --json and --fail-above.
void add_verdict(CLI::App& app, VerdictOptions& options, const char* what_is_judged);

// Validation::verdict. A bound that no row was held against is not met. `metric` empty: all
// families are judged.
std::string verdict_of(const ValidationReport& report, double fail_above,
                       const std::string& metric);

}  // namespace windtunnel
