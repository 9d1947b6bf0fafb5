// Every reader of the program that takes bytes from outside: each is given damaged files by
// damaged_files_test.cpp and by libFuzzer (fuzz_main.cpp).
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace windtunnel {

struct Reader {
  std::string_view name;  // also that of its folders in corpus/ and found/
  // Reads the bytes as the program reads a file of them. Throws Error where they are at fault, and
  // InternalError where what it read does not survive being written and read again.
  void (*read)(const std::string& bytes);
  std::vector<std::string_view> files = {};  // in the project, besides those in corpus/
  bool whole = false;                        // a truncated file must never pass for a complete one
};

const std::vector<Reader>& readers();
const Reader& find_reader(std::string_view name);  // throws Error with the nearest name

// Chooses what readers of a path get from now on in the place of a regular file of the bytes; a
// huge file has 3 GB of zeros.
enum class ScratchKind { regular, pipe, device, loop, folder, missing, huge };
void make_scratch_files(ScratchKind kind);
int scratch_files_made();  // by readers of paths, so far

// The bytes of undamaged files.
std::vector<std::string> whole_files(const Reader& reader);
// Reads damaged files on which the reader once failed.
std::vector<std::string> found_files(const Reader& reader);

// The names of the folders in corpus/ and found/.
std::vector<std::string> reader_folders();

// The folder for files that readers write while a process reads. Readers remove it themselves,
// unless a signal ends the process.
std::string scratch_folder(int process);

}  // namespace windtunnel
