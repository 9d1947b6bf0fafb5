// The places of a sweep's finished points in its part files: two dozen bytes per point, whatever
// the length of its line, so that merging a million points takes little memory.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "report/store/sweep_store.hpp"

namespace windtunnel {

// A sweep without its cases. Each point keeps only the key that identifies its line.
struct SweepHead {
  std::string version;  // of the program
  Sweep sweep;
  std::vector<std::uint64_t> keys;  // [point] SweepCase::key
};
SweepHead head_of(const SweepPlan& plan);
// Reads cases.jsonl line by line. Throws Error as read_cases() does.
SweepHead read_head(const std::string& folder);

class SweepLines {
 public:
  // Reads all parts of the folder. Throws Error with file:line for a line that is not a result of
  // this sweep, except for an incomplete last line. If a point has two lines, the first counts.
  SweepLines(const std::string& folder, const SweepHead& head);
  ~SweepLines();
  SweepLines(const SweepLines&) = delete;
  SweepLines& operator=(const SweepLines&) = delete;

  size_t points() const { return places_.size(); }  // of the sweep
  size_t finished() const { return finished_; }
  bool has(size_t index) const { return places_[index].length > 0; }
  std::vector<int> missing() const;
  // The line of a finished point, with its newline.
  std::string line(size_t index);

 private:
  struct Place {
    std::uint64_t offset = 0;
    std::uint32_t part = 0;
    std::uint32_t length = 0;
  };
  void index_part(std::uint32_t part, const SweepHead& head);
  int opened(std::uint32_t part);
  void close_all();

  std::vector<std::string> paths_;
  std::vector<int> files_;  // [path] -1: closed
  size_t open_ = 0;
  std::vector<Place> places_;
  size_t finished_ = 0;
};

}  // namespace windtunnel
