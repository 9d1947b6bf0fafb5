#include "traces/perfetto/perfetto.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "traces/perfetto/tracks.hpp"

namespace windtunnel {
namespace {

const char* to_string(TaskKind kind) {
  switch (kind) {
    case TaskKind::compute:
      return "compute";
    case TaskKind::send:
      return "send";
    case TaskKind::recv:
      return "recv";
    case TaskKind::collective:
      return "collective";
    case TaskKind::copy:
      return "copy";
    case TaskKind::encode:
      return "encode";
    case TaskKind::store:
      return "store";
  }
  return "unknown";
}

std::string json_string(const std::string& text) {
  using nlohmann::json;
  return json(text).dump(-1, ' ', false, json::error_handler_t::replace);
}

// Writes nanoseconds as exact decimal microseconds, so that neighbours touch but never overlap.
std::string microseconds(std::int64_t ns) {
  return fmt::format("{}.{:03}", ns / 1000, ns % 1000);
}

class Writer {
 public:
  Writer(std::ostream& out, const Plan& plan, const Timeline& timeline, int ranks,
         const PerfettoOptions& options)
      : out_(out),
        plan_(plan),
        timeline_(timeline),
        tracks_(plan, timeline),
        ranks_(ranks),
        options_(options) {}

  void write() {
    out_ << "{\"displayTimeUnit\":\"ms\",";
    if (!options_.shows.empty()) {
      out_ << fmt::format(R"("otherData":{{"shows":{}}},)", json_string(options_.shows));
    }
    out_ << "\"traceEvents\":[";
    place_sends();
    for (int entry = 0; entry < ranks_; ++entry) write_rank(entry);
    out_ << "\n]}\n";
  }

 private:
  // An arrow starts where its send does.
  struct Place {
    int thread = -1;
    std::int64_t start_ns = 0;
  };

  const RankClass& class_of(int entry) const {
    return plan_.classes[timeline_.ranks[entry].rank_class];
  }

  void emit(const std::string& event) {
    out_ << (first_ ? "\n" : ",\n") << event;
    first_ = false;
  }

  void place_sends() {
    places_.resize(ranks_);
    for (int entry = 0; entry < ranks_; ++entry) {
      places_[entry].resize(class_of(entry).tasks.size());
      int thread = 0;
      for (const Track& track : tracks_.tracks(entry)) {
        for (const TrackEvent& event : track.events) {
          places_[entry][event.task] = {thread, event.start_ns};
        }
        ++thread;
      }
    }
  }

  void write_rank(int entry) {
    const RankTimeline& rank = timeline_.ranks[entry];
    std::string name = fmt::format("rank {}: {}", rank.rank, class_of(entry).name);
    if (rank.multiplicity > 1) name += fmt::format(" (stands for {:.0f} ranks)", rank.multiplicity);
    if (!options_.label.empty()) name += fmt::format(" [{}]", options_.label);
    write_metadata(rank.rank, 0, "process_name", json_string(name));
    int thread = 0;
    for (const Track& track : tracks_.tracks(entry)) {
      std::string stream = class_of(entry).streams[track.stream].name;
      if (track.lane > 0) stream += fmt::format(" +{}", track.lane);
      write_metadata(rank.rank, thread, "thread_name", json_string(stream));
      for (const TrackEvent& event : track.events) write_event(entry, thread, event);
      ++thread;
    }
    write_activations(entry);
  }

  // Writes a counter track of the activation bytes alive on the GPU.
  void write_activations(int entry) {
    const RankTimeline& rank = timeline_.ranks[entry];
    const RankClass& owner = class_of(entry);
    std::map<std::int64_t, double> change_bytes;
    for (TaskIndex t = 0; t < std::ssize(owner.tasks); ++t) {
      const Task& task = owner.tasks[t];
      if (task.allocate_bytes != 0)
        change_bytes[nanoseconds(rank.spans[t].start_s)] += task.allocate_bytes;
      if (task.free_bytes != 0) change_bytes[nanoseconds(rank.spans[t].end_s)] -= task.free_bytes;
    }
    double alive_bytes = 0;
    for (const auto& [at_ns, change] : change_bytes) {
      alive_bytes += change;
      emit(fmt::format(
          R"({{"ph":"C","pid":{},"ts":{},"name":"activations","args":{{"bytes":{:.0f}}}}})",
          rank.rank, microseconds(at_ns), std::max(alive_bytes, 0.0)));
    }
  }

  void write_metadata(RankId rank, int thread, std::string_view what, std::string_view value) {
    emit(fmt::format(R"({{"ph":"M","pid":{},"tid":{},"name":"{}","args":{{"name":{}}}}})", rank,
                     thread, what, value));
  }

  void write_event(int entry, int thread, const TrackEvent& event) {
    const Task& task = class_of(entry).tasks[event.task];
    std::string arguments = fmt::format(R"("kind":"{}")", to_string(task.kind));
    if (task.stage >= 0) arguments += fmt::format(R"(,"stage":{})", task.stage);
    if (task.microbatch >= 0) arguments += fmt::format(R"(,"microbatch":{})", task.microbatch);
    if (task.bytes > 0) arguments += fmt::format(R"(,"bytes":{:.0f})", task.bytes);
    if (plan_.iterations > 1) arguments += fmt::format(R"(,"iteration":{})", task.iteration);
    emit(fmt::format(
        R"({{"ph":"X","pid":{},"tid":{},"ts":{},"dur":{},"name":{},"cat":"{}","args":{{{}}}}})",
        timeline_.ranks[entry].rank, thread, microseconds(event.start_ns),
        microseconds(event.end_ns - event.start_ns), json_string(task.name),
        windtunnel::to_string(main_category(task)), arguments));
    write_arrow(entry, thread, event);
  }

  void write_arrow(int entry, int thread, const TrackEvent& event) {
    const TaskOfRank send = tracks_.sender_of({entry, event.task});
    if (send.entry < 0 || send.entry >= ranks_) return;
    const Place& from = places_[send.entry][send.task];
    // The arrow's head must lie inside of the receive's slice.
    const std::int64_t head_ns = std::max(event.start_ns, event.end_ns - 1);
    const int id = arrows_++;
    write_arrow_end("\"s\"", timeline_.ranks[send.entry].rank, from.thread, from.start_ns, id);
    write_arrow_end(R"("f","bp":"e")", timeline_.ranks[entry].rank, thread, head_ns, id);
  }

  void write_arrow_end(std::string_view phase, RankId rank, int thread, std::int64_t at_ns,
                       int id) {
    emit(fmt::format(
        R"({{"ph":{},"pid":{},"tid":{},"ts":{},"id":{},"name":"message","cat":"message"}})", phase,
        rank, thread, microseconds(at_ns), id));
  }

  std::ostream& out_;
  const Plan& plan_;
  const Timeline& timeline_;
  TimelineTracks tracks_;
  int ranks_;
  const PerfettoOptions& options_;
  std::vector<std::vector<Place>> places_;  // [entry][task]
  int arrows_ = 0;
  bool first_ = true;
};

}  // namespace

int write_perfetto(std::ostream& out, const Plan& plan, const Timeline& timeline,
                   const PerfettoOptions& options) {
  const int recorded = static_cast<int>(timeline.ranks.size());
  const int ranks = std::min(options.max_ranks, recorded);
  Writer(out, plan, timeline, ranks, options).write();
  return recorded - ranks;
}

}  // namespace windtunnel
