// A Timeline as tracks for drawing: per recorded rank and stream, events that never overlap.
//
// A receive is posted long before its message is on the way. What one wants to see is the transit,
// so a receive is drawn from the later of its own start and the start of its send; receives that
// still overlap on an unordered stream go to further lanes of that stream.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/plan/timeline.hpp"

namespace windtunnel {

// Rounded to the nearest. Throws Error (failed) beyond 2^63 ns, about 292 years.
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
  // Keeps references: both must outlive this.
  TimelineTracks(const Plan& plan, const Timeline& timeline);

  // Streams in order, lanes within; streams without tasks have no track.
  std::vector<Track> tracks(int entry) const;
  // The send of a receive, on the recorded rank that stands for the sender; none for other tasks.
  TaskOfRank sender_of(TaskOfRank receive) const;

 private:
  TrackEvent event_of(int entry, TaskIndex task) const;

  const Plan& plan_;
  const Timeline& timeline_;
  std::vector<std::vector<Counterpart>> counterparts_;
  std::vector<ClassMember> members_;
};

// What a task is drawn as: the category that most of its own cost is charged to.
Category main_category(const Task& task);

}  // namespace windtunnel
