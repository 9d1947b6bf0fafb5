// The texts under scenarios/library, embedded at build time by scenarios/embed.cmake.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace windtunnel {

struct LibraryFile {
  std::string_view path;  // "nodes.yaml", "repairs/infinitehbd.csv"
  std::string_view text;
};

const std::vector<LibraryFile>& library_files();

}  // namespace windtunnel
