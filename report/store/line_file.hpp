// A file that is written line by line and appears only when it is complete. It keeps one line in
// memory.
#pragma once

#include <fstream>
#include <string>

namespace windtunnel {

class LineFile {
 public:
  // Each member throws Error (failed) with the path and the system's reason.
  explicit LineFile(std::string path);
  ~LineFile();  // discards the file unless it was closed
  LineFile(const LineFile&) = delete;
  LineFile& operator=(const LineFile&) = delete;
  void add(const std::string& line);  // `line` includes its newline
  void close();

 private:
  void check() const;

  const std::string path_, temporary_;
  std::ofstream out_;
};

}  // namespace windtunnel
