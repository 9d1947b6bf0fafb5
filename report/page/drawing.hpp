// One iteration as flat arrays that a page draws: a row per pipeline rank, and the memory of each
// over time. Times are whole ticks of `tick_ns`, each counted from the end of the one before: a
// tenth of the bytes of one object per task.
#pragma once

#include <initializer_list>
#include <map>
#include <set>

#include "report/json/json.hpp"

namespace windtunnel {

// What a bar of a row stands for: the pass; communication where a rank waits for it and computes
// nothing. The names of all, in the order of their numbers.
Json drawn_kinds();

// The tasks of each class that the critical path goes through, on whichever of its ranks: one is
// drawn for all.
std::map<std::int32_t, std::set<TaskIndex>> critical_tasks(const Record& record);

struct DrawingOptions {
  size_t max_spans = 60000;  // bars and memory steps; further ranks are left out
};

// {"tick_ns", "makespan", "steady", "ranks_left_out", "rows": [{"rank", "gap", "duration", "kind",
// "name", "critical"}], "memory": memory_curves()}. `kind` is a string with a letter per bar, 'a'
// being the first of drawn_kinds(); `name` joins the bars' names with ';'; `critical` are the
// indices of those on the critical path. Of ranks that are alike one is
// drawn. Of an asynchronous schedule one period of its steady state is drawn (`steady`). Needs the
// record's Plan and Timeline.
Json drawing_of(const Record& record, const DrawingOptions& options = {});

// {"capacity_bytes", "ranks": [{part: bytes}]}, parts as memory_parts() has them.
Json memory_ranks(const Record& record);

// {"tick_ns", "unit_bytes", "usable_bytes", "ranks": [{"rank", "static_bytes", "gap", "change",
// "peak": {"at", "bytes", "task"}}]}: `change` in units of `unit_bytes`, on top of `static_bytes`
// (weights, gradients, optimizer state, buffers, framework). `ranks` are the first `most` of them.
Json memory_curves(const Record& record, size_t most);

// Read all that the pages' scripts read of them: throw what Json throws where something is missing
// or of another kind, and Error where parts do not belong together.
void check_curves(const Json& curves);
void check_drawing(const Json& drawing);
// Arrays at these keys that have an entry for the same things each.
void check_parallel(const Json& object, std::initializer_list<const char*> keys);
// An array, where there is one (older programs did not write it), of indices below `size`.
void check_indices(const Json& object, const char* key, std::size_t size);

}  // namespace windtunnel
