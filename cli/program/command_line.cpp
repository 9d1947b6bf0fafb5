#include "cli/program/command_line.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>

#include "models/base/error.hpp"
#include "models/base/quantity_range.hpp"
#include "scenarios/language/text/synonyms.hpp"

namespace windtunnel {

std::string typed_name(const CLI::App& app) {
  const CLI::App* parent = app.get_parent();
  return parent == nullptr ? app.get_name() : typed_name(*parent) + " " + app.get_name();
}

Check::Check(const std::function<std::string(const std::string&)>& fault, const std::string& shown)
    : Check(CLI::Validator(fault, shown)) {}

Check::Check(const CLI::Validator& validator)
    : validator_(std::make_shared<CLI::Validator>(validator)) {}

Check::operator CLI::Validator() const {
  return *validator_;
}

Check whole_in(int low, int high) {
  return Check(CLI::Range(low, high));
}

Check number_in(double low, double high) {
  return Check(
      [low, high](const std::string& text) {
        double value = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        const bool read = error == std::errc() && end == text.data() + text.size();
        if (read && value >= low && value <= high) return std::string();
        return fmt::format("Value {} not in range {:g} to {:g}", text, low, high);
      },
      fmt::format("FLOAT in [{:g} - {:g}]", low, high));
}

Check one_of(const std::string& noun, const std::vector<std::string>& names) {
  return Check(
      [noun, names](const std::string& text) {
        const bool known = std::ranges::find(names, text) != names.end();
        return known ? std::string() : unknown_word(noun, text, names);
      },
      fmt::format("{{{}}}", fmt::join(names, ",")));
}

Check existing_file() {
  return Check(CLI::ExistingFile);
}

Option Option::required(bool is_required) const {
  return Option(option_->required(is_required));
}

Option Option::check(const Check& check) const {
  return Option(option_->check(*check.validator_));
}

Option Option::repeatable() const {
  return Option(option_->allow_extra_args(false));
}

Option Option::separated_by(char separator) const {
  return Option(option_->delimiter(separator));
}

Option Option::show_default() const {
  return Option(option_->capture_default_str());
}

Option Option::hide() const {
  return Option(option_->group(""));
}

Option Option::needs(const Option& other) const {
  return Option(option_->needs(other.option_));
}

Option Option::excludes(const Option& other) const {
  return Option(option_->excludes(other.option_));
}

template <class T>
Option CommandLine::add_option(const std::string& name, T& to, const std::string& help,
                               const std::string& type) const {
  CLI::Option* option = app_->add_option(name, to, help);
  return Option(type.empty() ? option : option->type_name(type));
}

Option CommandLine::add_flag(const std::string& name, bool& to, const std::string& help) const {
  return Option(app_->add_flag(name, to, help));
}

void CommandLine::add_set(std::vector<std::string>& to) const {
  add_option("--set", to, "set a key of the scenario; may be repeated", "KEY=VALUE").repeatable();
}

void CommandLine::add_json(bool& to) const {
  add_flag("--json", to, "print one JSON document on stdout, text on stderr");
}

void CommandLine::add_threads(int& to, const std::string& help) const {
  add_option("-j", to, help, "N").check(whole_in(1, 4096));
}

Option CommandLine::option(const std::string& name) const {
  return Option(app_->get_option(name));
}

void CommandLine::remove_option(const std::string& name) const {
  app_->remove_option(app_->get_option(name));
}

bool CommandLine::given(const std::string& name) const {
  return app_->count(name) > 0;
}

CommandLine CommandLine::add_subcommand(const std::string& name, const std::string& help) const {
  return *app_->add_subcommand(name, help);
}

void CommandLine::require_subcommand(int least, int most) const {
  app_->require_subcommand(static_cast<std::size_t>(least), static_cast<std::size_t>(most));
}

bool CommandLine::parsed() const {
  return app_->parsed();
}

void CommandLine::when_read(const std::function<void()>& action) const {
  app_->parse_complete_callback(action);
}

void add_example(const CommandLine& app, const std::string& arguments) {
  CLI::App& command = app;
  command.footer(fmt::format("Example:\n  {}{}{}\n", typed_name(command),
                             arguments.empty() ? "" : " ", arguments));
}

void add_page_option(const CommandLine& app, std::string& file) {
  const auto ends_in_html = [](const std::string& name) {
    const bool page = name.ends_with(".html") || name.ends_with(".htm");
    return page ? std::string() : fmt::format("'{}': the name of a page must end in .html", name);
  };
  app.add_option("--page", file, "write the answer as a page for a browser, in one file",
                 "FILE.html")
      .check(Check(ends_in_html));
}

// The types of options.
using Text = const std::string&;
template Option CommandLine::add_option(Text, std::string&, Text, Text) const;
template Option CommandLine::add_option(Text, std::vector<std::string>&, Text, Text) const;
template Option CommandLine::add_option(Text, int&, Text, Text) const;
template Option CommandLine::add_option(Text, double&, Text, Text) const;
template Option CommandLine::add_option(Text, std::uint64_t&, Text, Text) const;
template Option CommandLine::add_option(Text, std::optional<std::uint64_t>&, Text, Text) const;

double budget_of(const std::string& text) {
  double budget_s = 0;
  try {
    budget_s = parse_in_range(text, Dimension::seconds);
  } catch (const Error& error) {
    throw Error(fmt::format("--budget: {}", error.what()));
  }
  if (budget_s > 0) return budget_s;
  throw Error(fmt::format("--budget: '{}' is too short; give e.g. '3 min'", text));
}

}  // namespace windtunnel
