// Every reader of the program that takes bytes from outside: each is given damaged files by
// damaged_files_test.cpp and by libFuzzer (fuzz_main.cpp).
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace windtunnel {

struct Reader {
  std::string_view name;  // and of its folders in corpus/ and found/
  // Reads the bytes as the program reads a file of them. Throws Error where they are at fault, and
  // InternalError where what it read does not survive being written and read again.
  void (*read)(const std::string& bytes);
  std::vector<std::string_view> files = {};  // of the project, beside those in corpus/
  bool whole = false;  // no file of it that was cut off can be taken for a whole one
};

const std::vector<Reader>& readers();
const Reader& find_reader(std::string_view name);  // throws Error with the nearest name

// What readers of a path are given from now on in the place of a file of the bytes; a huge file is
// of 3 GB, all of them 0.
enum class ScratchKind { regular, pipe, device, loop, folder, missing, huge };
void make_scratch_files(ScratchKind kind);
int scratch_files_made();  // so far; a reader of bytes makes none

// The bytes of undamaged files.
std::vector<std::string> whole_files(const Reader& reader);
// Reads damaged files on which the reader once failed.
std::vector<std::string> found_files(const Reader& reader);

// The names of the folders in corpus/ and found/.
std::vector<std::string> reader_folders();

// What readers have written down of a file while they read it, in the folder of a process. They
// remove it themselves, unless a signal ends the process.
std::string scratch_folder(int process);

}  // namespace windtunnel
