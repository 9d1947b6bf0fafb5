#include "traces/perfetto/tracks.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

#include "models/base/error.hpp"

namespace windtunnel {
namespace {

// Greedy colouring of intervals: each event goes to the first lane that is free.
std::vector<Track> assign_lanes(std::int16_t stream, std::vector<TrackEvent> events) {
  std::stable_sort(events.begin(), events.end(), [](const TrackEvent& a, const TrackEvent& b) {
    return a.start_ns != b.start_ns ? a.start_ns < b.start_ns : a.end_ns < b.end_ns;
  });
  std::vector<Track> lanes;
  for (const TrackEvent& event : events) {
    auto lane = std::find_if(lanes.begin(), lanes.end(), [&](const Track& track) {
      return track.events.back().end_ns <= event.start_ns;
    });
    if (lane == lanes.end()) {
      lanes.push_back({stream, static_cast<int>(lanes.size()), {}});
      lane = std::prev(lanes.end());
    }
    lane->events.push_back(event);
  }
  return lanes;
}

}  // namespace

std::int64_t nanoseconds(double seconds) {
  constexpr double kLimit_ns = 0x1p63;
  const double exact_ns = seconds * 1e9;
  if (!(std::abs(exact_ns) < kLimit_ns)) {
    throw Error("the iteration is longer than 292 years and cannot be drawn", ExitCode::failed);
  }
  return std::llround(exact_ns);
}

TimelineTracks::TimelineTracks(const Plan& plan, const Timeline& timeline)
    : plan_(plan),
      timeline_(timeline),
      counterparts_(match_messages(plan)),
      members_(class_of_rank(plan)) {}

TaskOfRank TimelineTracks::sender_of(TaskOfRank receive) const {
  const RankTimeline& rank = timeline_.ranks[receive.entry];
  const RankClass& rank_class = plan_.classes[rank.rank_class];
  const Task& task = rank_class.tasks[receive.task];
  if (task.kind != TaskKind::recv) return {};
  const Counterpart& send = counterparts_[rank.rank_class][receive.task];
  const RankId peer = rank_class.peers[task.peer_slot][members_[rank.rank].member];
  const std::int32_t entry = timeline_.recorded_as[peer];
  CHECK(timeline_.ranks[entry].rank_class == send.rank_class,
        "rank {} is recorded as rank {} of another class", peer, timeline_.ranks[entry].rank);
  return {entry, send.task};
}

TrackEvent TimelineTracks::event_of(int entry, TaskIndex task) const {
  const Span& span = timeline_.ranks[entry].spans[task];
  double start_s = span.start_s;
  const TaskOfRank send = sender_of({entry, task});
  if (send.entry >= 0) {
    start_s = std::max(start_s, timeline_.ranks[send.entry].spans[send.task].start_s);
    start_s = std::min(start_s, span.end_s);
  }
  return {task, nanoseconds(start_s), nanoseconds(span.end_s)};
}

std::vector<Track> TimelineTracks::tracks(int entry) const {
  const RankClass& rank_class = plan_.classes[timeline_.ranks[entry].rank_class];
  std::vector<std::vector<TrackEvent>> by_stream(rank_class.streams.size());
  for (size_t task = 0; task < rank_class.tasks.size(); ++task) {
    const auto index = static_cast<TaskIndex>(task);
    by_stream[rank_class.tasks[task].stream].push_back(event_of(entry, index));
  }
  std::vector<Track> all;
  for (size_t stream = 0; stream < by_stream.size(); ++stream) {
    std::vector<Track> lanes =
        assign_lanes(static_cast<std::int16_t>(stream), std::move(by_stream[stream]));
    std::move(lanes.begin(), lanes.end(), std::back_inserter(all));
  }
  return all;
}

Category main_category(const Task& task) {
  std::array<double, kCategories> seconds{};
  for (const CostPart& part : task.cost)
    seconds[static_cast<size_t>(part.category)] += part.seconds;
  const auto largest = std::max_element(seconds.begin(), seconds.end());
  if (*largest <= 0) return task.category;
  return static_cast<Category>(largest - seconds.begin());
}

}  // namespace windtunnel
