#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "models/base/error.hpp"
#include "traces/profile/profile_events.hpp"
#include "traces/profile/profile_reader.hpp"
#include "traces/sqlite/sqlite_reader.hpp"

namespace windtunnel {
namespace {

constexpr double kPerNanosecond_us = 1e-3;
constexpr std::string_view kKernels = "CUPTI_ACTIVITY_KIND_KERNEL";

// Whether a range marks a step: "ProfilerStep#3", "iteration 3", "step_3", "train step 3".
bool marks_a_step(std::string_view text) {
  std::size_t digits = text.size();
  while (digits > 0 && text[digits - 1] >= '0' && text[digits - 1] <= '9') --digits;
  if (digits == text.size()) return false;
  std::string word;
  for (const char c : text.substr(0, digits)) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (letter) word += static_cast<char>(c | 0x20);
  }
  constexpr std::string_view kWords[] = {"profilerstep", "step",         "iteration", "iter",
                                         "trainstep",    "trainingstep", "batch"};
  return std::ranges::find(kWords, word) != std::end(kWords);
}

class NsightReader {
 public:
  explicit NsightReader(const std::string& path) : database_(path), path_(path) {}

  RankProfile read() {
    if (!database_.has_table(std::string(kKernels))) {
      throw Error(Location{path_},
                  fmt::format("has no table {}; it must be an export of Nsight Systems (nsys "
                              "export --type sqlite) of a run with --trace=cuda",
                              kKernels));
    }
    refuse_graphs();
    read_work(std::string(kKernels), EventKind::kernel);
    read_work("CUPTI_ACTIVITY_KIND_MEMCPY", EventKind::copy);
    read_work("CUPTI_ACTIVITY_KIND_MEMSET", EventKind::fill);
    read_launches();
    read_ranges();
    read_gpu();
    made_.profile.file = path_;
    try {
      return made_.take();
    } catch (const Error& error) {
      throw Error(Location{path_}, std::string(error.text()));
    }
  }

 private:
  void add(const SqliteRow& row, ProfileEvent event) {
    const std::int64_t start_ns = row.integer(0);
    const std::int64_t end_ns = row.integer(1);
    if (end_ns < start_ns) {
      row.fail(fmt::format("ends at {} ns, before it begins at {}", end_ns, start_ns));
    }
    event.complete = true;
    event.start_us = double(start_ns) * kPerNanosecond_us;
    event.duration_us = (double(end_ns) - double(start_ns)) * kPerNanosecond_us;
    try {
      made_.add(event);
    } catch (const Error& error) {
      row.fail(std::string(error.text()));
    }
  }

  // By default nsys records a CUDA graph as one span, and its kernels are lost.
  void refuse_graphs() {
    const std::string table = "CUPTI_ACTIVITY_KIND_GRAPH_TRACE";
    if (!database_.has_table(table)) return;
    database_.each_row(table, "SELECT 1 FROM " + table + " LIMIT 1", [&](const SqliteRow&) {
      throw Error(Location{path_},
                  "contains CUDA graphs without their kernels; record with nsys profile "
                  "--cuda-graph-trace=node");
    });
  }

  void read_work(const std::string& table, EventKind kind) {
    if (!database_.has_table(table)) return;
    const bool named = kind == EventKind::kernel && database_.has_table("StringIds");
    const std::string statement =
        named
            ? fmt::format(
                  "SELECT k.start, k.\"end\", k.deviceId, k.streamId, k.correlationId, "
                  "s.value FROM {} k LEFT JOIN StringIds s ON s.id = k.demangledName",
                  table)
            : fmt::format("SELECT start, \"end\", deviceId, streamId, correlationId, NULL FROM {}",
                          table);
    database_.each_row(table, statement, [&](const SqliteRow& row) {
      ProfileEvent event;
      event.kind = kind;
      event.device = row.integer_or(2, -1);
      event.stream = row.integer_or(3, 0);
      event.correlation = row.integer_or(4, -1);
      event.name = row.text_or(5, "");
      add(row, std::move(event));
    });
  }

  void read_launches() {
    const std::string table = "CUPTI_ACTIVITY_KIND_RUNTIME";
    if (!database_.has_table(table)) return;
    const std::string statement = fmt::format(
        "SELECT e.start, e.\"end\", e.correlationId, {} FROM {} e", thread_in(table), table);
    database_.each_row(table, statement, [&](const SqliteRow& row) {
      ProfileEvent event;
      event.kind = EventKind::launch;
      event.correlation = row.integer_or(2, -1);
      event.thread = row.integer_or(3, -1);
      add(row, std::move(event));
    });
  }

  // SQL for the host's thread in a row `e`, or NULL in files that lack it.
  std::string thread_in(const std::string& table) const {
    return database_.has_column(table, "globalTid") ? "e.globalTid" : "NULL";
  }

  void read_ranges() {
    const std::string table = "NVTX_EVENTS";
    if (!database_.has_table(table)) return;
    const bool registered =
        database_.has_table("StringIds") && database_.has_column(table, "textId");
    const std::string statement = fmt::format(
        "SELECT e.start, e.\"end\", {}, {} FROM NVTX_EVENTS e{} WHERE e.\"end\" IS NOT NULL",
        registered ? "COALESCE(e.text, s.value)" : "e.text", thread_in(table),
        registered ? " LEFT JOIN StringIds s ON s.id = e.textId" : "");
    database_.each_row(table, statement, [&](const SqliteRow& row) {
      ProfileEvent event;
      event.kind = EventKind::host_span;
      event.name = row.text_or(2, "");
      event.thread = row.integer_or(3, -1);
      event.marks_step = marks_a_step(event.name);
      if (event.marks_step || pass_of_range(event.name)) add(row, std::move(event));
    });
  }

  void read_gpu() {
    if (!database_.has_table("TARGET_INFO_GPU")) return;
    database_.each_row("TARGET_INFO_GPU", "SELECT name FROM TARGET_INFO_GPU",
                       [&](const SqliteRow& row) {
                         if (made_.profile.gpu.empty()) made_.profile.gpu = row.text_or(0, "");
                       });
  }

  SqliteReader database_;
  std::string path_;
  ProfileMaker made_;
};

}  // namespace

RankProfile read_nsight(const std::string& path) {
  return NsightReader(path).read();
}

}  // namespace windtunnel
