#include "cli/shell/man_page.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <string_view>

#include "cli/program/environment.hpp"

namespace windtunnel {
namespace {

constexpr std::string_view kExitCodes = "Exit codes: ";

// Escapes text for roff: a backslash begins an escape, a plain '-' may become a hyphen that cannot
// be copied, and a line that begins with a dot or a quote is a request.
std::string roff(std::string_view text) {
  std::string escaped;
  bool begins = true;
  for (const char c : text) {
    if (begins && (c == '.' || c == '\'')) escaped += "\\&";
    if (c == '\\') {
      escaped += "\\e";
    } else if (c == '-') {
      escaped += "\\-";
    } else {
      escaped += c;
    }
    begins = c == '\n';
  }
  return escaped;
}

std::string lines_as_they_are(std::string_view text) {
  while (text.ends_with('\n')) text.remove_suffix(1);
  return text.empty() ? "" : fmt::format(".PP\n.nf\n{}\n.fi\n", roff(text));
}

std::string option_text(const OptionPage& option) {
  std::string names;
  for (const std::string& name : option.names) {
    names += fmt::format("{}\\fB{}\\fR", names.empty() ? "" : ", ", roff(name));
  }
  if (option.kind != ValueKind::flag && !option.positional) {
    names += fmt::format(" \\fI{}\\fR", roff(option.value));
  }
  std::string help = option.help;
  // The help may already name them.
  const bool named = std::ranges::all_of(option.choices, [&](const std::string& choice) {
    return help.find(choice) != std::string::npos;
  });
  if (!named) help += fmt::format("; one of {}", fmt::join(option.choices, ", "));
  return fmt::format(".TP\n{}\n{}\n", names, roff(help));
}

std::string command_text(const CommandPage& command) {
  std::string text = fmt::format(".SS {}\n{}.\n.PP\n\\fB{}\\fR\n", roff(command.path),
                                 roff(command.help), roff(command.usage));
  for (const bool positional : {true, false}) {
    for (const OptionPage& option : command.options) {
      if (option.positional == positional) text += option_text(option);
    }
  }
  return text + lines_as_they_are(command.footer);
}

std::string upper(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

}  // namespace

std::string command_manual(const CommandPage& command) {
  std::string text;
  for (const CommandPage* each : all_commands(command)) text += command_text(*each);
  return text;
}

std::string man_page(const CommandPage& program, const std::string& build,
                     const ManualOf& elsewhere) {
  const std::string& name = program.names.front();
  const std::string& what = program.help;
  std::string text =
      fmt::format(".TH {} 1 \"\" \"{} {}\" \"\"\n.SH NAME\n{} \\- {}\n", upper(roff(name)), name,
                  build, roff(name), roff(what.substr(0, what.find(':'))));
  text +=
      fmt::format(".SH SYNOPSIS\n\\fB{}\\fR\n.SH DESCRIPTION\n{}", roff(program.usage), roff(what));
  text += ".SH OPTIONS\n";
  for (const OptionPage& option : program.options) text += option_text(option);
  text += ".SH COMMANDS\n";
  for (const CommandPage& command : program.commands) {
    const std::string given = command.elsewhere ? elsewhere(command.path) : "";
    text += given.empty() ? command_manual(command) : given;
  }
  std::string_view footer = program.footer;
  footer = footer.substr(0, footer.find(kEnvironmentTitle));
  const size_t codes = std::min(footer.find(kExitCodes), footer.size());
  std::string_view examples = footer.substr(0, codes);
  examples.remove_prefix(std::min(examples.find('\n') + 1, examples.size()));  // "Examples:"
  text += ".SH EXAMPLES\n" + lines_as_they_are(examples);
  if (codes < footer.size()) {
    text += ".SH EXIT STATUS\n" + roff(footer.substr(codes + kExitCodes.size()));
  }
  text += ".SH ENVIRONMENT\n";
  for (const EnvironmentVariable& each : kEnvironment) {
    text += fmt::format(".TP\n\\fB{}\\fR\n{}\n", roff(each.name), roff(each.help));
  }
  return text;
}

}  // namespace windtunnel
