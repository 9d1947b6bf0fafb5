// What a sweep keeps in its folder, and how little a kill can cost.
//   cases.jsonl    what is swept: a line with the scenario, then one per point with its keys;
//                  written once and never changed
//   part-I.jsonl   results of shard I: a line per finished point, appended and synced; on object
//                  storage part-I-K.jsonl, each written once
//   results.jsonl, results.sqlite, sweep.json, report.html    made by merging
// A line that a kill cut off is no result; its point runs again. What is merged depends on the
// cases alone: not on shards, threads or interruptions.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "report/json/json.hpp"
#include "sim/study/sweep.hpp"

namespace windtunnel {

// The format of cases.jsonl and sweep.json.
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
// And back. Throws Error with the file's name and line.
SweepPlan read_cases(const std::string& file);
// The same without keeping the cases: `use` gets one after the other, the plan has none.
SweepPlan read_cases(const std::string& file, const std::function<void(const SweepCase&)>& use);
// The same of text, in which a line without its end does not count.
std::string cases_text(const SweepPlan& plan);
SweepPlan parse_cases(const std::string& text, const std::string& file);

// What differs between the sweep of a folder and the one that is asked for, for a message: "the
// scenario has changed". Empty: nothing does.
std::string difference_of(const SweepPlan& old_plan, const SweepPlan& new_plan);

// The line of a finished point: {"index", "key", "scenario", "set", "iteration": {"time_s",
// "tokens_per_s", "mfu", "tflops_per_gpu"}, "result", "job", "cost_models", "trial_goodput"}, or
// "reason" instead of what follows `set`. `result` is the campaign of the run document.
std::string point_line(const Sweep& sweep, const SweepCase& the_case, const SweepPoint& point);

// Appends to the part of a shard. One process at a time: a second one is refused. While it is open
// this process must not read the part otherwise. With `write_once_s` > 0, for object storage, which
// neither appends nor locks: lines are kept back for so many seconds and then written as a file of
// their own, part-I-K.jsonl, that is never opened again. Points that end more seldom are written at
// once: of the time since the beginning there is a file for so many seconds. A kill costs what was
// kept back, and two processes on the same shard only do the work twice.
class SweepPart {
 public:
  SweepPart(const std::string& folder, int shard, int write_once_s = 0);
  ~SweepPart();
  SweepPart(const SweepPart&) = delete;
  SweepPart& operator=(const SweepPart&) = delete;
  // On the disk when it returns, unless it is kept back. Throws Error (failed) with the system's
  // reason.
  void append(const std::string& line);
  // Writes what is kept back. Throws likewise; it stays kept back then.
  void finish();

 private:
  void cut_off_torn_line();
  void write_all(int file, const std::string& path, const std::string& text);

  std::string path_;
  int file_ = -1;
  int write_once_s_ = 0;
  int next_file_ = 0;  // K of the next one
  int written_ = 0;    // files, by this process
  std::string kept_back_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace windtunnel
