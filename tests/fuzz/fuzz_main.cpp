// libFuzzer's program for all readers:
//   fuzz_readers --reader=NAME --folder=FOLDER FOLDER [libFuzzer's options]
// FOLDER first gets the reader's files, then what libFuzzer finds worth keeping. An Error is an
// answer; anything else that a reader throws ends the run with the bytes kept.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "models/base/error.hpp"
#include "tests/fuzz/readers.hpp"

namespace windtunnel {
namespace {

const Reader* reader = nullptr;

void write_files(const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  std::vector<std::string> files = whole_files(*reader);
  std::ranges::copy(found_files(*reader), std::back_inserter(files));
  for (std::size_t i = 0; i < files.size(); ++i) {
    std::ofstream(folder / ("file-" + std::to_string(i)), std::ios::binary) << files[i];
  }
}

// Returns the rest of the first argument that starts with `name`.
std::string option(const std::vector<std::string_view>& arguments, std::string_view name) {
  const auto found = std::ranges::find_if(
      arguments, [&](std::string_view argument) { return argument.starts_with(name); });
  return found == arguments.end() ? "" : std::string(found->substr(name.size()));
}

}  // namespace
}  // namespace windtunnel

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  const std::vector<std::string_view> arguments(*argv + 1, *argv + *argc);
  try {
    windtunnel::reader = &windtunnel::find_reader(windtunnel::option(arguments, "--reader="));
    const std::string folder = windtunnel::option(arguments, "--folder=");
    if (!folder.empty()) windtunnel::write_files(folder);
  } catch (const windtunnel::Error& error) {
    std::fprintf(stderr, "fuzz_readers: %s\n", error.what());
    std::exit(2);
  }
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes(data, data + size);
  try {
    windtunnel::reader->read(bytes);
  } catch (const windtunnel::Error&) {
    return 0;
  }
  return 0;
}
