// A file that is written a line at a time and is there when it is finished, or not at all: in the
// memory of one line, however long it becomes.
#pragma once

#include <fstream>
#include <string>

namespace windtunnel {

class LineFile {
 public:
  // Each member throws Error (failed) with the path and the system's reason.
  explicit LineFile(std::string path);
  ~LineFile();  // without close() nothing is left of it
  LineFile(const LineFile&) = delete;
  LineFile& operator=(const LineFile&) = delete;
  void add(const std::string& line);  // with its end
  void close();

 private:
  void check() const;

  const std::string path_, temporary_;
  std::ofstream out_;
};

}  // namespace windtunnel
