// The files in the folder of a sweep, and what is lost if the process is killed.
//   cases.jsonl    what is swept: a line with the scenario, then one per point with its keys;
//                  written once and never changed
//   part-I.jsonl   results of shard I: a line per finished point, appended and synced; on object
//                  storage part-I-K.jsonl, each written once
//   results.jsonl, results.sqlite, sweep.json, report.html    made by merging
// An incomplete line does not count, and its point runs again. The merged result depends only on
// the cases, not on shards, threads or interruptions.
#pragma once

#include <chrono>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "report/json/json.hpp"
#include "sim/study/sweep.hpp"

namespace windtunnel {

// This is the format of cases.jsonl and sweep.json.
inline constexpr const char* kSweepFormat = "windtunnel-sweep-1";

struct SweepPlan {
  std::string version;  // of the program
  Sweep sweep;
  std::vector<SweepCase> cases;
  bool operator==(const SweepPlan&) const = default;
};

inline constexpr const char* kSweepFile = "cases.jsonl";  // every folder of a sweep has it
std::string cases_path(const std::string& folder);
// Writes cases.jsonl a line at a time. Throws Error (failed) with the system's reason.
void write_cases(const SweepPlan& plan, const std::string& file);
// Reads cases.jsonl. Throws Error with the file's name and line.
SweepPlan read_cases(const std::string& file);
// The same without keeping the cases: calls `use` with each, and returns a plan without cases.
SweepPlan read_cases(const std::string& file, const std::function<void(const SweepCase&)>& use);
// The same as a text; a line without its newline does not count.
std::string cases_text(const SweepPlan& plan);
SweepPlan parse_cases(const std::string& text, const std::string& file);

// How the sweep asked for differs from the one in the folder, for a message: "the scenario has
// changed". Empty if they are equal.
std::string difference_of(const SweepPlan& old_plan, const SweepPlan& new_plan);

// The line of a finished point: {"index", "key", "scenario", "set", "iteration": {"time_s",
// "tokens_per_s", "mfu", "tflops_per_gpu"}, "result", "job", "cost_models", "trial_goodput"}, or
// "reason" instead of everything after `set`. `result` is the campaign of the run document.
std::string point_line(const Sweep& sweep, const SweepCase& the_case, const SweepPoint& point);

// Appends to the part of a shard. Only one process at a time can: a second one is refused. This
// process must not read the part by other means meanwhile. Object storage cannot append or lock;
// there `write_once_s` > 0 collects lines for that many seconds and writes them as a new file,
// part-I-K.jsonl, that is never opened again. If points take longer, each is written at once, as
// long as there is at most one file per `write_once_s` of the time so far. A kill loses the
// collected lines, and two processes on one shard only repeat work.
class SweepPart {
 public:
  SweepPart(const std::string& folder, int shard, int write_once_s = 0);
  ~SweepPart();
  SweepPart(const SweepPart&) = delete;
  SweepPart& operator=(const SweepPart&) = delete;
  // The line is on the disk on return, unless it is collected. Throws Error (failed) with the
  // system's reason.
  void append(const std::string& line);
  // Writes the collected lines; if it throws, they stay collected.
  void finish();

 private:
  void cut_off_torn_line();
  void write_all(int file, const std::string& path, const std::string& text);

  std::string path_;
  int file_ = -1;
  int write_once_s_ = 0;
  int next_file_ = 0;  // K of the next file
  int written_ = 0;    // files written by this process
  std::string kept_back_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

// A file that is written line by line and appears only when it is complete. It keeps one line in
// memory.

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
