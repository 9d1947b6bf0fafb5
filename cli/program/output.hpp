// Where the commands' results go: the two streams, and files in an output folder.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "report/text/answer.hpp"
#include "report/text/json_text.hpp"

namespace windtunnel {

// The document of --json; nothing else goes to stdout then.
void print_result(const std::string& text);
// The same of a document, which says that it is windtunnel/KIND/1.
void print_document(std::string_view kind, const Json& document);
// Text for people: stdout, or stderr when stdout holds a document; then it is only said beside the
// answer. Of control characters only the style's own reach the terminal: what a file holds is
// shown, and not obeyed. Lines longer than those of human_style() are wrapped (wrapped_lines()).
void print_human(const std::string& text, bool stdout_is_taken);
// The same of lines that mean nothing when they are broken.
void print_drawing(const std::string& text, bool stdout_is_taken);
// On stderr, quiet or not: why the command's exit code is not 0.
void print_failure(const std::string& text);
// Characters of a line, as COLUMNS or the terminal says; 0: neither does.
std::size_t terminal_width(bool stdout_is_taken);
// Bold on a terminal unless NO_COLOR is set or TERM is dumb; the width of the terminal, else 160
// characters.
ConsoleStyle human_style(bool stdout_is_taken);

// --quiet, from here on: only the answer, without progress, notes and what is said beside it. Of
// the process, as the streams are.
void be_quiet();
// The text, or nothing when quiet.
std::string beside(const std::string& text);

// A line on stderr that each call overwrites; nothing when stderr is no terminal.
class Progress {
 public:
  Progress();
  ~Progress();  // wipes the line
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  void show(const std::string& text);
  void wipe();

 private:
  bool terminal_;
  bool shown_ = false;
};

// Makes the folder where it is missing. Throws Error: usage when a file is in the way, failed when
// the system refuses.
void prepare_folder(const std::string& folder);
// The same for a result that takes the folder for itself: throws Error where `foreign`, the file of
// a result of another kind, is in it, which the page would otherwise be of.
void prepare_folder(const std::string& folder, const std::string& foreign);

// Throws Error where the folder of a file that is to be written is missing: before the work.
void check_folder_of(const std::string& path);

// Writes to a temporary file beside it and renames, so that a reader never sees half a file. Throws
// Error (failed) with the system's reason.
void write_file(const std::string& path, const std::string& content);

}  // namespace windtunnel
