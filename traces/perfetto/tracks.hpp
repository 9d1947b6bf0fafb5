// A Timeline as tracks for drawing: per recorded rank and stream, events that never overlap.
//
// A receive is posted long before its message is sent. To show the transit, a receive is drawn from
// the later of its own start and the start of its send; receives that still overlap on an unordered
// stream go to further lanes of that stream.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/plan/timeline.hpp"

namespace windtunnel {

// Rounds to nearest. Throws Error (failed) beyond 2^63 ns, about 292 years.
std::int64_t nanoseconds(double seconds);

struct TrackEvent {
  TaskIndex task = 0;
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
};

struct Track {
  std::int16_t stream = 0;
  int lane = 0;                    // 0 unless events of the stream overlap
  std::vector<TrackEvent> events;  // by start
};

// A task of a recorded rank: `entry` is an index into Timeline::ranks.
struct TaskOfRank {
  std::int32_t entry = -1;  // -1: none
  TaskIndex task = -1;
};

class TimelineTracks {
 public:
  // Keeps references to both.
  TimelineTracks(const Plan& plan, const Timeline& timeline);

  // In the order of streams, then of lanes; streams without tasks have no track.
  std::vector<Track> tracks(int entry) const;
  // The send of a receive, on the recorded rank that represents the sender; none for other tasks.
  TaskOfRank sender_of(TaskOfRank receive) const;

 private:
  TrackEvent event_of(int entry, TaskIndex task) const;

  const Plan& plan_;
  const Timeline& timeline_;
  std::vector<std::vector<Counterpart>> counterparts_;
  std::vector<ClassMember> members_;
};

// The category in which a task is drawn: that of the largest part of its own cost.
Category main_category(const Task& task);

}  // namespace windtunnel
