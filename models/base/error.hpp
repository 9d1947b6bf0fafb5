// The two kinds of failure of the project.
// Error: the user's fault; thrown anywhere, caught once in main(), printed as
// "file:line:column: what; hint" with the exit code it carries. Code that knows a scenario's keys
// but not its text throws an error about a key; the scenario's resolver adds the place. Quotes
// from a file or the command line are made printable.
// CHECK: our own bug; always on, throws InternalError, which main() asks the user to report.
#pragma once

#include <fmt/format.h>

#include <initializer_list>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace windtunnel {

// Place of the fault in the user's input; line 0: unknown. Lines and columns count from 1.
struct Location {
  std::string file;
  int line = 0;
  int column = 0;
};

enum class ExitCode { ok = 0, failed = 1, usage = 2, incomplete = 3 };

class Error : public std::runtime_error {
 public:
  using Keys = std::vector<std::string>;

  // An error about keys of a scenario; the one most likely at fault comes first.
  template <class... Args>
  static Error about(std::initializer_list<std::string_view> keys, fmt::format_string<Args...> text,
                     Args&&... args) {
    Error error(fmt::format(text, std::forward<Args>(args)...));
    error.keys_.assign(keys.begin(), keys.end());
    return error;
  }
  // An error about one key, which is the subject of the text: "is 3; ..." or ": ...".
  template <class... Args>
  static Error of_key(std::string_view key, fmt::format_string<Args...> text, Args&&... args) {
    const std::string what = fmt::format(text, std::forward<Args>(args)...);
    return about({key}, "{}{}{}", key, !what.empty() && what.front() == ':' ? "" : " ", what);
  }

  explicit Error(const std::string& what, ExitCode code = ExitCode::usage);
  Error(const Location& where, const std::string& what, ExitCode code = ExitCode::usage);

  ExitCode code() const { return code_; }
  const Location& where() const { return where_; }
  // what() without the leading place.
  std::string_view text() const { return std::string_view(what()).substr(text_begin_); }
  const Keys& keys() const { return keys_; }  // empty: not about keys, or the place is known

 private:
  Error(const Location& where, const std::string& place, const std::string& what, ExitCode code);

  ExitCode code_;
  Location where_;
  size_t text_begin_;
  Keys keys_;
};

class InternalError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

[[noreturn]] void fail_check(const char* condition, const char* file, int line,
                             const std::string& message);

// The known name nearest to `name` by edit distance; empty if none is similar enough.
std::string nearest_name(std::string_view name, const std::vector<std::string>& known);

// "unknown gpu 'h10'; did you mean 'h100'?" or, with no near name, "...; known: a, b, c".
std::string unknown_name(std::string_view noun, std::string_view name,
                         const std::vector<std::string>& known);

}  // namespace windtunnel

// CHECK(condition, "format {}", value): the message is required and says which invariant broke.
#define CHECK(condition, ...)                                                               \
  do {                                                                                      \
    if (!(condition))                                                                       \
      ::windtunnel::fail_check(#condition, __FILE__, __LINE__, ::fmt::format(__VA_ARGS__)); \
  } while (false)
