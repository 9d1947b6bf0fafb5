// Options and output that every kind of validation has: documents, and a bound on its errors.
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
  std::string markdown;  // path of the Markdown page; empty: none
  std::string page;      // path of the page for a browser; empty: none
};

struct Validation {
  Document document = {};  // also for Markdown, if its form has a page
  Json json = {};
  std::string verdict = {};      // why the bound is exceeded; empty: it is not
  ValidationReport report = {};  // empty if the kind has no such summary
  // Makes the page for a browser, which names the command that makes it again.
  std::function<std::string(const std::string& command)> page = {};
};

// These commands make a page again.
struct PageCommands {
  std::string portable = {};  // for pages that are kept beside others' files: FileNames::portable
  std::string as_given = {};
};

// Writes the pages, and prints JSON (of `validate` KIND), text and verdict. A Markdown page may
// only be requested if the document's form has one.
ExitCode conclude(std::string_view kind, Validation validation, const VerdictOptions& options,
                  const PageCommands& commands = {});

// Defines a subcommand of `validate` and what handles it.
struct ValidationCommand {
  CLI::App* command;
  Handler run;
};

// Adds --json and --fail-above.
void add_verdict(CLI::App& app, VerdictOptions& options, const char* what_is_judged);

// Returns Validation::verdict. A bound without any judged row counts as exceeded. An empty `metric`
// means that all families are judged.
std::string verdict_of(const ValidationReport& report, double fail_above,
                       const std::string& metric);

}  // namespace windtunnel
