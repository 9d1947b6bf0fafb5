// The options of a command, each declared once: its help, the manual page, completion and what
// reads it all follow from that. CLI11 does the work; its headers take two seconds to compile and
// put 100 kB into each object, so that they are included by command_line.cpp and few others.
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

// What the value of an option has to be.
class Check {
 public:
  // `fault` says what is wrong with a value, or nothing. `shown` is what the help says of values.
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
// The value is a number from low to high; "nan" is none.
Check number_in(double low, double high);
// The value is one of these words. Another is refused with the word that was meant.
Check one_of(const std::string& noun, const std::vector<std::string>& names);
// The value names a file that is there.
Check existing_file();

class Option {
 public:
  explicit Option(CLI::Option* option) : option_(option) {}
  Option required(bool is_required = true) const;
  Option check(const Check& check) const;
  // For a list: each mention has one value, and what follows is an argument of its own.
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

// A command, or a subcommand of one, while its options are declared. Copies are of the same one.
class CommandLine {
 public:
  // NOLINTNEXTLINE(google-explicit-constructor): both are the same command
  CommandLine(CLI::App& app) : app_(&app) {}
  operator CLI::App&() const { return *app_; }  // NOLINT(google-explicit-constructor)

  // An argument if `name` is in capitals ("SCENARIO"). `type` stands for the value in the help.
  // T: see the end of command_line.cpp.
  template <class T>
  Option add_option(const std::string& name, T& to, const std::string& help,
                    const std::string& type = "") const;
  Option add_flag(const std::string& name, bool& to, const std::string& help) const;

  // What many commands have. --set KEY=VALUE, --json, -j N:
  void add_set(std::vector<std::string>& to) const;
  void add_json(bool& to) const;
  void add_threads(int& to, const std::string& help) const;

  Option option(const std::string& name) const;
  void remove_option(const std::string& name) const;
  bool given(const std::string& name) const;  // once the command line has been read

  CommandLine add_subcommand(const std::string& name, const std::string& help) const;
  void require_subcommand(int least, int most) const;
  void add_alias(const std::string& name) const;
  bool parsed() const;  // this command was given
  // Runs once this command's options are read, and before what the whole program runs then.
  void when_read(const std::function<void()>& action) const;

 private:
  CLI::App* app_;
};

// What is typed to call it: "windtunnel sweep run".
std::string typed_name(const CLI::App& app);

// What the help of a command ends with: itself with these arguments.
void add_example(const CommandLine& app, const std::string& arguments);

// --page FILE.html: where the answer goes as a page, too.
void add_page_option(const CommandLine& app, std::string& file);

// A time that the user grants.

// Seconds of "3 min". Throws Error that names the option when it is none, or not above 0.
double budget_of(const std::string& text);

}  // namespace windtunnel
