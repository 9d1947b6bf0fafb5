// results.sqlite of a sweep: a table `points` with a row each and numbers in base units, a table
// `varied` with key and unit, and a table `figures` that describes the columns of results.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/json/json.hpp"
#include "report/store/sweep_figures.hpp"
#include "traces/sqlite/sqlite_file.hpp"

namespace windtunnel {

class SweepDatabase {
 public:
  // As with SqliteFile, nothing remains without close(). The sweep must outlive it.
  SweepDatabase(const std::string& path, const Sweep& sweep);
  void add(const Json& point);  // a line of results.jsonl, in the order of indices
  void close();

 private:
  void write_rows();

  SqliteFile file_;
  const Sweep& sweep_;
  std::string marks_;
  std::vector<std::optional<KeyNumbers>> numbers_;
  std::vector<std::vector<SqlValue>> rows_;
};

}  // namespace windtunnel
