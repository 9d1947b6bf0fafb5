// The options of a command, each declared once; help, manual page, completion and parsing all
// follow from that. CLI11 does the work. Its headers take two seconds to compile and put 100 kB
// into each object, so only command_line.cpp and few other files include them.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace CLI {  // NOLINT(readability-identifier-naming): its own name
class App;
class Option;
class Validator;
}  // namespace CLI

namespace windtunnel {

// A check of an option's value.
class Check {
 public:
  // `fault` returns what is wrong with a value, or "". `shown` describes valid values in the help.
  explicit Check(const std::function<std::string(const std::string&)>& fault,
                 const std::string& shown = "");
  explicit Check(const CLI::Validator& validator);
  operator CLI::Validator() const;  // NOLINT(google-explicit-constructor): for CLI11's own options

 private:
  friend class Option;
  std::shared_ptr<const CLI::Validator> validator_;
};

// The value is a whole number from low to high.
Check whole_in(int low, int high);
// The value is a number from low to high, and not "nan".
Check number_in(double low, double high);
// The value is one of these words. An error suggests the word that was meant.
Check one_of(const std::string& noun, const std::vector<std::string>& names);
// The value names an existing file.
Check existing_file();

class Option {
 public:
  explicit Option(CLI::Option* option) : option_(option) {}
  Option required(bool is_required = true) const;
  Option check(const Check& check) const;
  // For a list: the option takes one value per mention, so that a following word is an argument.
  Option repeatable() const;
  // For a list: "A,B" are two values.
  Option separated_by(char separator) const;
  Option show_default() const;
  Option hide() const;  // from help, manual page and completion
  Option needs(const Option& other) const;
  Option excludes(const Option& other) const;

 private:
  CLI::Option* option_;
};

// A command, or a subcommand of one, while its options are declared. Copies refer to the same
// command.
class CommandLine {
 public:
  // NOLINTNEXTLINE(google-explicit-constructor): both are the same command
  CommandLine(CLI::App& app) : app_(&app) {}
  operator CLI::App&() const { return *app_; }  // NOLINT(google-explicit-constructor)

  // Adds an option, or an argument if `name` is in capitals ("SCENARIO"). `type` names the value in
  // the help. The possible types T are at the end of command_line.cpp.
  template <class T>
  Option add_option(const std::string& name, T& to, const std::string& help,
                    const std::string& type = "") const;
  Option add_flag(const std::string& name, bool& to, const std::string& help) const;

  // Options that many commands have: --set KEY=VALUE, --json, -j N.
  void add_set(std::vector<std::string>& to) const;
  void add_json(bool& to) const;
  void add_threads(int& to, const std::string& help) const;

  Option option(const std::string& name) const;
  void remove_option(const std::string& name) const;
  bool given(const std::string& name) const;  // valid once the command line has been read

  CommandLine add_subcommand(const std::string& name, const std::string& help) const;
  void require_subcommand(int least, int most) const;
  bool parsed() const;  // whether this command was given
  // Runs once this command's options are read, before the actions of the whole program.
  void when_read(const std::function<void()>& action) const;

 private:
  CLI::App* app_;
};

// The command as typed: "windtunnel sweep run".
std::string typed_name(const CLI::App& app);

// Adds an example to the end of the command's help: the command with these arguments.
void add_example(const CommandLine& app, const std::string& arguments);

// Adds --page FILE.html, which also writes the answer as a page.
void add_page_option(const CommandLine& app, std::string& file);

// Parses a time limit given by the user.

// The seconds of "3 min". Throws Error that names the option if the text is not a time above 0.
double budget_of(const std::string& text);

}  // namespace windtunnel
