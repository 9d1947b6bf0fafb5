// One iteration as flat arrays for a page to draw: a row per pipeline rank, and the memory of each
// rank over time. Times are in whole ticks of `tick_ns`, each relative to the end of the bar
// before. This takes a tenth of the bytes of one object per task.
#pragma once

#include <initializer_list>
#include <map>
#include <set>

#include "report/json/json.hpp"

namespace windtunnel {

// Kinds of bars in a row: passes, and communication that a rank waits for without computing.
// Returns all names in the order of their numbers.
Json drawn_kinds();

// [class of ranks] The tasks on the critical path of any of its ranks; one rank is drawn for the
// class.
std::map<std::int32_t, std::set<TaskIndex>> critical_tasks(const Record& record);

struct DrawingOptions {
  size_t max_spans = 60000;  // bars and memory steps; further ranks are left out
};

// {"tick_ns", "makespan", "steady", "ranks_left_out", "rows": [{"rank", "gap", "duration", "kind",
// "name", "critical"}], "memory": memory_curves()}. `kind` is a string with a letter per bar, where
// 'a' is the first of drawn_kinds(); `name` joins the bars' names with ';'; `critical` has the
// indices of bars on the critical path. One rank is drawn for equal ranks. An asynchronous schedule
// is drawn for one period of its steady state (`steady`). The record must have its Plan and
// Timeline.
Json drawing_of(const Record& record, const DrawingOptions& options = {});

// {"capacity_bytes", "ranks": [{part: bytes}]}, parts as memory_parts() has them.
Json memory_ranks(const Record& record);

// {"tick_ns", "unit_bytes", "usable_bytes", "ranks": [{"rank", "static_bytes", "gap", "change",
// "peak": {"at", "bytes", "task"}}]}: `change` is in units of `unit_bytes`, on top of
// `static_bytes` (weights, gradients, optimizer state, buffers, framework). At most the first
// `most` ranks.
Json memory_curves(const Record& record, size_t most);

// Check everything that the pages' scripts read: throw Json's exceptions if something is missing or
// of another type, and Error if parts do not match.
void check_curves(const Json& curves);
void check_drawing(const Json& drawing);
// Checks that the arrays at these keys have equal lengths.
void check_parallel(const Json& object, std::initializer_list<const char*> keys);
// Checks that the array contains indices below `size`. It may be missing: older versions did not
// write it.
void check_indices(const Json& object, const char* key, std::size_t size);

}  // namespace windtunnel
