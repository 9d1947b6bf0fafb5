// Writes the results of commands: to the two streams, and to files in an output folder.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "report/text/answer.hpp"
#include "report/text/json_text.hpp"

namespace windtunnel {

// Prints the document of --json, which then is all of stdout.
void print_result(const std::string& text);
// Prints a document with its schema, windtunnel/KIND/1.
void print_document(std::string_view kind, const Json& document);
// Prints text for people to stdout, or to stderr if stdout has a document; then --quiet omits it.
// Control characters other than the style's own are shown as text, because they may come from a
// file. Lines that are too long for human_style() are wrapped (wrapped_lines()).
void print_human(const std::string& text, bool stdout_is_taken);
// Prints without wrapping, because wrapped lines would break a drawing.
void print_drawing(const std::string& text, bool stdout_is_taken);
// Prints to stderr, even when quiet, why the exit code is not 0.
void print_failure(const std::string& text);
// Returns characters per line, from COLUMNS or the terminal; 0: unknown.
std::size_t terminal_width(bool stdout_is_taken);
// Bold on a terminal, unless NO_COLOR is set or TERM is dumb; the width is the terminal's, else 160
// characters.
ConsoleStyle human_style(bool stdout_is_taken);

// Applies --quiet: from now on only the answer is printed, without progress, notes and other text.
// It applies to the process, as the streams do.
void be_quiet();
// Returns the text, or nothing when quiet.
std::string beside(const std::string& text);

// A line on stderr that each call overwrites; nothing if stderr is not a terminal.
class Progress {
 public:
  Progress();
  ~Progress();  // erases the line
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  void show(const std::string& text);
  void wipe();

 private:
  bool terminal_;
  bool shown_ = false;
};

// Creates the folder if it is missing. Throws Error: usage if a file is in the way, failed if the
// system refuses.
void prepare_folder(const std::string& folder);
// Prepares a folder that holds one result. Throws Error if it contains `foreign`, the file of
// another kind of result, because the page would show that result.
void prepare_folder(const std::string& folder, const std::string& foreign);

// Throws Error if the folder for the file is missing. Commands call it before their work.
void check_folder_of(const std::string& path);

// Also throws Error if the file is one of those that the command reads.
void check_output_file(const std::string& path, const std::vector<std::string>& inputs);

// Writes to a temporary file in the same folder and renames it, so that a reader never sees half a
// file. Throws Error (failed) with the system's reason.
void write_file(const std::string& path, const std::string& content);

}  // namespace windtunnel
