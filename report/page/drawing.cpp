#include "report/page/drawing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "models/base/error.hpp"
#include "models/cost/offload/offload.hpp"
#include "models/results/memory_timeline.hpp"
#include "report/summary/summary.hpp"
#include "traces/perfetto/tracks.hpp"

namespace windtunnel {
namespace {

enum class DrawnKind : std::uint8_t {
  forward,
  backward,
  input_gradient,
  weight_gradient,
  recompute,
  overlapped,
  optimizer,
  message,
  collective,
  filling,
  other,
};

// The time window that is drawn: everything, or one period of the steady state.
struct Window {
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
};

Window whole(const Record& record) {
  return {0, nanoseconds(record.timeline.makespan_s)};
}

Window one_period(const Record& record) {
  if (record.plan.iterations == 1) return whole(record);
  const int last = reported_window(record.job, record.plan).last;
  const double end_s = foreground_end_s(record.plan, record.timeline, last);
  return {nanoseconds(end_s - record.iteration.time_s), nanoseconds(end_s)};
}

struct Bar {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  DrawnKind kind = DrawnKind::other;
  const std::string* name = nullptr;
  bool critical = false;
};

DrawnKind kind_of(const Task& task) {
  const auto main = task.kind == TaskKind::compute ? task.category : main_category(task);
  switch (main) {
    case Category::forward:
      return task.paired ? DrawnKind::overlapped : DrawnKind::forward;
    case Category::backward:
      if (task.paired) return DrawnKind::overlapped;
      if (task.action == ActionKind::backward_input) return DrawnKind::input_gradient;
      return task.action == ActionKind::backward_weight ? DrawnKind::weight_gradient
                                                        : DrawnKind::backward;
    case Category::recompute:
      return DrawnKind::recompute;
    case Category::optimizer:
      return DrawnKind::optimizer;
    case Category::pp:
      return DrawnKind::message;
    case Category::tp:
    case Category::cp:
    case Category::ep:
    case Category::dp:
      return DrawnKind::collective;
    case Category::filling:
      return DrawnKind::filling;
    default:
      return DrawnKind::other;
  }
}

// Bars of compute tasks, and in the gaps between them the communication in progress, which the rank
// waits for. If several overlap, the one that started first is shown.
class Row {
 public:
  Row(const RankClass& rank_class, const std::vector<Track>& tracks,
      const std::set<TaskIndex>& critical) {
    for (const Track& track : tracks) {
      for (const TrackEvent& event : track.events) {
        const Task& task = rank_class.tasks[event.task];
        auto& bars = task.kind == TaskKind::compute ? compute_ : beside_;
        bars.push_back({event.start_ns, event.end_ns, kind_of(task), &task.name,
                        critical.contains(event.task)});
      }
    }
    const auto by_start = [](const Bar& a, const Bar& b) { return a.start_ns < b.start_ns; };
    std::ranges::stable_sort(compute_, by_start);
    std::ranges::stable_sort(beside_, by_start);
  }

  std::vector<Bar> bars() {
    std::int64_t until_ns = 0;
    for (const Bar& bar : compute_) {
      fill_gap(until_ns, bar.start_ns);
      bars_.push_back(bar);
      until_ns = std::max(until_ns, bar.end_ns);
    }
    std::int64_t last_ns = until_ns;
    for (const Bar& bar : beside_) last_ns = std::max(last_ns, bar.end_ns);
    fill_gap(until_ns, last_ns);
    return std::move(bars_);
  }

 private:
  void fill_gap(std::int64_t from_ns, std::int64_t to_ns) {
    while (first_ < beside_.size() && beside_[first_].end_ns <= from_ns) ++first_;
    for (size_t i = first_; i < beside_.size() && beside_[i].start_ns < to_ns; ++i) {
      Bar bar = beside_[i];
      bar.start_ns = std::max(bar.start_ns, from_ns);
      bar.end_ns = std::min(bar.end_ns, to_ns);
      if (bar.start_ns >= bar.end_ns) continue;
      from_ns = bar.end_ns;
      bars_.push_back(bar);
    }
  }

  std::vector<Bar> compute_;
  std::vector<Bar> beside_;
  std::vector<Bar> bars_;
  size_t first_ = 0;  // index in `beside_`; earlier ones have ended
};

// The power of ten that scales `largest` to at most `digits` digits.
double unit_for(double largest, int digits) {
  double unit = 1;
  while (largest / unit >= std::pow(10.0, digits)) unit *= 10;
  return unit;
}

std::int64_t tick_for(const Window& window) {
  constexpr int kDigits = 8;
  return std::llround(unit_for(static_cast<double>(window.end_ns - window.begin_ns), kDigits));
}

std::int64_t ticks(std::int64_t ns, std::int64_t tick_ns) {
  return std::llround(static_cast<double>(ns) / static_cast<double>(tick_ns));
}

// The part of the bars within the window, relative to its begin.
std::vector<Bar> clipped(const std::vector<Bar>& bars, const Window& window) {
  std::vector<Bar> kept;
  for (Bar bar : bars) {
    if (bar.end_ns < window.begin_ns || bar.start_ns > window.end_ns) continue;
    bar.start_ns = std::max(bar.start_ns, window.begin_ns) - window.begin_ns;
    bar.end_ns = std::min(bar.end_ns, window.end_ns) - window.begin_ns;
    kept.push_back(bar);
  }
  return kept;
}

Json row_json(const std::string& rank, const std::vector<Bar>& bars, std::int64_t tick_ns) {
  Json gap = Json::array(), duration = Json::array(), critical = Json::array();
  std::string kind, name;
  std::int64_t last = 0;
  for (const Bar& bar : bars) {
    const std::int64_t start = std::max(last, ticks(bar.start_ns, tick_ns));
    const std::int64_t end = std::max(start, ticks(bar.end_ns, tick_ns));
    if (bar.critical) critical.push_back(gap.size());
    gap.push_back(start - last);
    duration.push_back(end - start);
    last = end;
    kind.push_back(static_cast<char>('a' + static_cast<int>(bar.kind)));
    if (!name.empty()) name += ';';
    for (const char c : *bar.name) name += c == ';' ? ',' : c;
  }
  return {{"rank", rank}, {"gap", gap},   {"duration", duration},
          {"kind", kind}, {"name", name}, {"critical", critical}};
}

std::string label_of(const Record& record, int entry) {
  const RankTimeline& rank = record.timeline.ranks[entry];
  const std::string& name = record.plan.classes[rank.rank_class].name;
  return name.empty() ? fmt::format("rank {}", rank.rank) : name;
}

// Memory is known per pipeline rank; nullptr for another class of ranks.
const GpuMemory* memory_of(const Record& record, int entry) {
  const auto rank_class = static_cast<size_t>(record.timeline.ranks[entry].rank_class);
  const std::vector<GpuMemory>& memory = record.iteration.memory;
  return memory.size() == record.plan.classes.size() ? &memory[rank_class] : nullptr;
}

// Bytes that do not change during the iteration.
double static_bytes(const Record& record, int entry, MemoryPlace place) {
  const GpuMemory* memory = memory_of(record, entry);
  if (memory == nullptr) return 0;
  if (place == MemoryPlace::gpu) return memory->total() - memory->activations;
  return memory->host.total() + memory->disk.total() - memory->host.activations -
         memory->disk.activations;
}

// One memory (GPU or host) of one simulated rank over time.
struct RankMemory {
  int entry = 0;
  MemoryPlace place = MemoryPlace::gpu;
  MemoryTimeline timeline;
};

Json curve_json(const Record& record, const RankMemory& of, const Window& window,
                double unit_bytes) {
  const auto& [entry, place, memory] = of;
  const std::int64_t tick_ns = tick_for(window);
  const auto tick_of = [&](double at_s) {
    return ticks(std::max<std::int64_t>(0, nanoseconds(at_s) - window.begin_ns), tick_ns);
  };
  Json gap = Json::array(), change = Json::array();
  std::int64_t last = 0, level = 0;
  for (const MemoryStep& step : memory.steps) {
    if (nanoseconds(step.at_s) > window.end_ns) break;
    const std::int64_t at = tick_of(step.at_s);
    const std::int64_t now = std::llround(step.alive_bytes / unit_bytes);
    if (!gap.empty() && at == last) {
      change.back() = change.back().get<std::int64_t>() + now - std::exchange(level, now);
      continue;
    }
    gap.push_back(at - std::exchange(last, at));
    change.push_back(now - std::exchange(level, now));
  }
  Json peak = nullptr;
  if (memory.peak_task >= 0) {
    const RankClass& owner = record.plan.classes[record.timeline.ranks[entry].rank_class];
    peak = {{"at", tick_of(memory.peak_at_s)},
            {"bytes", memory.peak_bytes},
            {"task", owner.tasks[memory.peak_task].name}};
  }
  return {{"rank", label_of(record, entry) + (place == MemoryPlace::tier ? ", offloaded" : "")},
          {"static_bytes", static_bytes(record, entry, place)},
          {"gap", gap},
          {"change", change},
          {"peak", peak}};
}

Json curves_json(const Record& record, size_t most, const Window& window) {
  constexpr int kDigits = 5;
  std::vector<RankMemory> timelines;
  double peak_bytes = 0;
  const double from_s = static_cast<double>(window.begin_ns) / 1e9;
  for (const int entry : rank_of_each_class(record.plan, record.timeline)) {
    if (timelines.size() >= most) break;
    const RankTimeline& rank = record.timeline.ranks[entry];
    for (const MemoryPlace place : {MemoryPlace::gpu, MemoryPlace::tier}) {
      if (place == MemoryPlace::tier && !offload_of(record.job).any()) continue;
      const RankClass& owner = record.plan.classes[rank.rank_class];
      timelines.push_back({entry, place, memory_timeline(owner, rank, from_s, place)});
      peak_bytes = std::max(peak_bytes, timelines.back().timeline.peak_bytes);
    }
  }
  const double unit_bytes = unit_for(peak_bytes, kDigits);
  return {{"tick_ns", tick_for(window)},
          {"unit_bytes", unit_bytes},
          {"usable_bytes", tightest_bytes(record.iteration.memory, record.job)},
          {"ranks", list_json(timelines, [&](const RankMemory& memory) {
             return curve_json(record, memory, window, unit_bytes);
           })}};
}

}  // namespace

Json drawn_kinds() {
  return {"forward",         "backward",  "input gradient",
          "weight gradient", "recompute", "forward + backward",
          "optimizer",       "message",   "collective",
          "filling",         "other"};
}

std::map<std::int32_t, std::set<TaskIndex>> critical_tasks(const Record& record) {
  std::map<std::int32_t, std::set<TaskIndex>> tasks;
  for (const PathStep& step : record.critical_path) tasks[step.rank_class].insert(step.task);
  return tasks;
}

Json memory_ranks(const Record& record) {
  return {{"capacity_bytes", tightest_bytes(record.iteration.memory, record.job)},
          {"ranks", list_json(record.iteration.memory, [](const GpuMemory& rank) {
             Json parts = Json::object();
             for (const auto& [name, bytes] : memory_parts(rank)) parts[name] = bytes;
             return parts;
           })}};
}

Json memory_curves(const Record& record, size_t most) {
  return curves_json(record, most, whole(record));
}

Json drawing_of(const Record& record, const DrawingOptions& options) {
  const Window window = one_period(record);
  const std::int64_t tick_ns = tick_for(window);
  const TimelineTracks tracks(record.plan, record.timeline);
  auto critical = critical_tasks(record);
  Json rows = Json::array();
  int left_out = 0;
  size_t spans = 0;
  for (const int entry : rank_of_each_class(record.plan, record.timeline)) {
    const auto rank_class = record.timeline.ranks[entry].rank_class;
    std::vector<Bar> bars;
    if (left_out == 0) {
      Row row(record.plan.classes[rank_class], tracks.tracks(entry), critical[rank_class]);
      bars = clipped(row.bars(), window);
    }
    spans += 2 * bars.size();  // nearly every bar has a memory step
    if (left_out > 0 || spans > options.max_spans) {
      ++left_out;
    } else {
      rows.push_back(row_json(label_of(record, entry), bars, tick_ns));
    }
  }
  const size_t drawn = rows.size();
  return {{"tick_ns", tick_ns},
          {"makespan", ticks(window.end_ns - window.begin_ns, tick_ns)},
          {"steady", record.plan.iterations > 1},
          {"ranks_left_out", left_out},
          {"rows", std::move(rows)},
          {"memory", curves_json(record, drawn, window)}};
}

void check_parallel(const Json& object, std::initializer_list<const char*> keys) {
  const size_t size = object.at(*keys.begin()).get_ref<const Json::array_t&>().size();
  for (const char* key : keys) {
    const size_t other = object.at(key).get_ref<const Json::array_t&>().size();
    if (other == size) continue;
    throw Error(fmt::format("{} of '{}' and {} of '{}'", size, *keys.begin(), other, key));
  }
}

void check_indices(const Json& object, const char* key, std::size_t size) {
  const auto indices = object.find(key);
  if (indices == object.end()) return;
  for (const Json& index : indices->get_ref<const Json::array_t&>()) {
    if (index.get<std::size_t>() < size) continue;
    throw Error(fmt::format("there is no task {} in its row", index.get<std::size_t>()));
  }
}

void check_curves(const Json& curves) {
  for (const char* key : {"tick_ns", "unit_bytes", "usable_bytes"}) curves.at(key).get<double>();
  for (const Json& rank : curves.at("ranks")) {
    rank.at("rank").get_ref<const std::string&>();
    rank.at("static_bytes").get<double>();
    check_parallel(rank, {"gap", "change"});
    const Json& peak = rank.at("peak");
    if (peak.is_null()) continue;
    for (const char* key : {"at", "bytes"}) peak.at(key).get<double>();
    peak.at("task").get_ref<const std::string&>();
  }
}

void check_drawing(const Json& drawing) {
  for (const char* key : {"tick_ns", "makespan", "ranks_left_out"}) {
    drawing.at(key).get<double>();
  }
  for (const Json& row : drawing.at("rows")) {
    row.at("rank").get_ref<const std::string&>();
    check_parallel(row, {"gap", "duration"});
    for (const char* key : {"kind", "name"}) row.at(key).get_ref<const std::string&>();
    check_indices(row, "critical", row.at("gap").size());
  }
  check_curves(drawing.at("memory"));
}

}  // namespace windtunnel
