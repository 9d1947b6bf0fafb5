// Where the commands' results go: the two streams, and files in an output folder.
#pragma once

#include <functional>
#include <string>

#include "report/text/console_style.hpp"

namespace windtunnel {

// The document of --json; nothing else goes to stdout then.
void print_result(const std::string& text);
// Text for people: stdout, or stderr when stdout holds a document. Of control characters only the
// style's own reach the terminal: what a file holds is shown, and not obeyed.
void print_human(const std::string& text, bool stdout_is_taken);
ConsoleStyle human_style(bool stdout_is_taken);

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

// Writes to a temporary file beside it and renames, so that a reader never sees half a file. Throws
// Error (failed) with the system's reason.
void write_file(const std::string& path, const std::string& content);

}  // namespace windtunnel
